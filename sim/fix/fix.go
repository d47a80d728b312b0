package fix

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Change is one thing that can be changed in a workload.
type Change struct {
	ID    string // "preStop", "maxUnavailable", ...
	Title string
	Edits []record.Edit
	// Destructive is why the change may break something that the manifest was written for, ""
	// when it does not.
	Destructive string
	// Cost is what it costs besides a longer rollout, "" for nothing worth saying.
	Cost string
	// Sleep is how long the preStop hook that the Change adds takes, 0 when it adds none.
	Sleep engine.Time
	apply func(*appsv1.Deployment)
	// profile is what the workload's app does at SIGTERM from then on, "" for what it does now.
	profile string
	// world is what else is changed of the Scenario, such as the load balancer's settings; nil for nothing.
	world func(*world.Scenario) *world.Scenario
}

// Apply returns a Scenario with changes made to one of its workloads.
func Apply(s *world.Scenario, workload string, changes []Change) *world.Scenario {
	out := scenario.Edited(s, workload, func(d *appsv1.Deployment) {
		for i := range changes {
			if changes[i].apply != nil {
				changes[i].apply(d)
			}
		}
	})
	for i := range changes {
		if changes[i].profile != "" {
			out = scenario.WithProfile(out, workload, changes[i].profile)
		}
		if changes[i].world != nil {
			out = changes[i].world(out)
		}
	}
	return out
}

// Sleep is how many whole seconds a preStop hook is recommended to sleep where the last way to a pod closes so late after its
// deletion: a second more at least, in steps of the sizes that people know, 5, 10, 15 and 30 s, and in tens beyond.
func Sleep(lateness engine.Time) int64 {
	needed := wholeSeconds(lateness)
	for _, step := range []int64{5, 10, 15, 30} {
		if needed <= step {
			return step
		}
	}
	const tens = 10
	return (needed + tens - 1) / tens * tens
}

// wholeSeconds is a second more than a time, rounded up to a whole number but for what is within that second.
func wholeSeconds(lateness engine.Time) int64 {
	return int64((lateness + 2*engine.Second - 1) / engine.Second)
}

// Shorter is a preStop hook that sleeps so long, to find the least that helps; nil where the workload has a longer one.
func Shorter(s *world.Scenario, w *world.Workload, seconds int64) *Change {
	t := target{sc: s, w: w, server: w.ServerIndex()}
	if t.server < 0 {
		return nil
	}
	return t.preStop(seconds)
}

// Changes lists what can be changed in a workload, the smallest first. lateness is how late
// the last way to a pod closes: a preStop hook sleeps at least that long.
func Changes(s *world.Scenario, w *world.Workload, lateness engine.Time) []Change {
	t := target{sc: s, w: w, server: w.ServerIndex()}
	if t.server < 0 {
		return nil
	}
	var out []Change
	for _, c := range []*Change{
		t.unavailable(), t.preStop(Sleep(lateness)), t.gate(), t.draining(), t.minReady(), t.readiness(), t.sooner(), t.startup(), t.handler(), t.grace(),
	} {
		if c != nil {
			out = append(out, *c)
		}
	}
	return out
}

// target is the workload that is changed; server the index of its container that serves.
type target struct {
	sc     *world.Scenario
	w      *world.Workload
	server int
}

func (t *target) container() *corev1.Container {
	return &t.w.Template().Spec.Containers[t.server]
}

func (t *target) path(field string) string {
	return fmt.Sprintf("spec.template.spec.containers[%d].%s", t.server, field)
}

// unavailable keeps every replica until its successor is ready.
func (t *target) unavailable() *Change {
	d := t.w.Deployment
	surge, unavailable := world.FencepostsOf(d)
	if !t.w.Recreate() && unavailable == 0 {
		return nil
	}
	c := &Change{ID: "maxUnavailable", Title: "maxUnavailable: 0", apply: func(d *appsv1.Deployment) {
		u := &appsv1.RollingUpdateDeployment{MaxUnavailable: number(0), MaxSurge: number(max(surge, 1))}
		d.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: u}
	}}
	if t.w.Recreate() {
		c.Title = "strategy RollingUpdate, maxUnavailable: 0"
		c.Destructive = "strategy Recreate is for versions that must not run at the same time"
		c.Cost = "old and new version serve at the same time, with one pod more"
		c.Edits = append(c.Edits, t.edit("spec.strategy.type", "Recreate", "RollingUpdate"),
			t.edit("spec.strategy.rollingUpdate.maxUnavailable", "", "0"))
		return c
	}
	c.Edits = append(c.Edits, t.edit("spec.strategy.rollingUpdate.maxUnavailable", d.Spec.Strategy.RollingUpdate.MaxUnavailable.String(), "0"))
	if surge == 0 {
		c.Title += ", maxSurge: 1"
		c.Edits = append(c.Edits, t.edit("spec.strategy.rollingUpdate.maxSurge", "0", "1"))
	}
	c.Cost = "room for one pod more during a rollout"
	return c
}

