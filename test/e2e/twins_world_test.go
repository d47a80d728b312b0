package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const (
	twinServices = 6
	toBeDeleted  = "ToBeDeletedByClusterAutoscaler" // docs/model/kube-proxy.md 6
)

// twinWorld is the objects that both twins are told of. Which events there are is the seed's to
// say; what the API server makes of them (cluster IPs, node ports) is the same for both.
type twinWorld struct {
	c               *cluster
	namespace, node string
	rng             *rand.Rand
	base            int // of the addresses of Services

	zone        string
	tainted     bool
	services    map[int]*corev1.Service
	healthPorts []uint16 // of all Services so far
	markers     int
	events      []string // for messages
}

func newTwinWorld(c *cluster, namespace, node string, base int, rng *rand.Rand) *twinWorld {
	return &twinWorld{c: c, namespace: namespace, node: node, base: base, rng: rng, zone: "a", services: map[int]*corev1.Service{}}
}

func (w *twinWorld) list() []*corev1.Service {
	var out []*corev1.Service
	for i := range twinServices {
		if s := w.services[i]; s != nil {
			out = append(out, s)
		}
	}
	return out
}

// chance is true so often in a hundred times.
func (w *twinWorld) chance(percent int) bool { return w.rng.IntN(100) < percent }

// event is one thing that happens.
func (w *twinWorld) event(t *testing.T) {
	t.Helper()
	i := w.rng.IntN(twinServices)
	switch n := w.rng.IntN(100); {
	case n < 8:
		w.changeNode(t)
	case w.services[i] == nil:
		w.create(t, i)
		w.setSlices(t, i)
	case n < 35:
		w.update(t, i)
	case n < 45:
		w.remove(t, i)
	default:
		w.setSlices(t, i)
	}
}

func (w *twinWorld) happened(t *testing.T, what string, of any, err error) {
	t.Helper()
	text, failed := json.Marshal(of)
	if err != nil || failed != nil {
		t.Fatalf("%s: %v %v", what, err, failed)
	}
	w.events = append(w.events, what+" "+string(text))
}

// changeNode moves the node to the other zone, or has an autoscaler begin or stop to remove it.
func (w *twinWorld) changeNode(t *testing.T) {
	t.Helper()
	if w.chance(50) {
		w.zone = map[string]string{"a": "b", "b": "a"}[w.zone]
	} else {
		w.tainted = !w.tainted
	}
	until(t, "the node is changed", func(ctx context.Context) error {
		n, err := w.c.admin.CoreV1().Nodes().Get(ctx, w.node, metav1.GetOptions{})
		if err != nil {
			return err
		}
		n.Labels[corev1.LabelTopologyZone] = w.zone
		n.Spec.Taints = nil
		if w.tainted {
			n.Spec.Taints = []corev1.Taint{{Key: toBeDeleted, Effect: corev1.TaintEffectNoSchedule}}
		}
		_, err = w.c.admin.CoreV1().Nodes().Update(ctx, n, metav1.UpdateOptions{}) // controllers write it, too
		return err
	})
	w.happened(t, "node", map[string]any{"zone": w.zone, "tainted": w.tainted}, nil)
}

func twinServiceName(i int) string { return "twin-" + strconv.Itoa(i) }

func (w *twinWorld) create(t *testing.T, i int) {
	t.Helper()
	s := &corev1.Service{Spec: w.spec(i)}
	s.Name = twinServiceName(i)
	s, err := w.c.admin.CoreV1().Services(w.namespace).Create(t.Context(), s, metav1.CreateOptions{})
	w.happened(t, "create", s.Spec, err)
	w.keep(t, i, s)
}

func (w *twinWorld) update(t *testing.T, i int) {
	t.Helper()
	s := w.services[i].DeepCopy()
	spec := w.spec(i)
	spec.ClusterIP, spec.ClusterIPs = s.Spec.ClusterIP, s.Spec.ClusterIPs
	s.Spec = spec
	s, err := w.c.admin.CoreV1().Services(w.namespace).Update(t.Context(), s, metav1.UpdateOptions{})
	w.happened(t, "update "+twinServiceName(i), s.Spec, err)
	w.keep(t, i, s)
}

