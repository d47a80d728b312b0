package endpoints

import (
	"cmp"
	"fmt"
	"net/netip"
	"time"
)

// IPFamily is the address family of a ServicePort and of its endpoints. The two
// families of a dual-stack Service are separate worlds: separate endpoints,
// separate lists, separate rules.
type IPFamily uint8

// The families, in the order in which everything is listed.
const (
	IPv4 IPFamily = iota
	IPv6
)

// Families lists both families in their total order.
func Families() [2]IPFamily { return [2]IPFamily{IPv4, IPv6} }

// String returns the API's name of the family: "IPv4" or "IPv6".
func (f IPFamily) String() string {
	if f == IPv6 {
		return "IPv6"
	}
	return "IPv4"
}

// FamilyOf returns the family of a valid address. IPv4-mapped IPv6 addresses count
// as IPv4, as in kube-proxy.
func FamilyOf(a netip.Addr) IPFamily {
	if a.Unmap().Is4() {
		return IPv4
	}
	return IPv6
}

// Protocol is a transport protocol a Service can carry.
type Protocol uint8

// The protocols of the Service API.
const (
	TCP Protocol = iota
	UDP
	SCTP
)

// String returns the API's name of the protocol: "TCP", "UDP" or "SCTP".
func (p Protocol) String() string {
	switch p {
	case UDP:
		return "UDP"
	case SCTP:
		return "SCTP"
	default:
		return "TCP"
	}
}

// ServiceName identifies a Service: namespace and name.
type ServiceName struct {
	Namespace, Name string
}

// String returns "namespace/name".
func (n ServiceName) String() string { return n.Namespace + "/" + n.Name }

// Compare orders names by namespace, then name.
func (n ServiceName) Compare(o ServiceName) int {
	if c := cmp.Compare(n.Namespace, o.Namespace); c != 0 {
		return c
	}
	return cmp.Compare(n.Name, o.Name)
}

// ServicePortName identifies one port of a Service: the key under which kube-proxy
// matches a Service's port with the ports of its EndpointSlices.
type ServicePortName struct {
	ServiceName
	Port     string // the port's name, "" for an unnamed port
	Protocol Protocol
}

// String returns "namespace/name:port", or "namespace/name" for an unnamed port.
func (n ServicePortName) String() string {
	if n.Port == "" {
		return n.ServiceName.String()
	}
	return n.ServiceName.String() + ":" + n.Port
}

// Compare orders by service name, then port name, then protocol.
func (n ServicePortName) Compare(o ServicePortName) int {
	if c := n.ServiceName.Compare(o.ServiceName); c != 0 {
		return c
	}
	if c := cmp.Compare(n.Port, o.Port); c != 0 {
		return c
	}
	return cmp.Compare(n.Protocol, o.Protocol)
}

// TrafficPolicy is a Service's internalTrafficPolicy or externalTrafficPolicy.
type TrafficPolicy uint8

// The policies of the Service API.
const (
	PolicyCluster TrafficPolicy = iota // endpoints anywhere in the cluster
	PolicyLocal                        // endpoints on the node that handles the packet, only
)

// String returns the API's name of the policy: "Cluster" or "Local".
func (p TrafficPolicy) String() string {
	if p == PolicyLocal {
		return "Local"
	}
	return "Cluster"
}

// Conditions are an endpoint's three conditions after the API's nil values have been
// read as kube-proxy reads them: ready and serving nil are true, terminating nil is
// false (kube-proxy 1.36 endpointslicecache.go, addEndpoints; verified).
type Conditions uint8

// The single conditions, to be combined with |.
const (
	Ready Conditions = 1 << iota
	Serving
	Terminating
)

// servingTerminating is the pair that KEP-1669 falls back to.
const servingTerminating = Serving | Terminating

// Ready says that the endpoint takes new work: for a pod, ready and not being
// deleted, or any state at all when the Service publishes not-ready addresses.
func (c Conditions) Ready() bool { return c&Ready != 0 }

// Serving says that the endpoint's readiness holds, whether or not it is being deleted.
func (c Conditions) Serving() bool { return c&Serving != 0 }

// Terminating says that the endpoint is being deleted.
func (c Conditions) Terminating() bool { return c&Terminating != 0 }

// Draining says that the endpoint has been told to stop, still serves and asks for no
// new work: the lame duck that KEP-1669 sends traffic to when nothing ready is left.
func (c Conditions) Draining() bool { return c&(Ready|servingTerminating) == servingTerminating }

