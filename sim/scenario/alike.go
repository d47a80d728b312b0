package scenario

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Alike returns a text that is the same for Scenarios whose worlds, and other values of what was assumed, are the same but for
// names and numbers that nothing depends on: those of workloads, Services, containers, ports and images. What is drawn depends on
// names, so their runs are no copies of each other: they are samples of the same. The text is "" where that cannot be told: with
// a load balancer or a proxy on the way, and of a Scenario that expects something.
func Alike(s *world.Scenario) string {
	if s.Expect != nil || slices.ContainsFunc(s.Traffic, func(t world.Traffic) bool { return t.LB != nil || t.Ingress != nil || t.Route != nil }) ||
		slices.ContainsFunc(s.Actions, func(a world.Action) bool { return world.Applied(a.Operation) != nil }) {
		return ""
	}
	a := &alike{numbers: map[string]int{}, measured: slices.ContainsFunc(s.Nodes, saysRoom)}
	out := s.Clone()
	out.Name, out.Assumptions, out.NotModelled = "", nil, nil
	out.Services = slices.Clone(s.Services)
	for i := range out.Workloads {
		a.workload(s, &out.Workloads[i])
	}
	for i := range out.Services {
		a.service(&out.Services[i])
	}
	for i := range out.Traffic {
		t := &out.Traffic[i]
		fmt.Fprintln(&a.text, t.TimeoutSaid, t.ConnectSaid, t.RepeatSaid, t.Everywhere, t.Direct, t.Bypass, t.LBOthers, t.Families)
		t.Service, t.Port = a.full(t.Service), a.servicePort(t.Port)
	}
	for _, action := range out.Actions {
		fmt.Fprintln(&a.text, action.At, action.For, action.Verb(), a.full(action.Target()), action.Value())
	}
	out.Actions = nil // they are written
	for i := range s.Assumptions {
		a.text.WriteString(s.Assumptions[i].ID + " ")
	}
	fmt.Fprintln(&a.text, s.DeadSaid, s.Gates)
	if s.Spare != nil {
		fmt.Fprintln(&a.text, *s.Spare)
	}
	return a.text.String() + Normal(out)
}

// alike replaces names by numbers, in the order in which they come.
type alike struct {
	numbers  map[string]int
	text     strings.Builder
	measured bool // nodes say what they have
}

// saysRoom says whether a node says what it has for pods.
func saysRoom(n world.Node) bool {
	_, said := n.Allocatable(corev1.ResourcePods)
	return said
}

// number stands for a name of some kind.
func (a *alike) number(kind, name string) int {
	key := kind + " " + name
	n, ok := a.numbers[key]
	if !ok {
		n = len(a.numbers) + 1
		a.numbers[key] = n
	}
	return n
}

// token is number as a text.
func (a *alike) token(kind, name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprint(kind, a.number(kind, name))
}

// name stands for that of an object, or for its namespace's.
func (a *alike) name(name string) string { return a.token("object", name) }

// full is name for "ns/name", and for what has no namespace.
func (a *alike) full(name string) string {
	namespace, short, ok := strings.Cut(name, "/")
	if !ok {
		return a.name(name)
	}
	return a.name(namespace) + "/" + a.name(short)
}

// port stands for the number of a port.
func (a *alike) port(number int) int { return a.number("port", fmt.Sprint(number)) }

// servicePort stands for that of a Service, which need not be the one of its pods.
func (a *alike) servicePort(number int) int { return a.number("service port", fmt.Sprint(number)) }

