package scenario

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// balancerFound is which load balancer the input speaks of.
type balancerFound struct {
	name  string // a family of presets, "" for none
	why   string // what says so
	basis string // "inferred", "preset" where the user names the kind of cluster, or "assumed"
	// others are less likely than name. families are what it might be with none better founded than
	// another, name among them; nil where that is known.
	others, families []string
	// bypass says, with the name "", why requests go to the ClusterIP.
	bypass string
}

// balancerEvidence is what is looked at.
type balancerEvidence struct {
	svc   *corev1.Service
	nodes []manifest.Typed[*corev1.Node]
	env   Environment
	// adverts are MetalLB's objects that say how addresses are announced.
	adverts []*manifest.Object
}

// evidenceRow is one row of the table in docs/model/simulator.md 5.2.
type evidenceRow struct {
	match string
	find  func(*balancerEvidence) balancerFound
}

// evidenceRows is the table; the first row that finds something counts.
func evidenceRows() []evidenceRow {
	return []evidenceRow{
		{"status hostname *.elb.*.amazonaws.com, aws-load-balancer-type external or nlb-ip, loadBalancerClass service.k8s.aws/nlb or eks.amazonaws.com/nlb, nlb-target-type", findNLB},
		{"any other aws-load-balancer-*, status hostname *.elb.amazonaws.com", findInTreeAWS},
		{"networking.gke.io/load-balancer-type, cloud.google.com/l4-rbs, neg or backend-config", findGKE},
		{"azure-load-balancer-*", findAzure},
		{"an annotation or loadBalancerClass of MetalLB, a BGPAdvertisement or L2Advertisement", findMetalLB},
		{"providerID of a Node: aws, gce, azure, kind; else the label of its managed pool", findProvider},
		{"the kind of cluster that the user names", findEnvironment},
	}
}

// findBalancer looks for the load balancer of a Service; without any evidence the name is "".
func findBalancer(svc *corev1.Service, nodes []manifest.Typed[*corev1.Node], env Environment, adverts []*manifest.Object) balancerFound {
	if svc.Spec.Type != corev1.ServiceTypeLoadBalancer {
		return balancerFound{}
	}
	e := &balancerEvidence{svc, nodes, env, adverts}
	for _, row := range evidenceRows() {
		if f := row.find(e); f.name != "" {
			if f.basis == "" {
				f.basis = inferred
			}
			return f
		}
	}
	return balancerFound{}
}

// annotation returns the first annotation, by name, that begins with one of the prefixes.
func (e *balancerEvidence) annotation(prefixes ...string) string {
	for _, key := range sortedKeys(e.svc.Annotations) {
		for _, p := range prefixes {
			if strings.HasPrefix(key, p) {
				return key
			}
		}
	}
	return ""
}

func (e *balancerEvidence) class() string {
	if c := e.svc.Spec.LoadBalancerClass; c != nil {
		return *c
	}
	return ""
}

const awsPrefix = "service.beta.kubernetes.io/aws-load-balancer-"

// elbHostname finds the name of an AWS load balancer in the status: NLBs have the region after
// "elb", the others before it (recalled).
func (e *balancerEvidence) elbHostname(nlb bool) string {
	for _, i := range e.svc.Status.LoadBalancer.Ingress {
		name, ok := strings.CutSuffix(strings.TrimSuffix(i.Hostname, ".cn"), ".amazonaws.com")
		if labels := strings.Split(name, "."); ok && len(labels) >= 2 && slices.Contains(labels[len(labels)-2:], "elb") {
			if (labels[len(labels)-2] == "elb") == nlb {
				return i.Hostname
			}
		}
	}
	return ""
}

// autoModeNLB is the class of EKS Auto Mode's NLBs.
const autoModeNLB = "eks.amazonaws.com/nlb"

// findNLB is an NLB of the AWS Load Balancer Controller, or of EKS Auto Mode. What says nothing of the targets has instances, the
// controller's default (recalled); EKS Auto Mode's is pods (https://docs.aws.amazon.com/eks/latest/userguide/auto-networking.html,
// Considerations for load balancing; verified).
func findNLB(e *balancerEvidence) balancerFound {
	kind, target := e.svc.Annotations[awsPrefix+"type"], e.svc.Annotations[awsPrefix+"nlb-target-type"]
	f := balancerFound{name: "aws-nlb-instance"}
	switch {
	case target != "":
		f.why = "annotation aws-load-balancer-nlb-target-type: " + target
	case kind == "external" || kind == "nlb-ip":
		f.why = "annotation aws-load-balancer-type: " + kind
	case e.class() == "service.k8s.aws/nlb", e.class() == autoModeNLB:
		f.why = "loadBalancerClass " + e.class()
	case e.elbHostname(true) != "" && kind != "nlb":
		f.why = "status hostname " + e.elbHostname(true)
	default:
		return balancerFound{}
	}
	switch {
	case target == "ip" || kind == "nlb-ip" || target == "" && e.class() == autoModeNLB:
		f.name = "aws-nlb-ip"
	case target == "":
		f.others = []string{"aws-nlb-ip"}
	}
	return f
}

