package control

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// statefulPods reads the pods of a StatefulSet, by ordinal: o and n are ready ones of the old and the new revision; with ! it is not
// ready, with ~ it became so 4 s ago, with x it is being deleted, with f it has failed; - is none.
func statefulPods(text string, now engine.Time) []*api.Pod {
	var pods []*api.Pod
	for i, word := range strings.Fields(text) {
		if word == "-" {
			continue
		}
		p := &api.Pod{ID: api.PodID(len(pods)), Ordinal: i, Phase: api.PhaseRunning, Ready: true, DeletedAt: api.Never}
		if word[0] == 'n' {
			p.Revision = 1
		}
		for _, mark := range word[1:] {
			switch mark {
			case '!':
				p.Ready = false
			case '~':
				p.ReadySince = now - 4*sec
			case 'x':
				p.DeletedAt = now
			case 'f':
				p.Phase, p.Ready = api.PhaseFailed, false
			}
		}
		pods = append(pods, p)
	}
	return pods
}

// words say what a sync does, batch by batch.
func (p *statefulPlan) words() string {
	var batches []string
	for _, batch := range p.batches {
		var out []string
		for _, d := range batch {
			switch {
			case d.undo:
				out = append(out, fmt.Sprintf("undo %d", d.ordinal))
			case d.pod == nil:
				out = append(out, fmt.Sprintf("create %d r%d", d.ordinal, d.revision))
			default:
				out = append(out, fmt.Sprintf("delete %d", d.pod.Ordinal))
			}
		}
		batches = append(batches, strings.Join(out, " "))
	}
	return strings.Join(batches, ", ")
}

