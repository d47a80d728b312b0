package placement

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/sorted"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// reasons are the scheduler's own words, as kubectl describe shows them (Kubernetes 1.36 pkg/scheduler/framework/plugins;
// verified). A node that is going away has a taint.
var reasons = [numWhys]string{
	Leaves:       "node(s) had untolerated taint(s)",
	Cordoned:     "node(s) were unschedulable",
	Tainted:      "node(s) had untolerated taint(s)",
	Unlike:       "node(s) didn't match Pod's node affinity/selector",
	PortTaken:    "node(s) didn't have free ports for the requested pod ports",
	TooManyPods:  "Too many pods",
	Insufficient: "Insufficient ",
	Unlabelled:   "node(s) didn't match pod topology spread constraints (missing required label)",
	Skewed:       "node(s) didn't match pod topology spread constraints",
	Alone:        "node(s) didn't match pod affinity rules",
	Repels:       "node(s) didn't match pod anti-affinity rules",
	Repelled:     "node(s) didn't satisfy existing pods anti-affinity rules",
}

// Words are the scheduler's for an obstacle.
func (o *Obstacle) Words() string { return reasons[o.Why] + string(o.Resource) }

// Details are the words with the port that is taken.
func (o *Obstacle) Details() string {
	if o.Why == PortTaken {
		return o.Words() + " (" + portWords(o.Port, o.Path) + ")"
	}
	return o.Words()
}

// portWords name a host port as the manifest does.
func portWords(p world.HostPort, path string) string {
	if strings.HasSuffix(path, "hostNetwork") {
		return fmt.Sprintf("port %d of the node, hostNetwork", p.Port)
	}
	return fmt.Sprintf("hostPort %d", p.Port)
}

// constraintPath is the field of a topology spread constraint.
func constraintPath(index int) string {
	return fmt.Sprintf("spec.template.spec.topologySpreadConstraints[%d]", index)
}

// Failure is why no node will do for a pod.
type Failure struct {
	// Words are those of the Event FailedScheduling: "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable".
	// What port is taken follows in brackets.
	Words string
	Nodes int // that it is about
	// Count is how many nodes have each obstacle, Path the field behind it, where one of the pod's own is.
	Count [numWhys]int
	Path  [numWhys]string
	Short []Obstacle // the resources that are missing somewhere, by name
	Key   string     // the topologyKey of the first obstacle that has one
}

// Failure says why no node will do; ok is false where one does.
func (t *Cycle) Failure() (f Failure, ok bool) {
	words := map[string]int{}
	total, port := 0, ""
	for n := range t.c.nodes {
		found := t.Obstacles(n)
		if len(found) > 0 && found[0].Why == Absent {
			continue
		}
		total++
		if len(found) == 0 {
			return f, false
		}
		for i := range found {
			o := &found[i]
			words[o.Words()]++
			f.Count[o.Why]++
			f.Path[o.Why], f.Key = cmp.Or(f.Path[o.Why], o.Path), cmp.Or(f.Key, o.Key)
			switch {
			case o.Why == PortTaken && port == "":
				port = " (" + portWords(o.Port, o.Path) + ")"
			case o.Why == Insufficient && !slices.ContainsFunc(f.Short, func(s Obstacle) bool { return s.Resource == o.Resource }):
				f.Short = append(f.Short, *o)
			}
		}
	}
	sorted.By(f.Short, func(a, b Obstacle) int { return cmp.Compare(a.Resource, b.Resource) })
	var parts []string
	for reason, count := range words { // order: sorted below
		part := fmt.Sprintf("%d %s", count, reason)
		if reason == reasons[PortTaken] {
			part += port
		}
		parts = append(parts, part)
	}
	slices.Sort(parts)
	f.Nodes = total
	f.Words = fmt.Sprintf("0/%d nodes are available: %s", total, strings.Join(parts, ", "))
	return f, true
}
