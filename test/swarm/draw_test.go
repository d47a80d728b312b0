package swarm

import (
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

const (
	ms  = engine.Millisecond
	sec = engine.Second
)

// draws are the random choices of one seed, in order.
type draws struct {
	stream engine.Stream
	count  uint64
}

func newDraws(seed uint64, purpose string) *draws {
	return &draws{stream: engine.NewStream(seed, "swarm", purpose)}
}

// pick returns 0..n-1.
func (d *draws) pick(n int) int {
	d.count++
	return engine.Below(d.stream.Draw(d.count), n)
}

// chance is true in so many of a hundred cases.
func (d *draws) chance(percent int) bool { return d.pick(100) < percent }

// span returns a time from a to b in steps of a millisecond.
func (d *draws) span(a, b engine.Time) engine.Time {
	return a + engine.Time(d.pick(int((b-a)/ms)+1))*ms
}

// of returns one of some values.
func of[T any](d *draws, list ...T) T { return list[d.pick(len(list))] }

// dist is a delay: constant or spread.
func (d *draws) dist(a, b engine.Time) engine.Dist {
	low := d.span(a, b)
	if d.chance(50) {
		return engine.Constant(low)
	}
	return uniform(low, d.span(low, b))
}

func uniform(a, b engine.Time) engine.Dist {
	u, err := engine.Uniform(a, b)
	if err != nil {
		panic(err) // a is not after b
	}
	return u
}
