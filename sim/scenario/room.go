package scenario

import (
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// How many nodes there are, where nothing says it.
const (
	leastNodes = 3
	// mostAssumed bounds what is assumed only because a policy is Local: each node costs its part of
	// every run, and 20,000 pods do not mean 40,000 nodes.
	mostAssumed = 100
	// maxNodes bounds a cluster.
	maxNodes = 10_000
)

// room is a number of nodes, and what it goes by.
type room struct {
	nodes int
	why   string // "" for the least number
	basis string // of an assumption; "" for the table's
}

func (r room) words() string {
	if r.why == "" {
		return strconv.Itoa(r.nodes)
	}
	return fmt.Sprintf("%d: %s", r.nodes, r.why)
}

// wider is the one with more nodes.
func (r room) wider(other room) room {
	if other.nodes > r.nodes {
		return other
	}
	return r
}

// nodesNeeded is how many nodes let every workload of the input roll and move: at least three, and
// for a workload whose replicas may not share a node one for each, for each pod of the others that may
// share none with them, and for the surge (docs/model/simulator.md 5.3).
func (w *inventory) nodesNeeded() room {
	r := room{nodes: leastNodes}
	apart := w.apart()
	for i := range apart {
		r = r.wider(apart[i].room(apart))
	}
	for _, x := range w.workloads {
		r = r.wider(evenRoom(x.Value))
	}
	r.nodes = min(r.nodes, maxNodes)
	return r
}

// apart is a workload whose pods may not share a node.
type apart struct {
	world.Workload
	why      string // what keeps them from it
	ports    []world.HostPort
	replicas int
	surge    int
}

// apart lists the workloads of the input that have pods which may not share a node.
func (w *inventory) apart() []apart {
	var out []apart
	for _, x := range slices.Concat(w.workloads, w.others) {
		kind, t, replicas := world.KindOf(x.Value), world.TemplateOf(x.Value), int(world.ReplicasOf(x.Value))
		if why := spreads(t); why != "" && replicas > 0 && kind != world.DaemonSet { // whose pods are one a node, however many there are
			ports, _ := world.HostPorts(&t.Spec)
			out = append(out, apart{world.Workload{Resource: x.Value}, why, ports, replicas, max(surgeOf(x.Value), 1)})
		}
	}
	return out
}

// room is how many nodes the rollout of a workload needs, of which all others have their pods.
func (a *apart) room(all []apart) room {
	nodes, others := a.replicas+a.surge, ""
	for i := range all {
		if o := &all[i]; o != a && a.excludes(o) {
			nodes += o.replicas
			others += fmt.Sprintf(", %d of %s", o.replicas, o.ObjectName())
		}
	}
	return room{nodes, fmt.Sprintf("%s of %s keeps its pods apart, %d%s and %d more during a rollout", a.why, a.ObjectName(), a.replicas, others, a.surge), inferred}
}

// evenRoom is how many nodes let one be drained of a workload whose pods a required topology spread constraint spreads over nodes: a
// node that is drained stays a domain without pods, so that each of the others may have maxSkew pods.
func evenRoom(r world.Resource) room {
	t, replicas := world.TemplateOf(r), int(world.ReplicasOf(r))
	most := evenly(t)
	if most == 0 || replicas == 0 || world.KindOf(r) == world.DaemonSet {
		return room{}
	}
	nodes := (replicas + most - 1) / most
	return room{nodes + 1, fmt.Sprintf("the topology spread of %s has at most %d pods a node while one is drained, %d nodes and 1 more", r.GetName(), most, nodes), inferred}
}

// zoneRoom is how many nodes let one be drained of any workload whose pods a required topology spread constraint spreads over zones, of which there are
// so many: where the pods need each of them, a zone is to have another node. One whose nodes are all drained stays a domain without pods.
func (w *inventory) zoneRoom(zones int) room {
	var r room
	for _, x := range w.workloads {
		t, replicas := world.TemplateOf(x.Value), int(world.ReplicasOf(x.Value))
		most := evenlyBy(t, corev1.LabelTopologyZone)
		if most == 0 || replicas <= most*(zones-1) || world.KindOf(x.Value) == world.DaemonSet {
			continue
		}
		r = r.wider(room{2 * zones, fmt.Sprintf("the topology spread of %s needs a node in each zone while one is drained, two in each of %d zones", x.Name, zones), inferred})
	}
	return r
}

// evenly is how many pods more one node may have than another by a required constraint, 0 where there is none, or where nodes that
// are drained are no domains.
func evenly(t *corev1.PodTemplateSpec) int { return evenlyBy(t, corev1.LabelHostname) }

// evenlyBy is evenly for the domains of a label.
func evenlyBy(t *corev1.PodTemplateSpec, key string) int {
	most := 0
	for i := range t.Spec.TopologySpreadConstraints {
		c := &t.Spec.TopologySpreadConstraints[i]
		honors := c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor
		if c.WhenUnsatisfiable == corev1.DoNotSchedule && c.TopologyKey == key && !honors && world.Matches(c.LabelSelector, t.Labels) &&
			(most == 0 || int(c.MaxSkew) < most) {
			most = int(c.MaxSkew)
		}
	}
	return most
}

// fewestToDrain is the number of made-up nodes with which the pods of one that is drained have nowhere to go, and why: as many as the
// workload's pods need; 0 where there is no such number.
func (b *builder) fewestToDrain(r world.Resource) (nodes int, why string) {
	if b.out.Spare == nil {
		return 0, ""
	}
	t, replicas := world.TemplateOf(r), int(world.ReplicasOf(r))
	if most := evenly(t); most > 0 {
		nodes, why = (replicas+most-1)/most, "the topology spread constraint"
	}
	if apart := spreads(t); apart != "" {
		nodes, why = replicas, apart
	}
	return nodes, why
}

// excludes says whether a pod of one workload and a pod of another may not share a node: they have a
// host port in common, or required anti-affinity of either keeps them apart.
func (a *apart) excludes(o *apart) bool {
	for _, p := range a.ports {
		if slices.ContainsFunc(o.ports, p.Clashes) {
			return true
		}
	}
	mine, _ := a.Apart(&o.Workload)
	its, _ := o.Apart(&a.Workload)
	return mine || its
}

// nodesLocal is how many nodes there are where one of some Services has policy Local: twice as
// many as it has pods, so that there are nodes without one (docs/model/simulator.md 9).
func (w *inventory) nodesLocal(services []manifest.Typed[*corev1.Service]) room {
	var r room
	for _, s := range services {
		policy := localPolicy(s.Value)
		if policy == "" {
			continue
		}
		pods := 0
		for _, x := range w.workloads {
			if x.Namespace == s.Namespace && world.Selects(s.Value, world.TemplateOf(x.Value).Labels) {
				pods += int(world.ReplicasOf(x.Value))
			}
		}
		own := room{2 * pods, fmt.Sprintf("twice as many as pods, since Service %s has %s", s.Name, policy), ""}
		if own.nodes > mostAssumed {
			own = room{mostAssumed, fmt.Sprintf("Service %s has %s and %d pods, and no more than %d nodes are assumed", s.Name, policy, pods, mostAssumed), ""}
		}
		r = r.wider(own)
	}
	return r
}

// localPolicy is the field by which a Service keeps to a node's own pods, "" for none.
func localPolicy(s *corev1.Service) string {
	switch {
	case s.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal:
		return "externalTrafficPolicy Local"
	case s.Spec.InternalTrafficPolicy != nil && *s.Spec.InternalTrafficPolicy == corev1.ServiceInternalTrafficPolicyLocal:
		return "internalTrafficPolicy Local"
	default:
		return ""
	}
}

// spreads says what keeps two of the pods from running on one node, "" for nothing: required
// anti-affinity to themselves by hostname, or a host port.
func spreads(t *corev1.PodTemplateSpec) string {
	if a := t.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		for _, term := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			if term.TopologyKey == corev1.LabelHostname && world.Matches(term.LabelSelector, t.Labels) {
				return "the anti-affinity"
			}
		}
	}
	if ports, _ := world.HostPorts(&t.Spec); len(ports) > 0 {
		return "the host port " + strconv.Itoa(int(ports[0].Port))
	}
	return ""
}

