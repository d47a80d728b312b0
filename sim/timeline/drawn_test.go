package timeline

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/cluster"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

func oneOf[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// drawnScript is a script in which anything may happen, in whatever order.
type drawnScript struct {
	*script
	*rand.Rand
	pods, nodes int
	objects     []*api.Pod // the last version of each
	container   corev1.Container
	now         engine.Time
}

func newDrawn(t *testing.T, seed uint64, pods, nodes int) *drawnScript {
	t.Helper()
	d := &drawnScript{script: newScript(t), Rand: rand.New(rand.NewPCG(seed, 4)), pods: pods, nodes: nodes} //nolint:gosec // the same each time
	d.sc = d.sc.Clone()
	for n := len(d.sc.Nodes); n < nodes; n++ {
		extra := d.sc.Nodes[0]
		extra.Name = fmt.Sprintf("node-%d", n+1)
		d.sc.Nodes = append(d.sc.Nodes, extra)
		d.script.nodes = append(d.script.nodes, node{ways: make([][]use, len(d.sc.Traffic))})
	}
	d.sc.Traffic = append([]world.Traffic{}, d.sc.Traffic...)
	if lb := (&world.LoadBalancer{Preset: oneOf(d.Rand, "", "aws-nlb-ip"), Target: oneOf(d.Rand, world.TargetPods, world.TargetNodes)}); d.IntN(2) == 0 {
		d.sc.Traffic[0].LB = lb
		if d.IntN(2) == 0 {
			d.sc.Traffic[1].LB = lb
		}
	}
	d.container = corev1.Container{Name: "web", ReadinessProbe: &corev1.Probe{}, LivenessProbe: &corev1.Probe{}, StartupProbe: &corev1.Probe{}}
	for i := range pods {
		p := &api.Pod{ID: api.PodID(i), Name: fmt.Sprintf("default/web r%d %d", i%2, i), Revision: i % 2, Node: d.IntN(nodes), Ready: d.IntN(3) > 0, DeletedAt: api.Never}
		d.objects = append(d.objects, p)
		if d.IntN(3) > 0 {
			d.at(0, event.Event{Kind: event.Known, Object: p, OK: d.IntN(2) == 0})
		}
	}
	return d
}

// some are pods, ascending.
func (d *drawnScript) some() (list []api.PodID) {
	for _, i := range d.Perm(d.pods)[:d.IntN(min(d.pods, 4)+1)] {
		list = append(list, api.PodID(i))
	}
	slices.Sort(list)
	return list
}

// writes is a new version of a pod.
func (d *drawnScript) writes(id int) {
	p := *d.objects[id]
	switch d.IntN(4) {
	case 0:
		p.Ready = !p.Ready
	case 1:
		p.DeletedAt = min(p.DeletedAt, d.now)
	case 2:
		p.Gone = p.Deleting()
	default:
		p.Node = oneOf(d.Rand, -1, p.Node, p.Node)
	}
	d.objects[id] = &p
	d.at(d.now, event.Event{Kind: event.Wrote, Object: &p})
}

// ofNode is something that happens to a node, or to its proxy.
func (d *drawnScript) ofNode(n int) event.Event {
	kind := oneOf(d.Rand, event.Rules, event.Rules, event.Rules, event.HealthPort, event.Wait, event.SyncBegan, event.SyncEnded, event.NodeGone, event.NodeBack, event.NodeReady, event.Cordoned,
		event.Tainted, event.Untainted, event.Joined)
	e := event.Event{Kind: kind, Pod: -1, Node: n, Stream: -1, OK: d.IntN(2) == 0, Until: d.now + engine.Time(d.IntN(2000))*ms, Others: d.IntN(4) == 0, Refusal: "it reports nothing"}
	if kind == event.Rules {
		e.Stream, e.Verdict = d.IntN(len(d.sc.Traffic)), oneOf(d.Rand, packet.Endpoints, packet.Endpoints, packet.Reject, packet.Drop)
		if e.Verdict == packet.Endpoints {
			e.Targets, e.Fallback = d.some(), d.IntN(4) == 0
		}
	}
	return e
}

// ofPod is something that happens to a pod.
func (d *drawnScript) ofPod(id int) event.Event {
	kind := oneOf(d.Rand, event.Created, event.Deleted, event.Ready, event.NotReady, event.Gone, event.Endpoint, event.EndpointGone, event.Term, event.Kill, event.Listening, event.Closed,
		event.Ended, event.EvictionRefused, event.Volume, event.Started, event.Probed, event.Gate)
	return event.Event{
		Kind: kind, Pod: api.PodID(id), Node: -1, Stream: -1, OK: d.IntN(2) == 0, Main: d.IntN(3) > 0, Ending: event.Ending(d.IntN(5)), Container: &d.container, //nolint:gosec // a few
		Probe: oneOf(d.Rand, d.container.ReadinessProbe, d.container.LivenessProbe, d.container.StartupProbe), Gate: "example.com/one", Refusal: "a budget",
		Conditions: oneOf(d.Rand, endpoints.Ready|endpoints.Serving, endpoints.Serving|endpoints.Terminating, endpoints.Terminating, 0),
	}
}

// ofTarget is what a load balancer does.
func (d *drawnScript) ofTarget() event.Event {
	member := d.IntN(min(d.pods, d.nodes))
	e := event.Event{Kind: event.Target, Proxy: -1, Pod: -1, Node: -1, Member: member, State: oneOf(d.Rand, "initial", "healthy", "failing", "draining", "removed"), Stream: 0}
	if d.sc.Traffic[1].LB != nil {
		e.Stream = d.IntN(2)
	}
	if d.IntN(2) == 0 {
		e.Kind, e.Member, e.Members, e.Fallback = event.Sends, -1, d.Perm(min(d.pods, d.nodes))[:d.IntN(3)], d.IntN(5) == 0
		slices.Sort(e.Members)
	}
	return e
}

func (d *drawnScript) fails(number uint64) {
	q := ledger.Request{
		Number: number, Stream: d.IntN(len(d.sc.Traffic)), Arrival: d.now - engine.Time(d.IntN(50))*ms, End: d.now, Outcome: oneOf(d.Rand, ledger.Refused, ledger.Timeout), Node: d.IntN(d.nodes+1) - 1,
		Blame: ledger.Blame{Cause: ledger.Cause(1 + d.IntN(int(ledger.NumCauses)-1))}, Attempts: 1, //nolint:gosec // a few
	}
	if d.IntN(3) > 0 {
		q.Pod = d.objects[d.IntN(d.pods)].Name
	}
	d.Begin(q.Stream, number, q.Arrival)
	d.Fail(&q)
}

// plays has so many things happen, of nodes and pods of which the first have most.
func (d *drawnScript) plays(steps int) *Timeline {
	d.t.Helper()
	for i := range steps {
		d.now += engine.Time(d.IntN(300)) * ms
		node, pod := min(d.IntN(d.nodes), d.IntN(d.nodes)), d.IntN(d.pods)
		switch d.IntN(10) {
		case 0, 1, 2:
			d.at(d.now, d.ofNode(node))
		case 3, 4, 5:
			d.at(d.now, d.ofPod(pod))
		case 6:
			d.writes(pod)
		case 7:
			if d.sc.Traffic[0].LB != nil {
				d.at(d.now, d.ofTarget())
			}
		case 8:
			d.fails(uint64(i)) //nolint:gosec // a few
		default:
			stream, late := d.IntN(len(d.sc.Traffic)), d.IntN(3) == 0
			d.Begin(stream, uint64(i), d.now)                                  //nolint:gosec // a few
			d.Succeed(stream, uint64(i), 0, d.now+10*ms, d.IntN(4) == 0, late) //nolint:gosec // a few
			d.Counted(stream, uint64(i)*100, uint64(d.IntN(20)))               //nolint:gosec // a few
		}
	}
	var refs []cluster.PodRef
	for _, p := range d.objects {
		refs = append(refs, cluster.PodRef{ID: p.ID, Name: p.Name, Revision: p.Revision})
	}
	return d.Build(1, d.now+sec, refs)
}

// Lanes of runs in which anything happens in whatever order: few pods and nodes, and more than have a lane.
func TestLanesOfDrawnRuns(t *testing.T) {
	t.Parallel()
	for seed := range uint64(120) {
		d := newDrawn(t, seed, 2+int(seed%5), 2+int(seed%4)) //nolint:gosec // a few
		d.plays(120)
	}
	large := newDrawn(t, 1000, 80, 75)
	if tl := large.plays(600); len(tl.Pods) > mostPods || len(tl.Nodes) != mostNodes || len(tl.LeftOut) < 2 {
		t.Errorf("%d pods, %d nodes, %q", len(tl.Pods), len(tl.Nodes), tl.LeftOut)
	}
}

// A lane has as many spans and marks as there is room for, and a timeline says how many are not shown.
func TestMoreSpansThanALaneHas(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.sc = s.sc.Clone()
	s.sc.Traffic = append([]world.Traffic{}, s.sc.Traffic...)
	s.sc.Traffic[1].LB = &world.LoadBalancer{Target: world.TargetPods}
	s.at(0, event.Event{Kind: event.Known, Object: object(func(*api.Pod) {}), OK: true})
	for i := range mostSpans + 20 {
		now, even := engine.Time(i+1)*sec, i%2 == 0
		of := func(e event.Event) { s.at(now, e) }
		of(event.Event{Kind: event.Wrote, Object: object(func(p *api.Pod) { p.Ready = even })})
		of(event.Event{Kind: event.Rules, Pod: -1, Node: 0, Stream: 0, Verdict: packet.Endpoints, Targets: []api.PodID{api.PodID(i % 2)}}) //nolint:gosec // 0 or 1
		of(event.Event{Kind: event.HealthPort, Pod: -1, Node: 0, OK: even})
		of(event.Event{Kind: event.Wait, Pod: -1, Node: 0, Stream: -1, Until: now + 1})
		of(event.Event{Kind: event.SyncEnded, Pod: -1, Node: 0})
		of(event.Event{Kind: event.Cordoned, Pod: -1, Node: 0, OK: even})
		of(event.Event{Kind: event.Target, Pod: -1, Node: -1, Stream: 1, Proxy: -1, Member: 0, State: map[bool]string{true: "healthy", false: "failing"}[even]})
		of(event.Event{Kind: event.Sends, Pod: -1, Node: -1, Stream: 1, Proxy: -1, Member: -1, Members: []int{0, 1}[:i%2]})
		of(event.Event{Kind: map[bool]event.Kind{true: event.Listening, false: event.Closed}[even], Pod: 0, Node: -1, Stream: -1, OK: true})
	}
	tl := s.Build(1, 1000*sec, refs)
	for name, got := range map[string]int{"phases": len(tl.Pods[0].Phases), "listens": len(tl.Pods[0].Listens), "uses": len(tl.Nodes[0].Ways[0].Uses), "states": len(tl.Targets[0].States)} { // order: each for itself
		if got > mostSpans {
			t.Errorf("%d %s", got, name)
		}
	}
	if !slices.ContainsFunc(tl.LeftOut, func(s string) bool { return strings.HasPrefix(s, "not shown for want of room") }) {
		t.Errorf("left out: %q", tl.LeftOut)
	}
}
