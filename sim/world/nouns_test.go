package world

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestTheGroupOfAPriority(t *testing.T) {
	t.Parallel()
	groups := []ShutdownGroup{{Priority: 0}, {Priority: 100}, {Priority: 1000}}
	for priority, want := range map[int32]int{-5: 0, 0: 0, 99: 0, 100: 1, 999: 1, 1000: 2, 5000: 2} {
		if got := GroupOf(groups, priority); got != want {
			t.Errorf("priority %d is in group %d, want %d", priority, got, want)
		}
	}
}

func TestANodeWhoseKubeletIsSilent(t *testing.T) {
	t.Parallel()
	conditions := func(typ corev1.NodeConditionType, status corev1.ConditionStatus) *corev1.Node {
		return &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: typ, Status: status}}}}
	}
	for name, c := range map[string]struct {
		object *corev1.Node
		want   bool
	}{
		"nothing is known of it":    {nil, false},
		"ready":                     {conditions(corev1.NodeReady, corev1.ConditionTrue), false},
		"not ready":                 {conditions(corev1.NodeReady, corev1.ConditionFalse), false},
		"unknown whether ready":     {conditions(corev1.NodeReady, corev1.ConditionUnknown), true},
		"unknown whether its disk":  {conditions(corev1.NodeDiskPressure, corev1.ConditionUnknown), false},
		"with the taint of that":    {&corev1.Node{Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: corev1.TaintNodeUnreachable}}}}, true},
		"with another node's taint": {&corev1.Node{Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: corev1.TaintNodeNotReady}}}}, false},
	} {
		if got := (&Node{Object: c.object}).Silent(); got != c.want {
			t.Errorf("%s: silent %v", name, got)
		}
	}
}

func TestHowManyNodesMayGo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		budget      NodeBudget
		nodes, want int
	}{
		{NodeBudget{Number: 3}, 1000, 3},
		{NodeBudget{Number: 10, PerCent: true}, 1, 1}, {NodeBudget{Number: 10, PerCent: true}, 10, 1}, {NodeBudget{Number: 10, PerCent: true}, 11, 2},
		{NodeBudget{Number: 50, PerCent: true}, 1000, 500}, {NodeBudget{Number: 100, PerCent: true}, 7, 7}, {NodeBudget{PerCent: true}, 7, 0},
	} {
		if got := c.budget.Of(c.nodes); got != c.want {
			t.Errorf("%+v of %d nodes: %d, want %d", c.budget, c.nodes, got, c.want)
		}
	}
}

func TestHooksThatFailAtOnce(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]bool{"missing": true, "tcpSocket": true, "sleep": false, "": false} {
		if (&Hook{Kind: kind}).FailsAtOnce() != want {
			t.Errorf("%q: fails at once %v", kind, !want)
		}
	}
}

// What belongs to the first lines of a report is listed by its name.
func TestWhatIsForemost(t *testing.T) {
	t.Parallel()
	for _, id := range []string{
		StandIn, Headless, UnreadRoute, Weight, LastPod, OtherProxy, Refused, LongUDP, Needed, Dropped, Undeclared, LongLived, ByNodePort, Drift, OnePod, Promotion,
	} {
		if !Foremost(id) {
			t.Errorf("%s is not", id)
		}
	}
	for _, id := range []string{InsideClients, NoDrain, DrainFlags, Unfollowed, ""} {
		if Foremost(id) {
			t.Errorf("%q is", id)
		}
	}
}

// Each kind of Resource gets what the API server fills in.
func TestDefaultsOfEachResource(t *testing.T) {
	t.Parallel()
	deployment, set, daemons, replicas := &appsv1.Deployment{}, &appsv1.StatefulSet{}, &appsv1.DaemonSet{}, &appsv1.ReplicaSet{}
	for _, r := range []Resource{deployment, set, daemons, replicas} {
		Default(r)
	}
	if deployment.Spec.Replicas == nil || set.Spec.Replicas == nil || set.Spec.PodManagementPolicy == "" || daemons.Spec.UpdateStrategy.RollingUpdate == nil || replicas.Spec.Replicas == nil {
		t.Errorf("%+v\n%+v\n%+v\n%+v", deployment.Spec, set.Spec, daemons.Spec, replicas.Spec)
	}
}

// Who adopts a Pod: its labels and its namespace are those of the selector, a ReplicaSet wants its hash, and a StatefulSet its name.
func TestWhoAdoptsAPod(t *testing.T) {
	t.Parallel()
	pod := func(namespace, name string, labels map[string]string) *BarePod {
		return NewBarePod(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels}})
	}
	labels := map[string]string{"app": "web"}
	hashed := map[string]string{"app": "web", appsv1.DefaultDeploymentUniqueLabelKey: "abc"}
	selector, meta := &metav1.LabelSelector{MatchLabels: labels}, metav1.ObjectMeta{Name: "web", Namespace: "shop"}
	deployment := &appsv1.Deployment{TypeMeta: metav1.TypeMeta{Kind: Deployment}, ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Selector: selector}}
	set := &appsv1.StatefulSet{TypeMeta: metav1.TypeMeta{Kind: StatefulSet}, ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Selector: selector}}
	daemons := &appsv1.DaemonSet{TypeMeta: metav1.TypeMeta{Kind: DaemonSet}, ObjectMeta: meta, Spec: appsv1.DaemonSetSpec{Selector: selector}}
	for _, c := range []struct {
		name     string
		resource Resource
		pod      *BarePod
		want     bool
	}{
		{"a DaemonSet's labels", daemons, pod("shop", "x", labels), true},
		{"in another namespace", daemons, pod("other", "x", labels), false},
		{"other labels", daemons, pod("shop", "x", map[string]string{"app": "api"}), false},
		{"a Deployment's without a hash", deployment, pod("shop", "x", labels), false},
		{"a Deployment's with one", deployment, pod("shop", "x", hashed), true},
		{"a StatefulSet's", set, pod("shop", "web-0", labels), true},
		{"a number alone", set, pod("shop", "0", labels), false},
		{"no number", set, pod("shop", "web-x", labels), false},
		{"another name", set, pod("shop", "api-0", labels), false},
	} {
		if got := Adopts(c.resource, c.pod); got != c.want {
			t.Errorf("%s: adopts %v", c.name, got)
		}
	}
	if Adopts(&appsv1.DaemonSet{ObjectMeta: meta}, pod("shop", "x", labels)) {
		t.Error("without a selector")
	}
}

// What an action does with a Service's ports says whether one comes to lead elsewhere: its own number is nobody's way to a pod.
func TestWhichActionsRepoint(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		of   []Operation
		want bool
	}{
		"nothing is done":         {nil, false},
		"another action":          {[]Operation{DeleteService{Service: "shop/web"}}, false},
		"another number":          {[]Operation{SetPort{Service: "shop/web", Port: 80, To: 81}}, false},
		"another port":            {[]Operation{SetPort{Service: "shop/web", Port: 80, Target: 8081}}, true},
		"a port by its name":      {[]Operation{SetPort{Service: "shop/web", Port: 80, TargetName: "http"}}, true},
		"one of several actions":  {[]Operation{DeleteService{}, SetPort{Port: 80, To: 81}, SetPort{Port: 81, Target: 8081}}, true},
		"numbers in both of them": {[]Operation{SetPort{Port: 80, To: 81, Target: 8081}}, true},
	} {
		var s Scenario
		for _, o := range c.of {
			s.Actions = append(s.Actions, Action{Operation: o})
		}
		if got := s.Repoints(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
