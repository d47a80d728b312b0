package sweep

import "sync"

// Purpose is what a world is simulated for.
type Purpose string

// The purposes, in the order in which a simulation comes to them.
const (
	ForVerdict Purpose = "verdict" // a case's own runs
	ForPair    Purpose = "pair"    // the same seed without the action, and both again where requests fail in both
	ForStory   Purpose = "story"   // a run again, with a recorder of what happens
	ForOther   Purpose = "other"   // other values of what was assumed
	ForLate    Purpose = "late"    // how late the last way to a pod closes
	ForSearch  Purpose = "search"  // changes of a manifest, on a few seeds
	ForConfirm Purpose = "confirm" // what was found, on more
)

// Purposes are all of them, in their order.
var Purposes = [...]Purpose{ForVerdict, ForPair, ForStory, ForOther, ForLate, ForSearch, ForConfirm}

// counts are the worlds simulated so far, by purpose.
type counts struct {
	mu sync.Mutex
	of map[Purpose]int // nil where nobody asked
}

func (c *counts) add(what Purpose, worlds int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of != nil {
		c.of[what] += worlds
	}
}
