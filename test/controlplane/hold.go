package controlplane

import (
	"errors"
	"testing"
)

// seeds is how many runs of the simulation are looked at. What a control plane does is one of the things that it can do: which
// of equal pods goes, and whether a cache is behind, is chance there, too.
const seeds = 40

// Hold holds the simulator to a recording: to the run that is most like it.
func Hold(r *Recording) (*Comparison, error) {
	var best *Comparison
	for seed := uint64(1); seed <= seeds; seed++ {
		simulated, err := Simulate(r, seed)
		if err != nil {
			return nil, err
		}
		c := Compare(r, simulated, Usual())
		c.Seed = seed
		if best == nil || len(c.Differences) < len(best.Differences) {
			best = c
		}
		if len(best.Differences) == 0 {
			break
		}
	}
	return best, nil
}

// Report has a test fail by what Hold came to.
func Report(t *testing.T, c *Comparison, err error) {
	t.Helper()
	switch {
	case errors.Is(err, ErrNotSimulated):
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	for _, d := range c.Differences {
		t.Error(d)
	}
	if len(c.Late) > 0 {
		t.Logf("seed %d: %d moments, %d statements; the simulation is late by %.3f s at least, %.3f s in the middle, %.3f s at most",
			c.Seed, c.Moments, c.Held, c.Late[0], c.Late[len(c.Late)/2], c.Late[len(c.Late)-1])
	}
}
