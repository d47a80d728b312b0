package cluster

import (
	"net/netip"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/healthcheck"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/kubelet"
	"github.com/lameduck-proxy/lameduck/sim/nodeproxy"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// What stands outside of the cluster and looks into it: load balancers and their controllers.

// Endpoint is one endpoint of a Service, as EndpointSlices have it.
type Endpoint struct {
	Pod        api.PodID
	Node       int
	Conditions endpoints.Conditions
	// Object is the pod itself, as far as it is known, nil where nobody looks at pods.
	Object *api.Pod
}

// EndpointWatch is a watch of one Service's EndpointSlices.
type EndpointWatch struct {
	w       *World
	service int
	view    *nodeproxy.View
	pods    map[api.PodID]*api.Pod // nil: it looks at slices only
}

// EnrollBalancer gives the controller of a load balancer the name by which actions pause it.
func (w *World) EnrollBalancer(owner engine.Owner) { w.enroll(world.LBController, owner) }

// WatchEndpoints starts a watch for a controller outside. hear is told of each piece of news that
// has arrived.
func (w *World) WatchEndpoints(name string, owner engine.Owner, e Entry, hear func()) *EndpointWatch {
	out := &EndpointWatch{w: w, service: e.service, view: w.views.Last}
	watch := w.store.Subscribe(name, owner, w.sc.Latency.Watch, func(o api.Object) {
		if s, ok := o.(*nodeproxy.SliceWrite); ok {
			out.view = s.View
			hear()
		}
	}, api.KindSlices)
	watch.Wants = func(o api.Object) bool {
		s, ok := o.(*nodeproxy.SliceWrite)
		return ok && s.Service == e.service
	}
	return out
}

// WatchPods has the watch look at the pods behind the Service, too. hear is told of each that
// has changed.
func (x *EndpointWatch) WatchPods(name string, owner engine.Owner, hear func()) {
	w := x.w
	x.pods = map[api.PodID]*api.Pod{}
	for _, wl := range w.services[x.service].members {
		for _, p := range w.live[wl] {
			x.pods[p.ID] = p
		}
	}
	watch := w.store.Subscribe(name, owner, w.sc.Latency.Watch, func(o api.Object) {
		p, ok := o.(*api.Pod)
		switch {
		case !ok:
		case p.Gone:
			delete(x.pods, p.ID)
		default:
			x.pods[p.ID] = p
			hear()
		}
	}, api.KindPod)
	watch.Wants = func(o api.Object) bool {
		p, ok := o.(*api.Pod)
		return ok && w.selects(x.service, p.Workload)
	}
}

// Pod is the version of a pod that the watch has brought, nil for none.
func (x *EndpointWatch) Pod(id api.PodID) *api.Pod { return x.pods[id] }

// Behind says whether the Service of an entry selects a pod.
func (w *World) Behind(e Entry, id api.PodID) bool {
	return w.selects(e.service, w.pods[id].id.Workload) && w.chosen(e.service, id)
}

// Endpoints are those that the watch has brought.
func (x *EndpointWatch) Endpoints() []Endpoint {
	list := x.w.endpointsIn(x.view, x.service)
	for i := range list {
		list[i].Object = x.pods[list[i].Pod]
	}
	return list
}

// endpointsIn lists the endpoints of a Service's first port in a View.
func (w *World) endpointsIn(v *nodeproxy.View, service int) []Endpoint {
	svc := w.sc.Services[service].Service
	info := v.Snapshot.Service(endpoints.ServiceName{Namespace: svc.Namespace, Name: svc.Name})
	if info == nil || len(info.Ports) == 0 {
		return nil
	}
	var out []Endpoint
	for _, e := range info.Ports[0].Endpoints {
		if pod, ok := w.podAt(e.Addr.Addr()); ok {
			out = append(out, Endpoint{Pod: pod, Node: w.instances.Of(pod).Node, Conditions: e.Conditions})
		}
	}
	return out
}

// SettledEndpoints are those that the pods in the API amount to at this instant.
func (w *World) SettledEndpoints(e Entry) []Endpoint {
	list := w.endpointsIn(w.settledView(), e.service)
	for i := range list {
		list[i].Object, _ = w.store.Get(api.PodKey(list[i].Pod)).(*api.Pod)
	}
	return list
}

// HealthAnswer is what becomes of an HTTP probe of a node's service proxy.
type HealthAnswer struct {
	OK   bool
	Late bool // nobody answers: the process gets no time, or the machine is gone
	Sure bool // it stays so until the next sync, or action
}

// ProbeProxy asks the /healthz of a node's service proxy, port 10256: whether it keeps up, and the
// node is not about to be deleted (healthcheck.Healthz).
func (w *World) ProbeProxy(node int) HealthAnswer {
	a := w.keepsUp(node)
	a.OK = a.OK && w.Proxies[node].Eligible()
	return a
}

// keepsUp asks whether a node's service proxy keeps up.
func (w *World) keepsUp(node int) HealthAnswer {
	ok, late, sure := w.Proxies[node].KeepsUp()
	return HealthAnswer{OK: ok, Late: late, Sure: sure}
}

// ProbeHealthPort asks a Service's healthCheckNodePort on a node, which says 503 as well when the
// proxy does not keep up (healthcheck.Service.OK).
func (w *World) ProbeHealthPort(e Entry, node int) HealthAnswer {
	a := w.keepsUp(node) // the taint does not matter here (docs/model/kube-proxy.md 5.1)
	if a.Late || !w.Proxies[node].Filled() {
		return a
	}
	a.OK = w.healthPort(e, node, a.OK)
	return a
}

// NodeHealthy says what a node's healthCheckNodePort answers with the rules in force,
// NodeHealthySettled what it would if every delay were zero.
func (w *World) NodeHealthy(e Entry, node int) bool {
	return w.healthPort(e, node, true)
}

// healthPort is what the port answers with the rules in force, by a proxy that keeps up or not. Without a process nobody answers.
func (w *World) healthPort(e Entry, node int, proxy bool) bool {
	if w.Proxies[node].Halted() {
		return false
	}
	return w.healthyIn(w.Proxies[node].Installed(), e, node, proxy)
}

// NodeHealthySettled is NodeHealthy if every delay were zero.
func (w *World) NodeHealthySettled(e Entry, node int) bool {
	return w.healthyIn(w.settledView(), e, node, true)
}

func (w *World) healthyIn(v *nodeproxy.View, e Entry, node int, proxy bool) bool {
	if w.dead[node] {
		return false
	}
	h, ok := healthcheck.ServiceOf(v.Snapshot.Service(e.name), endpoints.IPv4, w.sc.Nodes[node].Name, w.sc.Kubernetes.Options)
	return ok && h.OK(proxy, w.sc.Kubernetes.Options)
}

// Reaches says whether a node's rules in force lead to a pod that accepts, ReachesSettled
// whether settled rules would.
func (w *World) Reaches(e Entry, node int) bool {
	return !w.dead[node] && w.helps(w.Proxies[node].Installed(), node, e, netip.AddrPort{})
}

// ReachesSettled is Reaches by settled rules.
func (w *World) ReachesSettled(e Entry, node int) bool {
	return !w.dead[node] && w.helps(w.settledView(), node, e, netip.AddrPort{})
}

// PodInstance returns what runs in a pod, nil when nothing ever did.
func (w *World) PodInstance(id api.PodID) *kubelet.Instance {
	return w.instances.Of(id)
}

// SamePort says whether two entries go to the same Service port.
func (e *Entry) SamePort(o Entry) bool {
	return e.service == o.service && e.port == o.port && e.protocol == o.protocol
}

// TargetPort is the port of the pods behind the entry.
func (e *Entry) TargetPort() uint16 { return e.targetPort }
