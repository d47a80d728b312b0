package oracle

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/proxy/apis"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// newService makes a Service as the API server would store it: defaulted, with its
// addresses allocated, but for what old objects lack (ipFamilies).
func (g *generator) newService(name types.NamespacedName) *corev1.Service {
	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}}
	g.setAddresses(svc)
	g.setPorts(svc)
	g.setType(svc)
	g.setPolicies(svc)
	g.setFields(svc)
	g.setHealthCheck(svc)
	return svc
}

// host numbers the addresses of a Service in the world.
func (g *generator) host(svc *corev1.Service) int {
	if svc.Name == g.serviceNames[0].Name && svc.Namespace == g.serviceNames[0].Namespace {
		return 1
	}
	return 2
}

func (g *generator) setAddresses(svc *corev1.Service) {
	v4, v6 := fmt.Sprintf("10.96.0.%d", g.host(svc)), fmt.Sprintf("fd00:96::%d", g.host(svc))
	if g.has(featOddSpelling, 20) {
		v4 = pick(g, []string{fmt.Sprintf("010.96.0.%d", g.host(svc)), "::ffff:" + v4})
	}
	single, other := v4, v6
	family, second := corev1.IPv4Protocol, corev1.IPv6Protocol
	if g.family == corev1.IPv6Protocol {
		single, other, family, second = v6, v4, second, family
	}
	svc.Spec.ClusterIP, svc.Spec.ClusterIPs, svc.Spec.IPFamilies = single, nil, nil
	switch {
	case g.has(featDualStack, 60):
		svc.Spec.ClusterIPs = []string{single, other}
		svc.Spec.IPFamilies = []corev1.IPFamily{family, second}
	case g.has(featServiceFields, 25): // written before dual stack
	default:
		svc.Spec.ClusterIPs = []string{single}
		svc.Spec.IPFamilies = []corev1.IPFamily{family}
	}
}

func (g *generator) setPorts(svc *corev1.Service) {
	svc.Spec.Ports = nil
	for _, t := range g.ports {
		if len(g.ports) > 1 && g.chance(10) {
			continue
		}
		p := corev1.ServicePort{Name: t.name, Protocol: t.protocol, Port: t.port}
		if g.has(featOddPorts, 5) {
			p.Protocol = pick(g, []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP})
		}
		svc.Spec.Ports = append(svc.Spec.Ports, p)
	}
	if g.has(featOddPorts, 5) && len(svc.Spec.Ports) > 0 { // the same name twice: validation forbids it, the code does not
		p := svc.Spec.Ports[0]
		p.Port += 1000
		svc.Spec.Ports = append(svc.Spec.Ports, p)
	}
}

func (g *generator) setType(svc *corev1.Service) {
	svc.Spec.Type = corev1.ServiceTypeClusterIP
	if g.on[featExternal] {
		svc.Spec.Type = pick(g, []corev1.ServiceType{
			corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeNodePort,
			corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeLoadBalancer,
		})
	}
	withNodePorts := svc.Spec.Type == corev1.ServiceTypeNodePort || svc.Spec.Type == corev1.ServiceTypeLoadBalancer && g.chance(75)
	for i := range svc.Spec.Ports {
		svc.Spec.Ports[i].NodePort = 0
		if withNodePorts {
			svc.Spec.Ports[i].NodePort = int32(30000 + 100*g.host(svc) + i)
		}
	}
	svc.Status.LoadBalancer.Ingress = nil
	if svc.Spec.Type == corev1.ServiceTypeLoadBalancer {
		for range g.r.IntN(3) {
			svc.Status.LoadBalancer.Ingress = append(svc.Status.LoadBalancer.Ingress, g.ingress())
		}
	}
}

