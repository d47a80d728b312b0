package cluster

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/control"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/kubelet"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// budget adds a disruption budget for the pods, such as "minAvailable 2" or "" for one that says nothing.
func (b build) budget(words string) build {
	v := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
	}
	field, number, _ := strings.Cut(words, " ")
	bound := intstr.Parse(number)
	switch field {
	case "minAvailable":
		v.Spec.MinAvailable = &bound
	case "maxUnavailable":
		v.Spec.MaxUnavailable = &bound
	}
	b.Budgets = append(b.Budgets, world.Budget{Value: v})
	return b
}

// always has the last budget let go what is not ready.
func (b build) always() build {
	policy := policyv1.AlwaysAllow
	b.Budgets[len(b.Budgets)-1].Value.Spec.UnhealthyPodEvictionPolicy = &policy
	return b
}

// drained has kubectl drain nodes 10 s after the beginning.
func (b build) drained(edit func(*world.DrainOptions), nodes ...string) build {
	o := world.Drain{Nodes: nodes, DrainOptions: world.DrainOptions{GracePeriod: world.OwnGrace}}
	if edit != nil {
		edit(&o.DrainOptions)
	}
	b.Actions = []world.Action{{At: 10 * sec, Operation: o}}
	return b
}

// acts starts the world and has its actions done; what kubectl does is noted.
func (b build) acts(t *testing.T) *testWorld {
	t.Helper()
	w := b.start(t, 1)
	w.pods()
	w.hears(func(e event.Event) {
		switch e.Kind {
		case event.Cordoned:
			w.note("kubectl: %s cordoned=%v", b.Nodes[e.Node].Name, e.OK)
		case event.Drained:
			w.note("kubectl: %s drained=%v %s", b.Nodes[e.Node].Name, e.OK, e.Refusal)
		case event.EvictionRefused:
			w.note("kubectl: %s refused: %s", strings.TrimPrefix(w.podName(e.Pod), "default/web "), e.Refusal)
		default:
		}
	}, event.Cordoned, event.Drained, event.EvictionRefused)
	for _, a := range b.Actions {
		w.at(a.At, func() { w.Do(a) })
		if a.For > 0 {
			w.at(a.At+a.For, func() { w.Undo(a) })
		}
	}
	return w
}

// All nodes are cordoned first. Then one is emptied after another: the next one when the last object is gone, at whose absence kubectl
// looks each second; all pods of a node at once. Reference: docs/model/controllers.md 7 Order, Pods of one node, Wait; measured 1 kubectl drain.
func TestKubectlDrain(t *testing.T) {
	t.Parallel()
	b := newBuild(4).nodes(3).hook("app", sleepHook(2500*ms)).drained(nil, "node-1", "node-2")
	b.Latency.APIWrite = engine.Constant(10 * ms)
	w := b.acts(t)
	w.run(60 * sec)
	w.want("kubectl|gone|deleting=true",
		"10.01 kubectl: node-1 cordoned=true",
		"10.02 kubectl: node-2 cordoned=true",
		"10.03 r0 0 running ready=true deleting=true restarts=0",
		"10.03 r0 3 running ready=true deleting=true restarts=0",
		"13.443951 r0 0 gone",
		"13.443951 r0 3 gone",
		"14.03 kubectl: node-1 drained=true ",
		"14.04 r0 1 running ready=true deleting=true restarts=0",
		"16.972271 r0 1 gone",
		"17.04 kubectl: node-2 drained=true ",
	)
	for _, p := range w.PodsOn(2) {
		if !p.Ready {
			t.Errorf("%s is not ready", p.Name)
		}
	}
	if n := len(w.PodsOn(2)); n != 4 || w.Unrest() != "" || w.CannotEnd() != nil {
		t.Errorf("%d pods on node-3, %q, %+v", n, w.Unrest(), w.CannotEnd())
	}
}

// A refusal is asked again after 5 s, for as long as it takes. Reference: docs/model/controllers.md 7 Retry.
func TestARefusedEvictionIsAskedAgain(t *testing.T) {
	t.Parallel()
	b := newBuild(2).nodes(3).budget("maxUnavailable 1").drained(nil, "node-1").app(func(a *world.App) { a.Start = engine.Constant(12 * sec) })
	b.container().ReadinessProbe = probe(0, 1, 1, 3)
	w := b.acts(t)
	w.do(9*sec, "delete", "web#1", "")
	w.run(15 * sec)
	if got := w.Unrest(); got != "pod 2 of default/web not ready" || w.CannotEnd() != nil || w.InVain() != 2 {
		t.Errorf("%q, %+v, %d", got, w.CannotEnd(), w.InVain())
	}
	w.run(60 * sec)
	const refused = "r0 0 refused: PodDisruptionBudget web (maxUnavailable 1) allows no eviction: 1 of 2 pods are ready, and 1 has to be"
	w.want("kubectl",
		"10 kubectl: node-1 cordoned=true", "10 kubectl: "+refused, "15 kubectl: "+refused, "20 kubectl: "+refused,
		"26 kubectl: node-1 drained=true ")
}