// findInTreeAWS is a load balancer of the cloud provider.
func findInTreeAWS(e *balancerEvidence) balancerFound {
	if e.svc.Annotations[awsPrefix+"type"] == "nlb" {
		return balancerFound{name: nlbInTree, why: "annotation aws-load-balancer-type: nlb"}
	}
	if key := e.annotation(awsPrefix); key != "" {
		return balancerFound{name: "aws-classic", why: "annotation " + key}
	}
	if host := e.elbHostname(false); host != "" {
		return balancerFound{name: "aws-classic", why: "status hostname " + host}
	}
	return balancerFound{}
}

// findGKE: which of the two kinds it is hangs on the cluster unless l4-rbs says so.
func findGKE(e *balancerEvidence) balancerFound {
	const kind = "networking.gke.io/load-balancer-type"
	f := balancerFound{name: "gke-l4"}
	if strings.HasPrefix(e.class(), "networking.gke.io/") {
		f.why = "loadBalancerClass " + e.class()
		return f
	}
	key := e.annotation("cloud.google.com/l4-rbs")
	if key == "" {
		key = e.annotation(kind, "cloud.google.com/load-balancer-type", "cloud.google.com/neg", "cloud.google.com/backend-config")
		f.families = []string{"gke-l4", "gke-legacy-external"}
		if value := e.svc.Annotations[key]; strings.EqualFold(value, "Internal") {
			f.families = []string{"gke-l4", "gke-legacy-internal"}
		}
	}
	if key == "" {
		return balancerFound{}
	}
	f.why = "annotation " + key
	return f
}

func findAzure(e *balancerEvidence) balancerFound {
	if key := e.annotation(azurePrefix); key != "" {
		return balancerFound{name: "azure-standard", why: "annotation " + key}
	}
	return balancerFound{}
}

func findMetalLB(e *balancerEvidence) balancerFound {
	f := balancerFound{name: "metallb-l2", families: []string{"metallb-l2", "metallb-bgp"}}
	switch key := e.annotation("metallb.universe.tf/", "metallb.io/"); {
	case key != "":
		f.why = "annotation " + key
	case strings.Contains(e.class(), "metallb"):
		f.why = "loadBalancerClass " + e.class()
	case len(e.adverts) > 0 && e.class() == "":
		f.why = advertWords(e.adverts[0])
	default:
		return balancerFound{}
	}
	return e.announced(f)
}

// MetalLB's kinds that say how addresses are announced: over BGP, or by answers to ARP and NDP.
const (
	kindBGPAdvertisement = "BGPAdvertisement"
	kindL2Advertisement  = "L2Advertisement"
)

// announced says how MetalLB announces, where the input has advertisements of one kind alone.
func (e *balancerEvidence) announced(f balancerFound) balancerFound {
	if len(e.adverts) == 0 || slices.ContainsFunc(e.adverts, func(o *manifest.Object) bool { return o.Kind != e.adverts[0].Kind }) {
		return f
	}
	f.name, f.families, f.why = "metallb-l2", nil, advertWords(e.adverts[0])
	if e.adverts[0].Kind == kindBGPAdvertisement {
		f.name = "metallb-bgp"
	}
	return f
}

func advertWords(o *manifest.Object) string { return o.Kind + " " + o.Name }

// findProvider goes by the first Node that says where it runs. Nodes of AWS say, too, whether it is EKS Auto Mode: only that makes an NLB to
// pods of a Service which asks for nothing; the AWS Load Balancer Controller's default is instances, and the cloud provider knows no targets
// that are pods (docs/model/load-balancers.md 2 What AWS makes of a Service that asks for nothing).
func findProvider(e *balancerEvidence) balancerFound {
	provider, _, why := providerOf(e.nodes)
	f := providerBalancer(provider)
	f.why = why
	if provider != "aws" {
		return f
	}
	if i := slices.IndexFunc(e.nodes, func(n manifest.Typed[*corev1.Node]) bool { return n.Value.Labels[computeType] == autoMode }); i >= 0 {
		return balancerFound{name: nlbToPods, why: "label " + computeType + ": " + autoMode + " of Node " + e.nodes[i].Name}
	}
	f.families = slices.DeleteFunc(f.families, func(name string) bool { return name == nlbToPods })
	return f
}

// computeType is a label of nodes of EKS, autoMode its value in EKS Auto Mode
// (https://docs.aws.amazon.com/eks/latest/userguide/associate-workload.html; verified).
const (
	computeType = "eks.amazonaws.com/compute-type"
	autoMode    = "auto"
)

// nlbToPods is the NLB whose targets are pods, nlbInTree the one of the cloud provider.
const (
	nlbToPods = "aws-nlb-ip"
	nlbInTree = "aws-nlb-in-tree"
)

// providerBalancer is what a provider makes of a Service that asks for nothing special: at AWS
// that depends on whether the AWS Load Balancer Controller is there, at Google on the cluster.
func providerBalancer(provider string) balancerFound {
	switch provider {
	case "aws":
		return balancerFound{name: "aws-classic", families: []string{"aws-classic", "aws-nlb-instance", "aws-nlb-ip"}}
	case "gce":
		return balancerFound{name: "gke-l4", families: []string{"gke-l4", "gke-legacy-external"}}
	case "azure":
		return balancerFound{name: "azure-standard"}
	case "kind":
		return balancerFound{name: "kind"}
	default:
		return balancerFound{}
	}
}

func findEnvironment(e *balancerEvidence) balancerFound {
	f := providerBalancer(e.env.Provider)
	f.why, f.basis = "environment "+e.env.ID, "preset"
	return f
}
