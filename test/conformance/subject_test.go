//go:build linux

package conformance

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/nftables"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
	"github.com/lameduck-proxy/lameduck/test/lab"
)

// dataplane programs the kernel of the namespace it was started in. One that leaves more behind
// than nftables' tables has a method Close() error, too.
type dataplane interface {
	Apply(p *plan.Plan, d plan.Delta) error
}

// kernel is a kind of dataplane under test.
type kernel struct {
	dialects []plan.Dialect
	families []endpoints.IPFamily
	lacks    map[backendtest.Need]string // beside what no kernel can do here
	// start is called in the node's namespace, and so are the methods of what it returns.
	start func(node *plan.Node) (dataplane, error)
	// age makes what packets wrote into the rules older, and forgets what is too old; nil where that
	// cannot be done. It is called in the node's namespace.
	age func(d time.Duration) error
}

// unmet is what rows may ask for and real packets cannot do.
func unmet() map[backendtest.Need]string {
	return map[backendtest.Need]string{
		backendtest.NeedClock:    "nobody turns a kernel's clock, and this dataplane's memory cannot be made older",
		backendtest.NeedMartians: "a socket sends what is for a loopback address to its own machine",
		backendtest.NeedAccept:   "accepted or untouched, a packet arrives all the same",
	}
}

// backend returns the kind as backendtest runs it, with labs that end with the test.
func (k kernel) backend(t *testing.T) backendtest.Backend {
	t.Helper()
	labs := newLabs(t)
	lacks := unmet()
	if k.age != nil {
		delete(lacks, backendtest.NeedClock)
	}
	maps.Copy(lacks, k.lacks)
	return backendtest.Backend{
		Dialects: k.dialects, Families: k.families, Lacks: lacks,
		New: func(t *testing.T, node *plan.Node) backendtest.Subject {
			t.Helper()
			s, err := k.newSubject(t, labs, node)
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
	}
}

// subject is a dataplane, and a lab in which packets meet it.
type subject struct {
	lab       *lab.Lab
	node      *plan.Node
	dataplane dataplane
	age       func(d time.Duration) error
	plan      *plan.Plan
	flows     map[packet.Flow]opened
	port      uint16 // of the last draw
}

// opened is a flow that a row keeps.
type opened struct {
	flow   *lab.Flow
	target packet.Target
}

func (k kernel) newSubject(t *testing.T, labs *labs, node *plan.Node) (*subject, error) {
	t.Helper()
	s := &subject{lab: labs.take(t), node: node, age: k.age, plan: plan.Empty(node), flows: map[packet.Flow]opened{}, port: firstDraw}
	if err := s.lab.SetNodeAddresses(node.Addresses); err != nil {
		return nil, err
	}
	err := s.lab.Do(lab.NodeName, func() (err error) {
		s.dataplane, err = k.start(node)
		return err
	})
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		if err := s.end(); err != nil {
			t.Errorf("clean up: %v", err)
		}
		if !t.Failed() { // whatever went wrong in that lab, nobody else gets it
			labs.put(s.lab)
		}
	})
	return s, nil
}

// end leaves a lab as if it were new. Flows end first, while there are rules to translate their
// last packets.
func (s *subject) end() error {
	if err := s.lab.Reset(); err != nil {
		return err
	}
	return s.lab.Do(lab.NodeName, func() error {
		var errs []error
		if c, ok := s.dataplane.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
		c, err := nftables.New()
		if err != nil {
			return errors.Join(append(errs, err)...)
		}
		c.FlushRuleset()
		return errors.Join(append(errs, c.Flush())...)
	})
}

// Apply has servers wait wherever the Plan may lead, then puts it in force.
func (s *subject) Apply(p *plan.Plan, d plan.Delta) error {
	s.plan = p
	for f := range p.Frontends() {
		parsed, _ := packet.ParseProtocol(f.Key.Protocol.String())
		protocol, ok := labProtocol(parsed)
		if !ok {
			continue
		}
		for _, t := range slices.Concat(f.Lists.Cluster, f.Lists.Local) {
			if err := s.lab.Listen(protocol, t.Addr.Addr().Is6(), t.Addr.Port()); err != nil {
				return err
			}
		}
	}
	return s.lab.Do(lab.NodeName, func() error { return s.dataplane.Apply(p, d) })
}

// Probe opens flow after flow, and sees what becomes of them.
func (s *subject) Probe(p packet.Packet) (packet.Trace, error) {
	var seen tally
	for i := range draws(s.endpoints() + 1) {
		q := p
		if i > 0 {
			q.Src = netip.AddrPortFrom(p.Src.Addr(), s.nextPort())
		}
		f, o, err := s.open(q)
		if f != nil {
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			return seen.trace(p), err
		}
		seen.add(o)
	}
	return seen.trace(p), seen.contradiction(p)
}

