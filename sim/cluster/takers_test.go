package cluster

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// taken has somebody take nodes away 10 s after the beginning.
func (b build) taken(o world.Operation) build {
	b.Actions = []world.Action{{At: 10 * sec, Operation: o}}
	if _, ok := o.(world.ScaleDownNode); ok {
		b.Actions[0].For = 5 * sec
	}
	b.Muster()
	return b
}

// takes starts the world and has its actions done; what becomes of nodes is noted beside the pods.
func (b build) takes(t *testing.T) *testWorld {
	t.Helper()
	w := b.acts(t)
	w.store.Subscribe("test nodes", w.eng.Register("test"), engine.Dist{}, func(o api.Object) {
		n := as[*api.Node](o)
		var is []string
		for _, s := range []struct {
			word string
			so   bool
		}{
			{"joined", n.Joined}, {"cordoned", n.Cordoned}, {"tainted", n.Tainted}, {"disrupted", n.Disrupted}, {"excluded", n.Excluded}, {"gone", n.Gone},
		} {
			if s.so {
				is = append(is, s.word)
			}
		}
		w.note("node: %s %s", b.Nodes[n.Number].Name, strings.Join(is, " "))
	}, api.KindNode)
	w.log.Subscribe(func(e event.Event) {
		if e.Kind == event.NodeGone {
			w.note("node: %s machine ends", b.Nodes[e.Node].Name)
		}
	}, event.NodeGone)
	return w
}

// Cluster Autoscaler taints and cordons the node, waits 5 s, has all pods evicted at the same time, looks each 5 s whether they are gone, and
// ends the machine. Reference: docs/model/controllers.md 8.
func TestClusterAutoscalerWithPods(t *testing.T) {
	t.Parallel()
	w := newBuild(4).nodes(2).hook("app", sleepHook(7*sec)).taken(world.ScaleDownNode{Node: "node-1"}).takes(t)
	w.run(100 * sec)
	w.want("node|gone|deleting=true",
		"10 kubectl: node-1 cordoned=true", "10 node: node-1 cordoned tainted",
		"15 r0 0 running ready=true deleting=true restarts=0", "15 r0 2 running ready=true deleting=true restarts=0",
		"22.433951 r0 0 gone", "22.433951 r0 2 gone",
		"25 kubectl: node-1 drained=true ", "25 node: node-1 machine ends", "25 node: node-1 cordoned tainted gone")
	if w.CannotEnd() != nil || w.Unrest() != "" || !w.Dead(0) || len(w.PodsOn(1)) != 4 {
		t.Errorf("%+v, %q, %d pods", w.CannotEnd(), w.Unrest(), len(w.PodsOn(1)))
	}
}

// The machine stays until for is over, and no longer than its pods need.
func TestForOfAScaleDown(t *testing.T) {
	t.Parallel()
	for span, ends := range map[engine.Time]engine.Time{5 * sec: 20 * sec, 60 * sec: 70 * sec} {
		b := newBuild(2).nodes(2).taken(world.ScaleDownNode{Node: "node-1"})
		b.Actions[0].For = span
		w := b.takes(t)
		w.run(100 * sec)
		if got := w.when("node-1 machine ends"); got != ends {
			t.Errorf("for %s: %s s", span.Duration(), got.Seconds())
		}
	}
}

// A machine runs on for a while after the cloud was told to end it, and is a node as before meanwhile, with pods or without.
// Reference: docs/model/controllers.md 8 Stopping.
func TestAMachineRunsOnAfterTheCall(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pods int
		call engine.Time // the cloud is told to end it
	}{"emptied": {2, 20 * sec}, "empty": {0, 15 * sec}} {
		b := newBuild(c.pods).nodes(2)
		b.MachineStop = 30 * sec
		w := b.taken(world.ScaleDownNode{Node: "node-1"}).takes(t)
		w.run(c.call + 29*sec)
		if w.Dead(0) || w.NodeInAPI(0).Gone || w.Unrest() == "" {
			t.Errorf("%s: dead %v, gone %v, %q", name, w.Dead(0), w.NodeInAPI(0).Gone, w.Unrest())
		}
		w.run(100 * sec)
		if got := w.when("node-1 machine ends"); got != c.call+30*sec || !w.NodeInAPI(0).Gone || w.Unrest() != "" {
			t.Errorf("%s: it ends at %s s, gone %v, %q", name, got.Seconds(), w.NodeInAPI(0).Gone, w.Unrest())
		}
	}
}

