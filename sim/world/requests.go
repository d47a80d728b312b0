package world

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/lameduck-proxy/lameduck/sim/sorted"
)

// Request is how much of a resource a pod asks for: CPU in 1/1000, memory and storage in bytes, others as a number.
type Request struct {
	Name   corev1.ResourceName
	Amount int64
	Path   string // the field that asks for most of it
}

// What a container counts as for the scores of nodes where it does not say what it asks for (Kubernetes 1.36
// pkg/scheduler/util/pod_resources.go; verified).
const (
	UnsaidCPU    = 100
	UnsaidMemory = 200 << 20
)

// unsaid stands in for requests of a container that are not there.
var unsaid = [...]Request{{Name: corev1.ResourceCPU, Amount: UnsaidCPU}, {Name: corev1.ResourceMemory, Amount: UnsaidMemory}}

// RequestsOf lists what a pod asks of its node, by name: the sum of its containers and sidecars, or what one of its init containers
// needs with the sidecars before it where that is more; what the pod as a whole asks for stands over its containers; the
// overhead of its runtime class comes on top (k8s.io/component-helpers v0.36.3 resource/helpers.go, PodRequests; verified).
func RequestsOf(pod *corev1.PodSpec) []Request { return requests(pod, nil) }

// RequestsForScores are those of CPU and memory, with a usual amount for each container that does not say.
func RequestsForScores(pod *corev1.PodSpec) (cpu, memory int64) {
	for _, r := range requests(pod, unsaid[:]) {
		if r.Name == corev1.ResourceCPU {
			cpu = r.Amount
		}
		if r.Name == corev1.ResourceMemory {
			memory = r.Amount
		}
	}
	return cpu, memory
}

// amounts are requests by name.
type amounts map[corev1.ResourceName]Request

func (a amounts) add(list []Request) {
	for _, r := range list {
		have := a[r.Name]
		if have.Amount+r.Amount == 0 {
			continue
		}
		if r.Amount > have.Amount {
			have.Path = r.Path
		}
		have.Name, have.Amount = r.Name, have.Amount+r.Amount
		a[r.Name] = have
	}
}

// most raises amounts to those of a list where these are more.
func (a amounts) most(list []Request) {
	for _, r := range list {
		if r.Amount > a[r.Name].Amount {
			a[r.Name] = r
		}
	}
}

func (a amounts) list() []Request {
	var out []Request
	for _, r := range a { // order: sorted below
		out = append(out, r)
	}
	sorted.ShortBy(out, func(x, y Request) int { return cmp.Compare(x.Name, y.Name) })
	return out
}

func requests(pod *corev1.PodSpec, fallback []Request) []Request {
	sum, sidecars, initial := amounts{}, amounts{}, amounts{}
	for i := range pod.Containers {
		sum.add(containerRequests(&pod.Containers[i].Resources, fmt.Sprintf("spec.template.spec.containers[%d].resources", i), fallback))
	}
	for i := range pod.InitContainers {
		c := &pod.InitContainers[i]
		own := containerRequests(&c.Resources, fmt.Sprintf("spec.template.spec.initContainers[%d].resources", i), fallback)
		if Sidecar(c) {
			sum.add(own)
			sidecars.add(own)
			initial.most(sidecars.list())
			continue
		}
		while := amounts{}
		while.add(own)
		while.add(sidecars.list())
		initial.most(while.list())
	}
	sum.most(initial.list())
	if pod.Resources != nil {
		for _, r := range containerRequests(pod.Resources, "spec.template.spec.resources", nil) {
			if _, said := pod.Resources.Requests[r.Name]; said || sum[r.Name].Amount == 0 {
				sum[r.Name] = r
			}
		}
	}
	var overhead []Request
	for name, q := range pod.Overhead { // order: added up by name
		overhead = append(overhead, Request{name, Amount(name, q), "spec.template.spec.overhead"})
	}
	sum.add(overhead)
	return sum.list()
}

// containerRequests are those of one container; a limit without a request is one (Kubernetes 1.36 pkg/apis/core/v1/defaults.go,
// SetDefaults_Pod; recalled).
func containerRequests(r *corev1.ResourceRequirements, path string, fallback []Request) []Request {
	out := amounts{}
	for name, q := range r.Limits { // order: by name
		out[name] = Request{name, Amount(name, q), path + ".limits" + step(name)}
	}
	for name, q := range r.Requests { // order: by name
		out[name] = Request{name, Amount(name, q), path + ".requests" + step(name)}
	}
	for _, f := range fallback {
		if _, said := out[f.Name]; !said {
			out[f.Name] = f
		}
	}
	return out.list()
}

// step is the part of a path that names a resource.
func step(name corev1.ResourceName) string {
	if strings.ContainsAny(string(name), "./") {
		return "[" + strconv.Quote(string(name)) + "]"
	}
	return "." + string(name)
}

// Amount is a quantity of a resource as the scheduler counts it.
func Amount(name corev1.ResourceName, q resource.Quantity) int64 {
	if name == corev1.ResourceCPU {
		return q.MilliValue()
	}
	return q.Value()
}

// usualPods is how many pods a kubelet takes where its Node does not say (its --max-pods).
const usualPods = 110

// Allocatable is how much of a resource the pods on a node may ask for together. It is not said by made-up nodes, nor by a Node of
// the input that was written without its status: there is room for every pod. A Node that says what it has has no
// devices beside those, and room for 110 pods unless it says otherwise.
func (n *Node) Allocatable(name corev1.ResourceName) (amount int64, said bool) {
	has := n.Has
	if n.Object != nil {
		has = statusOf(n.Object)
	}
	if len(has) == 0 {
		return 0, false
	}
	if amount, ok := has[name]; ok {
		return amount, true
	}
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return 0, false
	case corev1.ResourcePods:
		return usualPods, true
	default:
		return 0, true
	}
}

// statusOf is what a Node says it has for pods.
func statusOf(n *corev1.Node) map[corev1.ResourceName]int64 {
	list := n.Status.Allocatable
	if len(list) == 0 { // the API server's default
		list = n.Status.Capacity
	}
	out := map[corev1.ResourceName]int64{}
	for name, q := range list { // order: a map, too
		out[name] = Amount(name, q)
	}
	return out
}
