package sweep

import (
	"context"
	"reflect"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/fix"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// What is tried again is not simulated again, and is what it would be: any other Scenario, set of changes, seed or pairing is a try of its own.
func TestATryIsSimulatedOnce(t *testing.T) {
	t.Parallel()
	c := oneCase(t, "  replicas: 2", readiness, scenario.Options{})[0]
	other := scenario.Alternatives(c.Scenario)[0].Scenario
	w := c.Scenario.Workload(c.Workload)
	all := fix.Changes(c.Scenario, w, 0)
	one, two := all[:1], all[:2]
	worlds := map[Purpose]int{}
	s := &search{pool: &pool{ctx: context.Background(), opts: &Options{}, counts: counts{of: worlds}}, workload: c.Workload}
	list := []try{
		{c.Scenario, one, 1, unpaired}, {c.Scenario, two, 1, unpaired}, {c.Scenario, nil, 1, unpaired}, {other, one, 1, unpaired},
		{c.Scenario, one, 2, unpaired}, {c.Scenario, one, 1, pairedAll}, {c.Scenario, one, 1, unpaired},
	}
	first := s.tries("", ForSearch, list)
	again := s.tries("", ForConfirm, list)
	if worlds[ForSearch] != len(list)-1 || worlds[ForConfirm] != 0 {
		t.Errorf("%d tries, the last of them again: %v", len(list), worlds)
	}
	for i := range list {
		afresh := (&job{sc: fix.Apply(list[i].of, c.Workload, list[i].changes), seed: list[i].seed, pair: list[i].pair}).do()
		if afresh.err != nil {
			t.Fatal(afresh.err)
		}
		if !reflect.DeepEqual(first[i], afresh.run) || again[i] != first[i] {
			t.Errorf("try %d is not what it is by itself", i)
		}
	}
}

// A try that was not done because somebody ended the simulation is none.
func TestATryThatWasNotDoneIsNotKept(t *testing.T) {
	t.Parallel()
	c := oneCase(t, "  replicas: 2", readiness, scenario.Options{})[0]
	over, end := context.WithCancel(context.Background())
	end()
	s := &search{pool: &pool{ctx: over, opts: &Options{}}, workload: c.Workload}
	list := []try{{c.Scenario, nil, 1, unpaired}}
	if got := s.tries("", ForSearch, list); len(got) != 1 || got[0] != nil {
		t.Errorf("got %v", got)
	}
	s.pool.ctx = context.Background()
	if got := s.tries("", ForSearch, list); got[0] == nil {
		t.Error("not done later either")
	}
}