// An eviction that is refused is asked for again each 10 s for 2 minutes. Then the autoscaler gives up, and the node is one as before.
// Reference: docs/model/controllers.md 8 Eviction.
func TestClusterAutoscalerGivesUp(t *testing.T) {
	t.Parallel()
	b := newBuild(4).nodes(2).budget("maxUnavailable 1").app(neverListens).taken(world.ScaleDownNode{Node: "node-1"})
	b.container().ReadinessProbe = probe(0, 1, 1, 1)
	w := b.takes(t)
	w.run(30 * sec)
	if s := w.Unrest(); w.CannotEnd() != nil || s == "" {
		t.Errorf("%+v, %q", w.CannotEnd(), s)
	}
	if a := w.ProbeProxy(0); a.OK {
		t.Error("its /healthz says 200 while it is tainted")
	}
	w.run(200 * sec)
	refused := strings.Count(strings.Join(w.lines, "\n"), "refused: PodDisruptionBudget")
	if refused != 12 { // at 15 s, and each 10 s up to 125 s
		t.Errorf("refused %d times", refused)
	}
	w.want("node:|node-1",
		"10 kubectl: node-1 cordoned=true", "10 node: node-1 cordoned tainted",
		"135.538345 kubectl: node-1 drained=false pod 2 of default/web: its eviction was refused for 2 min: PodDisruptionBudget web (maxUnavailable 1) allows no eviction: 3 of 4 pods are ready, and 3 have to be",
		"135.538345 kubectl: node-1 cordoned=false", "135.538345 node: node-1 ")
	got := w.CannotEnd()
	if got == nil || !got.Drain || got.Budget != &w.sc.Budgets[0] || !strings.HasPrefix(got.Why, "Cluster Autoscaler gives up on node-1: pod 2 of default/web: its eviction was refused for 2 min") {
		t.Errorf("%+v", got)
	}
	if a := w.ProbeProxy(0); !a.OK || w.Dead(0) {
		t.Errorf("%+v", a)
	}
}

// A grace period of more than 600 s becomes 600 s; pods that are there 30 s later end it. Reference: docs/model/controllers.md 8 Grace.
func TestGraceOfClusterAutoscaler(t *testing.T) {
	t.Parallel()
	for grace, ends := range map[int64]engine.Time{3: 20 * sec, 599: 615 * sec, 3600: 620 * sec} {
		w := newBuild(2).nodes(2).grace(grace).app(ignores).taken(world.ScaleDownNode{Node: "node-1"}).takes(t)
		w.run(1000 * sec)
		if got := w.when("node-1 machine ends"); got != ends {
			t.Errorf("%d s: ends at %s s, want %s s", grace, got.Seconds(), ends.Seconds())
		}
	}
	w := newBuild(2).nodes(2).grace(3600).app(ignores).taken(world.ScaleDownNode{Node: "node-1"}).takes(t)
	w.do(11*sec, "component", "kubelet/node-1", world.ComponentPause)
	w.run(1000 * sec)
	w.want("drained", "645 kubectl: node-1 drained=false pod 0 of default/web: not gone after 630 s")
}

