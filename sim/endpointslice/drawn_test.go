package endpointslice

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/world"
	"github.com/lameduck-proxy/lameduck/test/golden"
)

// keptHints has who is hinted for which zone, and which slices are written for it, as pods of drawn Services come and go.
const keptHints = "testdata/hints.txt"

var update = flag.Bool("update", false, "rewrite "+keptHints)

func oneOf[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// zones are nodes of two or three zones, which differ in how much CPU they have; now and then one has no zone, or says nothing.
func zones(r *rand.Rand) []world.Node {
	names := []string{"a", "b", "c"}[:2+r.IntN(2)]
	nodes := make([]world.Node, len(names)+r.IntN(3))
	for i := range nodes {
		nodes[i].Zone = names[i%len(names)]
		if cpu := oneOf(r, 1, 2, 2, 4, 16); cpu > 1 {
			nodes[i].Object = &corev1.Node{Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(int64(cpu), resource.DecimalSI)}}}
		}
	}
	if r.IntN(8) == 0 {
		nodes[len(nodes)-1].Zone = ""
	}
	return nodes
}

// next are the endpoints of a Service after fewer than most pods have come, and of calm pods about two have gone or changed.
func next(r *rand.Rand, have []Entry, nodes, most, calm int) []Entry {
	var want []Entry
	id := api.PodID(0)
	for i := range have {
		e := have[i]
		e.Slice, e.Hint = NoSlice, Hint{}
		id = max(id, e.ID+1)
		switch r.IntN(calm) {
		case 0: // it has gone
			continue
		case 1:
			e.Conditions = oneOf(r, endpoints.Ready|endpoints.Serving, endpoints.Serving|endpoints.Terminating, 0)
		}
		want = append(want, e)
	}
	for range r.IntN(most) {
		node := r.IntN(nodes)
		want = append(want, Entry{ID: id, Slice: NoSlice, State: State{
			IP: netip.AddrFrom4([4]byte{10, 0, byte(id >> 8), byte(id)}), Node: node, Conditions: oneOf(r, endpoints.Ready|endpoints.Serving, endpoints.Ready|endpoints.Serving, 0),
		}})
		id++
	}
	return want
}

// shown are the endpoints of a Service by slice: how many, how many of them ready, the hints of these, zone by zone, and a sum of who has which.
func shown(list []Entry) string {
	var out []string
	for _, n := range slicesOf(list) {
		part := PartsOf(list, []int{n})[0]
		ready, hints, who := 0, map[string]int{}, fnv.New32a()
		for i := range part {
			if part[i].Conditions.Ready() {
				ready++
			}
			if part[i].Hint != (Hint{}) {
				hints[part[i].Hint.Zone]++
				fmt.Fprintln(who, part[i].ID, part[i].Hint)
			}
		}
		out = append(out, fmt.Sprintf("%d: %d of %d %v %04x", n, ready, len(part), hints, who.Sum32()>>16))
	}
	return strings.Join(out, ", ")
}

// What comes of drawn Services whose endpoints are hinted by the CPU of zones is kept, write by write. Whatever is drawn: only ready endpoints
// have hints, all of them or none, each for a zone that there is, and each slice that says something else than before is written.
func TestProportionalHintsOfDrawnServices(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 7)) //nolint:gosec // the same each time
		nodes := zones(r)
		h := Hinting{Mode: world.HintsProportional, shares: shares(nodes)}
		fmt.Fprintf(&text, "%d %v\n", seed, h.shares)
		var have []Entry
		most, calm := oneOf(r, 3, 12, 130), oneOf(r, 6, 50, 500)
		for range 6 {
			want := next(r, have, len(nodes), most, calm)
			touched := h.Proportional(have, want, Pack(have, want), nodes)
			fmt.Fprintf(&text, "  %v %s\n", touched, shown(want))
			sound(t, seed, have, want, touched, h.shares)
			have = want
		}
	}
	golden.Compare(t, keptHints, text.String(), *update)
}

// sound holds what a step comes to to what is always so.
func sound(t *testing.T, seed uint64, have, want []Entry, touched []int, of []share) {
	t.Helper()
	hinted, ready := 0, 0
	for i := range want {
		e := &want[i]
		if e.Conditions.Ready() {
			ready++
		}
		if e.Hint == (Hint{}) {
			continue
		}
		hinted++
		if !e.Conditions.Ready() || !slices.ContainsFunc(of, func(s share) bool { return s.zone == e.Hint.Zone }) {
			t.Errorf("seed %d: %v has a hint for %q", seed, e.ID, e.Hint.Zone)
		}
	}
	if hinted != 0 && hinted != ready {
		t.Errorf("seed %d: %d of %d ready endpoints have hints", seed, hinted, ready)
	}
	Merge(have, want, func(a, b *Entry) {
		switch {
		case a == nil && !slices.Contains(touched, b.Slice), b == nil && !slices.Contains(touched, a.Slice),
			a != nil && b != nil && a.State != b.State && !slices.Contains(touched, b.Slice):
			t.Errorf("seed %d: %v and %v, but only %v is written", seed, a, b, touched)
		}
	})
}
