package cluster

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// maxEndpointsPerSlice is the EndpointSlice controller's default.
const maxEndpointsPerSlice = 100

// sliceController writes EndpointSlices from pods (k8s.io/endpointslice 0.36.3; verified).
type sliceController struct {
	w     *World
	owner engine.Owner
	react *reaction
	pods  []podList // by workload: what its watch has shown
	// written is, per service, what the controller last wrote. inFlight counts the writes that
	// its own watch has not shown it yet: a sync meanwhile finds a stale cache and backs off.
	written  [][]entry
	spare    [][]entry // lists of before, to be written over
	inFlight []int
	backoff  []engine.Time
	limit    limiter
	// busy counts a service's writes without an answer: its next sync waits for them, and is
	// due at once if again is set.
	busy  []int
	again []bool
}

func newSliceController(w *World) *sliceController {
	n := len(w.sc.Services)
	c := &sliceController{
		w: w, owner: w.eng.Register("endpointslice-controller"), pods: make([]podList, len(w.sc.Workloads)),
		written: make([][]entry, n), spare: make([][]entry, n), inFlight: make([]int, n), backoff: make([]engine.Time, n),
		busy: make([]int, n), again: make([]bool, n), limit: newLimiter(),
	}
	c.react = newReaction(w, c.owner, "endpointslice-controller", w.sc.Latency.SliceController, c.sync)
	w.store.subscribe("endpointslice-controller", c.owner, w.sc.Latency.Watch, c.deliver, kindPod, kindSlices)
	return c
}

func (c *sliceController) deliver(o object) {
	switch o := o.(type) {
	case *Pod:
		if old := c.pods[o.Workload].set(o); !relevant(old, o) {
			return
		}
		for _, s := range c.w.servicesOf(o.Workload) {
			c.react.enqueue(s)
		}
	case *sliceWrite:
		c.inFlight[o.service]--
	}
}

// relevant says whether a change of a pod can change a slice.
func relevant(old, p *Pod) bool {
	return old == nil || p.Gone || old.Deleting() != p.Deleting() || old.Ready != p.Ready ||
		old.IP != p.IP || old.Phase.Terminal() != p.Phase.Terminal()
}

// sliceWrite is one write of one EndpointSlice, as watches hear of it.
type sliceWrite struct {
	service int
	view    *View
	records []netip.Addr // of a headless Service: all its ready addresses
}

// The back-off of a sync that found its cache stale doubles from 1 s.
const (
	staleBackoff   = engine.Second
	longestBackoff = 1000 * engine.Second
)

// sync writes every slice of a service that has to change, unless the controller's watch has
// not shown it yet what it wrote last: then it comes back later.
func (c *sliceController) sync(service int) {
	if c.busy[service] > 0 {
		c.again[service] = true
		return
	}
	if c.inFlight[service] > 0 {
		c.backoff[service] = min(longestBackoff, max(staleBackoff, 2*c.backoff[service]))
		c.react.enqueueAt(c.w.eng.Now()+c.backoff[service], service)
		return
	}
	c.backoff[service] = 0
	touched := c.reconcile(service)
	for i, part := range partsOf(c.written[service], touched) {
		c.writeSlice(service, touched[i], part)
	}
}

// reconcile decides what a service's slices are to say, and returns those to write.
func (c *sliceController) reconcile(service int) []int {
	have, want := c.written[service], c.w.endpointsOf(c.spare[service][:0], service, c.w.podsBehind(service, c.pods))
	touched := pack(have, want)
	if h := c.w.services[service].hints; h.mode == scenario.HintsProportional {
		touched = h.proportional(have, want, touched, c.w.sc.Nodes)
	}
	c.written[service], c.spare[service] = want, have
	return touched
}

// pack decides which slices change when a service's endpoints become want, in what order they
// are written, and places those of want (k8s.io/endpointslice 0.36.3 reconciler.go,
// reconcileByPortMapping; verified). An empty slice counts as one that does not exist. Hints
// are not compared: they do not differ where nothing else does, or follow later.
func pack(have, want []entry) []int {
	counts, touched := map[int]int{}, map[int]bool{}
	var added []*entry
	merge(have, want, func(a, b *entry) {
		switch {
		case a == nil:
			added = append(added, b)
		case b == nil:
			touched[a.slice] = true
		default:
			b.slice = a.slice
			counts[b.slice]++
			if a.unhinted() != b.unhinted() {
				touched[b.slice] = true
			}
		}
	})
	fill := func(n int) {
		for len(added) > 0 && counts[n] < maxEndpointsPerSlice {
			added[0].slice = n
			counts[n]++
			touched[n] = true
			added = added[1:]
		}
	}
	// Slices that change anyway are filled first, the fullest before the others.
	changing := slices.DeleteFunc(slices.Sorted(maps.Keys(touched)), func(n int) bool { return counts[n] == 0 })
	slices.SortStableFunc(changing, func(a, b int) int { return counts[b] - counts[a] })
	for _, n := range changing {
		fill(n)
	}
	for len(added) > 0 {
		fill(sliceToFill(counts, touched, len(added)))
	}
	return slices.Sorted(maps.Keys(touched))
}

