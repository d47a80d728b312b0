package swarm

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// world is a scenario drawn from a seed.
type swarmWorld struct {
	*world.Scenario
	*draws
	faults faults
	// endless says that something in it never settles, so nobody waits for that.
	endless bool
	// goes says that machines end in it, or are taken away; patience is how long its pods tolerate that their node is not ready.
	goes     bool
	patience engine.Time
}

// faults are what can go wrong in one world: drawn first, so that most worlds lack most of it.
type faults struct {
	crash, probes, hooks, dependency, apiserver, slow, overload, restarts, stubborn bool
}

// draw makes the world of a seed.
func draw(seed uint64) *swarmWorld {
	d := newDraws(seed, "world")
	w := &swarmWorld{draws: d, Scenario: &world.Scenario{Name: fmt.Sprint("swarm ", seed)}}
	w.faults = faults{
		crash: d.chance(25), probes: d.chance(60), hooks: d.chance(60), dependency: d.chance(25), apiserver: d.chance(20),
		slow: d.chance(25), overload: d.chance(20), restarts: d.chance(80), stubborn: d.chance(40),
	}
	w.Kubernetes = w.profile()
	w.Latency = w.latencies()
	for i := range d.pick(5) + 1 {
		w.Nodes = append(w.Nodes, w.node(i))
	}
	w.Workloads = append(w.Workloads, w.workload("web"))
	if d.chance(20) {
		w.Workloads = append(w.Workloads, w.workload("api"))
	}
	w.Services = []world.Service{{Service: w.service()}}
	for i := range d.pick(2) + 1 {
		w.Traffic = append(w.Traffic, w.stream(i))
	}
	w.Warmup = d.span(sec, 4*sec)
	w.act()
	w.front(seed)
	w.gate(seed)
	w.pause(seed)
	w.hostPorts(seed)
	w.kinds(seed)
	w.disrupt(seed)
	w.machines(seed)
	w.order()
	w.CountDaemons()
	w.habits(seed)
	w.images(seed)
	w.Churn = of(newDraws(seed, "churn"), 0, 0, 0, 200, 2000)
	return w
}

// profile is Kubernetes without KEP-1669, with its alpha form, or with all of it, and with either of
// kube-proxy's runners.
func (w *swarmWorld) profile() endpoints.Profile {
	version, gates := "1.36", map[string]bool(nil)
	switch w.pick(5) {
	case 0:
		version = "1.25"
	case 1:
		version, gates = "1.25", map[string]bool{"ProxyTerminatingEndpoints": true}
	case 2:
		version = "1.33"
	}
	v, err := endpoints.ParseVersion(version)
	if err != nil {
		panic(err)
	}
	p, err := endpoints.ProfileFor(v, gates)
	if err != nil {
		panic(err)
	}
	return p
}

// latencies are none, those of a small cluster, or up to half a second each.
func (w *swarmWorld) latencies() world.Latencies {
	kind := w.pick(4)
	one := func() engine.Dist {
		if kind == 0 {
			return engine.Dist{}
		}
		return w.dist(0, 500*ms)
	}
	if kind > 1 {
		l := scenario.DefaultLatencies()
		if w.faults.slow {
			l.Watch, l.SliceController = w.dist(0, 2*sec), w.dist(0, 2*sec)
		}
		return l
	}
	return world.Latencies{
		APIWrite: one(), Watch: one(), SliceController: one(), Controller: one(), StatusWrite: one(), ProxySync: one(),
		Schedule: one(), Sandbox: one(), ContainerStart: one(),
	}
}

// images have to be pulled in few worlds.
func (w *swarmWorld) images(seed uint64) {
	if d := newDraws(seed, "images"); d.chance(10) {
		pull := d.dist(0, 5*sec)
		w.Latency.ImagePull = &pull
	}
}

func (w *swarmWorld) node(i int) world.Node {
	n := world.Node{
		Name: fmt.Sprint("node-", i+1), Zone: of(w.draws, "", "a", "b"),
		Proxy: world.Proxy{Mode: of(w.draws, "nftables", "iptables"), MinSyncPeriod: of(w.draws, 0, sec, sec, sec, 10*sec), SyncPeriod: 30 * sec},
	}
	if w.faults.slow && w.chance(50) {
		watch, sync := w.dist(0, 3*sec), w.dist(0, 3*sec)
		n.Watch, n.ProxySync = &watch, &sync
	}
	return n
}