func (w *twinWorld) remove(t *testing.T, i int) {
	t.Helper()
	err := w.c.admin.CoreV1().Services(w.namespace).Delete(t.Context(), twinServiceName(i), metav1.DeleteOptions{})
	w.happened(t, "delete", twinServiceName(i), err)
	delete(w.services, i)
	for _, family := range families() {
		err := w.c.admin.DiscoveryV1().EndpointSlices(w.namespace).Delete(t.Context(), twinSliceName(twinServiceName(i), family), metav1.DeleteOptions{})
		w.happened(t, "delete slice", family, err)
	}
}

// keep remembers a Service as the API server has it, and sets its load-balancer addresses.
func (w *twinWorld) keep(t *testing.T, i int, s *corev1.Service) {
	t.Helper()
	s.Status.LoadBalancer.Ingress = nil
	if s.Spec.Type == corev1.ServiceTypeLoadBalancer {
		s.Status.LoadBalancer.Ingress = w.ingress(i)
	}
	s, err := w.c.admin.CoreV1().Services(w.namespace).UpdateStatus(t.Context(), s, metav1.UpdateOptions{})
	w.happened(t, "status", s.Status.LoadBalancer, err)
	w.services[i] = s
	if port := s.Spec.HealthCheckNodePort; port != 0 {
		w.healthPorts = append(w.healthPorts, uint16(port)) // a port
	}
}

// ingress are load-balancer addresses, now and then of a load balancer that is asked itself (KEP-1860).
func (w *twinWorld) ingress(i int) []corev1.LoadBalancerIngress {
	mode := corev1.LoadBalancerIPModeVIP
	if w.chance(15) {
		mode = corev1.LoadBalancerIPModeProxy
	}
	n := w.number(i)
	return []corev1.LoadBalancerIngress{
		{IP: fmt.Sprintf("192.0.2.%d", n), IPMode: &mode}, {IP: fmt.Sprintf("2001:db8:2::%x", n), IPMode: &mode},
	}
}

// number tells the Services of both modes apart: nodes of either have the rules of all.
func (w *twinWorld) number(i int) int { return w.base + i + 1 }

func ingressIPs(s *corev1.Service) []string {
	var out []string
	for _, in := range s.Status.LoadBalancer.Ingress {
		out = append(out, in.IP)
	}
	return out
}

// spec draws what a Service may be.
func (w *twinWorld) spec(i int) corev1.ServiceSpec {
	both := corev1.IPFamilyPolicyRequireDualStack
	types := []corev1.ServiceType{corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeLoadBalancer}
	s := corev1.ServiceSpec{
		Type: types[w.rng.IntN(len(types))], IPFamilyPolicy: &both,
		Ports: []corev1.ServicePort{
			{Name: "tcp", Protocol: corev1.ProtocolTCP, Port: servicePort, TargetPort: intstr.FromInt32(appPort)},
			{Name: "udp", Protocol: corev1.ProtocolUDP, Port: servicePort, TargetPort: intstr.FromInt32(appPort)},
		},
	}
	if w.chance(35) {
		local := corev1.ServiceInternalTrafficPolicyLocal
		s.InternalTrafficPolicy = &local
	}
	if w.chance(30) {
		s.SessionAffinity = corev1.ServiceAffinityClientIP
	}
	external := w.chance(35)
	if external {
		s.ExternalIPs = []string{fmt.Sprintf("192.0.2.%d", 100+w.number(i)), fmt.Sprintf("2001:db8:2::1%02x", w.number(i))}
	}
	if (external || s.Type != corev1.ServiceTypeClusterIP) && w.chance(50) {
		s.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal
	}
	if s.Type == corev1.ServiceTypeLoadBalancer {
		if w.chance(30) {
			s.LoadBalancerSourceRanges = [][]string{
				{"198.51.100.0/24", "2001:db8:51::/64"}, {"203.0.113.0/24"}, {"10.0.0.0/8", "2001:db8:113::/64"}, {"0.0.0.0/0", "::/0"},
			}[w.rng.IntN(4)]
		}
		allocate := !w.chance(20)
		s.AllocateLoadBalancerNodePorts = &allocate
	}
	return s
}

