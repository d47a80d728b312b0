package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// controllers are the components of the control plane, in the order of their names.
func (b *builder) controllers() []string {
	out := []string{"deployment-controller", "endpointslice-controller", "replicaset-controller", "scheduler"}
	if slices.ContainsFunc(b.out.Workloads, func(w world.Workload) bool { return w.Kind() == world.DaemonSet }) {
		out = slices.Insert(out, 0, "daemonset-controller")
	}
	if b.heedsBudgets() {
		out = append(out, "disruption-controller")
	}
	if slices.ContainsFunc(b.out.Workloads, func(w world.Workload) bool { return w.StatefulSet() != nil }) {
		out = append(out, "statefulset-controller")
	}
	return out
}

// component reads which component is paused, goes on or is restarted.
func (b *builder) component(v cursor) (world.Operation, bool) {
	name, pause, restart := v.get("name"), v.get("pause"), v.get("restart")
	o := world.Component{Name: name.text("")}
	if o.Name == "" {
		v.fail("say which component: %s", b.componentWords())
		return nil, false
	}
	if !b.isComponent(o.Name) {
		name.fail("there is no component %s; valid here: %s", o.Name, b.componentWords())
		return nil, false
	}
	switch {
	case pause.present() == restart.present():
		v.fail("say what is done to it: pause: true, pause: false or restart: true")
		return nil, false
	case pause.present() && pause.flag(true):
		o.What = world.ComponentPause
	case pause.present():
		o.What = world.ComponentResume
	case !restart.flag(true):
		restart.fail("expected true")
		return nil, false
	case !strings.HasPrefix(o.Name, world.KubeProxyOf) && !strings.HasPrefix(o.Name, world.KubeletOf):
		restart.fail("not yet simulated: restart of %s; pause it, or restart a kube-proxy or a kubelet", o.Name)
		return nil, false
	default:
		o.What = world.ComponentRestart
	}
	return o, true
}

// isComponent says whether there is a component of a name.
func (b *builder) isComponent(name string) bool {
	if name == world.LBController {
		return slices.ContainsFunc(b.out.Traffic, func(t world.Traffic) bool { return t.LB != nil })
	}
	for _, prefix := range []string{world.KubeProxyOf, world.KubeletOf} {
		if node, ok := strings.CutPrefix(name, prefix); ok {
			return slices.ContainsFunc(b.out.Nodes, func(n world.Node) bool { return n.Name == node })
		}
	}
	return slices.Contains(b.controllers(), name)
}

// componentWords lists the names that are valid.
func (b *builder) componentWords() string {
	names := b.controllers()
	if b.isComponent(world.LBController) {
		names = append(names, world.LBController)
	}
	slices.Sort(names)
	first, last := b.out.Nodes[0].Name, b.out.Nodes[len(b.out.Nodes)-1].Name
	return fmt.Sprintf("%s, kube-proxy/NODE or kubelet/NODE with a NODE from %s to %s", strings.Join(names, ", "), first, last)
}
