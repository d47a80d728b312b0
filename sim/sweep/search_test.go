package sweep

import (
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/fix"
	"github.com/lameduck-proxy/lameduck/sim/record"
)

// Sets of changes cost more the more there are. Where the budget is short those of the changes that do most are tried, and what does most
// with what does nothing by itself: once that was left out, though it may be the half that was missing.
func TestABudgetIsSpentOnTheChangesThatHelpMost(t *testing.T) {
	t.Parallel()
	run := record.Run{Events: 99, Streams: []record.Stream{{}}}
	u := &unit{record: record.Case{Runs: []record.Run{run}}}
	var singles []*attempt
	for _, x := range []struct {
		id   string
		lost uint64
		ran  bool
	}{{"grace", 900, true}, {"gate", 10, true}, {"probe", 800, true}, {"preStop", 500, true}, {"failed", 0, false}} {
		singles = append(singles, &attempt{changes: []fix.Change{{ID: x.id}}, lost: x.lost, ran: x.ran})
	}
	for budget, want := range map[int][]string{
		600: {"gate+preStop", "gate+probe", "grace+gate", "grace+preStop", "grace+probe", "probe+preStop"},
		500: {"gate+preStop", "gate+probe", "grace+gate", "grace+preStop", "probe+preStop"},
		399: {"gate+preStop", "gate+probe", "grace+gate"},
		100: {"gate+preStop"},
		99:  nil,
	} {
		s := &search{units: []*unit{u}, samples: [][]record.Run{{run}}, budget: budget}
		var got []string
		for _, a := range s.affordable(singles, singles) {
			ids := a.ids()
			got = append(got, ids[0]+"+"+ids[1])
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("with a budget of %d sets %v are tried, want %v (one costs %d)", budget, got, want, s.weight())
		}
	}
}

// A change is not tried together with what it has already.
func TestAChangeIsNotTriedWithAPartOfIt(t *testing.T) {
	t.Parallel()
	singles := []*attempt{
		{changes: []fix.Change{{ID: "replicas", Has: []string{"probe"}}}}, {changes: []fix.Change{{ID: "preStop"}}}, {changes: []fix.Change{{ID: "probe"}}},
	}
	for _, order := range [][]*attempt{singles, {singles[2], singles[1], singles[0]}} {
		var got []string
		for _, a := range grow(order, order) {
			ids := a.ids()
			slices.Sort(ids)
			got = append(got, ids[0]+"+"+ids[1])
		}
		if slices.Sort(got); !slices.Equal(got, []string{"preStop+probe", "preStop+replicas"}) {
			t.Errorf("%v", got)
		}
	}
}