func (g *generator) ingress() corev1.LoadBalancerIngress {
	ing := corev1.LoadBalancerIngress{IP: pick(g, []string{"192.0.2.1", "192.0.2.2", "2001:db8::1"})}
	if g.has(featOddSpelling, 25) {
		ing.IP = pick(g, []string{"192.000.2.1", "::ffff:192.0.2.2", "::ffff:192.0.002.2", "::ffff:0192.0.2.2", "2001:0DB8:0::1", "2001:db8::00001"})
	}
	switch g.r.IntN(6) {
	case 0:
		ing.IPMode = ptr(corev1.LoadBalancerIPModeProxy)
	case 1:
		ing.IPMode = ptr(corev1.LoadBalancerIPModeVIP)
	case 2:
		ing.IP, ing.Hostname = "", "lb.example.net"
	}
	if g.has(featBadAddresses, 10) {
		ing.IP = "no-address"
	}
	return ing
}

func (g *generator) setPolicies(svc *corev1.Service) {
	svc.Spec.InternalTrafficPolicy, svc.Spec.ExternalTrafficPolicy = ptr(corev1.ServiceInternalTrafficPolicyCluster), ""
	local := g.on[featLocal]
	switch {
	case local && g.chance(40):
		svc.Spec.InternalTrafficPolicy = ptr(corev1.ServiceInternalTrafficPolicyLocal)
	case g.chance(20):
		svc.Spec.InternalTrafficPolicy = nil
	}
	if svc.Spec.Type != corev1.ServiceTypeClusterIP || len(svc.Spec.ExternalIPs) > 0 {
		svc.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyCluster
	}
	if local && g.chance(50) { // also where nothing external leads to the Service
		svc.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal
	}
}

var sourceRanges = []string{
	"192.0.2.0/24", " 198.51.100.0/24", "203.0.113.7/24 ", "10.0.0.0/8", "2001:db8::/32", "2001:db8:1::1/48\t", "192.0.2.1/32",
}

var oddSourceRanges = []string{
	"010.1.0.0/16", "10.1.0.0/016", "::ffff:10.0.0.0/104", "::ffff:010.0.0.0/104", "::ffff:1.2.3.4/128",
	"2001:db8::00001/64", "::ffff:10.0.0.0/90", "0.0.0.0/0", "::/0", " 0.0.0.0/0", "1.2.3.4/0", "::ffff:0.0.0.0/96",
}

func (g *generator) setFields(svc *corev1.Service) {
	svc.Spec.ExternalIPs, svc.Spec.LoadBalancerSourceRanges = nil, nil
	svc.Spec.SessionAffinity, svc.Spec.SessionAffinityConfig = corev1.ServiceAffinityNone, nil
	if !g.on[featServiceFields] {
		return
	}
	if g.chance(25) {
		svc.Spec.ExternalIPs = append(svc.Spec.ExternalIPs, pick(g, []string{"203.0.113.1", "2001:db8::2"}))
	}
	if g.has(featOddSpelling, 10) {
		svc.Spec.ExternalIPs = append(svc.Spec.ExternalIPs, pick(g, []string{"203.000.113.001", "::ffff:203.0.113.9", "2001:DB8::0002"}))
	}
	if g.has(featBadAddresses, 20) {
		svc.Spec.ExternalIPs = append(svc.Spec.ExternalIPs, pick(g, []string{"", "no-address", "1.2.3.4/32"}))
		svc.Spec.LoadBalancerSourceRanges = append(svc.Spec.LoadBalancerSourceRanges, pick(g, []string{"", "10.0.0.0", "10.0.0.0/33", "no-range"}))
	}
	for range g.r.IntN(3) {
		svc.Spec.LoadBalancerSourceRanges = append(svc.Spec.LoadBalancerSourceRanges, pick(g, sourceRanges))
	}
	if g.chance(15) {
		svc.Spec.LoadBalancerSourceRanges = append(svc.Spec.LoadBalancerSourceRanges, pick(g, oddSourceRanges))
	}
	if g.chance(25) {
		svc.Spec.SessionAffinity = corev1.ServiceAffinityClientIP
		svc.Spec.SessionAffinityConfig = &corev1.SessionAffinityConfig{
			ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: ptr(pick(g, []int32{10800, 1, 86400}))},
		}
	}
}

