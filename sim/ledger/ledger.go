// Package ledger accounts for every request: one outcome, and for a failure one cause, one
// actor and whether another pod could have answered. Simulated and measured worlds fill the
// same ledger.
//
// Successful requests are counted, failed ones are kept, up to a cap, beyond which they are
// counted too.
//
// The trace hash holds every request that did not simply succeed (one that failed, was rescued or
// was late) when its outcome is known, and at the end the totals of each stream. A request that
// simply succeeded is in the totals alone: so it does not matter whether it was followed or counted.
package ledger

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// Outcome is what the client saw.
type Outcome uint8

// The outcomes.
const (
	OK Outcome = iota
	Refused
	Reset
	Timeout
	HTTP5xx
	Unreachable
	Unresolved
	NumOutcomes
)

// String returns the outcome's word.
func (o Outcome) String() string {
	return [...]string{"ok", "refused", "reset", "timeout", "http-5xx", "unreachable", "unresolved"}[o]
}

// Cause is why a request failed.
type Cause uint8

// The causes, in the order of the rules that find them; the last is found beside the rules of nodes and endpoints.
const (
	NoCause Cause = iota
	StaleDNS
	NodeGone
	DrainCut
	KilledInFlight
	ExitInFlight
	LivenessRestart
	Crashed
	KeepaliveRace
	FlowPinned
	NoHealthyTarget
	StaleLB
	StaleRules
	NoLocalEndpoint
	NoEndpoint
	NotListeningYet
	ListenerClosed
	Overloaded
	AppError
	ServiceChanged
	NumCauses
)

// String returns the cause's word.
func (c Cause) String() string {
	return [...]string{
		"", "stale-dns", "node-gone", "drain-cut", "killed-in-flight", "exit-in-flight", "liveness-restart", "crashed",
		"keepalive-race", "flow-pinned", "no-healthy-target", "stale-lb", "stale-rules", "no-local-endpoint",
		"no-endpoint", "not-listening-yet", "listener-closed", "overloaded", "app-error", "service-changed",
	}[c]
}

// Actor is whose lateness a failure is.
type Actor uint8

// The actors. Spec means that nobody was late: the manifest asks for it.
const (
	Spec Actor = iota
	Kubelet
	KubeletProbe
	SliceController
	Watch
	ProxyWait
	ProxySync
	LBController
	LBProbe
	LBPropagation
	Ingress
	DNSCache
	App
	Scheduler
	NodeLifecycle
	VolumeAttach
	NumActors
)

// String returns the actor's word.
func (a Actor) String() string {
	return [...]string{
		"spec", "kubelet", "kubelet-probe", "slice-controller", "watch", "proxy-wait", "proxy-sync",
		"lb-controller", "lb-probe", "lb-propagation", "ingress", "dns-cache", "app", "scheduler", "node-lifecycle", "volume-attach",
	}[a]
}

// Blame is what a failure is put down to.
type Blame struct {
	Cause     Cause
	Actor     Actor
	Elsewhere bool // another Ready pod of the Service could have answered at that instant
}

// Request is one request that did not simply succeed.
type Request struct {
	Number       uint64
	Stream       int // of the scenario's traffic
	Arrival, End engine.Time
	Outcome      Outcome
	Blame        Blame
	Node         int    // the node whose rules it met
	Pod          string // the pod it reached, "" for none
	// Ingress is the ingress controller's pod that had asked for it in vain, "" when it got to
	// none or failed there.
	Ingress  string
	Attempts int
}

// Group is failures that are alike.
type Group struct {
	Stream  int
	Outcome Outcome
	Blame   Blame
	Count   uint64
	// First and Last are arrivals of the first and last of them.
	First, Last engine.Time
	Nodes       map[int]uint64
	Pods        map[string]uint64
	Example     Request // the first of them to fail
}

// Totals counts the requests of one stream, or of all.
type Totals struct {
	Total, OK, Failed uint64
	// Rescued succeeded after a failed attempt, Slow more than a second late by retransmission
	// or retry. Both are among OK.
	Rescued, Slow  uint64
	Attempts       uint64
	FailedAttempts uint64
}

// Add adds another account to this one.
func (t *Totals) Add(o Totals) {
	t.Total += o.Total
	t.OK += o.OK
	t.Failed += o.Failed
	t.Rescued += o.Rescued
	t.Slow += o.Slow
	t.Attempts += o.Attempts
	t.FailedAttempts += o.FailedAttempts
}

// Ledger is the account of one run. It has one owner.
type Ledger struct {
	streams  []Totals
	outcomes [][NumOutcomes]uint64
	rescued  map[Blame]uint64
	failures Grouped
	kept     [][]Request // some at a time
	room     int         // for more of them
	hash     *engine.TraceHash
	outages  []outages // by stream
	waits    []outages // by stream: of requests that failed, or waited for more than a second until a server took them
	listener Listener
	failing  Request // that the listener hears of
}

// Listener hears every entry of a Ledger, in the order in which they are made: for accounts of
// the same requests that the ledger knows nothing of. Of the attempts it hears the failed ones:
// the other kind is a success. Counted are n requests, numbered from first, that were answered at
// their first attempt: nothing else is said of them. The Request of Fail is another one at the next
// call.
type Listener interface {
	Begin(stream int, number uint64, arrival engine.Time)
	Counted(stream int, first, n uint64)
	AttemptFailed(stream int)
	Succeed(stream int, number, endpoint uint64, end engine.Time, rescued, late bool)
	Revoke(stream int, number uint64, rescued, late bool)
	Fail(r *Request)
}

