package sweep

import (
	"context"
	"fmt"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/fix"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// Where nothing leaves nearly nothing lost, the first change is taken that leaves at most a twentieth of the loss more than the
// best one does: smaller sets of changes come first.
func TestTheSmallestOfThoseThatHelpNearlyAlike(t *testing.T) {
	t.Parallel()
	of := func(id string, lost uint64) *attempt {
		return &attempt{changes: []fix.Change{{ID: id}}, lost: lost, ran: true}
	}
	stuck, unrun := of("stuck", 0), of("unrun", 0)
	stuck.stuck, unrun.ran = 1, false
	for name, c := range map[string]struct {
		singles []*attempt
		want    string
	}{
		"a twentieth more":                 {[]*attempt{of("a", 110), of("b", 60)}, "a"},
		"more than that":                   {[]*attempt{of("a", 111), of("b", 60)}, "b"},
		"the first one is the best":        {[]*attempt{of("a", 60), of("b", 110)}, "a"},
		"others get stuck or were not run": {[]*attempt{stuck, unrun, of("a", 110), of("b", 60)}, "a"},
		"nothing was run":                  {[]*attempt{stuck, unrun}, ""},
	} {
		s := &search{before: 1000, shown: 1, budget: -1} // not a single set of two can be afforded
		got := ""
		for _, a := range s.best(c.singles) {
			got += a.changes[0].ID
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Whether a hook leaves too many requests lost is the same whether all samples are asked or the worst alone; and a hook that is much
// too short is tried on no more than these.
func TestAHookThatIsTooShortIsNotTriedOnAllSamples(t *testing.T) {
	t.Parallel()
	c := oneCase(t, "  replicas: 2", readiness, scenario.Options{})[0]
	units := unitsOf([]scenario.Case{c})
	of := func(worlds map[Purpose]int) *search {
		p := &pool{ctx: context.Background(), opts: &Options{Seed: 1}, counts: counts{of: worlds}}
		if units[0].record.Runs == nil {
			p.extend(units, func(*unit) int { return sampleRuns })
		}
		s := &search{pool: p, workload: c.Workload, units: units}
		s.sampled()
		return s
	}
	few, all := map[Purpose]int{}, map[Purpose]int{}
	short, long := 0, 0
	for seconds := range int64(6) {
		hook := fix.Shorter(c.Scenario, c.Scenario.Workload(c.Workload), seconds+1)
		a, b := &attempt{changes: []fix.Change{*hook}}, &attempt{changes: []fix.Change{*hook}}
		s := of(all)
		most := s.before / nearly
		s.screen([]*attempt{b})
		enough := b.ran && b.lost <= most
		before := few[ForSearch]
		if s := of(few); s.leaves(a, most) != enough {
			t.Errorf("%d s: enough on all samples is %v, and not so on the worst", seconds+1, enough)
		}
		switch ran := few[ForSearch] - before; {
		case enough:
			long++
			if ran != sampleRuns || a.lost != b.lost {
				t.Errorf("%d s does, with %d lost of %d samples, want %d lost", seconds+1, a.lost, ran, b.lost)
			}
		case ran < sampleRuns:
			short++
		}
	}
	if short == 0 || long == 0 {
		t.Errorf("%d hooks are tried on few samples, %d on all: the test shows nothing", short, long)
	}
}

// The least hook does on new seeds what the one that is advised does there, and a second less does not. Those that lose most without any hook say
// too little of that: on them alone a shorter one would do.
func TestTheLeastHookIsProvenOnNewSeeds(t *testing.T) {
	t.Parallel()
	c := oneCase(t, "  replicas: 2", readiness, scenario.Options{Set: []string{"latency.proxySync={uniform: [1s, 30s]}"}})[0]
	units := unitsOf([]scenario.Case{c})
	p := &pool{ctx: context.Background(), opts: &Options{Seed: 1, ConfirmRuns: 40}}
	p.extend(units, func(*unit) int { return sampleRuns })
	s := &search{pool: p, workload: c.Workload, units: units, reruns: 1, mostNew: p.opts.ConfirmRuns, confirms: 1 << 40, confirmed: map[confirmation]*confirmed{}}
	s.sampled()
	a := &attempt{changes: []fix.Change{*fix.Shorter(c.Scenario, c.Scenario.Workload(c.Workload), 70)}}
	s.screen([]*attempt{a})
	s.confirmOn(units[0], a)
	anew := s.newRuns(a)
	if a.lost > 0 || len(anew) != 40 || anew[0].most > 0 {
		t.Fatalf("a hook of 70 s leaves %d requests lost on the samples, and %d in the worst of %d new runs", a.lost, anew[0].most, len(anew))
	}
	seconds := func(words string) int64 {
		var n int64
		if _, err := fmt.Sscanf(words, "%d s", &n); err != nil {
			t.Fatalf("%q: %v", words, err)
		}
		return n
	}
	sampled, proven := seconds(s.least(a, nil)), seconds(s.least(a, anew))
	if proven <= sampled {
		t.Errorf("%d s do on the samples, %d s on new seeds: the test shows nothing", sampled, proven)
	}
	if list := s.lacking(s.shorter(a, 0, proven), anew); len(list) > 0 {
		t.Errorf("with %d s %d new runs lose something", proven, len(list))
	}
	if len(s.lacking(s.shorter(a, 0, proven-1), anew)) == 0 {
		t.Errorf("%d s would do, too", proven-1)
	}
	for i := range anew { // nothing may be lost: one of the first shows that something is
		anew[i].most = 0
	}
	s.done = nil
	worlds := map[Purpose]int{}
	p.counts.of = worlds
	if list := s.lacking(s.shorter(a, 0, 1), anew); len(list) == 0 || worlds[ForConfirm] != atOnce {
		t.Errorf("%d runs lose more with 1 s, after %d were done", len(list), worlds[ForConfirm])
	}
}