// String returns the conditions as "r/s/t" with T or F for each, such as "F/T/T".
func (c Conditions) String() string {
	b := []byte("F/F/F")
	for i, bit := range []Conditions{Ready, Serving, Terminating} {
		if c&bit != 0 {
			b[2*i] = 'T'
		}
	}
	return string(b)
}

// Endpoint is one address of a ServicePort. Endpoints are immutable and shared between
// snapshots; the struct is one cache line, what selection seldom reads is in Meta.
type Endpoint struct {
	Addr       netip.AddrPort
	NodeName   string // "" when the slice names no node: then the endpoint is local nowhere
	Meta       *Meta  // never nil; shared by the ports of one slice entry
	Conditions Conditions
}

// Meta is what an endpoint carries beside address, node and conditions.
type Meta struct {
	Pod      string   // name of the target pod, "" when the slice names none
	Slice    string   // name of the EndpointSlice
	Zone     string   // "" when unknown
	ForZones []string // hints.forZones, nil when absent or empty
	ForNodes []string // hints.forNodes, nil when absent or empty
}

// IsLocal says whether the endpoint runs on the named node. An empty node name has no
// local endpoints.
func (e *Endpoint) IsLocal(nodeName string) bool {
	return nodeName != "" && e.NodeName == nodeName
}

// ServicePort is one port of one Service in one IP family, with its endpoints. It is
// immutable.
type ServicePort struct {
	Name     ServicePortName
	Family   IPFamily
	Type     string // the Service's spec.type
	Port     uint16
	NodePort uint16 // 0 when there is none

	ClusterIP       netip.Addr     // always valid
	ExternalIPs     []netip.Addr   // of this family, in spec order
	LoadBalancerIPs []netip.Addr   // of this family, status order, without those kube-proxy leaves alone (ipMode Proxy)
	SourceRanges    []netip.Prefix // loadBalancerSourceRanges of this family; nil admits everyone

	// AffinityTimeout is how long a client stays with its endpoint; 0 is no session affinity.
	AffinityTimeout time.Duration

	HealthCheckNodePort uint16 // 0 unless type LoadBalancer with externalTrafficPolicy Local

	InternalPolicy TrafficPolicy // of traffic to the ClusterIP
	ExternalPolicy TrafficPolicy // of all other; Cluster when the Service is not externally accessible

	// Endpoints holds every entry of every slice in total order: address, port, slice
	// name, place in the slice. Entries with the same address are neighbours; which of
	// them counts is decided by Select, since older rules depend on the node.
	Endpoints []Endpoint

	digest
}

// digest is what a port's endpoints say as a whole, worked out once so that Select need
// not. The zero digest says nothing; then Select looks.
type digest struct {
	traits traits
	all    []int32 // every position in Endpoints, for lists to be parts of; nil when empty
}

// traits spare Select the work that no endpoint of the port asks for.
type traits uint8

const (
	hasZoneHints traits = 1 << iota
	hasNodeHints
	hasDuplicates
	hasTerminating
	onlyReady
)

// String returns "10.0.0.1:80/TCP" or "[fd00::1]:80/TCP".
func (sp *ServicePort) String() string {
	return fmt.Sprintf("%s/%s", netip.AddrPortFrom(sp.ClusterIP, sp.Port), sp.Name.Protocol)
}

// ExternallyAccessible says whether anything but the ClusterIP leads to the port: a
// node port, a load-balancer VIP or an external IP.
func (sp *ServicePort) ExternallyAccessible() bool {
	return sp.NodePort != 0 || len(sp.LoadBalancerIPs) > 0 || len(sp.ExternalIPs) > 0
}

// UsesCluster says whether any traffic of the port uses the Cluster list. An externally
// accessible port always does, even with both policies Local: its own pods and nodes are
// short-circuited to the Cluster list.
func (sp *ServicePort) UsesCluster() bool {
	return sp.InternalPolicy == PolicyCluster || sp.ExternallyAccessible()
}

// UsesLocal says whether any traffic of the port uses the Local list.
func (sp *ServicePort) UsesLocal() bool {
	return sp.InternalPolicy == PolicyLocal || sp.usesExternalLocal()
}

func (sp *ServicePort) usesExternalLocal() bool {
	return sp.ExternalPolicy == PolicyLocal && sp.ExternallyAccessible()
}
