package cluster

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// volume gives all pods of web a volume, which takes 15 s to another node.
func (b build) volume(a world.Access) build {
	b.Workloads[0].Claims = []world.Claim{{Name: "data", Access: a, Path: "spec.template.spec.volumes[0]"}}
	b.Volumes.Move = engine.Constant(15 * sec)
	return b
}

// volumes has the test note who waits for a volume, and who has got it.
func (w *testWorld) volumes() *testWorld {
	w.hears(func(e event.Event) {
		name := strings.TrimPrefix(w.podName(e.Pod), "default/web ")
		w.note("%s volume %v", name, e.OK)
	}, event.Volume)
	return w
}

// A rollout of a Deployment whose new pod cannot have the volume of the old one never ends, unless the old one goes first.
func TestARolloutWaitsForAVolume(t *testing.T) {
	t.Parallel()
	held := "the new pod waits for its volume (ReadWriteOnce), which pod 0 of default/web on node-1 has and which stays until the new one is ready"
	for _, c := range []struct {
		name string
		b    build
		want string   // why it is stuck, "" where it ends
		then []string // who waited, and got it when
	}{
		{"on another node", newBuild(1).nodes(2).volume(world.ReadWriteOnce).strategy("1", "0"), held, []string{"10 r1 0 volume false"}},
		{"on the same node", newBuild(1).nodes(1).volume(world.ReadWriteOnce).strategy("1", "0"), "", nil},
		{"of one pod, on the same node", newBuild(1).nodes(1).volume(world.ReadWriteOncePod).strategy("1", "0"), strings.Replace(held, "ReadWriteOnce", "ReadWriteOncePod", 1),
			[]string{"10 r1 0 volume false"}},
		{"of everybody", newBuild(1).nodes(2).volume(world.ReadWriteMany).strategy("1", "0"), "", nil},
		{"the old one first", newBuild(1).nodes(2).volume(world.ReadWriteOnce).strategy("0", "1"), "", nil},
		{"Recreate", newBuild(1).nodes(2).volume(world.ReadWriteOnce).recreate(), "", nil},
	} {
		w := c.b.start(t, 1).volumes()
		w.do(10*sec, "rolloutRestart", "web", "")
		w.run(100 * sec)
		s := w.StuckRollout()
		if s == nil != (c.want == "") || s != nil && (s.Why != c.want || s.What != "strategy Recreate" || s.Path != "spec.template.spec.volumes[0]") {
			t.Errorf("%s: %+v", c.name, s)
		}
		if (w.Unrest() == "") != (c.want == "") || w.Stuck() != nil {
			t.Errorf("%s: %q %v", c.name, w.Unrest(), w.Stuck())
		}
		if c.then != nil {
			w.want(" volume ", c.then...)
		}
	}
}

// The next pod of a drained node starts when the volume has come from there: 15 s after the pod before has ended.
func TestTheNextPodWaitsForTheVolumeOfADrainedNode(t *testing.T) {
	t.Parallel()
	w := newBuild(1).nodes(2).volume(world.ReadWriteOnce).does(world.Drain{Nodes: []string{"node-1"}}, 0).acts(t).volumes()
	w.run(100 * sec)
	gone, ready := w.when("r0 0 terminal"), w.when("r0 1 running ready=true")
	if ready < gone+15*sec || ready > gone+17*sec {
		t.Errorf("ended after %s s, the next ready after %s s:\n%s", gone.Seconds(), ready.Seconds(), strings.Join(w.lines, "\n"))
	}
	if got := w.when("r0 1 volume true"); got != gone+15*sec {
		t.Errorf("it has the volume after %s s", got.Seconds())
	}
}

// What is on a machine that is gone keeps its volume until its Node is deleted, and six minutes longer: nobody there unmounts it.
func TestAVolumeOfANodeThatCrashed(t *testing.T) {
	t.Parallel()
	w := newBuild(1).nodes(2).volume(world.ReadWriteOnce).does(world.CrashNode{Node: "node-1"}, 0).acts(t).volumes()
	w.run(1000 * sec)
	s := w.CannotEnd()
	want := "the new pod waits for its volume (ReadWriteOnce), which pod 0 of default/web on node-1 has: pod 0 of default/web stays Terminating: node-1 is gone, and its Node object is there"
	if s == nil || s.Why != want || s.What != "kubectl delete node node-1, once its machine is off for good" {
		t.Fatalf("%+v", s)
	}
	w.at(1000*sec, func() { w.Do(world.Action{Operation: world.DeleteNode{Node: "node-1"}}) })
	w.run(2000 * sec)
	gone := w.when("r0 0 terminal")
	if got := w.when("r0 1 volume true"); got != gone+15*sec+360*sec {
		t.Errorf("ended after %s s, attached after %s s", gone.Seconds(), got.Seconds())
	}
}

// No rollout takes away the pod that has the volume where a second one is asked for: strategy Recreate would not help.
func TestASecondPodForOneVolume(t *testing.T) {
	t.Parallel()
	w := newBuild(1).nodes(2).volume(world.ReadWriteOnce).start(t, 1)
	w.do(10*sec, "scale", "web", "2")
	w.run(100 * sec)
	if s := w.StuckRollout(); s == nil || !strings.HasSuffix(s.Why, "on node-1 has and keeps") || s.What != "a volume that several nodes may have (ReadWriteMany)" {
		t.Errorf("%+v", s)
	}
}

// Pods that share a volume of one node begin there. The new pod of a rollout waits for it on another node as long as any of them has it, and what
// would let it is not strategy Recreate: the second of the new pods may find another node again.
func TestPodsThatShareAVolumeBeginOnItsNode(t *testing.T) {
	t.Parallel()
	w := newBuild(2).nodes(3).volume(world.ReadWriteOnce).start(t, 1)
	for _, id := range w.livePods {
		if p, ok := w.store.Get(api.PodKey(id)).(*api.Pod); !ok || p.Node != 0 {
			t.Errorf("pod %d does not begin on node-1: %+v", id, p)
		}
	}
	w.do(10*sec, "rolloutRestart", "web", "")
	w.run(100 * sec)
	if s := w.StuckRollout(); s == nil || !strings.HasPrefix(s.What, "a volume that several nodes may have (ReadWriteMany), or replicas: 1") {
		t.Errorf("%+v", s)
	}
}
