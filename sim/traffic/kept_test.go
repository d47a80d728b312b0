package traffic

import (
	"flag"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/test/golden"
)

// keptRuns has what becomes of the requests of each test, whatever else it asks: what the ledger says, what the world is asked and told, in which
// order and when, and what is left of all connections.
const keptRuns = "testdata/kept/runs.txt"

var update = flag.Bool("update", false, "rewrite "+keptRuns+", where all tests are run")

var keptOf = golden.NewSums(keptRuns, update, "runs", "requests", "failed", "rescued", "slow", "questions")

func TestMain(m *testing.M) { os.Exit(keptOf.Main(m)) }

// newKept is New, and keeps what becomes of it.
func newKept(t *testing.T, w World, led *ledger.Ledger, eng *engine.Engine, specs []Spec) *Traffic {
	t.Helper()
	a := &asked{World: w, led: led}
	a.tr = New(a, led, eng, specs)
	keptOf.Keep(t, func() (string, []int) {
		all := led.All()
		return a.account(eng), []int{1, int(all.Total), int(all.Failed), int(all.Rescued), int(all.Slow), a.questions} //nolint:gosec // a few
	})
	return a.tr
}

// asked is a World that counts what it is asked, and sums up what it answers, and how things are meanwhile.
type asked struct {
	World
	tr        *Traffic
	led       *ledger.Ledger
	questions int
	sum       engine.TraceHash
}

func (a *asked) hear(words ...uint64) {
	a.questions++
	all := ledger.Totals{}
	if a.tr != nil {
		words, all = append(words, uint64(a.tr.Clock())), a.led.All() //nolint:gosec // only told apart
	}
	a.sum.Record("", append(words, all.Total, all.OK, all.Attempts, all.FailedAttempts)...)
}

func (a *asked) FirstHop(leg Leg, flow uint64, last int) Hop {
	hop := a.World.FirstHop(leg, flow, last)
	a.hear(1, uint64(leg.Stream), uint64(leg.Proxy), flow, uint64(last), uint64(hop.Member), uint64(hop.Node)) //nolint:gosec // only told apart
	return hop
}

func (a *asked) FirstHops(stream int) []Hop {
	hops := a.World.FirstHops(stream)
	a.hear(2, uint64(stream), uint64(len(hops))) //nolint:gosec // a few
	return hops
}

func (a *asked) Enter(stream, node int) *Way {
	way := a.World.Enter(stream, node)
	a.hear(3, uint64(stream), uint64(node), uint64(len(way.Targets))) //nolint:gosec // a few
	return way
}

func (a *asked) Resolve(stream int) ([]*Target, engine.Time) {
	list, ttl := a.World.Resolve(stream)
	a.hear(4, uint64(stream), uint64(len(list))) //nolint:gosec // a few
	return list, ttl
}

func (a *asked) Began(stream, node, i int, target *Target) {
	a.World.Began(stream, node, i, target)
	a.hear(5, uint64(stream), uint64(node), uint64(i), word(target.addr())) //nolint:gosec // only told apart
}

func (a *asked) Judge(leg Leg, member, node int, target netip.AddrPort, fault ledger.Fault) ledger.Blame {
	a.hear(6, uint64(leg.Stream), uint64(leg.Proxy), uint64(member), uint64(node), word(target), uint64(fault)) //nolint:gosec // only told apart
	return a.World.Judge(leg, member, node, target, fault)
}

// word is the end of an address.
func word(addr netip.AddrPort) uint64 {
	if !addr.IsValid() {
		return 0
	}
	b := addr.Addr().As4()
	return uint64(b[2])<<8 | uint64(b[3])
}

// account is all that has come of a run.
func (a *asked) account(eng *engine.Engine) string {
	var b strings.Builder
	now := a.tr.Clock()
	fmt.Fprintf(&b, "%s asked %s, idle %v at %d\n", eng.Hash(), &a.sum, a.tr.Idle(), now)
	for i, s := range a.tr.streams {
		fmt.Fprintf(&b, "%+v %v cut %d, dark %+v\n", a.led.Totals(i), a.led.Outcomes(i), a.tr.Cuts(i), a.tr.Dark(i, now))
		fmt.Fprintf(&b, "pool %d waiting %d silence %d sure %d calm %v odd %v news %d\n", len(s.pool), len(s.waiting), len(s.silence.list), len(s.sure.list), s.calm.on, s.odd, s.news)
		for _, c := range s.pool {
			writeConn(&b, c)
		}
		for _, p := range s.proxies {
			if p == nil {
				continue
			}
			fmt.Fprintf(&b, "proxy with room for %d, %d, %d\n", len(p.places.busy), len(p.places.idle), len(p.places.empty))
		}
	}
	for server := range uint64(len(a.tr.serving)) {
		f := &a.tr.serving[server]
		fmt.Fprintf(&b, "%d of %d and %d of %d under way, until %d\n", f.live, len(f.list), f.livePlain, len(f.plain), a.tr.Until(server, now))
	}
	for _, f := range a.led.Failures() {
		fmt.Fprintf(&b, "%+v\n", f)
	}
	return b.String()
}

func writeConn(b *strings.Builder, c *conn) {
	fmt.Fprintf(b, "connection to %s by %d and %d: free %d used %d slack %d closed %d sent %d uses %d place %d, %v %v %v %v\n", c.target.addr(), c.member, c.node, c.free,
		c.used, c.slack, c.closed, c.sent, c.uses, c.place, c.counted, c.vacant, c.cut, c.gone)
}
