package endpoints

import (
	"fmt"
	"net/netip"
	"testing"
)

var nodeA = NodeInfo{Name: "a", Zone: "x"}

// Reference: kube-proxy 1.36 serviceport.go, UsesClusterEndpoints, UsesLocalEndpoints,
// ExternallyAccessible; docs/model/kube-proxy.md 2.
func TestWhichListsAPortUses(t *testing.T) {
	t.Parallel()
	vip := []netip.Addr{netip.MustParseAddr("192.0.2.1")}
	tests := map[string]struct {
		port           ServicePort
		cluster, local bool
	}{
		"internal Cluster uses the Cluster list": {
			ServicePort{}, true, false},
		"internal Local alone uses the Local list only": {
			ServicePort{InternalPolicy: PolicyLocal}, false, true},
		"external Local means nothing without a way in from outside": {
			ServicePort{ExternalPolicy: PolicyLocal}, true, false},
		"both Local without a way in from outside use the Local list only": {
			ServicePort{InternalPolicy: PolicyLocal, ExternalPolicy: PolicyLocal}, false, true},
		"external Local with a node port uses both": {
			ServicePort{ExternalPolicy: PolicyLocal, NodePort: 30080}, true, true},
		"external Local with a load-balancer VIP uses both": {
			ServicePort{ExternalPolicy: PolicyLocal, LoadBalancerIPs: vip}, true, true},
		"external Local with an external IP uses both": {
			ServicePort{ExternalPolicy: PolicyLocal, ExternalIPs: vip}, true, true},
		"external Cluster with a node port uses the Cluster list only": {
			ServicePort{NodePort: 30080}, true, false},
		"internal Local with external Cluster uses both": {
			ServicePort{InternalPolicy: PolicyLocal, NodePort: 30080}, true, true},
		"both Local and externally accessible still use the Cluster list, for the short-circuit": {
			ServicePort{InternalPolicy: PolicyLocal, ExternalPolicy: PolicyLocal, NodePort: 30080}, true, true},
		"empty lists of addresses are no way in from outside": {
			ServicePort{InternalPolicy: PolicyLocal, LoadBalancerIPs: []netip.Addr{}, ExternalIPs: []netip.Addr{}}, false, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sp := newPort(tt.port, ready(1, "a"))
			s := Select(sp, nodeA, CurrentOptions())
			if s.Cluster.Used != tt.cluster || s.Local.Used != tt.local {
				t.Errorf("uses Cluster: %v, Local: %v, want %v, %v", s.Cluster.Used, s.Local.Used, tt.cluster, tt.local)
			}
			if (s.Cluster.Index != nil) != tt.cluster || (s.Local.Index != nil) != tt.local {
				t.Errorf("a list is filled that is not used, or the other way round: %s", describe(sp, s))
			}
		})
	}
}

// Reference: KEP-1669, "Design Details"; kube-proxy 1.36 topology.go, CategorizeEndpoints;
// docs/model/kube-proxy.md 2.
func TestWhatConditionsAreUsed(t *testing.T) {
	t.Parallel()
	const normal, fallback, never = "normal", "fallback", "never"
	for cond, want := range map[string]string{
		"T/T/T": normal, "T/T/F": normal, "T/F/T": normal, "T/F/F": normal, // ready, whatever else
		"F/T/T": fallback,
		"F/T/F": never, // serving but not terminating: from other writers only
		"F/F/T": never, // readiness failing opts the pod out
		"F/F/F": never,
	} {
		t.Run(cond, func(t *testing.T) {
			t.Parallel()
			alone := map[string]string{
				normal:   "Cluster 1; Local 1; reachable 1; any",
				fallback: "Cluster fallback 1; Local fallback 1; reachable 1; any",
				never:    "Cluster none; Local none; reachable none; nothing anywhere",
			}[want]
			wantSelection(t, newPort(bothPort, ep{n: 1, cond: cond, node: "a"}), nodeA, CurrentOptions(), alone)

			besideReady := "Cluster 2; Local 2; reachable 2; any"
			if want == normal {
				besideReady = "Cluster 1 2; Local 1 2; reachable 1 2; any"
			}
			wantSelection(t, newPort(bothPort, ep{n: 1, cond: cond, node: "a"}, ready(2, "a")), nodeA, CurrentOptions(), besideReady)
		})
	}
}