// A pod that has gone between two requests is answered with 404: that is as good as evicted. Reference: docs/model/controllers.md 6.2 pod missing.
func TestADrainOfAPodThatHasGone(t *testing.T) {
	t.Parallel()
	b := newBuild(2).nodes(2).budget("maxUnavailable 0").drained(nil, "node-1")
	b.Actions = append(b.Actions, world.Action{At: 12 * sec, Operation: world.Delete{Pods: world.Pods{Workload: "default/web", Number: 0}}})
	w := b.acts(t)
	w.run(30 * sec)
	w.want("kubectl",
		"10 kubectl: node-1 cordoned=true",
		"10 kubectl: r0 0 refused: PodDisruptionBudget web (maxUnavailable 0) allows no eviction: 2 of 2 pods are ready, and 2 have to be",
		"15 kubectl: node-1 drained=true ")
}

// What the eviction API says, by the situation of the pod and its budgets. Reference: docs/model/controllers.md 6.2.
func TestEvictionTable(t *testing.T) {
	t.Parallel()
	failing := func(w *testWorld) { w.do(5*sec, "setReady", "web#0", "false") }
	deleting := func(w *testWorld) { w.do(9*sec, "delete", "web#0", "") }
	three := func() build {
		b := newBuild(3).nodes(3).hook("app", sleepHook(10*sec))
		b.container().ReadinessProbe = probe(0, 1, 1, 1)
		return b
	}
	for name, c := range map[string]struct {
		b      build
		before func(*testWorld)
		minor  int
		want   string // a part of the refusal; "" for an eviction
	}{
		"no budget":                               {three(), nil, 36, ""},
		"a budget allows one":                     {three().budget("minAvailable 2"), nil, 36, ""},
		"it allows none":                          {three().budget("minAvailable 3"), nil, 36, "3 of 3 pods are ready, and 3 have to be"},
		"it allows none, in per cent":             {three().budget("minAvailable 67%"), nil, 36, "3 of 3 pods are ready, and 3 have to be"},
		"maxUnavailable 0":                        {three().budget("maxUnavailable 0"), nil, 36, "(maxUnavailable 0) allows no eviction"},
		"a budget without a bound":                {three().budget(""), nil, 36, "neither minAvailable nor maxUnavailable"},
		"two budgets":                             {three().budget("minAvailable 1").budget("maxUnavailable 2"), nil, 36, "500: PodDisruptionBudget web (minAvailable 1) and"},
		"not ready, and enough others":            {three().budget("minAvailable 2"), failing, 36, ""},
		"not ready, and not enough others":        {three().budget("minAvailable 3"), failing, 36, "2 of 3 pods are ready, and 3 have to be"},
		"not ready, and none has to be":           {three().budget("maxUnavailable 3"), failing, 36, ""},
		"not ready, always allowed":               {three().budget("minAvailable 3").always(), failing, 36, ""},
		"not ready, always allowed, before 1.27":  {three().budget("minAvailable 3").always(), failing, 26, "2 of 3 pods are ready, and 3 have to be"},
		"ready, always allowed":                   {three().budget("minAvailable 3").always(), nil, 36, "3 of 3 pods are ready, and 3 have to be"},
		"it is being deleted already":             {three().budget("minAvailable 3"), deleting, 36, ""},
		"another one is away, and one may be":     {three().budget("maxUnavailable 1"), func(w *testWorld) { w.do(9*sec, "delete", "web#1", "") }, 36, ""},
		"another one fails, and one may be away":  {three().budget("maxUnavailable 1"), func(w *testWorld) { w.do(5*sec, "setReady", "web#1", "false") }, 36, "2 of 3 pods are ready, and 2 have to be"},
		"one is away of so many that have to be":  {three().budget("minAvailable 2"), func(w *testWorld) { w.do(9*sec, "delete", "web#1", "") }, 36, ""},
		"many away of as many that have to be":    {three().budget("minAvailable 2"), func(w *testWorld) { w.do(5*sec, "setReady", "web#1", "false") }, 36, "2 of 3 pods are ready, and 2 have to be"},
		"of other pods":                           {three().budgetOf("api", "minAvailable 3"), nil, 36, ""},
		"a pod that finds no node is not counted": {three().nodes(1).node(0, tainted).budget("minAvailable 3"), nil, 36, ""},
	} {
		profile, err := endpoints.ProfileFor(endpoints.Version{Major: 1, Minor: c.minor}, nil)
		if err != nil {
			t.Fatal(err)
		}
		c.b.Kubernetes = profile
		c.b.drained(nil) // kubectl is called, for no node
		w := c.b.acts(t)
		if c.before != nil {
			c.before(w)
		}
		w.run(10 * sec)
		var answers []control.Answer
		w.disrupts.evict.Evict(w.owner, 0, world.OwnGrace, func(a control.Answer) { answers = append(answers, a) })
		w.run(11 * sec)
		if len(answers) != 1 || (c.want == "") != (answers[0].Code == control.Evicted) || !strings.Contains(answers[0].Why, c.want) {
			t.Errorf("%s: %+v, want %q", name, answers, c.want)
		}
		p, _ := w.store.Get(api.PodKey(0)).(*api.Pod)
		if leaves := p == nil || p.Deleting(); leaves != (c.want == "") {
			t.Errorf("%s: the pod leaves: %v", name, leaves)
		}
	}
}

