package cluster

import (
	"encoding/binary"
	"flag"
	"fmt"
	"hash/fnv"
	"net/netip"
	"os"
	"sync"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/nodeproxy"
	"github.com/lameduck-proxy/lameduck/sim/world"
	"github.com/lameduck-proxy/lameduck/test/golden"
)

// keptWorlds has what happens in the worlds that tests of this package make, whatever else they ask of them: a row for each test, with how many
// there are, how much happens in them, and its sum.
const keptWorlds = "testdata/worlds.txt"

var update = flag.Bool("update", false, "rewrite "+keptWorlds+", where all tests are run")

var kept = golden.NewRows(keptWorlds, update)

// running is what has happened so far in the worlds of tests that are running.
var running = struct {
	sync.Mutex
	of map[string]*happened
}{of: map[string]*happened{}}

func TestMain(m *testing.M) { os.Exit(kept.Main(m)) }

// happened is what has happened in the worlds of a test.
type happened struct {
	worlds []*history
}

// history is what has happened in one of them.
type history struct {
	world  *testWorld
	sum    uint64
	events int
	asked  int // how often its questions were asked
}

// keep listens to all that happens in a world, and asks some questions meanwhile and when the test ends, when all is compared with what it was
// before. Tests make their worlds in any order.
func keep(t *testing.T, w *testWorld, log *event.Log) {
	t.Helper()
	h := &history{world: w}
	w.history = h
	log.Subscribe(func(e event.Event) {
		h.sum, h.events = sumOf(h.sum, &e), h.events+1
	})
	running.Lock()
	defer running.Unlock()
	own := running.of[t.Name()]
	if own == nil {
		own = &happened{}
		running.of[t.Name()] = own
		t.Cleanup(func() { compareKept(t, own) })
	}
	own.worlds = append(own.worlds, h)
}

func compareKept(t *testing.T, own *happened) {
	t.Helper()
	sum, events := uint64(0), 0
	for _, h := range own.worlds {
		if len(own.worlds) <= askedWorlds {
			h.ask()
		}
		sum, events = sum+h.sum, events+h.events
	}
	what := fmt.Sprintf("%d worlds, %d events, %016x", len(own.worlds), events, sum)
	running.Lock()
	delete(running.of, t.Name())
	running.Unlock()
	if !t.Failed() {
		kept.Compare(t, t.Name(), what, "")
	}
}

// A test's worlds are asked at its end if they are no more than askedWorlds, of at most askedNodes nodes each. Some are asked
// meanwhile, too, up to askedMeanwhile times: which ones depends on nothing but what happens in them.
const askedWorlds, askedNodes, askedMeanwhile = 20, 2, 2

func (h *history) askMeanwhile() {
	if h.asked++; h.asked <= askedMeanwhile && h.sum%3 == 0 {
		h.ask()
	}
}

// ask adds what a world answers to those who judge it: of itself, its workloads, its nodes, and where requests go and fail.
func (h *history) ask() {
	defer func() {
		if recover() != nil { // some worlds are made without what a question is about: that they have no answer is kept, too
			h.sum++
		}
	}()
	w := h.world
	b := binary.LittleEndian.AppendUint64(nil, h.sum)
	b = fmt.Append(b, w.lines, w.Unrest(), w.CrashLooping(), w.Coming(), w.Drained())
	for _, o := range w.Overruled() {
		b = fmt.Append(b, o.Node, o.Budget, o.Pod.Name, o.Why, o.By, o.Limit, o.Left)
	}
	stuck := w.AllThatCannotEnd()
	if s := w.StuckRollout(); s != nil {
		stuck = append(stuck, *s)
	}
	for _, s := range stuck {
		b = fmt.Append(b, s.Workload, s.Drain, s.Budget != nil, s.Why, s.What, s.Path)
	}
	for i := range w.sc.Workloads {
		gaps, most := w.Gaps(i)
		b = fmt.Append(b, w.Usable(i), w.Dark(i), gaps, most, w.FullestNode(w.sc.Workloads[i].Name(), nil))
	}
	for n := range w.sc.Nodes {
		b = fmt.Append(b, w.NodeInAPI(n), w.Dead(n), w.EligibleSettled(n), w.ProbeProxy(n))
	}
	for i := range w.sc.Services {
		svc := w.sc.Services[i].Service
		for _, port := range svc.Spec.Ports {
			for _, external := range []bool{false, true} {
				stream := world.Traffic{Service: svc.Namespace + "/" + svc.Name, Port: int(port.Port), Protocol: endpoints.TCP, External: external}
				if e, ok := w.Entry(stream); ok {
					b = h.askEntry(b, e)
				}
			}
		}
	}
	sum := fnv.New64a()
	_, _ = sum.Write(b)
	h.sum = sum.Sum64()
}