// Send opens the packet's flow, or continues it.
func (s *subject) Send(p packet.Packet) (packet.Trace, error) {
	var o outcome
	var err error
	if kept, ok := s.flows[p.Flow()]; ok {
		o, err = s.again(p, kept)
	} else {
		var f *lab.Flow
		if f, o, err = s.open(p); f != nil {
			s.flows[p.Flow()] = opened{f, o.target}
		}
	}
	seen := tally{}
	if err == nil {
		seen.add(o)
	}
	return seen.trace(p), err
}

// again sends another packet of a flow. What open found out about masquerading still holds where
// the endpoint is the same.
func (s *subject) again(p packet.Packet, kept opened) (outcome, error) {
	r, err := kept.flow.Again()
	if err != nil {
		return outcome{}, err
	}
	o, err := s.read(p, r)
	if p.InInterface == "" && o.target.Addr == kept.target.Addr {
		o.target = kept.target
	}
	return o, err
}

// Close ends a flow at both ends, and has the node forget it.
func (s *subject) Close(flow packet.Flow) error {
	protocol, _ := labProtocol(flow.Protocol)
	var errs []error
	if kept, ok := s.flows[flow]; ok {
		errs = append(errs, kept.flow.Close())
		delete(s.flows, flow)
	}
	return errors.Join(append(errs, s.lab.Forget(protocol, flow.Src, flow.Dst))...)
}

// Advance lets time pass for the rules' memory, and for nothing else: the kernel's own clock
// stands still, and flows stay as young as they are.
func (s *subject) Advance(d time.Duration) error {
	return s.lab.Do(lab.NodeName, func() error { return s.age(d) })
}

// open sends the first packet of a flow. Where the node is the client, and the server saw what it
// sent, that may be masquerading to the same address and, by one chance in 64,000, to the same
// port: so it counts only if the next flow to that endpoint looks the same.
func (s *subject) open(p packet.Packet) (*lab.Flow, outcome, error) {
	f, o, err := s.openOnce(p)
	if err != nil || p.InInterface != "" || o.verdict != packet.Endpoints || o.target.Masquerade {
		return f, o, err
	}
	for range draws(s.endpoints() + 1) {
		q := p
		q.Src = netip.AddrPortFrom(p.Src.Addr(), s.nextPort())
		next, again, err := s.openOnce(q)
		if next != nil {
			err = errors.Join(err, next.Close())
		}
		if err != nil || again.target.Addr == o.target.Addr {
			o.target.Masquerade = again.target.Masquerade
			return f, o, err
		}
	}
	return f, o, nil
}

func (s *subject) openOnce(p packet.Packet) (*lab.Flow, outcome, error) {
	protocol, ok := labProtocol(p.Protocol)
	if !ok {
		return nil, outcome{}, fmt.Errorf("the lab cannot send packets of protocol %d", p.Protocol)
	}
	if err := s.lab.Listen(protocol, p.Dst.Addr().Is6(), p.Dst.Port()); err != nil {
		return nil, outcome{}, err
	}
	f, r, err := s.lab.Open(lab.Dial{
		From: siteOf(p), Protocol: protocol, Src: p.Src, Dst: p.Dst, Mirror: s.mayReturn(p.Src.Addr()),
	})
	if err != nil {
		return f, outcome{}, err
	}
	o, err := s.read(p, r)
	return f, o, err
}

// siteOf returns where a packet comes from.
func siteOf(p packet.Packet) string {
	for _, place := range backendtest.Places() {
		if p.InInterface != "" && (place.Addr(endpoints.IPv4) == p.Src.Addr() || place.Addr(endpoints.IPv6) == p.Src.Addr()) {
			return place.String()
		}
	}
	return lab.NodeName
}

func labProtocol(p packet.Protocol) (lab.Protocol, bool) {
	switch p {
	case packet.TCP, packet.UDP, packet.SCTP, packet.Protocol(lab.Echo):
		return lab.Protocol(p), true
	default:
		return 0, false
	}
}

// mayReturn says whether a client is an endpoint of something itself.
func (s *subject) mayReturn(client netip.Addr) bool {
	for f := range s.plan.Frontends() {
		for _, t := range slices.Concat(f.Lists.Cluster, f.Lists.Local) {
			if t.Addr.Addr() == client && !s.node.Owns(client) {
				return true
			}
		}
	}
	return false
}

// endpoints counts all addresses that the Plan may lead to.
func (s *subject) endpoints() int {
	all := map[netip.AddrPort]bool{}
	for f := range s.plan.Frontends() {
		for _, t := range slices.Concat(f.Lists.Cluster, f.Lists.Local) {
			all[t.Addr] = true
		}
	}
	return len(all)
}

// oversight is the chance that a Probe may take of not seeing everything.
const oversight = 1e-9