// budgetOf is budget, of the pods of another app.
func (b build) budgetOf(app, words string) build {
	b = b.budget(words)
	b.Budgets[len(b.Budgets)-1].Value.Spec.Selector.MatchLabels = map[string]string{"app": app}
	return b
}

// What the controller writes: pods that are ready and not on their way out, against those that have to be. minAvailable as a number
// expects as many as there are, also those that terminate; the others what the Deployment asks for, whatever a surge adds.
// Reference: docs/model/controllers.md 6.1; measured 1 PDB minAvailable.
func TestBudgetStatus(t *testing.T) {
	t.Parallel()
	for words, want := range map[string][3][4]int{ // allowed, healthy, desired, expected: at rest; while a pod terminates and its successor is there; with another surge
		"minAvailable 2":   {{1, 3, 2, 3}, {1, 3, 2, 4}, {4, 6, 2, 6}},
		"minAvailable 50%": {{1, 3, 2, 3}, {1, 3, 2, 3}, {3, 6, 3, 6}},
		"maxUnavailable 1": {{1, 3, 2, 3}, {1, 3, 2, 3}, {1, 6, 5, 6}},
		"minAvailable 9":   {{0, 3, 9, 3}, {0, 3, 9, 4}, {0, 6, 9, 6}},
		"maxUnavailable 9": {{3, 3, 0, 3}, {3, 3, 0, 3}, {6, 6, 0, 6}},
	} {
		b := newBuild(3).hook("app", sleepHook(10*sec)).budget(words).drained(nil)
		w := b.acts(t)
		w.do(20*sec, "delete", "web#0", "")
		w.do(60*sec, "scale", "web", "6")
		for i, at := range []engine.Time{15 * sec, 25 * sec, 90 * sec} {
			w.run(at)
			s := as[*api.Budget](w.store.Get(api.BudgetKey(0)))
			if got := [4]int{s.Allowed, s.Healthy, s.Desired, s.Expected}; got != want[i] || s.Disrupted != nil {
				t.Errorf("%s at %s s: %+v, want %+v", words, at.Seconds(), s, want[i])
			}
		}
	}
}

// Evictions that come together under one budget meet each other's writes: one of them is answered at once, the next one half a second
// later. Reference: docs/model/measured.md 1 evictions; docs/model/controllers.md 6.2 conflicts.
func TestEvictionsThatComeTogether(t *testing.T) {
	t.Parallel()
	b := newBuild(6).nodes(2).budget("minAvailable 1").drained(nil, "node-1")
	b.Latency.APIWrite, b.Latency.Watch = engine.Constant(5*ms), engine.Constant(5*ms)
	w := b.acts(t)
	w.run(60 * sec)
	var steps []string
	for _, l := range w.lines {
		if stamp, rest, _ := strings.Cut(l, " "); strings.Contains(rest, "deleting=true") {
			steps = append(steps, stamp)
		}
	}
	if len(steps) != 3 || steps[0] != "10.015" || !strings.HasPrefix(steps[1], "10.5") || !strings.HasPrefix(steps[2], "11.") {
		t.Errorf("deleted at %v", steps)
	}
}

// The API server notes which pods it is about to delete: they do not count as ready for two minutes, also if nobody has seen the deletion yet.
// Reference: docs/model/controllers.md 6.1 disruptedPods.
func TestADisruptedPodDoesNotCount(t *testing.T) {
	t.Parallel()
	b := newBuild(3).budget("minAvailable 1").drained(nil)
	w := b.acts(t)
	w.at(20*sec, func() {
		w.store.Write(w.owner, "note", api.BudgetKey(0), func(o api.Object) api.Object {
			next := *as[*api.Budget](o)
			next.Disrupted, next.Allowed = []api.Disrupted{{Pod: 1, At: 20 * sec}}, next.Allowed-1
			return &next
		}, nil)
	})
	for _, c := range []struct {
		at               engine.Time
		allowed, healthy int
	}{{19 * sec, 2, 3}, {21 * sec, 1, 2}, {139 * sec, 1, 2}, {141 * sec, 2, 3}} {
		w.run(c.at)
		if got := as[*api.Budget](w.store.Get(api.BudgetKey(0))); got.Allowed != c.allowed || got.Healthy != c.healthy {
			t.Errorf("at %s s: %+v", c.at.Seconds(), got)
		}
	}
}

// kubectl asks for the nodes first: where one is not there, it does nothing at all. Reference: docs/model/controllers.md 7 Order.
func TestADrainOfANodeThatIsNotThere(t *testing.T) {
	t.Parallel()
	b := newBuild(3).nodes(3).drained(nil)
	b.Actions = []world.Action{
		{At: 5 * sec, Operation: world.DeleteNode{Node: "node-2"}},
		{At: 10 * sec, Operation: world.Drain{Nodes: []string{"node-1", "node-2"}}},
	}
	w := b.acts(t)
	w.run(30 * sec)
	w.want("kubectl", `10 kubectl: node-2 drained=false nodes "node-2" not found`)
}

