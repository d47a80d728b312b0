package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/units"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// owner is a workload of any kind.
type owner struct {
	kind, namespace, name string
	template              *corev1.PodTemplateSpec
	replicas              int32 // as the manifest says, -1 when it does not, or cannot
	object                *manifest.Object
	own                   []map[string]string // labels of its pods that its template lacks, where they decide what selects these pods
	operated              bool                // an operator's: there is no template, but that of its pods
	namesake              string              // the kind of the workload of the same name that is simulated in its stead, "" for none
}

func (o owner) id() string { return o.namespace + "/" + o.name }

// simulated says whether the model has pods of that kind.
func (o owner) simulated() bool { return Simulates(o.kind) && o.namesake == "" }

// ends says that its pods end by themselves: they are no servers that others would miss.
func (o owner) ends() bool { return o.kind == kindJob }

// notSimulated says why a rollout of the workload cannot be run, where service is that which
// selects its pods.
func (o owner) notSimulated(service string) string {
	switch {
	case o.namesake != "":
		return fmt.Sprintf("Service %s selects the %s %s: there is a %s of the same name, and of several only the first is simulated", service, o.kind, o.name, o.namesake)
	case o.operated:
		return fmt.Sprintf("Service %s selects pods of the %s %s: what its operator does is not simulated", service, o.kind, o.name)
	case o.kind == world.DaemonSet:
		return "rolling updates of a " + o.kind + " are not yet simulated"
	default:
		return fmt.Sprintf("Service %s selects the %s %s: a kind that is not simulated", service, o.kind, o.name)
	}
}

// behind says whether a Service selects the workload's pods, or one of them: pods of a
// StatefulSet have labels that their template has not.
func (o owner) behind(s manifest.Typed[*corev1.Service]) bool {
	labels := o.template.Labels
	if o.kind == world.StatefulSet {
		labels = o.withPodName(s.Value.Spec.Selector)
	}
	return o.namespace == s.Namespace && (world.Selects(s.Value, labels) || slices.ContainsFunc(o.own, func(own map[string]string) bool { return world.Selects(s.Value, own) }))
}

// covered says whether a budget covers the workload's pods, or one of them.
func (o *owner) covered(b *world.Budget) bool {
	return b.Covers(o.namespace, o.template.Labels) || slices.ContainsFunc(o.own, func(own map[string]string) bool { return b.Covers(o.namespace, own) })
}

// census is the workloads of every kind, and which of them each Service selects.
type census struct {
	owners []owner          // those that are simulated first, in the order of the world's
	behind map[string][]int // by "ns/name" of the Service, in the order of owners
}

// ownerOf is a workload of the input as an owner.
func ownerOf(x workload) owner {
	o := owner{kind: world.KindOf(x.Value), namespace: x.Namespace, name: x.Name, template: world.TemplateOf(x.Value), replicas: world.ReplicasOf(x.Value), object: x.Object}
	if o.kind == world.DaemonSet { // that is for the nodes to say
		o.replicas = -1
	}
	return o
}

func newCensus(w *inventory) *census {
	c := &census{}
	for _, x := range w.workloads {
		o := ownerOf(x)
		if by := w.adopter(x); by != nil {
			o.kind, o.name, o.replicas, o.object = by.kind, by.name, by.replicas, by.object
		}
		c.owners = append(c.owners, o)
	}
	for _, x := range w.others {
		o := ownerOf(x)
		if first, ok := w.workload(o.id()); ok && Simulates(o.kind) {
			o.namesake = world.KindOf(first.Value)
		}
		c.owners = append(c.owners, o)
	}
	c.owners = append(c.owners, w.foreign...)
	c.owners = append(c.owners, w.operated()...)
	c.lead(w.services)
	return c
}

// lead finds what is behind each Service.
func (c *census) lead(services []manifest.Typed[*corev1.Service]) {
	c.behind = map[string][]int{}
	for _, s := range services {
		for i, o := range c.owners {
			if o.behind(s) {
				c.behind[s.ID()] = append(c.behind[s.ID()], i)
			}
		}
	}
}

