// Package record holds what is claimed about a simulation: the record of many runs of each
// case (Simulation, Case, Run), the verdict that follows from it, and whether it is what a
// Scenario expected. Renderers and exit codes read the record; nobody else judges.
//
// It never runs anything and never prints: sim/sweep fills the record, sim/report shows it.
//
// The one data path: sim.Result of each seed -> Run -> Case.Close (figures, causes, verdict)
// -> Expect.
package record