// A drain that no budget will ever let through cannot end, and says which field is behind it.
func TestABlockedDrain(t *testing.T) {
	t.Parallel()
	for words, what := range map[string]string{
		"minAvailable 3":   "maxUnavailable 1 in place of minAvailable 3, or one replica more",
		"minAvailable 5":   "maxUnavailable 1 in place of minAvailable 5, or 3 replicas more",
		"minAvailable 90%": "maxUnavailable 1 in place of minAvailable 90%",
		"maxUnavailable 0": "maxUnavailable 1 in place of maxUnavailable 0",
		"":                 "a budget with maxUnavailable 1",
	} {
		w := newBuild(3).nodes(3).budget(words).drained(nil, "node-1").acts(t)
		w.run(100 * sec)
		got := w.CannotEnd()
		if got == nil || !got.Drain || got.What != what || got.Budget != &w.sc.Budgets[0] || !strings.HasPrefix(got.Why, "kubectl drain of node-1 waits for ever: PodDisruptionBudget web") {
			t.Errorf("%q: %+v", words, got)
			continue
		}
		if field, _, _ := strings.Cut(words, " "); got.Path != strings.TrimSuffix("spec."+field, ".") {
			t.Errorf("%q: %s", words, got.Path)
		}
		if s := w.Unrest(); s != "kubectl drain of node-1 waits for pod 0 of default/web" {
			t.Error(s)
		}
	}
	w := newBuild(1).budget("minAvailable 1").drained(nil, "node-1").acts(t)
	w.run(100 * sec)
	if got := w.CannotEnd(); got == nil || !strings.HasPrefix(got.What, "replicas 2: with") {
		t.Errorf("one replica: %+v", got)
	}
	b := newBuild(1).budget("minAvailable 1").drained(nil, "node-1")
	b.Workloads[0].Scaler = &world.Scaler{Kind: "HPA", Field: "spec.minReplicas", MostField: "spec.maxReplicas", Most: 1,
		Object: &manifest.Object{Name: "web", Position: manifest.Position{File: "web.yaml", Line: 34}}}
	w = b.acts(t)
	w.run(100 * sec)
	if got := w.CannotEnd(); got == nil || !strings.HasPrefix(got.What, "minReplicas: 2 of HPA web (web.yaml:34) and its maxReplicas: with one pod") {
		t.Errorf("one replica of a scaler: %+v", got)
	}
}

// A pod that somebody holds at not ready is as ready as it will be: a budget that counts on it blocks a drain for ever.
func TestADrainThatAPodBlocksWhichIsNotReady(t *testing.T) {
	t.Parallel()
	b := newBuild(3).nodes(3).budget("minAvailable 3").drained(nil, "node-1")
	b.d.Spec.Template.Spec.Containers[0].ReadinessProbe = probe(0, 1, 1, 1)
	b.Actions = append([]world.Action{{At: sec, Operation: world.SetReady{Pods: world.Pods{Workload: "default/web", Number: 2}}}}, b.Actions...)
	w := b.acts(t)
	w.run(100 * sec)
	if got := w.CannotEnd(); got == nil || !got.Drain || !strings.Contains(got.Why, "2 of 3 pods are ready, and 3 have to be") || got.What != "maxUnavailable 2 in place of minAvailable 3 (1 once all are ready), or 2 replicas more" {
		t.Errorf("%+v", got)
	}
}

// A pod that finds no other node, for they are cordoned, is why nothing moves.
func TestADrainWithoutRoom(t *testing.T) {
	t.Parallel()
	w := newBuild(1).drained(nil, "node-1").acts(t)
	w.run(100 * sec)
	want := control.Stuck{Why: "the new pod finds no node: 0/1 nodes are available: 1 node(s) were unschedulable", What: "kubectl uncordon, or one node more"}
	if got := w.CannotEnd(); got == nil || *got != want {
		t.Errorf("%+v", got)
	}
	b := newBuild(1).nodes(3).drained(nil, "node-1")
	b.d.Spec.Template.Spec.NodeSelector = map[string]string{"pool": "web"}
	for i := range b.Nodes {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: b.Nodes[i].Name, Labels: map[string]string{"pool": []string{"web", "db", "web"}[i]}}}
		if i == 2 {
			n.Spec.Taints = []corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectNoSchedule}}
		}
		b.Nodes[i].Object = n
	}
	w = b.acts(t)
	w.run(100 * sec)
	if got := w.CannotEnd(); got == nil || got.What != "kubectl uncordon, or one node more with the labels that it asks for, without a taint that it does not tolerate" {
		t.Errorf("%+v", got)
	}
	w = newBuild(3).nodes(3).apart().budget("maxUnavailable 1").drained(nil, "node-1", "node-2").acts(t)
	w.run(100 * sec)
	got := w.CannotEnd()
	if got == nil || !got.Drain || got.What != "2 nodes more" || got.Budget != nil ||
		!strings.Contains(got.Why, "waits for ever: PodDisruptionBudget") || !strings.HasSuffix(got.Why, "0/3 nodes are available: 1 node(s) didn't match pod anti-affinity rules, 2 node(s) were unschedulable") {
		t.Errorf("%+v", got)
	}
}