// Reference: docs/model/kube-proxy.md 2; KEP-1669, "Example: all endpoints
// terminating", and kube-proxy 1.36 topology.go, CategorizeEndpoints.
func TestCases(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		port ServicePort
		eps  []ep
		want string
	}{
		"ready in scope, Cluster: the ready ones only": {clusterPort,
			[]ep{ready(1, "a"), draining(2, "a"), ready(3, "b"), notReady(4, "a"), notServing(5, "a")},
			"Cluster 1 3; Local unused; reachable 1 3; any"},
		"ready in scope, Local: the local ready ones only": {localPort,
			[]ep{ready(1, "a"), draining(2, "a"), ready(3, "b"), notReady(4, "a"), ready(5, "a")},
			"Cluster unused; Local 1 5; reachable 1 5; any"},
		"nothing ready, Cluster: all serving terminating ones": {clusterPort,
			[]ep{draining(1, "a"), draining(2, "b"), notReady(3, "a"), notServing(4, "a")},
			"Cluster fallback 1 2; Local unused; reachable 1 2; any"},
		"nothing ready here, Local: the local serving terminating ones": {localPort,
			[]ep{draining(1, "a"), draining(2, "b"), notServing(3, "a"), draining(4, "a")},
			"Cluster unused; Local fallback 1 4; reachable 1 4; any"},
		"nothing ready here but elsewhere, Local: still the local serving terminating ones": {localPort,
			[]ep{draining(1, "a"), ready(2, "b")},
			"Cluster unused; Local fallback 1; reachable 1; any"},
		"only ready elsewhere, Local: drop": {localPort,
			[]ep{ready(1, "b"), notReady(2, "a")},
			"Cluster unused; Local none; reachable none; any"},
		"only serving terminating elsewhere, Local: drop": {localPort,
			[]ep{draining(1, "b")},
			"Cluster unused; Local none; reachable none; any"},
		"nothing anywhere, Cluster: reject": {clusterPort,
			[]ep{notReady(1, "a"), notServing(2, "b")},
			"Cluster none; Local unused; reachable none; nothing anywhere"},
		"nothing anywhere, Local: reject": {localPort,
			[]ep{notReady(1, "a"), notServing(2, "b")},
			"Cluster unused; Local none; reachable none; nothing anywhere"},
		"no endpoint at all: reject": {bothPort, nil,
			"Cluster none; Local none; reachable none; nothing anywhere"},
		"one ready endpoint anywhere takes all Cluster traffic from 5 serving terminating ones": {clusterPort,
			[]ep{draining(1, "a"), draining(2, "a"), draining(3, "a"), draining(4, "b"), draining(5, "b"), ready(6, "c")},
			"Cluster 6; Local unused; reachable 6; any"},
		"the lists fall back each by itself: Local does, Cluster does not": {bothPort,
			[]ep{draining(1, "a"), ready(2, "b")},
			"Cluster 2; Local fallback 1; reachable 1 2; any"},
		"the Local list never holds a remote endpoint, not even in the fallback": {bothPort,
			[]ep{draining(1, "b"), draining(2, "b")},
			"Cluster fallback 1 2; Local none; reachable 1 2; any"},
		"both fall back": {bothPort,
			[]ep{draining(1, "a"), draining(2, "b")},
			"Cluster fallback 1 2; Local fallback 1; reachable 1 2; any"},
		"reachable is the union in endpoint order": {bothPort,
			[]ep{draining(1, "a"), ready(2, "b"), draining(3, "a"), ready(4, "c"), draining(5, "b")},
			"Cluster 2 4; Local fallback 1 3; reachable 1 2 3 4; any"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantSelection(t, newPort(tt.port, tt.eps...), nodeA, CurrentOptions(), tt.want)
		})
	}
}