// What keeps a node: nothing is done to it. Reference: docs/model/controllers.md 8 Kept.
func TestNodesThatStay(t *testing.T) {
	t.Parallel()
	annotated := func(text string) func(build) build {
		key, value, _ := strings.Cut(text, "=")
		return func(b build) build {
			b.d.Spec.Template.Annotations = map[string]string{key: value}
			return b
		}
	}
	volume := func(v corev1.VolumeSource) func(build) build {
		return func(b build) build {
			b.d.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: v}}
			return b
		}
	}
	both := func(edits ...func(build) build) func(build) build {
		return func(b build) build {
			for _, e := range edits {
				b = e(b)
			}
			return b
		}
	}
	emptyDir := volume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})
	budget := func(words string) func(build) build { return func(b build) build { return b.budget(words) } }
	safe := annotated("cluster-autoscaler.kubernetes.io/safe-to-evict=true")
	autoscaler, karpenter := world.ScaleDownNode{Node: "node-1"}, world.Consolidate{Nodes: []string{"node-1"}, Budget: world.NodeBudget{Number: 1}}
	for name, c := range map[string]struct {
		o    world.Operation
		edit func(build) build
		why  string // "": it goes
		what string
	}{
		"the annotation":               {autoscaler, annotated("cluster-autoscaler.kubernetes.io/safe-to-evict=false"), "pod 0 of default/web: annotation cluster-autoscaler", "no such annotation"},
		"that of Karpenter":            {autoscaler, annotated("karpenter.sh/do-not-disrupt=true"), "", ""},
		"an emptyDir":                  {autoscaler, emptyDir, "its volume data is local storage", `annotation cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes: "data" in spec.template.metadata`},
		"a hostPath":                   {autoscaler, volume(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{}}), "its volume data is local storage", `annotation cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes: "data" in spec.template.metadata`},
		"an emptyDir in memory":        {autoscaler, volume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}}), "", ""},
		"a volume that may be lost":    {autoscaler, both(emptyDir, annotated("cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes=cache,data")), "", ""},
		"a pod that may be lost":       {autoscaler, both(emptyDir, safe), "", ""},
		"a budget":                     {autoscaler, budget("minAvailable 2"), "PodDisruptionBudget web (minAvailable 2) allows no eviction", "maxUnavailable 1 in place of minAvailable 2, or one replica more"},
		"a budget that lets one go":    {autoscaler, budget("maxUnavailable 1"), "", ""},
		"a bare Pod":                   {autoscaler, bare, "no controller keeps it", `a Deployment for it, or annotation cluster-autoscaler.kubernetes.io/safe-to-evict: "true"`},
		"a bare Pod that may go":       {autoscaler, both(safe, bare), "", ""},
		"Karpenter: a bare Pod":        {karpenter, bare, "", ""},
		"kube-system":                  {autoscaler, inSystem, "it is in kube-system, and no PodDisruptionBudget covers it", "a PodDisruptionBudget for it, or --skip-nodes-with-system-pods=false"},
		"Karpenter: the annotation":    {karpenter, annotated("karpenter.sh/do-not-disrupt=true"), "annotation karpenter.sh/do-not-disrupt is true", "no such annotation"},
		"Karpenter: the autoscaler's":  {karpenter, annotated("cluster-autoscaler.kubernetes.io/safe-to-evict=false"), "", ""},
		"Karpenter: an emptyDir":       {karpenter, emptyDir, "", ""},
		"Karpenter: a budget":          {karpenter, budget("maxUnavailable 0"), "PodDisruptionBudget web (maxUnavailable 0) allows no eviction", "maxUnavailable 1 in place of maxUnavailable 0"},
		"Karpenter: budget of no node": {world.Consolidate{Nodes: []string{"node-1"}}, both(), "", ""},
	} {
		w := c.edit(newBuild(2).nodes(2)).taken(c.o).takes(t)
		w.run(100 * sec)
		got := w.CannotEnd()
		stays := c.why != "" || name == "Karpenter: budget of no node"
		if w.Dead(0) == stays || (got == nil) != (c.why == "") {
			t.Errorf("%s: gone %v, %+v", name, w.Dead(0), got)
			continue
		}
		if got != nil && got.Path != "" && got.Budget == nil && !strings.HasPrefix(got.Path, "spec.template.") {
			t.Errorf("%s: %s", name, got.Path)
		}
		if got != nil && (!got.Drain || !strings.Contains(got.Why, " keeps node-1: pod 0 of default/web: ") && !strings.Contains(got.Why, " keeps node-1: default/web: ") &&
			!strings.Contains(got.Why, "kube-system") || !strings.Contains(got.Why, c.why) || got.What != c.what) {
			t.Errorf("%s: %+v", name, got)
		}
		if stays && w.NodeInAPI(0).Cordoned {
			t.Errorf("%s: it is cordoned", name)
		}
	}
}

