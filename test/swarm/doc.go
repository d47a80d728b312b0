// Package swarm runs random worlds: scenarios drawn from a seed, each with its own choice of
// what exists and what can go wrong in it, run with the books of sim/check open and with rules
// of its own about what no cluster ever does (rules_test.go). A seed is all it takes to see a
// failure again.
//
//	make swarm SEEDS=100000
//
// The mutants (mutants_table_test.go) are simulators that are wrong in one way each; the swarm
// has to notice every one of them.
package swarm
