// Package sweep runs cases over many seeds, on as many goroutines as there are processors,
// one engine each, and answers what became of them: the record in package check.
//
// What it returns does not depend on the number of goroutines or on who finished first. It
// never prints, and reads no input.
//
// The one data path: Cases -> jobs (case, seed) -> sim.Run -> check.Run -> check.Case.
package sweep
