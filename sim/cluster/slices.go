package cluster

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/control"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/nodeproxy"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// maxEndpointsPerSlice is the EndpointSlice controller's default.
const maxEndpointsPerSlice = 100

// sliceController writes EndpointSlices from pods (k8s.io/endpointslice 0.36.3; verified).
type sliceController struct {
	d     *control.Desk
	api   endpointsAPI
	owner engine.Owner
	react *control.Queue
	pods  []api.PodList // by workload: what its watch has shown
	// written is, per service, what the controller last wrote. inFlight counts the writes that
	// its own watch has not shown it yet: a sync meanwhile finds a stale cache and backs off.
	written  [][]entry
	spare    [][]entry // lists of before, to be written over
	inFlight []int
	backoff  []engine.Time
	limit    api.Limiter
	// busy counts a service's writes without an answer: its next sync waits for them, and is
	// due at once if again is set.
	busy  []int
	again []bool
}

// endpointsAPI is what the controller knows of Services, by number, and where its slices go.
type endpointsAPI interface {
	// ServicesOf lists the Services that select the pods of a workload.
	ServicesOf(workload int) []int
	// EndpointsOf appends the endpoints of a Service that some pods, by workload, amount to, in order of ID. None has a slice yet.
	EndpointsOf(out []entry, service int, pods []api.PodList) []entry
	// Hinting is how the endpoints of a Service are hinted.
	Hinting(service int) *hinting
	// SliceOf prepares the n-th slice of a Service for a write; commit puts it into the API.
	SliceOf(service, n int, part []entry) (commit func() api.Object)
}

func newSliceController(d *control.Desk, services int, known endpointsAPI) *sliceController {
	n := services
	c := &sliceController{
		d: d, api: known, owner: d.Engine.Register("endpointslice-controller"), pods: make([]api.PodList, len(d.Workloads)),
		written: make([][]entry, n), spare: make([][]entry, n), inFlight: make([]int, n), backoff: make([]engine.Time, n),
		busy: make([]int, n), again: make([]bool, n), limit: control.NewClient(),
	}
	c.react = control.NewQueue(d, c.owner, "endpointslice-controller", d.Latencies.SliceController, c.sync)
	d.API.Subscribe("endpointslice-controller", c.owner, d.Latencies.Watch, c.deliver, api.KindPod, api.KindSlices)
	return c
}

// know has the controller's watch have shown a pod before anything happens.
func (c *sliceController) know(p *api.Pod) { c.pods[p.Workload].Set(p) }

// begin has the controller have written the slices of a Service before anything happens, and returns what they say.
func (c *sliceController) begin(service int) []entry {
	c.reconcile(service)
	return c.written[service]
}

func (c *sliceController) deliver(o api.Object) {
	switch o := o.(type) {
	case *api.Pod:
		if old := c.pods[o.Workload].Set(o); !relevant(old, o) {
			return
		}
		for _, s := range c.api.ServicesOf(o.Workload) {
			c.react.Add(s)
		}
	case *nodeproxy.SliceWrite:
		c.inFlight[o.Service]--
	}
}

// relevant says whether a change of a pod can change a slice.
func relevant(old, p *api.Pod) bool {
	return old == nil || p.Gone || old.Deleting() != p.Deleting() || old.Ready != p.Ready ||
		old.IP != p.IP || old.Phase.Terminal() != p.Phase.Terminal()
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
		c.react.AddAt(c.d.Engine.Now()+c.backoff[service], service)
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
	have, want := c.written[service], c.api.EndpointsOf(c.spare[service][:0], service, c.pods)
	touched := pack(have, want)
	if h := c.api.Hinting(service); h.mode == world.HintsProportional {
		touched = h.proportional(have, want, touched, c.d.Nodes)
	}
	c.written[service], c.spare[service] = want, have
	return touched
}

// pack decides which slices change when a service's endpoints become want, in what order they
// are written, and places those of want (k8s.io/endpointslice 0.36.3 reconciler.go,
// reconcileByPortMapping; verified). An empty slice counts as one that does not exist. Hints
// are not compared: they do not differ where nothing else does, or follow later.
func pack(have, want []entry) []int {
	most := -1
	for i := range have {
		most = max(most, have[i].slice)
	}
	counts, touched := make([]int, most+1), make([]bool, most+1)
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
		if n == len(counts) {
			counts, touched = append(counts, 0), append(touched, false)
		}
		for len(added) > 0 && counts[n] < maxEndpointsPerSlice {
			added[0].slice = n
			counts[n]++
			touched[n] = true
			added = added[1:]
		}
	}
	// Slices that change anyway are filled first, the fullest before the others.
	changing := slices.DeleteFunc(numbersOf(touched), func(n int) bool { return counts[n] == 0 })
	slices.SortStableFunc(changing, func(a, b int) int { return counts[b] - counts[a] })
	for _, n := range changing {
		fill(n)
	}
	for len(added) > 0 {
		fill(sliceToFill(counts, touched, len(added)))
	}
	return numbersOf(touched)
}

// numbersOf lists the slices that are touched.
func numbersOf(touched []bool) []int {
	var out []int
	for n, is := range touched {
		if is {
			out = append(out, n)
		}
	}
	return out
}

// sliceToFill returns the unchanged slice that is closest to full with so many more endpoints,
// or the first that is empty when none has the room: a new one if all exist.
func sliceToFill(counts []int, touched []bool, more int) int {
	best, closest := -1, maxEndpointsPerSlice
	for n, count := range counts {
		room := maxEndpointsPerSlice - count - more
		if count > 0 && !touched[n] && room >= 0 && room < closest {
			best, closest = n, room
		}
	}
	for n := 0; best < 0; n++ {
		if n == len(counts) || counts[n] == 0 {
			best = n
		}
	}
	return best
}

func (c *sliceController) writeSlice(service, n int, part []entry) {
	commit := c.api.SliceOf(service, n, part)
	c.inFlight[service]++
	c.busy[service]++
	c.d.API.Limited(&c.limit, c.owner, "write slice", api.SliceKey(service, n), func(api.Object) api.Object { return commit() }, func() {
		c.busy[service]--
		if c.busy[service] == 0 && c.again[service] {
			c.again[service] = false
			c.react.Add(service)
		}
	})
}