// bare is one Pod that no controller keeps, made as those of the Deployment.
// Cluster Autoscaler and Karpenter schedule the pods of a node in thought before they touch it: it stays while one of them fits on no
// other node, and on none that joins. Reference: docs/model/controllers.md 8 Place.
func TestANodeWhosePodsFitNowhereElseStays(t *testing.T) {
	t.Parallel()
	apart := func(b build) build {
		b.d.Spec.Template.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{TopologyKey: corev1.LabelHostname, LabelSelector: b.d.Spec.Selector},
		}}}
		return b
	}
	even := func(b build) build {
		b.d.Spec.Template.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{
			{MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: b.d.Spec.Selector},
		}
		return b
	}
	plain := func(b build) build { return b }
	autoscaler, one := world.ScaleDownNode{Node: "node-1"}, world.NodeBudget{Number: 1}
	karpenter := world.Consolidate{Nodes: []string{"node-1"}, Budget: one}
	replaced := world.Consolidate{Nodes: []string{"node-1"}, Replacements: 1, Provision: 10 * sec, Budget: one}
	two := world.Consolidate{Nodes: []string{"node-1", "node-2"}, Replacements: 1, Provision: 10 * sec, Budget: world.NodeBudget{Number: 2}}
	for name, c := range map[string]struct {
		pods, nodes int
		edit        func(build) build
		o           world.Operation
		why, what   string // "": it goes
	}{
		"a node for each":            {3, 3, apart, autoscaler, "Cluster Autoscaler keeps node-1: pod 0 of default/web fits on no other node (NoPlaceToMovePods): 0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules", "one node more"},
		"one node more":              {3, 4, apart, autoscaler, "", ""},
		"the only node":              {1, 1, plain, autoscaler, "Cluster Autoscaler keeps node-1: pod 0 of default/web fits on no other node (NoPlaceToMovePods): there is no other node", "one node more"},
		"a node that stays a domain": {2, 2, even, autoscaler, "Cluster Autoscaler keeps node-1: pod 0 of default/web fits on no other node (NoPlaceToMovePods): 0/2 nodes are available: 1 node(s) didn't match pod topology spread constraints, 1 node(s) had untolerated taint(s)", "nodeTaintsPolicy Honor, with which nodes that are cordoned or tainted are no domains, or whenUnsatisfiable ScheduleAnyway"},
		"Karpenter":                  {3, 3, apart, karpenter, "Karpenter keeps node-1: pod 0 of default/web fits on no other node: 0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules", "one node more"},
		"Karpenter has one join":     {3, 3, apart, replaced, "", ""},
		"Karpenter: one for two":     {3, 3, apart, two, "Karpenter keeps node-2: pod 1 of default/web fits on no other node: 0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules", "one node more"},
	} {
		w := c.edit(newBuild(c.pods).nodes(c.nodes)).taken(c.o).takes(t)
		w.run(100 * sec)
		got := w.CannotEnd()
		if w.Dead(0) != (c.why == "") || (got == nil) != (c.why == "") {
			t.Errorf("%s: gone %v, %+v", name, w.Dead(0), got)
			continue
		}
		if got != nil && (!got.Drain || got.Why != c.why || got.What != c.what || w.NodeInAPI(0).Cordoned || w.NodeInAPI(0).Disrupted) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func bare(b build) build {
	t := b.d.Spec.Template
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", Labels: t.Labels, Annotations: t.Annotations}, Spec: t.Spec}
	b.Workloads[0].Resource = world.NewBarePod(pod)
	return b
}

// inSystem has the pods be of kube-system.
func inSystem(b build) build {
	b.d.Namespace, b.svc.Namespace = "kube-system", "kube-system"
	return b
}

// Karpenter taints all nodes of one go, waits for those that join in their place, deletes them, which has load balancers leave them, and has
// their pods evicted at the same time. Two seconds after the last pod the machine ends. Reference: docs/model/controllers.md 8.1.
func TestKarpenterReplacesTwoNodes(t *testing.T) {
	t.Parallel()
	two := func(n int, perCent bool) world.Consolidate {
		return world.Consolidate{Nodes: []string{"node-1", "node-2"}, Replacements: 1, Provision: 30 * sec, Budget: world.NodeBudget{Number: n, PerCent: perCent}}
	}
	w := newBuild(3).nodes(3).hook("app", sleepHook(1500*ms)).taken(two(2, false)).takes(t)
	w.run(30 * sec)
	if s := w.Unrest(); s != "Karpenter waits for a node that joins" || w.CannotEnd() != nil {
		t.Errorf("%q, %+v", s, w.CannotEnd())
	}
	w.run(100 * sec)
	w.want("node:|deleting=true",
		"10 node: node-1 disrupted", "10 node: node-2 disrupted", "40 node: replacement-1 joined",
		"40 r0 0 running ready=true deleting=true restarts=0", "40 node: node-1 tainted disrupted excluded",
		"40 r0 1 running ready=true deleting=true restarts=0", "40 node: node-2 tainted disrupted excluded",
		"44 node: node-2 machine ends", "44 node: node-2 tainted disrupted excluded gone", // r0 1 was gone after 2 s, r0 0 after 2.1 s
		"45 node: node-1 machine ends", "45 node: node-1 tainted disrupted excluded gone")
	if n := len(w.PodsOn(3)) + len(w.PodsOn(2)); n != 3 || len(w.PodsOn(3)) == 0 || w.CannotEnd() != nil || w.Unrest() != "" {
		t.Errorf("%d pods on the new node, %+v, %q", n, w.CannotEnd(), w.Unrest())
	}
	for _, budget := range []world.Consolidate{two(1, false), two(10, true)} {
		w := newBuild(3).nodes(3).hook("app", sleepHook(1500*ms)).taken(budget).takes(t)
		w.run(100 * sec)
		w.want("machine ends", "45 node: node-1 machine ends", "49 node: node-2 machine ends")
	}
}

// A refused eviction is asked for again after 100 ms, 200 ms and so on up to 10 s; with a terminationGracePeriod the pod is deleted in time to have
// its own grace period. A pod that tolerates Karpenter's taint stays until the machine goes. Reference: docs/model/controllers.md 8.1.
func TestKarpenterUnderABudget(t *testing.T) {
	t.Parallel()
	of := func(grace engine.Time) build {
		b := newBuild(4).nodes(2).grace(20).budget("maxUnavailable 1").app(neverListens).
			taken(world.Consolidate{Nodes: []string{"node-1"}, Budget: world.NodeBudget{Number: 1}, Grace: grace})
		b.container().ReadinessProbe = probe(0, 1, 1, 1)
		return b
	}
	w := of(0).takes(t)
	w.run(40 * sec)
	var steps []string
	for _, l := range w.lines {
		if stamp, rest, _ := strings.Cut(l, " "); strings.Contains(rest, "refused") {
			steps = append(steps, stamp)
		}
	}
	if got := strings.Join(steps, " "); got != "10.538345 10.638345 10.838345 11.238345 12.038345 13.638345 16.838345 23.238345 33.238345" {
		t.Errorf("refused at %s", got)
	}
	if w.CannotEnd() != nil { // the new pod may be ready yet
		t.Errorf("%+v", w.CannotEnd())
	}
	w = of(100 * sec).takes(t)
	w.run(200 * sec)
	if over := w.Overruled(); len(over) != 1 || !over[0].Left || over[0].Limit != 100*sec {
		t.Errorf("overruled %+v", over)
	}
	w.want("r0 2 running ready=true deleting=true|machine ends", "91 r0 2 running ready=true deleting=true restarts=0", "94 node: node-1 machine ends")
	b := of(0)
	b.d.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: "karpenter.sh/disrupted", Operator: corev1.TolerationOpExists}}
	w = b.takes(t)
	w.run(300 * sec)
	w.want("deleting=true|drained|machine ends", "10 kubectl: node-1 drained=true ", "12 node: node-1 machine ends")
	if len(w.PodsOn(0)) != 0 || len(w.livePods) != 4 { // the garbage collector has taken them
		t.Errorf("%d pods on the node that is gone, %d in all", len(w.PodsOn(0)), len(w.livePods))
	}
}