// Two budgets over a pod are an error that does not go away by itself: what would let the drain go on is said.
func TestTwoBudgetsOverAPodAreOneTooMany(t *testing.T) {
	t.Parallel()
	w := newBuild(2).nodes(2).budget("minAvailable 1").budget("minAvailable 1").drained(nil, "node-1").acts(t)
	w.run(60 * sec)
	if s := w.CannotEnd(); s == nil || s.What != "one PodDisruptionBudget for a pod: delete one of the two, or narrow its selector" {
		t.Errorf("%+v", s)
	}
}

// The flags of kubectl drain. Reference: docs/model/controllers.md 7.
func TestFlagsOfKubectlDrain(t *testing.T) {
	t.Parallel()
	emptyDir := func(b build) build {
		b.d.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "cache", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		return b
	}
	for name, c := range map[string]struct {
		b    build
		want []string
		why  string // of what cannot end
	}{
		"--timeout, and a budget that lets nothing through": {
			newBuild(2).nodes(2).budget("minAvailable 2").drained(func(o *world.DrainOptions) { o.Timeout = 7 * sec }, "node-1"),
			[]string{
				"10 kubectl: node-1 cordoned=true",
				"10 kubectl: r0 0 refused: PodDisruptionBudget web (minAvailable 2) allows no eviction: 2 of 2 pods are ready, and 2 have to be",
				"15 kubectl: r0 0 refused: PodDisruptionBudget web (minAvailable 2) allows no eviction: 2 of 2 pods are ready, and 2 have to be",
				"20 kubectl: node-1 drained=false pod 0 of default/web: timeout reached: PodDisruptionBudget web (minAvailable 2) allows no eviction: 2 of 2 pods are ready, and 2 have to be",
			}, "kubectl drain gives up on node-1: pod 0 of default/web: timeout reached: PodDisruptionBudget",
		},
		"--timeout, and a pod that takes longer": {
			newBuild(1).nodes(2).hook("app", sleepHook(20*sec)).drained(func(o *world.DrainOptions) { o.Timeout = 7500 * ms }, "node-1", "node-2"),
			[]string{
				"10 kubectl: node-1 cordoned=true", "10 kubectl: node-2 cordoned=true",
				"17.5 kubectl: node-1 drained=false pod 0 of default/web: timeout reached", "17.5 kubectl: node-2 drained=true ",
			}, "kubectl drain gives up on node-1: pod 0 of default/web: timeout reached",
		},
		"two budgets": {
			newBuild(2).nodes(2).budget("minAvailable 1").budget("minAvailable 1").drained(nil, "node-1", "node-2"),
			[]string{
				"10 kubectl: node-1 cordoned=true", "10 kubectl: node-2 cordoned=true",
				"10 kubectl: r0 0 refused: 500: PodDisruptionBudget web (minAvailable 1) and PodDisruptionBudget web (minAvailable 1) both cover the pod, which the eviction API does not support",
				"10 kubectl: node-1 drained=false pod 0 of default/web: 500: PodDisruptionBudget web (minAvailable 1) and PodDisruptionBudget web (minAvailable 1) both cover the pod, which the eviction API does not support",
				"10 kubectl: r0 1 refused: 500: PodDisruptionBudget web (minAvailable 1) and PodDisruptionBudget web (minAvailable 1) both cover the pod, which the eviction API does not support",
				"10 kubectl: node-2 drained=false pod 1 of default/web: 500: PodDisruptionBudget web (minAvailable 1) and PodDisruptionBudget web (minAvailable 1) both cover the pod, which the eviction API does not support",
			}, "kubectl drain gives up on node-1: pod 0 of default/web: 500",
		},
		"--disable-eviction": {
			newBuild(2).nodes(2).budget("minAvailable 2").drained(func(o *world.DrainOptions) { o.DisableEviction = true }, "node-1"),
			[]string{"10 kubectl: node-1 cordoned=true", "11 kubectl: node-1 drained=true "}, "",
		},
		"--grace-period": {
			newBuild(2).nodes(2).app(ignores).drained(func(o *world.DrainOptions) { o.GracePeriod = 3 * sec }, "node-1"),
			[]string{"10 kubectl: node-1 cordoned=true", "14 kubectl: node-1 drained=true "}, "",
		},
		"--pod-selector": {
			newBuild(2).nodes(2).drained(func(o *world.DrainOptions) { o.PodSelector = "app=web,tier!=back" }, "node-1"),
			[]string{"10 kubectl: node-1 cordoned=true", "11 kubectl: node-1 drained=true "}, "",
		},
		"--pod-selector of other pods": {
			emptyDir(newBuild(2)).nodes(2).drained(func(o *world.DrainOptions) { o.PodSelector, o.KeepEmptyDir = "app!=web", true }, "node-1"),
			[]string{"10 kubectl: node-1 cordoned=true", "10 kubectl: node-1 drained=true "}, "",
		},
		"an emptyDir": {
			emptyDir(newBuild(2)).nodes(2).drained(func(o *world.DrainOptions) { o.KeepEmptyDir = true }, "node-1"),
			[]string{
				"10 kubectl: node-1 cordoned=true",
				"10 kubectl: node-1 drained=false cannot delete Pods with local storage (use --delete-emptydir-data to override): pod 0 of default/web",
			}, "kubectl drain gives up on node-1: cannot delete Pods with local storage",
		},
		"a bare Pod": {
			newBuild(1).nodes(2).bare().drained(nil, "node-1", "node-2"),
			[]string{
				"10 kubectl: node-1 cordoned=true", "10 kubectl: node-2 cordoned=true",
				"10 kubectl: node-1 drained=false cannot delete Pods that declare no controller (use --force to override): default/web",
				"10 kubectl: node-2 drained=true ",
			}, "kubectl drain gives up on node-1: cannot delete Pods that declare no controller (use --force to override): default/web",
		},
		"a mirror pod, with an emptyDir": {
			mirror(emptyDir(newBuild(1)).bare()).nodes(2).drained(func(o *world.DrainOptions) { o.KeepEmptyDir = true }, "node-1"),
			[]string{"10 kubectl: node-1 cordoned=true", "10 kubectl: node-1 drained=true "}, "",
		},
		"a bare Pod, and --force": {
			newBuild(1).nodes(2).bare().drained(func(o *world.DrainOptions) { o.Force = true }, "node-1"),
			[]string{"10 kubectl: node-1 cordoned=true", "11 kubectl: node-1 drained=true "}, "",
		},
		"a bare Pod with an emptyDir is refused for that": {
			emptyDir(newBuild(1)).bare().nodes(2).drained(func(o *world.DrainOptions) { o.KeepEmptyDir = true }, "node-1"),
			[]string{
				"10 kubectl: node-1 cordoned=true",
				"10 kubectl: node-1 drained=false cannot delete Pods with local storage (use --delete-emptydir-data to override): default/web",
			}, "kubectl drain gives up on node-1: cannot delete Pods with local storage",
		},
		"an emptyDir that may go": {
			emptyDir(newBuild(2)).nodes(2).drained(nil, "node-1"),
			[]string{"10 kubectl: node-1 cordoned=true", "11 kubectl: node-1 drained=true "}, "",
		},
	} {
		w := c.b.acts(t)
		w.run(100 * sec)
		w.want("kubectl", c.want...)
		got := w.CannotEnd()
		if (got == nil) != (c.why == "") || got != nil && (!got.Drain || !strings.HasPrefix(got.Why, c.why)) {
			t.Errorf("%s: %+v", name, got)
		}
		if name == "two budgets" && (got.Budget == nil || !strings.HasPrefix(got.What, "one PodDisruptionBudget for a pod")) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// kubectl waits for a pod until it should have gone for longer than --skip-wait-for-delete-timeout: its deletionTimestamp is the end of its
// grace period. One that is so late when the drain begins is not asked at all. Reference: docs/model/controllers.md 7 Skip.
func TestKubectlDoesNotWaitForLatePods(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		deleted, paused engine.Time
		skip            engine.Time
		want            string
	}{
		"its kubelet does nothing":       {0, 9 * sec, 10 * sec, "24 kubectl: node-1 drained=true "}, // 10 s, 3 s of grace, more than 10 s
		"for ever":                       {0, 9 * sec, 0, ""},
		"it was late before":             {1 * sec, 500 * ms, 5 * sec, "10 kubectl: node-1 drained=true "},
		"it was late, but not so much":   {4 * sec, 500 * ms, 5 * sec, "13 kubectl: node-1 drained=true "},
		"nobody is late where none hang": {0, 0, 10 * sec, "11 kubectl: node-1 drained=true "},
	} {
		b := newBuild(2).nodes(2).apart().grace(3).drained(func(o *world.DrainOptions) { o.SkipDeleted = c.skip }, "node-1")
		w := b.acts(t)
		if c.paused > 0 {
			w.do(c.paused, "component", "kubelet/node-1", world.ComponentPause)
		}
		if c.deleted > 0 {
			w.do(c.deleted, "delete", "web#0", "")
		}
		w.run(100 * sec)
		want := []string{c.want}
		if c.want == "" {
			want = nil
		}
		w.want("drained=", want...)
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

// The API server that does not answer ends what kubectl is at: a pod that was refused, and one that is being deleted.
func TestKubectlWithoutAnAPIServer(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]build{
		"while it waits": newBuild(2).nodes(2).hook("app", sleepHook(20*sec)), "while it is refused": newBuild(2).nodes(2).budget("minAvailable 2"),
	} {
		w := b.drained(nil, "node-1").acts(t)
		w.do(12*sec, "apiserver", "", "down")
		w.do(40*sec, "apiserver", "", "up")
		w.run(100 * sec)
		if !strings.Contains(strings.Join(w.lines, "\n"), "kubectl: node-1 drained=false pod 0 of default/web: the API server does not answer") {
			t.Errorf("%s:\n%s", name, strings.Join(w.lines, "\n"))
		}
		if got := w.CannotEnd(); got == nil || !got.Drain {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A cordon keeps pods off a node, but those that tolerate it; load balancers and rules go on. Without it, pods come again.
// Reference: docs/model/controllers.md 7 Cordon effect.
func TestACordonedNode(t *testing.T) {
	t.Parallel()
	tolerant := func(b build) build {
		b.d.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists}}
		return b
	}
	for name, c := range map[string]struct {
		b        build
		span     engine.Time
		on       int // pods on node-2 in the end
		homeless bool
	}{
		"one of two nodes":         {newBuild(2).nodes(2), 0, 1, false},
		"pods that tolerate it":    {tolerant(newBuild(2).nodes(2)), 0, 3, false},
		"for a while":              {newBuild(2).nodes(2), 5 * sec, 3, false},
		"the only node":            {newBuild(1).nodes(1), 0, 0, true},
		"the only node, for a day": {newBuild(1).nodes(1), 80 * sec, 0, false},
	} {
		last := c.b.Nodes[len(c.b.Nodes)-1].Name
		c.b.Actions = []world.Action{{At: 10 * sec, For: c.span, Operation: world.Cordon{Node: last}}}
		w := c.b.acts(t)
		w.do(20*sec, "scale", "web", "6")
		w.run(100 * sec)
		if n := len(c.b.Nodes); n == 2 && len(w.PodsOn(1)) != c.on {
			t.Errorf("%s: %d pods on %s", name, len(w.PodsOn(1)), last)
		}
		if got := w.CannotEnd(); (got != nil) != c.homeless {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A cordon that is taken back before any news of it has arrived is none in the end, however late the watch is.
func TestACordonThatIsTakenBackAtOnce(t *testing.T) {
	t.Parallel()
	b := newBuild(1).nodes(1)
	b.Latency.Watch = engine.Constant(3 * sec)
	b.Actions = []world.Action{{At: 10 * sec, For: 5 * engine.Millisecond, Operation: world.Cordon{Node: b.Nodes[0].Name}}}
	w := b.acts(t)
	w.do(20*sec, "scale", "web", "3")
	w.run(100 * sec)
	if got := len(w.PodsOn(0)); got != 3 {
		t.Errorf("%d of 3 pods have a node", got)
	}
}

// An eviction that is asked for once is asked for once. The action is refused or not, and nobody comes back to it.
func TestEvictOnce(t *testing.T) {
	t.Parallel()
	for words, deleted := range map[string]bool{"minAvailable 2": false, "minAvailable 1": true} {
		b := newBuild(2).nodes(2).budget(words)
		b.Actions = []world.Action{{At: 10 * sec, Operation: world.Evict{Pods: world.Pods{Workload: "default/web", Number: 1}}}}
		w := b.acts(t)
		w.run(60 * sec)
		story := strings.Join(w.lines, "\n")
		if strings.Contains(story, "r0 1 gone") != deleted || strings.Count(story, "refused") != map[bool]int{true: 0, false: 1}[deleted] {
			t.Errorf("%s:\n%s", words, story)
		}
		if s := w.CannotEnd(); (s != nil) == deleted || s != nil && (!s.Drain || s.Budget == nil || !strings.HasPrefix(s.Why, "the eviction of pod 1 of default/web is refused: PodDisruptionBudget web")) {
			t.Errorf("%s: %+v", words, s)
		}
	}
}

// Many seeds, with drawn delays: never fewer ready pods than the budget wants by evictions alone, all nodes are empty in the end, and the
// status in the API is what the pods amount to.
func TestDrainsKeepTheBudget(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		replicas := int(seed%7) + 2
		allowed := int(seed%2) + 1
		b := newBuild(replicas).nodes(4).drawn().budget(fmt.Sprintf("maxUnavailable %d", allowed)).drained(nil, "node-2", "node-1", "node-4")
		b.container().ReadinessProbe = probe(0, 1, 1, 1)
		w := b.start(t, seed)
		w.do(10*sec, "note", "", "")
		w.at(10*sec, func() { w.Do(b.Actions[0]) })
		least := replicas
		for at := 10 * sec; at < 400*sec; at += 100 * ms {
			w.run(at)
			ready := 0
			w.eachWorker(func(wk *kubelet.Worker) {
				if p, ok := w.store.Get(api.PodKey(wk.ID)).(*api.Pod); ok && p.Ready && !p.Deleting() {
					ready++
				}
			})
			least = min(least, ready)
		}
		if least < replicas-allowed || len(w.PodsOn(2)) != replicas || w.Unrest() != "" {
			t.Errorf("seed %d: %d of %d ready at the least, %d on node-3, %s", seed, least, replicas, len(w.PodsOn(2)), w.Unrest())
		}
		b2 := as[*api.Budget](w.store.Get(api.BudgetKey(0)))
		if want := (api.BudgetStatus{Allowed: min(allowed, replicas), Healthy: replicas, Desired: max(0, replicas-allowed), Expected: replicas}); !b2.Same(&want) {
			t.Errorf("seed %d: %+v, want %+v", seed, b2.BudgetStatus, want)
		}
	}
}

// Of two budgets that cover a pod the controller refreshes one, whichever pod changes; the other keeps what it was. Reference:
// docs/model/measured.md 1 two PDBs.
func TestTheSecondBudgetOfAPod(t *testing.T) {
	t.Parallel()
	w := newBuild(3).budget("maxUnavailable 1").budget("maxUnavailable 2").drained(nil).acts(t)
	w.do(20*sec, "scale", "web", "6")
	w.run(60 * sec)
	for n, want := range []int{6, 3} {
		if got := as[*api.Budget](w.store.Get(api.BudgetKey(n))); got.Healthy != want {
			t.Errorf("budget %d: %+v", n, got)
		}
	}
}

// An eviction takes one of what the budget allows: one that comes before the controller has looked again is refused.
func TestAnEvictionTakesOneOfTheBudget(t *testing.T) {
	t.Parallel()
	b := newBuild(3).budget("maxUnavailable 1").drained(nil)
	b.Latency.Watch = engine.Constant(sec)
	w := b.acts(t)
	var answers []control.Code
	for i, at := range []engine.Time{10 * sec, 10*sec + 100*ms} {
		w.at(at, func() {
			w.disrupts.evict.Evict(w.owner, api.PodID(i), world.OwnGrace, func(a control.Answer) { answers = append(answers, a.Code) })
		})
	}
	w.run(20 * sec)
	if len(answers) != 2 || answers[0] != control.Evicted || answers[1] != control.NotNow {
		t.Error(answers)
	}
}

// A pod that no node takes is one of a workload's like any other: whoever deletes or evicts it meets it in the API, and no budget
// matters. Reference: docs/model/controllers.md 6.2 pod Succeeded; recorded (test/controlplane/testdata/evict-without-a-node.json).
func TestPodsWithoutANodeAreDeletedAndEvicted(t *testing.T) {
	t.Parallel()
	b := newBuild(2).nodes(1).budget("maxUnavailable 0")
	b.Actions = []world.Action{
		{At: sec, Operation: world.Cordon{Node: "node-1"}},
		{At: 2 * sec, Operation: world.Scale{Workload: "default/web", Replicas: 3}},
		{At: 5 * sec, Operation: world.Evict{Pods: world.Pods{Workload: "default/web", Number: 2}}},
		{At: 8 * sec, Operation: world.Delete{Pods: world.Pods{Workload: "default/web", Number: 2}}},
		{At: 9 * sec, Operation: world.Evict{Pods: world.Pods{Workload: "default/web", Number: 1}}},
	}
	w := b.acts(t)
	w.run(20 * sec)
	w.want("created|gone|refused",
		"2 r0 2 created", "5 r0 2 gone", "5 r0 3 created", "8 r0 3 gone", "8 r0 4 created",
		"9 kubectl: r0 1 refused: PodDisruptionBudget web (maxUnavailable 0) allows no eviction: 2 of 3 pods are ready, and 3 have to be",
	)
}

// mirror makes a bare Pod one that its kubelet has from a file.
func mirror(b build) build {
	b.Workloads[0].Resource.SetAnnotations(map[string]string{corev1.MirrorPodAnnotationKey: "hash"})
	return b
}

// Who takes a node away leaves mirror pods to it: they go with the machine. Reference: docs/model/controllers.md 7 Mirror pods.
func TestMirrorPodsStay(t *testing.T) {
	t.Parallel()
	for _, o := range []world.Operation{
		world.Consolidate{Nodes: []string{"node-1"}, Budget: world.NodeBudget{Number: 1}},
		world.UpgradePool{Provider: world.PoolGKE, Surge: 1, Provision: sec, Nodes: []string{"node-1"}},
		world.ScaleDownNode{Node: "node-1"},
	} {
		w := mirror(newBuild(1).nodes(2).bare()).taken(o).takes(t)
		w.run(100 * sec)
		if w.told("deleting=true") || !w.Dead(0) {
			t.Errorf("%T: dead %v, %q", o, w.Dead(0), w.lines)
		}
	}
}

// A drain with --timeout never waits for ever: while it asks it may go on yet, and then it has given up.
func TestADrainWithATimeoutDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	w := newBuild(2).nodes(2).budget("minAvailable 2").drained(func(o *world.DrainOptions) { o.Timeout = 60 * sec }, "node-1").acts(t)
	w.run(50 * sec)
	if s := w.CannotEnd(); s != nil {
		t.Errorf("while it asks: %s", s.Why)
	}
	w.run(100 * sec)
	if s := w.CannotEnd(); s == nil || !strings.HasPrefix(s.Why, "kubectl drain gives up on node-1: ") {
		t.Errorf("after its time: %+v", s)
	}
}

// A pod that its DaemonSet has released is nobody's: kubectl has it evicted where it may, and leaves the one that the DaemonSet has made since.
func TestADrainOfAPodThatADaemonSetReleased(t *testing.T) {
	t.Parallel()
	for force, want := range map[bool]string{true: "1, 2", false: "1, 1, 2"} {
		b := newBuild(1).nodes(2).daemons("0", "1").drained(func(o *world.DrainOptions) { o.Force = force }, "node-1")
		b.Actions[0].At = 60 * sec
		b = b.relabels(label(10, 0, "app", "debug"))
		w := b.acts(t)
		w.run(200 * sec)
		var on []string
		for n := range b.Nodes {
			for range w.PodsOn(n) {
				on = append(on, fmt.Sprint(n+1))
			}
		}
		if got := strings.Join(on, ", "); got != want {
			t.Errorf("force %v: pods on nodes %s, want %s\n%v", force, got, want, w.lines)
		}
	}
}
