package swarm

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/sim"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
	"github.com/lameduck-proxy/lameduck/test/golden"
)

// keptConstrained has a line for each world whose pods cannot go everywhere.
const keptConstrained = "testdata/constrained.txt"

// constrainedSeeds is how many of those there are.
const constrainedSeeds = 150

// Worlds whose nodes differ and whose pods ask for some of them, and whose slices have hints, come to what they came to before. No rule judges them:
// what the rules say of rollouts is of pods that can go anywhere.
func TestConstrainedWorldsComeToWhatTheyDid(t *testing.T) {
	t.Parallel()
	lines := make([]string, constrainedSeeds)
	each(len(lines), func(i int) {
		seed := uint64(i + 1)
		w := draw(seed)
		w.constrain(seed)
		log := &event.Log{}
		told := newTelling(log)
		res, err := sim.RunWith(w.Scenario, seed, sim.Options{Events: log})
		if err != nil {
			lines[i] = fmt.Sprintf("%3d %s", seed, strings.ReplaceAll(err.Error(), "\n", " "))
			return
		}
		lines[i] = fmt.Sprintf("%3d %s", seed, kept(res, told))
		if res.Stuck != nil {
			lines[i] += ", stuck: " + res.Stuck.Why
		}
	})
	golden.Compare(t, keptConstrained, strings.Join(lines, "\n")+"\n", *update)
}

// constrain gives nodes labels, room and taints, and pods and Services what looks at them.
func (w *swarmWorld) constrain(seed uint64) {
	d := newDraws(seed, "constraints")
	for i := range w.Nodes {
		if d.chance(70) {
			w.Nodes[i].Object = nodeObject(d, w.Nodes[i].Name)
		}
	}
	for i := range w.Workloads {
		template := w.Workloads[i].Template()
		constrainPod(d, &template.Spec, template.Labels)
	}
	w.leave(d)
	svc := w.Services[0].Service
	switch d.pick(4) {
	case 0:
		svc.Annotations = map[string]string{corev1.AnnotationTopologyMode: "Auto"}
	case 1, 2:
		where := of(d,
			corev1.ServiceTrafficDistributionPreferClose, corev1.ServiceTrafficDistributionPreferSameZone, corev1.ServiceTrafficDistributionPreferSameNode)
		svc.Spec.TrafficDistribution = &where
	}
}

// leave has pods evicted and nodes drained, one shortly after the other, with all that kubectl drain can be told.
func (w *swarmWorld) leave(d *draws) {
	if d.chance(40) {
		return
	}
	at := w.Warmup + d.span(0, 5*sec)
	for i := range d.pick(3) + 1 {
		node := w.Nodes[(i+d.pick(2))%len(w.Nodes)].Name
		o := world.Drain{DrainOptions: world.DrainOptions{
			GracePeriod: of(d, world.OwnGrace, world.OwnGrace, 0, 3*sec, 40*sec), Timeout: of(d, 0, 0, 20*sec), DisableEviction: d.chance(20),
			KeepEmptyDir: d.chance(30), Force: d.chance(70), MindDaemons: d.chance(30), SkipDeleted: of(d, 0, sec, 5*sec),
			PodSelector: of(d, "", "", "name=web", "name!=web", "app in (web)", "other"),
		}}
		if d.chance(20) {
			o.Fullest = w.Workloads[0].Name()
		} else {
			o.Nodes = []string{node}
		}
		w.Actions = append(w.Actions, world.Action{At: at, Operation: o})
		at += d.span(100*ms, 8*sec)
		if d.chance(30) {
			pods := world.Pods{Workload: w.Workloads[0].Name(), Number: of(d, world.AllPods, 0)}
			w.Actions = append(w.Actions, world.Action{At: at, Operation: world.Evict{Pods: pods}})
		}
	}
	w.order()
}

func nodeObject(d *draws, name string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"disk": of(d, "ssd", "hdd"), "rank": of(d, "1", "2", "3")}}}
	n.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(of(d, "2", "4", "4")), corev1.ResourceMemory: resource.MustParse(of(d, "4Gi", "8Gi")),
		corev1.ResourcePods: resource.MustParse(of(d, "4", "8", "110")),
	}
	if d.chance(30) {
		effect := of(d, corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule)
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "spot", Value: of(d, "", "yes"), Effect: effect})
	}
	if d.chance(10) {
		n.Labels["node-role.kubernetes.io/control-plane"] = ""
	}
	return n
}