// Karpenter evicts pods in four turns, and begins with the next when all of the one before are being deleted, which it looks at each second:
// those of DaemonSets come second, and what is critical by the name of its priority class after that. Reference: docs/model/controllers.md 8.1
// Turns.
func TestTurnsOfKarpenter(t *testing.T) {
	t.Parallel()
	b := newBuild(1).nodes(1)
	b.Workloads = nil
	for _, x := range []struct {
		name, class string
		daemon      bool
	}{{"critical-agent", "system-node-critical", true}, {"dns", "system-cluster-critical", false}, {"agent", "", true}, {"api", "", false}} {
		of := newBuild(1).hook("app", sleepHook(10*sec))
		of.d.Name, of.d.Spec.Template.Labels = x.name, map[string]string{"app": x.name}
		of.d.Spec.Selector.MatchLabels, of.d.Spec.Template.Spec.PriorityClassName = of.d.Spec.Template.Labels, x.class
		w := of.Workloads[0]
		if w.Resource = of.d; x.daemon {
			w.Resource = daemonSet(of.d, "0", "1")
		}
		b.Workloads = append(b.Workloads, w)
	}
	w := b.taken(world.Consolidate{Nodes: []string{"node-1"}, Replacements: 1, Provision: 10 * sec, Budget: world.NodeBudget{Number: 1}}).takes(t)
	var got []string
	w.hears(func(e event.Event) { got = append(got, e.At.Seconds()+" "+w.PodName(e.Pod)) }, event.Deleted)
	w.run(100 * sec)
	if want := "20 default/api r0 0, 21 default/agent on node-1 r0, 22 default/dns r0 0, 23 default/critical-agent on node-1 r0"; strings.Join(got, ", ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, ", "), want)
	}
}

// A node that has drifted goes whatever its pods and their budgets say, where its time is limited; consolidation heeds both. A pod that says
// do-not-disrupt is not evicted meanwhile: it is deleted at the end of that time. Reference: docs/model/controllers.md 8.1 Drift.
func TestANodeThatHasDrifted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		budget, annotation string
		drifted            bool
		grace              engine.Time
		want               string // when the first pod is deleted, "" for never
	}{
		"a budget, consolidation":        {"maxUnavailable 0", "", false, 100 * sec, ""},
		"a budget, drift":                {"maxUnavailable 0", "", true, 100 * sec, "91"},
		"a budget, drift without end":    {"maxUnavailable 0", "", true, 0, ""},
		"do-not-disrupt, consolidation":  {"", "true", false, 100 * sec, ""},
		"do-not-disrupt, drift":          {"", "true", true, 100 * sec, "91"},
		"do-not-disrupt without an end":  {"", "true", true, 0, ""},
		"do-not-disrupt: false, drift":   {"", "false", true, 100 * sec, "10"},
		"nothing that keeps it, drifted": {"", "", true, 0, "10"},
	} {
		b := newBuild(2).nodes(2).grace(20)
		if c.budget != "" {
			b = b.budget(c.budget)
		}
		b.d.Spec.Template.Annotations = map[string]string{"karpenter.sh/do-not-disrupt": c.annotation}
		w := b.taken(world.Consolidate{Nodes: []string{"node-1"}, Budget: world.NodeBudget{Number: 1}, Grace: c.grace, Drifted: c.drifted}).takes(t)
		first := ""
		w.hears(func(e event.Event) {
			if first == "" {
				first = e.At.Seconds()
			}
		}, event.Deleted)
		w.run(300 * sec)
		if n := w.NodeInAPI(0); first != c.want || w.Dead(0) != (c.want != "") || n.Disrupted != (c.want != "") {
			t.Errorf("%s: deleted at %q, dead %v, %+v", name, first, w.Dead(0), n)
		}
	}
}

