package check

import "testing"

// A fix leaves nothing lost if no run loses anything: neither of those of the case, nor of those that confirm it, and
// there are some that do.
func TestAFixThatLeavesNothingLost(t *testing.T) {
	t.Parallel()
	clean := func() FixedCase { return FixedCase{Runs: 3, Confirm: Confirm{Runs: 10}} }
	for name, c := range map[string]struct {
		edit func(*FixedCase)
		want bool
	}{
		"nothing lost":                       {func(*FixedCase) {}, true},
		"something in one run":               {func(c *FixedCase) { c.WithLoss = 1 }, false},
		"something in one run that confirms": {func(c *FixedCase) { c.Confirm.WithLoss = 1 }, false},
		"no run that confirms":               {func(c *FixedCase) { c.Confirm.Runs = 0 }, false},
		"one run that confirms":              {func(c *FixedCase) { c.Confirm.Runs = 1 }, true},
	} {
		edited := clean()
		c.edit(&edited)
		for _, f := range []Fix{{Cases: []FixedCase{edited, clean()}}, {Cases: []FixedCase{clean(), edited}}} {
			if f.Lossless() != c.want {
				t.Errorf("%s: %t, want %t", name, f.Lossless(), c.want)
			}
		}
	}
}
