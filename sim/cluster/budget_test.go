package cluster

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/control"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// patched is an action that makes a budget another one, at 10 s.
func patched(most int32) world.Action {
	n := intstr.FromInt32(most)
	return world.Action{At: 10 * sec, Operation: world.SetBudget{Budget: "default/web", MaxUnavailable: &n}}
}

// evictsAt asks for the eviction of pod 0, and returns the answers with their times.
func (w *testWorld) evictsAt(at engine.Time, answers *[]control.Answer, times *[]engine.Time) {
	w.at(at, func() {
		w.disrupts.evict.Evict(w.owner, 0, world.OwnGrace, func(a control.Answer) {
			*answers, *times = append(*answers, a), append(*times, w.eng.Now())
		})
	})
}

// A budget that was changed refuses evictions, whatever it allows, until its controller has seen the change; the API server names 10 s, and
// the client asks again by itself after these. Reference: docs/model/controllers.md 6.2 observedGeneration.
func TestABudgetThatIsStillBeingProcessed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from, want string
		to         int32
		refused    bool // at once, though the status allows one
	}{
		"it allowed one and allows two": {"maxUnavailable 1", "", 2, true},
		"it allowed none":               {"maxUnavailable 0", "", 1, true},
		"it allows none any more":       {"maxUnavailable 1", "allows no eviction", 0, true},
		"it is as it was":               {"maxUnavailable 1", "", 1, false},
	} {
		b := newBuild(3).budget(c.from).drained(nil)
		b.Latency.Watch = engine.Constant(sec)
		b.Actions = append(b.Actions, patched(c.to))
		w := b.acts(t)
		var answers []control.Answer
		var times []engine.Time
		w.evictsAt(10*sec+500*ms, &answers, &times)
		w.run(10*sec + 600*ms)
		behind := len(answers) == 1 && answers[0].Code == control.NotNow && answers[0].Again && strings.Contains(answers[0].Why, "is still being processed by the server")
		if behind != c.refused {
			t.Errorf("%s: at once: %+v", name, answers)
		}
		if !c.refused {
			continue
		}
		w.run(30 * sec)
		if len(answers) != 2 || times[1] < times[0]+10*sec || times[1] > times[0]+11*sec || answers[1].Again {
			t.Fatalf("%s: %+v at %v", name, answers, times)
		}
		if (c.want == "") != (answers[1].Code == control.Evicted) || !strings.Contains(answers[1].Why, c.want) {
			t.Errorf("%s: after 10 s: %+v", name, answers[1])
		}
	}
}

// Where the controller is faster than who evicts, it is the ordinary refusal, without a time to wait. Reference: docs/model/measured.md 1 new PDB.
func TestAnEvictionThatComesAfterTheController(t *testing.T) {
	t.Parallel()
	b := newBuild(3).budget("maxUnavailable 1").drained(nil)
	b.Latency = world.Latencies{APIWrite: engine.Constant(ms), Watch: engine.Constant(ms), Controller: engine.Constant(3 * ms)}
	b.Actions = append(b.Actions, patched(0))
	w := b.acts(t)
	var answers []control.Answer
	var times []engine.Time
	for at := 10*sec + 2*ms; at <= 10*sec+10*ms; at += 8 * ms {
		w.evictsAt(at, &answers, &times)
	}
	w.run(10*sec + 20*ms)
	if len(answers) != 2 || !answers[0].Again || answers[1].Code != control.NotNow || answers[1].Again || !strings.Contains(answers[1].Why, "allows no eviction") {
		t.Errorf("%+v", answers)
	}
}

// The client gives up after it has asked ten times again; kubectl asks anew 5 s later. A drain that waits like that is none that cannot
// end. Reference: docs/model/controllers.md 6.2 Retry-After.
func TestRetryAfterIsTheClients(t *testing.T) {
	t.Parallel()
	pause := world.Action{At: 5 * sec, For: 150 * sec, Operation: world.Component{Name: "disruption-controller", What: world.ComponentPause}}
	b := newBuild(3).budget("maxUnavailable 1").drained(nil)
	b.Actions = []world.Action{patched(2), {At: 11 * sec, Operation: world.Drain{Nodes: []string{"node-1"}}}}
	w := b.acts(t)
	w.at(pause.At, func() { w.Do(pause) })
	w.at(pause.At+pause.For, func() { w.Undo(pause) })
	var refused []engine.Time
	w.hears(func(e event.Event) {
		if e.Pod == 0 {
			refused = append(refused, e.At.TruncateToSecond())
		}
	}, event.EvictionRefused)
	w.run(100 * sec)
	if blocked := w.disrupts.drains.Blockades(); len(blocked) > 0 {
		t.Errorf("the client has not told kubectl yet, and it is blocked: %+v", blocked)
	}
	w.run(154 * sec)
	var gaps []engine.Time
	for i := 1; i < len(refused); i++ {
		gaps = append(gaps, (refused[i]-refused[i-1])/sec)
	}
	if len(gaps) != 14 || gaps[9] != 10 || gaps[10] != 5 || gaps[11] != 10 {
		t.Errorf("seconds between the refusals: %d", gaps)
	}
	if s := w.CannotEnd(); s != nil {
		t.Errorf("%+v", s)
	}
	w.run(200 * sec)
	if p, ok := w.store.Get(api.PodKey(0)).(*api.Pod); ok && !p.Deleting() {
		t.Error("pod 0 is there in the end")
	}
}

// What keeps a drain from its end is the budget as it is then, and no line of a manifest says it.
func TestAChangedBudgetThatBlocks(t *testing.T) {
	t.Parallel()
	b := newBuild(3).budget("maxUnavailable 1").drained(nil)
	b.Actions = []world.Action{patched(0), {At: 20 * sec, Operation: world.Drain{Nodes: []string{"node-1"}}}}
	w := b.acts(t)
	w.run(100 * sec)
	s := w.CannotEnd()
	if s == nil || s.Budget == nil || s.Budget.Object != nil || s.Path != "spec.maxUnavailable" || !strings.Contains(s.Why, "PodDisruptionBudget web (maxUnavailable 0)") {
		t.Errorf("%+v", s)
	}
}

// A budget lets a pod go by its number alone where the pod is itself ready; one that is not may go by a policy, in versions that have it.
func TestWhatOfABudgetLetsAPodGo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pod   *api.Pod
		minor int
		path  string
		want  string
	}{
		{nil, 36, "spec.minAvailable", "a smaller minAvailable"}, {nil, 36, "spec.maxUnavailable", "a greater maxUnavailable"},
		{&api.Pod{Ready: true}, 36, "spec.minAvailable", "a smaller minAvailable"},
		{&api.Pod{}, control.PolicySince, "spec.minAvailable", "unhealthyPodEvictionPolicy AlwaysAllow for those that never do"},
		{&api.Pod{}, control.PolicySince - 1, "spec.maxUnavailable", "a greater maxUnavailable"},
	} {
		s := &world.Scenario{}
		s.Kubernetes.Version.Minor = tt.minor
		if got := (&World{setting: setting{sc: s}}).leeway(tt.pod, tt.path); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
}