func twinSliceName(service string, family discoveryv1.AddressType) string {
	return service + map[discoveryv1.AddressType]string{discoveryv1.AddressTypeIPv4: "-4", discoveryv1.AddressTypeIPv6: "-6"}[family]
}

// setSlices draws which of the sites are endpoints, and in what state.
func (w *twinWorld) setSlices(t *testing.T, i int) {
	t.Helper()
	w.slices(t, twinServiceName(i), w.drawEndpoints())
}

// drawn is an endpoint without its address.
type drawn struct {
	site                        int
	ready, serving, terminating bool
	zone                        string
}

func (w *twinWorld) drawEndpoints() []drawn {
	var out []drawn
	hinted := w.chance(40)
	allTerminate := w.chance(25)
	for site := range endpointSites() {
		if w.chance(45) {
			continue
		}
		e := drawn{site: site, serving: !w.chance(25)}
		e.terminating = allTerminate || w.chance(25)
		e.ready = e.serving && !e.terminating
		if hinted && !w.chance(10) {
			e.zone = []string{"a", "b"}[w.rng.IntN(2)]
		}
		out = append(out, e)
	}
	return out
}

// slices makes or replaces the slices of a Service, of both families.
func (w *twinWorld) slices(t *testing.T, service string, endpoints []drawn) {
	t.Helper()
	for family, addressType := range families() {
		s := &discoveryv1.EndpointSlice{AddressType: addressType}
		s.Name, s.Labels = twinSliceName(service, addressType), map[string]string{discoveryv1.LabelServiceName: service}
		for _, protocol := range []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP} {
			name, port := map[corev1.Protocol]string{corev1.ProtocolTCP: "tcp", corev1.ProtocolUDP: "udp"}[protocol], int32(appPort)
			s.Ports = append(s.Ports, discoveryv1.EndpointPort{Name: &name, Protocol: &protocol, Port: &port})
		}
		for _, e := range endpoints {
			s.Endpoints = append(s.Endpoints, w.endpoint(e, family))
		}
		api := w.c.admin.DiscoveryV1().EndpointSlices(w.namespace)
		_, err := api.Update(t.Context(), s, metav1.UpdateOptions{})
		if apierrors.IsNotFound(err) {
			_, err = api.Create(t.Context(), s, metav1.CreateOptions{})
		}
		w.happened(t, "slice of "+service, s.Endpoints, err)
	}
}

func (w *twinWorld) endpoint(e drawn, family int) discoveryv1.Endpoint {
	name := "another-node"
	if e.site < 2 {
		name = w.node
	}
	out := discoveryv1.Endpoint{
		Addresses: []string{endpointSites()[e.site].Addrs[family].String()}, NodeName: &name,
		Conditions: discoveryv1.EndpointConditions{Ready: &e.ready, Serving: &e.serving, Terminating: &e.terminating},
	}
	if e.zone != "" {
		out.Hints = &discoveryv1.EndpointHints{ForZones: []discoveryv1.ForZone{{Name: e.zone}}}
	}
	return out
}

// marker makes a Service whose endpoints are one for each zone. A twin that leads to the right one
// has seen all that was said of Services, EndpointSlices and its Node before: each of them is
// told in order.
func (w *twinWorld) marker(t *testing.T) *corev1.Service {
	t.Helper()
	w.markers++
	both := corev1.IPFamilyPolicyRequireDualStack
	s := &corev1.Service{}
	s.Name = fmt.Sprintf("marker-%d", w.markers)
	s.Spec = corev1.ServiceSpec{IPFamilyPolicy: &both, Ports: []corev1.ServicePort{
		{Name: "tcp", Protocol: corev1.ProtocolTCP, Port: servicePort, TargetPort: intstr.FromInt32(appPort)},
	}}
	s, err := w.c.admin.CoreV1().Services(w.namespace).Create(t.Context(), s, metav1.CreateOptions{})
	w.happened(t, "marker", s.Name, err)
	w.slices(t, s.Name, []drawn{{2, true, true, false, "a"}, {3, true, true, false, "b"}})
	return s
}

// marked is who answers at a marker.
func (w *twinWorld) marked() string {
	if w.zone == "a" {
		return endpointSites()[2].Name
	}
	return endpointSites()[3].Name
}
