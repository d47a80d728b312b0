package report

import (
	"fmt"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/record"
)

// endless says that with another value of an assumption what is done never ends, where it does as assumed.
func endless(a *record.Alternative) bool { return a.Stuck != nil && a.Effect != record.NoEffect }

// waitsFor is what it waits for then, and the field behind that: ": the new pod has been restarted ... (web.yaml:29)"; "" where it ends.
func waitsFor(a *record.Alternative) string {
	if !endless(a) {
		return ""
	}
	words := ": " + a.Stuck.Why
	if a.Stuck.Line > 0 {
		words += fmt.Sprintf(" (%s:%d)", a.Stuck.File, a.Stuck.Line)
	}
	return words
}

// neverEnds are the other values with which what is done never ends, and what would let it go on, each once.
func neverEnds(c *record.Case) (conditions, remedies []string) {
	for i := range c.Alternatives {
		if a := &c.Alternatives[i]; endless(a) {
			conditions = append(conditions, condition(c, a)+waitsFor(a))
			remedies = distinct(remedies, a.Stuck.What)
		}
	}
	return conditions, remedies
}

// endsFor is 1 for an assumption with another value of which what is done never ends: the rest is only more or less of a loss.
func endsFor(c *record.Case, id string) int {
	for i := range c.Alternatives {
		if a := &c.Alternatives[i]; a.ID == id && endless(a) {
			return 1
		}
	}
	return 0
}

// nothing is what to do about a case that loses nothing: what lets it end with a value with which it would not, too.
func nothing(c *record.Case) []string {
	if _, remedies := neverEnds(c); len(remedies) > 0 {
		return []string{"nothing as assumed; where it would never end: " + strings.Join(remedies, "; ")}
	}
	if remedies := remediesLeftOut(c); len(remedies) > 0 {
		return remedies
	}
	if len(outages(c)) > 0 {
		return []string{nothingAsAssumed}
	}
	return []string{"nothing"}
}

// closing is the other value with which an app that is taken to have no SIGTERM handler has one, where the case holds because it has none; nil for
// other cases.
func closing(c *record.Case) *record.Alternative {
	if profileOf(c) != nodeDefault {
		return nil
	}
	for i := range c.Alternatives {
		if a := &c.Alternatives[i]; a.ID == "sigterm" && a.Effect == record.VerdictEffect && engine.Time(a.LostSeconds.Median) >= 100*engine.Millisecond {
			return a
		}
	}
	return nil
}

// ifItCloses is what to do about such a case: what helps an app with a handler is looked for if that is said.
func (t *text) ifItCloses(c *record.Case) []string {
	a := closing(c)
	if a == nil {
		return nil
	}
	return []string{nothingAsAssumed + "; if " + condition(c, a) + ": " + t.option("profile", shortValue(a.Value)) + " finds what helps then"}
}

// nothingAsAssumed is what to do where a case that holds is an outage with another value of what is assumed.
const nothingAsAssumed = "nothing as assumed"

// answeredLate is how much traffic of the client that has most of it is answered late in a run, where that is a second or more, and whether most
// of it is at a second try.
func answeredLate(c *record.Case) (late engine.Time, second bool) {
	for i := range c.Clients {
		slow, rescued := c.ClientLate(i)
		if s := meanSeconds(slow, c, i); s >= engine.Second && s > late {
			late, second = s, 2*rescued >= slow
		}
	}
	return late, second
}

// whyLate says why a case in which nothing is lost answers late; "" for others.
func whyLate(c *record.Case) string {
	late, second := answeredLate(c)
	_, _, proxied := assumed(c, "ingress")
	switch {
	case late == 0:
		return ""
	case second && proxied:
		return span(late) + " of traffic is late: the proxy asks a pod that does not answer any more, and another one only when it has waited for that"
	case second:
		return span(late) + " of traffic is late: a pod is asked that does not answer any more, and another one only at a second try"
	default:
		return span(late) + " of traffic is late: it waits until a pod takes it"
	}
}

// inTime says what would make answers come in time of a case in which nothing is lost. It has not been tried: the option tries it.
func (t *text) inTime(c *record.Case) []string {
	late, second := answeredLate(c)
	if late == 0 {
		return nil
	}
	const nothing, tried = "nothing against a loss; ", " counts what is late as lost, and tries what helps"
	switch option := t.option("timeout", "1s"); {
	case c.Kind == "Scenario":
		return []string{nothing + "with a timeout of 1s what is late is lost"}
	case second:
		return []string{nothing + "so that less is late, a preStop sleep, or a longer one: a pod then answers until nobody sends to it any more (not tried; " + option + tried + ")"}
	default:
		return []string{nothing + option + tried + " against that"}
	}
}

// remediesLeftOut are what to do about what is left out of a case: a verdict that does not count it says nothing of that.
func remediesLeftOut(c *record.Case) []string {
	var out []string
	for i := range c.NotModelled {
		if r := c.NotModelled[i].Remedy; r != "" {
			out = distinct(out, r)
		}
	}
	return out
}
