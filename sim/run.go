package sim

import (
	"cmp"
	"fmt"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/check"
	"github.com/lameduck-proxy/lameduck/sim/cluster"
	"github.com/lameduck-proxy/lameduck/sim/control"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/traffic"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Bounds of a run. Reaching one is an error with its name.
const (
	maxEvents   = 50_000_000
	keptFailed  = 1000
	defaultRTT  = 500 * engine.Microsecond // inside a cluster; recalled
	externalRTT = 10 * engine.Millisecond  // from outside; assumed
	settleTime  = 30 * engine.Second       // what a run goes on for after the last change
	longestRun  = engine.Hour              // what it goes on for after the last action, at most
)

// Result is what became of one run.
type Result struct {
	Seed      uint64
	TraceHash string
	Events    uint64
	End       engine.Time // of the run
	Settled   bool        // everything had settled
	Unrest    string      // what had not, if anything
	Ledger    *ledger.Ledger
	Streams   []StreamResult
	// Usable says, by workload of the scenario, how many pods could serve.
	Usable []cluster.Usable
	// Dark says, by workload, what a client would see that knows all pods.
	Dark []cluster.Dark
	// Gaps says of the StatefulSets how long each of their pods was gone.
	Gaps []Gaps
	// Stuck says why a rollout or a drain that was begun cannot end, nil when it came to its end.
	Stuck *control.Stuck
	// CannotEnd lists all of it: of a drain each workload with a pod that is refused. Drained are the nodes that are through.
	CannotEnd []control.Stuck
	Drained   []control.Drained
	// Overruled lists the nodes whose pods were deleted in the end, although a budget refused their evictions.
	Overruled []control.Overruled
	// Pods names the pods of the events, by PodID; nil without Options.Events.
	Pods []cluster.PodRef
}

// Gaps are those of one StatefulSet, in the order in which its pods went.
type Gaps struct {
	Workload int
	Pods     []cluster.Gap
	Most     int // pods that were gone at one moment
}

// StreamResult is what became of one stream of requests.
type StreamResult struct {
	Name string
	ledger.Totals
	// LostSeconds is failed requests divided by the offered rate: seconds of this traffic.
	LostSeconds engine.Time
	// LongestOutage is the longest time in which every new request failed, from the arrival of
	// the first to that of the last of them: no row that may be chance while others are answered.
	LongestOutage engine.Time
	// LongestWait is the longest time in which no server took a new request within a second: all of them failed, or waited.
	LongestWait engine.Time
	// Cuts are connections that ended with their server or were cut by a load balancer: of clients
	// whose requests share one.
	Cuts uint64
	// DarkSeconds is how long a client was without a server, the mean over the clients, and LongestDark
	// the longest that one was at a time: of clients whose requests share one connection. That
	// others than requests which failed may have waited for one does not matter. For a session
	// LostSeconds is never less than DarkSeconds, and LongestOutage never less than the longest time
	// in which no client had a server.
	DarkSeconds, LongestDark engine.Time
	// SlowSeconds and RescuedSeconds are the requests of Totals.Slow and Totals.Rescued as seconds
	// of this traffic.
	SlowSeconds, RescuedSeconds engine.Time
}

// NotSimulated is the error of a run that came to something which is not simulated: of its input, no
// fault of the simulator.
type NotSimulated struct{ error }

// Options are what a run may do besides. The zero Options ask for nothing, and none of them
// changes anything about the run.
type Options struct {
	// Events is told what happens, nil for nobody.
	Events *event.Log
	// Watch is handed every step of the trace, in order, with the name of the component an event
	// belongs to ("" for a request): two runs whose hashes differ are compared step by step.
	Watch func(step engine.Step, owner string)
	// Requests hears of every entry of the ledger.
	Requests ledger.Listener
	// Memory is used by the run, if it is not nil.
	Memory *Memory
	// Unlisted has no failed request kept by itself: Ledger.Failures is empty. Its figures and groups are as ever.
	Unlisted bool
	// DrawAll has every request followed on its own, none counted: Requests and Events hear
	// of each. Else they hear of those that are counted no more than how many there were.
	DrawAll bool
}

// Memory is what runs use one after the other, so that it is not allocated again for each. No Result has a part in it. It
// belongs to one run at a time; the zero Memory is empty.
type Memory struct {
	traffic traffic.Memory
	books   check.Books
}

// Run simulates a scenario with one seed. A run that breaks one of the invariants that hold in
// every world (see sim/check) is an error.
func Run(sc *world.Scenario, seed uint64) (*Result, error) {
	return RunWith(sc, seed, Options{})
}

// RunWith is Run with Options.
func RunWith(sc *world.Scenario, seed uint64, opts Options) (*Result, error) {
	if err := tooLarge(sc); err != nil {
		return nil, err
	}
	r, err := begin(sc, seed, opts)
	if err != nil {
		return nil, err
	}
	settled, err := r.loop()
	if err != nil {
		return nil, err
	}
	r.ledger.Seal()
	if err := r.verify(settled); err != nil {
		return nil, fmt.Errorf("scenario %s, seed %d: an invariant is broken: %w", sc.Name, seed, err)
	}
	res := r.result(settled)
	r.traffic.Leave(&r.memory.traffic)
	return res, nil
}

// begin returns a run of which nothing has happened yet.
func begin(sc *world.Scenario, seed uint64, opts Options) (*run, error) {
	sc = likeTheirs(sc, seed)
	eng := engine.New(seed, engine.Limits{Events: maxEvents})
	if opts.Watch != nil {
		eng.Hash().Watch(func(s engine.Step) {
			owner := ""
			if s.Words == nil {
				owner = eng.OwnerName(s.Owner)
			}
			opts.Watch(s, owner)
		})
	}
	mem := cmp.Or(opts.Memory, new(Memory))
	r := &run{sc: sc, eng: eng, opts: opts, lastAction: lastAction(sc), taking: longestTaking(sc), memory: mem, books: &mem.books}
	kept := keptFailed
	if opts.Unlisted {
		kept = 0
	}
	r.ledger = ledger.New(len(sc.Traffic), kept, eng.Hash())
	r.cluster = cluster.New(sc, eng, opts.Events, (*observer)(r))
	r.sc = placed(sc, r.cluster)
	if err := r.resolveEntries(); err != nil {
		return nil, err
	}
	if opts.Events != nil {
		var entries []cluster.Entry
		for i := range r.routes {
			entries = append(entries, r.routes[i].entry)
		}
		r.cluster.Tell(entries)
	}
	r.openForwarders()
	r.openControllers()
	r.traffic = r.memory.traffic.New((*network)(r), r.ledger, eng, r.specs())
	if opts.DrawAll {
		r.traffic.DrawAll()
	}
	r.watch()
	r.act()
	return r, nil
}

// run is one simulation under way.
type run struct {
	sc         *world.Scenario
	eng        *engine.Engine
	cluster    *cluster.World
	traffic    *traffic.Traffic
	ledger     *ledger.Ledger
	opts       Options
	memory     *Memory
	books      *check.Books
	flows      *check.Flows
	listed     []check.Endpoint   // by inForce, to be used again
	found      []found            // by stream and node
	seen       []map[uint64]*seen // by stream and View; nil where nodes differ
	routes     []routes           // by stream
	forwarders []*forwarder       // load balancers, by stream; nil for none
	inside     []*controller      // ingress controllers, by stream; nil for none
	broken     error              // the first thing the run itself noticed

	servers  []*server   // by pod
	lastNews engine.Time // when the world last changed by itself
	// lastAction is when the scenario's last action is over, but for who takes nodes away: that may go on for as long as taking.
	lastAction, taking engine.Time
	heldTo             engine.Time // the run does not end before, for clients connect again

	stepping bool // an event is being executed
	judged   judgements
}

// resolveEntries finds where each stream enters the cluster.
func (r *run) resolveEntries() error {
	for i := range r.sc.Traffic {
		t := r.sc.Traffic[i].ClientSide()
		e, ok := r.cluster.Entry(t)
		if !ok {
			return fmt.Errorf("traffic %s: no Service %s, or none of the nodes %v", t.Name, t.Service, t.Nodes)
		}
		r.routes = append(r.routes, routes{entry: e})
	}
	return nil
}

// What a Scenario may say of repeated SYNs is what clients can do.
const _ = uint(traffic.MostLinearSYNs - world.MostLinearSYNs)

func (r *run) specs() []traffic.Spec {
	var specs []traffic.Spec
	for i := range r.sc.Traffic {
		t := &r.sc.Traffic[i]
		spec := traffic.Spec{
			Name: t.Name, External: t.External, Clients: t.Clients, KeepAlive: t.KeepAlive, ClientIdle: t.ClientIdle, RepeatReused: t.RepeatReused,
			ConnectTimeout: t.ConnectTimeout, Timeout: t.Timeout, Retries: t.Retries, RTT: defaultRTT,
			Arrivals: traffic.Arrivals(t.Arrivals), WaitForReady: t.WaitForReady, Kind: kindOf(t),
			Unreachable: r.sc.Unreachable, UnreachableAfter: r.sc.UnreachableAfter, LinearSYNs: t.LinearSYNs,
		}
		if t.LB != nil {
			spec.ICMPFiltered, spec.IdleLimit, spec.IdleForgets = t.LB.ICMPFiltered, t.LB.Idle, t.LB.IdleForgets
		}
		spec.Proxy = proxyOf(t)
		if t.External {
			spec.RTT = externalRTT
		}
		if t.Rate > 0 {
			spec.Interval = 1000 * engine.Second / engine.Time(t.Rate)
		}
		specs = append(specs, spec)
	}
	return specs
}

// proxyOf is the L7 proxy on a stream's way, nil for none.
func proxyOf(t *world.Traffic) *traffic.Proxy {
	lb := t.LB
	if t.Ingress != nil {
		lb = t.Ingress.Proxy
	}
	if lb == nil || lb.Layer7 == nil {
		return nil
	}
	l := lb.Layer7
	return &traffic.Proxy{
		Served: t.Ingress != nil, RTT: defaultRTT,
		Retries: l.Retries, RetryReset: l.RetryOn == world.RetryReset, ConnectTimeout: l.ConnectTimeout, Idle: l.UpstreamIdle,
	}
}

// kindOf is over what a stream's requests go.
func kindOf(t *world.Traffic) traffic.Kind {
	switch {
	case t.Connection == world.ConnectionHTTP2:
		return traffic.HTTP2
	case t.Connection == world.ConnectionSession:
		return traffic.Session
	case t.Protocol == endpoints.UDP && t.FixedPorts:
		return traffic.FixedFlow
	case t.Protocol == endpoints.UDP:
		return traffic.Datagram
	case t.Named:
		return traffic.Named
	default:
		return traffic.PerRequest
	}
}

// loop lets clients and world take turns: clients do what they do before the next event, then
// the event happens. It ends when nothing has happened for a while after the last action and
// nothing is under way, or at Until; then nobody asks any more, and what is under way comes to
// its end.
func (r *run) loop() (settled bool, err error) {
	for {
		next := r.eng.Next()
		stop, settled := r.end(next)
		if next > stop {
			stop = r.dialled(stop, next)
		}
		if next > stop {
			r.traffic.Stop(stop)
			r.traffic.RunUntil(engine.Never)
			return settled, r.eng.RunUntil(stop)
		}
		r.traffic.RunUntil(next)
		r.stepping = true
		inVain := r.cluster.InVain()
		_, err := r.eng.Step()
		r.stepping = false
		if err != nil {
			return false, err
		}
		if r.cluster.InVain() == inVain { // a refused request changes nothing
			r.lastNews = r.eng.Now()
		}
	}
}

// end says when the run ends if nothing happens before, and whether all has settled then.
// A world that waits for something that takes long (an app that starts, a grace period,
// minReadySeconds) is quiet and not at rest. One whose pods wait to be restarted again and
// again never will be: it ends at the first quiet moment. Neither is one whose rollout has made
// no progress within its deadline, or cannot go on: it ends once a load balancer, and whatever does not wait for that, is through with
// what it has begun, for until then more is lost than in the end.
func (r *run) end(next engine.Time) (stop engine.Time, settled bool) {
	stop, settled = max(r.lastNews, r.lastAction)+settleTime, true
	stuck := next > stop && (r.cluster.Overdue() || r.cluster.CannotEnd() != nil)
	if stuck {
		settled = false // quiet, and not as it was to be: nothing more comes of it
	}
	if next > stop && next != engine.Never && r.unrest() != "" {
		settled = false
		if !stuck && !r.cluster.CrashLooping() || stuck && (r.balancing() != "" || r.cluster.Coming()) {
			stop = max(stop, r.lastAction+longestRun+r.taking, r.sc.Until)
		}
	}
	stop = max(stop, r.heldTo)
	if r.sc.Until > 0 && r.sc.Until < stop {
		stop, settled = r.sc.Until, false
	}
	return stop, settled
}

// longestDial is what a run goes on for, at most, until clients whose attempts to connect have failed have tried it again: the longest
// that they wait, and that an attempt takes.
const longestDial = 3 * engine.Minute

// dialled puts the end of a run off, which would be before the next event, until clients have connected again that wait after attempts
// which failed: what they lose meanwhile is no loss without an end. It is never before what clients have done already.
func (r *run) dialled(stop, next engine.Time) engine.Time {
	last := max(r.lastNews, r.lastAction) + settleTime + longestDial
	for next > stop && (r.sc.Until == 0 || stop < r.sc.Until) {
		r.traffic.RunUntil(stop)
		at := r.traffic.Redial() + engine.Second
		if at <= stop || at > last {
			break
		}
		if stop = at; r.sc.Until > 0 {
			stop = min(stop, r.sc.Until)
		}
		r.heldTo = stop
	}
	return stop
}

// unrest says what of the world is not as it is to be, "" for nothing.
func (r *run) unrest() string { return cmp.Or(r.cluster.Unrest(), r.balancing()) }

// balancing says what load balancers have begun and not ended, "" for nothing.
func (r *run) balancing() string {
	for f := range r.allForwarders() {
		if words := cmp.Or(f.b.Unrest(), f.unheardOf()); words != "" {
			return words
		}
	}
	return ""
}

// lastAction is when the last action is over.
func lastAction(sc *world.Scenario) engine.Time {
	last := sc.Warmup
	for i := range sc.Actions {
		a := &sc.Actions[i]
		last = max(last, a.At+a.For)
		if o, ok := a.Operation.(world.SpotNotice); ok {
			last = max(last, a.At+o.Notice) // whatever a handler waits for
		}
	}
	return last
}

// longestTaking is how long it may take after that until the nodes are gone that somebody takes away.
func longestTaking(sc *world.Scenario) engine.Time {
	var sum engine.Time
	for i := range sc.Actions {
		sum += sc.LongestTaking(&sc.Actions[i])
	}
	return sum
}

func (r *run) result(settled bool) *Result {
	res := &Result{
		Seed: r.eng.Seed(), TraceHash: r.eng.Hash().String(), Events: r.eng.Events(),
		End: r.eng.Now(), Settled: settled, Unrest: r.unrest(), Ledger: r.ledger, Stuck: r.cluster.CannotEnd(), CannotEnd: r.cluster.AllThatCannotEnd(), Drained: r.cluster.Drained(), Overruled: r.cluster.Overruled(),
	}
	if r.opts.Events != nil {
		res.Pods = r.cluster.PodRefs()
	}
	for i := range r.sc.Workloads {
		res.Usable = append(res.Usable, r.cluster.Usable(i))
		res.Dark = append(res.Dark, r.cluster.Dark(i))
		if gaps, most := r.cluster.Gaps(i); len(gaps) > 0 {
			res.Gaps = append(res.Gaps, Gaps{Workload: i, Pods: gaps, Most: most})
		}
	}
	for i := range r.sc.Traffic {
		res.Streams = append(res.Streams, r.streamResult(i))
	}
	return res
}

// streamResult is what became of one stream.
func (r *run) streamResult(i int) StreamResult {
	t, dark := &r.sc.Traffic[i], r.traffic.Dark(i, r.eng.Now())
	s := StreamResult{
		Name: t.Name, Totals: r.ledger.Totals(i), LongestOutage: r.ledger.LongestOutage(i), LongestWait: r.ledger.LongestWait(i), Cuts: r.traffic.Cuts(i),
		DarkSeconds: dark.Mean, LongestDark: dark.Longest,
	}
	if t.Rate > 0 {
		interval := 1000 * engine.Second / engine.Time(t.Rate)
		s.LostSeconds = engine.Time(s.Failed) * interval
		s.SlowSeconds, s.RescuedSeconds = engine.Time(s.Slow)*interval, engine.Time(s.Rescued)*interval
	}
	if t.Connection == world.ConnectionSession {
		s.LostSeconds, s.LongestOutage = max(s.LostSeconds, dark.Mean), max(s.LongestOutage, dark.All)
	}
	return s
}
