package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// controllers are the components of the control plane.
func controllers() []string {
	return []string{"deployment-controller", "endpointslice-controller", "replicaset-controller", "scheduler"}
}

// nodeLease is how long a kubelet may be silent before its node counts as not ready: the
// nodeMonitorGracePeriod of kube-controller-manager since 1.32 (docs/model/pod-lifecycle.md 6;
// verified).
const nodeLease = 50 * engine.Second

// component reads which component is paused, goes on or is restarted.
func (b *builder) component(v cursor, a *world.Action) bool {
	name, pause, restart := v.get("name"), v.get("pause"), v.get("restart")
	a.Target = name.text("")
	if a.Target == "" {
		v.fail("say which component: %s", b.componentWords())
		return false
	}
	if !b.isComponent(a.Target) {
		name.fail("there is no component %s; valid here: %s", a.Target, b.componentWords())
		return false
	}
	switch {
	case pause.present() == restart.present():
		v.fail("say what is done to it: pause: true, pause: false or restart: true")
		return false
	case pause.present() && pause.flag(true):
		a.Value = world.ComponentPause
	case pause.present():
		a.Value = world.ComponentResume
	case !restart.flag(true):
		restart.fail("expected true")
		return false
	case !strings.HasPrefix(a.Target, world.KubeProxyOf):
		restart.fail("not yet simulated: restart of %s; pause it, or restart a kube-proxy", a.Target)
		return false
	default:
		a.Value = world.ComponentRestart
	}
	return true
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
	return slices.Contains(controllers(), name)
}

// componentWords lists the names that are valid.
func (b *builder) componentWords() string {
	names := controllers()
	if b.isComponent(world.LBController) {
		names = append(names, world.LBController)
	}
	slices.Sort(names)
	first, last := b.out.Nodes[0].Name, b.out.Nodes[len(b.out.Nodes)-1].Name
	return fmt.Sprintf("%s, kube-proxy/NODE or kubelet/NODE with a NODE from %s to %s", strings.Join(names, ", "), first, last)
}

// silentKubelets names what follows from a kubelet's silence, and is not simulated.
func (b *builder) silentKubelets() {
	for i := range b.out.Actions {
		a := &b.out.Actions[i]
		node, ok := strings.CutPrefix(a.Target, world.KubeletOf)
		if ok && a.Verb == "component" && a.Value == world.ComponentPause && (a.For == 0 || a.For > nodeLease) {
			b.notModelled("node-not-ready", "a node whose kubelet is silent for more than "+nodeLease.Duration().String()+" counts as not ready, and its pods with it: here they stay as they are",
				"Node "+node, "unknown")
		}
	}
}
