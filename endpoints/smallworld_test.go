package endpoints

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
)

// The small worlds: every combination of what can be said about up to three endpoints, a
// port, a node and a version, and the package's answer beside the plain one. Where a full
// cross product is out of reach, each world crosses what interacts, and the last one draws
// from everything.

var (
	allConditions  = []string{"T/T/T", "T/T/F", "T/F/T", "T/F/F", "F/T/T", "F/T/F", "F/F/T", "F/F/F"}
	someConditions = []string{"T/T/F", "F/T/T"}
	anywhere       = []string{"a", "b", ""} // this node, another, none named
	unhinted       = []ep{{}}
	hinted         = []ep{
		{},
		{zones: []string{"x"}}, {zones: []string{"y"}},
		{nodes: []string{"a"}}, {nodes: []string{"b"}},
		{zones: []string{"x"}, nodes: []string{"a"}}, {zones: []string{"x"}, nodes: []string{"b"}},
	}
	fullyHinted = append(slices.Clone(hinted),
		ep{zones: []string{}, nodes: []string{}}, // present but empty
		ep{zones: []string{"y", "x"}, nodes: []string{"b", "a"}},
	)

	fromEverywhere = []NodeInfo{{"a", "x"}, {"b", "y"}, {"c", ""}, {"", "x"}}

	allPorts = []plainPort{
		{}, {internalLocal: true}, {accessible: true},
		{internalLocal: true, accessible: true}, {externalLocal: true, accessible: true},
		{internalLocal: true, externalLocal: true, accessible: true},
	}
)

// kinds crosses conditions, hints and nodes.
func kinds(conditions []string, hints []ep, nodes []string) []ep {
	var out []ep
	for _, c := range conditions {
		for _, h := range hints {
			for _, n := range nodes {
				h.cond, h.node = c, n
				out = append(out, h)
			}
		}
	}
	return out
}

// multisets calls visit with every choice of up to n kinds, order left aside: the addresses
// are 1, 2, 3 in that order, and nothing in selection depends on which is which.
func multisets(kinds []ep, n int, visit func([]ep)) {
	chosen := make([]ep, 0, n)
	var choose func(from int)
	choose = func(from int) {
		visit(chosen)
		if len(chosen) == n {
			return
		}
		for i := from; i < len(kinds); i++ {
			e := kinds[i]
			e.n = len(chosen) + 1
			chosen = append(chosen, e)
			choose(i)
			chosen = chosen[:len(chosen)-1]
		}
	}
	choose(0)
}

// cross returns every Options with the given values of its fields.
func cross(fallbacks []FallbackScope, duplicates []DuplicateRule, inSlices, nodeHints, zoneHints []bool) []Options {
	var out []Options
	for _, f := range fallbacks {
		for _, d := range duplicates {
			for _, s := range inSlices {
				for _, n := range nodeHints {
					for _, z := range zoneHints {
						out = append(out, Options{TerminatingFallback: f, Duplicates: d, TerminatingInSlices: s, NodeHints: n, ZoneHints: z})
					}
				}
			}
		}
	}
	return out
}

var (
	allScopes = []FallbackScope{FallbackNone, FallbackExternalLocal, FallbackAll}
	nowScope  = []FallbackScope{FallbackAll}
	allRules  = []DuplicateRule{DuplicatesPreferLocal, DuplicatesPreferNonTerminating}
	nowRule   = []DuplicateRule{DuplicatesPreferNonTerminating}
	offOn     = []bool{false, true}
	on        = []bool{true}
)

// world is one cross product; endpoints enumerates its endpoint lists.
type world struct {
	endpoints func(visit func([]ep))
	ports     []plainPort
	nodes     []NodeInfo
	options   []Options
	cases     int // pinned, so that a world cannot shrink unnoticed
}

func worlds() map[string]world {
	return map[string]world{
		"one endpoint, everything crossed": {
			func(visit func([]ep)) { multisets(kinds(allConditions, fullyHinted, anywhere), 1, visit) },
			allPorts, fromEverywhere, cross(allScopes, nowRule, offOn, offOn, offOn), 124_992},
		"three endpoints, conditions and locality": {
			func(visit func([]ep)) { multisets(kinds(allConditions, unhinted, anywhere), 3, visit) },
			allPorts, fromEverywhere[:3], cross(allScopes, nowRule, offOn, on, on), 315_900},
		"three endpoints, hints": {
			func(visit func([]ep)) { multisets(kinds(someConditions, hinted, anywhere[:2]), 3, visit) },
			[]plainPort{{}, {externalLocal: true, accessible: true}}, fromEverywhere[:3], cross(nowScope, nowRule, on, offOn, offOn), 107_880},
		"equal addresses": {duplicates,
			[]plainPort{{internalLocal: true}, {externalLocal: true, accessible: true}}, fromEverywhere[:2], cross(nowScope, allRules, offOn, on, on), 267_264},
	}
}

// duplicates enumerates pairs and triples with one address, in every order, and pairs
// beside another endpoint.
func duplicates(visit func([]ep)) {
	all := kinds(allConditions, unhinted, anywhere)
	for _, a := range all {
		for _, b := range all {
			a.n, b.n = 1, 1
			visit([]ep{a, b})
			for _, c := range all {
				c.n = 1
				visit([]ep{a, b, c})
			}
			for _, c := range []ep{ready(2, "a"), ready(2, "b"), draining(2, "a"), notReady(2, "a")} {
				visit([]ep{a, b, c})
			}
		}
	}
}

