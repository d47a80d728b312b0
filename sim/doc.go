// Package sim runs a scenario: a cluster, its traffic, what is done to it, and a ledger of
// what became of every request. It wires the rooms below and holds no rules of its own but
// one: whom to blame for a failure.
//
//	scenario + seed -> Run: engine + cluster + traffic -> ledger -> Result
//
// The same scenario and seed give the same Result, byte by byte, on every platform.
package sim
