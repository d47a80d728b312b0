package ledger

import (
	"fmt"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

func fresh(keep int) *Ledger { return New(2, keep, engine.New(1, engine.Limits{}).Hash()) }

func TestEveryRequestHasOneOutcome(t *testing.T) {
	t.Parallel()
	l := fresh(10)
	blame := Blame{Cause: StaleRules, Actor: ProxyWait, Elsewhere: true}
	for i := uint64(0); i < 5; i++ {
		l.Begin(0, i, engine.Time(i))
	}
	l.Attempt(0, false)
	l.Succeed(0, 0, 0, 1, 10, nil, false)
	l.Attempt(0, true)
	l.Attempt(0, false)
	l.Succeed(0, 1, 0, 1, 10, &blame, true)
	for range 3 {
		l.Attempt(0, true)
		l.Fail(Request{Stream: 0, Outcome: Refused, Blame: blame, Pod: "a"})
	}
	want := Totals{Total: 5, OK: 2, Failed: 3, Rescued: 1, Slow: 1, Attempts: 6, FailedAttempts: 4}
	if got := l.Totals(0); got != want || l.All() != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := l.Outcomes(0); got[OK] != 2 || got[Refused] != 3 {
		t.Errorf("outcomes %v", got)
	}
}

func TestARevokedSuccessLeavesNoTrace(t *testing.T) {
	t.Parallel()
	l := fresh(10)
	blame := Blame{Cause: NoEndpoint}
	l.Begin(1, 0, 0)
	l.Attempt(1, false)
	l.Succeed(1, 0, 0, 1, 10, &blame, true)
	l.Revoke(1, 0, &blame, true)
	if got, want := l.Totals(1), (Totals{Total: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if l.Rescued()[blame] != 0 || l.Outcomes(1)[OK] != 0 {
		t.Error("still rescued or ok")
	}
}

func TestFailuresThatAreAlikeAreOneGroup(t *testing.T) {
	t.Parallel()
	l := fresh(2)
	a := Blame{Cause: StaleRules, Actor: ProxyWait, Elsewhere: true}
	b := Blame{Cause: StaleRules, Actor: ProxySync, Elsewhere: true}
	for i, blame := range []Blame{a, b, a, a} {
		l.Fail(Request{Number: uint64(i), Arrival: engine.Time(10 * i), Outcome: Timeout, Blame: blame, Node: i, Pod: "p"})
	}
	groups := l.Groups()
	if len(groups) != 2 || groups[0].Blame != a || groups[0].Count != 3 || groups[0].First != 0 || groups[0].Last != 30 {
		t.Fatalf("%+v", groups)
	}
	if groups[0].Nodes[2] != 1 || groups[0].Pods["p"] != 3 {
		t.Errorf("%+v", groups[0])
	}
	if kept := l.Failures(); len(kept) != 2 || kept[1].Number != 1 {
		t.Errorf("kept %+v", kept)
	}
}

func TestEveryWordIsThere(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	add := func(s string) {
		if s == "" || seen[s] {
			t.Errorf("%q is empty or used twice", s)
		}
		seen[s] = true
	}
	for c := NoCause + 1; c < NumCauses; c++ {
		add("cause " + c.String())
	}
	for a := Actor(0); a < NumActors; a++ {
		add("actor " + a.String())
	}
	for o := Outcome(0); o < NumOutcomes; o++ {
		add("outcome " + o.String())
	}
}

// However many nodes and pods the failures of a group are at, in whichever order, each counts where it was.
func TestAGroupCountsNodesAndPods(t *testing.T) {
	t.Parallel()
	const nodes, rounds = 20, 3
	l := fresh(0)
	for round := range uint64(rounds) {
		for node := range uint64(nodes) {
			pod := ""
			if node%2 == 0 {
				pod = fmt.Sprint("web-", node/4)
			}
			l.Fail(Request{Number: round*nodes + node, Outcome: Refused, Blame: Blame{Cause: ListenerClosed}, Node: int(node), Pod: pod})
		}
		g := l.Groups()[0] // asking in between changes nothing
		if len(g.Nodes) != nodes || g.Nodes[7] != round+1 || len(g.Pods) != nodes/4 || g.Pods["web-2"] != 2*(round+1) {
			t.Errorf("after %d rounds: nodes %v, pods %v", round+1, g.Nodes, g.Pods)
		}
	}
}
