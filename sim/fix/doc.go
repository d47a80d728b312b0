// Package fix knows what in a workload's manifest can be changed against the losses of a
// rollout: each Change with its edits, what it costs and what it does to a Scenario. It also
// tells from the events of a run how late a pod's removal reached the last node (Lateness),
// which is what a preStop hook has to outlast.
//
// It never runs anything and never claims that a change helps: sim/sweep tries them.
//
// The one data path: a Scenario's workload -> Changes -> Apply -> another Scenario.
package fix
