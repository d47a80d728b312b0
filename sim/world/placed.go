package world

// Placed is a pod that a workload has at the beginning, as the input shows it.
type Placed struct {
	Node  string // its name; "": the pod is Pending
	Ready bool   // else its readiness fails all the time: nothing says when it would pass
}

// PlacedAt is the pod of a number, counted from 0. nil: the input does not have it, and the scheduler places it.
func (w *Workload) PlacedAt(n int) *Placed {
	if n < len(w.Placed) {
		return &w.Placed[n]
	}
	return nil
}

// On counts the pods of a workload that the input has on some nodes.
func (w *Workload) On(nodes []string) int {
	n := 0
	for i := range w.Placed {
		for _, name := range nodes {
			if w.Placed[i].Node == name {
				n++
			}
		}
	}
	return n
}
