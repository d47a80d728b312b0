package scenario

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// relabel reads kubectl label pod.
func (b *builder) relabel(v cursor, namespace string) (world.Operation, bool) {
	o := world.Relabel{Set: textsOf(v.get("labels")), Remove: v.get("remove").texts()}
	id, ok := b.workloadTarget(v.get("of"), namespace, "relabelPod")
	if !ok {
		return nil, false
	}
	o.Pods = world.Pods{Workload: id, Number: podNumber(v.get("pod"), false)}
	if len(o.Set)+len(o.Remove) == 0 {
		v.fail("say which labels: relabelPod: {of: deployment/NAME, labels: {KEY: VALUE}}, or remove: [KEY]")
		return nil, false
	}
	return o, true
}

// setSelector reads kubectl set selector of a Service of the Scenario.
func (b *builder) setSelector(v cursor, namespace string) (world.Operation, bool) {
	o := world.SetSelector{Selector: textsOf(v.get("selector"))}
	if len(o.Selector) == 0 && b.isService(v.get("of")) {
		v.fail("say by which labels: setSelector: {of: service/NAME, selector: {KEY: VALUE}}")
		return nil, false
	}
	s, ok := b.serviceOf(v.get("of"), namespace)
	if ok {
		o.Service = s.Namespace + "/" + s.Name
	}
	return o, ok
}

// isService says whether a reference is "service/NAME".
func (b *builder) isService(c cursor) bool {
	kind, name, _ := strings.Cut(c.text(""), "/")
	if k := strings.ToLower(kind); name == "" || k != "service" && k != "services" && k != "svc" {
		c.fail("%q is no Service: want service/NAME", c.text(""))
		return false
	}
	return true
}

// serviceOf reads which Service of the Scenario is meant.
func (b *builder) serviceOf(c cursor, namespace string) (*corev1.Service, bool) {
	if !b.isService(c) {
		return nil, false
	}
	_, name, _ := strings.Cut(c.text(""), "/")
	var found, names []string
	for i := range b.world.services {
		s := b.world.services[i].Value
		names = append(names, s.Name)
		if s.Name == name && (namespace == "" || namespace == s.Namespace) {
			found = append(found, s.Namespace+"/"+s.Name)
		}
	}
	switch len(found) {
	case 0:
		c.fail("there is no Service %s in the manifests; %s", name, didYouMean(name, names))
		return nil, false
	case 1:
		return b.changeable(c, found[0])
	default:
		c.fail("there are several: %s; say which with namespace", strings.Join(found, ", "))
		return nil, false
	}
}

// selectorsLater are the selectors that actions give a Service. The actions are not read yet when it is asked.
func (b *builder) selectorsLater(s *corev1.Service) []map[string]string {
	var out []map[string]string
	for _, a := range b.doc.spec().get("actions").items() {
		v, namespace := a.get("setSelector"), a.get("namespace").text(s.Namespace)
		if _, name, _ := strings.Cut(v.get("of").text(""), "/"); name == s.Name && namespace == s.Namespace {
			out = append(out, textsOf(v.get("selector")))
		}
	}
	return out
}

// labelsLater are the labels of a workload's pods, and those that actions give them. The same.
func (b *builder) labelsLater(w *world.Workload) []map[string]string {
	out := []map[string]string{w.Template().Labels}
	for _, a := range b.doc.spec().get("actions").items() {
		v, namespace := a.get("relabelPod"), a.get("namespace").text(w.Namespace())
		if _, name, _ := strings.Cut(v.get("of").text(""), "/"); name != w.ObjectName() || namespace != w.Namespace() {
			continue
		}
		o := world.Relabel{Set: textsOf(v.get("labels")), Remove: v.get("remove").texts()}
		for _, have := range slices.Clone(out) {
			out = append(out, o.On(have))
		}
	}
	return out
}

// changeable is a Service that the Scenario simulates: it has pods at some time.
func (b *builder) changeable(c cursor, service string) (*corev1.Service, bool) {
	for i := range b.out.Services {
		if s := b.out.Services[i].Service; s.Namespace+"/"+s.Name == service {
			return s, true
		}
	}
	c.fail("Service %s selects no pods of the Scenario's workloads, neither now nor after another action", service)
	return nil, false
}

// textsOf reads a mapping of texts, nil for none.
func textsOf(c cursor) map[string]string {
	var out map[string]string
	for _, key := range c.keys() {
		if out == nil {
			out = map[string]string{}
		}
		out[key] = c.get(key).text("")
	}
	return out
}
