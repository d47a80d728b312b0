package sim

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// fullest is a Scenario of three pods that drains the node with most of them.
func fullest(nodes int) *world.Scenario {
	sc := plainWorld(3, sec)
	for len(sc.Nodes) < nodes {
		n := sc.Nodes[0]
		n.Name = fmt.Sprintf("node-%d", len(sc.Nodes)+1)
		sc.Nodes = append(sc.Nodes, n)
	}
	sc.Nodes = sc.Nodes[:nodes]
	drain := world.Drain{Fullest: "default/web", DrainOptions: world.DrainOptions{GracePeriod: world.OwnGrace}}
	sc.Actions = []world.Action{{At: 20 * sec, Operation: drain}}
	sc.Until = 100 * sec
	return sc
}

// The node with most pods of the workload is drained, and clients that run anywhere run elsewhere. The Scenario stays as it is. Reference:
// docs/model/simulator.md 5.4.
func TestTheFullestNodeIsDrained(t *testing.T) {
	t.Parallel()
	for nodes, want := range map[int]int{2: 2, 3: 1} { // three pods on so many nodes: on the first of them
		sc := fullest(nodes)
		var cordoned []int
		deleted := 0
		log := new(event.Log)
		log.Subscribe(func(e event.Event) {
			if e.Kind == event.Cordoned {
				cordoned = append(cordoned, e.Node)
			} else {
				deleted++
			}
		}, event.Cordoned, event.Deleted)
		r, err := begin(sc, 1, Options{Events: log})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.sc.Traffic[0].Nodes; slices.Contains(got, "node-1") || len(got) != len(sc.Nodes)-1 {
			t.Errorf("clients on %v", got)
		}
		if sc.Traffic[0].Nodes != nil || sc.Actions[0].Target() != "default/web" {
			t.Errorf("the Scenario is another: %+v", sc.Actions[0])
		}
		if _, err := r.loop(); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(cordoned, []int{0}) || deleted != want {
			t.Errorf("%d nodes: %v cordoned, %d pods deleted, want %d", nodes, cordoned, deleted, want)
		}
	}
}

// Clients stay where a Scenario says that they run, those from outside run nowhere, and a node that is the only one keeps its clients.
func TestClientsOnADrainedNode(t *testing.T) {
	t.Parallel()
	sc := fullest(3)
	sc.Nodes = append(sc.Nodes, world.Node{Name: "node-4", Joins: true})
	for name, c := range map[string]struct {
		of    world.Traffic
		nodes int
		want  []string
	}{
		"anywhere":             {world.Traffic{}, 3, []string{"node-2", "node-3"}},
		"all that do not go":   {world.Traffic{Nodes: []string{"node-1", "node-3"}, Everywhere: true}, 3, []string{"node-3"}},
		"as said":              {world.Traffic{Nodes: []string{"node-1"}}, 3, []string{"node-1"}},
		"one that joins":       {world.Traffic{}, 4, []string{"node-2", "node-3"}},
		"from outside":         {world.Traffic{External: true}, 3, nil},
		"there is no other":    {world.Traffic{}, 1, nil},
		"there is none but it": {world.Traffic{Nodes: []string{"node-1"}, Everywhere: true}, 3, []string{"node-1"}},
	} {
		world.TakeOff(&c.of, sc.Nodes[:c.nodes], []string{"node-1"})
		if !slices.Equal(c.of.Nodes, c.want) {
			t.Errorf("%s: %v, want %v", name, c.of.Nodes, c.want)
		}
	}
}

