package play

import (
	"errors"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/sweep"
)

// draw makes one run of a case into lanes, at once. A field of the manifest is turned before, where an Ask names a knob: to ask for both with one question
// is faster than with two.
func draw(a *Ask) []byte {
	out := &Drawn{Turned: Turned{Answered: failed(a.Do, errors.New("")), Manifest: a.Manifest}, Case: a.Case}
	none := func() []byte { return with(out, "timeline", "null") }
	if a.Knob != "" {
		text, err := turned(a)
		if err != nil {
			out.Refused = err.Error()
			return none()
		}
		a.Manifest, out.Manifest = string(text), string(text)
	}
	r := readManifest(a)
	out.Answered = r.answered
	at := slices.IndexFunc(r.cases, func(c scenario.Case) bool { return c.ID == a.Case })
	if !r.ok || at < 0 {
		return none()
	}
	t, err := sweep.Draw(&r.cases[at], a.Family, max(a.Seed, 1))
	switch {
	case errors.As(err, &sweep.NotSimulated{}):
		out.Refused = err.Error()
	case err != nil:
		out.Refused = broken(err)
	case t != nil:
		return with(out, "timeline", string(encoded(t)))
	}
	return none()
}