// What a sync does with what it sees. Reference: Kubernetes 1.36 pkg/controller/statefulset/stateful_set_control.go, updateStatefulSet;
// docs/model/controllers.md 4 OrderedReady create, Scale-down, Rolling update.
func TestOneSyncOfAStatefulSet(t *testing.T) {
	t.Parallel()
	parallel := func(in *statefulInput) { in.parallel = true }
	partition := func(n int) func(*statefulInput) { return func(in *statefulInput) { in.partition = n } }
	several := func(n int) func(*statefulInput) { return func(in *statefulInput) { in.unavailable = n } }
	onDelete := func(in *statefulInput) { in.onDelete, in.rolling = true, false }
	minReady := func(in *statefulInput) { in.minReady = 5 * sec }
	for _, c := range []struct {
		name string
		pods string
		size int
		want string
		with []func(*statefulInput)
	}{
		{"nothing to do", "n n n", 3, "", nil},
		{"pods are made in ascending order, one at a time", "- - -", 3, "create 0 r1", nil},
		{"the next one waits until those below are ready", "n! - -", 3, "", nil},
		{"and then is made", "n - -", 3, "create 1 r1", nil},
		{"it waits until they are available", "n~ -", 2, "", []func(*statefulInput){minReady}},
		{"one that is being deleted blocks", "nx - -", 3, "", nil},
		{"one that is missing below is made first", "n - n", 3, "create 1 r1", nil},
		{"the highest pod goes first", "n n n n n", 3, "delete 4", nil},
		{"one at a time, and the next when its object is gone", "n n n n nx", 3, "", nil},
		{"all that stay have to be ready for it", "n n! n n n", 3, "", nil},
		{"an unhealthy one that is too many goes, being the only one", "n n n! ", 2, "delete 2", nil},
		{"an unhealthy one waits for one below it", "n n n! n!", 2, "", nil},
		{"a healthy one does not", "n n n! n", 2, "delete 3", nil},
		{"nor the only one", "n n n n!", 2, "delete 3", nil},
		{"the highest old pod is replaced", "o o o", 3, "delete 2", nil},
		{"its successor is new", "o o -", 3, "create 2 r1", nil},
		{"until it is ready nothing else goes", "o o n!", 3, "", nil},
		{"until it is available nothing else goes", "o o n~", 3, "", []func(*statefulInput){minReady}},
		{"then the one below", "o o n", 3, "delete 1", nil},
		{"one that terminates is waited for", "o o ox", 3, "", nil},
		{"an unhealthy old one blocks, though its ordinal is lower", "o! o n", 3, "", nil},
		{"even if it is the one to be replaced", "o o o!", 3, "", nil},
		{"the partition stays old", "o o n", 3, "", []func(*statefulInput){partition(2)}},
		{"a pod below the partition comes back old", "o - n", 3, "create 1 r0", []func(*statefulInput){partition(2)}},
		{"one above it new", "o o -", 3, "create 2 r1", []func(*statefulInput){partition(2)}},
		{"a partition beyond all pods", "o o o", 3, "", []func(*statefulInput){partition(7)}},
		{"OnDelete replaces nothing", "o o o", 3, "", []func(*statefulInput){onDelete}},
		{"but what is deleted comes back new", "o - o", 3, "create 1 r1", []func(*statefulInput){onDelete}},
		{"a failed pod is deleted", "n nf n", 3, "delete 1", nil},
		{"once", "n nfx n", 3, "", nil},
		{"Parallel makes all, by slow start", "- - - - - - - -", 8, "create 0 r1, create 1 r1 create 2 r1, create 3 r1 create 4 r1 create 5 r1 create 6 r1, create 7 r1", []func(*statefulInput){parallel}},
		{"Parallel deletes all that are too many", "n n n n! n", 2, "delete 4, delete 3 delete 2", []func(*statefulInput){parallel}},
		{"Parallel updates one by one", "o o o", 3, "delete 2", []func(*statefulInput){parallel}},
		{"and waits for the new one", "o o n!", 3, "", []func(*statefulInput){parallel}},
		{"an unhealthy one below does not block", "o! o n", 3, "delete 1", []func(*statefulInput){parallel}},
		{"nor one that is to be replaced itself", "o o o!", 3, "delete 2", []func(*statefulInput){parallel}},
		{"Parallel and a failed pod", "n nf -", 3, "delete 1 create 2 r1", []func(*statefulInput){parallel}},
		{"maxUnavailable 2 takes two away", "o o o o", 4, "delete 3, delete 2", []func(*statefulInput){several(2)}},
		{"one that is unavailable counts", "o o o n!", 4, "delete 2", []func(*statefulInput){several(2), parallel}},
		{"also one that is old", "o! o o n", 4, "delete 2", []func(*statefulInput){several(2), parallel}},
		{"OrderedReady lets none go beside it", "o o o n!", 4, "", []func(*statefulInput){several(2)}},
		{"as many as may be are away", "o o n! n!", 4, "", []func(*statefulInput){several(2), parallel}},
		{"the partition holds for several, too", "o o o", 3, "delete 2", []func(*statefulInput){several(3), partition(2)}},
	} {
		in := statefulInput{replicas: c.size, rolling: true, revision: 1, now: 1000 * sec, pods: statefulPods(c.pods, 1000*sec)}
		for _, edit := range c.with {
			edit(&in)
		}
		plan := planStateful(&in)
		if got := plan.words(); got != c.want {
			t.Errorf("%s: %s of %d: %q, want %q", c.name, c.pods, c.size, got, c.want)
		}
	}
}

// Ordinals begin where the StatefulSet says; the partition counts from there.
func TestOrdinalsThatBeginElsewhere(t *testing.T) {
	t.Parallel()
	in := statefulInput{replicas: 2, start: 5, rolling: true, partition: 1, revision: 1, now: sec}
	if plan := planStateful(&in); plan.words() != "create 5 r0" {
		t.Errorf("the first pod: %q", plan.words())
	}
	in.pods = []*api.Pod{{Ordinal: 5, Phase: api.PhaseRunning, Ready: true, DeletedAt: api.Never}}
	if plan := planStateful(&in); plan.words() != "create 6 r1" {
		t.Errorf("the second pod: %q", plan.words())
	}
	in.pods = append(in.pods, &api.Pod{ID: 1, Ordinal: 0, Phase: api.PhaseRunning, Ready: true, DeletedAt: api.Never},
		&api.Pod{ID: 2, Ordinal: 6, Revision: 1, Phase: api.PhaseRunning, Ready: true, DeletedAt: api.Never})
	if plan := planStateful(&in); plan.words() != "delete 0" {
		t.Errorf("a pod below the first ordinal: %q", plan.words())
	}
}

