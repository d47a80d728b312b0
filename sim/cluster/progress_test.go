package cluster

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// deadlines are the moments at which a rollout has made no progress for too long.
type deadlines []string

func (d *deadlines) Record(e event.Event) {
	if e.Kind == event.Deadline {
		*d = append(*d, e.At.Seconds())
	}
}

// The deadline counts from the whole second of the last progress, and the controller looks a
// second later than that: with 60 s, and a rollout that begins at 10.5 s and gets no further than
// a new pod, at 71 s. Reference: docs/model/controllers.md 2 Progress timeout.
func TestProgressDeadline(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		deadline int32
		then     func(*testWorld)
		want     string // when, in s
		overdue  bool   // in the end
	}{
		{"no new pod is ever ready", 60, func(*testWorld) {}, "71", true},
		{"with a deadline 10 % longer", 66, func(*testWorld) {}, "77", true},
		{"the first is ready at 40.3 s, the second never", 60, func(w *testWorld) { w.gate(40*sec+300*ms, "web#2", gateOne, true) }, "101", true},
		{"all of them are ready in time", 60, func(w *testWorld) {
			w.gate(40*sec, "web#2", gateOne, true)
			w.gate(90*sec, "web#2", gateOne, true)
		}, "", false},
		{"progress after the deadline, and then no more", 60, func(w *testWorld) { w.gate(100*sec, "web#2", gateOne, true) }, "71 161", true},
		{"it is complete after the deadline", 60, func(w *testWorld) {
			w.gate(100*sec, "web#2", gateOne, true)
			w.gate(120*sec, "web#2", gateOne, true)
		}, "71", false},
		{"it is paused for a while, and its time begins again", 60, func(w *testWorld) {
			w.do(20*sec, "pause", "web", "")
			w.do(100*sec+700*ms, "resume", "web", "")
		}, "161", true},
		{"it is complete, and its pods fail later", 60, func(w *testWorld) {
			w.gate(20*sec, "web#2", gateOne, true)
			w.gate(30*sec, "web#2", gateOne, true)
			w.gate(50*sec, "web", gateOne, false)
		}, "", false},
		{"the next rollout begins before the deadline", 60, func(w *testWorld) { w.do(40*sec, "rolloutRestart", "web", "") }, "101", true},
		{"the controller is paused, and finds out later", 60, func(w *testWorld) {
			w.do(30*sec, "component", "deployment-controller", world.ComponentPause)
			w.do(90*sec, "component", "deployment-controller", world.ComponentResume)
		}, "90", true},
		{"without a deadline", 0, func(*testWorld) {}, "", false},
	} {
		b := newBuild(2).gated(gateOne).strategy("1", "0")
		if b.d.Spec.ProgressDeadlineSeconds = &c.deadline; c.deadline == 0 {
			b.d.Spec.ProgressDeadlineSeconds = nil
		}
		w := b.start(t, 1)
		var heard deadlines
		w.hears(heard.Record, event.Stories()...)
		w.do(10*sec+500*ms, "rolloutRestart", "web", "")
		c.then(w)
		w.run(500 * sec)
		if got := strings.Join(heard, " "); got != c.want {
			t.Errorf("%s: at %s s, want %s", c.name, got, c.want)
		}
		words := "the rollout of web made no progress for"
		if w.Overdue() != c.overdue || strings.Contains(w.Unrest(), words) != c.overdue {
			t.Errorf("%s: overdue %v, %q", c.name, w.Overdue(), w.Unrest())
		}
	}
}
