// Package check holds the books that each run is checked with, by other means than the ledger and the rules themselves: every
// request has exactly one outcome (Books), and no connection goes where the slices in force on its node do not allow it (Flows).
//
// It decides nothing of a run and knows nothing of Kubernetes: what breaks it is an error of the simulator.
//
// The one data path: what sim.Run is told of requests and connections -> Books, Flows -> Err.
package check
