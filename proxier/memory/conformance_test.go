package memory

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// splitMix is a counter-based generator (SplitMix64): the i-th draw of a seed is a function
// of both, so tests draw the same numbers every time.
func splitMix(seed, i uint64) uint64 {
	z := seed + (i+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// subject lets backendtest drive a Dataplane.
type subject struct {
	dp    *Dataplane
	now   time.Duration
	draws uint64
}

func newSubject(node *plan.Node) *subject { return &subject{dp: New(plan.Empty(node))} }

func (s *subject) Apply(p *plan.Plan, d plan.Delta) error {
	s.dp.Apply(p, d.Services)
	return nil
}

// Probe asks Trace, and then Send for every result that Trace announces.
func (s *subject) Probe(p packet.Packet) (packet.Trace, error) {
	trace := s.dp.Trace(p)
	if trace.Verdict != packet.Endpoints {
		if got := s.dp.Send(p, s.now, 0); got.Verdict != trace.Verdict || got.Connection != (Connection{}) {
			return trace, fmt.Errorf("trace says %s, sending a packet says %+v", trace.Verdict, got)
		}
		return trace, nil
	}
	for i, want := range trace.Targets {
		got := s.dp.Send(p, s.now, drawFor(i, len(trace.Targets)))
		s.dp.Close(p.Flow())
		if got.Verdict != packet.Endpoints || got.Established || got.Endpoint != want.Addr || got.Masquerade != want.Masquerade {
			return trace, fmt.Errorf("trace says %v, sending a packet says %+v", want, got)
		}
	}
	return trace, nil
}

// drawFor returns a draw that falls on the i-th of n.
func drawFor(i, n int) uint64 {
	return math.MaxUint64/uint64(n)*uint64(i) + uint64(n)
}

func (s *subject) Send(p packet.Packet) (packet.Trace, error) {
	s.draws++
	got := s.dp.Send(p, s.now, splitMix(1, s.draws))
	trace := packet.Trace{Verdict: got.Verdict}
	if got.Verdict == packet.Endpoints {
		trace.Targets = []packet.Target{{Addr: got.Endpoint, Masquerade: got.Masquerade}}
	}
	if !got.Established {
		trace.Hops = s.dp.Trace(p).Hops
	}
	return trace, nil
}

func (s *subject) Close(f packet.Flow) error {
	s.dp.Close(f)
	return nil
}

func (s *subject) Advance(d time.Duration) error {
	s.now += d
	return nil
}

func TestConformance(t *testing.T) {
	t.Parallel()
	backendtest.Run(t, backendtest.Backend{
		New: func(_ *testing.T, node *plan.Node) backendtest.Subject { return newSubject(node) },
	})
}

// route is what a packet met in the Plan; a completeness test wants all of them.
type route struct {
	kind   plan.Kind
	why    plan.Why
	source plan.Source
}

// possible says whether a Plan can hold such a route.
func (r route) possible() bool {
	switch r.why {
	case plan.ShortCircuit:
		return r.kind.External() && r.source != plan.FromOutside
	case plan.NoLocalEndpoints:
		return !r.kind.External() || r.source == plan.FromOutside
	case plan.NoClusterEndpoints:
		// Only where a Local list has fallen back in KEP-1669's alpha: external policy Local.
		return !r.kind.External() || r.source != plan.FromOutside
	default:
		return true
	}
}

// recorder notes what the packets of rows meet.
type recorder struct {
	*subject
	routes   map[route]bool
	stages   map[stage]bool
	verdicts map[packet.Verdict]bool
}

func (r *recorder) note(p packet.Packet) {
	e := evaluate(r.dp.Plan(), p)
	r.stages[e.stage] = true
	r.verdicts[e.verdict] = true
	if e.route != nil && e.route == &e.frontend.Routes[e.source] { // else it is a rule for everybody
		r.routes[route{e.frontend.Kind, e.route.Why, e.source}] = true
	}
}

func (r *recorder) Probe(p packet.Packet) (packet.Trace, error) {
	r.note(p)
	return r.subject.Probe(p)
}

func (r *recorder) Send(p packet.Packet) (packet.Trace, error) {
	if _, known := r.dp.Lookup(p.Flow()); !known {
		r.note(p)
	}
	return r.subject.Send(p)
}

// The rows are complete when they meet every route a Plan can hold and every way in which
// the rules can be left.
func TestRowsMeetEveryRouteAndStage(t *testing.T) {
	t.Parallel()
	for _, dialect := range []plan.Dialect{plan.NFTables, plan.IPTables} {
		t.Run(dialect.String(), func(t *testing.T) {
			t.Parallel()
			r := recorder{routes: map[route]bool{}, stages: map[stage]bool{}, verdicts: map[packet.Verdict]bool{}}
			for _, c := range backendtest.Cases() {
				if c.Dialect != dialect {
					continue
				}
				r.subject = newSubject(c.Node())
				if err := c.Check(&r); err != nil {
					t.Errorf("%s: %v", c.Name(), err)
				}
			}
			for _, want := range allRoutes() {
				if r.routes[want] != want.possible() {
					t.Errorf("route %s, why %d, from %s: met %v, possible %v", want.kind, want.why, want.source, r.routes[want], want.possible())
				}
			}
			for s := stageNone; s <= stageLocalnet; s++ {
				if want := s.in(dialect); r.stages[s] != want {
					t.Errorf("stage %d: met %v, want %v", s, r.stages[s], want)
				}
			}
			for v := packet.None; v <= packet.Accept; v++ {
				if want := v != packet.Accept || dialect == plan.IPTables; r.verdicts[v] != want {
					t.Errorf("verdict %s: met %v, want %v", v, r.verdicts[v], want)
				}
			}
		})
	}
}

func allRoutes() []route {
	var all []route
	for kind := plan.ClusterIP; kind <= plan.NodePort; kind++ {
		for why := plan.ByPolicy; why <= plan.NoClusterEndpoints; why++ {
			for source := plan.FromPod; source <= plan.FromOutside; source++ {
				all = append(all, route{kind, why, source})
			}
		}
	}
	return all
}

// in says whether a dialect has rules of this stage.
func (s stage) in(d plan.Dialect) bool {
	switch s {
	case stageHooks, stageHealthCheck, stageLocalnet:
		return d == plan.IPTables
	case stageClusterIPs, stageServiceCIDR:
		return d == plan.NFTables
	default:
		return true
	}
}

// wrong is a dataplane with one fault.
type wrong struct {
	*subject
	node  *plan.Node
	fault string
	last  *plan.Plan
}

func (w *wrong) Apply(p *plan.Plan, d plan.Delta) error {
	switch w.fault {
	case "forgets flows when the rules change":
		w.dp = New(p)
	case "ignores the first change":
		if w.last == nil {
			w.last = p
			return w.subject.Apply(p, d)
		}
		w.last = p
		return nil
	case "never forgets an affinity":
		d.Services = nil
	}
	return w.subject.Apply(p, d)
}

func (w *wrong) Probe(p packet.Packet) (packet.Trace, error) {
	t, err := w.subject.Probe(p)
	t.Targets = slices.Clone(t.Targets)
	switch w.fault {
	case "masquerades nobody", "masquerades everybody":
		for i := range t.Targets {
			t.Targets[i].Masquerade = w.fault == "masquerades everybody"
		}
	case "uses one endpoint only":
		t.Targets = t.Targets[:min(1, len(t.Targets))]
	case "drops what it should reject":
		if t.Verdict == packet.Reject {
			t.Verdict = packet.Drop
		}
	}
	return t, err
}

func (w *wrong) Send(p packet.Packet) (packet.Trace, error) {
	switch w.fault {
	case "follows the rules with every packet":
		w.dp.Close(p.Flow())
	case "remembers clients forever":
		w.now = 0
	case "always picks the first endpoint":
		w.draws = 0
		for splitMix(1, w.draws+1) >= math.MaxUint64/4 {
			w.draws++
		}
	}
	return w.subject.Send(p)
}

// The suite itself is tested with dataplanes that have one fault each.
func TestSuiteNoticesFaults(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{
		"masquerades nobody", "masquerades everybody", "uses one endpoint only", "drops what it should reject",
		"forgets flows when the rules change", "ignores the first change", "never forgets an affinity",
		"follows the rules with every packet", "remembers clients forever", "always picks the first endpoint",
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			for _, c := range backendtest.Cases() {
				node := c.Node()
				if c.Check(&wrong{subject: newSubject(node), node: node, fault: fault}) != nil {
					return
				}
			}
			t.Error("no row notices")
		})
	}
}