// constrainPod draws what a pod asks of its node, and of the pods there.
func constrainPod(d *draws, spec *corev1.PodSpec, labels map[string]string) {
	if d.chance(60) {
		spec.Containers[0].Resources.Requests = corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse(of(d, "250m", "1", "1500m")), corev1.ResourceMemory: resource.MustParse(of(d, "128Mi", "1Gi", "3Gi")),
		}
	}
	if d.chance(20) {
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	}
	if d.chance(30) {
		patience := int64(d.pick(30))
		spec.Tolerations = append(spec.Tolerations, corev1.Toleration{
			Key: of(d, "", corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable), Operator: corev1.TolerationOpExists,
			Effect: of(d, corev1.TaintEffectNoExecute, corev1.TaintEffectNoExecute, corev1.TaintEffectNoSchedule), TolerationSeconds: &patience,
		})
		if spec.Tolerations[len(spec.Tolerations)-1].Effect != corev1.TaintEffectNoExecute {
			spec.Tolerations[len(spec.Tolerations)-1].TolerationSeconds = nil // the API server refuses it
		}
	}
	if d.chance(20) {
		spec.NodeSelector = map[string]string{"disk": "ssd"}
	}
	if d.chance(50) {
		spec.Tolerations = append(spec.Tolerations, corev1.Toleration{
			Key: of(d, "", "spot", "other"), Operator: of(d, corev1.TolerationOpExists, corev1.TolerationOpExists, corev1.TolerationOpEqual),
			Effect: of(d, "", corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule),
		})
	}
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"name": labels["name"]}}
	for range d.pick(3) {
		c := corev1.TopologySpreadConstraint{
			MaxSkew: int32(1 + d.pick(2)), TopologyKey: of(d, corev1.LabelHostname, corev1.LabelTopologyZone, "disk"), LabelSelector: selector,
			WhenUnsatisfiable: of(d, corev1.DoNotSchedule, corev1.ScheduleAnyway),
		}
		if c.WhenUnsatisfiable == corev1.DoNotSchedule && d.chance(30) {
			least := int32(1 + d.pick(3))
			c.MinDomains = &least
		}
		spec.TopologySpreadConstraints = append(spec.TopologySpreadConstraints, c)
	}
	if d.chance(60) {
		spec.Affinity = affinity(d, selector)
	}
}

func affinity(d *draws, selector *metav1.LabelSelector) *corev1.Affinity {
	a := &corev1.Affinity{}
	term := func() corev1.PodAffinityTerm {
		return corev1.PodAffinityTerm{LabelSelector: selector, TopologyKey: of(d, corev1.LabelHostname, corev1.LabelHostname, corev1.LabelTopologyZone)}
	}
	weighted := func() []corev1.WeightedPodAffinityTerm {
		return []corev1.WeightedPodAffinityTerm{{Weight: int32(1 + d.pick(100)), PodAffinityTerm: term()}}
	}
	switch d.pick(4) {
	case 0:
		a.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term()}}
	case 1:
		a.PodAntiAffinity = &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: weighted()}
	case 2:
		a.PodAffinity = &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: weighted()}
		if d.chance(30) {
			a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = []corev1.PodAffinityTerm{term()}
		}
	}
	if d.chance(50) {
		a.NodeAffinity = &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
			{Weight: int32(1 + d.pick(100)), Preference: nodeTerm(d)}, {Weight: int32(1 + d.pick(100)), Preference: nodeTerm(d)},
		}}
	}
	if d.chance(20) {
		if a.NodeAffinity == nil {
			a.NodeAffinity = &corev1.NodeAffinity{}
		}
		a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{nodeTerm(d), nodeTerm(d)},
		}
	}
	return a
}

// nodeTerm is a condition on a node's labels.
func nodeTerm(d *draws) corev1.NodeSelectorTerm {
	return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{of(d,
		corev1.NodeSelectorRequirement{Key: "disk", Operator: corev1.NodeSelectorOpIn, Values: []string{"ssd", "nvme"}},
		corev1.NodeSelectorRequirement{Key: "disk", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"ssd"}},
		corev1.NodeSelectorRequirement{Key: "rank", Operator: corev1.NodeSelectorOpExists},
		corev1.NodeSelectorRequirement{Key: "rank", Operator: corev1.NodeSelectorOpDoesNotExist},
		corev1.NodeSelectorRequirement{Key: "rank", Operator: corev1.NodeSelectorOpGt, Values: []string{"1"}},
		corev1.NodeSelectorRequirement{Key: "rank", Operator: corev1.NodeSelectorOpLt, Values: []string{"3"}},
	)}}
}
