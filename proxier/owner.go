package proxier

import (
	"reflect"
	"slices"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/healthcheck"
	"github.com/lameduck-proxy/lameduck/proxier/pace"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// owner holds all that changes. It is told what happened and when, and says what is to be done;
// it waits for nothing.
type owner struct {
	opts    Options
	publish func(Status)
	epoch   time.Time // zero of pace's clock

	cache    *endpoints.Cache
	node     *plan.Node // nil until it is known
	synced   bool
	problems problems
	triggers triggers

	state  pace.State
	writes struct{ services, slices int } // deliveries that no sync has taken up
	// since is when the oldest change came that no sync has taken up, by family.
	since [2]time.Time

	plan     *plan.Plan         // what the last sync was to put in force
	rebuild  bool               // plan is of another node
	table    *healthcheck.Table // of the same Snapshot as plan
	status   Status
	syncing  *Sync                   // under way
	cleaning bool                    // flows have to be looked through, or are being
	unclean  []endpoints.ServiceName // changed since flows were last looked through
}

func newOwner(o Options, publish func(Status)) *owner {
	return &owner{opts: o, publish: publish, cache: endpoints.NewCache(o.Behaviour), problems: newProblems(o), triggers: triggers{}}
}

// outcome is what became of a piece of work: a sync or a cleaning.
type outcome struct {
	cleaning  bool
	forgotten [2]int
	start     time.Time
	end       time.Time
	err       error
}

func (o *owner) start(now time.Time) {
	if o.epoch.IsZero() {
		o.epoch = now
	}
}

// take takes up deliveries. What they mean for the rules is left to the next sync.
func (o *owner) take(b batch, now time.Time) {
	o.writes.services += b.serviceWrites
	o.writes.slices += b.sliceWrites
	o.status.Services.Total += b.serviceWrites
	o.status.Slices.Total += b.sliceWrites
	for name, svc := range b.services { // order: each is independent of all others
		if svc == nil {
			o.cache.DeleteService(name)
			o.problems.heard("Service", name.Namespace, name.Name, nil)
			continue
		}
		o.problems.heard("Service", name.Namespace, name.Name, o.cache.SetService(svc))
	}
	for name, s := range b.slices { // order: each is independent of all others
		if s == nil {
			o.cache.DeleteSlice(name.namespace, name.name)
			o.triggers.forget(name)
			o.problems.heard("EndpointSlice", name.namespace, name.name, nil)
			continue
		}
		o.triggers.add(name, s, o.epoch)
		o.problems.heard("EndpointSlice", name.namespace, name.name, o.cache.SetSlice(s))
	}
	if o.cache.Pending() {
		o.changed(now, familiesOf(&b, o.opts.Families))
	}
	o.takeNode(&b, now)
	if b.pace != nil {
		o.opts.Pace = *b.pace
	}
	if b.synced && !o.synced {
		o.synced = true
		o.state.Change(now.Sub(o.epoch))
	}
	o.show()
}

// takeNode takes up what is particular to the node.
func (o *owner) takeNode(b *batch, now time.Time) {
	if b.state != nil {
		o.status.Node = *b.state
	}
	if b.node == nil {
		return
	}
	node := *b.node
	node.Options = o.opts.Behaviour
	if o.node != nil && reflect.DeepEqual(*o.node, node) {
		return
	}
	o.node, o.rebuild = &node, true
	o.changed(now, o.opts.Families)
}

// changed notes that the rules have to follow something.
func (o *owner) changed(now time.Time, families []endpoints.IPFamily) {
	o.state.Change(now.Sub(o.epoch))
	for _, f := range families {
		if o.since[f].IsZero() {
			o.since[f] = now
		}
		o.status.QueuedAt[f] = now
		o.status.Proxy = o.status.Proxy.Queued(f, now)
	}
}

// familiesOf says which of the families deliveries may concern: EndpointSlices are of one.
func familiesOf(b *batch, all []endpoints.IPFamily) []endpoints.IPFamily {
	var v4, v6 bool
	for _, s := range b.slices { // order: a union does not depend on it
		v4 = v4 || s == nil || s.AddressType != discoveryv1.AddressTypeIPv6
		v6 = v6 || s == nil || s.AddressType != discoveryv1.AddressTypeIPv4
	}
	if len(b.services) > 0 || v4 == v6 {
		return all
	}
	only := endpoints.IPv4
	if v6 {
		only = endpoints.IPv6
	}
	if !slices.Contains(all, only) {
		return nil
	}
	return []endpoints.IPFamily{only}
}

// disturbed notes that another program has changed the rules.
func (o *owner) disturbed(now time.Time) { o.state.Change(now.Sub(o.epoch)) }

// show publishes what is known.
func (o *owner) show() {
	o.status.Services.Pending, o.status.Slices.Pending = 0, 0
	if o.cache.Pending() {
		o.status.Services.Pending, o.status.Slices.Pending = o.writes.services, o.writes.slices
	}
	o.publish(o.status)
}

// next returns the work that is due, nil if there is none; then, how long it is until there is, 0
// if that depends on what is delivered. Work may run anywhere; finish is to get its outcome before
// the next call.
func (o *owner) next(now time.Time) (work func() outcome, wait time.Duration) {
	if o.cleaning {
		return o.clean(now), 0
	}
	if !o.synced || o.node == nil {
		return nil, 0
	}
	at, full, never := o.opts.Pace.Next(o.state)
	switch wait := at - now.Sub(o.epoch); {
	case never:
		return nil, 0
	case wait > 0:
		return nil, wait
	default:
		return o.sync(now, full), 0
	}
}

// sync takes up all changes, and returns the work of putting them in force.
func (o *owner) sync(now time.Time, full bool) func() outcome {
	snap := o.cache.Snapshot()
	s := &Sync{Start: now, Full: full || o.rebuild, Services: snap.Changed(), ServiceWrites: o.writes.services, SliceWrites: o.writes.slices}
	if s.Full {
		// From scratch: if an Update ever went wrong, it ends here.
		o.plan, o.table = plan.Build(snap, o.node), healthcheck.NewTable(snap, o.node.Name)
	} else {
		o.plan, s.Delta = plan.Update(o.plan, snap, snap.Changed())
		o.table = o.table.Next(snap)
	}
	s.Plan = o.plan
	if o.opts.Conntrack != nil {
		o.unclean = append(o.unclean, snap.Changed()...)
	}
	o.triggers.take()
	o.state.Begin(o.opts.Pace, now.Sub(o.epoch))
	o.rebuild = false
	o.since = [2]time.Time{}
	o.writes.services, o.writes.slices = 0, 0
	o.syncing = s
	o.show() // nothing is pending any more
	backend := o.opts.Backend
	return func() outcome {
		var err error
		if s.Full {
			err = backend.Resync(s.Plan)
		} else {
			err = backend.Apply(s.Plan, s.Delta)
		}
		return outcome{start: s.Start, end: time.Now(), err: err}
	}
}

// clean returns the work of looking through the flows.
func (o *owner) clean(now time.Time) func() outcome {
	conntrack := o.opts.Conntrack
	return func() outcome {
		n, err := conntrack.Clean()
		return outcome{cleaning: true, forgotten: n, start: now, end: time.Now(), err: err}
	}
}

// follow tells the clean-up of connection tracking of the Plan in force.
func (o *owner) follow() {
	if o.opts.Conntrack == nil {
		return
	}
	changed := o.unclean
	o.unclean = nil
	slices.SortFunc(changed, endpoints.ServiceName.Compare)
	o.cleaning = o.opts.Conntrack.Follow(o.plan, slices.Compact(changed))
}

// finish takes note of the outcome of work.
func (o *owner) finish(r outcome) {
	if r.cleaning {
		o.state.Rest(r.end.Sub(o.epoch)) // the next sync waits for the flows, as upstream
		o.cleaned(r)
		return
	}
	s := o.syncing
	o.syncing = nil
	o.state.End(r.end.Sub(o.epoch), s.Full, r.err != nil)
	s.End, s.Err = r.end, r.err
	if r.err != nil {
		o.failed(r.end)
	} else {
		o.succeeded(s)
	}
	o.show()
	s.Status = o.status
	o.report(s)
}

// failed: the rules are those of before, so that what was to be put in force still waits.
func (o *owner) failed(now time.Time) {
	for _, f := range o.opts.Families {
		o.status.Proxy = o.status.Proxy.Queued(f, now)
	}
}

func (o *owner) succeeded(s *Sync) {
	s.Triggers = o.triggers.settle()
	o.status.Table = o.table
	for _, f := range o.opts.Families {
		o.status.Proxy = o.status.Proxy.Updated(f, s.End)
		if since := o.since[f]; !since.IsZero() {
			// It came while the sync ran. Upstream forgets it until the next change comes.
			o.status.Proxy = o.status.Proxy.Queued(f, since)
		}
	}
	o.follow()
}

func (o *owner) report(s *Sync) {
	switch {
	case s.Err != nil:
		o.opts.Log.Error(s.Err, "sync failed: the rules are those of before", "failures", o.state.Failures, "full", s.Full)
	case s.Full:
		o.opts.Log.V(1).Info("synced in full", "services", s.Plan.Len(), "took", s.End.Sub(s.Start))
	}
	if o.opts.Observer != nil {
		o.opts.Observer(*s)
	}
}

func (o *owner) cleaned(r outcome) {
	o.cleaning = false
	if r.err != nil {
		o.opts.Log.Error(r.err, "flows are not cleaned up: again after the next sync")
	}
	if o.opts.Cleaned != nil {
		o.opts.Cleaned(Cleaning{Start: r.start, End: r.end, Forgotten: r.forgotten, Err: r.err})
	}
}