func (g *generator) setHealthCheck(svc *corev1.Service) {
	svc.Spec.HealthCheckNodePort = 0
	if svc.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal && g.chance(85) {
		svc.Spec.HealthCheckNodePort = int32(32000 + g.host(svc)) // also where the type asks for none
	}
}

// changedService is the Service with one aspect drawn again.
func (g *generator) changedService(old *corev1.Service) *corev1.Service {
	svc := old.DeepCopy()
	if unlisted(svc) && g.chance(50) {
		g.changeKind(svc)
		return svc
	}
	switch g.r.IntN(9) {
	case 0, 1:
		g.setType(svc)
		g.setHealthCheck(svc)
	case 2, 3:
		g.setPolicies(svc)
		g.setHealthCheck(svc)
	case 4:
		g.setPorts(svc)
	case 5:
		g.setFields(svc)
	case 6:
		if _, foreign := svc.Labels[apis.LabelServiceProxyName]; foreign {
			svc.Labels = nil
		} else {
			svc.Labels = map[string]string{apis.LabelServiceProxyName: pick(g, []string{"mesh", ""})}
		}
	case 7:
		g.changeKind(svc)
	default:
		svc.Annotations = map[string]string{"changed": fmt.Sprint(g.r.IntN(100))}
	}
	return svc
}

// changeKind makes a Service headless or an alias, or an ordinary one again.
func (g *generator) changeKind(svc *corev1.Service) {
	switch {
	case unlisted(svc):
		svc.Labels, svc.Spec.ExternalName = nil, ""
		g.setAddresses(svc)
		g.setType(svc)
	case g.chance(50):
		svc.Spec.ClusterIP = corev1.ClusterIPNone
		svc.Spec.ClusterIPs = []string{corev1.ClusterIPNone}
	default:
		svc.Spec.Type, svc.Spec.ExternalName = corev1.ServiceTypeExternalName, "example.net"
		if g.chance(50) {
			svc.Spec.ClusterIP, svc.Spec.ClusterIPs, svc.Spec.IPFamilies = "", nil, nil
		}
	}
}

func (g *generator) newSlice(name types.NamespacedName) *discoveryv1.EndpointSlice {
	s := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name, Labels: map[string]string{}},
		AddressType: discoveryv1.AddressType(g.family),
	}
	if g.has(featDualStack, 50) {
		s.AddressType = pick(g, []discoveryv1.AddressType{discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6})
	}
	service := g.serviceNames[0].Name
	if len(g.serviceNames) > 1 && g.chance(40) {
		service = g.serviceNames[1].Name
	}
	s.Labels[discoveryv1.LabelServiceName] = service
	g.setSlicePorts(s)
	for range pick(g, []int{0, 1, 2, 2, 3, 4, 5}) {
		s.Endpoints = append(s.Endpoints, g.newEndpoint(s))
	}
	return s
}

func (g *generator) setSlicePorts(s *discoveryv1.EndpointSlice) {
	s.Ports = nil
	for i, t := range g.ports {
		p := discoveryv1.EndpointPort{Name: ptr(t.name), Protocol: ptr(t.protocol), Port: ptr(int32(8080 + i))}
		if g.has(featMixedTargets, 30) {
			p.Port = ptr(int32(9090))
		}
		if g.has(featOddPorts, 15) {
			g.spoilPort(&p)
		}
		if len(g.ports) == 1 || g.chance(90) {
			s.Ports = append(s.Ports, p)
		}
	}
	if g.has(featOddPorts, 15) {
		s.Ports = append(s.Ports, discoveryv1.EndpointPort{Name: ptr("metrics"), Protocol: ptr(corev1.ProtocolTCP), Port: ptr(int32(9100))})
	}
}

