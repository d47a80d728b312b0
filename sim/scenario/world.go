package scenario

import (
	"cmp"
	"fmt"
	"net/netip"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// world is the objects a Scenario is about, sorted by namespace and name.
type inventory struct {
	services    []manifest.Typed[*corev1.Service]
	headed      map[string]bool                // the headless ones among them that a route leads to: see head
	workloads   []workload                     // that are simulated: by kind, and of each kind by name
	others      []workload                     // that are not, the same
	nodes       []manifest.Typed[*corev1.Node] // in input order
	budgets     []world.Budget                 // in input order
	autoscalers []manifest.Typed[*autoscalingv2.HorizontalPodAutoscaler]
	ingresses   []manifest.Typed[*networkingv1.Ingress]
	routes      []*manifest.Object // HTTPRoutes
	// What says who takes care of an Ingress or an HTTPRoute, and how.
	ingressClasses, gateways, gatewayClasses, backendConfigs, backendPolicies, healthPolicies, trafficPolicies []*manifest.Object

	proxyConfigs   []*manifest.Object
	kubeletConfigs []*manifest.Object
	configMaps     map[string]*manifest.Object // by namespace and name
	nginxMaps      []*manifest.Object          // how ingress-nginx is set for all Ingresses
	webhooks       []webhook
	foreign        []owner            // workloads of kinds that are not simulated, in input order
	scaledObjects  []*manifest.Object // KEDA's
	nodePools      []*manifest.Object // Karpenter's
	adverts        []*manifest.Object // MetalLB's BGPAdvertisements and L2Advertisements
	slices         []*manifest.Object // EndpointSlices, of which only those without a Service's selector are looked at
	unread         []*manifest.Object // what leads requests to Services, and is not read
	bindings       []*manifest.Object // TargetGroupBindings of AWS's controller
	meshRules      []*manifest.Object // VirtualServices and DestinationRules of Istio
	meshed         map[string]mesh    // by namespace: what all of its pods are in unless they say otherwise
	namespaces     map[string]*manifest.Object
	pods           []homed            // of the input, by namespace and name
	unusable       []*manifest.Object // what the API server would refuse
	claims         []manifest.Typed[*corev1.PersistentVolumeClaim]
}

// webhook is a Service that the API server itself depends on.
type webhook struct {
	service       string // "ns/name"
	port          int32
	failurePolicy string
	ofPods        bool // it is asked of each Pod that is made, its own, too
	object        *manifest.Object
	index         int // in its configuration
}

// newWorld sorts objects by kind. A later object replaces an earlier one of the same name.
// What it will fill in is copied first: the input stays as it is.
func newInventory(objects []*manifest.Object) *inventory {
	w := &inventory{namespaces: map[string]*manifest.Object{}, meshed: map[string]mesh{}, configMaps: map[string]*manifest.Object{}}
	var pods []manifest.Typed[*corev1.Pod]
	var sets []manifest.Typed[*appsv1.ReplicaSet]
	for _, o := range latest(objects) {
		switch v := o.Value.(type) {
		case *corev1.Service:
			w.services = append(w.services, manifest.Typed[*corev1.Service]{Object: o, Value: v.DeepCopy()})
		case *appsv1.Deployment, *appsv1.StatefulSet, *appsv1.DaemonSet, *appsv1.ReplicaSet, *corev1.Pod:
			w.addWorkload(o)
			switch x := v.(type) {
			case *corev1.Pod:
				pods = append(pods, manifest.Typed[*corev1.Pod]{Object: o, Value: x})
			case *appsv1.ReplicaSet:
				sets = append(sets, manifest.Typed[*appsv1.ReplicaSet]{Object: o, Value: x})
			}
		case *corev1.Node:
			w.nodes = append(w.nodes, manifest.Typed[*corev1.Node]{Object: o, Value: v})
		case *autoscalingv2.HorizontalPodAutoscaler:
			w.autoscalers = append(w.autoscalers, manifest.Typed[*autoscalingv2.HorizontalPodAutoscaler]{Object: o, Value: v})
		case *policyv1.PodDisruptionBudget:
			w.budgets = append(w.budgets, world.Budget{Value: v, Object: o})
		case *discoveryv1.EndpointSlice:
			w.slices = append(w.slices, o)
		case *corev1.PersistentVolumeClaim:
			w.claims = append(w.claims, manifest.Typed[*corev1.PersistentVolumeClaim]{Object: o, Value: v})
		case *networkingv1.Ingress:
			w.ingresses = append(w.ingresses, manifest.Typed[*networkingv1.Ingress]{Object: o, Value: v})
		case *corev1.Namespace:
			w.namespaces[o.Name] = o
			w.meshed[o.Name], _ = saidMesh(v.Labels, v.Annotations)
		case *admissionv1.ValidatingWebhookConfiguration:
			for i, h := range v.Webhooks {
				w.addWebhook(o, i, h.ClientConfig, h.FailurePolicy, asksOfAllPods(h.Rules, h.NamespaceSelector, h.ObjectSelector))
			}
		case *admissionv1.MutatingWebhookConfiguration:
			for i, h := range v.Webhooks {
				w.addWebhook(o, i, h.ClientConfig, h.FailurePolicy, asksOfAllPods(h.Rules, h.NamespaceSelector, h.ObjectSelector))
			}
		default:
			w.addRaw(o)
		}
	}
	w.sort()
	w.house(pods, sets)
	w.scale()
	return w
}

func (w *inventory) addRaw(o *manifest.Object) {
	if template := templateOf(o); template != nil {
		w.addForeign(o, template)
		return
	}
	if manifest.UnreadRoute(o.Group(), o.Kind) && (o.Kind != "VirtualService" || atGateway(o)) && o.Kind != kindBinding {
		w.unread = append(w.unread, o)
	}
	if list := w.rawList(o.Kind); list != nil {
		*list = append(*list, o)
		return
	}
	switch o.Kind {
	case kindBGPAdvertisement, kindL2Advertisement:
		if o.Group() == "metallb.io" {
			w.adverts = append(w.adverts, o)
		}
	case "ConfigMap":
		w.configMaps[o.ID()] = o
		if isNginxMap(o) {
			w.nginxMaps = append(w.nginxMaps, o)
		}
	}
}

// rawList is where objects of a kind are kept that are read as they are written, nil for others.
func (w *inventory) rawList(kind string) *[]*manifest.Object {
	return map[string]*[]*manifest.Object{
		"HTTPRoute": &w.routes, kindGRPCRoute: &w.routes, "IngressClass": &w.ingressClasses, "Gateway": &w.gateways, "GatewayClass": &w.gatewayClasses,
		"GCPBackendPolicy": &w.backendPolicies, kindHealthPolicy: &w.healthPolicies, kindTrafficPolicy: &w.trafficPolicies, "BackendConfig": &w.backendConfigs,
		kindBinding: &w.bindings, "ScaledObject": &w.scaledObjects, "NodePool": &w.nodePools, "VirtualService": &w.meshRules, "DestinationRule": &w.meshRules,
		"KubeProxyConfiguration": &w.proxyConfigs, "KubeletConfiguration": &w.kubeletConfigs,
	}[kind]
}

func (w *inventory) addWebhook(o *manifest.Object, index int, c admissionv1.WebhookClientConfig, policy *admissionv1.FailurePolicyType, ofPods bool) {
	if c.Service == nil {
		return
	}
	h := webhook{service: c.Service.Namespace + "/" + c.Service.Name, port: 443, failurePolicy: string(admissionv1.Fail), ofPods: ofPods, object: o, index: index}
	if c.Service.Port != nil {
		h.port = *c.Service.Port
	}
	if policy != nil {
		h.failurePolicy = string(*policy)
	}
	w.webhooks = append(w.webhooks, h)
}

// latest keeps, of objects of one kind and name, the last, in the place of the first.
func latest(objects []*manifest.Object) []*manifest.Object {
	type key struct{ group, kind, id string }
	at := map[key]int{}
	var out []*manifest.Object
	for _, o := range objects {
		k := key{o.Group(), o.Kind, o.ID()}
		if i, ok := at[k]; ok && k.id != "" {
			out[i] = o
			continue
		}
		at[k] = len(out)
		out = append(out, o)
	}
	return out
}

func (w *inventory) sort() {
	sorted.StableBy(w.services, byName)
	sorted.StableBy(w.ingresses, byName)
	byKindAndID := func(a, b *manifest.Object) int {
		return cmp.Or(cmp.Compare(b.Kind, a.Kind), cmp.Compare(a.ID(), b.ID())) // HTTPRoutes before GRPCRoutes
	}
	for _, list := range [][]*manifest.Object{w.routes, w.bindings, w.ingressClasses, w.backendPolicies, w.healthPolicies, w.trafficPolicies} {
		sorted.StableBy(list, byKindAndID)
	}
	sorted.StableBy(w.workloads, byKind)
	sorted.StableBy(w.others, byKind)
	w.tellApart()
}

func byName[T any](a, b manifest.Typed[T]) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// The default ranges of kube-apiserver (service-cluster-ip-range of kubeadm, and
// service-node-port-range).
const (
	firstNodePort = 30000
	lastNodePort  = 32767
)

// allocate gives every Service that has none what the API server would: ClusterIPs, node
// ports and a health check node port. It goes by namespace and name, so that the same input
// has the same addresses; what the input says is kept.
func (w *inventory) allocate() []manifest.Problem {
	a := allocator{ips: map[netip.Addr]bool{}, ports: map[int32]bool{}}
	for _, s := range w.services {
		a.take(s.Value)
	}
	var problems []manifest.Problem
	for _, s := range w.services {
		if s.Value.Spec.Type == corev1.ServiceTypeExternalName || s.Value.Spec.ClusterIP == corev1.ClusterIPNone {
			continue
		}
		if err := a.give(s.Value); err != nil {
			problems = append(problems, s.Problem(manifest.Error, "", err.Error()))
		}
	}
	return problems
}

// allocator knows what is taken.
type allocator struct {
	ips   map[netip.Addr]bool
	ports map[int32]bool
	next4 netip.Addr
	next6 netip.Addr
	port  int32
}

func (a *allocator) take(s *corev1.Service) {
	for _, ip := range append([]string{s.Spec.ClusterIP}, s.Spec.ClusterIPs...) {
		if addr, err := netip.ParseAddr(ip); err == nil {
			a.ips[addr] = true
		}
	}
	for _, p := range s.Spec.Ports {
		a.ports[p.NodePort] = true
	}
	a.ports[s.Spec.HealthCheckNodePort] = true
}

func (a *allocator) give(s *corev1.Service) error {
	if s.Spec.ClusterIP == "" {
		families := s.Spec.IPFamilies
		if len(families) == 0 {
			families = []corev1.IPFamily{corev1.IPv4Protocol}
		}
		s.Spec.IPFamilies = families
		s.Spec.ClusterIPs = nil
		for _, f := range families {
			s.Spec.ClusterIPs = append(s.Spec.ClusterIPs, a.ip(f).String())
		}
		s.Spec.ClusterIP = s.Spec.ClusterIPs[0]
	}
	external := s.Spec.Type == corev1.ServiceTypeNodePort || s.Spec.Type == corev1.ServiceTypeLoadBalancer &&
		(s.Spec.AllocateLoadBalancerNodePorts == nil || *s.Spec.AllocateLoadBalancerNodePorts)
	for i := range s.Spec.Ports {
		p := &s.Spec.Ports[i]
		if !external || p.NodePort != 0 {
			continue
		}
		if p.NodePort = a.nodePort(); p.NodePort == 0 {
			return fmt.Errorf("no node port is left between %d and %d", firstNodePort, lastNodePort)
		}
	}
	if s.Spec.Type == corev1.ServiceTypeLoadBalancer && s.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal && s.Spec.HealthCheckNodePort == 0 {
		if s.Spec.HealthCheckNodePort = a.nodePort(); s.Spec.HealthCheckNodePort == 0 {
			return fmt.Errorf("no node port is left between %d and %d", firstNodePort, lastNodePort)
		}
	}
	return nil
}

func (a *allocator) ip(family corev1.IPFamily) netip.Addr {
	next, first := &a.next4, "10.96.0.11" // .1 is the API server's, .10 the DNS server's
	if family == corev1.IPv6Protocol {
		next, first = &a.next6, "fd00:10:96::11"
	}
	if !next.IsValid() {
		*next = netip.MustParseAddr(first)
	}
	for a.ips[*next] {
		*next = next.Next()
	}
	a.ips[*next] = true
	return *next
}

// nodePort returns the first free one, 0 when there is none.
func (a *allocator) nodePort() int32 {
	for p := max(a.port, firstNodePort); p <= lastNodePort; p++ {
		if !a.ports[p] {
			a.ports[p], a.port = true, p+1
			return p
		}
	}
	a.port = lastNodePort + 1
	return 0
}

// service and workload find an object by "ns/name".
func (w *inventory) service(id string) (manifest.Typed[*corev1.Service], bool) {
	for _, s := range w.services {
		if s.ID() == id {
			return s, true
		}
	}
	return manifest.Typed[*corev1.Service]{}, false
}

func (w *inventory) workload(id string) (workload, bool) {
	for _, x := range w.workloads {
		if x.ID() == id {
			return x, true
		}
	}
	return workload{}, false
}

// zoneOf returns a Node's zone label, "" when it has none.
func zoneOf(n *corev1.Node) string {
	if zone := n.Labels[corev1.LabelTopologyZone]; zone != "" {
		return zone
	}
	return n.Labels[corev1.LabelFailureDomainBetaZone]
}

// surgeOf resolves maxSurge; one that no cluster has room for counts as none.
func surgeOf(r world.Resource) int {
	const most = 1_000_000
	if surge, _ := world.FencepostsOf(r, int(world.ReplicasOf(r))); surge <= most {
		return surge
	}
	return 0
}