func TestTheFallbackIsDecidedForEachNode(t *testing.T) {
	t.Parallel()
	// Reference: docs/model/kube-proxy.md 2.
	sp := newPort(localPort, draining(1, "a"), draining(2, "b"), ready(3, "b"))
	wantSelection(t, sp, NodeInfo{Name: "a"}, CurrentOptions(), "Cluster unused; Local fallback 1; reachable 1; any")
	wantSelection(t, sp, NodeInfo{Name: "b"}, CurrentOptions(), "Cluster unused; Local 3; reachable 3; any")
	wantSelection(t, sp, NodeInfo{Name: "c"}, CurrentOptions(), "Cluster unused; Local none; reachable none; any")
}

func TestAnEndpointWithoutANodeIsLocalNowhere(t *testing.T) {
	t.Parallel()
	// Reference: docs/model/kube-proxy.md 1 local; kube-proxy 1.36 endpointslicecache.go, isLocal.
	sp := newPort(bothPort, ready(1, ""), ready(2, "a"))
	for _, node := range []string{"", "b"} {
		wantSelection(t, sp, NodeInfo{Name: node}, CurrentOptions(), "Cluster 1 2; Local none; reachable 1 2; any")
	}
	wantSelection(t, sp, NodeInfo{Name: "a"}, CurrentOptions(), "Cluster 1 2; Local 2; reachable 1 2; any")
}