func number(n int) *intstr.IntOrString {
	v := intstr.FromInt32(int32(n))
	return &v
}

// sleepSince is the first version whose API takes the sleep action without a feature gate
// (docs/model/pod-lifecycle.md 2.2).
var sleepSince = endpoints.Version{Major: 1, Minor: 30}

// spare is what is left of the grace period for requests in flight, where nothing says how
// long they take.
const spare = 10 * engine.Second

// hookName is what a manifest has for a hook, as far as it fits into a line.
func hookName(h *corev1.LifecycleHandler) string {
	const most = 40
	name := "tcpSocket"
	switch {
	case h.Sleep != nil:
		name = fmt.Sprintf("sleep %d", h.Sleep.Seconds)
	case h.Exec != nil:
		name = strings.Join(h.Exec.Command, " ")
	case h.HTTPGet != nil:
		name = "httpGet " + h.HTTPGet.Path
	}
	if len(name) > most {
		return strings.ToValidUTF8(name[:most], "") + "..."
	}
	return name
}

// preStop has a pod go on serving for so many seconds, until nobody sends to it any more.
func (t *target) preStop(seconds int64) *Change {
	hook := t.w.Hooks[t.container().Name]
	if hook.Kind == servers.HookSleep && hook.Duration.Min() >= engine.Time(seconds)*engine.Second {
		return nil
	}
	handler, to := &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: seconds}}, fmt.Sprintf("{sleep: {seconds: %d}}", seconds)
	block := fmt.Sprintf("sleep: {seconds: %d}", seconds)
	cost := fmt.Sprintf("each pod takes %d s longer to stop", seconds)
	if v := t.sc.Kubernetes.Version; v.Major == sleepSince.Major && v.Minor < sleepSince.Minor {
		word := fmt.Sprint(seconds)
		handler = &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sleep", word}}}
		to = fmt.Sprintf("{exec: {command: [sleep, %q]}}", word)
		block = fmt.Sprintf("exec: {command: [sleep, %q]}", word)
		cost += "; the image needs a sleep program"
	}
	from := ""
	c := &Change{ID: "preStop", Title: fmt.Sprintf("preStop: sleep %d", seconds), Cost: cost, Sleep: engine.Time(seconds) * engine.Second}
	if hook.Kind != "" {
		from = hook.Why
		c.Title += " instead of " + hookName(t.container().Lifecycle.PreStop)
	}
	c.Edits = append(c.Edits, t.edit(t.path("lifecycle.preStop"), from, to, block))
	grace, needed := t.graceSeconds(), seconds+int64(max(t.w.App.FinishWithin, spare)/engine.Second)
	longer := needed > grace
	if longer {
		c.Title += fmt.Sprintf(", terminationGracePeriodSeconds: %d", needed)
		c.Edits = append(c.Edits, t.edit("spec.template.spec.terminationGracePeriodSeconds", fmt.Sprint(grace), fmt.Sprint(needed)))
	}
	index := t.server
	c.apply = func(d *appsv1.Deployment) {
		container := &d.Spec.Template.Spec.Containers[index]
		if container.Lifecycle == nil {
			container.Lifecycle = &corev1.Lifecycle{}
		}
		container.Lifecycle.PreStop = handler
		if longer {
			d.Spec.Template.Spec.TerminationGracePeriodSeconds = &needed
		}
	}
	return c
}

func (t *target) graceSeconds() int64 { return int64(t.w.Grace() / engine.Second) }

// minReady lets the sync that a new pod sets off be over on every node before the next pod is
// deleted, or a new pod crash before the rollout goes on.
func (t *target) minReady() *Change {
	var longest engine.Time
	for i := range t.sc.Nodes {
		longest = max(longest, t.sc.Nodes[i].Proxy.MinSyncPeriod)
	}
	// The hold, the sync after it and the hops; times in the API are cut to whole seconds.
	seconds := int32((longest+t.sc.Latency.ProxySync.Max()+3*t.sc.Latency.Watch.Max())/engine.Second) + 2
	if t.w.App.CrashAfter > 0 {
		seconds = max(seconds, int32(t.w.App.CrashAfter/engine.Second)+2)
	}
	have := t.w.MinReadySeconds()
	if have >= seconds || t.w.Recreate() {
		return nil
	}
	return &Change{
		ID: "minReadySeconds", Title: fmt.Sprintf("minReadySeconds: %d", seconds),
		Edits: []record.Edit{t.edit("spec.minReadySeconds", fmt.Sprint(have), fmt.Sprint(seconds))},
		apply: func(d *appsv1.Deployment) { d.Spec.MinReadySeconds = seconds },
	}
}

