package sim

import (
	"net/netip"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/cluster"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/traffic"
)

// between is what lies between clients and pods: the nodes' rules and the pods' sockets.
type between run

var _ traffic.World = (*between)(nil)

// Version changes with every event of the world.
func (b *between) Version() uint64 { return b.eng.Events() }

// Nodes lists the nodes a stream's new connections go to now.
func (b *between) Nodes(stream int) []int { return b.cluster.NodesFor(b.entries[stream]) }

// Enter asks the rules in force on a node where a stream's new connections go.
func (b *between) Enter(stream, node int) traffic.Way {
	d := b.cluster.Enter(b.entries[stream], node)
	way := traffic.Way{Verdict: d.Verdict}
	for _, t := range d.Targets {
		way.Targets = append(way.Targets, traffic.Target{Addr: t.Addr, Server: b.server(t.Addr)})
	}
	return way
}

// Judge blames a failed attempt.
func (b *between) Judge(stream, node int, target netip.AddrPort, fault ledger.Fault) ledger.Blame {
	return b.cluster.Judge(b.entries[stream], node, target, fault)
}

// server is an Instance as traffic meets it.
type server struct {
	instance *cluster.Instance
	run      *run
	slots    []engine.Time // with a concurrency limit: when each slot is free
}

// server returns what runs at a pod address, nil when nothing ever did.
func (b *between) server(addr netip.AddrPort) traffic.Server {
	i := b.cluster.Instance(addr.Addr())
	if i == nil {
		return nil
	}
	s := b.servers[i.IP]
	if s == nil || s.instance != i {
		s = &server{instance: i, run: (*run)(b)}
		b.servers[i.IP] = s
	}
	return s
}

// Accepts says whether the pod takes new connections.
func (s *server) Accepts() bool { return s.instance.Accepts() }

// Answers says whether the pod's kernel is there to refuse them at least.
func (s *server) Answers() bool { return s.instance.Sandbox }

// Name is the pod's name.
func (s *server) Name() string { return s.run.cluster.PodName(s.instance.Pod) }

// ID is the pod's number.
func (s *server) ID() uint64 { return uint64(s.instance.Pod) }

// Serve takes a request in. With a concurrency limit it waits for the first free slot, if the
// queue has room.
func (s *server) Serve(draw uint64, now engine.Time) (engine.Time, bool) {
	app := s.instance.App
	took := app.Serve.Sample(draw)
	if app.Concurrency == 0 {
		return now + took, true
	}
	if s.slots == nil {
		s.slots = make([]engine.Time, app.Concurrency+app.Queue)
	}
	slices.Sort(s.slots)
	// The last Concurrency entries are the slots' ends; a request beyond waits for the first
	// of them, and one beyond the queue is turned away.
	busy := len(s.slots)
	for busy > 0 && s.slots[len(s.slots)-busy] <= now {
		busy--
	}
	if busy == len(s.slots) {
		return 0, false
	}
	start := now
	if busy >= app.Concurrency {
		start = s.slots[len(s.slots)-app.Concurrency]
	}
	s.slots[0] = start + took
	return start + took, true
}

// observer carries what happens to pods to the connections they have.
type observer run

var _ cluster.Observer = (*observer)(nil)

// ListenerChanged needs nothing done: new connections ask for themselves.
func (o *observer) ListenerChanged(*cluster.Instance) {}

// Terminated closes idle connections of servers that shut down gracefully.
func (o *observer) Terminated(i *cluster.Instance) {
	if o.traffic != nil && !i.App.IgnoresSIGTERM && !i.Listening {
		o.traffic.CloseIdle(uint64(i.Pod), o.eng.Now(), false)
	}
}

// Ended cuts what was in flight and every connection.
func (o *observer) Ended(i *cluster.Instance, how cluster.Ending) {
	if o.traffic == nil {
		return
	}
	fault := map[cluster.Ending]ledger.Fault{
		cluster.EndedByItself: ledger.FaultExited, cluster.EndedKilled: ledger.FaultKilled,
		cluster.EndedLiveness: ledger.FaultLiveness, cluster.EndedCrashed: ledger.FaultCrashed,
	}[how]
	o.traffic.Cut(uint64(i.Pod), o.eng.Now(), fault)
	o.traffic.CloseIdle(uint64(i.Pod), o.eng.Now(), true)
}

// SandboxGone needs nothing done: new connections ask for themselves.
func (o *observer) SandboxGone(*cluster.Instance) {}

// InFlightUntil asks the traffic how long the instance has work.
func (o *observer) InFlightUntil(i *cluster.Instance) engine.Time {
	if o.traffic == nil {
		return o.eng.Now()
	}
	return o.traffic.Until(uint64(i.Pod), o.eng.Now())
}
