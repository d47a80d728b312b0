package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/endpointslice"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// zoned is a build with a node in each zone; "" is a node without one.
func zoned(replicas int, zones ...string) build {
	b := newBuild(replicas).nodes(len(zones))
	for i, z := range zones {
		b.Nodes[i].Zone = z
	}
	return b
}

// cpu gives the nodes objects with so much allocatable CPU each.
func (b build) cpu(each ...string) build {
	for i, q := range each {
		b.Nodes[i].Object = &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: b.Nodes[i].Name, Labels: map[string]string{}},
			Status:     corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(q)}},
		}
	}
	return b
}

func (b build) distribute(how string) build {
	b.svc.Spec.TrafficDistribution = &how
	return b
}

func (b build) auto() build {
	b.svc.Annotations = map[string]string{corev1.AnnotationTopologyMode: "Auto"}
	return b
}

// hints writes the hints that the slices in the API have, in order of pods: own zone>hint, with
// "!" for a hint for the own node, "-" for an endpoint without one.
func (w *testWorld) hints() string { return hintsOf(w, w.slicesInAPI(0)) }

func hintsOf(w *testWorld, list []endpointslice.Entry) string {
	var out []string
	for _, e := range list {
		text := w.sc.Nodes[e.Node].Zone + ">" + e.Hint.Zone
		if e.Hint.Node {
			text += "!"
		}
		if e.Hint == (endpointslice.Hint{}) {
			text = w.sc.Nodes[e.Node].Zone + "-"
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

// Reference: docs/model/controllers.md 9.4; k8s.io/endpointslice 0.36.3 trafficdist_test.go and
// topologycache_test.go have the same cases. Expected values are derived in the case's name or
// comment.
func TestHintsOfEachEndpoint(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		b    build
		want string
	}{
		{"nobody asks for hints", zoned(3, "a", "b", "c"), "a- b- c-"},
		{"same zone: each for its own", zoned(3, "a", "b", "c").distribute("PreferSameZone"), "a>a b>b c>c"},
		{"PreferClose is its older name", zoned(3, "a", "b", "c").distribute("PreferClose"), "a>a b>b c>c"},
		{"two pods in one zone, none in the third", zoned(3, "a", "a", "b").distribute("PreferClose"), "a>a a>a b>b"},
		{"same node: node and zone", zoned(2, "a", "b").distribute("PreferSameNode"), "a>a! b>b!"},
		{"a node without a zone has no zone to hint for", zoned(2, "a", "").distribute("PreferSameZone"), "a>a -"},
		{"but itself", zoned(2, "a", "").distribute("PreferSameNode"), "a>a! >!"},
		{"a word nobody knows", zoned(2, "a", "b").distribute("PreferMoon"), "a- b-"},
		{"the annotation goes before the field", zoned(2, "a", "a").distribute("PreferClose").auto(), "a- a-"},

		{"auto: an endpoint for each zone", zoned(3, "a", "b", "c").auto(), "a>a b>b c>c"},
		{"auto: fewer endpoints than zones", zoned(2, "a", "b", "c").auto(), "a- b-"},
		{"auto: one zone only", zoned(2, "a", "a").auto(), "a- a-"},
		{"auto: a node without a zone", zoned(3, "a", "b", "").auto(), "a- b- -"},
		{"auto: such a node without a pod", zoned(2, "a", "b", "").auto(), "a- b-"},
		// Wanted 2 each of 4, at least 2 each: it would do, but for the pod that is in no zone.
		{"auto: a pod without a zone, on a node that does not count", zoned(4, "a", "b", "").auto().cpu("1", "1", "1").notReady(2), "a- b- - a-"},
		// Wanted 2 each, at least ceil(2 / 1.2) = 2 each. All 4 are in a: two of them go to b.
		{"auto: from where there are too many", zoned(4, "a", "a", "a", "a", "b").auto().cpu("1", "1", "1", "1", "4"), "a>b a>b a>a a>a"},
		// 1 to 3 of 4 by CPU: 1 and 3 wanted, at least ceil(1/1.2) + ceil(3/1.2) = 1 + 3 of 4.
		{"auto: in proportion to CPU", zoned(4, "a", "b").auto().cpu("1", "3"), "a>b b>b a>a b>b"},
		// 5 endpoints, three equal zones: wanted 5/3, at least ceil(5/3/1.2) = 2 each, 6 > 5.
		{"auto: the least numbers are more than there is", zoned(5, "a", "b", "c").auto(), "a- b- c- a- b-"},
		// 7: wanted 2 1/3, at least 2 each. a has 3, 2/3 too many; b and c lack 1/3: not enough.
		{"auto: less than half an endpoint off stays", zoned(7, "a", "b", "c").auto(), "a>a b>b c>c a>a b>b c>c a>a"},
		// Wanted 3 1/2 each, at least ceil(3 1/2 / 1.2) = 3 each. Half an endpoint too many and half
		// a one too few: neither is a whole one.
		{"auto: two halves stay where they are", zoned(7, "a", "b").auto(), "a>a b>b a>a b>b a>a b>b a>a"},
		{"auto: a node that does not say its CPU", zoned(2, "a", "b").auto().cpu("0", "3"), "a- b-"},
		{"auto: the control plane's CPU does not count", zoned(2, "a", "b", "z").auto().cpu("2", "2", "64").label(2, "node-role.kubernetes.io/control-plane"), "a>a b>b"},
		{"auto: nor that of a node that is not ready", zoned(2, "a", "b", "z").auto().cpu("2", "2", "64").notReady(2), "a>a b>b"},
		{"auto before hints were on by default", zoned(2, "a", "b").auto().version(23), "a- b-"},
		{"PreferSameZone before it was known", zoned(2, "a", "b").distribute("PreferSameZone").version(33), "a- b-"},
		{"PreferClose then", zoned(2, "a", "b").distribute("PreferClose").version(33), "a>a b>b"},
		{"PreferClose before it was on by default", zoned(2, "a", "b").distribute("PreferClose").version(30), "a- b-"},
	} {
		w := c.b.start(t, 1)
		if got := w.hints(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if got := hintsOf(w, w.settledEndpoints(0)); got != c.want {
			t.Errorf("%s: settled %s, want %s", c.name, got, c.want)
		}
		if !w.slicesSettled() {
			t.Errorf("%s: the slices differ from what is settled", c.name)
		}
	}
}

func (b build) label(node int, key string) build {
	b.Nodes[node].Object.Labels[key] = ""
	return b
}

func (b build) notReady(node int) build {
	b.Nodes[node].Object.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionFalse}}
	return b
}

func (b build) version(minor int) build {
	p, err := endpoints.ProfileFor(endpoints.Version{Major: 1, Minor: minor}, nil)
	if err != nil {
		panic(err)
	}
	b.Kubernetes = p
	return b
}

// Only ready endpoints are hinted: one that terminates loses its hint with the write that says
// so, one that starts gets it when it is ready, one that is published though it is not ready has
// it all the time (docs/model/controllers.md 9.4).
func TestHintsFollowReadiness(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, want string
		publish    bool
	}{
		{"ready endpoints only", "a- b>b|b>b a-|b>b a>a", false},
		{"published", "a>a b>b|b>b a>a|b>b a>a", true},
	} {
		b := zoned(2, "a", "b").distribute("PreferSameZone").hook("app", sleepHook(2*sec)).app(func(a *world.App) { a.Start = engine.Constant(5 * sec) })
		b.d.Spec.Template.Spec.Containers[0].ReadinessProbe = probe(0, 1, 1, 3)
		b.svc.Spec.PublishNotReadyAddresses = c.publish
		w := b.start(t, 1)
		var got []string
		w.at(10*sec, func() { w.deletePod(w.owner, 0) })
		for _, at := range []engine.Time{11 * sec, 14 * sec, 20 * sec} {
			w.run(at)
			list := slices.DeleteFunc(w.slicesInAPI(0), func(e endpointslice.Entry) bool { return at == 11*sec && e.ID == 2 })
			got = append(got, hintsOf(w, list))
		}
		if text := strings.Join(got, "|"); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

// With shares a change may concern slices that nothing else changes. 150 endpoints in two
// slices, 75 in each zone; when one zone's share has become impossible, both are written.
func TestSharesReachIntoOtherSlices(t *testing.T) {
	t.Parallel()
	b := zoned(150, "a", "b").auto()
	w := b.start(t, 1)
	if n := len(w.sliceState[0]); n != 2 {
		t.Fatalf("%d slices", n)
	}
	h := w.services[0].hints
	have := w.slicesInAPI(0)
	for i := range have {
		have[i].Hint.Zone = "a" // the second slice alone has more than a may have together with b's least
	}
	want := slices.Clone(have)
	for i := range want {
		want[i].Slice, want[i].Hint = endpointslice.NoSlice, endpointslice.Hint{}
	}
	want[0].Conditions = 0
	touched := endpointslice.Pack(have, want)
	if fmt.Sprint(touched) != "[0]" {
		t.Fatalf("packed %v", touched)
	}
	// 149 ready: wanted 74.5, at least 63 each, at most 63 + 23 = 86 each. The second slice's 50
	// hints for a fit; they stay, and the first slice makes up for them.
	if got := h.Proportional(have, want, touched, w.sc.Nodes); fmt.Sprint(got) != "[0]" {
		t.Errorf("written %v", got)
	}
	if a, b := countZone(want, "a"), countZone(want, "b"); a+b != 149 || a < 74 || a > 75 {
		t.Errorf("%d for a, %d for b", a, b)
	}
	for i := range have {
		have[i].Hint.Zone = "c" // a zone that has gone
	}
	touched = endpointslice.Pack(have, want)
	if got := h.Proportional(have, want, touched, w.sc.Nodes); fmt.Sprint(got) != "[0 1]" {
		t.Errorf("written %v", got)
	}
	// 5 ready: wanted 2 1/2 each, at least 3 each, 6 > 5. A slice that nothing else changes loses
	// its hints, too.
	have, want = have[:6], slices.Clone(have[:6])
	for i := range have {
		have[i].Slice, have[i].Hint.Zone = i/3, "a"
		want[i].Slice, want[i].Hint = endpointslice.NoSlice, endpointslice.Hint{}
	}
	want[0].Conditions = 0
	touched = endpointslice.Pack(have, want)
	if fmt.Sprint(touched) != "[0]" {
		t.Fatalf("packed %v", touched)
	}
	if got := h.Proportional(have, want, touched, w.sc.Nodes); fmt.Sprint(got) != "[0 1]" || countZone(want, "") != 6 {
		t.Errorf("written %v, hints %s", got, hintsOf(w, want))
	}
}

func countZone(list []endpointslice.Entry, zone string) int {
	n := 0
	for _, e := range list {
		if e.Hint.Zone == zone {
			n++
		}
	}
	return n
}

// The zone's own list is used while it has a ready pod; when the last one terminates, the slice
// has no hint for the zone, and its nodes use all ready endpoints after their next sync
// (docs/model/kube-proxy.md 2.1).
func TestZoneWithoutAPodUsesAll(t *testing.T) {
	t.Parallel()
	b := zoned(3, "a", "b", "c").distribute("PreferClose").hook("app", sleepHook(60*sec)).grace(90)
	b.d.Spec.Paused = true
	b.Latency.Controller = engine.Constant(engine.Minute)
	w := b.start(t, 1)
	entry, ok := w.Entry(world.Traffic{Service: "default/web", Port: 80, Protocol: endpoints.TCP})
	if !ok {
		t.Fatal("no entry")
	}
	reach := func(node int) int { return len(w.Enter(entry, node).Targets) }
	w.run(9 * sec)
	if a, c := reach(0), reach(2); a != 1 || c != 1 {
		t.Errorf("before: %d and %d endpoints", a, c)
	}
	w.at(10*sec, func() { w.deletePod(w.owner, 0) })
	w.run(15 * sec)
	if a, c := reach(0), reach(2); a != 2 || c != 1 {
		t.Errorf("after: %d and %d endpoints", a, c)
	}
}

// Nodes share a Plan where nothing tells them apart, and only there.
func TestNodesThatCannotDifferShareAPlan(t *testing.T) {
	t.Parallel()
	three := func() build { return zoned(3, "a", "a", "b") }
	for _, c := range []struct {
		name string
		b    build
		want string
	}{
		{"no hints, no Local policy: all of them", three(), "[0 0 0]"},
		{"hints: those of a zone", three().distribute("PreferSameZone"), "[0 0 1]"},
		{"hints for nodes: nobody", three().distribute("PreferSameNode"), "[0 1 2]"},
		{"a Local policy: nobody", three().local(), "[0 1 2]"},
		{"another mode: not that one", three().mode(1, "iptables"), "[0 1 0]"},
	} {
		w := c.b.start(t, 1)
		var got []int
		for _, p := range w.Proxies {
			got = append(got, p.Class())
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
		if same := w.Rules(0) == w.Rules(2); same != (got[0] == got[2]) {
			t.Errorf("%s: one Plan for nodes 0 and 2: %v", c.name, same)
		}
	}
}

func (b build) local() build {
	local := corev1.ServiceInternalTrafficPolicyLocal
	b.svc.Spec.InternalTrafficPolicy = &local
	return b
}

func (b build) mode(node int, mode string) build {
	b.Nodes[node].Proxy.Mode = mode
	return b
}