// Reference: docs/model/kube-proxy.md 2.1; kube-proxy 1.36 topology.go, topologyModeFromHints
// and availableForTopology; KEP-2433, KEP-3015.
func TestHints(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		port ServicePort
		eps  []ep
		node NodeInfo
		want string
	}{
		"every ready endpoint has a node hint and one is for this node: PreferSameNode": {clusterPort,
			[]ep{ready(1, "a").forNode("a"), ready(2, "b").forNode("b"), ready(3, "c").forNode("b", "a")}, nodeA,
			"Cluster 1 3; Local unused; reachable 1 3; any; PreferSameNode"},
		"none of the node hints is for this node: zone hints count": {clusterPort,
			[]ep{ready(1, "b").forNode("b").zone("x"), ready(2, "c").forNode("c").zone("y")}, nodeA,
			"Cluster 1; Local unused; reachable 1; any; PreferSameZone"},
		"one ready endpoint lacks a node hint: node hints are off for all": {clusterPort,
			[]ep{ready(1, "a").forNode("a").zone("y"), ready(2, "b").zone("x")}, nodeA,
			"Cluster 2; Local unused; reachable 2; any; PreferSameZone"},
		"every ready endpoint has a zone hint and one is for this zone: PreferSameZone": {clusterPort,
			[]ep{ready(1, "a").zone("x"), ready(2, "b").zone("y"), ready(3, "c").zone("y", "x")}, nodeA,
			"Cluster 1 3; Local unused; reachable 1 3; any; PreferSameZone"},
		"one ready endpoint lacks a zone hint: all ready endpoints": {clusterPort,
			[]ep{ready(1, "a").zone("x"), ready(2, "b")}, nodeA,
			"Cluster 1 2; Local unused; reachable 1 2; any"},
		"an empty zone hint is none": {clusterPort,
			[]ep{ready(1, "a").zone("x"), ready(2, "b").zone()}, nodeA,
			"Cluster 1 2; Local unused; reachable 1 2; any"},
		"no zone hint is for this zone: all ready endpoints": {clusterPort,
			[]ep{ready(1, "a").zone("y"), ready(2, "b").zone("z")}, nodeA,
			"Cluster 1 2; Local unused; reachable 1 2; any"},
		"node hints win over zone hints": {clusterPort,
			[]ep{ready(1, "a").forNode("b").zone("x"), ready(2, "b").forNode("a").zone("y")}, nodeA,
			"Cluster 2; Local unused; reachable 2; any; PreferSameNode"},
		"a node without a zone never matches": {clusterPort,
			[]ep{ready(1, "a").zone("x"), ready(2, "b").zone("y")}, NodeInfo{Name: "a"},
			"Cluster 1 2; Local unused; reachable 1 2; any"},
		"hints of endpoints that are not ready do not count: a missing one does not disable": {clusterPort,
			[]ep{ready(1, "a").zone("x"), ready(2, "b").zone("y"), notReady(3, "a"), draining(4, "a"), notServing(5, "a")}, nodeA,
			"Cluster 1; Local unused; reachable 1; any; PreferSameZone"},
		"hints of endpoints that are not ready do not count: one for this zone does not enable": {clusterPort,
			[]ep{ready(1, "b").zone("y"), draining(2, "a").zone("x"), notReady(3, "a").zone("x")}, nodeA,
			"Cluster 1; Local unused; reachable 1; any"},
		"the zone's only endpoint goes terminating: all zones": {clusterPort,
			[]ep{draining(1, "a").zone("x"), ready(2, "b").zone("y"), ready(3, "c").zone("z")}, nodeA,
			"Cluster 2 3; Local unused; reachable 2 3; any"},
		"nothing ready: no topology, the fallback ignores hints": {clusterPort,
			[]ep{draining(1, "a").zone("x").forNode("a"), draining(2, "b").zone("y").forNode("b")}, nodeA,
			"Cluster fallback 1 2; Local unused; reachable 1 2; any"},
		"the Local list ignores hints": {bothPort,
			[]ep{ready(1, "a").zone("y"), ready(2, "b").zone("x")}, nodeA,
			"Cluster 2; Local 1; reachable 1 2; any; PreferSameZone"},
		"a port that uses the Local list alone has no topology": {localPort,
			[]ep{ready(1, "a").zone("y"), ready(2, "a").zone("x")}, nodeA,
			"Cluster unused; Local 1 2; reachable 1 2; any"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantSelection(t, newPort(tt.port, tt.eps...), tt.node, CurrentOptions(), tt.want)
		})
	}
}

func TestHintsOfALevelThatTheVersionLacksAreIgnored(t *testing.T) {
	t.Parallel()
	// Reference: KEP-2433 (zone hints) and KEP-3015 (PreferSameNode), by feature gate.
	sp := newPort(clusterPort, ready(1, "a").forNode("a").zone("y"), ready(2, "b").forNode("b").zone("x"))
	for o, want := range map[Options]string{
		{ZoneHints: true, NodeHints: true}: "Cluster 1; Local unused; reachable 1; any; PreferSameNode",
		{ZoneHints: true}:                  "Cluster 2; Local unused; reachable 2; any; PreferSameZone",
		{NodeHints: true}:                  "Cluster 1; Local unused; reachable 1; any; PreferSameNode",
		{}:                                 "Cluster 1 2; Local unused; reachable 1 2; any",
	} {
		wantSelection(t, sp, nodeA, o, want)
	}
}

// Reference: kube-proxy 1.36 topology.go, CategorizeEndpoints (hasAnyEndpoints);
// docs/model/kube-proxy.md 2.
func TestHasAny(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		port ServicePort
		eps  []ep
		want bool
	}{
		"the Cluster list is not empty":                         {clusterPort, []ep{ready(1, "b")}, true},
		"it has fallen back":                                    {clusterPort, []ep{draining(1, "b")}, true},
		"Local: ready elsewhere is something":                   {localPort, []ep{ready(1, "b")}, true},
		"Local: serving and terminating elsewhere is something": {localPort, []ep{draining(1, "b")}, true},
		"Local: not ready here is nothing":                      {localPort, []ep{notReady(1, "a")}, false},
		"Local: terminating and not serving here is nothing":    {localPort, []ep{notServing(1, "a")}, false},
		"Local: serving alone is nothing":                       {localPort, []ep{{n: 1, cond: "F/T/F", node: "a"}}, false},
		"no endpoint is nothing":                                {bothPort, nil, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Select(newPort(tt.port, tt.eps...), nodeA, CurrentOptions()).HasAny; got != tt.want {
				t.Errorf("HasAny = %v, want %v", got, tt.want)
			}
		})
	}
}

