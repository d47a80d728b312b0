package backendtest

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// run is a case being run.
type run struct {
	Case
	subject Subject
	node    *plan.Node
	cache   *endpoints.Cache
	plan    *plan.Plan
	flows   map[string]flow
	port    uint16 // the last source port used
}

// flow is a flow a step opened.
type flow struct {
	packet packet.Packet
	trace  packet.Trace
}

// Check runs the case on a Subject made for the case's Node. The error names every
// difference and, where the Subject knows it, the packet's path.
func (c Case) Check(s Subject) error {
	node := c.Node()
	r := &run{
		Case: c, subject: s, node: node, cache: endpoints.NewCache(node.Options),
		plan: plan.Empty(node), flows: map[string]flow{}, port: 40000,
	}
	if err := (change{set: c.row.cluster}).do(r); err != nil {
		return err
	}
	var errs []error
	for i, st := range c.row.steps {
		if err := st.do(r); err != nil {
			errs = append(errs, fmt.Errorf("step %d: %w", i+1, err))
		}
	}
	return errors.Join(errs...)
}

// step is one thing that happens in a row, or is asked of it.
type step interface {
	do(r *run) error
	takesTime() bool
}

// dest is an address and port.
type dest struct {
	place Place
	port  uint16
}

// port80 and the like stand where a row says to(...).
func (p Place) port(n uint16) dest { return dest{p, n} }

func from(places ...Place) []Place { return places }
func to(dests ...dest) []dest      { return dests }

// external is the addresses that service.exposed makes.
func external() []dest {
	return to(ExternalIP.port(servicePort), VIPA.port(servicePort), NodePrimary.port(nodePort))
}

// packet returns the first packet of a flow nobody has opened yet.
func (r *run) packet(from Place, to dest, protocol packet.Protocol) packet.Packet {
	r.port++
	return packet.Packet{
		Src: netip.AddrPortFrom(from.Addr(r.Family), r.port), Dst: netip.AddrPortFrom(to.place.Addr(r.Family), to.port),
		Protocol: protocol, InInterface: from.Interface(),
	}
}

// probe asks for everything that may become of new flows, from each source to each
// destination. Where the dialects differ, it says how and which difference that is.
type probe struct {
	from       []Place
	to         []dest
	protocol   packet.Protocol // 0 is the case's
	want       outcome
	difference difference // "" unless inIPTables says what iptables mode makes of it
	inIPTables outcome
}

func (p probe) takesTime() bool { return false }

func (p probe) do(r *run) error {
	want, protocol := p.want, p.protocol
	if p.difference != "" && r.Dialect == plan.IPTables {
		want = p.inIPTables
	}
	if protocol == 0 {
		protocol = r.Protocol
	}
	var errs []error
	for _, src := range p.from {
		for _, dst := range p.to {
			pkt := r.packet(src, dst, protocol)
			got, err := r.subject.Probe(pkt)
			if err == nil && !want.explains(got, r.Family) {
				err = r.differs(want, got)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%s (%s) to %s (%s): %w", src, pkt.Src.Addr(), dst.place, pkt.Dst, err))
			}
		}
	}
	return errors.Join(errs...)
}

func (r *run) differs(want outcome, got packet.Trace) error {
	var b strings.Builder
	fmt.Fprintf(&b, "got %s, want %s", describe(got.Verdict, sorted(got.Targets)), describe(want.verdict, want.in(r.Family)))
	for _, h := range got.Hops {
		fmt.Fprintf(&b, "\n\t%s: %s", h.Stage, h.Detail)
	}
	return errors.New(b.String())
}

// change replaces Services and their endpoints by name, or deletes them.
type change struct {
	set    []service
	delete []string
}

func (c change) takesTime() bool { return false }

func (c change) do(r *run) error {
	protocol := corev1.Protocol(strings.ToUpper(r.Protocol.String()))
	for _, s := range c.set {
		problems := r.cache.SetService(s.object(r.Family, protocol))
		for _, slice := range s.slices(r.Family, protocol) {
			problems = append(problems, r.cache.SetSlice(slice)...)
		}
		if len(problems) > 0 {
			return fmt.Errorf("the row's Service %s is not valid: %v", s.name, problems)
		}
	}
	for _, name := range c.delete {
		r.cache.DeleteService(endpoints.ServiceName{Namespace: "default", Name: name})
		for _, f := range endpoints.Families() {
			r.cache.DeleteSlice("default", name+"-"+f.String())
		}
	}
	snap := r.cache.Snapshot()
	next, delta := plan.Update(r.plan, snap, snap.Changed())
	r.plan = next
	return r.subject.Apply(next, delta)
}

