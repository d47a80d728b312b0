package sweep

import (
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// The worst run of a case, and the same run with what helps: the same seed, the same loss as in the record.
func TestTimelinesOfTheWorstRunAndOfItsFix(t *testing.T) {
	t.Parallel()
	s := simulate(t, "  replicas: 3", "", scenario.Options{}, Options{Runs: 6, Fixes: -1, ConfirmRuns: 6, Timelines: 1})
	c := &s.Cases[0]
	if c.Timeline == nil || c.Timeline.Seed != c.WorstSeed {
		t.Fatalf("timeline %v, worst seed %d", c.Timeline, c.WorstSeed)
	}
	var lost, want uint64
	for _, l := range c.Timeline.Lost {
		lost += l.Count
	}
	for i := range c.Runs {
		if c.Runs[i].Seed == c.WorstSeed {
			want = c.Runs[i].Totals().Failed
		}
	}
	if lost != want || lost == 0 {
		t.Errorf("%d lost, the record has %d", lost, want)
	}
	if len(s.Fixes) == 0 {
		t.Fatal("nothing helps")
	}
	after := s.Fixes[0].Cases[0].Timeline
	if after == nil || after.Seed != c.WorstSeed || len(after.Lost) != 0 {
		t.Errorf("with %s: %+v", s.Fixes[0].Title, after)
	}
}

// Nobody pays for timelines that were not asked for, and no more are made than were.
func TestTimelinesAreMadeWhereTheyAreAskedFor(t *testing.T) {
	t.Parallel()
	made := func(s *record.Simulation) int {
		n := 0
		for i := range s.Cases {
			if s.Cases[i].Timeline != nil {
				n++
			}
		}
		return n
	}
	for _, want := range []int{0, 1} {
		s := simulate(t, "  replicas: 2", "", scenario.Options{}, Options{Runs: 2, Timelines: want})
		if got := made(s); got != want {
			t.Errorf("%d timelines, want %d", got, want)
		}
	}
}

// A node without a pod answers nobody, with the rollout and without it: these requests are told apart in the lanes.
func TestATimelineTellsWhatFailsAnyway(t *testing.T) {
	t.Parallel()
	c := &swept(t, webOn(t, "  type: NodePort\n  externalTrafficPolicy: Local\n", scenario.Options{ConnectTimeout: "1s"}), Options{Runs: 5, Timelines: 1}).Cases[0]
	at := slices.IndexFunc(c.Runs, func(r record.Run) bool { return r.Seed == c.Timeline.Seed })
	var all, anyway uint64
	for _, l := range c.Timeline.Lost {
		all, anyway = all+l.Count, anyway+l.Without
	}
	if sum := c.Runs[at].Sum(); anyway == 0 || anyway != sum.Before || all-anyway != sum.Failed {
		t.Errorf("%d failed, %d of them also without the rollout; the run counts %d and %d", all, anyway, sum.Failed, sum.Before)
	}
	for _, f := range c.Timeline.Failures {
		if before := f.At < *c.Timeline.Bands[0].Deleted-5*engine.Second; before && !f.Without {
			t.Errorf("request %d at %s s is blamed on a rollout that has not begun", f.Number, f.At.Seconds())
		}
	}
}

// What sessions lose is the time in which they have no server: a lane has that of its run, and what it is of a case is said.
func TestTheTimelineOfSessionsHasTheTimeWithoutAServer(t *testing.T) {
	t.Parallel()
	const text = `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: data}
spec:
  replicas: 3
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers:
      - name: db
        image: nginx:1.29
        ports: [{containerPort: 8080}]
        readinessProbe: {httpGet: {path: /r, port: 8080}}
---
apiVersion: v1
kind: Service
metadata: {name: db, namespace: data}
spec: {selector: {app: db}, ports: [{port: 5432, targetPort: 8080}]}
`
	objects, problems := manifest.Load([]manifest.File{{Name: "db.yaml", Data: []byte(text)}}, manifest.Options{})
	if manifest.HasErrors(problems) {
		t.Fatal(problems)
	}
	cases, _ := scenario.Infer(objects, scenario.Options{Actions: []string{"rollout"}})
	s, err := runKept(t.Context(), t, cases, Options{Runs: 6, Timelines: 1})
	if err != nil {
		t.Fatal(err)
	}
	c := &s.Cases[0]
	if got := c.Timeline.Clients[0].WithoutServer; !c.WithoutServer(0) || int64(got) != c.LostSeconds.Max {
		t.Errorf("%s s without a server in the worst run, %+v in all: %t", got.Seconds(), c.LostSeconds, c.WithoutServer(0))
	}
}
