package record

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// At 400 runs an outage in 200 +- 10 is not likely to be decided by 1,000: 2.576 - 0.8416 sqrt(1.5) = 1.545 standard deviations of
// 1,000 runs are 24.4 of them off the half, and 400 are to be off by two fifths of that.
func TestMoreRunsAreWorthwhileWhereTheyMayDecide(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		got  *Case
		want bool
	}{
		"decided":                                {many(100, 70, 200, engine.Second), false},
		"nothing lost":                           {many(100, 0, 0, 0), false},
		"an outage in 51 of 100":                 {many(100, 51, 200, engine.Second), true},
		"an outage in 209 of 400":                {many(400, 209, 200, engine.Second), false},
		"an outage in 210 of 400":                {many(400, 210, 200, engine.Second), true},
		"an outage in 190 of 400":                {many(400, 190, 200, engine.Second), true},
		"an outage in 191 of 400":                {many(400, 191, 200, engine.Second), false},
		"stuck in 200 of 400":                    {blocked(many(400, 0, 0, 0), 200), false},
		"little lost in 20 of 400":               {many(400, 20, 1, 0), false},
		"little lost in 25 of 400":               {many(400, 25, 1, 0), true},
		"little lost in 4 of 400":                {many(400, 4, 1, 0), true},
		"an outage in 510 of as many as are run": {many(1000, 510, 200, engine.Second), false},
	} {
		if c.got.Worthwhile(1000) != c.want {
			t.Errorf("%s: worthwhile %v", name, !c.want)
		}
	}
}

func TestRoot(t *testing.T) {
	t.Parallel()
	for x := range int64(2000) {
		if r := root(x); r*r > x || (r+1)*(r+1) <= x {
			t.Fatalf("the root of %d is not %d", x, r)
		}
	}
}