// repeats says that an owner is a bare Pod with the labels of one before it: a case of that one is a case of all.
func (c *census) repeats(own int) bool {
	o := &c.owners[own]
	return o.kind == world.Pod && slices.ContainsFunc(c.owners[:own], func(other owner) bool {
		return other.kind == o.kind && other.namespace == o.namespace && maps.Equal(other.template.Labels, o.template.Labels)
	})
}

// beside lists, in order, the workloads whose pods are behind a Service together with those of
// one of them, itself included.
func (c *census) beside(services []world.Service, own int) []int {
	out := c.besideAll(services, []int{own})
	slices.Sort(out)
	return out
}

// besideAll adds to some workloads those that are simulated and behind one of some Services.
func (c *census) besideAll(services []world.Service, list []int) []int {
	for i := range services {
		for _, other := range c.behind[services[i].Object.ID()] {
			if c.owners[other].simulated() && !slices.Contains(list, other) {
				list = append(list, other)
			}
		}
	}
	return list
}

// lacking are the owners behind a Service whose pods have no port of the name that one of its ports leads to: they are no endpoints of it.
func (c *census) lacking(s *subject) []int {
	var out []int
	for _, i := range c.behind[s.service.ID()] {
		if _, ok := world.TargetPort(s.port.TargetPort, c.owners[i].template); !ok {
			out = append(out, i)
		}
	}
	return out
}

// missing says why a case of an owner cannot have all pods that its Service leads to, "" when it
// can: pods of kinds that are not simulated, and pods whose port of the same name has another
// number, which would have EndpointSlices of their own.
func (c *census) missing(own int, e *entry) string {
	for _, i := range c.behind[e.service.ID()] {
		other := &c.owners[i]
		if i == own || other.replicas == 0 || other.ends() {
			continue
		}
		if slices.Contains(c.lacking(&e.subject), i) { // no endpoints of it
			continue
		}
		if !other.simulated() {
			return fmt.Sprintf("Service %s selects the %s %s, too: a kind that is not simulated, so that its pods would be missing", e.service.Name, other.kind, other.name)
		}
		for _, p := range e.ofService() {
			number, _ := world.TargetPort(p.TargetPort, c.owners[own].template)
			if n, _ := world.TargetPort(p.TargetPort, other.template); n != number {
				return fmt.Sprintf("Service %s selects %s, too, whose port %s is %d, here it is %d: several numbers behind one Service port are not simulated",
					e.service.Name, other.name, p.TargetPort.StrVal, n, number)
			}
		}
	}
	return ""
}

// ofService are the ports of an entry, as its Service has them.
func (e *entry) ofService() []corev1.ServicePort {
	return slices.DeleteFunc(slices.Clone(e.service.Value.Spec.Ports), func(p corev1.ServicePort) bool {
		return p.Protocol != e.port.Protocol || !slices.Contains(e.ports, fmt.Sprintf(":%d", p.Port))
	})
}

// withPodName are the labels of its template, with those that a pod of a StatefulSet has besides, of the pod that a selector names.
func (o owner) withPodName(selector map[string]string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, o.template.Labels)
	if pod := o.podNamed(selector); pod != "" {
		for _, k := range []string{appsv1.StatefulSetPodNameLabel, appsv1.PodIndexLabel} {
			if v := selector[k]; v != "" {
				out[k] = v
			}
		}
	}
	return out
}

// podNamed is the pod of a StatefulSet that a selector names, by its name or its index; "" for none.
func (o owner) podNamed(selector map[string]string) string {
	index, name := selector[appsv1.PodIndexLabel], selector[appsv1.StatefulSetPodNameLabel]
	if name != "" {
		number, own := strings.CutPrefix(name, o.name+"-")
		if !own || index != "" && index != number {
			return ""
		}
		index = number
	}
	if _, ok := units.Decimal(index, 0); !ok {
		return ""
	}
	return o.name + "-" + index
}

// place is where a field stands, as the end of a sentence whose reader knows one file: " (:7)",
// or " (file:7)" where it is another one; "" for a field that no file has.
func place(o *manifest.Object, path, known string) string {
	if o == nil || !o.Has(path) {
		return ""
	}
	p := o.At(path)
	if p.File == known {
		return fmt.Sprintf(" (:%d)", p.Line)
	}
	return fmt.Sprintf(" (%s:%d)", p.File, p.Line)
}