// joining are two pods on two nodes that a provider replaces.
func joining(o world.UpgradePool) build {
	o.Provision = 20 * sec
	return newBuild(2).nodes(2).hook("app", sleepHook(1500*ms)).taken(o)
}

// Each node of a managed pool is replaced: by a new one before it is emptied, or after. EKS marks all of them first, and ends a machine a minute
// after its last pod. Reference: docs/model/controllers.md 8.2.
func TestUpgradesOfManagedPools(t *testing.T) {
	t.Parallel()
	pool := func(provider string, surge, unavailable int) world.UpgradePool {
		return world.UpgradePool{Provider: provider, Surge: surge, Unavailable: unavailable}
	}
	for name, c := range map[string]struct {
		o    world.UpgradePool
		want string
	}{
		"GKE, one more": {pool(world.PoolGKE, world.AllOfThem, world.AllOfThem), `
			30 node-1-new joined; 30 node-1 cordoned; 33 node-1 machine ends; 33 node-1 cordoned gone;
			53 node-2-new joined; 53 node-2 cordoned; 55 node-2 machine ends; 55 node-2 cordoned gone`},
		"GKE, one fewer": {pool(world.PoolGKE, 0, 1), `
			10 node-1 cordoned; 13 node-1 machine ends; 13 node-1 cordoned gone; 33 node-1-new joined;
			33 node-2 cordoned; 35 node-2 machine ends; 35 node-2 cordoned gone; 55 node-2-new joined`},
		"GKE, two more": {pool(world.PoolGKE, 2, 0), `
			30 node-1-new joined; 30 node-2-new joined; 30 node-1 cordoned; 30 node-2 cordoned;
			32 node-2 machine ends; 32 node-2 cordoned gone; 33 node-1 machine ends; 33 node-1 cordoned gone`},
		"AKS": {pool(world.PoolAKS, world.AllOfThem, world.AllOfThem), `
			30 node-1-new joined; 30 node-1 cordoned; 33 node-1 machine ends; 33 node-1 cordoned gone;
			53 node-2-new joined; 53 node-2 cordoned; 55 node-2 machine ends; 55 node-2 cordoned gone`},
		"EKS": {pool(world.PoolEKS, world.AllOfThem, world.AllOfThem), `
			30 node-1-new joined; 30 node-2-new joined; 30 node-1 cordoned excluded; 30 node-2 cordoned excluded;
			93 node-1 machine ends; 93 node-1 cordoned excluded gone; 155 node-2 machine ends; 155 node-2 cordoned excluded gone`},
	} {
		w := joining(c.o).takes(t)
		w.run(300 * sec)
		var got []string
		for _, l := range w.lines {
			if stamp, what, ok := strings.Cut(l, " node: "); ok {
				got = append(got, stamp+" "+what)
			}
		}
		if g, want := strings.Join(got, "; "), strings.Join(strings.Fields(c.want), " "); g != want {
			t.Errorf("%s:\n%s\n%s", name, g, want)
		}
		if w.CannotEnd() != nil || w.Unrest() != "" {
			t.Errorf("%s: %+v, %q", name, w.CannotEnd(), w.Unrest())
		}
	}
}