// readiness keeps traffic from a pod that does not listen yet.
func (t *target) readiness() *Change {
	c := t.container()
	if c.ReadinessProbe != nil || len(c.Ports) == 0 {
		return nil
	}
	port := c.Ports[0].ContainerPort
	index := t.server
	return &Change{
		ID: "readinessProbe", Title: fmt.Sprintf("readinessProbe on port %d", port),
		Edits: []record.Edit{t.edit(t.path("readinessProbe"), "", fmt.Sprintf("{tcpSocket: {port: %d}, periodSeconds: 5}", port),
			fmt.Sprintf("tcpSocket: {port: %d}", port), "periodSeconds: 5")},
		Cost: "an HTTP or gRPC probe that asks the app is better than an open port, if it has one",
		apply: func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers[index].ReadinessProbe = &corev1.Probe{
				ProbeHandler:  corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(port)}},
				PeriodSeconds: 5,
			}
		},
	}
}

// sooner has the kubelet ask a new pod every second whether it is ready, where a rollout leaves no other pod: after a first
// failure it asks again one period later, 10 s by default (docs/model/pod-lifecycle.md 3.1).
func (t *target) sooner() *Change {
	c := t.container()
	_, unavailable := t.w.Fenceposts()
	alone := t.w.Recreate() || unavailable >= t.w.Replicas()
	if c.ReadinessProbe == nil || c.ReadinessProbe.PeriodSeconds <= 1 || !alone {
		return nil
	}
	index := t.server
	return &Change{
		ID: "readinessPeriod", Title: "readinessProbe.periodSeconds: 1",
		Edits: []record.Edit{t.edit(t.path("readinessProbe.periodSeconds"), fmt.Sprint(c.ReadinessProbe.PeriodSeconds), "1")},
		apply: func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[index].ReadinessProbe.PeriodSeconds = 1 },
	}
}

// startup keeps the liveness probe from killing an app that is starting.
func (t *target) startup() *Change {
	c := t.container()
	if c.StartupProbe != nil || c.LivenessProbe == nil {
		return nil
	}
	const failures, period = 30, 10
	index := t.server
	lines := append(probeLines(&c.LivenessProbe.ProbeHandler), fmt.Sprintf("failureThreshold: %d", failures), fmt.Sprintf("periodSeconds: %d", period))
	return &Change{
		ID: "startupProbe", Title: fmt.Sprintf("startupProbe like the livenessProbe, %d s", failures*period),
		Edits: []record.Edit{t.edit(t.path("startupProbe"), "", fmt.Sprintf("(as livenessProbe) failureThreshold: %d, periodSeconds: %d", failures, period), lines...)},
		apply: func(d *appsv1.Deployment) {
			container := &d.Spec.Template.Spec.Containers[index]
			container.StartupProbe = &corev1.Probe{ProbeHandler: container.LivenessProbe.ProbeHandler, FailureThreshold: failures, PeriodSeconds: period}
		},
	}
}

// handler has a process end at SIGTERM that takes no notice of it: it finishes its requests and closes its connections, where
// it is now killed with them, however long it is given.
func (t *target) handler() *Change {
	remedies := scenario.TerminationRemedies(&t.w.App)
	if len(remedies) == 0 {
		return nil
	}
	title, why, _ := strings.Cut(remedies[0], ": ")
	cost := "a change of the app or its image"
	if why != "" {
		cost += ": " + why
	}
	return &Change{
		ID: "sigterm", Title: title, profile: servers.UnknownProfile,
		Cost: strings.Join(append([]string{cost}, remedies[1:]...), "; or "),
	}
}

// grace gives requests in flight more time. A process that takes no notice of SIGTERM only lives longer with it.
func (t *target) grace() *Change {
	if t.w.App.IgnoresSIGTERM {
		return nil
	}
	have := t.graceSeconds()
	seconds := 2 * max(have, 30)
	return &Change{
		ID: "terminationGracePeriodSeconds", Title: fmt.Sprintf("terminationGracePeriodSeconds: %d", seconds),
		Edits: []record.Edit{t.edit("spec.template.spec.terminationGracePeriodSeconds", fmt.Sprint(have), fmt.Sprint(seconds))},
		apply: func(d *appsv1.Deployment) { d.Spec.Template.Spec.TerminationGracePeriodSeconds = &seconds },
	}
}
