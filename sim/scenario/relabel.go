package scenario

import (
	"strings"

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
	kind, name, _ := strings.Cut(v.get("of").text(""), "/")
	if k := strings.ToLower(kind); name == "" || k != "service" && k != "services" && k != "svc" {
		v.get("of").fail("%q is no Service: want service/NAME", v.get("of").text(""))
		return nil, false
	}
	if len(o.Selector) == 0 {
		v.fail("say by which labels: setSelector: {of: service/NAME, selector: {KEY: VALUE}}")
		return nil, false
	}
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
		v.get("of").fail("there is no Service %s in the manifests; %s", name, didYouMean(name, names))
		return nil, false
	case 1:
		o.Service = found[0]
		return o, b.changeable(v.get("of"), o.Service)
	default:
		v.get("of").fail("there are several: %s; say which with namespace", strings.Join(found, ", "))
		return nil, false
	}
}

// changeable says whether a Service is one that the Scenario simulates: it has pods at the beginning.
func (b *builder) changeable(c cursor, service string) bool {
	for i := range b.out.Services {
		if s := b.out.Services[i].Service; s.Namespace+"/"+s.Name == service {
			return true
		}
	}
	c.fail("Service %s selects no pods at the beginning: not yet simulated", service)
	return false
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
