package cluster

import (
	"fmt"
	"math/rand/v2"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// drawer draws worlds of all that tests of this package have one by one: workloads of each kind with whatever may be in their templates, beside
// others, on nodes with little room, and all that may be done to them.
type drawer struct {
	*rand.Rand
	build
	nodesThere int
}

// is says of so many in a hundred that they are.
func (d *drawer) is(percent int) bool { return d.IntN(100) < percent }

func pickOf[T any](d *drawer, list ...T) T { return list[d.IntN(len(list))] }

// seconds are up to so many, in tenths.
func (d *drawer) seconds(most int) engine.Time { return engine.Time(d.IntN(10*most+1)) * 100 * ms }

// kind draws what keeps the pods.
func (d *drawer) kind() {
	limit := pickOf(d, nil, new(int32), intOf(1), intOf(3))
	switch d.IntN(9) {
	case 0, 1:
		d.build = d.stateful(func(s *appsv1.StatefulSetSpec) {
			s.RevisionHistoryLimit = limit
			if d.is(40) {
				s.PodManagementPolicy = appsv1.ParallelPodManagement
			}
			if d.is(20) {
				s.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType
			} else if d.is(30) {
				s.UpdateStrategy.RollingUpdate.Partition = intOf(int32(d.IntN(3)))
			}
			s.MinReadySeconds = pickOf[int32](d, 0, 0, 4)
		})
	case 2, 3:
		pickOf(d, func() { d.build = d.daemons("0", "1") }, func() { d.build = d.daemons("1", "0") }, func() { d.build = d.daemons("0", "100%") }, func() { d.build = d.onDelete() })()
	case 4:
		d.build = d.bare()
	case 5:
		d.build = d.recreate()
	default:
		d.d.Spec.RevisionHistoryLimit = limit
		d.d.Spec.Paused = d.is(10)
		d.d.Spec.ProgressDeadlineSeconds = pickOf(d, nil, intOf(30), intOf(600))
		d.build = d.strategy(pickOf(d, "25%", "1", "0", "100%", "2"), pickOf(d, "25%", "1", "50%"))
	}
}

func intOf(n int32) *int32 { return &n }

// template draws what is in the pods.
func (d *drawer) template() {
	spec := &d.d.Spec.Template.Spec
	d.build = d.drawn().grace(int64(pickOf(d, 0, 1, 5, 30, 40)))
	if d.is(80) {
		d.container().ReadinessProbe = probe(int32(d.IntN(3)), int32(d.IntN(4)+1), int32(d.IntN(2)+1), int32(d.IntN(3)+1))
	}
	if d.is(30) {
		d.container().LivenessProbe = probe(5, int32(d.IntN(5)+1), 1, int32(d.IntN(3)+1))
	}
	if d.is(20) {
		d.container().StartupProbe = probe(0, 2, 1, int32(d.IntN(9)+1))
	}
	if d.is(60) {
		d.build = d.hook("app", world.Hook{Kind: "sleep", Duration: engine.Constant(d.seconds(12)), ClosesListener: d.is(10), FailsReadiness: d.is(20)})
	}
	if d.is(10) {
		d.build = d.hook("app", after(d.seconds(9)))
	}
	if d.is(15) {
		d.build = d.inits(pickOf(d, []string{"a"}, []string{"+proxy"}, []string{"+proxy", "b"}, []string{"a", "+log"})...)
	}
	if d.is(25) {
		second := int64(d.IntN(90))
		for _, key := range []string{corev1.TaintNodeUnreachable, corev1.TaintNodeNotReady} {
			spec.Tolerations = append(spec.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: pickOf(d, nil, &second)})
		}
	}
	if d.is(12) {
		d.build = d.gated(gateOne)
	}
	if d.is(15) {
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	}
	d.d.Spec.MinReadySeconds = pickOf[int32](d, 0, 0, 3, 10)
	d.build = d.app(func(a *world.App) {
		a.Listener, a.InFlight = world.Listener(d.IntN(3)), world.InFlight(d.IntN(2))
		a.IgnoresSIGTERM, a.DrainFor, a.LivenessFollows, a.DependsOn = d.is(20), d.seconds(15), d.is(30), []string{"db"}
	})
}