// askEntry asks where a stream goes, and who is to blame for each fault there, whether it is likely or not.
func (h *history) askEntry(b []byte, e Entry) []byte {
	w := h.world
	b = fmt.Append(b, w.NodesFor(e), w.Missing(e))
	targets := []netip.AddrPort{{}}
	for _, end := range w.SettledEndpoints(e) {
		b = fmt.Append(b, end.Pod, end.Node, end.Conditions)
		if i := w.PodInstance(end.Pod); i != nil && i.IP.IsValid() {
			targets = append(targets, netip.AddrPortFrom(i.IP, 8080))
		}
	}
	for n := range min(len(w.sc.Nodes), askedNodes) {
		b = fmt.Append(b, w.NodeHealthy(e, n), w.NodeHealthySettled(e, n), w.Reaches(e, n), w.ReachesSettled(e, n), w.ProbeHealthPort(e, n), w.Withdrawn(e, n))
		for _, target := range targets[:min(len(targets), 4)] {
			for fault := ledger.FaultRejected; fault <= ledger.FaultFiltered; fault++ {
				b = fmt.Append(b, w.Judge(e, n, target, fault))
			}
		}
	}
	return b
}

// sumOf adds what is said of an event to a sum.
func sumOf(sum uint64, e *event.Event) uint64 {
	flags := uint64(0)
	for i, is := range []bool{e.Fallback, e.OK, e.Others, e.Sidecar, e.Main} {
		if is {
			flags |= 1 << i
		}
	}
	b := binary.LittleEndian.AppendUint64(make([]byte, 0, 160), sum)
	add := func(n int64) { b = binary.LittleEndian.AppendUint64(b, uint64(n)) } //nolint:gosec // only told apart
	for _, n := range []int{int(e.Kind), int(e.Pod), e.Node, e.Stream, e.Service, e.Workload, int(e.Ending), int(e.Verdict), int(e.Seconds), len(e.Targets)} {
		add(int64(n))
	}
	for _, at := range []engine.Time{e.At, e.Until, e.Grace} {
		add(int64(at))
	}
	for _, pod := range e.Targets {
		add(int64(pod))
	}
	add(int64(flags)<<8 + int64(e.Conditions)) //nolint:gosec // a few bits
	b = append(append(append(b, e.Gate...), e.Refusal...), e.Name...)
	if e.Kind == event.Wrote {
		b = appendObject(b, e.Object)
	}
	h := fnv.New64a()
	_, _ = h.Write(b)
	return h.Sum64()
}

// appendObject adds all that an object says.
func appendObject(b []byte, object any) []byte {
	switch o := object.(type) {
	case *api.Pod:
		own := *o
		if own.ReplicaSet = nil; o.ReplicaSet != nil {
			b = fmt.Append(b, *o.ReplicaSet)
		}
		return fmt.Append(b, own)
	case *api.ReplicaSet:
		return fmt.Append(b, *o)
	case *api.Workload:
		return fmt.Append(b, *o)
	case *api.Node:
		return fmt.Append(b, *o)
	case *api.Budget:
		return fmt.Append(b, *o)
	case *nodeproxy.SliceWrite:
		return fmt.Append(b, o.Service, o.Records)
	default:
		return fmt.Appendf(b, "%T", o)
	}
}
