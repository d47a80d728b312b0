package sweep

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// webOn is the web Service with these words in its spec, in front of 2 replicas, on 3 nodes.
func webOn(t *testing.T, service string, opts scenario.Options) []scenario.Case {
	t.Helper()
	return spreadOn(t, "", "", service, "", opts)
}

// spreadOn is webOn with these words in the Deployment's spec, and in that of its pods, on these nodes.
func spreadOn(t *testing.T, set, pod, service, nodes string, opts scenario.Options) []scenario.Case {
	t.Helper()
	text := strings.Replace(web, "  type: NodePort\n", service, 1)
	text = strings.Replace(text, "  replicas: 2\n", "  replicas: 2\n"+set, 1)
	text = strings.Replace(text, "      containers:\n", pod+"      containers:\n", 1)
	text = text[:strings.LastIndex(text, "---")] + nodes
	if opts.Nodes == 0 && nodes == "" {
		opts.Set = append(opts.Set, "nodes.count=3")
	}
	objects, problems := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
	opts.Actions = []string{"rollout"}
	cases, more := scenario.Infer(objects, opts)
	if manifest.HasErrors(problems) || manifest.HasErrors(more) || len(cases) == 0 {
		t.Fatalf("%d cases, %v %v", len(cases), problems, more)
	}
	return cases
}

const (
	local = "  type: NodePort\n  externalTrafficPolicy: Local\n"
	// apart has no two pods on a node; of tainted nodes the third takes none, so that with apart and noSurge pods stay where they are.
	apart   = "      affinity:\n        podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}]}\n"
	tainted = "\n---\n{apiVersion: v1, kind: Node, metadata: {name: node-1}}\n---\n{apiVersion: v1, kind: Node, metadata: {name: node-2}}" +
		"\n---\n{apiVersion: v1, kind: Node, metadata: {name: node-3}, spec: {taints: [{key: other, effect: NoSchedule}]}}\n"
	noSurge = "  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}\n"
)