// What becomes of pods that have not left in time: GKE deletes them after an hour and goes on, EKS after 15 minutes if it is forced to, else the
// upgrade has failed and the node stays cordoned. AKS has it take pods again, or go on with the next one. Reference: docs/model/controllers.md 8.2.
func TestTheTimeOfAnUpgrade(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		o    world.UpgradePool
		ends engine.Time // of the first machine, 0: it does not
		why  string
	}{
		"GKE":              {world.UpgradePool{Provider: world.PoolGKE, Surge: 1}, 3631 * sec, ""},
		"EKS":              {world.UpgradePool{Provider: world.PoolEKS, Unavailable: 1}, 0, "EKS gives up on node-1: PodEvictionFailure: pod 0 of default/web: not gone after 15 min: PodDisruptionBudget web (minAvailable 2)"},
		"EKS, by force":    {world.UpgradePool{Provider: world.PoolEKS, Unavailable: 1, Force: true}, 991 * sec, ""},
		"AKS":              {world.UpgradePool{Provider: world.PoolAKS, Surge: 1}, 0, "AKS gives up on node-1: pod 0 of default/web: not gone after 30 min: PodDisruptionBudget"},
		"AKS, in 5 min":    {world.UpgradePool{Provider: world.PoolAKS, Surge: 1, Limit: 5 * engine.Minute}, 0, "AKS gives up on node-1: pod 0 of default/web: not gone after 5 min"},
		"AKS, quarantine":  {world.UpgradePool{Provider: world.PoolAKS, Surge: 1, Quarantine: true}, 0, "AKS gives up on node-1: pod 0 of default/web: not gone after 30 min"},
		"AKS, two at once": {world.UpgradePool{Provider: world.PoolAKS, Surge: 2}, 0, "AKS gives up on node-1"},
	} {
		b := joining(c.o).budget("minAvailable 2")
		w := b.takes(t)
		w.run(600 * sec)
		if got := w.CannotEnd(); got != nil && c.o.Limit == 0 {
			t.Errorf("%s: while it waits: %+v", name, got)
		}
		w.run(10_000 * sec)
		if c.ends > 0 {
			if got := w.when("node-1 machine ends"); got != c.ends {
				t.Errorf("%s: ends at %s s", name, got.Seconds())
			}
		}
		got := w.CannotEnd()
		if w.Dead(0) != (c.ends > 0) || (got == nil) != (c.why == "") || got != nil && !strings.HasPrefix(got.Why, c.why) {
			t.Errorf("%s: dead %v, %+v", name, w.Dead(0), got)
		}
		givenBack(t, name, w, c.o, c.why)
	}
}

