package fix

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/edit"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Change is one thing that can be changed in a workload.
type Change struct {
	ID    string // "preStop", "maxUnavailable", ...
	Title string
	Edits []edit.Edit
	// Destructive is why the change may break something that the manifest was written for, ""
	// when it does not.
	Destructive string
	// Cost is what it costs besides a longer rollout, "" for nothing worth saying.
	Cost string
	// Sleep is how long the preStop hook that the Change adds takes, 0 when it adds none.
	Sleep engine.Time
	// Action says that this hook is the kubelet's sleep action in place of a program that sleeps: a shorter sleep of the program is none.
	Action bool
	// Makeshift is why another change that helps as much is the better one, "" for most. It is none together with more pods, nor with the
	// change of the ID Unless, "" for no other.
	Makeshift, Unless string
	// Otherwise says that the change is for another value of an assumption: that it does nothing as assumed is no reason against it.
	Otherwise bool
	// Has are the IDs of changes that are a part of it: it is not tried together with them.
	Has []string
	Around
}

// Around is what a Change does besides the edits of the workload's object.
type Around struct {
	// Profile is what the workload's app does at SIGTERM from then on, "" for what it does now.
	Profile string
	// Accepts is how long the app goes on accepting connections after SIGTERM from then on, 0 for as long as now.
	Accepts engine.Time
	// Gate has the load balancer's controller give new pods a readiness gate: the edit is one of their Namespace.
	Gate bool
	// Unasked has the webhooks that the workload answers not be asked of its own Pods: the edits are of their configurations.
	Unasked bool
	// Drain is how long the load balancers before the workload let connections to what was removed live on, 0 for as long as now.
	Drain engine.Time
	// ReadyOnly has the Services before the workload lead to ready pods only.
	ReadyOnly bool
	// KeepUnhealthy has the load balancers before it leave connections to an unhealthy target alone.
	KeepUnhealthy bool
	// AnyNode has the Services before it lead to pods on any node.
	AnyNode bool
	// AnyNodeInside is the same for clients in the cluster.
	AnyNodeInside bool
	// Upgrade has the cluster be of the first version whose nodes use endpoints that terminate where they have no others.
	Upgrade bool
	// Nodes is how many more the cluster has.
	Nodes int
	// Replicas is how many pods the workload has, also where what scales it says so; 0 for as many as now.
	Replicas int
	// Budget is a disruption budget that is there, or takes the place of the one of its name; nil for none.
	Budget *world.Budget
	// Gone are the names of disruption budgets of its namespace that are not there any more.
	Gone []string
	// Spread has the scheduler place what shares a node with another pod of the workload: the first on each node stays.
	Spread bool
}

// Apply returns a Scenario with changes made to one of its workloads. An edit is one of the same workload, so that it cannot be
// refused: one that is refused is a mistake of this package.
func Apply(s *world.Scenario, workload string, changes []Change) *world.Scenario {
	changes = Together(changes)
	out := scenario.Edited(s, workload, func(r world.Resource) {
		for i := range changes {
			for _, e := range changes[i].Edits {
				if e.Kind != world.KindOf(r) {
					continue
				}
				if err := e.Apply(r); err != nil {
					panic(fmt.Sprintf("fix: %s, %s: %v", workload, changes[i].ID, err))
				}
			}
		}
	})
	for i := range changes {
		out = changes[i].around(out, workload)
	}
	return out
}

