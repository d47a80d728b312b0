package perfetto_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/perfetto"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/timeline"
)

// run is a timeline of an example.
func run(t *testing.T, name string) *timeline.Timeline {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../examples/scenarios", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	objects, _ := manifest.Load([]manifest.File{{Name: name + ".yaml", Data: data}}, manifest.Options{})
	list, problems := scenario.Parse(objects, scenario.Options{})
	if len(list) != 1 {
		t.Fatal(problems)
	}
	r := timeline.NewRecorder(list[0], nil)
	res, err := sim.RunWith(list[0], 1, sim.Options{Events: r.Log(), Requests: r, DrawAll: true})
	if err != nil {
		t.Fatal(err)
	}
	return r.Build(1, res.End, res.Pods)
}

// parsed is a trace as a program reads it that knows the format: nothing that is not in it, and all that it asks for.
type parsed struct {
	Unit   string            `json:"displayTimeUnit"`
	Other  map[string]string `json:"otherData"`
	Events []event           `json:"traceEvents"`
}

type event struct {
	Name     string         `json:"name"`
	Category string         `json:"cat"`
	Phase    string         `json:"ph"`
	Time     *float64       `json:"ts"`
	Duration *float64       `json:"dur"`
	Process  *int           `json:"pid"`
	Thread   *int           `json:"tid"`
	Scope    string         `json:"s"`
	ID       string         `json:"id"`
	Bind     string         `json:"bp"`
	Args     map[string]any `json:"args"`
}

type thread struct{ process, thread int }

// load reads a trace and holds it to the format.
func load(t *testing.T, data []byte) parsed {
	t.Helper()
	var p parsed
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		t.Fatal(err)
	}
	if p.Unit != "ms" && p.Unit != "ns" {
		t.Errorf("displayTimeUnit %q", p.Unit)
	}
	named := map[thread]bool{}
	bySlice := map[thread][]event{}
	arrows := map[string][]event{}
	last := math.Inf(-1)
	for i, e := range p.Events {
		e.whole(t, i)
		at := thread{*e.Process, *e.Thread}
		switch e.Phase {
		case "M":
			if e.Name == "thread_name" {
				named[at] = true
			}
			continue
		case "X":
			if e.Duration == nil || *e.Duration < 0 {
				t.Errorf("event %d has no duration: %+v", i, e)
			}
			bySlice[at] = append(bySlice[at], e)
		case "i":
			if e.Scope != "g" && e.Scope != "p" && e.Scope != "t" {
				t.Errorf("event %d has scope %q", i, e.Scope)
			}
		case "C":
			continue // of a process
		case "s", "f":
			arrows[e.ID] = append(arrows[e.ID], e)
		default:
			t.Fatalf("event %d has phase %q", i, e.Phase)
		}
		if !named[at] {
			t.Errorf("event %d is on a thread that has no name, or gets one later: %+v", i, e)
		}
		if *e.Time < last {
			t.Errorf("event %d is before the one before it", i)
		}
		last = *e.Time
	}
	nested(t, bySlice)
	bound(t, arrows, bySlice)
	return p
}

// whole says that an event has what each has, and a counter numbers.
func (e *event) whole(t *testing.T, i int) {
	t.Helper()
	if e.Name == "" || e.Time == nil || e.Process == nil || e.Thread == nil || *e.Time < 0 {
		t.Fatalf("event %d lacks something: %+v", i, e)
	}
	for name, v := range e.Args {
		if n, ok := v.(float64); e.Phase == "C" && (!ok || n < 0) {
			t.Errorf("event %d counts %s: %v", i, name, v)
		}
	}
}

// nanos is a time of the format as viewers have it.
func nanos(micros float64) int64 { return int64(math.Round(micros * 1000)) }

func (e *event) begin() int64 { return nanos(*e.Time) }
func (e *event) end() int64   { return nanos(*e.Time) + nanos(*e.Duration) }

// nested says that slices of a thread lie in each other or apart: what overlaps in part no viewer shows.
func nested(t *testing.T, by map[thread][]event) {
	t.Helper()
	for at, list := range by { // order: each by itself
		slices.SortStableFunc(list, func(a, b event) int { return cmp.Or(cmp.Compare(a.begin(), b.begin()), cmp.Compare(b.end(), a.end())) })
		var open []int64
		for _, e := range list {
			for len(open) > 0 && open[len(open)-1] <= e.begin() {
				open = open[:len(open)-1]
			}
			if len(open) > 0 && e.end() > open[len(open)-1] {
				t.Errorf("thread %v: %s from %d to %d overlaps one that ends at %d", at, e.Name, e.begin(), e.end(), open[len(open)-1])
			}
			open = append(open, e.end())
		}
	}
}

