package report

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// Of the Services with pods on a node that is drained it is said how many lose something in any run, of those that are judged and that
// this drain is about.
func TestHowManyServicesNoticeADrain(t *testing.T) {
	t.Parallel()
	drain := &record.Case{Action: "drain=a", Kind: scenario.KindNode}
	entry := func(action string, verdict record.Verdict, withLoss int) *record.Case {
		return &record.Case{Action: action, Kind: "Deployment", Verdict: verdict, WithLoss: withLoss}
	}
	holds, loses := entry("drain=a", record.Holds, 0), entry("drain=a", record.Drops, 1)
	for name, c := range map[string]struct {
		entries []*record.Case
		want    string
	}{
		"none":                  {nil, " Nothing that is judged has pods there."},
		"others":                {[]*record.Case{drain, entry("drain=b", record.Drops, 3), entry("drain=a", record.NotJudged, 3)}, " Nothing that is judged has pods there."},
		"one that holds":        {[]*record.Case{holds}, " Nothing is lost of the traffic of 1 Service entry."},
		"two that hold":         {[]*record.Case{holds, holds}, " Nothing is lost of the traffic of 2 Service entries."},
		"one that loses":        {[]*record.Case{drain, loses}, " 1 of 1 Service entry loses traffic."},
		"one of two that loses": {[]*record.Case{loses, holds}, " 1 of 2 Service entries lose traffic."},
	} {
		if got := noticedWords(c.entries, drain); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// What becomes of a drain: who gives up waits for nobody, and what is not simulated keeps it from its end, too.
func TestHowADrainEnds(t *testing.T) {
	t.Parallel()
	const sec = engine.Second
	waits := record.Stuck{Workload: "shop/web", Drain: true, Why: "kubectl drain of a waits for ever: x"}
	gone := record.Stuck{Workload: "shop/api", Drain: true, Why: "kubectl drain gives up on a: x"}
	kept := scenario.OnNode{Kind: "Redis", Name: "data/redis", Pods: 1, Why: "why", Kept: true}
	done := scenario.OnNode{Kind: "Job", Name: "shop/job", Pods: 2}
	through := []record.Drained{{Node: "a", Began: sec, Ended: 3 * sec}}
	for _, tt := range []struct {
		beyond  []scenario.OnNode
		verdict record.Verdict
		blocked []record.Stuck
		drained []record.Drained
		want    string
		node    string
	}{
		{nil, record.Holds, nil, through, " is through in 2 s: 1 pod goes.", "empty after 2 s"},
		{[]scenario.OnNode{done}, record.Holds, nil, through, " is through in 2 s: 3 pods go.", "empty after 2 s"},
		{nil, record.Blocked, []record.Stuck{waits}, nil, " never finishes: it waits for shop/web.", "never empty"},
		{nil, record.Blocked, []record.Stuck{gone}, nil, " gives up, and leaves pods of shop/api where they are.", "never empty"},
		{nil, record.Blocked, []record.Stuck{gone, waits}, nil, " never finishes: it waits for shop/web.", "never empty"},
		{[]scenario.OnNode{kept}, record.Blocked, []record.Stuck{waits}, nil, " never finishes: it waits for data/redis and shop/web.", "not empty: data/redis stays"},
		{[]scenario.OnNode{kept}, record.Blocked, nil, through, " waits for what is not simulated: Redis data/redis (why). The rest is gone in 2 s.", "not empty: data/redis stays; the rest is gone after 2 s"},
		{[]scenario.OnNode{kept}, record.Blocked, nil, nil, " waits for what is not simulated: Redis data/redis (why).", "not empty: data/redis stays"},
		{nil, record.Stalled, []record.Stuck{{Workload: "shop/web", Why: "no node"}}, through, " is through in 2 s, and not all pods come back: shop/web.", "empty after 2 s"},
	} {
		c := &record.Case{ID: "drain=a", Kind: scenario.KindNode, Verdict: tt.verdict, Runs: []record.Run{{Blocked: tt.blocked, Drained: tt.drained}}}
		c.Drain = &scenario.DrainPlan{Nodes: []scenario.NodePlan{{Name: "a", Leave: []scenario.OnNode{{Kind: "Deployment", Name: "shop/web", Pods: 1}}, Beyond: tt.beyond}}}
		s := &record.Simulation{Cases: []record.Case{*c}}
		out := newText(s, TextOptions{}, everything)
		if got := out.drainEnd(c); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
		out.drained([]*record.Case{c})
		text := out.String()
		if !strings.Contains(text, "  a: "+tt.node+".\n") || strings.Contains(text, "Are to leave, do not, and are not simulated: Redis data/redis (why).") != (len(tt.beyond) > 0 && tt.beyond[0].Kept) {
			t.Errorf("%s: %s", tt.want, text)
		}
		d := drainOf(c)
		if whole := tt.drained != nil && (len(tt.beyond) == 0 || !tt.beyond[0].Kept); (d.Ended > 0) != whole || (d.Nodes[0].Seconds != nil) != whole || (len(d.Blocked) > 0) == (tt.verdict == record.Holds) {
			t.Errorf("%s: %+v", tt.want, d)
		}
	}
}

// What kubectl has to be told is no deviation of the model.
func TestTheFlagsOfADrain(t *testing.T) {
	t.Parallel()
	out := newText(&record.Simulation{}, TextOptions{}, everything)
	out.notModelled([]NotModelled{{ID: record.DrainFlags, What: "kubectl drain --x"}, {ID: "y", What: "z", Direction: "more"}, {ID: record.DrainFlags, What: "kubectl drain --x"}})
	if got, want := out.String(), "  Not modelled: z (reality loses more).\n  Simulated with kubectl drain --x.\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