// Without spec.updateStrategy.rollingUpdate, as where the type alone is said, as many pods of the lowest ordinals come back old as
// the status counts of them. Reference: Kubernetes 1.36 pkg/controller/statefulset/stateful_set_utils.go, newVersionedStatefulSetPod.
func TestAPodComesBackOldWhileTheStatusCountsIt(t *testing.T) {
	t.Parallel()
	in := statefulInput{replicas: 3, revision: 1, ofThat: 2, now: sec, pods: statefulPods("o - n", sec)}
	if plan := planStateful(&in); plan.words() != "create 1 r0" {
		t.Errorf("within: %q", plan.words())
	}
	in.ofThat = 1
	if plan := planStateful(&in); plan.words() != "create 1 r1" {
		t.Errorf("beyond: %q", plan.words())
	}
	in.ofThat, in.parallel, in.pods = 2, true, statefulPods("n - n", sec)
	if plan := planStateful(&in); plan.words() != "create 1 r0, undo 1" {
		t.Errorf("with Parallel the same sync deletes it again: %q", plan.words())
	}
}

// The status counts pods as they were when the sync began; a rollout is over when all pods are new and ready.
func TestTheStatusOfAStatefulSet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pods string
		want string
	}{
		{"o o o", "3 pods 3 ready 3 available, 2 of r0 0 of r1"}, // one is being replaced by this sync
		{"o o ox", "3 pods 3 ready 3 available, 2 of r0 0 of r1"},
		{"o o n!", "3 pods 2 ready 2 available, 2 of r0 1 of r1"},
		{"o o n~", "3 pods 3 ready 2 available, 2 of r0 1 of r1"},
		{"n n n~", "3 pods 3 ready 2 available, 3 of r1 3 of r1"},
	} {
		in := statefulInput{replicas: 3, rolling: true, revision: 1, minReady: 5 * sec, now: 1000 * sec, pods: statefulPods(c.pods, 1000*sec)}
		plan := planStateful(&in)
		s := plan.status
		got := fmt.Sprintf("%d pods %d ready %d available, %d of r%d %d of r%d", s.pods, s.ready, s.available, s.current, s.currentRevision, s.updated, s.updatedRevision)
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.pods, got, c.want)
		}
		if late := strings.Contains(c.pods, "~"); late != (plan.next == 1001*sec) {
			t.Errorf("%s: it looks again at %v", c.pods, plan.next)
		}
	}
}

// Percentages of maxUnavailable round down, to no less than one. Reference: docs/model/controllers.md 4 maxUnavailable.
func TestMaxUnavailableOfAStatefulSet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want string
	}{
		{"25%", "1 1 1 1 1 1 1 1 2 2 2 2 3"}, {"50%", "1 1 1 1 2 2 3 3 4 4 5 5 6"}, {"2", "2 2 2 2 2 2 2 2 2 2 2 2 2"}, {"100%", "1 1 2 3 4 5 6 7 8 9 10 11 12"},
	} {
		var got []string
		for replicas := range 13 {
			v := intstr.Parse(c.text)
			got = append(got, fmt.Sprint(world.StatefulUnavailable(&v, replicas)))
		}
		if g := strings.Join(got, " "); g != c.want {
			t.Errorf("%s: %s, want %s", c.text, g, c.want)
		}
	}
	if n := world.StatefulUnavailable(nil, 9); n != 1 {
		t.Errorf("where nothing is said it is %d", n)
	}
}

// maxUnavailable counts where its feature gate is on.
func TestMaxUnavailableNeedsItsGate(t *testing.T) {
	t.Parallel()
	three := intstr.FromInt32(3)
	d := newDesk(t, 1)
	d.Workloads[0].Resource = &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{UpdateStrategy: appsv1.StatefulSetUpdateStrategy{
		RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{MaxUnavailable: &three},
	}}}
	for several, want := range map[bool]int{false: 0, true: 3} {
		c := StatefulSets{d: &d.Desk, several: several}
		if in := c.input(&statefulWork{set: &api.Workload{Replicas: 5}}); in.unavailable != want {
			t.Errorf("with the gate %v: %d", several, in.unavailable)
		}
	}
}