func swept(t *testing.T, cases []scenario.Case, opts Options) *record.Simulation {
	t.Helper()
	s, err := runKept(context.Background(), t, cases, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Twenty connections answer 20 requests of a second each: what is asked beyond fails, and the pods, which serve as many at once as there
// are, are not to blame; they are where they serve no more than one.
func TestAPoolThatIsTooSmallIsNamed(t *testing.T) {
	t.Parallel()
	for concurrency, want := range map[string]string{"": "the 20 connections of the clients are too few", ", concurrency: 1": "pods of web have too much to do"} { // order: each for itself
		cases := webOn(t, "  type: NodePort\n", scenario.Options{Set: []string{"apps.web={serve: 1s" + concurrency + "}"}})
		for i := range cases[0].Scenario.Traffic {
			if x := &cases[0].Scenario.Traffic[i]; x.KeepAlive {
				x.Clients, x.Rate = 20, 100_000
			}
		}
		c := &swept(t, cases[:1], Options{Runs: 1}).Cases[0]
		if !slices.ContainsFunc(c.Before, func(b record.Before) bool { return b.Client == "keep-alive" && strings.HasPrefix(b.What, want) }) {
			t.Errorf("%q: %+v", concurrency, c.Before)
		}
	}
}

// Two pods stay on two of three nodes: the node without one drops what comes to its port, whatever is done.
func TestANodeThatNeverAnswersIsNoLossOfTheRollout(t *testing.T) {
	t.Parallel()
	cases := spreadOn(t, noSurge, apart, local, tainted, scenario.Options{})
	c := &swept(t, cases, Options{Runs: 5}).Cases[0]
	if len(c.Before) == 0 || !strings.Contains(c.Before[0].What, "never answer: no pod of web is there and externalTrafficPolicy is Local") &&
		!strings.Contains(c.Before[0].What, "never answers: no pod of web is there and externalTrafficPolicy is Local") {
		t.Fatalf("before: %+v", c.Before)
	}
	if part := c.Before[0].Lost; part < 200_000 || part > 500_000 {
		t.Errorf("one node of three is %d millionths of the requests", part)
	}
	for i := range c.Runs {
		sum := c.Runs[i].Sum()
		if sum.Before == 0 || sum.OK+sum.Failed+sum.Before != sum.Total || sum.Failed*5 > sum.Before {
			t.Errorf("seed %d: %+v", c.Runs[i].Seed, sum)
		}
		var grouped uint64
		for _, g := range c.Runs[i].Groups {
			grouped += g.Count
		}
		if grouped != sum.Failed {
			t.Errorf("seed %d: %d failed, in groups of %d", c.Runs[i].Seed, sum.Failed, grouped)
		}
	}
}

// Two pods move from two of four nodes to the others: the clients of the nodes that they leave lose their answers for good, and that others are answered
// instead, who were not before, does not help them.
func TestANodeThatComesAlightDoesNotMakeUpForOneThatGoesDark(t *testing.T) {
	t.Parallel()
	s := swept(t, spreadOn(t, "", apart, local, "", scenario.Options{Nodes: 4}), Options{Runs: 5, Fixes: 1, ConfirmRuns: 10})
	c := &s.Cases[0]
	if part := c.Lasting(); part < 400_000 || part > 550_000 || c.Verdict != record.Drops {
		t.Errorf("%s, %d millionths last", c.Verdict, part)
	}
	if len(c.Causes) == 0 || c.Causes[0].Cause != ledger.NoLocalEndpoint || len(c.Causes[0].Nodes) != 2 {
		t.Errorf("causes: %+v", c.Causes)
	}
	if len(c.Before) == 0 || c.Before[0].Lost < 450_000 || c.Before[0].Lost > 550_000 {
		t.Errorf("before: %+v", c.Before)
	}
	if len(s.Fixes) == 0 || !strings.Contains(s.Fixes[0].Title, "externalTrafficPolicy: Cluster") {
		t.Errorf("fixes: %+v", s.Fixes)
	}
}

// The same seeds, and half a minute more of traffic afterwards: as much is lost.
func TestLostSecondsDoNotDependOnTheEndOfTheRun(t *testing.T) {
	t.Parallel()
	cases := spreadOn(t, noSurge, apart, local, tainted, scenario.Options{})
	first := &swept(t, cases, Options{Runs: 3}).Cases[0]
	for i := range first.Runs {
		sc := *cases[0].Scenario
		sc.Until = first.Runs[i].End + 30*engine.Second
		sc.Actions = append(sc.Actions[:len(sc.Actions):len(sc.Actions)], world.Action{At: first.Runs[i].End, Operation: world.Resume{Workload: "deployment/web"}}) // changes nothing
		longer := paired(&sc, first.Runs[i].Seed, pairedAll)
		if longer.err != nil {
			t.Fatal(longer.err)
		}
		if longer.run.End <= first.Runs[i].End || longer.run.LostSeconds() != first.Runs[i].LostSeconds() {
			t.Errorf("%s lost by %s, %s by %s", first.Runs[i].LostSeconds().Seconds(), first.Runs[i].End.Seconds(), longer.run.LostSeconds().Seconds(), longer.run.End.Seconds())
		}
	}
}

// Runs are calm if nothing failed without the action in any of them, and at least one was done without it.
func TestCalmRuns(t *testing.T) {
	t.Parallel()
	unknown, calmly, failing := record.Run{}, record.Run{Without: make([]record.Stream, 1)}, record.Run{Without: []record.Stream{{Totals: ledger.Totals{Failed: 1}}}}
	for name, c := range map[string]struct {
		runs []record.Run
		want bool
	}{
		"none": {nil, false}, "left out": {[]record.Run{unknown, unknown}, false}, "one": {[]record.Run{calmly}, true},
		"one, and others left out": {[]record.Run{unknown, calmly, unknown}, true}, "the last": {[]record.Run{unknown, calmly}, true},
		"one fails": {[]record.Run{calmly, failing, calmly}, false}, "the first fails": {[]record.Run{failing, unknown}, false},
	} {
		if got := calm(c.runs); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
