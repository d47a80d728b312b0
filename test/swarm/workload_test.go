package swarm

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// workload is a Deployment and its app.
func (w *swarmWorld) workload(name string) world.Workload {
	wl := world.Workload{App: w.app(), Hooks: map[string]world.Hook{}, Revisions: map[string]world.App{}, Server: "app"}
	wl.Resource = w.deployment(name, &wl)
	if w.faults.crash && w.chance(50) {
		broken := wl.App
		switch w.pick(3) {
		case 0:
			broken.CrashAfter, w.endless = w.span(sec, 20*sec), true
		case 1:
			broken.Start = w.dist(5*sec, 20*sec)
			c := &wl.Deployment().Spec.Template.Spec.Containers[0]
			w.endless = w.endless || c.LivenessProbe != nil && c.StartupProbe == nil // killed before it is up
		default:
			broken.Start, w.endless = engine.Constant(engine.Hour), true
		}
		wl.Revisions["new"] = broken
	}
	if w.faults.crash && w.chance(20) {
		wl.App.CrashAfter, w.endless = w.span(5*sec, 40*sec), true
	}
	return wl
}

func (w *swarmWorld) app() world.App {
	a := world.App{
		Profile: "drawn", Start: w.dist(0, 4*sec), Serve: of(w.draws, engine.Constant(ms), w.dist(ms, 100*ms), w.dist(0, 3*sec)),
		IgnoresSIGTERM: w.faults.stubborn && w.chance(30),
		Listener:       of(w.draws, world.ListenerCloses, world.ListenerCloses, world.ListenerStays, world.ListenerDrains),
		DrainFor:       w.span(0, 15*sec), InFlight: of(w.draws, world.InFlightFinish, world.InFlightFinish, world.InFlightCut),
		ReadinessFails: w.chance(20), LivenessFollows: w.chance(50), GoAway: w.chance(60),
	}
	if w.chance(20) {
		a.ReadyAfter = w.dist(0, 3*sec)
	}
	if w.chance(20) {
		a.FinishWithin = w.span(0, 2*sec)
	}
	if w.chance(20) {
		a.Linger = w.span(0, 5*sec)
	}
	if w.chance(20) {
		a.ServerIdle = w.span(500*ms, 10*sec)
	}
	if w.faults.crash && w.chance(30) {
		a.Errors = of(w.draws, 1, 50, 1000)
	}
	if w.faults.overload {
		a.Concurrency, a.Queue = 1+w.pick(4), w.pick(5)
	}
	if w.faults.dependency {
		a.DependsOn = []string{"db"}
	}
	return a
}

func (w *swarmWorld) deployment(name string, wl *world.Workload) *appsv1.Deployment {
	n, grace := int32(w.pick(9)), int64(of(w.draws, 0, 1, 2, 3, 5, 10, 30, 60))
	labels := map[string]string{"app": "web", "name": name}
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &n, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Strategy: w.strategy(),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{TerminationGracePeriodSeconds: &grace, Containers: []corev1.Container{w.container("app", wl, grace)}},
			},
		},
	}
	if w.chance(40) {
		d.Spec.MinReadySeconds = int32(w.pick(6))
	}
	spec := &d.Spec.Template.Spec
	if w.chance(15) {
		spec.Containers = append(spec.Containers, corev1.Container{Name: "agent"})
		wl.Hooks["agent"] = w.hook(grace)
	}
	for _, sidecar := range []string{"mesh", "logs"} {
		if w.chance(15) {
			always := corev1.ContainerRestartPolicyAlways
			spec.InitContainers = append(spec.InitContainers, corev1.Container{Name: sidecar, RestartPolicy: &always})
			wl.Hooks[sidecar] = w.hook(grace)
		}
	}
	if w.chance(15) {
		at := w.pick(len(spec.InitContainers) + 1)
		spec.InitContainers = slices.Insert(spec.InitContainers, at, corev1.Container{Name: "migrate"})
		wl.App.Init = w.dist(0, 8*sec)
	}
	return d
}

func (w *swarmWorld) strategy() appsv1.DeploymentStrategy {
	if w.chance(12) {
		return appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	}
	f := of(w.draws, [2]string{"25%", "25%"}, [2]string{"1", "0"}, [2]string{"0", "1"}, [2]string{"100%", "0"}, [2]string{"50%", "50%"}, [2]string{"0", "0%"}, [2]string{"30%", "3"})
	surge, unavailable := intstr.Parse(f[0]), intstr.Parse(f[1])
	return appsv1.DeploymentStrategy{
		Type:          appsv1.RollingUpdateDeploymentStrategyType,
		RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &surge, MaxUnavailable: &unavailable},
	}
}

