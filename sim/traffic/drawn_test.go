package traffic

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// drawnServer is one whose time for an answer is drawn.
type drawnServer struct {
	fakeServer
	dist engine.Dist
}

func (s *drawnServer) Name() string { return fmt.Sprint("pod-", s.id) }

func (s *drawnServer) Plain() *engine.Dist {
	if s.full || s.errs {
		return nil
	}
	return &s.dist
}

func (s *drawnServer) Serve(draw uint64, now engine.Time) (engine.Time, Answer) {
	switch {
	case s.full:
		return 0, TurnedAway
	case s.errs:
		return now + s.dist.Sample(draw), Erred
	default:
		return now + s.dist.Sample(draw), Answered
	}
}

// drawnWorld is nodes whose rules lead to some servers, and a load balancer that sends to some of them, or past them.
type drawnWorld struct {
	servers []*drawnServer
	targets []*Target
	ways    []*Way
	hops    []Hop
	served  bool // server 0 is a proxy that clients are sent to
	secret  bool // nobody says where new connections go
}

func (w *drawnWorld) FirstHops(int) []Hop {
	if w.served || w.secret {
		return nil
	}
	return w.hops
}

func (w *drawnWorld) FirstHop(leg Leg, flow uint64, last int) Hop {
	if w.served && leg.Proxy == NoProxy {
		return Hop{Member: 0, Node: -1, Target: w.targets[0]}
	}
	if len(w.hops) == 0 {
		return Hop{Member: -1, Node: -1, Fault: ledger.FaultNoTarget}
	}
	for _, hop := range w.hops {
		if hop.Member == last {
			return hop
		}
	}
	return w.hops[engine.Below(flow, len(w.hops))]
}

func (w *drawnWorld) Enter(_, node int) *Way               { return w.ways[node] }
func (w *drawnWorld) Began(int, int, int, *Target)         {}
func (w *drawnWorld) Resolve(int) ([]*Target, engine.Time) { return w.targets[1:], 2 * sec }
func (w *drawnWorld) Judge(leg Leg, member, node int, target netip.AddrPort, f ledger.Fault) ledger.Blame {
	to := uint64(leg.Proxy+member+node+3) + word(target) //nolint:gosec // a few
	return ledger.Blame{Cause: ledger.Cause(f) + 1, Actor: ledger.Actor(to % uint64(ledger.NumActors)), Elsewhere: to%2 == 0}
}

const drawnNodes, drawnServers = 3, 4

// drawWorld has each server with its own time for an answer, and each node lead to some of them. past has connections sent past the nodes.
func drawWorld(r *rand.Rand, served, past bool) *drawnWorld {
	w := &drawnWorld{served: served, secret: r.IntN(4) == 0, ways: make([]*Way, drawnNodes)}
	for i := range drawnServers {
		least := engine.Time(r.IntN(40)) * ms
		s := &drawnServer{fakeServer: fakeServer{id: uint64(i), accepts: true, answers: true, idle: oneOf(r, 0, 0, 150*ms, sec)}}
		s.dist = engine.Must(engine.Uniform(least, least+engine.Time(r.IntN(60))*ms))
		if r.IntN(3) == 0 {
			s.dist = engine.Constant(oneOf[engine.Time](r, 20, 60, 69, 70) * ms) // with the round trip as long as a client may wait
		}
		w.servers = append(w.servers, s)
		w.targets = append(w.targets, &Target{Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)}), 80), Server: s})
	}
	for node := range w.ways {
		w.drawWay(r, node)
	}
	w.drawHops(r, past)
	return w
}

// behind are the targets that rules and a load balancer lead to.
func (w *drawnWorld) behind() []*Target {
	if w.served {
		return w.targets[1:]
	}
	return w.targets
}

func (w *drawnWorld) drawWay(r *rand.Rand, node int) {
	way := &Way{Verdict: packet.Endpoints}
	switch r.IntN(8) {
	case 0:
		way.Verdict = oneOf(r, packet.Reject, packet.Drop, packet.None)
	case 1:
		way.Targets = append(way.Targets, &Target{Addr: netip.MustParseAddrPort("10.0.9.9:80")}) // nothing ever was there
		fallthrough
	default:
		for _, i := range r.Perm(len(w.behind()))[:1+r.IntN(len(w.behind()))] {
			way.Targets = append(way.Targets, w.behind()[i])
		}
	}
	w.ways[node] = way
}

