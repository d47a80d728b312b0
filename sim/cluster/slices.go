package cluster

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// maxEndpointsPerSlice is the EndpointSlice controller's default.
const maxEndpointsPerSlice = 100

// View is what the API server holds of Services and EndpointSlices at one moment: what a
// service proxy sees when its watch has caught up. Views are numbered from 1 and immutable.
type View struct {
	Number   uint64
	At       engine.Time
	Snapshot *endpoints.Snapshot
}

// endpointState is what the controller writes of one pod.
type endpointState struct {
	ip         netip.Addr
	node       int
	conditions endpoints.Conditions
}

// sliceController writes EndpointSlices from pods (k8s.io/endpointslice 0.36.3; verified).
type sliceController struct {
	w     *World
	owner engine.Owner
	react reaction
	pods  map[PodID]*Pod
	// written is, per service, what the controller last wrote; shown is false until its own
	// watch has shown it the write: a sync meanwhile finds a stale cache and backs off.
	written  []map[PodID]endpointState
	place    []map[PodID]int // slice number of each endpoint
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
		w: w, owner: w.eng.Register("endpointslice-controller"), pods: map[PodID]*Pod{},
		written: make([]map[PodID]endpointState, n), place: make([]map[PodID]int, n),
		inFlight: make([]int, n), backoff: make([]engine.Time, n),
		busy: make([]int, n), again: make([]bool, n), limit: newLimiter(controllerQPS, controllerBurst),
	}
	for i := range n {
		c.written[i], c.place[i] = map[PodID]endpointState{}, map[PodID]int{}
	}
	c.react = newReaction(w, c.owner, "endpointslice-controller", w.sc.Latency.SliceController, c.sync)
	w.store.subscribe("endpointslice-controller", c.owner, w.sc.Latency.Watch, c.deliver, kindPod, kindSlices)
	return c
}

func (c *sliceController) deliver(o object) {
	switch o := o.(type) {
	case *Pod:
		old := c.pods[o.ID]
		if o.Gone {
			delete(c.pods, o.ID)
		} else {
			c.pods[o.ID] = o
		}
		if !relevant(old, o) {
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

// stateOf is a pod's entry, ok false when it has none: no address yet, or done.
func (c *sliceController) stateOf(p *Pod, service int) (endpointState, bool) {
	return endpointOf(p, c.w.publishesNotReady(service))
}

func endpointOf(p *Pod, publishNotReady bool) (endpointState, bool) {
	if p == nil || p.Gone || !p.IP.IsValid() || p.Phase.Terminal() {
		return endpointState{}, false
	}
	var cond endpoints.Conditions
	if p.Ready {
		cond |= endpoints.Serving
	}
	if p.Deleting() {
		cond |= endpoints.Terminating
	}
	if publishNotReady || p.Ready && !p.Deleting() {
		cond |= endpoints.Ready
	}
	return endpointState{p.IP, p.Node, cond}, true
}

// sliceWrite is one write of one EndpointSlice, as watches hear of it.
type sliceWrite struct {
	service int
	view    *View
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
	want := map[PodID]endpointState{}
	for _, id := range c.members(service) {
		if e, in := c.stateOf(c.pods[id], service); in {
			want[id] = e
		}
	}
	touched := pack(c.written[service], c.place[service], want)
	c.written[service] = want
	for _, n := range touched {
		c.writeSlice(service, n)
	}
}

// pack decides which slices change when a service's endpoints become want, in what order they
// are written, and brings place up to date (k8s.io/endpointslice 0.36.3 reconciler.go,
// reconcileByPortMapping; verified). An empty slice counts as one that does not exist.
func pack(have map[PodID]endpointState, place map[PodID]int, want map[PodID]endpointState) []int {
	counts, touched := map[int]int{}, map[int]bool{}
	for _, id := range slices.Sorted(maps.Keys(have)) {
		n := place[id]
		e, keep := want[id]
		if e != have[id] || !keep {
			touched[n] = true
		}
		if keep {
			counts[n]++
		} else {
			delete(place, id)
		}
	}
	var added []PodID
	for _, id := range slices.Sorted(maps.Keys(want)) {
		if _, had := have[id]; !had {
			added = append(added, id)
		}
	}
	fill := func(n int) {
		for len(added) > 0 && counts[n] < maxEndpointsPerSlice {
			place[added[0]] = n
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

// members lists the pods that are or were endpoints of a service, by ID.
func (c *sliceController) members(service int) []PodID {
	var ids []PodID
	for _, id := range slices.Sorted(maps.Keys(c.pods)) {
		if c.w.selects(service, c.pods[id].Workload) {
			ids = append(ids, id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.written[service])) {
		if c.pods[id] == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

func (c *sliceController) writeSlice(service, n int) {
	part, built := c.part(service, n), c.build(service, n)
	c.inFlight[service]++
	c.busy[service]++
	c.w.store.limited(&c.limit, c.owner, "write slice", key{kindSlices, service, n}, func(object) object {
		return &sliceWrite{service, c.w.publish(service, n, part, built)}
	}, func() {
		c.busy[service]--
		if c.busy[service] == 0 && c.again[service] {
			c.again[service] = false
			c.react.enqueue(service)
		}
	})
}

// part returns the entries of one slice.
func (c *sliceController) part(service, n int) map[PodID]endpointState {
	part := map[PodID]endpointState{}
	for id, e := range c.written[service] { // order: copied to a map
		if c.place[service][id] == n {
			part[id] = e
		}
	}
	return part
}

// build makes the EndpointSlice object from what was decided.
func (c *sliceController) build(service, n int) *discoveryv1.EndpointSlice {
	svc := c.w.sc.Services[service].Service
	s := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: svc.Namespace, Name: fmt.Sprintf("%s-%d", svc.Name, n),
			Labels: map[string]string{discoveryv1.LabelServiceName: svc.Name},
		},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       c.w.slicePorts(service),
	}
	for _, id := range slices.Sorted(maps.Keys(c.written[service])) {
		if c.place[service][id] == n {
			s.Endpoints = append(s.Endpoints, c.w.endpoint(id, c.written[service][id]))
		}
	}
	return s
}

// endpoint makes one entry of a slice.
func (w *World) endpoint(id PodID, e endpointState) discoveryv1.Endpoint {
	node := w.sc.Nodes[e.node]
	ready, serving, terminating := e.conditions.Ready(), e.conditions.Serving(), e.conditions.Terminating()
	out := discoveryv1.Endpoint{
		Addresses:  []string{e.ip.String()},
		NodeName:   &node.Name,
		Conditions: discoveryv1.EndpointConditions{Ready: &ready, Serving: &serving, Terminating: &terminating},
		TargetRef:  &corev1.ObjectReference{Kind: "Pod", Name: w.podName(id)},
	}
	if node.Zone != "" {
		out.Zone = &node.Zone
	}
	return out
}