// draws returns how many flows it takes until, of n results with the same chance, one is left
// out with a chance of less than oversight: the smallest k with n(1-1/n)^k < oversight. Callers
// count one result more than they know of, so that one too many is found like one too few.
func draws(n int) int {
	if n < 2 {
		return 1
	}
	return int(math.Ceil((math.Log(oversight) - math.Log(float64(n))) / math.Log1p(-1/float64(n))))
}

// Source ports of draws stay below those that backendtest counts up from, 40000.
const firstDraw, lastDraw = 10000, 39999

// nextPort returns a source port that the node's table of connections does not know: with one
// that it does, an earlier flow's fate would be met again.
func (s *subject) nextPort() uint16 {
	if s.port++; s.port > lastDraw {
		s.port = firstDraw
	}
	return s.port
}

// outcome is what became of one flow.
type outcome struct {
	verdict packet.Verdict
	target  packet.Target
	detail  string
}

// read says what a result means for a packet. An error is a result that is no verdict.
func (s *subject) read(p packet.Packet, r lab.Result) (outcome, error) {
	switch r.Fate {
	case lab.Refused:
		if !r.Error.PortUnreachable() {
			return outcome{}, fmt.Errorf("refused with %s, which is not port unreachable", r.Error)
		}
		return outcome{verdict: packet.Reject, detail: r.Error.String()}, nil
	case lab.Reset:
		return outcome{}, fmt.Errorf("reset: %s was led to a port that nobody listens on", p.Dst)
	case lab.Returned:
		return outcome{packet.Endpoints, packet.Target{Addr: r.Arrival.At}, "back to where it came from, unmasqueraded: " + r.Arrival.String()}, nil
	case lab.Lost:
		if len(r.Arrivals) > 0 {
			return outcome{}, fmt.Errorf("no answer, though there were arrivals: %v", r.Arrivals)
		}
		return outcome{verdict: packet.Drop, detail: "nothing came back, and nobody saw it"}, nil
	default:
		return s.answered(p, r)
	}
}

func (s *subject) answered(p packet.Packet, r lab.Result) (outcome, error) {
	if r.Arrival.At == p.Dst {
		return untouched(p, r)
	}
	masqueraded, err := s.masqueraded(p, r)
	return outcome{packet.Endpoints, packet.Target{Addr: r.Arrival.At, Masquerade: masqueraded}, r.Arrival.String()}, err
}

func untouched(p packet.Packet, r lab.Result) (outcome, error) {
	if r.Arrival.Saw != p.Src {
		return outcome{}, fmt.Errorf("not led anywhere, yet from another source: %s", r.Arrival)
	}
	return outcome{verdict: packet.None, detail: "untouched: " + r.Arrival.String()}, nil
}

// masqueraded says whether the server saw the node. Where the node is the client, only the
// port shows it, see open.
func (s *subject) masqueraded(p packet.Packet, r lab.Result) (bool, error) {
	switch {
	case r.Arrival.Saw.Addr() == p.Src.Addr():
		return r.Arrival.Saw.Port() != p.Src.Port(), nil
	case s.node.Owns(r.Arrival.Saw.Addr()):
		return true, nil
	default:
		return true, fmt.Errorf("neither the client's address nor the node's: %s", r.Arrival)
	}
}

// tally counts outcomes.
type tally struct {
	list   []outcome
	counts []int
}

func (t *tally) add(o outcome) {
	same := func(seen outcome) bool { return seen.verdict == o.verdict && seen.target == o.target }
	i := slices.IndexFunc(t.list, same)
	if i < 0 {
		i = len(t.list)
		t.list, t.counts = append(t.list, o), append(t.counts, 0)
	}
	t.counts[i]++
}

// trace returns all that was seen, each result as a hop.
func (t *tally) trace(p packet.Packet) packet.Trace {
	var trace packet.Trace
	sent := packet.Hop{Stage: "sent", Detail: fmt.Sprintf("%s from %s in %s to %s", p.Protocol, p.Src.Addr(), siteOf(p), p.Dst)}
	trace.Hops = append(trace.Hops, sent)
	for i, o := range t.list {
		trace.Verdict = o.verdict
		trace.Hops = append(trace.Hops, packet.Hop{Stage: fmt.Sprintf("%d times %s", t.counts[i], o.verdict), Detail: o.detail})
		if o.verdict == packet.Endpoints {
			trace.Targets = append(trace.Targets, o.target)
		}
	}
	return trace
}

// contradiction is an error when not all flows met one verdict.
func (t *tally) contradiction(p packet.Packet) error {
	if len(t.list) == 0 {
		return nil
	}
	var words []string
	differ := false
	for i, o := range t.list {
		differ = differ || o.verdict != t.list[0].verdict
		words = append(words, fmt.Sprintf("%d times %s: %s", t.counts[i], o.verdict, o.detail))
	}
	if !differ {
		return nil
	}
	return fmt.Errorf("%s from %s in %s to %s: not one verdict:\n\t%s", p.Protocol, p.Src.Addr(), siteOf(p), p.Dst, strings.Join(words, "\n\t"))
}
