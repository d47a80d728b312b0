package fix

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/edit"
	"github.com/lameduck-proxy/lameduck/sim/kubelet"
	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Unblock lists what can be changed in a workload whose rollout, or drain, cannot come to its end, the smallest first. Which of them
// lets it go on is for a run to say.
func Unblock(s *world.Scenario, w *world.Workload) []Change {
	t := target{sc: s, w: w, server: w.ServerIndex()}
	if t.server < 0 {
		return nil
	}
	var out []Change
	ways := []*Change{t.recreate(), t.inPlace(), t.asked(), t.startup(), t.ungated(), t.roomier(), t.fewer()}
	if emptied(s) {
		ways = t.unblocked()
	}
	for _, c := range ways {
		if c != nil {
			out = append(out, *c)
		}
	}
	return out
}

// recreate has the old pod gone before there is a new one, where the new one waits for a volume that the old one keeps.
func (t *target) recreate() *Change {
	if t.w.Kind() != world.Deployment || t.w.Recreate() || !slices.ContainsFunc(t.w.Exclusive(), func(c world.Claim) bool { return !c.Each }) {
		return nil
	}
	return &Change{
		ID: "recreate", Title: "strategy Recreate", Cost: "no pod is there from the end of the old one until the new one is ready",
		Edits: []edit.Edit{t.edit("spec.strategy", "{type: Recreate}")},
	}
}

// inPlace has a rollout take an old pod away before it makes a new one: the new one has the node, or the host port, of the old.
func (t *target) inPlace() *Change {
	if t.isDaemon() {
		return t.after()
	}
	surge, unavailable := t.w.Fenceposts()
	if t.w.Kind() != world.Deployment || t.w.Recreate() || surge == 0 && unavailable > 0 {
		return nil
	}
	return &Change{
		ID: "inPlace", Title: "maxSurge: 0, maxUnavailable: 1", Cost: "one pod is missing at a time during a rollout",
		Edits: t.rolling(1, 0),
	}
}

// rolling are the edits of both bounds of a rollout: one, where neither is in the manifest.
func (t *target) rolling(unavailable, surge int) []edit.Edit {
	const path = "spec.strategy.rollingUpdate"
	if t.w.Object != nil && !t.w.Object.Has(path) {
		return []edit.Edit{t.edit(path, fmt.Sprintf("{maxUnavailable: %d, maxSurge: %d}", unavailable, surge))}
	}
	return []edit.Edit{t.edit(path+".maxUnavailable", unavailable), t.edit(path+".maxSurge", surge)}
}

// asked has a probe ask for the number of a port where it names one that its container does not have, or runs a program that is not there.
func (t *target) asked() *Change {
	for i, c := range t.containers() {
		for _, kind := range []string{"startup", "readiness"} {
			name, field := kubelet.MissingPort(c, probeOf(c, kind))
			if p := probeOf(c, kind); p != nil && servers.Lacks(c, p.Exec) != "" && len(c.Ports) > 0 {
				return t.withoutProgram(i, kind, p)
			}
			if name == "" || len(c.Ports) == 0 {
				continue
			}
			port := c.Ports[0].ContainerPort
			return &Change{
				ID: "probePort", Title: fmt.Sprintf("%sProbe of %s on port %d", kind, c.Name, port),
				Edits: []edit.Edit{t.edit(t.pathIn(i, kind+"Probe."+field), port)},
			}
		}
	}
	return nil
}

// withoutProgram has a probe look whether the port is open in place of running what the image does not have.
func (t *target) withoutProgram(i int, kind string, p *corev1.Probe) *Change {
	c := t.containers()[i]
	port := c.Ports[0].ContainerPort
	delay := ""
	if p.InitialDelaySeconds > 0 {
		delay = fmt.Sprintf("initialDelaySeconds: %d, ", p.InitialDelaySeconds)
	}
	to := fmt.Sprintf("{tcpSocket: {port: %d}, %speriodSeconds: %d, failureThreshold: %d}", port, delay, p.PeriodSeconds, p.FailureThreshold)
	return &Change{
		ID: "probePort", Title: fmt.Sprintf("%sProbe of %s on port %d in place of a program", kind, c.Name, port),
		Edits: []edit.Edit{t.editOf(t.pathIn(i, kind+"Probe"), edit.Value{YAML: to}, handlerYAML(&p.ProbeHandler))},
		Cost:  "an HTTP or gRPC probe that asks the app is better than an open port, if it has one",
	}
}

func probeOf(c *corev1.Container, kind string) *corev1.Probe {
	if kind == "startup" {
		return c.StartupProbe
	}
	return c.ReadinessProbe
}

// ungated takes the readiness gates away that a controller has to set.
func (t *target) ungated() *Change {
	gates := t.w.Template().Spec.ReadinessGates
	if len(gates) == 0 {
		return nil
	}
	var names []string
	for _, g := range gates {
		names = append(names, string(g.ConditionType))
	}
	return &Change{
		ID: "readinessGates", Title: "no readinessGates",
		Edits:       []edit.Edit{t.editOf("spec.template.spec.readinessGates", edit.Value{YAML: "[]"}, strings.Join(names, ", "))},
		Destructive: "the controller that sets the gate may have to know a pod before it gets traffic",
	}
}

// roomier gives the cluster one node more, where it has as many as the user said; nil where its nodes are those of the input.
func (t *target) roomier() *Change {
	more, ok := t.sc.WithNodes(len(t.sc.Standing()) + 1)
	if !ok || t.isDaemon() {
		return nil
	}
	title := "one node more"
	if nodes := more.Standing(); t.apartByZone() && nodes[len(nodes)-1].Zone != "" {
		title += " in zone " + nodes[len(nodes)-1].Zone
	}
	cost := "it need not be there for longer than the rollout"
	for i := range t.sc.Actions {
		if _, takes := t.sc.TakingOf(&t.sc.Actions[i]); takes {
			cost = "there are as many nodes as now in the end"
		} else if world.Disrupts(t.sc.Actions[i].Operation) {
			cost = "it need not be there for longer than the drain"
		}
	}
	return &Change{ID: "nodes", Title: title, Cost: cost, Around: Around{Nodes: 1}}
}

// apartByZone says that the pods may not share a zone, or be much more in one than in others: which zone a node is in matters then.
func (t *target) apartByZone() bool {
	spec := &t.w.Template().Spec
	if spec.Affinity != nil && spec.Affinity.PodAntiAffinity != nil {
		for _, term := range spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			if term.TopologyKey == corev1.LabelTopologyZone {
				return true
			}
		}
	}
	return slices.ContainsFunc(spec.TopologySpreadConstraints, func(c corev1.TopologySpreadConstraint) bool {
		return c.TopologyKey == corev1.LabelTopologyZone && c.WhenUnsatisfiable == corev1.DoNotSchedule
	})
}

// fewer has a workload whose pods may not share a node have no more of them than there are nodes.
func (t *target) fewer() *Change {
	replicas := t.w.Replicas()
	if replicas <= len(t.sc.Standing()) || !t.apart() || t.isDaemon() {
		return nil
	}
	n := len(t.sc.Standing())
	return &Change{
		ID: "replicas", Title: fmt.Sprintf("replicas: %d", n), Cost: "no more pods than there are nodes for them, as now",
		Edits: []edit.Edit{t.edit("spec.replicas", n)},
	}
}

// apart says that the pods of the workload may not share a node: for a host port, or required anti-affinity.
func (t *target) apart() bool {
	if ports, _ := world.HostPorts(&t.w.Template().Spec); len(ports) > 0 {
		return true
	}
	same, _ := t.w.Apart(t.w)
	return same
}
