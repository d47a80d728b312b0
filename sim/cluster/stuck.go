package cluster

// Stuck is a rollout that was begun and cannot end.
type Stuck struct {
	Workload int // of the scenario
	// Why says what it waits for, and What would let it go on, in words.
	Why, What string
	// Path is the field of the workload's manifest behind it, "" when there is none.
	Path string
}
