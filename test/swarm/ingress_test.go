package swarm

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/nodeproxy"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Ingress controllers that are a workload of the world, with a Service, an app and actions of
// their own. They are drawn from a stream of their own, so that worlds without one stay as they are.

// The controller's Service is the second one.
const (
	web     = "default/web"
	ingress = "default/ingress"
)

// front puts an ingress controller in front of the app in some worlds.
func (w *swarmWorld) front(seed uint64) {
	d := newDraws(seed, "ingress")
	svc := &w.Services[0].Service.Spec
	if !d.chance(20) || svc.ClusterIP == corev1.ClusterIPNone || svc.Ports[0].Protocol == corev1.ProtocolUDP {
		return
	}
	c := w.controller(d)
	fronted := false
	for i := range w.Traffic {
		if t := &w.Traffic[i]; t.Connection != world.ConnectionSession && d.chance(85) {
			c.through(t)
			fronted = true
		}
	}
	if !fronted {
		return
	}
	w.Workloads, w.Services = append(w.Workloads, c.Workloads...), append(w.Services, c.Services...)
	w.endless = w.endless || c.endless
	switch c.pick(3) {
	case 0: // only the app is touched
		return
	case 1:
		w.Actions = c.Actions
	default:
		w.Actions = append(w.Actions, c.Actions...)
	}
	w.Until = max(w.Until, c.Until)
}

// controller draws one, as a world with nothing but it.
func (w *swarmWorld) controller(d *draws) *swarmWorld {
	c := &swarmWorld{draws: d, faults: w.faults, Scenario: &world.Scenario{Nodes: w.Nodes, Warmup: w.Warmup}}
	c.Workloads = []world.Workload{c.workload("ingress")}
	deployment := c.Workloads[0].Deployment()
	for _, labels := range []map[string]string{deployment.Spec.Selector.MatchLabels, deployment.Spec.Template.Labels} {
		labels["app"] = "ingress"
	}
	svc := c.service()
	for svc.Spec.ClusterIP == corev1.ClusterIPNone || svc.Spec.Ports[0].Protocol == corev1.ProtocolUDP {
		svc = c.service()
	}
	svc.Name, svc.Spec.Selector = "ingress", map[string]string{"app": "ingress"}
	svc.Spec.ClusterIP, svc.Spec.ClusterIPs = "10.96.0.2", []string{"10.96.0.2"}
	if p := &svc.Spec.Ports[0]; p.NodePort > 0 {
		p.NodePort = 30081
	}
	if svc.Spec.HealthCheckNodePort > 0 {
		svc.Spec.HealthCheckNodePort = 32001
	}
	c.Services = []world.Service{{Service: svc}}
	c.act()
	return c
}

// through sends a stream through the controller c, from inside, or from outside with or without a
// load balancer, which is none that knows of HTTP.
func (w *swarmWorld) through(t *world.Traffic) {
	svc := w.Services[0].Service
	t.Ingress = &world.Ingress{Service: ingress, Port: 80, Proxy: w.asking()}
	t.External = svc.Spec.Type != corev1.ServiceTypeClusterIP && w.chance(60)
	t.HealthyNodesOnly, t.LB = t.External && svc.Spec.HealthCheckNodePort > 0 && w.chance(70), nil
	if t.Arrivals == world.ArrivalsClosedLoop { // an error of the controller comes at once, and so does the next request
		t.Arrivals = world.ArrivalsConstant
	}
	if t.External && len(t.Nodes) == 0 && w.chance(50) {
		t.LB, t.HealthyNodesOnly = w.balancer(), false
		t.LB.Service, t.LB.Layer7, t.LB.NoTarget = ingress, nil, of(w.draws, world.NoTargetTimeout, world.NoTargetRefused)
	}
}

// asking is how a controller's pods choose whom they ask.
func (w *swarmWorld) asking() *world.LoadBalancer {
	lb := &world.LoadBalancer{
		Service: web, Target: world.TargetPods, Members: of(w.draws, world.MembersReadyPods, world.MembersLivePods, world.MembersServingPods),
		Controller: w.dist(0, 3*sec), ControllerHold: of(w.draws, 0, 0, 3*sec), Registration: w.dist(0, 2*sec), Propagation: w.dist(0, 3*sec),
		Drain: of(w.draws, engine.Never, engine.Never, 2*sec, 10*sec), Hash: of(w.draws, world.HashFlow, world.HashRandom, world.HashRoundRobin),
		NoTarget: world.NoTarget503, Layer7: w.proxy(),
	}
	lb.Layer7.Ingress, lb.Layer7.WholeLists = true, true
	if w.chance(15) {
		lb.Layer7.ConnectTimeout = 0 // as long as the client waits
	}
	return lb
}

// clientSide is the Service that a stream's clients connect to.
func clientSide(t *world.Traffic) string {
	if t.Ingress != nil {
		return t.Ingress.Service
	}
	return t.Service
}

// serviceOf is the Service of a name.
func (w *swarmWorld) serviceOf(name string) *corev1.Service {
	for _, s := range w.Services {
		if s.Service.Namespace+"/"+s.Service.Name == name {
			return s.Service
		}
	}
	return nil
}

// controls says whether a workload is the ingress controller.
func controls(wl *world.Workload) bool { return wl.Name() == ingress }

// home is the name of the Service that a pod is behind.
func (j *judge) home(p *api.Pod) string {
	if controls(j.workload(p)) {
		return ingress
	}
	return web
}

// publishes says whether the Service of a pod publishes addresses that are not ready.
func (j *judge) publishes(p *api.Pod) bool {
	return j.w.serviceOf(j.home(p)).Spec.PublishNotReadyAddresses
}

// portsOf are the ports of a Service in a view.
func portsOf(view *nodeproxy.View, service string) []endpoints.ServicePort {
	for svc := range view.Snapshot.Services() {
		if svc.Name.String() == service {
			return svc.Ports
		}
	}
	return nil
}
