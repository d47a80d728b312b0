package swarm

import (
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/nodeproxy"
	"github.com/lameduck-proxy/lameduck/sim/traffic"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// connections is what is known of connections that are shared, and of flows over UDP.
type connections struct {
	judge    *judge
	arrivals map[answer]engine.Time
	told     map[uint64]engine.Time // SIGTERM of servers that send GOAWAY and close their listener
	since    engine.Time            // a server last ended, or was told to
	nowhere  []int                  // by stream: new connections since then that no rule led anywhere
	cleaned  [][]cleaning           // by node
	flows    map[answer]lastAnswer  // by stream and client: one port each
}

// cleaning is a sync, after which flows over UDP are cleaned up.
type cleaning struct {
	at      engine.Time
	serving map[api.PodID]bool
}

type lastAnswer struct {
	from uint64
	at   engine.Time
}

func newConnections(j *judge) connections {
	return connections{
		judge: j, arrivals: map[answer]engine.Time{}, told: map[uint64]engine.Time{}, flows: map[answer]lastAnswer{},
		nowhere: make([]int, len(j.w.Traffic)), cleaned: make([][]cleaning, len(j.w.Nodes)),
	}
}

// hear follows the ends of servers and the syncs of proxies.
func (c *connections) hear(e event.Event) {
	j := c.judge
	switch {
	case e.Kind == event.SyncEnded:
		c.cleaned[e.Node] = append(c.cleaned[e.Node], cleaning{e.At, j.serving(e.View)})
	case !e.Main:
	case e.Kind == event.Started:
		delete(c.told, uint64(e.Pod))
	case e.Kind == event.Ended:
		c.ended(e.At)
	case e.Kind == event.Signalled:
		c.ended(e.At)
		app := j.app(j.pods[e.Pod].api)
		if _, before := c.told[uint64(e.Pod)]; !before && app.GoAway && !app.IgnoresSIGTERM && app.Listener == world.ListenerCloses {
			c.told[uint64(e.Pod)] = e.At
		}
	}
}

// serving are the pods whose endpoints serve.
func (j *judge) serving(view *nodeproxy.View) map[api.PodID]bool {
	out := map[api.PodID]bool{}
	for svc := range view.Snapshot.Services() {
		for i := range svc.Ports {
			for _, e := range svc.Ports[i].Endpoints {
				for _, id := range j.order {
					if e.Conditions.Serving() && j.pods[id].api.IP == e.Addr.Addr() {
						out[id] = true
					}
				}
			}
		}
	}
	return out
}

func (c *connections) begin(stream int, number uint64, arrival engine.Time) {
	if t := &c.judge.w.Traffic[stream]; t.FixedPorts || t.Connection == world.ConnectionHTTP2 || t.LB != nil || t.Ingress != nil {
		c.arrivals[answer{stream, number}] = arrival
	}
}

// succeed hears of an answer. A server that shuts down tells its HTTP/2 clients: what they ask
// when they know, it never gets (docs/model/propagation.md 5, gRPC servers).
func (c *connections) succeed(stream int, number, endpoint uint64) {
	arrival, ok := c.arrivals[answer{stream, number}]
	if !ok {
		return
	}
	delete(c.arrivals, answer{stream, number})
	t, server := &c.judge.w.Traffic[stream], endpoint // that the client is connected to
	if t.Ingress != nil {
		server = uint64(c.judge.requests.via[stream])
		c.judge.balancers.succeed(traffic.Leg{Stream: stream, Proxy: int(server)}, number, endpoint, arrival)
	}
	c.judge.balancers.succeed(traffic.Leg{Stream: stream, Proxy: traffic.NoProxy}, number, server, arrival)
	if told, ok := c.told[server]; t.Connection == world.ConnectionHTTP2 && !proxied(t) && ok && arrival > told+longestRTT {
		c.judge.fail("goaway", "call %d of stream %d, of %s s, is answered by pod %d, which got SIGTERM at %s s", number, stream, arrival.Seconds(), server, told.Seconds())
	}
	if t.FixedPorts && t.LB == nil { // behind one each node has a flow of its own
		c.follow(answer{stream, number % uint64(t.Clients)}, endpoint, arrival)
	}
}

// proxied says whether clients' connections end at a proxy, which opens others for what they ask.
func proxied(t *world.Traffic) bool { return t.LB != nil && t.LB.Layer7 != nil }

// follow has a flow over UDP stay with its endpoint until a clean-up (docs/model/kube-proxy.md 7).
func (c *connections) follow(client answer, endpoint uint64, at engine.Time) {
	last, ok := c.flows[client]
	c.flows[client] = lastAnswer{endpoint, at}
	if !ok || last.from == endpoint || at > last.at+30*sec {
		return
	}
	for n := range c.cleaned {
		for i := len(c.cleaned[n]) - 1; i >= 0 && c.cleaned[n][i].at >= last.at; i-- {
			if s := c.cleaned[n][i].serving; len(s) > 0 && !s[api.PodID(last.from)] {
				return
			}
		}
	}
	c.judge.fail("flow", "client %d of stream %d was answered by pod %d at %s s and by pod %d at %s s, with no clean-up between", client.number, client.stream, last.from, last.at.Seconds(), endpoint, at.Seconds())
}

// failed hears of a failure. After a sync no flow is left with an endpoint that does not serve,
// if any does (docs/model/kube-proxy.md 7).
func (c *connections) failed(r *ledger.Request) {
	delete(c.arrivals, answer{r.Stream, r.Number})
	c.staleName(r)
	c.judge.balancers.failed(r)
	if r.Blame.Cause != ledger.FlowPinned || r.Attempts > 1 || c.judge.w.Services[0].Service.Spec.PublishNotReadyAddresses {
		return
	}
	list := c.cleaned[r.Node]
	for len(list) > 0 && list[len(list)-1].at > r.Arrival {
		list = list[:len(list)-1]
	}
	if len(list) == 0 {
		return
	}
	last := list[len(list)-1]
	for _, id := range c.judge.order {
		if c.judge.pods[id].api.Name == r.Pod && len(last.serving) > 0 && !last.serving[id] {
			c.judge.fail("clean-up", "a question of %s s went to %s, which does not serve, on node %d, cleaned up at %s s", r.Arrival.Seconds(), r.Pod, r.Node, last.at.Seconds())
		}
	}
}

// staleName has clients forget an address 30 s after DNS has, which follows the API by a write and
// two watches, at the controller's pace of a second a write (docs/model/propagation.md 1). A
// connection that was begun earlier may last as long as its SYNs are repeated: they count from the
// arrival.
func (c *connections) staleName(r *ledger.Request) {
	if !c.judge.w.Traffic[r.Stream].Named || r.Pod == "" || c.judge.w.Services[0].Service.Spec.PublishNotReadyAddresses || c.judge.does("apiserver") {
		return
	}
	l := &c.judge.w.Latency
	known := 30*sec + l.APIWrite.Max() + l.SliceController.Max() + 2*l.Watch.Max() + 3*sec
	for _, id := range c.judge.order {
		if p := c.judge.pods[id]; p.api.Name == r.Pod && r.Arrival > p.changed+known && (p.api.Gone || !p.api.Ready) {
			c.judge.fail("names", "a request of %s s went to %s, which has not been in DNS since %s s", r.Arrival.Seconds(), r.Pod, p.changed.Seconds())
		}
	}
}

// ended begins a new time in which no server ends. Within it a connection is lost once at most,
// or twice where a preStop hook closes the listener: so a client tries in vain to connect twice
// as often as its back-off has it, 1 s and then at least 0.8 x 1.6 s, 0.8 x 1.6 x 1.6 s ... up
// to 96 s, each time with so many SYNs as its connect timeout has room for (gRPC's connection
// back-off).
func (c *connections) ended(at engine.Time) {
	tries := 1
	for wait, sum := sec, engine.Time(0); sum <= at-c.since; wait = min(wait*16/10, 96*sec) {
		sum += wait * 8 / 10
		tries++
	}
	for s := range c.nowhere {
		t := &c.judge.w.Traffic[s]
		syns := 0
		for _, repeat := range []engine.Time{0, sec, 3 * sec, 7 * sec, 15 * sec} {
			if t.ConnectTimeout == 0 || repeat < t.ConnectTimeout {
				syns++
			}
		}
		if most := 2 * t.Clients * syns * tries; t.Connection != world.ConnectionOwn && !proxied(t) && c.nowhere[s] > most {
			c.judge.fail("back-off", "clients of stream %d tried %d times in vain to connect between %s s and %s s, their back-off has %d", s, c.nowhere[s], c.since.Seconds(), at.Seconds(), most)
		}
		c.nowhere[s] = 0
	}
	c.since = at
}