// workload writes what a run, a fix or another value of an assumption depends on, and takes the names out of the rest.
func (a *alike) workload(s *world.Scenario, w *world.Workload) {
	fmt.Fprintln(&a.text, w.Aside, w.Bystander, asksForGate(s.Namespaces[w.Namespace()], gateLabel), asksForGate(s.Namespaces[w.Namespace()], autoModeGateLabel))
	fmt.Fprintf(&a.text, "%+v %+v %+v\n", w.App, w.Revisions, s.Set.For(w.ObjectName()))
	for _, id := range w.App.Alternatives {
		fmt.Fprintf(&a.text, "%+v\n", asProfile(w.App, id, w))
	}
	r := world.CopyOf(w.Resource)
	r.SetNamespace(a.name(r.GetNamespace()))
	r.SetName(a.name(r.GetName()))
	hooks, behind := map[string]world.Hook{}, []string(nil)
	containers := world.TemplateOf(r).Spec.Containers
	for i := range containers {
		c := &containers[i]
		name := a.token("container", c.Name)
		if h, ok := w.Hooks[c.Name]; ok {
			hooks[name] = h
			fmt.Fprintf(&a.text, "%+v\n", h)
		}
		c.Name = name
	}
	for _, name := range w.Behind {
		behind = append(behind, a.token("container", name))
	}
	if len(behind) > 0 {
		fmt.Fprintln(&a.text, behind)
	}
	a.spec(world.SpecOf(r))
	w.Behind = behind
	w.Resource, w.Hooks, w.Server = r, hooks, a.token("container", w.Server)
}

func (a *alike) service(x *world.Service) {
	svc := x.Service.DeepCopy()
	svc.Namespace, svc.Name = a.name(svc.Namespace), a.name(svc.Name)
	for i := range svc.Spec.Ports {
		p := &svc.Spec.Ports[i]
		p.Name, p.Port = "", int32(a.servicePort(int(p.Port)))
	}
	a.spec(svc.Spec)
	svc.Spec.ClusterIPs, svc.Spec.Ports = nil, nil // the ports are in spec
	x.Service = svc
}

// spec writes an object's spec without what no run depends on.
func (a *alike) spec(spec any) {
	data, err := json.Marshal(spec)
	if err != nil {
		panic(err) // an API object is always written
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		panic(err)
	}
	data, err = json.Marshal(a.fields(fields))
	if err != nil {
		panic(err)
	}
	a.text.Write(append(data, '\n'))
}

// fields are those of an object, in the order of their names.
func (a *alike) fields(in map[string]any) map[string]any {
	_, container := in["image"]
	out := map[string]any{}
	for _, key := range sortedKeys(in) {
		switch value := in[key]; key {
		case "image": // which containers have the same, where nodes have to pull it
			out[key] = a.number(key, fmt.Sprint(value))
		case "imagePullPolicy", "imagePullSecrets", "env", "envFrom", "volumes", "volumeMounts",
			"serviceAccount", "serviceAccountName", "annotations", "creationTimestamp", "clusterIP", "clusterIPs":
		case "resources":
			if a.measured { // else there is room for every pod
				out[key] = value
			}
		case "command", "args":
			if !container { // of a hook or a probe
				out[key] = value
			}
		case "labels", "matchLabels", "selector":
			out[key] = a.labels(value)
		default:
			out[key] = a.value(key, value)
		}
	}
	return out
}

// labels are a map of labels, or a selector that has one in it.
func (a *alike) labels(in any) any {
	fields, ok := in.(map[string]any)
	if !ok {
		return in
	}
	out := map[string]any{}
	for _, key := range sortedKeys(fields) {
		if text, ok := fields[key].(string); ok {
			out[key] = a.token("label", text)
		} else {
			out[key] = a.value(key, fields[key])
		}
	}
	return out
}

func (a *alike) value(key string, in any) any {
	switch v := in.(type) {
	case map[string]any:
		if key == "matchLabels" {
			return a.labels(v)
		}
		return a.fields(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = a.value(key, v[i])
		}
		return out
	case string:
		if key == "name" || strings.HasSuffix(strings.ToLower(key), "port") {
			return a.token("name", v)
		}
		if key == "values" { // of an expression about labels
			return a.token("label", v)
		}
	case float64:
		if strings.HasSuffix(strings.ToLower(key), "port") {
			return a.port(int(v))
		}
	}
	return in
}