// around does what no edit of the workload does. Where a Scenario has no place for it, nothing is changed.
func (a *Around) around(s *world.Scenario, workload string) *world.Scenario {
	if a.Profile != "" {
		s = scenario.WithProfile(s, workload, a.Profile)
	}
	if a.Accepts > 0 {
		s = accepting(s, workload, a.Accepts)
	}
	if a.Gate {
		if r, ok := scenario.WithReadinessGate(s, workload); ok {
			s = r.Scenario
		}
	}
	if a.Unasked {
		if remedies := scenario.WithOwnPodsUnasked(s, workload); len(remedies) > 0 {
			s = remedies[0].Scenario
		}
	}
	if a.Drain > 0 {
		s, _ = drained(s, workload, a.Drain)
	}
	if a.ReadyOnly {
		s, _ = remedied(s, workload, scenario.WithoutNotReady)
	}
	if a.KeepUnhealthy {
		s, _ = remedied(s, workload, scenario.WithUnhealthyKept)
	}
	if a.AnyNode {
		s, _ = remedied(s, workload, scenario.WithClusterPolicy)
	}
	if a.AnyNodeInside {
		s, _ = remedied(s, workload, scenario.WithInternalClusterPolicy)
	}
	if a.Upgrade {
		if later, ok := scenario.WithFallback(s); ok {
			s = later
		}
	}
	if a.Replicas > 0 || a.Spread || a.Budget != nil || len(a.Gone) > 0 {
		s = a.kept(s, workload)
	}
	if a.Nodes > 0 {
		if more, ok := s.WithNodes(len(s.Nodes) + a.Nodes); ok {
			s = more
		}
	}
	return s
}

// kept changes what keeps pods, and how many there are.
func (a *Around) kept(s *world.Scenario, workload string) *world.Scenario {
	out := s.Clone()
	w := out.Workload(workload)
	if a.Replicas > 0 {
		w.Resource = world.WithReplicas(w.Resource, a.Replicas)
	}
	if a.Spread {
		w.Placed = onePerNode(w.Placed)
	}
	if len(a.Gone) > 0 {
		out.Budgets = slices.DeleteFunc(slices.Clone(out.Budgets), func(b world.Budget) bool {
			return b.Value.Namespace == w.Namespace() && slices.Contains(a.Gone, b.Value.Name)
		})
	}
	if a.Budget != nil {
		out.Budgets = slices.DeleteFunc(slices.Clone(out.Budgets), func(b world.Budget) bool {
			return b.Value.Namespace == a.Budget.Value.Namespace && b.Value.Name == a.Budget.Value.Name
		})
		out.Budgets = append(out.Budgets, *a.Budget)
	}
	return out
}

