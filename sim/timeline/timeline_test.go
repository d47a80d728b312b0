package timeline

import (
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/cluster"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

const (
	sec = engine.Second
	ms  = engine.Millisecond
)

// webApp is the rolling restart of examples/web-app.yaml, of which tests take the nouns: a workload, a Service, three nodes, two clients.
func webApp(t *testing.T) *world.Scenario {
	t.Helper()
	data, err := os.ReadFile("../../examples/web-app.yaml")
	if err != nil {
		t.Fatal(err)
	}
	objects, _ := manifest.Load([]manifest.File{{Name: "web-app.yaml", Data: data}}, manifest.Options{})
	cases, _ := scenario.Infer(objects, scenario.Options{Actions: []string{"rollout"}})
	for i := range cases {
		if cases[i].Scenario != nil {
			return cases[i].Scenario
		}
	}
	t.Fatal("examples/web-app.yaml has no case")
	return nil
}

// script is a run made by hand: events at moments.
type script struct {
	*Recorder
	t     *testing.T
	log   *event.Log
	clock engine.Time
}

func newScript(t *testing.T) *script {
	t.Helper()
	s := &script{Recorder: NewRecorder(webApp(t), nil), t: t}
	s.log = s.Log()
	s.log.Begin(func() engine.Time { return s.clock })
	return s
}

func (s *script) at(at engine.Time, e event.Event) {
	s.clock = at
	s.log.Tell(e)
}

// object is a version of the only old pod, on node-2.
func object(edit func(*api.Pod)) *api.Pod {
	p := &api.Pod{ID: 0, Name: "default/web r0 0", Node: 1, Ready: true, DeletedAt: api.Never}
	edit(p)
	return p
}

var refs = []cluster.PodRef{{ID: 0, Name: "default/web r0 0"}, {ID: 1, Name: "default/web r1 0", Revision: 1}}

func when(at engine.Time) *engine.Time { return &at }

// dying is a pod that is deleted at 10 s, closes at 10.1 s and is gone at 12 s. node-1's rules let go of it at 10.05 s, in time,
// node-2's at 11 s, node-3's never lead to it.
func dying(s *script) {
	rules := func(at engine.Time, node int, pods ...api.PodID) {
		verdict := packet.Endpoints
		if len(pods) == 0 {
			verdict = packet.Reject
		}
		for stream := range 2 {
			s.at(at, event.Event{Kind: event.Rules, Pod: -1, Node: node, Stream: stream, Verdict: verdict, Targets: pods})
		}
	}
	of := func(at engine.Time, kind event.Kind) {
		s.at(at, event.Event{Kind: kind, Pod: 0, Node: -1, Stream: -1})
	}
	s.at(0, event.Event{Kind: event.Known, Object: object(func(*api.Pod) {}), OK: true})
	s.at(0, event.Event{Kind: event.Known, Object: object(func(p *api.Pod) { p.ID, p.Name, p.Revision = 1, "default/web r1 0", 1 }), OK: true})
	rules(0, 0, 0)
	rules(0, 1, 0)
	rules(0, 2, 1)
	s.at(10*sec, event.Event{Kind: event.Wrote, Object: object(func(p *api.Pod) { p.DeletedAt = 10 * sec })})
	of(10*sec, event.Deleted)
	s.at(10*sec+20*ms, event.Event{
		Kind: event.Endpoint, Pod: 0, Node: -1, Stream: -1, Conditions: endpoints.Serving | endpoints.Terminating,
	})
	rules(10*sec+50*ms, 0, 1)
	of(10*sec+100*ms, event.Term)
	of(10*sec+100*ms, event.Closed)
	s.at(10*sec+200*ms, event.Event{Kind: event.Wrote, Object: object(func(p *api.Pod) { p.DeletedAt, p.Ready = 10*sec, false })})
	s.at(10*sec+300*ms, event.Event{Kind: event.Wait, Pod: -1, Node: 1, Stream: -1, Until: 11 * sec})
	s.at(10*sec+400*ms, event.Event{Kind: event.Wait, Pod: -1, Node: 1, Stream: -1, Until: 11 * sec})
	rules(11*sec, 1)
	s.at(12*sec, event.Event{Kind: event.Wrote, Object: object(func(p *api.Pod) { p.DeletedAt, p.Gone = 10*sec, true })})
	of(12*sec, event.Gone)
	s.at(12*sec, event.Event{Kind: event.EndpointGone, Pod: 0, Node: -1, Stream: -1})
}

// What the API says of a pod and what its process does are apart.
func TestLaneOfAPodThatGoes(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	dying(s)
	got := s.Build(1, 20*sec, refs).Pods[0]
	want := PodLane{
		Name: "default/web r0 0", Called: "old pod 0", Workload: "default/web", Node: "node-2", Deleted: when(10 * sec), Gone: when(12 * sec),
		Phases: []Span{{0, 10 * sec, Ready}, {10 * sec, 10*sec + 200*ms, TerminatingServing}, {10*sec + 200*ms, 12 * sec, TerminatingNotServing}},
		Slices: []SliceLane{{"default/web", []Span{{0, 10*sec + 20*ms, Ready}, {10*sec + 20*ms, 12 * sec, TerminatingServing}}}},
		// It listens for 0.1 s after its deletion, and the slices say otherwise after 0.02 s.
		Listens: []Span{{0, 10*sec + 100*ms, "listening"}},
		Marks: []Mark{
			{10 * sec, "deleted", true, 7}, {10*sec + 100*ms, "SIGTERM", true, 11}, {10*sec + 100*ms, "closed", true, 12},
		},
		Like: -1,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// The band is from the moment at which the pod accepts nothing any more to that at which the last node has let go of it.
func TestBandOfAPodThatGoes(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	dying(s)
	for i, node := range []int{1, 1, 0} {
		s.Fail(&ledger.Request{Number: uint64(i), Arrival: 10*sec + 500*ms, End: 10*sec + 501*ms, Outcome: ledger.Refused, Node: node, Pod: "default/web r0 0"})
	}
	tl := s.Build(1, 20*sec, refs)
	want := []Band{{
		Deleted: when(10 * sec), Told: when(10*sec + 20*ms), From: when(10*sec + 100*ms), To: when(11 * sec), Last: "node-2", Lost: 3,
		Nodes: []NodeBand{
			{Node: 1, Proxy: -1, Name: "node-2", LetGo: when(11 * sec), Lost: 2, Event: 15, Like: -1}, {Node: 0, Proxy: -1, Name: "node-1", LetGo: when(10*sec + 50*ms), Lost: 1, Event: 9, Like: -1},
		},
	}}
	if d := cmp.Diff(want, tl.Bands); d != "" {
		t.Error(d)
	}
	if want := (Zero{10 * sec, "old pod 0 deleted", 0}); tl.Zero != want {
		t.Errorf("counts from %+v, want %+v", tl.Zero, want)
	}
}

// A node whose rules lead to a pod to the end never lets go of it, and its band has no end.
func TestANodeThatNeverLetsGo(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	dying(s)
	s.at(13*sec, event.Event{Kind: event.Rules, Pod: -1, Node: 2, Stream: 0, Verdict: packet.Endpoints, Targets: []api.PodID{0}, Fallback: true})
	b := s.Build(1, 20*sec, refs).Bands[0]
	if b.To != nil || b.Last != "node-3" || !b.Nodes[0].Fallback || b.Nodes[0].LetGo != nil {
		t.Errorf("%+v", b)
	}
}

// crashing is a machine with a pod on it, node-2, that is gone at 10 s; the control plane notices at 50 s, and deletes the pod at 300 s.
func crashing(s *script) {
	rules := func(at engine.Time, node int, pods ...api.PodID) {
		s.at(at, event.Event{Kind: event.Rules, Pod: -1, Node: node, Stream: 0, Verdict: packet.Endpoints, Targets: pods})
	}
	s.at(0, event.Event{Kind: event.Known, Object: object(func(*api.Pod) {}), OK: true})
	s.at(0, event.Event{Kind: event.Known, Object: object(func(p *api.Pod) { p.ID, p.Name, p.Revision = 1, "default/web r1 0", 1 }), OK: true})
	for node := range 3 {
		rules(0, node, 0, 1)
	}
	s.at(8*sec, event.Event{Kind: event.Action, Pod: -1, Node: 1, Stream: -1, Action: &world.Action{Operation: world.CrashNode{Node: "node-2"}}})
	s.at(10*sec, event.Event{Kind: event.NodeGone, Pod: -1, Node: 1, Stream: -1})
	s.at(10*sec, event.Event{Kind: event.Ended, Pod: 0, Node: -1, Stream: -1, Main: true, Ending: event.WithNode})
	s.at(10*sec, event.Event{Kind: event.Closed, Pod: 0, Node: -1, Stream: -1})
	rules(50*sec, 0, 1)
	rules(51*sec, 2, 1)
	s.at(300*sec, event.Event{Kind: event.Wrote, Object: object(func(p *api.Pod) { p.DeletedAt = 300 * sec })})
	s.at(300*sec, event.Event{Kind: event.Deleted, Pod: 0, Node: -1, Stream: -1})
	s.Fail(&ledger.Request{Arrival: 20 * sec, End: 30 * sec, Outcome: ledger.Timeout, Node: 2, Pod: "default/web r0 0"})
}

// Of a pod that ends with its machine people count from what was done to that, not from the deletion minutes later. The machine's own rules
// let go of it then: nothing is sent from a machine that is gone.
func TestBandOfAPodThatEndsWithItsMachine(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	crashing(s)
	tl := s.Build(1, 400*sec, refs)
	want := []NodeBand{
		{Node: 2, Proxy: -1, Name: "node-3", LetGo: when(51 * sec), Lost: 1, Event: tl.Bands[0].Nodes[0].Event, Like: -1},
		{Node: 0, Proxy: -1, Name: "node-1", LetGo: when(50 * sec), Event: tl.Bands[0].Nodes[1].Event, Like: -1},
		{Node: 1, Proxy: -1, Name: "node-2", LetGo: when(10 * sec), Gone: true, Event: tl.Bands[0].Nodes[2].Event, Like: -1},
	}
	if d := cmp.Diff(want, tl.Bands[0].Nodes); d != "" {
		t.Error(d)
	}
	if b := tl.Bands[0]; b.To == nil || *b.To != 51*sec || b.Last != "node-3" {
		t.Errorf("%+v", b)
	}
	if want := (Zero{8 * sec, "crash of node-2", 0}); tl.Zero != want {
		t.Errorf("counts from %+v, want %+v", tl.Zero, want)
	}
	if f := tl.Failures[0]; f.Zero != 8*sec {
		t.Errorf("its story counts from %v, want its first line, 8 s", f.Zero)
	}
}

// A machine that was gone before a pod went has nothing to do with it, and one that came back is there.
func TestANodeThatWasGoneBefore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		back bool
		want int
	}{{false, 2}, {true, 3}} {
		s := newScript(t)
		s.at(0, event.Event{Kind: event.Rules, Pod: -1, Node: 2, Stream: 0, Verdict: packet.Endpoints, Targets: []api.PodID{0}})
		s.at(sec, event.Event{Kind: event.NodeGone, Pod: -1, Node: 2, Stream: -1})
		if c.back {
			s.at(2*sec, event.Event{Kind: event.NodeBack, Pod: -1, Node: 2, Stream: -1})
		}
		s.at(10*sec, event.Event{Kind: event.Deleted, Pod: 0, Node: -1, Stream: -1})
		for node := range 2 {
			s.at(11*sec, event.Event{Kind: event.Rules, Pod: -1, Node: node, Stream: 0, Verdict: packet.Endpoints, Targets: []api.PodID{0}})
		}
		s.at(11*sec, event.Event{Kind: event.Wrote, Object: object(func(p *api.Pod) { p.DeletedAt = 10 * sec })})
		if got := s.Build(1, 20*sec, refs).Bands[0].Nodes; len(got) != c.want {
			t.Errorf("back %v: %d nodes, want %d: %+v", c.back, len(got), c.want, got)
		}
	}
}

func TestLaneOfANode(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	dying(s)
	s.at(11*sec+10*ms, event.Event{Kind: event.HealthPort, Pod: -1, Node: 1, OK: false})
	s.at(14*sec, event.Event{Kind: event.SyncBegan, Pod: -1, Node: 1})
	s.at(14*sec+50*ms, event.Event{Kind: event.SyncEnded, Pod: -1, Node: 1})
	s.at(15*sec, event.Event{Kind: event.Cordoned, Pod: -1, Node: 1, OK: true})
	s.at(16*sec, event.Event{Kind: event.Rules, Pod: -1, Node: 1, Stream: 1, Verdict: packet.Drop})
	got := s.Build(1, 20*sec, refs).Nodes[1]
	want := NodeLane{
		Index: 1, Name: "node-2",
		Ways: []Way{
			{[]int{0}, []Use{{From: 0, To: 11 * sec, Is: UsesReady, Pods: []int{0}, Event: 3}, {From: 11 * sec, To: 20 * sec, Is: UsesReject, Pods: []int{}, Event: 15}}},
			{[]int{1}, []Use{
				{From: 0, To: 11 * sec, Is: UsesReady, Pods: []int{0}, Event: 4}, {From: 11 * sec, To: 16 * sec, Is: UsesReject, Pods: []int{}, Event: 16},
				{From: 16 * sec, To: 20 * sec, Is: UsesDrop, Pods: []int{}, Event: 21},
			}},
		},
		Health: []Span{{11*sec + 10*ms, 20 * sec, "503"}}, Syncs: []Span{{14 * sec, 14*sec + 50*ms, "sync"}},
		Waits: []Span{{10*sec + 300*ms, 11 * sec, "minSyncPeriod"}}, Marks: []Mark{{15 * sec, "cordoned", true, 20}}, Like: -1,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Arrivals that are not told are spread evenly between those that are. What failed, or was late, is exact.
func TestLaneOfAClient(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.Begin(0, 0, 5*ms)
	s.Succeed(0, 0, 0, 6*ms, false, false)
	s.Counted(0, 1, 4)
	s.Begin(0, 5, 45*ms)
	s.Fail(&ledger.Request{Number: 5, Arrival: 45 * ms, End: 50 * ms, Outcome: ledger.Timeout, Node: -1})
	s.Begin(0, 6, 46*ms)
	s.Succeed(0, 6, 0, 3*sec, false, true)
	s.Begin(0, 7, 47*ms)
	s.Succeed(0, 7, 0, 3*sec, true, false)
	s.Revoke(0, 7, true, false)
	s.Fail(&ledger.Request{Number: 7, Arrival: 47 * ms, End: 3 * sec, Outcome: ledger.Reset, Node: -1})
	got := s.Build(1, 60*ms, refs).Clients[0]
	want := ClientLane{
		Name: "new connections", Service: "default/web", Nodes: []string{}, Rate: "100", Bucket: 10 * ms, Requests: 8, Lost: 2,
		Total: []uint32{1, 1, 1, 1, 4}, Slow: []uint32{0, 0, 0, 0, 1}, Rescued: []uint32{0, 0, 0, 0, 0}, Failed: []uint32{0, 0, 0, 0, 2},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Buckets get wider as a run gets longer: there are never more of them.
func TestBucketsOfALongRun(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	for i := range uint64(1000) {
		s.Begin(0, i, engine.Time(i)*sec)
	}
	c := s.Build(1, 1000*sec, refs).Clients[0]
	sum := uint32(0)
	for _, n := range c.Total {
		sum += n
	}
	if len(c.Total) > mostBuckets || c.Bucket != 1280*ms || sum != 1000 || c.Total[0] != 2 {
		t.Errorf("%d buckets of %s s with %d requests, %d in the first", len(c.Total), c.Bucket.Seconds(), sum, c.Total[0])
	}
}

// Of more failures than can be marked as many as can are: they are of the whole run, and all are counted.
func TestMoreFailuresThanAreMarked(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	dying(s)
	for i := range uint64(3000) {
		s.Fail(&ledger.Request{Number: i, Arrival: engine.Time(i) * ms, End: engine.Time(i) * ms, Outcome: ledger.Refused, Node: 0, Pod: "default/web r0 0"})
	}
	tl := s.Build(1, 20*sec, refs)
	if n := len(tl.Failures); n != 1000 || tl.Failures[0].Number != 0 || tl.Failures[999].Number != 2996 {
		t.Errorf("%d failures are marked", n)
	}
	if tl.Bands[0].Lost != 3000 || tl.Lost[0].Count != 3000 || tl.Clients[0].Lost != 3000 {
		t.Errorf("counted: %d of the pod, %d of the cause, %d of the client", tl.Bands[0].Lost, tl.Lost[0].Count, tl.Clients[0].Lost)
	}
	if want := []string{"1000 of 3000 failed requests are marked, and all are counted"}; !cmp.Equal(tl.LeftOut, want) {
		t.Errorf("says %q", tl.LeftOut)
	}
}

func TestLaneOfATarget(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.sc = s.sc.Clone()
	s.sc.Traffic = append([]world.Traffic{}, s.sc.Traffic...)
	s.sc.Traffic[0].LB = &world.LoadBalancer{Preset: "aws-nlb-ip", Target: world.TargetPods}
	s.at(0, event.Event{Kind: event.Known, Object: object(func(*api.Pod) {}), OK: true})
	tell := func(at engine.Time, e event.Event) {
		e.Proxy = -1
		s.at(at, e)
	}
	tell(0, event.Event{Kind: event.Sends, Member: -1, Members: []int{0}})
	tell(0, event.Event{Kind: event.Target, Member: 0, State: "healthy"})
	tell(3*sec, event.Event{Kind: event.Target, Member: 0, State: "failing"})
	tell(5*sec, event.Event{Kind: event.Target, Member: 0, State: "draining"})
	tell(5*sec, event.Event{Kind: event.Sends, Member: -1, Members: []int{}})
	tell(9*sec, event.Event{Kind: event.Target, Member: 0, State: "removed"})
	got := s.Build(1, 10*sec, refs).Targets
	want := []TargetLane{{
		Balancer: "aws-nlb-ip", Proxy: -1, Clients: []int{0}, Pod: 0, Node: -1, Name: "old pod 0",
		States: []Span{{0, 3 * sec, "healthy"}, {3 * sec, 5 * sec, "failing"}, {5 * sec, 9 * sec, "draining"}, {9 * sec, 10 * sec, "removed"}},
		Gets:   []Span{{0, 5 * sec, "new connections"}},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// A target that is a node has the node's name, and no pod's.
func TestLaneOfATargetThatIsANode(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.sc = s.sc.Clone()
	s.sc.Traffic = append([]world.Traffic{}, s.sc.Traffic...)
	s.sc.Traffic[0].LB = &world.LoadBalancer{Target: world.TargetNodes}
	last := len(s.sc.Nodes) - 1
	s.at(0, event.Event{Kind: event.Target, Proxy: -1, Member: last, State: "healthy"})
	got := s.Build(1, 10*sec, refs).Targets
	want := []TargetLane{{
		Balancer: "load balancer", Proxy: -1, Clients: []int{0}, Pod: -1, Node: last, Name: s.sc.Nodes[last].Name,
		States: []Span{{0, 10 * sec, "healthy"}}, Gets: []Span{},
	}}
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
}

// A load balancer that checks its targets for each kind of clients lets go of a pod at several times. What is lost is counted once.
func TestBandsOfALoadBalancerWithTwoKindsOfClients(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.sc = s.sc.Clone()
	s.sc.Traffic = append([]world.Traffic{}, s.sc.Traffic...)
	for i := range s.sc.Traffic {
		s.sc.Traffic[i].LB = &world.LoadBalancer{Preset: "aws-nlb-ip", Target: world.TargetPods}
	}
	dying(s)
	for stream := range 2 {
		s.at(0, event.Event{Kind: event.Sends, Stream: stream, Proxy: -1, Member: -1, Members: []int{0}})
		s.at(engine.Time(13+stream)*sec, event.Event{Kind: event.Sends, Stream: stream, Proxy: -1, Member: -1, Members: []int{}})
		for i := range uint64(stream + 1) {
			s.Fail(&ledger.Request{Stream: stream, Number: i, Arrival: 11 * sec, End: 11 * sec, Outcome: ledger.Refused, Node: -1, Pod: "default/web r0 0"})
		}
	}
	var got []NodeBand
	for _, n := range s.Build(1, 20*sec, refs).Bands[0].Nodes {
		if n.Node < 0 {
			got = append(got, n)
		}
	}
	want := []NodeBand{
		{Node: -1, Proxy: -1, Name: "aws-nlb-ip", Clients: []int{1}, LetGo: when(14 * sec), Lost: 2, Like: -1}, {Node: -1, Proxy: -1, Name: "aws-nlb-ip", Clients: []int{0}, LetGo: when(13 * sec), Lost: 1, Like: -1},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Of several pods of an ingress controller each has lost what went through it.
func TestBandsOfTheIngressControllersPods(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.sc = s.sc.Clone()
	s.sc.Traffic = append([]world.Traffic{}, s.sc.Traffic...)
	s.sc.Traffic[0].Ingress = &world.Ingress{Proxy: &world.LoadBalancer{Preset: "ingress-nginx", Target: world.TargetPods}}
	dying(s)
	through := []string{"default/ingress r0 0", "default/ingress r0 1"}
	for i, name := range through {
		id := api.PodID(2 + i)
		s.named[name] = id
		s.at(0, event.Event{Kind: event.Sends, Proxy: int(id), Member: -1, Members: []int{0}})
		s.at(engine.Time(14-i)*sec, event.Event{Kind: event.Sends, Proxy: int(id), Member: -1, Members: []int{}})
	}
	for i, name := range []string{through[0], through[1], through[1], ""} {
		s.Fail(&ledger.Request{Number: uint64(i), Arrival: 11 * sec, End: 11 * sec, Outcome: ledger.HTTP5xx, Node: -1, Pod: "default/web r0 0", Ingress: name})
	}
	tl := s.Build(1, 20*sec, append(slices.Clone(refs), cluster.PodRef{ID: 2, Name: through[0]}, cluster.PodRef{ID: 3, Name: through[1]}))
	got := map[int]uint64{}
	for _, n := range tl.Bands[0].Nodes {
		if n.Node < 0 {
			got[n.Proxy] = n.Lost
		}
	}
	if d := cmp.Diff(map[int]uint64{2: 1, 3: 2}, got); d != "" {
		t.Error(d)
	}
	var by []int
	for i := range tl.Failures {
		by = append(by, tl.Failures[i].Proxy)
	}
	if d := cmp.Diff([]int{2, 3, 3, -1}, by); d != "" {
		t.Error(d)
	}
}

func TestSpans(t *testing.T) {
	t.Parallel()
	var s spans
	s.set(1, "a")
	s.set(2, "a")
	s.set(3, "b")
	s.set(3, "c") // b was for no time
	s.set(4, "")
	s.set(6, "c")
	s.set(6, "")
	s.set(7, "d")
	want := []Span{{1, 3, "a"}, {3, 4, "c"}, {7, 9, "d"}}
	if got := s.until(9); !cmp.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// What fails without the action, too, is marked and counted apart, and blamed on no pod and no node.
func TestWhatFailsAnyway(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	dying(s)
	fail := func(number uint64) ledger.Request {
		return ledger.Request{Number: number, Arrival: 10*sec + 500*ms, End: 10*sec + 501*ms, Outcome: ledger.Refused, Node: 1, Pod: "default/web r0 0"}
	}
	s.Without([]ledger.Request{fail(1), {Stream: 1, Number: 0}})
	for i := range uint64(2) {
		q := fail(i)
		s.Fail(&q)
	}
	tl := s.Build(1, 20*sec, refs)
	if tl.Failures[0].Without || !tl.Failures[1].Without {
		t.Errorf("%+v", tl.Failures)
	}
	if l := tl.Lost[0]; l.Count != 2 || l.Without != 1 {
		t.Errorf("%+v", l)
	}
	if tl.Bands[0].Lost != 1 || tl.Bands[0].Nodes[0].Lost != 1 || tl.Nodes[1].Lost != 1 || tl.Clients[0].Lost != 2 {
		t.Errorf("lost: %d of the pod, %d of the node, %d of the client", tl.Bands[0].Lost, tl.Nodes[1].Lost, tl.Clients[0].Lost)
	}
}