func (g *generator) spoilPort(p *discoveryv1.EndpointPort) {
	switch g.r.IntN(5) {
	case 0:
		p.Name = nil
	case 1:
		p.Port = nil
	case 2:
		p.Port = ptr(int32(0))
	case 3:
		p.Name = ptr("")
	default:
		p.Protocol = ptr(pick(g, []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP}))
	}
}

func (g *generator) newEndpoint(s *discoveryv1.EndpointSlice) discoveryv1.Endpoint {
	e := discoveryv1.Endpoint{Addresses: []string{g.address(s.AddressType)}}
	if g.has(featBadAddresses, 20) {
		e.Addresses = pick(g, [][]string{nil, {}, {""}, {"no-address"}, {"10.1.0.1"}, {"fd00:1::1"}, {"fe80::1%eth0"}, {"::ffff:10.1.0.1"}})
	}
	if g.chance(10) {
		e.Addresses = append(e.Addresses, "10.1.0.99") // nobody reads a second one
	}
	if !g.chance(8) {
		names := []string{"node-elsewhere", ""}
		for range 4 {
			for _, n := range g.nodes {
				names = append(names, n.Name)
			}
		}
		e.NodeName = ptr(pick(g, names))
	}
	if g.chance(80) {
		e.Zone = ptr(pick(g, g.zones))
	}
	g.setConditions(&e)
	g.setHints(&e)
	return e
}

func (g *generator) address(t discoveryv1.AddressType) string {
	host := 1 + g.r.IntN(6)
	if !g.on[featDuplicates] {
		g.nextHost++
		host = g.nextHost
	}
	if t == discoveryv1.AddressTypeIPv6 {
		if g.has(featOddSpelling, 30) {
			return fmt.Sprintf(pick(g, []string{"FD00:1::%x", "fd00:1:0:0::%x", "fd00:0001::%04x", "fd00:1::%05x", "fd00:1:0:0:0:0:0.0.0.%[1]d", "fd00:1::00.0.0.%[1]d"}), host)
		}
		return fmt.Sprintf("fd00:1::%x", host)
	}
	if g.has(featOddSpelling, 30) {
		return fmt.Sprintf(pick(g, []string{"010.1.0.%d", "10.1.0.0%d", "10.01.000.%d", "::ffff:10.1.0.%d", "::ffff:a01:%x", "::FFFF:010.1.0.%d"}), host)
	}
	return fmt.Sprintf("10.1.0.%d", host)
}

// setConditions draws a cell of the truth table, then forgets some of it.
func (g *generator) setConditions(e *discoveryv1.Endpoint) {
	total := 0
	for _, w := range g.profile {
		total += w
	}
	n, cell := g.r.IntN(total), endpoints.Conditions(0)
	for ; n >= g.profile[cell]; cell++ {
		n -= g.profile[cell]
	}
	if !g.on[featTerminating] {
		cell &^= endpoints.Terminating
	}
	e.Conditions = discoveryv1.EndpointConditions{Ready: ptr(cell.Ready()), Serving: ptr(cell.Serving()), Terminating: ptr(cell.Terminating())}
	if g.has(featNilConditions, 15) {
		e.Conditions.Ready = nil
	}
	if g.has(featNilConditions, 25) {
		e.Conditions.Serving = nil
	}
	if g.has(featNilConditions, 25) {
		e.Conditions.Terminating = nil
	}
}

// otherZones is how many zones without a node an endpoint is hinted for.
func (g *generator) otherZones() int {
	if g.on[featManyZones] {
		return g.r.IntN(60)
	}
	return 0
}