// onePerNode are the first of some pods on each node.
func onePerNode(pods []world.Placed) []world.Placed {
	var out []world.Placed
	for _, p := range pods {
		if !slices.ContainsFunc(out, func(x world.Placed) bool { return x.Node == p.Node }) {
			out = append(out, p)
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
	if c := t.preStop(seconds); c != nil && c.Sleep == engine.Time(seconds)*engine.Second {
		return c
	}
	return nil
}

// Changes lists what can be changed in a workload, the smallest first. lateness is how late
// the last way to a pod closes: a preStop hook sleeps at least that long.
func Changes(s *world.Scenario, w *world.Workload, lateness engine.Time) []Change {
	t := target{sc: s, w: w, server: w.ServerIndex()}
	if t.server < 0 || w.Kind() == world.Pod { // whose spec cannot be changed
		return nil
	}
	var out []Change
	for _, c := range t.all(lateness) {
		if c != nil {
			out = append(out, *c)
		}
	}
	return out
}

// all are the changes that can have to do with what is done, nil for those that the workload has no use for: how a rollout goes on
// is nothing to a drain, and how a pod ends nothing to one that is gone with its machine. A hook that has the only pod wait for its successor
// is none of them where there must not be two.
func (t *target) all(lateness engine.Time) []*Change {
	updates, ends := t.sc.Updates() || !emptied(t.sc), !abrupt(t.sc)
	waits := ends && (updates || t.w.Replicas() != 1 || t.single() == "")
	only := func(when bool, change func() *Change) *Change {
		if !when {
			return nil
		}
		return change()
	}
	return []*Change{
		only(updates, t.unavailable), only(updates, t.oneByOne), t.unasked(), t.second(), t.heeded(), t.budget(), t.spread(), t.tolerations(),
		only(ends && t.cut() > 0, t.grace), only(waits, func() *Change { return t.preStop(Sleep(lateness)) }), only(waits, func() *Change { return t.servesOn(lateness) }), only(waits, func() *Change { return t.abreast(lateness) }), only(ends, t.staysReady), t.gate(), t.draining(), t.readyOnly(), only(ends, t.unhealthyKept), only(updates && !shrinks(t.sc), t.minReady), t.readiness(),
		t.sooner(), only(ends, t.accepts), t.startup(), only(ends, t.handler), only(ends && t.cut() == 0, t.grace), t.anyNode(), t.anyNodeInside(), only(ends, t.upgraded),
	}
}

// shrinks says that nothing is done in the Scenario but to take pods away, so that none is made.
func shrinks(s *world.Scenario) bool {
	return len(s.Actions) > 0 && !slices.ContainsFunc(s.Actions, func(a world.Action) bool {
		o, scale := a.Operation.(world.Scale)
		w := s.Workload(o.Workload)
		return !scale || w == nil || o.Replicas > w.Replicas()
	})
}

// target is the workload that is changed; server says which of the containers that world.Serving lists serves: so do all other indices.
type target struct {
	sc     *world.Scenario
	w      *world.Workload
	server int
}

func (t *target) container() *corev1.Container {
	return t.containers()[t.server]
}

// containers are those of a pod that run for as long as it does.
func (t *target) containers() []*corev1.Container { return world.Serving(&t.w.Template().Spec) }

func (t *target) path(field string) string {
	return t.pathIn(t.server, field)
}

// pathIn is the path of a field of any of the containers.
func (t *target) pathIn(container int, field string) string {
	return world.ServingPath(&t.w.Template().Spec, t.containers()[container].Name) + "." + field
}

// unavailableChange is the ID of the change with which a rollout takes no pod away before there is another.
const unavailableChange = "maxUnavailable"

// unavailable keeps every replica until its successor is ready.
func (t *target) unavailable() *Change {
	if t.isDaemon() {
		return t.beside()
	}
	surge, unavailable := t.w.Fenceposts()
	if !t.w.Recreate() && unavailable == 0 {
		return nil
	}
	const path = "spec.strategy.rollingUpdate.maxUnavailable"
	c := &Change{ID: unavailableChange, Title: "maxUnavailable: 0"}
	if t.w.Recreate() {
		c.Title = "strategy RollingUpdate, maxUnavailable: 0"
		c.Destructive = "strategy Recreate is for versions that must not run at the same time"
		c.Cost = "old and new version serve at the same time, with one pod more"
		c.Edits = []edit.Edit{t.edit("spec.strategy.type", "RollingUpdate")}
		const asDefault = 4 // 25 %, the default of maxSurge, is one pod of up to so many
		if t.w.Replicas() > asDefault {
			c.Edits = append(c.Edits, t.rolling(0, 1)...)
		} else {
			c.Edits = append(c.Edits, t.edit(path, 0))
		}
		return c
	}
	c.Edits = append(c.Edits, t.edit(path, 0))
	c.Cost = "room for one pod more during a rollout"
	if surge == 0 {
		c.Title += ", maxSurge: 1 (needs room for one pod more" + t.scarce() + ")"
		c.Cost = "" // said
		c.Edits = append(c.Edits, t.edit("spec.strategy.rollingUpdate.maxSurge", 1))
	}
	return c
}

// scarce is what a pod asks for that is nobody else's meanwhile, such as a GPU: ", with nvidia.com/gpu: 1"; "" for none.
func (t *target) scarce() string {
	for _, c := range t.w.Template().Spec.Containers {
		for _, name := range sortedKeys(c.Resources.Limits) {
			if n := c.Resources.Limits[name]; strings.Contains(string(name), "/") && !n.IsZero() {
				return fmt.Sprintf(", with %s: %s", name, n.String())
			}
		}
	}
	return ""
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

// oneWord is the program of a preStop hook of which the name is a whole command line, "" for others: there is none of that name, and beside
// what takes its place it looks the same.
func oneWord(l *corev1.Lifecycle) string {
	if l == nil || l.PreStop == nil || l.PreStop.Exec == nil || len(l.PreStop.Exec.Command) == 0 || len(strings.Fields(l.PreStop.Exec.Command[0])) < 2 {
		return ""
	}
	return hookName(l.PreStop)
}

// sleepInWords is a hook that sleeps, and how.
func (t *target) sleepInWords(seconds int64) string {
	if t.withoutSleepAction() {
		return fmt.Sprintf("exec sleep %d (each word an item of command)", seconds)
	}
	return fmt.Sprintf("the kubelet's sleep action of %d s", seconds)
}

// longer says how much longer a pod takes to stop with a hook of so many seconds, which may come before the one that it has.
func (t *target) longer(hook *world.Hook, before bool, seconds int64) string {
	switch {
	case t.w.App.Reloads(): // it ends with the grace period, whatever its hook does
		return "each pod takes its whole grace period to stop, with this or without, for uWSGI only reloads at SIGTERM: --die-on-term in its command has it end then"
	case before:
		return fmt.Sprintf("each pod takes %d s longer to stop", seconds)
	default:
		return longerBy(*hook, t.w.EffectiveGrace(), seconds)
	}
}

// preStop has a pod go on serving for so many seconds, until nobody sends to it any more: each container that a Service leads to.
func (t *target) preStop(seconds int64) *Change {
	if t.nothingSleeps() {
		return nil
	}
	hook := t.w.Hooks[t.container().Name]
	if hook.Kind == servers.HookSleep && hook.Duration.Min() >= engine.Time(seconds)*engine.Second {
		return nil
	}
	have := slept(t.container(), hook)
	if have >= t.graceSeconds() { // one that the grace period ends is none
		have = 0
	}
	long := have >= seconds
	if long && (hook.Assumes == "" || t.withoutSleepAction() || !plainSleep(t.container().Lifecycle.PreStop)) {
		return nil
	}
	seconds = max(seconds, have)
	own, ok := t.sleepingHook(t.container(), seconds)
	if !ok {
		return nil
	}
	if long {
		own.words = ", as an action instead of a program"
	}
	title := fmt.Sprintf("preStop: sleep %d%s%s", seconds, own.words, own.needs())
	action := hook.Kind == servers.HookMissing && !t.withoutSleepAction() && plainSleep(t.container().Lifecycle.PreStop)
	if program := oneWord(t.container().Lifecycle); program != "" && hook.Kind == servers.HookMissing {
		title = fmt.Sprintf("preStop: %s instead of exec %q (no such program)", t.sleepInWords(seconds), program)
		action = !t.withoutSleepAction()
	} else if action {
		title = fmt.Sprintf("preStop: the kubelet's sleep action of %d s instead of exec %s", seconds, hookName(t.container().Lifecycle.PreStop))
	}
	cost := t.longer(&hook, own.rest > 0, seconds) + own.costs()
	if t.withoutSleepAction() {
		cost += "; the image needs a sleep program"
	}
	c := &Change{ID: "preStop", Title: title, Cost: cost, Sleep: engine.Time(seconds) * engine.Second, Action: action || long}
	c.Makeshift, c.Unless = t.makeshift(c.Sleep)
	c.Edits = append(c.Edits, t.editOf(t.path("lifecycle.preStop"), edit.Value{YAML: own.yaml}, hook.Why))
	t.asLong(c, seconds)
	if t.cut() > 0 {
		c.Has = []string{graceChange}
	}
	t.timeAfter(c, &own, have)
	return c
}

// asLong has the containers beside the server live as long as a change of its hook has it live.
func (t *target) asLong(c *Change, seconds int64) {
	containers := t.containers()
	var too, not []string
	for _, i := range t.outlasting() {
		other := t.w.Hooks[containers[i].Name]
		if other.Duration.Min() >= c.Sleep {
			continue
		}
		h, ok := t.sleepingHook(containers[i], seconds)
		if !ok {
			not = append(not, containers[i].Name)
			continue
		}
		too = append(too, containers[i].Name+h.needs())
		c.Edits = append(c.Edits, t.editOf(t.pathIn(i, "lifecycle.preStop"), edit.Value{YAML: h.yaml}, other.Why))
	}
	if len(too) > 0 {
		c.Title += " (in " + strings.Join(too, " and ") + ", too)"
	}
	if len(not) > 0 {
		c.Cost += "; " + strings.Join(not, " and ") + ": to serve as long, too, a sleep is needed there, and cannot be put into its hook here"
	}
}

// longerBy says how much longer a pod takes to stop with a hook of so many seconds than with the one that it has, which the grace period cuts.
func longerBy(hook world.Hook, grace engine.Time, seconds int64) string {
	least, most := int64(min(hook.Duration.Min(), grace)/engine.Second), int64(min(hook.Duration.Max(), grace)/engine.Second)
	switch {
	case least > seconds:
		return fmt.Sprintf("each pod takes %d s less to stop", least-seconds)
	case most > least:
		return fmt.Sprintf("each pod takes up to %d s longer to stop", seconds-least)
	default:
		return fmt.Sprintf("each pod takes %d s longer to stop", seconds-least)
	}
}

func (t *target) graceSeconds() int64 { return int64(t.w.Grace() / engine.Second) }

// longGrace is from how many seconds on a grace period is not what an app lacks.
const longGrace = 3600

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
		Edits: []edit.Edit{t.edit("spec.minReadySeconds", seconds)},
	}
}

// startup keeps the liveness probe, or a startup probe without time enough, from killing an app that is starting.
func (t *target) startup() *Change {
	c := t.container()
	if c.StartupProbe != nil {
		return t.patient()
	}
	if c.LivenessProbe == nil {
		return nil
	}
	const failures, period = 30, 10
	own := fmt.Sprintf("failureThreshold: %d, periodSeconds: %d", failures, period)
	probe := edit.Value{YAML: "{" + handlerYAML(&c.LivenessProbe.ProbeHandler) + ", " + own + "}", Words: "(as livenessProbe) " + own}
	return &Change{
		ID: "startupProbe", Title: fmt.Sprintf("startupProbe like the livenessProbe, %d s", failures*period),
		Edits: []edit.Edit{t.editOf(t.path("startupProbe"), probe, "")},
	}
}

// patient has a startup probe give the app time enough to listen, nil where it does.
func (t *target) patient() *Change {
	failures, seconds := world.FailuresFor(t.container().StartupProbe, t.w.App.Start.Max())
	if failures == 0 {
		return nil
	}
	return &Change{
		ID: "startupProbe", Title: fmt.Sprintf("startupProbe.failureThreshold: %d, %d s in all", failures, seconds),
		Edits: []edit.Edit{t.edit(t.path("startupProbe.failureThreshold"), failures)},
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
	cost, profile := "a change of the app or its image", servers.UnknownProfile
	if t.w.App.Profile == servers.IstioProxy {
		cost, profile = "a setting of the pod template", servers.IstioExitsOnZero
	}
	if why != "" {
		cost += ": " + why
	}
	return &Change{
		ID: "sigterm", Title: title, Around: Around{Profile: profile},
		Cost: strings.Join(append([]string{cost}, remedies[1:]...), "; or "),
	}
}

// graceChange is the ID of the change that gives a pod more time to end.
const graceChange = "terminationGracePeriodSeconds"

// cut is how many seconds the hook of the server takes that the grace period ends before it is over, 0 where it does not.
func (t *target) cut() int64 {
	if took := int64(t.w.Hooks[t.container().Name].Duration.Min() / engine.Second); took >= t.graceSeconds() && took < longGrace {
		return took
	}
	return 0
}

// grace gives requests in flight more time. A process that takes no notice of SIGTERM only lives longer with it, unless it is its hook that
// is cut: then the period has room for that and for what comes after it.
func (t *target) grace() *Change {
	have, hook := t.graceSeconds(), t.cut()
	if have >= longGrace || t.w.App.IgnoresSIGTERM && hook == 0 {
		return nil
	}
	seconds := 2 * max(have, 30)
	if hook > 0 {
		const tens = 10
		seconds = (hook + int64(max(t.w.App.FinishWithin, spare)/engine.Second) + tens - 1) / tens * tens
	}
	return &Change{
		ID: graceChange, Title: graceWords(seconds),
		Edits: []edit.Edit{t.edit(gracePath, seconds)},
	}
}
