package sweep

import (
	"cmp"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
)

// gap is for how long no pod could answer in a run, without some changes and with them.
type gap struct{ before, after engine.Time }

// shortens is for how long no pod can answer in the median of the samples, without the single change of a title and with it, where it is shorter
// in all of them, by a second and by a tenth or more; 0 for others. asMuch says that as much is lost: a client that waits for as long as it takes
// hides it.
func (s *search) shortens(title string) (before, after engine.Time, asMuch bool) {
	at := slices.IndexFunc(s.singles, func(a *attempt) bool { return a.ran && a.stuck == 0 && a.title() == title })
	if at < 0 || len(s.singles[at].gaps) == 0 {
		return 0, 0, false
	}
	gaps := slices.Clone(s.singles[at].gaps)
	if slices.ContainsFunc(gaps, func(g gap) bool { return g.after >= g.before }) {
		return 0, 0, false
	}
	middle := func(of func(gap) engine.Time) engine.Time {
		sorted.By(gaps, func(a, b gap) int { return cmp.Compare(of(a), of(b)) })
		return of(gaps[(len(gaps)-1)/2])
	}
	before, after = middle(func(g gap) engine.Time { return g.before }), middle(func(g gap) engine.Time { return g.after })
	if before-after < engine.Second || 10*(before-after) < before {
		return 0, 0, false
	}
	return before, after, 10*s.singles[at].lost >= 9*s.before
}