func (w *drawnWorld) drawHops(r *rand.Rand, past bool) {
	w.hops = nil
	if r.IntN(10) == 0 {
		return
	}
	if past {
		for _, i := range r.Perm(len(w.behind()))[:1+r.IntN(len(w.behind()))] {
			target := w.behind()[i]
			w.hops = append(w.hops, Hop{Member: int(target.Server.ID()), Node: -1, Target: target}) //nolint:gosec // a few
		}
	} else {
		for _, node := range r.Perm(drawnNodes)[:1+r.IntN(drawnNodes)] {
			w.hops = append(w.hops, Hop{Member: node, Node: node})
		}
	}
	slices.SortFunc(w.hops, func(a, b Hop) int { return cmp.Compare(a.Member, b.Member) })
}

func oneOf[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// drawSpec draws what a client of some kind leaves open.
func drawSpec(r *rand.Rand, spec Spec) Spec {
	spec.Interval = engine.Time(5+r.IntN(40)) * ms
	spec.Arrivals = oneOf(r, spec.Arrivals, spec.Arrivals, Constant)
	spec.Clients = 1 + r.IntN(12)
	spec.Timeout = oneOf(r, 0, 70*ms, sec, 4*sec)
	spec.ConnectTimeout = oneOf(r, 0, 0, 500*ms, 2*sec)
	spec.Retries, spec.RetryDelay = oneOf(r, 0, 0, 1, 2), oneOf(r, 0, 100*ms)
	spec.RTT = oneOf(r, 0, ms, 10*ms, 50*ms)
	if spec.Arrivals == ClosedLoop {
		spec.RTT = max(spec.RTT, ms) // without, a client that is refused asks again at the same moment, for ever
	}
	spec.ClientIdle = oneOf(r, 0, 0, 100*ms, sec)
	spec.RepeatReused, spec.WaitForReady = r.IntN(2) == 0, r.IntN(2) == 0
	spec.IdleLimit, spec.IdleForgets = oneOf(r, 0, 0, 80*ms, 600*ms), r.IntN(2) == 0
	spec.ICMPFiltered = r.IntN(4) == 0
	spec.Unreachable, spec.UnreachableAfter = r.IntN(4) == 0, oneOf(r, 3*sec, 20*ms)
	spec.LinearSYNs = oneOf(r, 0, 4)
	if spec.Proxy != nil {
		own := *spec.Proxy
		own.RTT, own.Retries, own.RetryReset = oneOf(r, 0, ms, 20*ms), r.IntN(3), r.IntN(2) == 0
		own.ConnectTimeout, own.Idle = oneOf(r, 0, 200*ms, sec), oneOf(r, 0, 100*ms, sec)
		spec.Proxy = &own
	}
	return spec
}

// happens does something to a world, and has its clients hear of it.
func (w *drawnWorld) happens(r *rand.Rand, tr *Traffic, now engine.Time, past bool) {
	server := uint64(r.IntN(drawnServers)) //nolint:gosec // a few
	node := r.IntN(drawnNodes)
	s := w.servers[server]
	switch r.IntN(10) {
	case 0, 1: // it ends
		s.accepts, s.answers = false, r.IntN(2) == 0
		tr.Changed(now)
		tr.Cut(server, now, oneOf(r, ledger.FaultKilled, ledger.FaultExited))
		tr.CloseIdle(server, now, true)
	case 2: // it is back
		s.accepts, s.answers = true, true
		tr.Changed(now)
	case 3:
		tr.CloseIdle(server, now, false)
	case 4:
		if s.closes = r.IntN(2) == 0; s.closes {
			tr.CloseAnswered(server, now)
		}
		tr.GoAway(server, now)
	case 5:
		w.drawWay(r, node)
		tr.Resynced(node, now)
		for stream := range tr.streams {
			tr.Clean(stream, node, []netip.AddrPort{w.targets[1].Addr})
		}
	case 6:
		w.drawHops(r, past)
		for stream := range tr.streams {
			tr.Redirected(stream, now)
		}
	case 7:
		of := r.Uint64N(3)
		tr.CutVia(Leg{r.IntN(len(tr.streams)), NoProxy}, now, func(flow uint64, member int) bool { return (flow+uint64(member))%3 == of }) //nolint:gosec // only told apart
	case 8:
		tr.NodeGone(node, w.reached(node, false), now)
	default:
		tr.NodeBack(node, w.reached(node, true), now)
	}
}

// reached has the servers on a node, whose numbers it returns, answer or not.
func (w *drawnWorld) reached(node int, answers bool) (ids []uint64) {
	for _, s := range w.servers {
		if int(s.id%drawnNodes) == node { //nolint:gosec // a few
			s.accepts, s.answers = answers, answers
			ids = append(ids, s.id)
		}
	}
	return ids
}

// drawnRun is some seconds of a drawn world in which something happens now and then, and what becomes of all requests.
func drawnRun(t *testing.T, seed uint64, specs []Spec, followed bool) string {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // the same each time
	served, past := specs[0].Proxy != nil && specs[0].Proxy.Served, r.IntN(2) == 0
	w := drawWorld(r, served, past)
	for _, s := range w.servers {
		s.full, s.errs = r.IntN(20) == 0, r.IntN(20) == 0
	}
	for i := range specs {
		specs[i] = drawSpec(r, specs[i])
		specs[i].Unreachable = specs[i].Unreachable && !w.secret
	}
	eng := engine.New(seed, engine.Limits{})
	led := ledger.New(len(specs), 10000, eng.Hash())
	tr := newKept(t, w, led, eng, specs)
	if followed {
		tr.DrawAll()
	}
	account := ""
	pause := oneOf(r, 500, 500, 1500)
	for now := 300 * ms; now < 4*sec; now += engine.Time(50+r.IntN(pause)) * ms {
		tr.RunUntil(now)
		if r.IntN(3) == 0 {
			for server := range uint64(drawnServers) {
				account += fmt.Sprint(tr.Until(server, now), " ")
			}
		}
		w.happens(r, tr, now, past)
	}
	tr.Stop(5 * sec)
	tr.RunUntil(engine.Never)
	led.Seal()
	account += fmt.Sprintf("%s %+v", eng.Hash(), led.All())
	for i := range specs {
		account += fmt.Sprintf(" cut %d, dark %+v", tr.Cuts(i), tr.Dark(i, 20*sec))
	}
	return account
}

// drawnSeeds are the first ones, and one of a server that is told to end while connections to it have been opened which are not looked at yet.
func drawnSeeds() []uint64 {
	const first, toldToEnd = 20, 225
	seeds := []uint64{toldToEnd}
	for seed := range uint64(first) {
		seeds = append(seeds, seed)
	}
	return seeds
}

// Clients of every kind in worlds in which anything may happen at any time lose the same requests whether these are counted or followed.
func TestDrawnWorldsAreAlikeWhetherRequestsAreFollowedOrNot(t *testing.T) {
	t.Parallel()
	for name, kinds := range map[string][]Spec{ // order: each for itself
		"a connection each":     {{}},
		"a pool":                {{KeepAlive: true}},
		"HTTP/2":                {{Kind: HTTP2}},
		"sessions":              {{Kind: Session}},
		"questions":             {{Kind: Datagram}},
		"flows":                 {{Kind: FixedFlow}},
		"by name":               {{Kind: Named}},
		"one after the other":   {{Arrivals: ClosedLoop}, {KeepAlive: true}},
		"a provider's proxy":    {{Proxy: &Proxy{}}, {Proxy: &Proxy{}, KeepAlive: true}},
		"proxies":               {{Proxy: &Proxy{Served: true}}, {Proxy: &Proxy{Served: true}, KeepAlive: true}},
		"HTTP/2 with a proxy":   {{Proxy: &Proxy{Served: true}, Kind: HTTP2}},
		"several":               {{}, {KeepAlive: true}, {Kind: HTTP2}},
		"several with one each": {{Kind: Datagram}, {}, {Kind: FixedFlow}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, seed := range drawnSeeds() {
				counted, followed := drawnRun(t, seed, slices.Clone(kinds), false), drawnRun(t, seed, slices.Clone(kinds), true)
				if counted != followed {
					t.Errorf("seed %d: counted\n%s\nfollowed\n%s", seed, counted, followed)
				}
			}
		})
	}
}
