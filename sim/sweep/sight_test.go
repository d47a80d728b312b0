package sweep

import (
	"encoding/json"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/timeline"
)

// The only run of a large case and one that is told of and drawn have the same verdict, story and timeline as a run for each of these.
func TestALargeCaseIsDrawnFromTwoRuns(t *testing.T) {
	t.Parallel()
	const patient = "\n        lifecycle: {preStop: {sleep: {seconds: 30}}}"
	for _, c := range []struct {
		verdict   record.Verdict
		container string
		alone     int // runs for story and timeline where nothing is kept of the one that is counted
	}{{record.Drops, readiness, 3}, {record.Holds, readiness + patient, 4}} {
		cases := oneCase(t, "  replicas: 40", c.container, scenario.Options{})
		simulated := func(sights bool) (string, int) {
			opts := Options{Seed: 1, Runs: 1, Timelines: 1}
			p := &pool{ctx: t.Context(), opts: &opts, counts: counts{of: map[Purpose]int{}}}
			units := unitsOf(cases)
			if sights {
				p.sights(units)
			}
			out := &record.Simulation{}
			errs := append(central(p, units), stories(p, units)...)
			out.Cases = assemble(cases, units)
			if errs = append(errs, timelines(p, units, out, nil)...); len(errs) > 0 {
				t.Fatal(errs)
			}
			got := &out.Cases[0]
			if got.Verdict != c.verdict || got.Timeline == nil || len(got.Timeline.LeftOut) == 0 {
				t.Errorf("%s: verdict %s, timeline %v", c.verdict, got.Verdict, got.Timeline != nil)
			}
			raw, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			return string(raw), p.counts.of[ForStory]
		}
		want, alone := simulated(false)
		got, runs := simulated(true)
		if got != want {
			t.Errorf("%s:\n%s\nwith a run for each:\n%s", c.verdict, got, want)
		}
		if runs != 1 || alone != c.alone {
			t.Errorf("%s: %d runs beside the one that is counted, and %d with a run for each", c.verdict, runs, alone)
		}
	}
}

// Who asks for no timeline, for more runs than one, or for many large cases at once has nothing kept of what runs heard; nor is it of a small case.
func TestNothingIsKeptOfRunsThatAreNotDrawn(t *testing.T) {
	t.Parallel()
	sight := func(replicas string, cases int, opts Options) int {
		var list []scenario.Case
		for range cases {
			list = append(list, oneCase(t, "  replicas: "+replicas, readiness, scenario.Options{})...)
		}
		units, kept := unitsOf(list), 0
		(&pool{opts: &opts}).sights(units)
		for _, u := range units {
			if u.sight != nil && timeline.NewRecorder(u.sc, nil).Cramped() {
				kept++
			}
		}
		return kept
	}
	for _, c := range []struct {
		replicas    string
		cases, want int
		opts        Options
	}{
		{"40", 1, 1, Options{Runs: 1, Timelines: 1}}, {"40", mostSights + 1, mostSights, Options{Runs: 1, Timelines: 12}}, {"3", 1, 0, Options{Runs: 1, Timelines: 1}},
		{"40", 1, 0, Options{Runs: 2, Timelines: 1}}, {"40", 1, 0, Options{Runs: 1}}, {"40", 1, 0, Options{Runs: 1, Timelines: 1, Untold: true}},
	} {
		if got := sight(c.replicas, c.cases, c.opts); got != c.want {
			t.Errorf("%s replicas, %d cases, %+v: kept of %d, want %d", c.replicas, c.cases, c.opts, got, c.want)
		}
	}
}

// Which requests fail without the action, too, is known after the run that is counted: a large case of which some do is followed after that.
func TestALargeCaseThatFailsAnywayIsNotFollowedWithItsStory(t *testing.T) {
	t.Parallel()
	cases := webOn(t, "  type: NodePort\n  externalTrafficPolicy: Local\n", scenario.Options{ConnectTimeout: "1s", Nodes: 65})
	units := unitsOf(cases)
	p := &pool{ctx: t.Context(), opts: &Options{Seed: 1, Runs: 1, Timelines: 1}}
	p.sights(units)
	out := &record.Simulation{}
	errs := append(central(p, units), stories(p, units)...)
	out.Cases = assemble(cases, units)
	if errs = append(errs, timelines(p, units, out, nil)...); len(errs) > 0 {
		t.Fatal(errs)
	}
	var anyway uint64
	for _, l := range out.Cases[0].Timeline.Lost {
		anyway += l.Without
	}
	if units[0].sight == nil || units[0].followed != nil || anyway == 0 || anyway != out.Cases[0].Runs[0].Sum().Before {
		t.Errorf("sight %v, followed %v, %d fail anyway of %d", units[0].sight != nil, units[0].followed != nil, anyway, out.Cases[0].Runs[0].Sum().Before)
	}
}
