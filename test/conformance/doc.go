// Package conformance asks the real kernel: does what a dataplane programs do with packets what
// proxier/backendtest says? It holds tests only.
//
// Every place of backendtest is a network namespace of a lab (package lab), wired to the node
// whose kernel is under test. A packet of a row is a real one, sent from a socket in its place
// with the address and port that the row gives it, and its outcome is what the servers in all
// places and the client make of it: who answered, at which address, seeing whom.
//
//	backendtest row -> subject -> dataplane.Apply (in the node's namespace), lab.Open -> packet.Trace
//
// A Probe opens so many flows that an endpoint which new flows can reach, and none did, is a
// chance of less than one in a billion (see draws). The lab itself is tested on reference, a
// dataplane of plain nft text with a chain for everything, and on references that are wrong in
// one way each.
//
// It runs as root, and as anybody who may have a user namespace; elsewhere it skips and says why,
// unless LAMEDUCK_KERNEL=1, as `make kernel` sets it, makes that a failure.
package conformance