// rooms draws where pods find room.
func (d *drawer) rooms() {
	d.nodesThere = 1 + d.IntN(4)
	d.build = d.nodes(d.nodesThere)
	if d.is(30) {
		d.build = d.zones("a", "b")
	}
	if d.is(40) {
		d.build = d.have(pickOf(d, "cpu=2 pods=5", "cpu=3", "cpu=6 memory=4Gi", "pods=3")).asks(pickOf(d, "cpu=1", "cpu=500m", "cpu=700m memory=1Gi"))
	}
	switch n := d.IntN(100); {
	case n < 15:
		d.build = d.apart()
	case n < 30:
		d.build = d.spread(pickOf(d, corev1.LabelHostname, corev1.LabelTopologyZone), nil)
	case n < 40:
		d.build = d.hostPort(8080, nil)
	}
	switch n := d.IntN(100); {
	case n < 15:
		d.build = d.auto()
	case n < 30:
		d.build = d.distribute(pickOf(d, "PreferClose", "PreferSameNode"))
	case n < 45:
		d.build = d.local()
	}
	if d.is(40) {
		d.build = d.shuts(pickOf(d, 10*sec, 30*sec, 60*sec), pickOf(d, 0, 5*sec))
	}
	d.build = d.version(pickOf(d, 26, 29, 31, 33, 36))
}

// beside draws budgets, and another workload: of the same labels in the same namespace, or with room of its own in another.
func (d *drawer) beside() {
	if d.is(15) {
		d.build = d.volume(pickOf(d, world.ReadWriteOnce, world.ReadWriteOncePod))
	}
	for range pickOf(d, 0, 0, 1, 1, 2) {
		d.build = d.budget(pickOf(d, "minAvailable 1", "maxUnavailable 1", "maxUnavailable 0", "minAvailable 50%", "maxUnavailable 30%", "minAvailable 3"))
		if d.is(30) {
			d.build = d.always()
		}
	}
	if d.Workloads[0].Deployment() == nil || d.is(60) {
		return
	}
	d.build = d.another("other", int32(d.IntN(3)))
	other := d.Workloads[1].Deployment()
	if d.is(60) {
		other.Namespace = "elsewhere"
	}
	if d.is(50) {
		other.Labels = map[string]string{"app": "other"}
		other.Spec.Template.Labels, other.Spec.Selector.MatchLabels = other.Labels, other.Labels
	}
}

func (d *drawer) node() string { return fmt.Sprintf("node-%d", 1+d.IntN(d.nodesThere)) }

func (d *drawer) pods() world.Pods {
	return world.Pods{Workload: "default/web", Number: pickOf(d, 0, 0, 1, 2, world.AllPods)}
}

// ofPods draws what is done to the workload.
func (d *drawer) ofPods() world.Operation {
	const web = "default/web"
	scalable := d.Workloads[0].Kind() == world.Deployment || d.Workloads[0].Kind() == world.StatefulSet
	bound := intstr.FromInt32(int32(d.IntN(3)))
	switch n := d.IntN(16); {
	case n < 4 && d.Workloads[0].Kind() != world.Pod:
		return world.RolloutRestart{Workload: web}
	case n < 6 && scalable:
		return world.Scale{Workload: web, Replicas: d.IntN(7)}
	case n == 6 && d.Workloads[0].Deployment() != nil:
		return pickOf[world.Operation](d, world.Pause{Workload: web}, world.Resume{Workload: web}, world.Rollback{Workload: web})
	case n == 7:
		return world.Delete{Pods: d.pods()}
	case n == 8:
		return world.CrashPod{Pods: d.pods()}
	case n == 9:
		return world.Evict{Pods: d.pods()}
	case n == 10:
		return world.SetReady{Pods: d.pods(), Ready: d.is(30)}
	case n == 11:
		return world.Relabel{Pods: d.pods(), Set: map[string]string{"app": pickOf(d, "web", "other", "debug")}}
	case n == 12 && len(d.Budgets) > 0:
		return world.SetBudget{Budget: "default/web", MaxUnavailable: &bound, Policy: pickOf(d, "", string(policyv1.AlwaysAllow))}
	case n == 13:
		return world.Dependency{Name: "db", Down: d.is(60)}
	case n == 14 && d.is(50):
		return world.SetGate{Pods: d.pods(), Gate: gateOne, Open: d.is(80)}
	case n == 14:
		return world.SetSelector{Service: "default/web", Selector: map[string]string{"app": pickOf(d, "web", "other")}}
	default:
		return world.Component{Name: pickOf(d, world.KubeletOf, world.KubeProxyOf) + d.node(), What: pickOf(d, world.ComponentRestart, world.ComponentPause, world.ComponentResume)}
	}
}