// sliceToFill returns the unchanged slice that is closest to full with so many more endpoints,
// or a new one when none has the room.
func sliceToFill(counts map[int]int, touched map[int]bool, more int) int {
	best, closest := -1, maxEndpointsPerSlice
	for _, n := range slices.Sorted(maps.Keys(counts)) {
		room := maxEndpointsPerSlice - counts[n] - more
		if counts[n] > 0 && !touched[n] && room >= 0 && room < closest {
			best, closest = n, room
		}
	}
	for n := 0; best < 0; n++ {
		if counts[n] == 0 {
			best = n
		}
	}
	return best
}

func (c *sliceController) writeSlice(service, n int, part []entry) {
	built := c.w.buildSlice(service, n, part)
	c.inFlight[service]++
	c.busy[service]++
	c.w.store.limited(&c.limit, c.owner, "write slice", key{kindSlices, service, n}, func(object) object {
		out := &sliceWrite{service: service, view: c.w.publish(service, n, part, built)}
		if c.w.services[service].headless {
			out.records = recordsOf(c.w.slicesInAPI(service))
		}
		return out
	}, func() {
		c.busy[service]--
		if c.busy[service] == 0 && c.again[service] {
			c.again[service] = false
			c.react.enqueue(service)
		}
	})
}

// buildSlice makes the EndpointSlice object of some entries.
func (w *World) buildSlice(service, n int, part []entry) *discoveryv1.EndpointSlice {
	svc := w.sc.Services[service].Service
	s := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: svc.Namespace, Name: fmt.Sprintf("%s-%05d", svc.Name, n),
			Labels: map[string]string{discoveryv1.LabelServiceName: svc.Name},
		},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       w.slicePorts(service),
		Endpoints:   make([]discoveryv1.Endpoint, 0, len(part)),
	}
	for _, e := range part {
		s.Endpoints = append(s.Endpoints, w.endpoint(e.id, e.endpointState))
	}
	return s
}

// writtenPod is what the entries of a pod have in common, whichever slice they are in. Nobody changes it: a
// slice is written for each change of one of its hundred pods.
type writtenPod struct {
	ip        netip.Addr
	addresses []string
	ref       corev1.ObjectReference
	are       [2]bool // no, yes
}

// writtenOf returns that of a pod.
func (w *World) writtenOf(id PodID, ip netip.Addr) *writtenPod {
	p := w.pods[id]
	if p.written == nil || p.written.ip != ip {
		p.written = &writtenPod{ip: ip, addresses: []string{ip.String()}, ref: corev1.ObjectReference{Kind: "Pod", Name: p.name}, are: [2]bool{false, true}}
	}
	return p.written
}

// say returns a condition.
func (o *writtenPod) say(yes bool) *bool {
	if yes {
		return &o.are[1]
	}
	return &o.are[0]
}

// endpoint makes one entry of a slice.
func (w *World) endpoint(id PodID, e endpointState) discoveryv1.Endpoint {
	node, pod := &w.sc.Nodes[e.node], w.writtenOf(id, e.ip) // which nobody changes
	out := discoveryv1.Endpoint{
		Addresses:  pod.addresses,
		NodeName:   &node.Name,
		Conditions: discoveryv1.EndpointConditions{Ready: pod.say(e.conditions.Ready()), Serving: pod.say(e.conditions.Serving()), Terminating: pod.say(e.conditions.Terminating())},
		TargetRef:  &pod.ref,
	}
	if node.Zone != "" {
		out.Zone = &node.Zone
	}
	if e.hint == (hint{}) {
		return out
	}
	out.Hints = &discoveryv1.EndpointHints{}
	if e.hint.zone != "" {
		out.Hints.ForZones = []discoveryv1.ForZone{{Name: e.hint.zone}}
	}
	if e.hint.node {
		out.Hints.ForNodes = []discoveryv1.ForNode{{Name: node.Name}}
	}
	return out
}
