package timeline_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/timeline"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// example is a Scenario of the examples.
func example(t *testing.T, path string) *world.Scenario {
	t.Helper()
	read := func(path string) []manifest.File {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return []manifest.File{{Name: path, Data: data}}
	}
	objects, _ := manifest.Load(read(path), manifest.Options{})
	opts := scenario.Options{Files: map[string]scenario.Content{}}
	for _, s := range objects.Scenarios {
		for _, ref := range scenario.References(s, opts) {
			opts.Files[ref.Path] = scenario.Content{Files: read(ref.Path)}
		}
	}
	list, problems := scenario.Parse(objects, opts)
	if len(list) != 1 {
		t.Fatal(problems)
	}
	return list[0]
}

// lanes runs a scenario, and again where it is large.
func lanes(t *testing.T, sc *world.Scenario, seed uint64) (*timeline.Timeline, *sim.Result) {
	t.Helper()
	r := timeline.NewRecorder(sc, nil)
	res, err := sim.RunWith(sc, seed, sim.Options{Events: r.Log(), Requests: r, DrawAll: true})
	if err == nil && r.Cramped() {
		r = timeline.NewRecorder(sc, r.Focus())
		res, err = sim.RunWith(sc, seed, sim.Options{Events: r.Log(), Requests: r})
	}
	if err != nil {
		t.Fatal(err)
	}
	return r.Build(seed, res.End, res.Pods), res
}

