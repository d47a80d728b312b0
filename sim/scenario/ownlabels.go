package scenario

import (
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Labels that a pod has and its template has not: an operator sets them while pods run, as that of a database's primary. Where nodes are drained
// that are named they decide what selects the pods as they stand. Who sets them is not simulated, and a pod that is made anew is without.

// ownLabels are a pod's labels without those that Kubernetes' own controllers add to each pod's.
func (p *homed) ownLabels() map[string]string {
	out := maps.Clone(p.Value.Labels)
	for _, key := range []string{
		appsv1.DefaultDeploymentUniqueLabelKey, appsv1.ControllerRevisionHashLabelKey, appsv1.StatefulSetPodNameLabel, appsv1.PodIndexLabel,
		appsv1.DeprecatedTemplateGeneration,
	} {
		delete(out, key)
	}
	return out
}

// deciding are a pod's own labels where a Service or a budget selects by them otherwise than by those of its template, else nil. One that the
// selector of its controller does not match is about to be released, and counts as its template says.
func (w *inventory) deciding(p *homed, r world.Resource) map[string]string {
	own, template := p.ownLabels(), world.TemplateOf(r).Labels
	if of := world.SelectorOf(r); of == nil || !world.Matches(of, own) {
		return nil
	}
	selects := func(s manifest.Typed[*corev1.Service]) bool {
		return s.Namespace == p.Namespace && world.Selects(s.Value, own) != world.Selects(s.Value, template)
	}
	covers := func(b world.Budget) bool { return b.Covers(p.Namespace, own) != b.Covers(p.Namespace, template) }
	if slices.ContainsFunc(w.services, selects) || slices.ContainsFunc(w.budgets, covers) {
		return own
	}
	return nil
}

// labelled has the pods of the input have the labels of their own: it returns the world with them, and has the census know of them.
func (b *builder) labelled(base *world.Scenario) *world.Scenario {
	s := *base
	s.Workloads = slices.Clone(base.Workloads)
	b.census = &census{owners: slices.Clone(b.census.owners)}
	for i := range s.Workloads {
		w := &s.Workloads[i]
		w.Placed = b.world.placed(w, s.Nodes, true)
		if w.OwnLabels() {
			b.census.owners[i].own = w.LabelSets()[1:]
		}
	}
	b.census.lead(b.world.services)
	return &s
}

// unpromoted says of labels of pods' own that whoever sets them is not simulated.
func (b *builder) unpromoted() {
	for i := range b.out.Workloads {
		if w := &b.out.Workloads[i]; w.OwnLabels() {
			b.notModelled(world.Promotion, fmt.Sprintf("the operator's promotion of another pod: of %s's pods, labels that their template lacks are taken as they stand, and a new pod is without", w.Name()),
				w.Kind()+" "+w.Name(), "fewer")
		}
	}
}

// operated are what makes and keeps pods of the input without being a kind that is simulated, nor one whose template the input has: an operator's
// custom resource, by the owner that its pods name.
func (w *inventory) operated() []owner {
	var out []owner
	for i := range w.pods {
		p := &w.pods[i]
		if Simulates(p.kind) || p.kind == KindNode || p.kind == kindJob || p.over() || slices.ContainsFunc(w.foreign, func(o owner) bool { return o.keeps(p) }) {
			continue
		}
		at := slices.IndexFunc(out, func(o owner) bool { return o.keeps(p) })
		if at < 0 {
			at = len(out)
			out = append(out, owner{kind: p.kind, namespace: p.Namespace, name: p.name, template: &corev1.PodTemplateSpec{Spec: p.Value.Spec}, object: p.Object, operated: true})
		}
		out[at].own, out[at].replicas = append(out[at].own, p.ownLabels()), out[at].replicas+1
	}
	return out
}

// selectsOn says whether a Service ("ns/name") selects a pod of an owner on some nodes.
func (w *inventory) selectsOn(service string, o *owner, nodes []string) bool {
	s, ok := w.service(service)
	return ok && slices.ContainsFunc(w.pods, func(p homed) bool {
		return o.keeps(&p) && !p.over() && slices.Contains(nodes, p.node()) && world.Selects(s.Value, p.Value.Labels)
	})
}
