// Package oracle compares lameduck's endpoint selection with kube-proxy's own code.
//
// It is a module of its own, because k8s.io/kubernetes is no library and must not become
// a dependency of lameduck. The package holds tests only:
//
//	seed -> world (nodes, a sequence of API events) -> kube-proxy's trackers and CategorizeEndpoints
//	                                                -> endpoints.Cache, Select, Decide
//	                                                -> equal, or a shrunk sequence and both answers
//
// One case is one service port in one IP family on one node, compared at one sync in the
// sequence. Everything is a function of the seed; LAMEDUCK_ORACLE_SEED replays one,
// LAMEDUCK_ORACLE_CASES sets how many cases TestOracle compares. What differs on purpose
// is fed or compared as known_test.go says, counted, and argued in docs/limits-of-the-proxy.md.
package oracle
