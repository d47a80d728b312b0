package scenario

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Load balancers that are not simulated, and what stands in for them.

// nodeFamilies are those of them that send to nodes: what a provider that is not simulated makes does so, too, wherever it is not AWS's
// own controller.
func nodeFamilies() []string {
	return slices.DeleteFunc(unknownFamilies(), func(name string) bool { return name == "aws-nlb-ip" })
}

// k3s is what a Node's providerID begins with where k3s runs without a provider.
const k3s = "k3s"

// serviceLB says what a Service of type LoadBalancer has there: a DaemonSet that takes the Service's ports on each node and forwards them to
// the Service (https://docs.k3s.io/networking/networking-services#service-load-balancer; recalled).
func serviceLB(node string) string {
	return "k3s's ServiceLB forwards ports of the nodes, by providerID " + k3s + " of Node " + node
}

// otherProvider is what the providerID of the first Node that has one begins with, and that Node; "" for a provider of which more is known.
func (b *builder) otherProvider() (provider, node string) {
	provider, node, _ = providerOf(b.world.nodes)
	if providerBalancer(provider).name != "" {
		return "", ""
	}
	return provider, node
}

// otherBalancer is a load balancer that is not simulated, as far as the input says whose it is.
type otherBalancer struct {
	words    string   // "the load balancer of provider hcloud (providerID of Node n1)"
	families []string // that stand in for it
}

// otherAnnotation is the beginning of annotations that a maker's controller reads of a Service (its documentation; recalled). announces
// says that the address is announced by nodes, as MetalLB's is.
type otherAnnotation struct {
	prefix, maker string
	announces     bool
}

func otherAnnotations() []otherAnnotation {
	return []otherAnnotation{
		{"load-balancer.hetzner.cloud/", "Hetzner Cloud", false},
		{"service.beta.kubernetes.io/do-loadbalancer-", "DigitalOcean", false},
		{"service.beta.kubernetes.io/linode-loadbalancer-", "Linode", false},
		{"service.beta.kubernetes.io/vultr-loadbalancer-", "Vultr", false},
		{"service.beta.kubernetes.io/scw-loadbalancer-", "Scaleway", false},
		{"service.beta.kubernetes.io/alibaba-cloud-loadbalancer-", "Alibaba Cloud", false},
		{"service.beta.kubernetes.io/oci-load-balancer-", "Oracle Cloud", false},
		{"oci.oraclecloud.com/", "Oracle Cloud", false},
		{"oci-network-load-balancer.oraclecloud.com/", "Oracle Cloud", false},
		{"service.kubernetes.io/ibm-load-balancer-", "IBM Cloud", false},
		{"loadbalancer.openstack.org/", "OpenStack", false},
		{"kube-vip.io/", "kube-vip", true},
		{"lbipam.cilium.io/", "Cilium", true},
		{"io.cilium/lb-ipam", "Cilium", true},
	}
}

// announcedClasses begin the loadBalancerClass of load balancers whose address nodes announce.
func announcedClasses() []string { return []string{"io.cilium/", "kube-vip.io/", "purelb.io/"} }

// announcedFamilies are those of load balancers whose address nodes announce, somehow.
func announcedFamilies() []string { return []string{"metallb-l2", "metallb-bgp"} }

// announcedAs are those of a class that says how (https://docs.cilium.io/en/stable/network/l2-announcements/, and .../bgp-control-plane/; recalled).
func announcedAs(class string) []string {
	switch class {
	case "io.cilium/l2-announcer":
		return []string{"metallb-l2"}
	case "io.cilium/bgp-control-plane":
		return []string{"metallb-bgp"}
	default:
		return announcedFamilies()
	}
}

// otherBalancerOf finds what the input says of a Service's load balancer that is none of those that are simulated; ok is false where it says
// nothing, or what it says is simulated.
func (b *builder) otherBalancerOf(svc *corev1.Service) (o otherBalancer, ok bool) {
	e := balancerEvidence{svc: svc}
	if class := e.class(); class != "" {
		o = otherBalancer{"the load balancer of loadBalancerClass " + class, nodeFamilies()}
		if slices.ContainsFunc(announcedClasses(), func(p string) bool { return strings.HasPrefix(class, p) }) {
			o.families = announcedAs(class)
		}
		return o, true
	}
	for _, a := range otherAnnotations() {
		if key := e.annotation(a.prefix); key != "" {
			o = otherBalancer{a.maker + "'s load balancer (annotation " + key + ")", nodeFamilies()}
			if a.announces {
				o.families = announcedFamilies()
			}
			return o, true
		}
	}
	if provider, node := b.otherProvider(); provider != "" && provider != k3s {
		return otherBalancer{"the load balancer of provider " + provider + " (providerID of Node " + node + ")", nodeFamilies()}, true
	}
	return o, false
}

// balancerStandsIn says that load balancers stand in for another one, "" where none does.
func (b *builder) balancerStandsIn(svc *corev1.Service) string {
	env, _ := environmentNamed(b.opts.Env)
	if svc.Spec.Type != corev1.ServiceTypeLoadBalancer || b.balancerName() != lbAuto || findBalancer(svc, b.world.nodes, env, b.world.adverts).name != "" {
		return ""
	}
	o, ok := b.otherBalancerOf(svc)
	if !ok {
		return ""
	}
	if len(o.families) == 1 {
		return o.words + " is not simulated: " + PresetName(o.families[0]) + " stands in for it"
	}
	return o.words + " is not simulated: others that send to nodes stand in for it"
}
