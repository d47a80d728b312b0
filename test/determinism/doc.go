// Package determinism answers one question: does the simulator give the same result, to the last
// byte, wherever and however often it is run? It holds tests only.
//
// The inputs are the scenarios and manifests of examples/, the manifests of the corpus where it is
// there, and worlds drawn from a fixed list of seeds. Every run of each is done twice in one
// process, with GOMAXPROCS 1 and 8, in another process, with the race detector, and as
// GOOS=js GOARCH=wasm under Node; then the trace hashes and the bytes of the reports are compared.
// What differs is run again, step by step, and the first differing step is named.
//
//	inputs -> sweep.Run -> sums (trace hash of each run, digest of each report)
//	  -> the same from a child of another kind (TestMain) -> differences -> steps of both -> the first
//
// Plain `go test` does the cheap part; `make determinism` (LAMEDUCK_DETERMINISM=1) does all of it.
// Nothing here looks at a clock, and no result depends on how long anything takes.
package determinism
