package sim

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// A world that waits for something that takes longer than a run waits for news is not at rest:
// the rollout goes on to its end.
func TestQuietIsNotSettled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		twist  func(*world.Scenario)
		lasts  engine.Time // at least
		settle bool
	}{
		{"an app that takes 45 s to start", func(sc *world.Scenario) {
			sc.Workloads[0].App.Start = engine.Constant(45 * sec)
		}, 2 * 45 * sec, true},
		{"an app without a readiness probe that takes 90 s to start", func(sc *world.Scenario) {
			sc.Workloads[0].App.Start = engine.Constant(90 * sec)
			sc.Workloads[0].Deployment().Spec.Template.Spec.Containers[0].ReadinessProbe = nil
		}, 90 * sec, true},
		{"one that takes 2 h", func(sc *world.Scenario) {
			sc.Workloads[0].App.Start = engine.Constant(2 * engine.Hour)
			sc.Workloads[0].Deployment().Spec.Template.Spec.Containers[0].ReadinessProbe = nil
		}, engine.Hour, false},
		{"one that its liveness probe kills before", func(sc *world.Scenario) {
			sc.Workloads[0].App.Start = engine.Constant(2 * engine.Hour)
			c := &sc.Workloads[0].Deployment().Spec.Template.Spec.Containers[0]
			c.ReadinessProbe, c.LivenessProbe = nil, c.ReadinessProbe
		}, 10 * sec, false},
		{"minReadySeconds 60", func(sc *world.Scenario) {
			sc.Workloads[0].Deployment().Spec.MinReadySeconds = 60
		}, 2 * 60 * sec, true},
		{"a grace period of 90 s, all of it used", func(sc *world.Scenario) {
			grace := int64(90)
			sc.Workloads[0].Deployment().Spec.Template.Spec.TerminationGracePeriodSeconds = &grace
			sc.Workloads[0].App.IgnoresSIGTERM = true
		}, 90 * sec, true},
		{"an app that crashes again and again", func(sc *world.Scenario) {
			sc.Workloads[0].App.CrashAfter = 20 * sec
		}, 100 * sec, false}, // the first quiet moment after three restarts
		{"a readiness that is never let go", func(sc *world.Scenario) {
			sc.Actions = append(sc.Actions, world.Action{At: 11 * sec, Operation: world.SetReady{Pods: world.Pods{Workload: "web", Number: world.AllPods}, Ready: false}})
		}, settleTime, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sc := plainWorld(2, sec)
			sc.Traffic[0].Rate = 10 * 1000
			c.twist(sc)
			r, err := Run(sc, 1)
			if err != nil {
				t.Fatal(err)
			}
			if r.Settled != c.settle || r.End < c.lasts {
				t.Errorf("settled: %v, at %s s", r.Settled, r.End.Seconds())
			}
		})
	}
}

// inTheMidst runs a rollout until an old pod is on its way out, and closes the ledger.
func inTheMidst(t *testing.T) *run {
	t.Helper()
	sc := plainWorld(4, sec)
	sc.Until = sc.Actions[0].At + 17*sec
	r, err := begin(sc, 1, Options{})
	if err != nil {
		t.Fatal(err)
	}
	settled, err := r.loop()
	if settled || err != nil {
		t.Fatal(settled, err)
	}
	r.ledger.Seal()
	return r
}

// A run whose books do not agree, that sent a connection where none may go, or that is said to have settled in the midst of a rollout, is
// an error.
func TestARunThatBreaksAnInvariantIsAnError(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		spoil   func(*run)
		settled bool
		want    string
	}{
		{"nothing is wrong", func(*run) {}, false, ""},
		{"it is not at rest", func(*run) {}, true, "at rest, and "},
		{"it noticed something itself", func(r *run) { r.broken = errors.New("noticed") }, false, "noticed"},
		{"a request never ended", func(r *run) { r.ledger.Begin(0, 1<<20, 0) }, false, "request"},
		{"rules lead nowhere", func(r *run) {
			r.flows.Leads(0, 0, 0, []netip.AddrPort{netip.MustParseAddrPort("10.0.0.9:80")})
		}, false, "10.0.0.9"},
	} {
		r := inTheMidst(t)
		c.spoil(r)
		if err := r.verify(c.settled); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