// What a Timeline counts is what the ledger counts, each failure has the events that it came from, and nothing is out of order. Each run of a seed
// has the timeline that is kept.
func TestLanesOfExamples(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../examples/scenarios/*.yaml")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d examples: %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc := example(t, file)
			tl, res := lanes(t, sc, 1)
			timeline.Keep(t, tl)
			counts(t, tl, res)
			order(t, tl)
			told(t, tl)
			plain, err := sim.Run(sc, 1)
			if err != nil || plain.TraceHash != res.TraceHash {
				t.Errorf("being looked at changes the run: %s, and %s without: %v", res.TraceHash, plain.TraceHash, err)
			}
		})
	}
}

// ways looks at the rules of a node: there are some at each moment at which its machine is there.
func ways(t *testing.T, tl *timeline.Timeline, n timeline.NodeLane) {
	t.Helper()
	has := func(kind string) bool {
		return slices.ContainsFunc(n.Marks, func(m timeline.Mark) bool { return m.Kind == kind })
	}
	for _, w := range n.Ways {
		last := w.Uses[0].From // of a node that joins: not at the beginning
		for _, u := range w.Uses {
			whole := u.From == last || marked(n, "gone", last) && marked(n, "back", u.From) // nothing is done while the machine is gone
			if !whole || (u.Is == timeline.UsesReady || u.Is == timeline.UsesFallback) != (len(u.Pods)+u.More > 0) {
				t.Errorf("%s: %+v", n.Name, w.Uses)
			}
			last = u.To
		}
		if last != tl.End && !marked(n, "gone", last) || last == tl.End && has("gone") && !has("back") {
			t.Errorf("%s ends at %s s, of %s s, marks %v", n.Name, last.Seconds(), tl.End.Seconds(), n.Marks)
		}
	}
}

// marked says whether a node has a mark of a kind at a moment.
func marked(n timeline.NodeLane, kind string, at engine.Time) bool {
	return slices.ContainsFunc(n.Marks, func(m timeline.Mark) bool { return m.Kind == kind && m.At == at })
}

func counts(t *testing.T, tl *timeline.Timeline, res *sim.Result) {
	t.Helper()
	for i, c := range tl.Clients {
		want := res.Ledger.Totals(i)
		sums := map[string]uint64{}
		for k := range c.Total {
			sums["total"] += uint64(c.Total[k])
			sums["failed"] += uint64(c.Failed[k])
			sums["slow or rescued"] += uint64(c.Slow[k] + c.Rescued[k])
		}
		if c.Requests != want.Total || sums["total"] != want.Total || sums["failed"] != want.Failed || c.Lost != want.Failed {
			t.Errorf("client %s: %d requests, %v in buckets; the ledger has %d, %d failed", c.Name, c.Requests, sums, want.Total, want.Failed)
		}
		if sums["slow or rescued"] > want.Slow+want.Rescued || sums["slow or rescued"] < max(want.Slow, want.Rescued) {
			t.Errorf("client %s: %d slow or rescued; the ledger has %d and %d", c.Name, sums["slow or rescued"], want.Slow, want.Rescued)
		}
	}
	var lost uint64
	for _, c := range tl.Lost {
		lost += c.Count
	}
	if lost != res.Ledger.All().Failed {
		t.Errorf("%d lost by cause, of %d", lost, res.Ledger.All().Failed)
	}
}

func order(t *testing.T, tl *timeline.Timeline) {
	t.Helper()
	spans := func(of string, list []timeline.Span) {
		last := engine.Time(0)
		for _, s := range list {
			if s.From < last || s.To < s.From || s.To > tl.End || s.Is == "" {
				t.Errorf("%s: %+v", of, list)
				return
			}
			last = s.To
		}
	}
	for _, p := range tl.Pods {
		spans(p.Called+" phases", p.Phases)
		spans(p.Called+" listens", p.Listens)
		for _, s := range p.Slices {
			spans(p.Called+" slices", s.Spans)
		}
	}
	for _, n := range tl.Nodes {
		spans(n.Name+" syncs", n.Syncs)
		ways(t, tl, n)
	}
	for _, x := range tl.Targets {
		spans(x.Name+" states", x.States)
		spans(x.Name+" gets", x.Gets)
	}
}

// told looks at the stories: their events are listed, and those before the request's own line are not after it.
func told(t *testing.T, tl *timeline.Timeline) {
	t.Helper()
	at := map[int]engine.Time{}
	for i, e := range tl.Events {
		at[e.Number] = e.At
		if e.What == "" || e.Kind == "" || i > 0 && e.Number <= tl.Events[i-1].Number {
			t.Fatalf("event %+v", e)
		}
	}
	for i := range tl.Failures {
		f := &tl.Failures[i]
		if f.Like < 0 && f.What == "" {
			t.Errorf("failure %d of client %d has no story", f.Number, f.Client)
		}
		for k, n := range f.Story {
			when, known := at[n]
			if !known || k < f.Own && when > f.Told || k >= f.Own && when < f.Told {
				t.Errorf("failure %d: event %d of its story at %s s, told at %s s", f.Number, n, when.Seconds(), f.Told.Seconds())
			}
		}
	}
}

// A large world has lanes for what matters, and its timeline is not much larger than that of a small one.
func TestLanesOfALargeWorld(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	sc := large(t)
	tl, res := lanes(t, sc, 1)
	counts(t, tl, res)
	order(t, tl)
	told(t, tl)
	data, err := json.Marshal(tl)
	if err != nil {
		t.Fatal(err)
	}
	if len(tl.Pods) != 64 || len(tl.Nodes) != 64 || len(tl.Failures) > 1000 || len(tl.Failures) == 0 || len(data) > 3_000_000 {
		t.Errorf("%d pods, %d nodes, %d failures in %d bytes", len(tl.Pods), len(tl.Nodes), len(tl.Failures), len(data))
	}
	for _, p := range tl.Pods {
		if p.Deleted != nil {
			return
		}
	}
	t.Error("no pod that went has a lane")
}

// large is the web app with 300 replicas on 100 nodes.
func large(t *testing.T) *world.Scenario {
	t.Helper()
	data, err := os.ReadFile("../../examples/web-app.yaml")
	if err != nil {
		t.Fatal(err)
	}
	data = []byte(strings.Replace(string(data), "replicas: 3", "replicas: 300", 1))
	objects, _ := manifest.Load([]manifest.File{{Name: "web-app.yaml", Data: data}}, manifest.Options{})
	cases, _ := scenario.Infer(objects, scenario.Options{Actions: []string{"rollout"}, Nodes: 100})
	for i := range cases {
		if cases[i].Scenario != nil {
			return cases[i].Scenario
		}
	}
	t.Fatal("no case")
	return nil
}