// bound says that each arrow begins in a slice and ends in one, not before.
func bound(t *testing.T, arrows map[string][]event, by map[thread][]event) {
	t.Helper()
	for id, list := range arrows { // order: each by itself
		if len(list) != 2 || list[0].Phase != "s" || list[1].Phase != "f" || list[1].Bind != "e" {
			t.Errorf("arrow %s: %+v", id, list)
			continue
		}
		for _, e := range list {
			in := func(s event) bool { return s.begin() <= e.begin() && e.begin() <= s.end() }
			if !slices.ContainsFunc(by[thread{*e.Process, *e.Thread}], in) {
				t.Errorf("arrow %s has an end at %f that is in no slice", id, *e.Time)
			}
		}
	}
}

func TestTracesAreWhatViewersRead(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"last-local-endpoint", "last-local-endpoint-before-kep-1669", "gke-local-no-prestop", "keep-alive-resets", "drain-single-replica", "ingress-controller-app-rollout"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tl := run(t, name)
			data, err := json.Marshal(perfetto.New("v1", []perfetto.Run{{"as it is", tl}, {"again", tl}}))
			if err != nil {
				t.Fatal(err)
			}
			p := load(t, data)
			lost, arrows, pods := 0, 0, map[string]bool{}
			for _, e := range p.Events {
				switch {
				case e.Category == "lost":
					lost++
				case e.Phase == "s":
					arrows++
				case e.Category == "pod" && e.Phase == "X":
					pods[fmt.Sprint(e.Args["pod"])] = true
				}
			}
			if lost != 2*len(tl.Failures) {
				t.Errorf("%d lost requests are shown, twice %d were lost", lost, len(tl.Failures))
			}
			blamed := func(f timeline.Failure) bool { return len(f.Blamed) > 0 }
			if slices.ContainsFunc(tl.Failures, blamed) && arrows == 0 {
				t.Error("no arrow leads to a lost request")
			}
			if len(pods) != len(tl.Pods) {
				t.Errorf("%d pods are shown, there were %d", len(pods), len(tl.Pods))
			}
		})
	}
}

func TestRequestsThatWereLostTogetherHaveLanesOfTheirOwn(t *testing.T) {
	t.Parallel()
	const sec = engine.Second
	of := func(at, end engine.Time) timeline.Failure {
		return timeline.Failure{At: at, End: end, Outcome: "timeout", Cause: "stale-rules", Blamed: []int{1}}
	}
	tl := &timeline.Timeline{
		Clients:  []timeline.ClientLane{{Name: "new connections"}},
		Events:   []timeline.Event{{Number: 1, At: sec / 2, What: "deleted", Kind: "x"}},
		Failures: []timeline.Failure{of(sec, 4*sec), of(2*sec, 3*sec), of(3*sec, 5*sec), of(4*sec, 4*sec)},
	}
	data, err := json.Marshal(perfetto.New("v1", []perfetto.Run{{"x", tl}}))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range load(t, data).Events {
		if e.Category == "lost" {
			got = append(got, fmt.Sprintf("%g on %d", *e.Time/1e6, *e.Thread))
		}
	}
	if want := []string{"1 on 1", "2 on 2", "3 on 2", "4 on 1"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestAClientsRatesAreByASecond(t *testing.T) {
	t.Parallel()
	tl := &timeline.Timeline{Clients: []timeline.ClientLane{{
		Name: "new connections", Bucket: engine.Second / 2, Total: []uint32{50, 50}, Slow: []uint32{0, 1}, Rescued: []uint32{0, 2}, Failed: []uint32{0, 7},
	}}}
	data, err := json.Marshal(perfetto.New("v1", []perfetto.Run{{"x", tl}}))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range load(t, data).Events {
		if e.Phase == "C" && *e.Time == 500_000 {
			if got := fmt.Sprint(e.Args["ok"], e.Args["slow"], e.Args["rescued"], e.Args["failed"]); got != "80 2 4 14" {
				t.Errorf("ok, slow, rescued and failed are %s", got)
			}
			return
		}
	}
	t.Error("the second half of a second is not there")
}