func (w *swarmWorld) container(name string, wl *world.Workload, grace int64) corev1.Container {
	c := corev1.Container{Name: name, Ports: []corev1.ContainerPort{{ContainerPort: 8080}}}
	if w.chance(85) {
		c.ReadinessProbe = w.probe(int32(w.pick(3)+1), int32(w.pick(3)+1))
		c.ReadinessProbe.InitialDelaySeconds = int32(of(w.draws, 0, 0, 0, w.pick(8)))
	}
	if w.faults.probes && w.chance(40) {
		c.StartupProbe = w.probe(1, 30)
	}
	if w.faults.probes && w.chance(50) {
		c.LivenessProbe = w.probe(1, int32(w.pick(3)+1))
		c.LivenessProbe.InitialDelaySeconds = int32(of(w.draws, 10, 10, 2))
		if c.LivenessProbe.InitialDelaySeconds < 10 && c.StartupProbe == nil {
			w.endless = true // it may kill what takes longer to start
		}
		if w.chance(30) {
			own := int64(w.pick(10) + 1)
			c.LivenessProbe.TerminationGracePeriodSeconds = &own
		}
	}
	wl.Hooks[name] = w.hook(grace)
	return c
}

func (w *swarmWorld) probe(success, failure int32) *corev1.Probe {
	return &corev1.Probe{PeriodSeconds: int32(of(w.draws, 1, 1, 2, 5)), TimeoutSeconds: 1, SuccessThreshold: success, FailureThreshold: failure}
}

// hook is a preStop hook of any kind; it may take longer than the grace period.
func (w *swarmWorld) hook(grace int64) world.Hook {
	if !w.faults.hooks {
		return world.Hook{}
	}
	h := world.Hook{Kind: of(w.draws, "", "sleep", "sleep", "exec", "exec", "httpGet", "missing", "tcpSocket")}
	most := min(engine.Time(grace)+5, 20) * sec
	h.Duration = w.dist(0, most)
	if h.Kind == "exec" || h.Kind == "httpGet" {
		switch w.pick(6) {
		case 0:
			h.ClosesListener = true
		case 1:
			h.SignalsServer = true
		case 2:
			h.FailsReadiness = true
		}
		if w.chance(30) {
			h.ActsAfter = w.dist(0, most)
		}
		h.WaitsForRequests = w.chance(20)
	}
	return h
}

// act draws what is done to the world.
func (w *swarmWorld) act() {
	at := w.Warmup
	for range w.pick(3) + 1 {
		at += w.span(0, 8*sec)
		w.Actions = append(w.Actions, w.action(at)...)
	}
	w.Until = at + 300*sec
	if w.endless {
		w.Until = at + 40*sec
	}
	for _, a := range w.Actions {
		w.Until = max(w.Until, a.At+a.For+40*sec)
	}
}

func (w *swarmWorld) action(at engine.Time) []world.Action {
	wl := &w.Workloads[w.pick(len(w.Workloads))]
	name := wl.Name()
	pods := world.Pods{Workload: name, Number: world.AllPods}
	if w.chance(70) {
		pods.Number = of(w.draws, 0, 1, 2)
	}
	one := func(a world.Action) []world.Action {
		a.At = at
		return []world.Action{a}
	}
	switch w.pick(14) {
	case 0, 1, 2, 3, 4:
		if w.faults.restarts {
			return one(world.Action{Operation: world.RolloutRestart{Workload: name}})
		}
		return one(world.Action{Operation: world.Scale{Workload: name, Replicas: of(w.draws, 0, 1, 2, 3, 8)}})
	case 5:
		return one(world.Action{Operation: world.Scale{Workload: name, Replicas: of(w.draws, 0, 1, 2, 3, 8)}})
	case 6:
		return one(world.Action{Operation: world.Rollback{Workload: name}})
	case 7:
		return one(world.Action{For: of(w.draws, 0, w.span(sec, 10*sec)), Operation: world.Pause{Workload: name}})
	case 8:
		return one(world.Action{Operation: world.Delete{Pods: pods}})
	case 9:
		return one(world.Action{For: w.span(sec, 15*sec), Operation: world.SetReady{Pods: pods}})
	case 10:
		return one(world.Action{Operation: world.CrashPod{Pods: pods}})
	case 11:
		d := *wl.Deployment()
		n := int32(w.pick(6))
		d.Spec.Replicas, d.Spec.Strategy = &n, w.strategy()
		if wl.Recreate() {
			d.Spec.Strategy = wl.Deployment().Spec.Strategy // the kind of rollout stays
		} else if d.Spec.Strategy.RollingUpdate == nil {
			d.Spec.Strategy = wl.Deployment().Spec.Strategy
		}
		return one(world.Action{Operation: world.Apply{Workload: name, Resource: &d}})
	case 12:
		if w.faults.dependency {
			return one(world.Action{For: w.span(sec, 20*sec), Operation: world.Dependency{Name: "db", Down: true}})
		}
	case 13:
		if w.faults.apiserver {
			return one(world.Action{For: w.span(sec, 20*sec), Operation: world.APIServer{Down: true}})
		}
	}
	return one(world.Action{Operation: world.RolloutRestart{Workload: name}})
}
