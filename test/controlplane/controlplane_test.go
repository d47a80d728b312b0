package controlplane

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var recordings = flag.String("recordings", "testdata", "the directory with the recordings that the simulator is held to")

// The simulator does what each recorded control plane did. Where it cannot be asked, it says so; it has to be asked at least once.
func TestRecordings(t *testing.T) {
	t.Parallel()
	all, err := ReadDir(*recordings)
	if err != nil {
		t.Fatal(err)
	}
	var compared atomic.Int32
	t.Run("of", func(t *testing.T) {
		for _, r := range all {
			t.Run(r.Name, func(t *testing.T) {
				t.Parallel()
				c, err := Hold(r)
				Report(t, c, err)
				compared.Add(1)
			})
		}
	})
	if compared.Load() == 0 && !t.Failed() {
		t.Fatal("no recording was compared")
	}
	t.Logf("%d of %d recordings were compared", compared.Load(), len(all))
}

// The schema that others write recordings by is that of the recordings there are.
func TestRecordingsAreValid(t *testing.T) {
	t.Parallel()
	schema, err := jsonschema.NewCompiler().Compile("../../docs/recording.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(*recordings, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("there is no recording", err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(f, err)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
}

// A comparison notices what a wrong simulator would do.
func TestWhatIsADifference(t *testing.T) {
	t.Parallel()
	r, err := Read("testdata/rollout-surge-1.json")
	if err != nil {
		t.Fatal(err)
	}
	if c := Compare(r, r.Events, Usual()); len(c.Differences) > 0 || c.Moments != len(r.Events)-count(r.Events, Scaled) {
		t.Fatalf("a recording differs from itself: %q, of %d moments", c.Differences, c.Moments)
	}
	first := func(what What) int {
		return slices.IndexFunc(r.Events, func(e Event) bool { return e.What == what })
	}
	for name, c := range map[string]struct {
		edit func([]Event) []Event
		want string // a part of a difference
	}{
		"a pod is never deleted":     {func(e []Event) []Event { return slices.Delete(e, first(Deleted), first(Deleted)+1) }, "deleted web r0: recorded 3 times, simulated 2 times"},
		"a pod too many":             {func(e []Event) []Event { return append(e, Event{At: 17, What: Created, Pod: "web r1 9"}) }, "created web r1: recorded 3 times, simulated 4"},
		"one is late":                {func(e []Event) []Event { e[first(Ready)].At++; return e }, "ready web r1: the 1st at"},
		"one is early":               {func(e []Event) []Event { e[first(Deleted)].At--; return e }, "deleted web r0: the 1st at"},
		"another revision goes":      {func(e []Event) []Event { e[first(Deleted)].Pod = "web r1 0"; return e }, "web r1: deleted: recorded none, simulated 1 ready"},
		"other conditions":           {func(e []Event) []Event { e[first(Endpoint)].Conditions = "R--"; return e }, "endpoints of web in web r1: recorded"},
		"an endpoint stays":          {func(e []Event) []Event { return slices.Delete(e, first(EndpointGone), first(EndpointGone)+1) }, "endpointGone web r0: recorded 3 times"},
		"deleted before it is ready": {func(e []Event) []Event { e[first(Deleted)].At = e[first(Ready)].At - 0.001; return sorted(e) }, "web: least available: recorded 3, simulated 2"},
		"a budget": {func(e []Event) []Event {
			return append(e, Event{At: 17, What: BudgetStatus, Budget: "web", Status: []int{1, 2, 3, 4}})
		}, "budget web at the end"},
		"a refusal":               {func(e []Event) []Event { return append(e, Event{At: 17, What: Refused, Pod: "web r1 0"}) }, "evictions refused: recorded false, simulated true"},
		"a drain that fails":      {func(e []Event) []Event { return append(e, Event{At: 17, What: GaveUp, Node: "node-1"}) }, "gaveUp node-1: recorded 0 times"},
		"a ReplicaSet of no size": {func(e []Event) []Event { return append(e, Event{At: 17, What: Scaled, Workload: "web", Revision: 1}) }, "web r1: spec.replicas at the end"},
	} {
		got := Compare(r, c.edit(slices.Clone(r.Events)), Usual()).Differences
		if !strings.Contains(strings.Join(got, "\n"), c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func count(events []Event, what What) (n int) {
	for _, e := range events {
		if e.What == what {
			n++
		}
	}
	return n
}

func sorted(events []Event) []Event {
	slices.SortStableFunc(events, func(a, b Event) int { return compareSeconds(a.At, b.At) })
	return events
}

// What is no recording is refused in words.
func TestWhatIsNoRecording(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"another format":  {`{"format": "v0", "actions": [{"at": 0, "do": "scale"}], "events": [{"at": 1, "what": "ready", "pod": "web r0 1"}]}`, `format is "v0"`},
		"no events":       {`{"format": "lameduck/recording/v1", "actions": [{"at": 0, "do": "scale"}]}`, "nothing happened"},
		"a strange field": {`{"format": "lameduck/recording/v1", "verbs": []}`, `unknown field "verbs"`},
		"a strange pod":   {`{"format": "lameduck/recording/v1", "actions": [{"at": 0, "do": "scale"}], "events": [{"at": 1, "what": "ready", "pod": "web-1"}]}`, `pod "web-1": expected`},
		"out of order": {`{"format": "lameduck/recording/v1", "actions": [{"at": 0, "do": "scale"}],
			"events": [{"at": 2, "what": "ready", "pod": "web r0 1"}, {"at": 1, "what": "ready", "pod": "web r0 1"}]}`, "not in the order"},
	} {
		path := filepath.Join(t.TempDir(), "x.json")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := ReadDir(t.TempDir()); err == nil || !strings.Contains(err.Error(), "no recording") {
		t.Errorf("an empty directory: %v", err)
	}
}
