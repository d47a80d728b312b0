// Command statefulsteps prints what Kubernetes' own StatefulSet controller does in one sync, for every state that the pods of a small
// StatefulSet can be in: a line each. sim/control holds the simulator to the digest of these lines
// (TestEverySyncIsThatOfTheRealController):
//
//	cd test/e2e && go run ./statefulsteps | sha256sum
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	apps "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/record"
	_ "k8s.io/kubernetes/pkg/apis/apps/install" // what its ControllerRevisions are encoded with
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	"k8s.io/kubernetes/pkg/controller/history"
	"k8s.io/kubernetes/pkg/controller/statefulset"
)

// A pod's state: of the old or the new revision, and with ! not ready, x being deleted, f failed; - is none.
var states = []string{"-", "o", "o!", "ox", "of", "n", "n!", "nx", "nf"}

const (
	namespace = "default"
	name      = "web"
	ordinals  = 4
)

func main() {
	out := bufio.NewWriter(os.Stdout)
	c, err := newController()
	if err == nil {
		err = c.print(out)
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		log.Fatal(err)
	}
}

// controller is that of Kubernetes, with what it has asked for.
type controller struct {
	statefulset.StatefulSetControlInterface
	api
	status    *apps.StatefulSetStatus
	revisions [2]string
}

// api notes what is asked of it, and does nothing.
type api struct {
	sync.Mutex
	deeds    []string
	revision map[string]string // by the name of a ControllerRevision
}

func (a *api) did(format string, args ...any) error {
	a.Lock()
	defer a.Unlock()
	a.deeds = append(a.deeds, fmt.Sprintf(format, args...))
	return nil
}

func ordinal(p *v1.Pod) string { return strings.TrimPrefix(p.Name, name+"-") }

func (a *api) CreatePod(_ context.Context, p *v1.Pod, _ *apps.StatefulSet) error {
	return a.did("create %s %s", ordinal(p), a.revision[p.Labels[apps.StatefulSetRevisionLabel]])
}
func (a *api) DeletePod(p *v1.Pod) error                      { return a.did("delete %s", ordinal(p)) }
func (a *api) UpdatePod(p *v1.Pod, _ *apps.StatefulSet) error { return a.did("update %s", ordinal(p)) }

var errAbsent = errors.New("there is none")

func (*api) GetPod(string, string) (*v1.Pod, error)                         { return nil, errAbsent }
func (*api) GetClaim(string, string) (*v1.PersistentVolumeClaim, error)     { return nil, errAbsent }
func (*api) CreateClaim(*v1.PersistentVolumeClaim, *apps.StatefulSet) error { return nil }
func (*api) UpdateClaim(*v1.PersistentVolumeClaim, *apps.StatefulSet) error { return nil }

// UpdateStatefulSetStatus keeps what the controller would write.
func (c *controller) UpdateStatefulSetStatus(_ context.Context, _ *apps.StatefulSet, s *apps.StatefulSetStatus) error {
	c.status = s
	return nil
}

// newController is one whose StatefulSet has an old and a new revision.
func newController() (*controller, error) {
	revisions := informers.NewSharedInformerFactory(fake.NewClientset(), 0).Apps().V1().ControllerRevisions()
	if err := history.AddControllerRevisionControllerIndexer(revisions.Informer()); err != nil {
		return nil, err
	}
	c := &controller{api: api{revision: map[string]string{}}}
	pods := statefulset.NewStatefulPodControlFromManager(&c.api, &record.FakeRecorder{})
	c.StatefulSetControlInterface = statefulset.NewDefaultStatefulSetControl(pods, c, history.NewFakeHistory(revisions))
	for i, image := range []string{"old", "new"} {
		s := set(image)
		s.Status.CurrentRevision = c.revisions[0]
		if _, err := c.UpdateStatefulSet(context.Background(), s, nil, time.Now()); err != nil {
			return nil, err
		}
		c.revisions[i] = c.status.UpdateRevision
		c.revision[c.status.UpdateRevision] = fmt.Sprintf("r%d", i)
	}
	return c, nil
}

func set(image string) *apps.StatefulSet {
	labels := map[string]string{"app": name}
	replicas, limit := int32(1), int32(10)
	return &apps.StatefulSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "1"},
		Spec: apps.StatefulSetSpec{
			Replicas: &replicas, RevisionHistoryLimit: &limit, ServiceName: name, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: v1.PodSpec{Containers: []v1.Container{{Name: "app", Image: image}}}},
		},
	}
}

