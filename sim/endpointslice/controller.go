package endpointslice

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/control"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/nodeproxy"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Controller writes EndpointSlices from pods (k8s.io/endpointslice 0.36.3; verified).
type Controller struct {
	d     *control.Desk
	api   API
	Owner engine.Owner
	react *control.Queue
	pods  []api.PodList  // by workload: what its watch has shown
	seen  []*api.Service // the same of the Services, nil for those that have not changed
	ports []int          // by service: Ports of the Service that its slices were last written for
	// written is, per service, what the controller last wrote. inFlight counts the writes that
	// its own watch has not shown it yet: a sync meanwhile finds a stale cache and backs off.
	written  [][]Entry
	spare    [][]Entry // lists of before, to be written over
	inFlight []int
	backoff  []engine.Time
	limit    api.Limiter
	// busy counts a service's writes without an answer: its next sync waits for them, and is
	// due at once if again is set.
	busy  []int
	again []bool
}

// API is what the controller knows of Services, by number, and where its slices go.
type API interface {
	// ServicesOf lists the Services that select the pods of a workload.
	ServicesOf(workload int) []int
	// EndpointsOf appends the endpoints of a Service that some pods, by workload, amount to, in order of ID. None has a slice yet.
	// selects is the Service as it is known, nil for the one of the manifests.
	EndpointsOf(out []Entry, service int, selects *api.Service, pods []api.PodList) []Entry
	// Hinting is how the endpoints of a Service are hinted.
	Hinting(service int) *Hinting
	// SliceOf prepares the n-th slice of a Service for a write, with one of the lists of ports that the Service has had; commit puts it
	// into the API, or returns nil where the Service is gone.
	SliceOf(service, n, ports int, part []Entry) (commit func() api.Object)
}

// New returns the controller of so many Services, at rest.
func New(d *control.Desk, services int, known API) *Controller {
	n := services
	c := &Controller{
		d: d, api: known, Owner: d.Engine.Register("endpointslice-controller"), pods: make([]api.PodList, len(d.Workloads)),
		written: make([][]Entry, n), spare: make([][]Entry, n), inFlight: make([]int, n), backoff: make([]engine.Time, n),
		busy: make([]int, n), again: make([]bool, n), limit: control.NewClient(), seen: make([]*api.Service, n), ports: make([]int, n),
	}
	c.react = control.NewQueue(d, c.Owner, "endpointslice-controller", d.Latencies.SliceController, c.sync)
	d.API.Subscribe("endpointslice-controller", c.Owner, d.Latencies.Watch, c.deliver, api.KindPod, api.KindSlices, api.KindService)
	return c
}

// Know has the controller's watch have shown a pod before anything happens.
func (c *Controller) Know(p *api.Pod) { c.pods[p.Workload].Set(p) }

// Begin has the controller have written the slices of a Service before anything happens, and returns what they say.
func (c *Controller) Begin(service int) []Entry {
	c.reconcile(service)
	return c.written[service]
}

func (c *Controller) deliver(o api.Object) {
	switch o := o.(type) {
	case *api.Pod:
		if old := c.pods[o.Workload].Set(o); !relevant(old, o) {
			return
		}
		for _, s := range c.api.ServicesOf(o.Workload) {
			c.react.Add(s)
		}
	case *api.Service:
		c.seen[o.Number] = o
		if o.Gone { // its slices go with it
			c.written[o.Number] = nil
			return
		}
		c.react.Add(o.Number)
	case *nodeproxy.SliceWrite:
		c.inFlight[o.Service]--
	}
}

// relevant says whether a change of a pod can change a slice.
func relevant(old, p *api.Pod) bool {
	return old == nil || p.Gone || old.Deleting() != p.Deleting() || old.Ready != p.Ready ||
		old.IP != p.IP || old.Phase.Terminal() != p.Phase.Terminal() || !old.SameLabels(p)
}

// The back-off of a sync that found its cache stale doubles from 1 s.
const (
	staleBackoff   = engine.Second
	longestBackoff = 1000 * engine.Second
)

// sync writes every slice of a service that has to change, unless the controller's watch has
// not shown it yet what it wrote last: then it comes back later.
func (c *Controller) sync(service int) {
	if s := c.seen[service]; s != nil && s.Gone {
		return
	}
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
	for i, part := range PartsOf(c.written[service], touched) {
		c.writeSlice(service, touched[i], part)
	}
}

// reconcile decides what a service's slices are to say, and returns those to write.
func (c *Controller) reconcile(service int) []int {
	have, want := c.written[service], c.api.EndpointsOf(c.spare[service][:0], service, c.seen[service], c.pods)
	touched := Pack(have, want)
	if h := c.api.Hinting(service); h.Mode == world.HintsProportional {
		touched = h.Proportional(have, want, touched, c.d.Nodes)
	}
	c.written[service], c.spare[service] = want, have
	if s := c.seen[service]; s != nil && s.Ports != c.ports[service] {
		c.ports[service] = s.Ports
		touched = all(want, touched)
	}
	return touched
}

// all are the slices of some entries, and those that are touched: other ports have each of them written anew. (The old slices are
// written over, as none of other ports is left to fit: k8s.io/endpointslice 0.36.3 reconciler.go, finalize; verified.)
func all(entries []Entry, touched []int) []int {
	out := slices.Clone(touched)
	for i := range entries {
		out = append(out, entries[i].Slice)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (c *Controller) writeSlice(service, n int, part []Entry) {
	commit, gone := c.api.SliceOf(service, n, c.ports[service], part), false
	c.inFlight[service]++
	c.busy[service]++
	c.d.API.Limited(&c.limit, c.Owner, "write slice", api.SliceKey(service, n), func(api.Object) api.Object {
		slice := commit()
		gone = slice == nil
		return slice
	}, func() {
		if gone { // its watch will show nothing of that
			c.inFlight[service]--
		}
		c.busy[service]--
		if c.busy[service] == 0 && c.again[service] {
			c.again[service] = false
			c.react.Add(service)
		}
	})
}