// New returns a ledger for a number of streams that keeps up to keep failed requests, and
// hashes what did not simply succeed.
func New(streams, keep int, hash *engine.TraceHash) *Ledger {
	return &Ledger{
		streams: make([]Totals, streams), outcomes: make([][NumOutcomes]uint64, streams),
		rescued: map[Blame]uint64{}, room: keep, hash: hash,
		outages: make([]outages, streams), waits: make([]outages, streams),
	}
}

// Listen has a listener hear everything from now on; nil nobody.
func (l *Ledger) Listen(listener Listener) { l.listener = listener }

// Begin accounts for a request that arrived.
func (l *Ledger) Begin(stream int, number uint64, arrival engine.Time) {
	l.streams[stream].Total++
	if l.listener != nil {
		l.listener.Begin(stream, number, arrival)
	}
}

// Count accounts for n requests, numbered from first, that were answered at their first attempt.
// It is the same as Begin, Attempt and Succeed for each of them.
func (l *Ledger) Count(stream int, first, n uint64) {
	t := &l.streams[stream]
	t.Total += n
	t.Attempts += n
	t.OK += n
	l.outcomes[stream][OK] += n
	if l.listener != nil {
		l.listener.Counted(stream, first, n)
	}
}

// Attempt accounts for one try of a request.
func (l *Ledger) Attempt(stream int, failed bool) {
	l.streams[stream].Attempts++
	if failed {
		l.streams[stream].FailedAttempts++
		if l.listener != nil {
			l.listener.AttemptFailed(stream)
		}
	}
}

// Succeed accounts for a request, by its number, that was answered. escaped is the blame of its last failed
// attempt, nil when there was none; late says that it took more than a second longer than it
// had to.
func (l *Ledger) Succeed(stream int, number uint64, node int, endpoint uint64, end engine.Time, escaped *Blame, late bool) {
	t := &l.streams[stream]
	t.OK++
	l.outcomes[stream][OK]++
	if escaped != nil {
		t.Rescued++
		l.rescued[*escaped]++
	}
	if late {
		t.Slow++
	}
	if escaped != nil || late {
		l.hash.Record("ok", uint64(stream)<<56^number, uint64(node)<<48^endpoint, uint64(end))
	}
	if l.listener != nil {
		l.listener.Succeed(stream, number, endpoint, end, escaped != nil, late)
	}
}

// Waited accounts for a request that is answered, and that no server took within a second of its arrival.
func (l *Ledger) Waited(stream int, number uint64, arrival engine.Time) {
	l.waits[stream].add(number, arrival, true)
}

// Revoke takes back a success, and the attempt that led to it, with what Succeed was told: the
// answer that was counted on did not come.
func (l *Ledger) Revoke(stream int, number uint64, escaped *Blame, late bool) {
	t := &l.streams[stream]
	t.OK--
	t.Attempts--
	l.outcomes[stream][OK]--
	if escaped != nil {
		t.Rescued--
		l.rescued[*escaped]--
	}
	if late {
		t.Slow--
	}
	if l.listener != nil {
		l.listener.Revoke(stream, number, escaped != nil, late)
	}
}

// Fail accounts for a request that failed for good.
func (l *Ledger) Fail(r Request) {
	t := &l.streams[r.Stream]
	t.Failed++
	l.outcomes[r.Stream][r.Outcome]++
	l.outages[r.Stream].add(r.Number, r.Arrival, r.Blame.Elsewhere)
	l.waits[r.Stream].add(r.Number, r.Arrival, r.Blame.Elsewhere)
	l.failures.Add(&r)
	l.hold(&r)
	elsewhere := uint64(0)
	if r.Blame.Elsewhere {
		elsewhere = 1
	}
	l.hash.Record("failed", uint64(r.Stream)<<56^r.Number, uint64(r.Arrival), uint64(r.End),
		uint64(r.Outcome)<<24|uint64(r.Blame.Cause)<<16|uint64(r.Blame.Actor)<<8|elsewhere, uint64(r.Node))
	if l.listener != nil {
		l.failing = r
		l.listener.Fail(&l.failing)
	}
}

// Seal hashes the totals: the run is over.
func (l *Ledger) Seal() {
	for i, t := range l.streams {
		l.hash.Record("total", uint64(i), t.Total, t.OK, t.Failed, t.Rescued, t.Slow, t.Attempts, t.FailedAttempts)
	}
}

// Totals returns the totals of a stream.
func (l *Ledger) Totals(stream int) Totals { return l.streams[stream] }

// All returns the totals of all streams.
func (l *Ledger) All() Totals {
	var sum Totals
	for _, t := range l.streams {
		sum.Add(t)
	}
	return sum
}

// Outcomes counts a stream's outcomes.
func (l *Ledger) Outcomes(stream int) [NumOutcomes]uint64 { return l.outcomes[stream] }

// Groups lists the failures by likeness, in order of first occurrence.
func (l *Ledger) Groups() []*Group { return l.failures.List() }

// atATime is how many failed requests are kept in one list. One list for all would be copied as it grows, and nobody
// looks at them in most runs.
const atATime = 32

// hold keeps a failed request while there is room.
func (l *Ledger) hold(r *Request) {
	if l.room == 0 {
		return
	}
	l.room--
	last := len(l.kept) - 1
	if last < 0 || len(l.kept[last]) == atATime {
		l.kept = append(l.kept, make([]Request, 0, min(atATime, l.room+1)))
		last++
	}
	l.kept[last] = append(l.kept[last], *r)
}

// Kept is how many failed requests are kept.
func (l *Ledger) Kept() (n int) {
	for _, list := range l.kept {
		n += len(list)
	}
	return n
}

// Failures lists the failed requests that were kept, in order of their failing.
func (l *Ledger) Failures() []Request { return slices.Concat(l.kept...) }

// Rescued counts successful requests by what they escaped.
func (l *Ledger) Rescued() map[Blame]uint64 { return l.rescued }
