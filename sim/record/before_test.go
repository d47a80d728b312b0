package record

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// Where nothing but the clients' own pool limits what is asked at once it is too small, and the pods are not to blame.
func TestWhoHasTooMuchToDo(t *testing.T) {
	t.Parallel()
	for pool, want := range map[int]string{0: "pods of web have too much to do", 20: "the 20 connections of the clients are too few for what they ask: "} { // order: each for itself
		c := &Case{Workload: "shop/web", Clients: []Client{{Name: "keep-alive", Pool: pool}}}
		if got := c.sentence(&failing{cause: ledger.Overloaded}); !strings.HasPrefix(got, want) {
			t.Errorf("%d: %s", pool, got)
		}
	}
}

func TestNodesThatNeverAnswerAreNamedWhereTheyFitIntoASentence(t *testing.T) {
	t.Parallel()
	c := &Case{Nodes: []string{"a", "b", "c", "d"}}
	set := func(nodes ...int) map[int]bool {
		m := map[int]bool{}
		for _, n := range nodes {
			m[n] = true
		}
		return m
	}
	for _, x := range []struct {
		runs []map[int]bool
		want string
	}{
		{[]map[int]bool{set(1)}, "b never answers"},
		{[]map[int]bool{set(1), set(1)}, "b never answers"},
		{[]map[int]bool{set(1), set(2)}, "1 node never answers"},
		{[]map[int]bool{set(3, 0)}, "a and d never answer"},
		{[]map[int]bool{set(0, 2, 3)}, "a, c and d never answer"},
		{[]map[int]bool{set(0, 1, 2, 3)}, "4 nodes never answer"},
		{[]map[int]bool{set(0, 1), set(0, 2)}, "2 nodes never answer"},
	} {
		if got := c.whichNodes(&failing{nodes: x.runs}); got != x.want {
			t.Errorf("%v: %q, want %q", x.runs, got, x.want)
		}
	}
}
