package cluster

import (
	"maps"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/control"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/nodeproxy"
	"github.com/lameduck-proxy/lameduck/sim/volume"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// A component that is paused is a process that gets no time: what it has done stays as it is, what
// it has asked for is carried out, news arrives and waits. When it runs again it does what there
// is to do, in the order in which that came.

// controllers are the components beside the API server, and the names of all components.
type controllers struct {
	control    *control.Desk
	deploy     *control.Deployments
	sets       *control.ReplicaSets
	stateful   *control.StatefulSets // nil where there are none
	daemons    *control.DaemonSets   // nil without a DaemonSet
	sched      *control.Scheduler
	disrupts   disrupts
	lapses     lapses
	volumes    *volume.Table             // nil where all may have all volumes
	waited     map[api.PodID]bool        // pods that have waited for one
	components map[string][]engine.Owner // by the name that actions call them
}

// enroll gives a component the name by which actions call it. Several may have the same.
func (w *World) enroll(name string, owner engine.Owner) {
	w.components[name] = append(w.components[name], owner)
}

// enrollNodes names what runs on each node.
func (w *World) enrollNodes() {
	for n := range w.sc.Nodes {
		w.enroll(world.KubeProxyOf+w.sc.Nodes[n].Name, w.Proxies[n].Owner)
		w.enroll(world.KubeletOf+w.sc.Nodes[n].Name, w.kubelets[n].Owner)
	}
}

// component pauses a component, lets it go on or restarts it.
func (w *World) component(name, what string) {
	p := w.proxyNamed(name)
	if p != nil {
		p.Hold()
	}
	for _, owner := range w.components[name] {
		if what == world.ComponentPause {
			w.store.Freeze(owner)
		} else {
			w.store.Thaw(owner)
		}
	}
	if p != nil && what == world.ComponentRestart {
		p.Restart()
	}
	if node := w.kubeletNamed(name); node >= 0 && what == world.ComponentRestart {
		w.restartKubelet(node)
	} else if node >= 0 {
		w.kubeletPaused(node, what == world.ComponentPause)
	}
	if p != nil {
		p.GoOn()
	}
}

// proxyNamed is the proxy that actions call by a name, nil if it is none's.
func (w *World) proxyNamed(name string) *nodeproxy.Proxy {
	for _, p := range w.Proxies {
		if world.KubeProxyOf+w.sc.Nodes[p.Node].Name == name {
			return p
		}
	}
	return nil
}

// kubeletNamed is the node whose kubelet actions call by a name, -1 for none.
func (w *World) kubeletNamed(name string) int {
	node, ok := strings.CutPrefix(name, world.KubeletOf)
	if !ok {
		return -1
	}
	return w.numberOf(node)
}

// paused names the components that are paused, in order.
func (w *World) paused() string {
	if !w.store.AnyFrozen() {
		return ""
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(w.components)) {
		if len(w.components[name]) > 0 && w.asleep(w.components[name][0]) {
			out = append(out, name)
		}
	}
	return strings.Join(out, ", ")
}

// asleep says whether a component is paused.
func (w *World) asleep(owner engine.Owner) bool { return w.store.Frozen(owner) }
