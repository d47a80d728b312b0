package scenario

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// expectFields are what a Scenario expects of its runs.
func expectFields() []fieldOf[world.Expect] {
	return []fieldOf[world.Expect]{
		countBounds("failed", fieldsOf(
			field{"max", of(whole).doc("", "requests that fail in each run, at most")}, field{"min", of(whole).doc("", "at least")},
		), func(e *world.Expect) (least, most **int) { return &e.FailedMin, &e.FailedMax }),
		secondBounds("lostSeconds", fieldsOf(
			field{"max", of(number).doc("", "seconds of traffic that each run loses, at most")}, field{"min", of(number).doc("", "at least")},
		), func(e *world.Expect) (least, most **engine.Time) { return &e.LostSecondsMin, &e.LostSecondsMax }),
		{
			field: field{"causes", fieldsOf(
				field{"only", list(word(causeNames()...)).doc("", "no other cause occurs")},
				field{"some", list(word(causeNames()...)).doc("", "each of these occurs")},
				field{"none", list(word(causeNames()...)).doc("", "none of these occurs")},
			)},
			read: readCauses,
			write: func(w *printer, e *world.Expect) {
				w.texts("causesOnly", e.CausesOnly)
				w.texts("causesSome", e.CausesSome)
				w.texts("causesNone", e.CausesNone)
			},
		},
		textRow("verdict", word("outage", "stuck", "blocked", "drops", "depends", "rare", "holds", "not-judged").doc("", "the verdict over all runs"),
			func(e *world.Expect) *string { return &e.Verdict }),
		textsRow("order", list(of(text)).doc("", "texts that lines of the story contain, in this order"), func(e *world.Expect) *[]string { return &e.Order }),
		countBounds("usablePods", fieldsOf(
			field{"min", of(whole).doc("", "pods that can serve, at any moment, at least")}, field{"max", of(whole).doc("", "in the worst moment at most")},
		), func(e *world.Expect) (least, most **int) { return &e.UsablePodsMin, &e.UsablePodsMax }).printsBefore("order"),
		secondBounds("gapSeconds", fieldsOf(
			field{"max", of(number).doc("", "seconds for which a pod of a StatefulSet is gone, until another of its name can serve in its place, at most")},
			field{"min", of(number).doc("", "at least")},
		), func(e *world.Expect) (least, most **engine.Time) { return &e.GapSecondsMin, &e.GapSecondsMax }).printsBefore("order"),
	}
}

func readCauses(c cursor, e *world.Expect) {
	e.CausesOnly, e.CausesSome, e.CausesNone = c.get("only").texts(), c.get("some").texts(), c.get("none").texts()
	for _, cause := range e.CausesSome {
		if slices.Contains(e.CausesNone, cause) {
			c.fail("%s cannot be both in some and in none", cause)
		}
	}
}

// countBounds is the least and the most of a count, either of which may be absent.
func countBounds(name string, s shape, in func(*world.Expect) (least, most **int)) fieldOf[world.Expect] {
	return fieldOf[world.Expect]{
		field: field{name, s},
		read: func(c cursor, e *world.Expect) {
			least, most := in(e)
			if *least, *most = c.get("min").count(), c.get("max").count(); *least != nil && *most != nil && **least > **most {
				c.fail("min %d is more than max %d", **least, **most)
			}
		},
		write: func(w *printer, e *world.Expect) {
			least, most := in(e)
			w.count(name+"Min", *least)
			w.count(name+"Max", *most)
		},
	}
}

// secondBounds is the same of seconds.
func secondBounds(name string, s shape, in func(*world.Expect) (least, most **engine.Time)) fieldOf[world.Expect] {
	return fieldOf[world.Expect]{
		field: field{name, s},
		read: func(c cursor, e *world.Expect) {
			least, most := in(e)
			if *least, *most = c.get("min").seconds(), c.get("max").seconds(); *least != nil && *most != nil && **least > **most {
				c.fail("min is more than max")
			}
		},
		write: func(w *printer, e *world.Expect) {
			least, most := in(e)
			w.seconds(name+"Min", *least)
			w.seconds(name+"Max", *most)
		},
	}
}

// count and seconds leave out what is absent.
func (w *printer) count(key string, n *int) {
	if n != nil {
		w.number(key, *n)
	}
}

func (w *printer) seconds(key string, t *engine.Time) {
	if t != nil {
		w.raw(key, t.Seconds())
	}
}

func (b *builder) expect(c cursor) *world.Expect {
	if !c.present() {
		return nil
	}
	e := &world.Expect{Pos: c.d.keyPosition(c.at)}
	readRows(c, expectFields(), e)
	return e
}