// Whoever takes a node away by what is on it finds it as a drain does.
func TestTheFullestNodeIsTaken(t *testing.T) {
	t.Parallel()
	for _, o := range []world.Operation{world.ScaleDownNode{Fullest: "default/web"}, world.Consolidate{Fullest: "default/web", Budget: world.NodeBudget{Number: 1}}} {
		sc := fullest(2)
		sc.Actions[0] = world.Action{At: 20 * sec, For: 5 * sec, Operation: o}
		r, err := begin(sc, 1, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.sc.Actions[0].Target(); got != "node-1" || slices.Contains(r.sc.Traffic[0].Nodes, "node-1") || sc.Actions[0].Target() != "default/web" {
			t.Errorf("%T: %s, clients on %v", o, got, r.sc.Traffic[0].Nodes)
		}
		settled, err := r.loop()
		if err != nil || !settled || !r.cluster.Dead(0) || r.cluster.Dead(1) {
			t.Errorf("%T: settled %v, %v, %v", o, settled, r.cluster.Dead(0), err)
		}
	}
}

// What a budget keeps on a node goes with the machine: a drain that is refused for ever ends nothing while that is about to go, nor while it is
// gone and the control plane has not noticed. Where the Node is deleted, too, the drain is through in the end. Reference:
// docs/model/pod-lifecycle.md 5 Spot, docs/model/controllers.md 7.
func TestADrainThatIsRefusedUntilTheMachineGoes(t *testing.T) {
	t.Parallel()
	drain := world.DrainOptions{GracePeriod: world.OwnGrace}
	for name, c := range map[string]struct {
		actions []world.Action
		stuck   bool
	}{
		"a handler of a spot notice": {[]world.Action{{At: 20 * sec, Operation: world.SpotNotice{Node: "node-1", Notice: 120 * sec, Drains: true}}}, false},
		"a crash": {[]world.Action{
			{At: 20 * sec, Operation: world.Drain{Nodes: []string{"node-1"}, DrainOptions: drain}},
			{At: 140 * sec, Operation: world.CrashNode{Node: "node-1"}},
		}, true}, // its pod stays Terminating
	} {
		sc := fullest(3)
		sc.Actions, sc.Until = c.actions, 0
		sc.Traffic[0].Nodes = []string{"node-2", "node-3"}
		sc.Budgets = []world.Budget{ofAll(intstr.FromInt32(0))}
		r, err := Run(sc, 1)
		if err != nil {
			t.Fatal(name, err)
		}
		const gone, noticed = 140 * sec, 40 * sec // with leases, and looked at every 5 s
		lost := r.Streams[0].LostSeconds
		if r.End < gone+noticed+settleTime || lost < noticed/4 || lost > noticed/2 || (r.Stuck != nil) != c.stuck {
			t.Errorf("%s: %s s lost until %s s, stuck %+v", name, lost.Seconds(), r.End.Seconds(), r.Stuck)
		}
	}
}

// The node that joins in place of the one with most pods is like that one, whichever comes first in the input: pods that run nowhere else find
// it. Reference: docs/model/controllers.md 8.1 Pools.
func TestTheNodeThatJoinsIsLikeTheOneThatGoes(t *testing.T) {
	t.Parallel()
	in := func(zones ...string) *world.Scenario {
		sc := fullest(1)
		sc.Nodes = nil
		for _, z := range zones {
			o := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-" + z, Labels: map[string]string{corev1.LabelTopologyZone: z, corev1.LabelHostname: "node-" + z}}}
			sc.Nodes = append(sc.Nodes, world.Node{Name: o.Name, Zone: z, Object: o})
		}
		sc.Workloads[0].Template().Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "c"}
		sc.Traffic[0].Nodes = []string{"node-a"}
		sc.Actions[0] = world.Action{At: 20 * sec, Operation: world.Consolidate{Fullest: "default/web", Budget: world.NodeBudget{Number: 1}, Replacements: 1, Provision: 30 * sec}}
		sc.Muster()
		return sc
	}
	for _, zones := range [][]string{{"a", "b", "c"}, {"c", "b", "a"}} {
		r, err := begin(in(zones...), 1, Options{})
		if err != nil {
			t.Fatal(err)
		}
		joined := r.sc.Nodes[len(r.sc.Nodes)-1]
		if got := r.sc.Actions[0].Target(); got != "node-c" || joined.Zone != "c" || !joined.Joins || joined.Object.Labels[corev1.LabelTopologyZone] != "c" {
			t.Errorf("%v: %s goes, %s joins in zone %s", zones, got, joined.Name, joined.Zone)
		}
		if settled, err := r.loop(); err != nil || !settled || !r.cluster.Dead(slices.Index(zones, "c")) {
			t.Errorf("%v: settled %v, %v", zones, settled, err)
		}
	}
}
