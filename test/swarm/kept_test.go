package swarm

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/test/golden"
)

var update = flag.Bool("update", false, "rewrite what became of the worlds")

// keptFile has a line for each world of an ordinary run: what became of it when somebody last looked.
const keptFile = "testdata/worlds.txt"

// A world comes to what it came to before: to the request, the event and the nanosecond. The rules say what no world may come to; this says that a
// change of the simulator which is meant to change nothing changes nothing, and which worlds another one reaches.
func TestWorldsComeToWhatTheyDid(t *testing.T) {
	t.Parallel()
	var lines []string
	for i, r := range plainWorlds() {
		if r.err != nil {
			t.Skipf("seed %d is broken: see TestSwarm", i+1)
		}
		lines = append(lines, fmt.Sprintf("%3d %s", i+1, r.kept))
	}
	golden.Compare(t, keptFile, strings.Join(lines, "\n")+"\n", *update)
}

// kept is one line about a run: three sums, when it ended, and what failed most. The first sum is of the steps that were taken, the second of the
// events that were told of, the third of all the rest of the Result. Where only the second differs, the world is the same, and is told of differently.
func kept(res *sim.Result, told *telling) string {
	all := res.Ledger.All()
	line := fmt.Sprintf("%s %s %s %10s s %5d requests", res.TraceHash, told, sumOf(res), res.End.Seconds(), all.Total)
	if all.Rescued > 0 {
		line += fmt.Sprintf(", %d rescued", all.Rescued)
	}
	byBlame := map[string]int{}
	for _, g := range res.Ledger.Groups() {
		byBlame[fmt.Sprintf("%s by %s", g.Blame.Cause, g.Blame.Actor)] += int(g.Count) // far fewer than an int counts
	}
	names := slices.SortedFunc(maps.Keys(byBlame), func(a, b string) int {
		return cmp.Or(byBlame[b]-byBlame[a], strings.Compare(a, b))
	})
	for _, name := range names[:min(2, len(names))] {
		line += fmt.Sprintf(", %d %s", byBlame[name], name)
	}
	return line
}

// sumOf is one number for all that a Result says besides its trace.
func sumOf(res *sim.Result) string {
	s := &telling{sum: seedOfSums}
	s.text(fmt.Sprintln(res.Events, res.Settled, res.Unrest, res.Streams, res.Usable, res.Dark, res.Drained, res.Pods))
	for _, g := range res.Ledger.Groups() {
		s.text(fmt.Sprintln(*g))
	}
	for _, c := range res.CannotEnd {
		s.text(fmt.Sprintln(c.Workload, c.Drain, c.Budget != nil, c.Why, c.What, c.Path))
	}
	for _, o := range res.Overruled {
		s.text(fmt.Sprintln(o.Node, o.Budget, o.Pod.Name, o.Why, o.By, o.Limit, o.Left))
	}
	return s.String()
}

// telling sums up all events of a run, in order (FNV-1a).
type telling struct{ sum uint64 }

const seedOfSums = 14695981039346656037

func newTelling(log *event.Log) *telling {
	s := &telling{sum: seedOfSums}
	log.Subscribe(s.hear)
	return s
}

func (s *telling) String() string { return fmt.Sprintf("%016x", s.sum) }

func (s *telling) number(n int) { s.sum = (s.sum ^ uint64(n)) * 1099511628211 } // a negative one is a large one

func (s *telling) yes(b bool) {
	if b {
		s.number(1)
	} else {
		s.number(2)
	}
}

func (s *telling) text(text string) {
	for _, c := range []byte(text) {
		s.number(int(c))
	}
	s.number(-1)
}

// hear adds the fields that are values, and of objects those of a pod's version.
func (s *telling) hear(e event.Event) {
	s.number(int(e.At))
	for _, n := range []int{
		int(e.Kind), int(e.Pod), e.Node, e.Stream, e.Service, e.Workload, int(e.Ending), int(e.Until), int(e.Verdict), int(e.Seconds), int(e.Grace),
		e.Proxy, e.Member,
	} {
		s.number(n)
	}
	for _, b := range []bool{
		e.Fallback, e.OK, e.Others, e.Sidecar, e.Main, e.Conditions.Ready(), e.Conditions.Serving(), e.Conditions.Terminating(), e.View != nil,
	} {
		s.yes(b)
	}
	for _, text := range []string{e.Gate, e.Refusal, e.Name, e.State} {
		s.text(text)
	}
	for _, pod := range e.Targets {
		s.number(int(pod))
	}
	for _, m := range e.Members {
		s.number(m)
	}
	if e.To.IsValid() {
		s.text(e.To.String())
	}
	if e.Hook != nil {
		s.text(e.Hook.Kind)
	}
	if p, ok := e.Object.(*api.Pod); ok {
		version := *p
		version.ReplicaSet = nil // a pointer
		s.text(fmt.Sprint(version))
	}
}