// strategies are those of an update, by what the lines call them.
var strategies = []struct {
	name string
	gate bool // maxUnavailable is heeded
	apps.StatefulSetUpdateStrategy
}{
	{"partition-0", false, rolling(&apps.RollingUpdateStatefulSetStrategy{Partition: number(0)})},
	{"partition-2", false, rolling(&apps.RollingUpdateStatefulSetStrategy{Partition: number(2)})},
	{"OnDelete", false, apps.StatefulSetUpdateStrategy{Type: apps.OnDeleteStatefulSetStrategyType}},
	{"type-alone", false, rolling(nil)},
	{"maxUnavailable-2", true, rolling(&apps.RollingUpdateStatefulSetStrategy{Partition: number(0), MaxUnavailable: two()})},
}

func rolling(u *apps.RollingUpdateStatefulSetStrategy) apps.StatefulSetUpdateStrategy {
	return apps.StatefulSetUpdateStrategy{Type: apps.RollingUpdateStatefulSetStrategyType, RollingUpdate: u}
}

func number(n int32) *int32 { return &n }

func two() *intstr.IntOrString {
	v := intstr.FromInt32(2)
	return &v
}

// print writes a line for each strategy, policy, size and state of the pods.
func (c *controller) print(out *bufio.Writer) error {
	for _, strategy := range strategies {
		if err := utilfeature.DefaultMutableFeatureGate.Set(fmt.Sprintf("MaxUnavailableStatefulSet=%t", strategy.gate)); err != nil {
			return err
		}
		for _, policy := range []apps.PodManagementPolicyType{apps.OrderedReadyPodManagement, apps.ParallelPodManagement} {
			for _, size := range []int32{2, 3} {
				s := set("new")
				s.Spec.Replicas, s.Spec.PodManagementPolicy, s.Spec.UpdateStrategy = &size, policy, strategy.StatefulSetUpdateStrategy
				s.Status.CurrentRevision, s.Status.CurrentReplicas = c.revisions[0], 1
				if err := c.printStates(out, s, fmt.Sprintf("%s %s %d", strategy.name, policy, size)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// printStates goes through all states, that of ordinal 0 changing first.
func (c *controller) printStates(out *bufio.Writer, s *apps.StatefulSet, head string) error {
	all := 1
	for range ordinals {
		all *= len(states)
	}
	for n := range all {
		var words []string
		var pods []*v1.Pod
		for i, rest := 0, n; i < ordinals; i, rest = i+1, rest/len(states) {
			state := states[rest%len(states)]
			words = append(words, state)
			if state != "-" {
				pods = append(pods, c.pod(s, i, state))
			}
		}
		c.deeds = nil
		status, err := c.UpdateStatefulSet(context.Background(), s, pods, time.Now())
		if err != nil {
			return err
		}
		slices.Sort(c.deeds)
		if _, err := fmt.Fprintf(out, "%s [%s]: %s | %d %d %d %d %s %d\n", head, strings.Join(words, " "), strings.Join(c.deeds, ", "), status.Replicas,
			status.ReadyReplicas, status.AvailableReplicas, status.CurrentReplicas, c.revision[status.CurrentRevision], status.UpdatedReplicas); err != nil {
			return err
		}
	}
	return nil
}

// pod is one in a state.
func (c *controller) pod(s *apps.StatefulSet, number int, state string) *v1.Pod {
	own := fmt.Sprintf("%s-%d", name, number)
	revision, ready := c.revisions[0], v1.ConditionTrue
	if strings.HasPrefix(state, "n") {
		revision = c.revisions[1]
	}
	p := &v1.Pod{Spec: *s.Spec.Template.Spec.DeepCopy(), Status: v1.PodStatus{Phase: v1.PodRunning}, ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: own, Labels: map[string]string{
		"app": name, apps.StatefulSetRevisionLabel: revision, apps.StatefulSetPodNameLabel: own, apps.PodIndexLabel: fmt.Sprint(number),
	}}}
	switch state[1:] {
	case "!":
		ready = v1.ConditionFalse
	case "x":
		now := metav1.Now()
		p.DeletionTimestamp = &now
	case "f":
		p.Status.Phase, ready = v1.PodFailed, v1.ConditionFalse
	}
	p.Status.Conditions = []v1.PodCondition{{Type: v1.PodReady, Status: ready, LastTransitionTime: metav1.NewTime(time.Now().Add(-time.Hour))}}
	return p
}