// open sends the first packet of a flow and remembers the flow by name.
type open struct {
	flow   string
	from   Place
	to     dest
	want   outcome // the flow gets one of these
	sameAs string  // the flow whose endpoint it has to get, "" for any
	times  int     // so many flows from ever new source ports; 0 is one
}

func (o open) takesTime() bool { return false }

func (o open) do(r *run) error {
	for range max(o.times, 1) {
		f, err := r.open(r.packet(o.from, o.to, r.Protocol), o.want)
		if err != nil {
			return fmt.Errorf("flow %q: %w", o.flow, err)
		}
		if same := r.flows[o.sameAs]; o.sameAs != "" && !sameEndpoint(f, same) {
			return fmt.Errorf("flow %q got %s, want the endpoint of %q: %s", o.flow, f.describe(), o.sameAs, same.describe())
		}
		r.flows[o.flow] = f
	}
	return nil
}

func (r *run) open(p packet.Packet, want outcome) (flow, error) {
	got, err := r.subject.Send(p)
	if err == nil && !want.allows(got, r.Family) {
		err = r.differs(want, got)
	}
	return flow{p, got}, err
}

func sameEndpoint(a, b flow) bool {
	return len(a.trace.Targets) == 1 && len(b.trace.Targets) == 1 && a.trace.Targets[0].Addr == b.trace.Targets[0].Addr
}

func (f flow) describe() string { return describe(f.trace.Verdict, f.trace.Targets) }

// again sends another packet of a flow: it goes where the flow went, whatever the rules say.
type again struct{ flow string }

func (a again) takesTime() bool { return false }

func (a again) do(r *run) error {
	f := r.flows[a.flow]
	got, err := r.subject.Send(f.packet)
	if err != nil {
		return fmt.Errorf("flow %q: %w", a.flow, err)
	}
	if got.Verdict != f.trace.Verdict || !slices.Equal(got.Targets, f.trace.Targets) {
		return fmt.Errorf("flow %q went on to %s, but had %s", a.flow, describe(got.Verdict, got.Targets), f.describe())
	}
	return nil
}

// closing ends a flow.
type closing struct{ flow string }

func (c closing) takesTime() bool { return false }

func (c closing) do(r *run) error { return r.subject.Close(r.flows[c.flow].packet.Flow()) }

// reopen sends a packet with the addresses and ports of a flow that has ended.
type reopen struct {
	flow string
	want outcome
}

func (o reopen) takesTime() bool { return false }

func (o reopen) do(r *run) error {
	f, err := r.open(r.flows[o.flow].packet, o.want)
	if err != nil {
		return fmt.Errorf("flow %q, opened again: %w", o.flow, err)
	}
	r.flows[o.flow] = f
	return nil
}

// wait lets time pass.
type wait time.Duration

func (w wait) takesTime() bool { return w > 0 }

func (w wait) do(r *run) error { return r.subject.Advance(time.Duration(w)) }

// trials is how often a spread tries. With two endpoints, chance alone leaves one of them out
// once in eight million rows.
const trials = 24

// spread opens flow after flow, with steps in between, and wants to see every result: what
// holds a client to one endpoint does not hold it any longer.
type spread struct {
	flow    string
	from    Place
	to      dest
	want    outcome
	between []step
}

func (s spread) takesTime() bool { return slices.ContainsFunc(s.between, step.takesTime) }

func (s spread) do(r *run) error {
	seen := packet.Trace{Verdict: s.want.verdict}
	for range trials {
		f, err := r.open(r.packet(s.from, s.to, r.Protocol), s.want)
		if err != nil {
			return fmt.Errorf("flow %q: %w", s.flow, err)
		}
		r.flows[s.flow] = f
		for _, t := range f.trace.Targets {
			if !slices.Contains(seen.Targets, t) {
				seen.Targets = append(seen.Targets, t)
			}
		}
		for _, st := range s.between {
			if err := st.do(r); err != nil {
				return err
			}
		}
	}
	if !s.want.explains(seen, r.Family) {
		return fmt.Errorf("in %d flows: %w", trials, r.differs(s.want, seen))
	}
	return nil
}