func TestSmallWorlds(t *testing.T) {
	t.Parallel()
	const shards = 8
	for name, w := range worlds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var cases atomic.Int64
			t.Run("all", func(t *testing.T) {
				for shard := range shards {
					t.Run(strconv.Itoa(shard), func(t *testing.T) {
						t.Parallel()
						i, n := 0, 0
						w.endpoints(func(eps []ep) {
							if i++; i%shards == shard {
								n += checkWorld(t, w, eps)
							}
						})
						cases.Add(int64(n))
					})
				}
			})
			if got := int(cases.Load()); got != w.cases && !t.Failed() {
				t.Errorf("%d cases checked, want %d", got, w.cases)
			}
		})
	}
}

// checkWorld compares the package with the plain answer for one list of endpoints and
// returns how many cases that was. It stops the test at the first difference.
func checkWorld(t *testing.T, w world, eps []ep) int {
	plain, n := plainEndpoints(eps), 0
	var decisions []Decision
	for _, port := range w.ports {
		sp := newPort(port.servicePort(), eps...)
		for _, node := range w.nodes {
			for _, o := range w.options {
				n++
				s := Select(sp, node, o)
				var d Selection
				d, decisions = Decide(sp, node, o, decisions[:0])
				want := plainly(plain, port, node, o)
				if diff := want.difference(s, d, decisions); diff != "" {
					t.Fatalf("%s\nendpoints %+v\nport %+v\nnode %+v\noptions %+v\nplainly %+v\n  Select %+v", diff, eps, port, node, o, want, s)
				}
			}
		}
	}
	return n
}

func (p plainPort) servicePort() ServicePort {
	var sp ServicePort
	if p.internalLocal {
		sp.InternalPolicy = PolicyLocal
	}
	if p.externalLocal {
		sp.ExternalPolicy = PolicyLocal
	}
	if p.accessible {
		sp.ExternalIPs = []netip.Addr{netip.MustParseAddr("192.0.2.1")}
	}
	return sp
}

// plainEndpoints translates by the letters of the table, in the order of the port's
// endpoints.
func plainEndpoints(eps []ep) []plainEndpoint {
	out := make([]plainEndpoint, len(eps))
	for i, e := range eps {
		out[i] = plainEndpoint{
			id: i, addr: strconv.Itoa(e.n), node: e.node, zones: e.zones, nodes: e.nodes,
			ready: e.cond[0] == 'T', serving: e.cond[2] == 'T', terminating: e.cond[4] == 'T',
		}
	}
	return out
}

// difference says what the package got wrong, "" for nothing.
func (a *plainAnswer) difference(s, d Selection, decisions []Decision) string {
	reachable := append(slices.Clone(a.cluster), a.local...)
	slices.Sort(reachable)
	reachable = slices.Compact(reachable)
	switch {
	case s.Cluster.Used != a.usesCluster || s.Local.Used != a.usesLocal:
		return "which lists are used"
	case !sameIDs(s.Cluster.Index, a.cluster):
		return "Cluster list"
	case !sameIDs(s.Local.Index, a.local):
		return "Local list"
	case !sameIDs(s.Reachable, reachable):
		return "reachable"
	case s.Cluster.Fallback != a.clusterFellBack || s.Local.Fallback != a.localFellBack:
		return "fallback flags"
	case s.HasAny != a.hasAny:
		return "HasAny"
	case s.Topology.String() != a.topology:
		return "topology"
	case !sameSelection(s, d):
		return "Decide's Selection is not Select's"
	case len(decisions) != len(a.whyCluster):
		return "number of decisions"
	}
	for i, d := range decisions {
		if d.Cluster != a.whyCluster[i] || d.Local != a.whyLocal[i] {
			return fmt.Sprintf("reasons of endpoint %d: %v and %v, want %v and %v", i, d.Cluster, d.Local, a.whyCluster[i], a.whyLocal[i])
		}
		if d.Cluster.Used() != slices.Contains(a.cluster, i) || d.Local.Used() != slices.Contains(a.local, i) {
			return fmt.Sprintf("reasons of endpoint %d contradict the lists", i)
		}
	}
	return ""
}

// sameIDs also tells nil from empty: an empty list is nil.
func sameIDs(index []int32, ids []int) bool {
	if (index == nil) != (len(ids) == 0) || len(index) != len(ids) {
		return false
	}
	for i := range ids {
		if int(index[i]) != ids[i] {
			return false
		}
	}
	return true
}

func sameSelection(a, b Selection) bool {
	same := func(a, b List) bool {
		return a.Used == b.Used && a.Fallback == b.Fallback && slices.Equal(a.Index, b.Index)
	}
	return same(a.Cluster, b.Cluster) && same(a.Local, b.Local) && slices.Equal(a.Reachable, b.Reachable) &&
		a.HasAny == b.HasAny && a.Topology == b.Topology
}

// TestDrawnWorlds draws from the full cross product, with more endpoints and with equal
// addresses among them.
func TestDrawnWorlds(t *testing.T) {
	t.Parallel()
	all := kinds(allConditions, fullyHinted, anywhere)
	for seed := range uint64(8) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 1669))
			options := cross(allScopes, allRules, offOn, offOn, offOn)
			for range 1000 {
				eps := make([]ep, 1+r.IntN(8))
				for i := range eps {
					eps[i] = all[r.IntN(len(all))]
					eps[i].n = i + 1
					if i > 0 && r.IntN(4) == 0 {
						eps[i].n = eps[i-1].n
					}
				}
				w := world{
					ports: []plainPort{allPorts[r.IntN(len(allPorts))]}, nodes: fromEverywhere[r.IntN(4):][:1],
					options: []Options{options[r.IntN(len(options))], CurrentOptions()},
				}
				checkWorld(t, w, eps)
			}
		})
	}
}