// Reference: docs/model/kube-proxy.md 11 ProxyTerminatingEndpoints, and KEP-1669, "Graduation
// Criteria" (alpha: external Local only; recalled).
func TestWhatTheFallbackReached(t *testing.T) {
	t.Parallel()
	eps := []ep{draining(1, "a"), draining(2, "b")}
	internalLocal := ServicePort{InternalPolicy: PolicyLocal, NodePort: 30080}
	old := Options{TerminatingInSlices: true, InternalTrafficPolicy: true}
	tests := map[string]struct {
		port  ServicePort
		scope FallbackScope
		want  string
	}{
		"off, Cluster: reject":                             {clusterPort, FallbackNone, "Cluster none; Local unused; reachable none; nothing anywhere"},
		"off, Local: reject":                               {bothPort, FallbackNone, "Cluster none; Local none; reachable none; nothing anywhere"},
		"alpha, Cluster: reject":                           {clusterPort, FallbackExternalLocal, "Cluster none; Local unused; reachable none; nothing anywhere"},
		"alpha, external Local: the local ones":            {bothPort, FallbackExternalLocal, "Cluster none; Local fallback 1; reachable 1; any"},
		"alpha, internal Local: reject":                    {localPort, FallbackExternalLocal, "Cluster unused; Local none; reachable none; nothing anywhere"},
		"alpha, internal Local, external Cluster: reject":  {internalLocal, FallbackExternalLocal, "Cluster none; Local none; reachable none; nothing anywhere"},
		"on, external Local: both lists":                   {bothPort, FallbackAll, "Cluster fallback 1 2; Local fallback 1; reachable 1 2; any"},
		"on, internal Local, external Cluster: both lists": {internalLocal, FallbackAll, "Cluster fallback 1 2; Local fallback 1; reachable 1 2; any"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := old
			o.TerminatingFallback = tt.scope
			wantSelection(t, newPort(tt.port, eps...), nodeA, o, tt.want)
		})
	}
}

func TestSlicesOfAnOldVersionListNoTerminatingEndpoint(t *testing.T) {
	t.Parallel()
	// Reference: docs/model/kube-proxy.md 11 EndpointSliceTerminatingCondition; KEP-1672. But for those
	// of Services with publishNotReadyAddresses, which are ready: ShouldPodBeInEndpoints, Kubernetes
	// 1.21.
	o := Options{TerminatingFallback: FallbackAll}
	sp := newPort(bothPort, draining(1, "a"), ready(3, "b"))
	wantSelection(t, sp, nodeA, o, "Cluster 3; Local none; reachable 3; any")
	sp = newPort(bothPort, draining(1, "a"), ep{n: 2, cond: "T/T/T", node: "a"}, ready(3, "b"))
	wantSelection(t, sp, nodeA, o, "Cluster 2 3; Local 2; reachable 2 3; any")
	wantSelection(t, newPort(bothPort, draining(1, "a")), nodeA, o, "Cluster none; Local none; reachable none; nothing anywhere")
}

