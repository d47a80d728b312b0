package scenario

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/units"
)

// Every field of the grammar has its words, and no words are about a field that is gone.
func TestTheReferenceIsComplete(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, d := range Fields() {
		seen[d.Path] = true
		if d.About == "" {
			t.Errorf("%s (%s): nothing is said of it: give its shape a doc", d.Path, d.Type)
		}
	}
	for path := range aboutFields() {
		of, name, _ := strings.Cut(strings.TrimPrefix(path, "spec."), ".")
		proxied := of == "ingress" && slices.ContainsFunc(lbFields(), func(f lbField) bool { return f.name == name })
		if !seen[path] && !proxied { // an ingress controller has only some of a load balancer's fields
			t.Errorf("%s is no field of the grammar", path)
		}
	}
}

// What the schema calls a duration or a rate is what the parser takes for one.
func TestPatternsOfTheSchema(t *testing.T) {
	t.Parallel()
	span, per := regexp.MustCompile(durationPattern), regexp.MustCompile(ratePattern)
	for _, s := range []string{"5s", "1h30m", "1.5s", ".5s", "0", "0s", "100ms", "5", "s", "", "-5s", "5 s", "1d", "10us"} {
		_, err := units.ParseDuration(s)
		if got := span.MatchString(s); got != (err == nil) {
			t.Errorf("duration %q: matches %t, and parsing it says %v", s, got, err)
		}
	}
	for _, s := range []string{"200/s", "0.5/s", "30/m", "6/min", "3600/h", "200", "/s", "x/s", "200/d", " 5 / s "} {
		_, err := units.ParseRate(s)
		if got := per.MatchString(s); got != (err == nil) {
			t.Errorf("rate %q: matches %t, and parsing it says %v", s, got, err)
		}
	}
}