// A pod that stops too slowly is told to stop sooner where that is said: by its preStop hook, if that alone takes as long, for no grace period may
// be shorter than a sleep; else by the grace period, of which the app uses all. Reference: docs/model/pod-lifecycle.md 2.2.
func TestWhatHasAPodBeGoneInTimeForAnUpgrade(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hook       engine.Time
		what, path string
	}{
		"a long hook":         {900 * sec, "a preStop hook of less than 900 s", "spec.template.spec.containers[0].lifecycle.preStop"},
		"an app that lingers": {60 * sec, "a terminationGracePeriodSeconds of less than 900", "spec.template.spec.terminationGracePeriodSeconds"},
	} {
		w := joining(world.UpgradePool{Provider: world.PoolEKS, Unavailable: 1}).grace(1200).hook("app", sleepHook(c.hook)).app(ignores).takes(t)
		w.run(2000 * sec)
		if got := w.CannotEnd(); got == nil || got.What != c.what || got.Path != c.path {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// givenBack holds what becomes of the nodes of an upgrade that has given up for a reason, or has gone over a budget without one.
func givenBack(t *testing.T, name string, w *testWorld, o world.UpgradePool, why string) {
	t.Helper()
	first, next := w.NodeInAPI(0), strings.Contains(strings.Join(w.lines, "\n"), "kubectl: node-2 cordoned=true")
	if why != "" && (w.NodeInAPI(1).Gone || o.Provider == world.PoolAKS && o.Surge == 1 && next != o.Quarantine) {
		t.Errorf("%s: it goes on: %v", name, next)
	}
	if stays := o.Provider == world.PoolEKS || o.Quarantine; why != "" && first.Cordoned != stays {
		t.Errorf("%s: the node itself: %+v", name, first)
	}
	over := w.Overruled()
	if (len(over) == 2) != (why == "") || len(over) > 0 && (over[0].Node != 0 || over[0].Budget != 0 || over[0].Left || !strings.Contains(over[0].Why, "web (minAvailable 2)")) {
		t.Errorf("%s: overruled %+v", name, over)
	}
}

// AKS refuses an upgrade before it begins, while a budget says maxUnavailable 0: no node is touched. Another budget that allows nothing does
// not stop it. Reference: docs/model/controllers.md 8.2 Budgets of AKS.
func TestAKSDoesNotBeginUnderABudgetOfZero(t *testing.T) {
	t.Parallel()
	for budget, begins := range map[string]bool{"maxUnavailable 0": false, "maxUnavailable 1": true, "minAvailable 2": true} {
		b := newBuild(2).nodes(3).hook("app", sleepHook(1500*ms)).budget(budget) // no pod is on node-3
		w := b.taken(world.UpgradePool{Provider: world.PoolAKS, Surge: 1, Provision: 20 * sec}).takes(t)
		w.run(100 * sec)
		got := w.CannotEnd()
		joined := false
		for n := 3; n < 6; n++ {
			joined = joined || w.NodeInAPI(n).Joined
		}
		if joined != begins || (got == nil) != begins {
			t.Errorf("%s: joined %v, %+v", budget, joined, got)
		}
		if !begins && (!strings.Contains(got.Why, "UnsatisfiablePDB") || got.What != "maxUnavailable 1 in place of maxUnavailable 0" || w.NodeInAPI(0).Cordoned) {
			t.Errorf("%s: %+v", budget, got)
		}
	}
}

// A pod that has a longer grace period than an upgrade has time is killed with its node, although it was evicted at once.
func TestAGracePeriodLongerThanTheUpgradeHasTime(t *testing.T) {
	t.Parallel()
	b := newBuild(2).nodes(2).grace(7200).app(ignores).taken(world.UpgradePool{Provider: world.PoolGKE, Surge: 1, Provision: 20 * sec, Nodes: []string{"node-1"}})
	w := b.takes(t)
	w.run(4000 * sec)
	w.want("r0 0 gone|machine ends", "3630.003218 r0 0 gone", "3631 node: node-1 machine ends")
}

// A node that has not joined takes no pods and answers nobody; one that has joined is a node as the others. Reference: docs/model/controllers.md 8.3.
func TestANodeThatJoins(t *testing.T) {
	t.Parallel()
	b := joining(world.UpgradePool{Provider: world.PoolGKE, Surge: 1, Nodes: []string{"node-1"}})
	w := b.takes(t)
	e, ok := w.Entry(world.Traffic{Service: "default/web", Port: 80})
	if !ok || len(w.sc.Nodes) != 3 || w.sc.Nodes[2].Name != "node-1-new" {
		t.Fatalf("%+v", w.sc.Nodes)
	}
	w.do(15*sec, "scale", "web", "6")
	w.run(29 * sec)
	if a := w.ProbeProxy(2); len(w.PodsOn(2)) != 0 || !w.Dead(2) || w.Reaches(e, 2) || a.OK || !a.Late {
		t.Errorf("%d pods, dead %v, %+v", len(w.PodsOn(2)), w.Dead(2), a)
	}
	w.run(30 * sec)
	if a := w.ProbeProxy(2); w.Dead(2) || !w.Reaches(e, 2) || !a.OK {
		t.Errorf("dead %v, %+v", w.Dead(2), a)
	}
	w.run(60 * sec)
	if n := len(w.PodsOn(2)); n != 3 || w.Lateness(2) != 0 {
		t.Errorf("%d pods, %s", n, w.Lateness(2))
	}
}

// The pods of DaemonSets: Karpenter evicts them when all others are being deleted; the autoscaler evicts them beside others and does not wait for
// them, and leaves them where there are none; an upgrade leaves them to the end of the machine. Reference: docs/model/controllers.md 8 DaemonSet pods.
func TestDaemonsOfANodeThatIsTaken(t *testing.T) {
	t.Parallel()
	karpenter := world.Consolidate{Nodes: []string{"node-1"}, Budget: world.NodeBudget{Number: 1}}
	upgrade := world.UpgradePool{Provider: world.PoolGKE, Surge: 1, Provision: sec, Nodes: []string{"node-1"}}
	for name, c := range map[string]struct {
		o      world.Operation
		others bool
		want   string // when the daemon is asked to leave, and the machine ends
	}{
		"Karpenter, alone":       {karpenter, false, "10 23"},
		"Karpenter, with others": {karpenter, true, "11 24"},
		"the autoscaler, alone":  {world.ScaleDownNode{Node: "node-1"}, false, "- 15"},
		"the autoscaler, both":   {world.ScaleDownNode{Node: "node-1"}, true, "15 20"},
		"an upgrade":             {upgrade, true, "- 12"},
	} {
		b := newBuild(2).nodes(2)
		agent := newBuild(2).hook("app", sleepHook(10*sec))
		agent.d.Name, agent.d.Spec.Template.Labels = "agent", map[string]string{"app": "agent"}
		agent.d.Spec.Selector.MatchLabels = agent.d.Spec.Template.Labels
		w := agent.Workloads[0]
		w.Resource = daemonSet(agent.d, "0", "1")
		if b.Workloads = append(b.Workloads, w); !c.others {
			b.d.Spec.Replicas = new(int32)
		}
		run := b.taken(c.o).takes(t)
		left := "-"
		run.hears(func(e event.Event) {
			if strings.Contains(run.PodName(e.Pod), "agent") && left == "-" {
				left = e.At.Seconds()
			}
		}, event.Deleted)
		run.run(100 * sec)
		if got := left + " " + run.when("node-1 machine ends").Seconds(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if n := len(run.PodsOn(0)); n != 0 {
			t.Errorf("%s: %d pods on the node that is gone", name, n)
		}
	}
}