// otherNodes is the Scenario with another number of nodes: one, two and three per pod. Only nodes that are made up are varied.
func otherNodes(s *world.Scenario) []Alternative {
	var out []Alternative
	pods, all := s.Pods(), []string{"%d, one per pod", "%d, two per pod", "%d, three per pod"}
	if name := daemonsOf(s); name != "" {
		each := "%d, each of which has a pod of " + name
		pods, all = len(s.Nodes), []string{each, each, each}
	}
	for i, words := range all {
		count := (i + 1) * pods
		if count == 0 || count > mostAssumed || count == len(s.Standing()) {
			continue
		}
		if changed := s.Clone(); changed.Resize(count) {
			out = append(out, Alternative{"nodes", fmt.Sprintf(words, count), changed})
		}
	}
	return out
}

// OneNodeMore is the Scenario with one node more, none where its nodes are not made up or as many are among its Alternatives: for what
// cannot end with those that it has.
func OneNodeMore(s *world.Scenario) []Alternative {
	pods, more := s.Pods(), len(s.Standing())+1
	made := slices.ContainsFunc(s.Assumptions, func(a world.Assumption) bool { return a.ID == "nodes" })
	if !made || daemonsOf(s) != "" || more == pods || more == 2*pods || more == 3*pods {
		return nil
	}
	changed := s.Clone()
	if !changed.Resize(more) {
		return nil
	}
	return []Alternative{{"nodes", fmt.Sprintf("%d, one more", more), changed}}
}

// daemonsOf is the DaemonSet that something is done to, "" for none.
func daemonsOf(s *world.Scenario) string {
	for i := range s.Workloads {
		if w := &s.Workloads[i]; w.Kind() == world.DaemonSet && !w.Aside {
			return w.ObjectName()
		}
	}
	return ""
}

// makeRoom has the cluster of a case be as large as the policies of its Services want, where its
// size is not said.
func (b *builder) makeRoom() {
	var services []manifest.Typed[*corev1.Service]
	for i := range b.out.Services {
		services = append(services, manifest.Typed[*corev1.Service]{Object: b.out.Services[i].Object, Value: b.out.Services[i].Service})
	}
	r := b.world.nodesLocal(services)
	for i := range b.assumed {
		if b.assumed[i].ID == "nodes" && r.nodes > len(b.out.Nodes) && b.out.Resize(r.nodes) {
			b.assumed[i].Value, b.assumed[i].Basis = r.words(), r.basis
		}
	}
}
