package traffic

import (
	"net/netip"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// Questions over UDP have no connection: nothing is repeated but by the client, which asks
// again when no answer came in its time. The node's connection tracking still makes flows of
// them: what comes from one port goes where the first packet went, until the proxy's clean-up
// or the flow's own timeout.

// flow is what a node's connection tracking keeps for one client's port.
type flow struct {
	member int
	number uint64 // stands for its 5-tuple
	node   int
	target *Target     // nil: nothing is kept
	until  engine.Time // when it is forgotten if nothing comes
}

// How long Linux keeps a flow over UDP: nf_conntrack_udp_timeout, nf_conntrack_udp_timeout_stream
// (the defaults; recalled).
const (
	flowUnanswered = 30 * engine.Second
	flowAnswered   = 120 * engine.Second
)

// ask sends a question.
func (t *Traffic) ask(a *attempt, now engine.Time) {
	s := a.req.stream
	var f *flow
	if s.spec.Kind == FixedFlow {
		f = &s.flows[a.req.number%uint64(len(s.flows))]
	}
	pinned := f != nil && f.target != nil && now < f.until
	if pinned {
		a.member, a.flow, a.node, a.target = f.member, f.number, f.node, f.target
	} else {
		a.flow = a.req.draw()
	}
	fault, ok := t.aim(a)
	if ok {
		fault, ok = t.reach(a)
	}
	if f != nil && a.target != nil && a.node >= 0 { // past the nodes nobody keeps it
		*f = flow{a.member, a.flow, a.node, a.target, now + flowUnanswered}
		if ok {
			f.until = now + flowAnswered
		}
	}
	if ok {
		t.accepted(a, now, a.target.Server, nil)
		return
	}
	t.unanswered(a, now, fault, pinned)
}

// unanswered ends a question that nobody takes: by the ICMP message that says so, or in silence
// by the client's timeout.
func (t *Traffic) unanswered(a *attempt, now engine.Time, fault ledger.Fault, pinned bool) {
	switch {
	case pinned && fault == ledger.FaultNodeDead && a.target != nil, pinned && fault == ledger.FaultNoAnswer && t.muted(a.target):
		fault = ledger.FaultNodeGone
	case pinned && fault == ledger.FaultNoAnswer:
		fault = ledger.FaultPinned
	case pinned && fault == ledger.FaultNoListener:
		fault = ledger.FaultPinnedShut
	}
	if fault.Outcome() == ledger.Timeout {
		t.later(a.began+a.req.stream.spec.Timeout, step{attempt: a.blamed(t.judge(a, fault)), fault: fault, giveUp: true})
		return
	}
	t.failed(a, now+a.req.stream.spec.RTT, fault, nil)
}

// blamed is the attempt with whom to blame.
func (a *attempt) blamed(b ledger.Blame) attempt {
	out := *a
	out.blame = b
	return out
}

// Clean forgets the flows of a stream on a node whose endpoint is not among those that serve;
// without any they stay.
func (t *Traffic) Clean(stream, node int, serving []netip.AddrPort) {
	if len(serving) == 0 {
		return
	}
	list := t.streams[stream].flows
	for i := range list {
		if f := &list[i]; f.node == node && f.target != nil && !slices.Contains(serving, f.target.Addr) {
			*f = flow{}
		}
	}
}

// datagram says whether the stream's requests go over UDP.
func (s *stream) datagram() bool { return s.spec.Kind == Datagram || s.spec.Kind == FixedFlow }

// outcome is what a client sees of a fault. Over UDP nothing says that an answer will not come.
func (s *stream) outcome(f ledger.Fault) ledger.Outcome {
	if o := f.Outcome(); o != ledger.Reset || !s.datagram() {
		return o
	}
	return ledger.Timeout
}

// knows is when a client knows of an answer that will not come because its server is gone.
func (s *stream) knows(a *attempt, now engine.Time) engine.Time {
	if s.datagram() {
		return max(now, a.began+s.spec.Timeout)
	}
	return now + a.rtt()
}
