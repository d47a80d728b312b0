package oracle

import (
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/proxy/apis"
	netutils "k8s.io/utils/net"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// The classes of events. Each event, and each sync, counts once for every class it is in;
// a comparison of everything follows it.
const (
	eventAddAfterSlices  = "event: Service added after its slices"
	eventReAddKept       = "event: Service re-added, its slices kept"
	eventServiceDeleted  = "event: Service deleted"
	eventServiceUpdated  = "event: Service updated"
	eventTypeChanged     = "event: Service type changed"
	eventPolicyChanged   = "event: traffic policy changed"
	eventServiceUnlisted = "event: Service becomes headless, aliased or foreign"
	eventServiceListed   = "event: Service becomes ours"
	eventSliceAdded      = "event: slice added"
	eventSliceFirst      = "event: slice added before its Service"
	eventSliceUpdated    = "event: slice updated"
	eventSliceDeleted    = "event: slice deleted"
	eventSliceReAdded    = "event: slice re-added"
	eventSliceMoved      = "event: slice moved to another Service"
	eventSliceUnlabelled = "event: slice loses its Service's label"
	eventSliceHeadless   = "event: slice becomes headless"
	eventFamilyChanged   = "event: slice re-created in the other family"
	eventNoOp            = "event: update that changes nothing"
	eventUnknownDeleted  = "event: deletion of the unknown"
	eventSeveral         = "event: several in one sync"
	eventUndone          = "event: change undone before the sync"
)

func (j *journal) serviceClasses(name types.NamespacedName, old, svc *corev1.Service) []string {
	key := "service " + name.String()
	again := j.existed[key]
	j.existed[key] = true
	if old == nil {
		slicesThere := false
		for _, s := range j.slices {
			slicesThere = slicesThere || serviceOf(s) == name
		}
		switch {
		case slicesThere && again:
			return []string{eventReAddKept}
		case slicesThere:
			return []string{eventAddAfterSlices}
		}
		return nil
	}
	if reflect.DeepEqual(old, svc) {
		return []string{eventNoOp}
	}
	out := []string{eventServiceUpdated}
	add := func(is bool, class string) {
		if is {
			out = append(out, class)
		}
	}
	add(old.Spec.Type != svc.Spec.Type, eventTypeChanged)
	add(old.Spec.ExternalTrafficPolicy != svc.Spec.ExternalTrafficPolicy ||
		!reflect.DeepEqual(old.Spec.InternalTrafficPolicy, svc.Spec.InternalTrafficPolicy), eventPolicyChanged)
	add(!unlisted(old) && unlisted(svc), eventServiceUnlisted)
	add(unlisted(old) && !unlisted(svc), eventServiceListed)
	return out
}

func unlisted(svc *corev1.Service) bool {
	_, foreign := svc.Labels[apis.LabelServiceProxyName]
	return foreign || svc.Spec.ClusterIP == corev1.ClusterIPNone || svc.Spec.Type == corev1.ServiceTypeExternalName
}

func (j *journal) sliceClasses(name types.NamespacedName, old, s *discoveryv1.EndpointSlice) []string {
	key := "slice " + name.String()
	again := j.existed[key]
	j.existed[key] = true
	if old == nil {
		out := []string{eventSliceAdded}
		if again {
			out = append(out, eventSliceReAdded)
		}
		if j.services[serviceOf(s)] == nil {
			out = append(out, eventSliceFirst)
		}
		return out
	}
	if reflect.DeepEqual(old, s) {
		return []string{eventNoOp}
	}
	out := []string{eventSliceUpdated}
	_, wasHeadless := old.Labels[corev1.IsHeadlessService]
	_, headless := s.Labels[corev1.IsHeadlessService]
	switch from, to := serviceOf(old).Name, serviceOf(s).Name; {
	case !wasHeadless && headless:
		out = append(out, eventSliceHeadless)
	case from != "" && to == "":
		out = append(out, eventSliceUnlabelled)
	case from != to && from != "":
		out = append(out, eventSliceMoved)
	}
	if old.AddressType != s.AddressType {
		out = append(out, eventFamilyChanged)
	}
	return out
}

// tally counts a class when it applies.
func (h *harness) tally(is bool, class string) {
	if is {
		h.counts[class]++
	}
}

// count files one case under the classes of its answer.
func (h *harness) count(sp *endpoints.ServicePort, n endpoints.NodeInfo, a *answer, decisions []endpoints.Decision) {
	var reasons [2]uint32 // bits of the reasons that occur
	var conditions uint8
	hints, zones := false, map[string]bool{}
	for i, d := range decisions {
		reasons[0] |= 1 << d.Cluster
		reasons[1] |= 1 << d.Local
		conditions |= 1 << sp.Endpoints[i].Conditions
		hints = hints || len(sp.Endpoints[i].Meta.ForZones)+len(sp.Endpoints[i].Meta.ForNodes) > 0
		for _, z := range sp.Endpoints[i].Meta.ForZones {
			zones[z] = true
		}
	}
	for _, r := range endpoints.Reasons() {
		h.tally(reasons[0]&(1<<r) != 0, "reason Cluster "+r.String())
		h.tally(reasons[1]&(1<<r) != 0, "reason Local "+r.String())
	}
	for c := endpoints.Conditions(0); c < 8; c++ {
		h.tally(conditions&(1<<c) != 0, "conditions "+c.String())
	}
	h.tally(true, topologyClass(a.topology))
	h.tally(hints && a.cluster.used && a.topology == endpoints.TopologyNone, "topology hints there, none followed")
	h.tally(a.topology == endpoints.PreferSameZone && len(zones) > 64, "topology PreferSameZone, more than 64 zones hinted")
	h.tally(true, fallbackClass(a))
	h.countLists(sp, a)
	h.countDuplicates(sp, n)
	h.tally(n.Name == "", "node without a name")
	h.tally(n.Zone == "", "node without a zone")
	h.tally(a.localReady == 0, "local ready endpoints 0")
	h.tally(a.localReady == 1, "local ready endpoints 1")
	h.tally(a.localReady > 1, "local ready endpoints 2 or more")
}

func fallbackClass(a *answer) string {
	switch {
	case a.cluster.fallback && a.local.fallback:
		return "fallback both"
	case a.cluster.fallback:
		return "fallback Cluster only"
	case a.local.fallback:
		return "fallback Local only"
	default:
		return "fallback none"
	}
}

func (h *harness) countLists(sp *endpoints.ServicePort, a *answer) {
	empty := func(l *list) bool { return l.used && len(l.addrs) == 0 }
	none := len(a.cluster.addrs)+len(a.local.addrs) == 0
	h.tally(a.hasAny && (empty(&a.cluster) || empty(&a.local)), "has any, and a used list is empty")
	h.tally(a.hasAny && none, "has any, and both lists are empty")
	h.tally(!a.hasAny && len(sp.Endpoints) > 0, "has none, with endpoints")
	h.tally(!a.hasAny && len(sp.Endpoints) == 0, "has none, no endpoints")
	h.tally(a.cluster.used && !a.local.used, "lists: Cluster only")
	h.tally(!a.cluster.used && a.local.used, "lists: Local only")
	h.tally(a.cluster.used && a.local.used, "lists: both")
	h.tally(len(a.reachable) > len(a.cluster.addrs) && len(a.reachable) > len(a.local.addrs), "reachable: own list of both")
}

func (h *harness) countDuplicates(sp *endpoints.ServicePort, n endpoints.NodeInfo) {
	var in, across, mixed, allT, noneT, oneLocal bool
	for i := 1; i < len(sp.Endpoints); i++ {
		a, b := &sp.Endpoints[i-1], &sp.Endpoints[i]
		if a.Addr != b.Addr {
			continue
		}
		in = in || a.Meta.Slice == b.Meta.Slice
		across = across || a.Meta.Slice != b.Meta.Slice
		at, bt := a.Conditions.Terminating(), b.Conditions.Terminating()
		mixed, allT, noneT = mixed || at != bt, allT || at && bt, noneT || !at && !bt
		oneLocal = oneLocal || a.IsLocal(n.Name) != b.IsLocal(n.Name)
	}
	h.tally(in, "duplicate in one slice")
	h.tally(across, "duplicate across slices")
	h.tally(mixed, "duplicate terminating and not")
	h.tally(allT, "duplicate all terminating")
	h.tally(noneT, "duplicate none terminating")
	h.tally(oneLocal, "duplicate, one local")
}

// sight is what the API objects of one service look like in one family, as far as it
// does not show in what is made of them.
type sight struct {
	nilReady, nilServing, nilTerminating, nilNode bool
	oddAddress, oddPort, strangePort, targets     bool
}

// look inspects the slices of every service in a family.
func (k *kubeProxy) look(f *familyProxy) map[types.NamespacedName]*sight {
	out := map[types.NamespacedName]*sight{}
	for name, list := range k.slicesOf(f) {
		s := &sight{}
		targets := map[string]int32{}
		for _, es := range list {
			s.lookAtPorts(es, k.services[name], targets)
			for i := range es.Endpoints {
				s.lookAtEndpoint(f, &es.Endpoints[i])
			}
		}
		out[name] = s
	}
	return out
}

func (s *sight) lookAtPorts(es *discoveryv1.EndpointSlice, svc *corev1.Service, targets map[string]int32) {
	s.oddPort = s.oddPort || len(mergeKeys(es)) < len(es.Ports)
	for _, key := range mergeKeys(es) {
		if old, ok := targets[key.name]; ok && old != key.port {
			s.targets = true
		}
		targets[key.name] = key.port
		s.strangePort = s.strangePort || svc != nil && !slices.ContainsFunc(svc.Spec.Ports, func(p corev1.ServicePort) bool {
			return p.Name == key.name && p.Protocol == key.protocol
		})
	}
}

func (s *sight) lookAtEndpoint(f *familyProxy, e *discoveryv1.Endpoint) {
	s.nilReady = s.nilReady || e.Conditions.Ready == nil
	s.nilServing = s.nilServing || e.Conditions.Serving == nil
	s.nilTerminating = s.nilTerminating || e.Conditions.Terminating == nil
	s.nilNode = s.nilNode || e.NodeName == nil
	if ip := f.address(e); ip != "" && ip != e.Addresses[0] {
		s.oddAddress = true
	}
}

// countObjects files one case under the classes of its objects.
func (h *harness) countObjects(sp *endpoints.ServicePort, name types.NamespacedName, seen map[types.NamespacedName]*sight) {
	svc := h.theirs.services[name]
	h.tally(true, "family "+sp.Family.String())
	h.tally(len(svc.Spec.IPFamilies) > 1, "family both of one Service")
	h.tally(true, "protocol "+sp.Name.Protocol.String())
	h.tally(sp.Name.Port == "", "port unnamed")
	h.tally(sp.Name.Port != "", "port named")
	h.tally(true, "type "+sp.Type)
	h.tally(sp.InternalPolicy == endpoints.PolicyLocal, "policy internal Local")
	h.tally(sp.ExternalPolicy == endpoints.PolicyLocal && sp.ExternallyAccessible(), "policy external Local")
	h.tally(svc.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal && !sp.ExternallyAccessible(),
		"policy external Local, not accessible")
	h.tally(len(svc.Spec.IPFamilies) == 0, "service field ipFamilies missing")
	h.tally(len(sp.ExternalIPs) > 0, "service field external IPs")
	h.tally(len(sp.LoadBalancerIPs) > 0, "service field load-balancer VIPs")
	h.tally(slices.ContainsFunc(svc.Status.LoadBalancer.Ingress, func(i corev1.LoadBalancerIngress) bool {
		return i.IPMode != nil && *i.IPMode == corev1.LoadBalancerIPModeProxy
	}), "service field ipMode Proxy")
	h.tally(len(sp.SourceRanges) > 0, "service field source ranges")
	h.tally(slices.ContainsFunc(svc.Spec.LoadBalancerSourceRanges, func(r string) bool {
		_, cidr, err := netutils.ParseCIDRSloppy(r)
		return err == nil && cidr.Mask[0] == 0
	}), "service field zero source range")
	h.tally(sp.AffinityTimeout > 0, "service field affinity")
	h.tally(sp.HealthCheckNodePort > 0, "service field healthCheckNodePort")
	if s := seen[name]; s != nil {
		h.tally(s.nilReady, "nil ready")
		h.tally(s.nilServing, "nil serving")
		h.tally(s.nilTerminating, "nil terminating")
		h.tally(s.nilNode, "nil node name")
		h.tally(s.oddAddress, "slice address oddly spelled")
		h.tally(s.oddPort, "slice port without name or number")
		h.tally(s.strangePort, "slice port no Service port matches")
		h.tally(s.targets, "slice ports with different targets")
	}
}