func TestDuplicates(t *testing.T) {
	t.Parallel()
	now, before := CurrentOptions(), CurrentOptions()
	before.Duplicates = DuplicatesPreferLocal
	with := func(c, node string) ep { return ep{n: 1, cond: c, node: node} }
	tests := map[string]struct {
		eps    []ep // in slice order
		now    int  // which of eps counts; Reference: kube-proxy 1.36 endpointslicecache.go, addEndpoints
		before int  // Reference: kubernetes pull request 135593 (what it replaced; recalled)
	}{
		"a non-terminating entry replaces a terminating one":                                    {[]ep{with("F/T/T", "b"), with("T/T/F", "b")}, 1, 0},
		"a terminating entry never replaces":                                                    {[]ep{with("T/T/F", "b"), with("F/T/T", "b")}, 0, 0},
		"a terminating entry never replaces a terminating one":                                  {[]ep{with("F/T/T", "b"), with("T/T/T", "b")}, 0, 0},
		"of non-terminating ones the last in order counts, where upstream's order is undefined": {[]ep{with("T/T/F", "b"), with("F/F/F", "b")}, 1, 0},
		"a local entry replaces a remote one, once":                                             {[]ep{with("T/T/F", "b"), with("F/T/T", "a")}, 0, 1},
		"a remote entry replaces a local one, now":                                              {[]ep{with("T/T/F", "a"), with("T/T/F", "b")}, 1, 0},
		"three in a row":                  {[]ep{with("F/T/T", "a"), with("T/T/F", "b"), with("F/F/T", "a")}, 1, 2},
		"the replaced one stays replaced": {[]ep{with("T/T/F", "a"), with("F/F/F", "b"), with("F/T/T", "b")}, 1, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sp := newPort(clusterPort, append(tt.eps, ready(9, "a"))...)
			for o, want := range map[Options]int{now: tt.now, before: tt.before} {
				_, decisions := Decide(sp, nodeA, o, nil)
				for i := range tt.eps {
					if duplicate := decisions[i].Cluster == ReasonDuplicate; duplicate != (i != want) {
						t.Errorf("rule %d: entry %d is %v, but entry %d counts", o.Duplicates, i, decisions[i].Cluster, want)
					}
				}
				if decisions[len(tt.eps)].Cluster != ReasonReady {
					t.Errorf("an endpoint of another address is %v", decisions[len(tt.eps)].Cluster)
				}
			}
		})
	}
}

func TestADuplicateThatIsNotListedReplacesNothing(t *testing.T) {
	t.Parallel()
	o := Options{Duplicates: DuplicatesPreferLocal}
	sp := newPort(clusterPort, ep{n: 1, cond: "T/T/F", node: "b"}, draining(1, "a"))
	_, d := Decide(sp, nodeA, o, nil)
	if d[0].Cluster != ReasonReady || d[1].Cluster != ReasonNotInSlices {
		t.Errorf("decisions %v and %v, want ready and not-in-slices", d[0].Cluster, d[1].Cluster)
	}
}

func TestDuplicatesOfOneAddressOnTwoPortsAreNone(t *testing.T) {
	t.Parallel()
	// Reference: docs/model/kube-proxy.md 1 Same IP:port.
	g := group{}
	for port := range uint16(2) {
		g.endpoints = append(g.endpoints, Endpoint{
			Addr: netip.AddrPortFrom(netip.MustParseAddr("10.0.0.1"), 8080+port), Meta: &Meta{}, Conditions: Ready | Serving,
		})
	}
	g.finish()
	sp := &ServicePort{}
	g.give(sp)
	wantSelection(t, sp, nodeA, CurrentOptions(), "Cluster 1 1; Local unused; reachable 1 1; any")
}