func (w *swarmWorld) service() *corev1.Service {
	internal := of(w.draws, corev1.ServiceInternalTrafficPolicyCluster, corev1.ServiceInternalTrafficPolicyCluster, corev1.ServiceInternalTrafficPolicyLocal)
	svc := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: corev1.ServiceSpec{
			Type:      of(w.draws, corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer),
			ClusterIP: "10.96.0.1", ClusterIPs: []string{"10.96.0.1"}, IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol},
			Selector: map[string]string{"app": "web"}, InternalTrafficPolicy: &internal,
			PublishNotReadyAddresses: w.chance(8),
			Ports:                    []corev1.ServicePort{{Port: 80, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(8080)}},
		},
	}
	if svc.Spec.Type == corev1.ServiceTypeClusterIP && w.chance(20) {
		svc.Spec.ClusterIP, svc.Spec.ClusterIPs = corev1.ClusterIPNone, []string{corev1.ClusterIPNone}
		return svc
	}
	if w.chance(15) {
		svc.Spec.Ports[0].Protocol = corev1.ProtocolUDP
	}
	if svc.Spec.Type == corev1.ServiceTypeClusterIP {
		return svc
	}
	svc.Spec.Ports[0].NodePort = 30080
	svc.Spec.ExternalTrafficPolicy = of(w.draws, corev1.ServiceExternalTrafficPolicyCluster, corev1.ServiceExternalTrafficPolicyLocal)
	if svc.Spec.Type == corev1.ServiceTypeLoadBalancer && svc.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal {
		svc.Spec.HealthCheckNodePort = 32000
	}
	return svc
}

// connect has some clients share connections, and all those of a Service that is asked over UDP
// ask over that.
func (w *swarmWorld) connect(t *world.Traffic) {
	p := &w.Services[0].Service.Spec.Ports[0]
	kind := w.pick(100)
	switch {
	case w.Services[0].Service.Spec.ClusterIP == corev1.ClusterIPNone:
		t.Named = true
	case p.Protocol == corev1.ProtocolUDP:
		t.Protocol, t.FixedPorts = endpoints.UDP, kind < 60
		t.Timeout = of(w.draws, 300*ms, sec, 2*sec)
	case kind < 20:
		t.Connection, t.WaitForReady = world.ConnectionHTTP2, w.chance(30)
	case kind < 30:
		t.Connection = world.ConnectionSession
	default:
		return
	}
	t.KeepAlive, t.ClientIdle = false, 0
	if t.Arrivals == world.ArrivalsClosedLoop {
		t.Arrivals = world.ArrivalsPoisson
	}
}

// stream is one kind of client.
func (w *swarmWorld) stream(i int) world.Traffic {
	svc := w.Services[0].Service
	t := world.Traffic{
		Name: fmt.Sprint("stream-", i), Service: "default/web", Port: 80, Rate: (20 + w.pick(60)) * 1000,
		External: svc.Spec.Type != corev1.ServiceTypeClusterIP && w.chance(60),
		Arrivals: of(w.draws, world.ArrivalsPoisson, world.ArrivalsConstant, world.ArrivalsClosedLoop),
		Clients:  1 + w.pick(10), KeepAlive: w.chance(40), ClientIdle: engine.Time(w.pick(3)) * 2 * sec,
		Timeout: of(w.draws, 0, 300*ms, sec, 2*sec, 5*sec, 5*sec), ConnectTimeout: of(w.draws, 0, 0, 200*ms, sec, 3*sec),
		Retries: of(w.draws, 0, 0, 1, 2),
	}
	if t.KeepAlive {
		// A pool that is far too small keeps more and more requests waiting.
		t.Timeout = of(w.draws, 300*ms, sec, 2*sec)
		t.Rate /= 2
		t.Clients += 3 + t.Rate*int(w.Workloads[0].App.Serve.Mean()/ms)/1000_000
	}
	t.HealthyNodesOnly = t.External && svc.Spec.HealthCheckNodePort > 0 && w.chance(70)
	if t.Arrivals == world.ArrivalsClosedLoop {
		t.Clients = 1                                                                // the more clients, and the faster the answers, the more requests
		if w.Workloads[0].App.Serve.Mean() < 10*ms || !t.External || t.Retries > 0 { // refused at once, they ask at once
			t.Arrivals = world.ArrivalsConstant
		}
	}
	w.connect(&t)
	if len(w.Nodes) > 1 && w.chance(25) {
		t.Nodes = []string{w.Nodes[w.pick(len(w.Nodes))].Name}
	}
	if t.External && len(t.Nodes) == 0 && w.chance(50) {
		t.LB, t.HealthyNodesOnly = w.balancer(), false
	}
	return t
}