func (g *generator) setHints(e *discoveryv1.Endpoint) {
	e.Hints = nil
	if g.has(featZoneHints, 95) && !g.has(featPartialHints, 12) {
		e.Hints = &discoveryv1.EndpointHints{}
		for range 1 + g.r.IntN(2) {
			e.Hints.ForZones = append(e.Hints.ForZones, discoveryv1.ForZone{Name: pick(g, append(g.zones, "zone-x"))})
		}
		for range g.otherZones() {
			e.Hints.ForZones = append(e.Hints.ForZones, discoveryv1.ForZone{Name: fmt.Sprintf("zone-%d", g.r.IntN(120))})
		}
	}
	if g.has(featNodeHints, 95) && !g.has(featPartialHints, 12) {
		if e.Hints == nil {
			e.Hints = &discoveryv1.EndpointHints{}
		}
		for range 1 + g.r.IntN(2) {
			e.Hints.ForNodes = append(e.Hints.ForNodes, discoveryv1.ForNode{Name: pick(g, append(g.nodes, endpoints.NodeInfo{Name: "node-x"})).Name})
		}
	}
	if e.Hints == nil && g.chance(10) {
		e.Hints = &discoveryv1.EndpointHints{}
	}
}

// changedSlice is the slice with one aspect drawn again; most often an endpoint's conditions.
func (g *generator) changedSlice(old *discoveryv1.EndpointSlice) *discoveryv1.EndpointSlice {
	s := old.DeepCopy()
	at := -1
	if len(s.Endpoints) > 0 {
		at = g.r.IntN(len(s.Endpoints))
	}
	switch n := g.r.IntN(10); {
	case n < 5 && at >= 0:
		g.setConditions(&s.Endpoints[at])
	case n < 6 && at >= 0:
		g.setHints(&s.Endpoints[at])
	case n < 7 && at >= 0:
		s.Endpoints = append(s.Endpoints[:at], s.Endpoints[at+1:]...)
	case n < 8:
		g.setSlicePorts(s)
	case n < 9 || at < 0:
		s.Endpoints = append(s.Endpoints, g.newEndpoint(s))
	default:
		s.Annotations = map[string]string{corev1.EndpointsLastChangeTriggerTime: fmt.Sprintf("2030-01-01T00:00:%02dZ", g.r.IntN(60))}
	}
	return s
}

// moveEndpoint moves an endpoint to another slice, as the controller does when it repacks:
// for a moment it is in both, or in neither.
func (g *generator) moveEndpoint(name types.NamespacedName, s *discoveryv1.EndpointSlice) {
	to := pick(g, g.sliceNames)
	target := g.slices[to]
	if target == nil || to == name || len(s.Endpoints) == 0 || target.AddressType != s.AddressType {
		g.putSlice(name, g.changedSlice(s))
		return
	}
	less, more := s.DeepCopy(), target.DeepCopy()
	more.Endpoints = append(more.Endpoints, less.Endpoints[0])
	if g.has(featDuplicates, 50) { // the copies may disagree
		g.setConditions(&more.Endpoints[len(more.Endpoints)-1])
	}
	less.Endpoints = less.Endpoints[1:]
	put := []func(){func() { g.putSlice(to, more) }, func() { g.putSlice(name, less) }}
	if g.chance(40) {
		put[0], put[1] = put[1], put[0]
	}
	put[0]()
	if g.chance(g.syncRate) {
		g.sync()
	}
	put[1]()
}

// relabelled gives the slice to another Service, to none, or to the headless world.
func (g *generator) relabelled(old *discoveryv1.EndpointSlice) *discoveryv1.EndpointSlice {
	s := old.DeepCopy()
	if _, headless := s.Labels[corev1.IsHeadlessService]; headless {
		delete(s.Labels, corev1.IsHeadlessService)
		return s
	}
	switch g.r.IntN(4) {
	case 0:
		s.Labels[corev1.IsHeadlessService] = ""
	case 1:
		if _, ok := s.Labels[discoveryv1.LabelServiceName]; ok && g.chance(70) {
			delete(s.Labels, discoveryv1.LabelServiceName)
		} else {
			s.Labels[discoveryv1.LabelServiceName] = ""
		}
	case 2:
		s.Labels[discoveryv1.LabelServiceName] = strings.Replace(pick(g, g.serviceNames).Name, "svc-b", "svc-never", g.r.IntN(2))
	default:
		s.Labels[discoveryv1.LabelServiceName] = pick(g, g.serviceNames).Name
	}
	return s
}