func TestSelectionAllocatesNothingButTheResult(t *testing.T) { // not parallel: it counts allocations
	o := CurrentOptions()
	for name, tt := range map[string]struct {
		sp     *ServicePort
		allows float64
	}{
		"all endpoints, no list to write down": {newPort(clusterPort, ready(1, "a"), ready(2, "b"), ready(3, "a")), 0},
		"neighbours, no list to write down":    {newPort(bothPort, notReady(1, "a"), ready(2, "a"), ready(3, "a")), 0},
		"a list with gaps":                     {newPort(clusterPort, ready(1, "a"), notReady(2, "b"), ready(3, "a")), 1},
		"two lists, one with gaps":             {newPort(bothPort, ready(1, "a"), ready(2, "b"), ready(3, "a")), 1},
		"two lists with gaps, and their union": {newPort(bothPort, draining(1, "a"), ready(2, "b"), draining(3, "a"), ready(4, "b")), 3},
		"nothing":                              {newPort(bothPort), 0},
	} {
		var decisions []Decision
		_, decisions = Decide(tt.sp, nodeA, o, decisions)
		if got := testing.AllocsPerRun(100, func() { Select(tt.sp, nodeA, o) }); got > tt.allows {
			t.Errorf("%s: Select allocates %v times, want %v", name, got, tt.allows)
		}
		if got := testing.AllocsPerRun(100, func() { _, decisions = Decide(tt.sp, nodeA, o, decisions[:0]) }); got > tt.allows {
			t.Errorf("%s: Decide allocates %v times, want %v", name, got, tt.allows)
		}
	}
}

func TestDecideAppends(t *testing.T) {
	t.Parallel()
	sp := newPort(clusterPort, ready(1, "a"), notReady(2, "a"))
	first := Decision{Cluster: ReasonRemote, Local: ReasonRemote}
	_, got := Decide(sp, nodeA, CurrentOptions(), []Decision{first})
	want := []Decision{first, {ReasonReady, ReasonPolicyUnused}, {ReasonNotReady, ReasonPolicyUnused}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("Decide appended to one decision gives %v, want %v", got, want)
	}
	room := make([]Decision, 1, 8)
	if _, got := Decide(sp, nodeA, CurrentOptions(), room); &got[0] != &room[0] {
		t.Error("Decide does not use the room it is given")
	}
}

// A ServicePort that was not built by a Cache has no traits; its conditions still count.
func TestAPortWithoutTraitsIsReadInFull(t *testing.T) {
	t.Parallel()
	sp := newPort(bothPort, ready(1, "a"), notReady(2, "a"), draining(3, "a"))
	sp.digest = digest{}
	wantSelection(t, sp, nodeA, CurrentOptions(), "Cluster 1; Local 1; reachable 1; any")
}

func TestHintsForManyZones(t *testing.T) {
	t.Parallel()
	for _, zones := range []int{64, 65} {
		eps := []ep{ready(1, "a").zone("x"), ready(2, "b").zone("y", "x")}
		for i := len(eps); i < zones; i++ {
			eps = append(eps, ready(1+i, "c").zone(fmt.Sprintf("zone-%d", i)))
		}
		sp := newPort(clusterPort, eps...)
		wantSelection(t, sp, nodeA, CurrentOptions(), "Cluster 1 2; Local unused; reachable 1 2; any; PreferSameZone")
		last := NodeInfo{Name: "a", Zone: fmt.Sprintf("zone-%d", zones-1)}
		wantSelection(t, sp, last, CurrentOptions(), fmt.Sprintf("Cluster %d; Local unused; reachable %[1]d; any; PreferSameZone", zones))
		unhinted := newPort(clusterPort, append(eps, ready(200, "a"))...)
		if s := Select(unhinted, nodeA, CurrentOptions()); s.Topology != TopologyNone || len(s.Cluster.Index) != zones+1 {
			t.Errorf("%d zones and an endpoint without a hint: %s", zones, describe(unhinted, s))
		}
	}
}

func TestAppendingToAListLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	sp := newPort(bothPort, ready(1, "a"), ready(2, "b"), ready(3, "b"))
	s := Select(sp, nodeA, CurrentOptions())
	_ = append(s.Local.Index, 99)
	wantSelection(t, sp, nodeA, CurrentOptions(), "Cluster 1 2 3; Local 1; reachable 1 2 3; any")
}