// ofNodes draws what is done to nodes.
func (d *drawer) ofNodes() world.Operation {
	one := []string{d.node()}
	switch d.IntN(13) {
	case 12:
		return world.CreateNode{Node: "more", Like: one[0]}
	case 0, 1, 2:
		return world.Drain{Nodes: pickOf(d, one, []string{"node-1"}), DrainOptions: world.DrainOptions{
			GracePeriod: pickOf(d, world.OwnGrace, world.OwnGrace, 0, 3*sec), Timeout: pickOf(d, 0, 0, 20*sec), DisableEviction: d.is(10), KeepEmptyDir: d.is(10), Force: d.is(60),
			MindDaemons: d.is(10), SkipDeleted: pickOf(d, 0, 0, 5*sec),
		}}
	case 3:
		return world.Cordon{Node: one[0]}
	case 4:
		return world.CrashNode{Node: one[0]}
	case 5:
		return world.ShutdownNode{Node: one[0]}
	case 6:
		return world.DeleteNode{Node: one[0], Machine: d.is(50)}
	case 7:
		return world.SpotNotice{Node: one[0], Notice: pickOf(d, 30*sec, 120*sec), Sudden: d.is(30), Drains: d.is(50)}
	case 8, 9:
		return world.ScaleDownNode{Node: one[0]}
	case 10:
		return world.Consolidate{Nodes: one, Replacements: d.IntN(2), Provision: d.seconds(40), Budget: world.NodeBudget{Number: 1 + d.IntN(2)}, Grace: pickOf(d, 0, 0, 60*sec), Drifted: d.is(50)}
	default:
		return world.UpgradePool{Provider: pickOf(d, world.PoolGKE, world.PoolEKS, world.PoolAKS), Surge: 1 + d.IntN(2), Unavailable: d.IntN(2), Provision: d.seconds(40), Nodes: pickOf(d, nil, one),
			Limit: pickOf(d, 0, 60*sec), Force: d.is(50), Quarantine: d.is(30)}
	}
}

// world draws one, with what is done in it: at most one who takes nodes away.
func (d *drawer) world(seed uint64) {
	d.Rand = rand.New(rand.NewPCG(seed, 11)) //nolint:gosec // the same each time
	d.build = newBuild(d.IntN(6))
	d.template()
	d.rooms()
	d.kind()
	d.beside()
	at := 10 * sec
	if d.is(50) {
		d.Actions = append(d.Actions, world.Action{At: at, Operation: d.ofNodes(), For: pickOf(d, 0, 5*sec, 90*sec)})
	}
	for range d.IntN(6) {
		at += d.seconds(40)
		a := world.Action{At: at, Operation: d.ofPods()}
		if d.is(30) {
			a.For = d.seconds(30) + 100*ms
		}
		d.Actions = append(d.Actions, a)
	}
	d.Muster()
}

// What happens in worlds that nobody wrote is kept (see keep): two thousand of them take little more than a second.
func TestDrawnWorlds(t *testing.T) {
	t.Parallel()
	for part := range uint64(160) {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			for seed := 12 * part; seed < 12*(part+1); seed++ {
				var d drawer
				d.world(seed)
				w := d.start(t, seed)
				for _, a := range d.Actions {
					w.at(a.At, func() { w.Do(a) })
					if a.For > 0 {
						w.at(a.At+a.For, func() { w.Undo(a) })
					}
				}
				w.run(15 * engine.Minute)
			}
		})
	}
}
