package fix

import (
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// takenBy is what somebody does to the node with most pods of a workload, and the workload.
func takenBy(t *testing.T, text, action string) (*world.Scenario, *world.Workload) {
	t.Helper()
	objects, problems := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
	cases, more := scenario.Infer(objects, scenario.Options{Actions: []string{action}})
	if manifest.HasErrors(problems) || manifest.HasErrors(more) || len(cases) == 0 || cases[0].Scenario == nil {
		t.Fatalf("%s: %v %v", action, problems, more)
	}
	return cases[0].Scenario, cases[0].Scenario.Workload("shop/web")
}

// A second replica is tried whoever takes the node of the only one: with a budget where that one asks the eviction API, else spread over
// nodes. No hook and no grace period is tried for a pod that ends with its machine.
func TestChangesForANodeThatGoes(t *testing.T) {
	t.Parallel()
	single := strings.Replace(fill(ready), "  replicas: 2", one, 1)
	const asks = "replicas: 2 with a PodDisruptionBudget (maxUnavailable: 1)"
	const spread = "replicas: 2, spread over nodes"
	for action, want := range map[string]struct {
		second        string
		ends, silence bool
	}{
		"drain":        {asks, true, false},
		"evict":        {asks, true, false},
		"autoscaler":   {asks, true, false},
		"karpenter":    {asks, true, false},
		"pool-upgrade": {asks, true, false},
		"shutdown":     {spread, false, true},
		"spot":         {spread, false, true},
		"crash":        {spread, false, true},
	} {
		s, w := takenBy(t, single, action)
		var titles []string
		for _, c := range Changes(s, w, engine.Second) {
			titles = append(titles, c.Title)
			if c.ID == "preStop" && c.Makeshift == "" {
				t.Errorf("%s: a hook is as good as a second pod", action)
			}
			if c.ID == "replicas" && (c.Budget != nil) != (want.second == asks) {
				t.Errorf("%s: budget %v", action, c.Budget)
			}
		}
		has := func(begin string) bool {
			return slices.ContainsFunc(titles, func(x string) bool { return strings.HasPrefix(x, begin) })
		}
		if !slices.Contains(titles, want.second) || has("preStop") != want.ends || has("terminationGrace") != want.ends || has("tolerationSeconds") != want.silence {
			t.Errorf("%s: %q", action, titles)
		}
		if has("minReadySeconds") || has("maxUnavailable") {
			t.Errorf("%s: how a rollout goes on is nothing to it: %q", action, titles)
		}
	}
	// A kubelet that ends its pods at a shutdown runs their hooks; a handler that drains at a notice asks budgets.
	s, w := takenBy(t, single, "shutdown")
	s = s.Clone()
	s.Shutdown = []world.ShutdownGroup{{Grace: 30 * engine.Second}}
	if !slices.ContainsFunc(Changes(s, w, engine.Second), func(c Change) bool { return c.ID == "preStop" }) {
		t.Error("no hook is tried for a graceful shutdown")
	}
	s, w = takenBy(t, single, "spot")
	s = s.Clone()
	s.Actions = slices.Clone(s.Actions)
	s.Actions[0].Operation = world.SpotNotice{Fullest: "shop/web", Notice: engine.Minute, Drains: true}
	if !slices.ContainsFunc(Changes(s, w, engine.Second), func(c Change) bool { return c.Title == asks }) {
		t.Error("no budget is tried where a handler drains")
	}
}

// Where there must not be two pods no hook is tried that has the only one wait for its successor.
func TestNoHookWaitsForAPodThatMustNotBe(t *testing.T) {
	t.Parallel()
	single := strings.Replace(fill(nil), "  replicas: 2", one, 1)
	for text, want := range map[string]bool{single: true, strings.Replace(single, "      containers:", claim+"\n      containers:", 1): false} {
		for _, action := range []string{"drain", "karpenter", "autoscaler"} {
			s, w := takenBy(t, text, action)
			if got := slices.ContainsFunc(Changes(s, w, engine.Second), func(c Change) bool { return c.ID == "preStop" }); got != want {
				t.Errorf("%s: a hook is tried: %v, want %v", action, got, want)
			}
		}
	}
}

// How long a pod tolerates a silent node, by what its manifest says already, and what is to be pasted.
func TestTolerationsForASilentNode(t *testing.T) {
	t.Parallel()
	const ours = "key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 30"
	for has, want := range map[string]string{
		"": "web.yaml:9 spec.template.spec.tolerations tolerations:",
		"      tolerations: [{key: gpu, operator: Exists, effect: NoSchedule}]\n":                                                                              "unreachable for 30 s and not-ready for 30 s (NoExecute), before all others",
		"      tolerations: [{key: node.kubernetes.io/unreachable, operator: Exists, effect: NoSchedule}]\n":                                                   "before all others",
		"      tolerations: [{operator: Exists, effect: NoExecute, tolerationSeconds: 20}]\n":                                                                  "",
		"      tolerations: [{key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute}]\n":                                                    "before all others",
		"      tolerations: [{key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 6}, {key: x, effect: NoExecute}]\n": "before all others",
	} {
		s, w := takenBy(t, strings.Replace(fill(nil), "      containers:", has+"      containers:", 1), "crash")
		i := slices.IndexFunc(Changes(s, w, 0), func(c Change) bool { return c.ID == "tolerations" })
		if i < 0 || want == "" {
			if i >= 0 || want != "" {
				t.Errorf("%s: change %d", has, i)
			}
			continue
		}
		c := Changes(s, w, 0)[i]
		if text := editsText(c.Edits); !strings.Contains(text, want) || !strings.Contains(c.Edits[0].To.YAML, ours) {
			t.Errorf("%s: %s, %s", has, text, c.Edits[0].To.YAML)
		}
		out := Apply(s, w.Name(), []Change{c}).Workload(w.Name()).Template().Spec.Tolerations
		if len(out) != 2+strings.Count(has, "effect: NoSchedule")+strings.Count(has, "{key: x") || *out[0].TolerationSeconds != 30 {
			t.Errorf("%s: %+v", has, out)
		}
	}
}

// Where nothing is tried that a person would think of, there is a reason.
func TestWhatIsNotTriedForACrash(t *testing.T) {
	t.Parallel()
	single := strings.Replace(fill(nil), "  replicas: 2", one, 1)
	for text, want := range map[string]string{
		single:    "preStop: no hook runs on a machine that is gone",
		fill(nil): "preStop: no hook runs on a machine that is gone",
		strings.Replace(single, "image: nginx", "image: redis:7", 1): "replicas: 2: a second database, or cache, would not have the data of the first",
	} {
		s, w := takenBy(t, text, "crash")
		if title, why := Untried(s, w); title+": "+why != want {
			t.Errorf("%s: %s, want %s", title, why, want)
		}
	}
}

// A handler that drains at a spot notice is no advice where the pods' hook outlasts that.
func TestAHookThatOutlastsASpotNotice(t *testing.T) {
	t.Parallel()
	s, w := takenBy(t, strings.Replace(fill(nil), "  replicas: 2", one, 1), "spot")
	s = s.Clone()
	s.Actions = slices.Clone(s.Actions)
	o, ok := s.Actions[0].Operation.(world.SpotNotice)
	if !ok {
		t.Fatal(s.Actions[0].Operation)
	}
	name := w.Template().Spec.Containers[0].Name
	for seconds, want := range map[engine.Time]string{0: "", 29: "", 30: "the preStop hook takes 30s, and the notice is 30s", 60: "the preStop hook takes 1m0s, and the notice is 30s"} {
		o.Notice = 30 * engine.Second
		s.Actions[0].Operation = o
		w.Hooks = map[string]world.Hook{name: {Duration: engine.Constant(seconds * engine.Second)}}
		if got := Unevictable(s, w); got != want {
			t.Errorf("%d s: %q, want %q", seconds, got, want)
		}
	}
}
