package story

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// source is the line of the manifests that asks for an event, "" for none.
func (t *names) source(e *event.Event) (string, int) {
	if e.Action != nil {
		return e.Action.Pos.File, e.Action.Pos.Line
	}
	if e.Kind == event.Deadline {
		return at(&t.sc.Workloads[e.Workload], "spec.progressDeadlineSeconds")
	}
	if e.Pod < 0 {
		return "", 0
	}
	w := &t.sc.Workloads[t.pods[e.Pod].Workload]
	switch e.Kind {
	case event.PreStop, event.PreStopFailed:
		return at(w, world.ServingPath(&w.Template().Spec, e.Container.Name)+".lifecycle.preStop")
	case event.Term:
		if w.Hooks[w.Container().Name].Kind == "" {
			return at(w, serverPath(w)) // no preStop: this is where it would stand
		}
	case event.Kill:
		return at(w, "spec.template.spec.terminationGracePeriodSeconds")
	case event.Ready, event.NotReady:
		return at(w, serverPath(w)+".readinessProbe")
	case event.Volume:
		if claims := w.Exclusive(); len(claims) > 0 {
			return at(w, claims[0].Path)
		}
	case event.Gate:
		if path := w.GatePath(e.Gate); path != "" {
			return at(w, path)
		}
	case event.Ended:
		if e.Ending == event.Liveness {
			return at(w, serverPath(w)+".livenessProbe")
		}
	default: // nothing in the manifest asks for it
	}
	return "", 0
}

// at is where a field of a workload stands, or its nearest ancestor.
func at(w *world.Workload, path string) (string, int) {
	p := w.At(path)
	return p.File, p.Line
}

// serverPath is the container that traffic goes to.
func serverPath(w *world.Workload) string {
	return world.ServingPath(&w.Template().Spec, w.Container().Name)
}

// CulpritOf names the line behind failures that are alike, ok false when no line of the
// workload's manifest is. updated says that the workload is, at least once: how an update goes on has nothing to do with what else ends
// its pods.
func CulpritOf(w *world.Workload, b ledger.Blame, updated bool) (c Culprit, ok bool) {
	what, path := culprit(w, b, updated)
	if b.Cause == ledger.NoLocalEndpoint && b.Actor == ledger.App {
		what, path = saysUnready(w)
	}
	if what == "" {
		return Culprit{}, false
	}
	c.What, c.Object = what, w.Name()
	c.File, c.Line = at(w, path)
	if c.Probe, path = probeBehind(w, b); c.Probe != "" {
		c.ProbeFile, c.ProbeLine = at(w, path)
	}
	return c, true
}

// ToNothing is the What of a Culprit that is no manifest but the Scenario.
const ToNothing = "the Scenario scales it to 0"

// ScaledToNothing is the action that leaves a workload without any pod for good, ok false where none does.
func ScaledToNothing(s *world.Scenario, w *world.Workload) (c Culprit, ok bool) {
	for i := range s.Actions {
		if o, scale := s.Actions[i].Operation.(world.Scale); scale && o.Workload == w.Name() {
			at := s.Actions[i].Pos
			c, ok = Culprit{What: ToNothing, Object: w.Name(), File: at.File, Line: at.Line}, o.Replicas == 0
		}
	}
	if !ok {
		return Culprit{}, false
	}
	return c, true
}

// NotReadyPublished is the line of a Service whose endpoints are ready whatever their pods are, where it sends clients to a pod that does
// not listen yet, or no longer: a probe has no say in that. ok is false for other Services and causes.
func NotReadyPublished(s *world.Scenario, stream int, b ledger.Blame) (c Culprit, ok bool) {
	if b.Cause != ledger.NotListeningYet && b.Cause != ledger.ListenerClosed {
		return Culprit{}, false
	}
	name := s.Traffic[stream].Service
	for i := range s.Services {
		v := &s.Services[i]
		if v.Service.Namespace+"/"+v.Service.Name != name || !v.Service.Spec.PublishNotReadyAddresses {
			continue
		}
		c = Culprit{What: "publishNotReadyAddresses: true of Service " + v.Service.Name, Object: name}
		if v.Object != nil {
			p := v.Object.At("spec.publishNotReadyAddresses")
			c.File, c.Line = p.File, p.Line
		}
		return c, true
	}
	return Culprit{}, false
}

// NoReadinessProbe is the What of a Culprit that is a missing probe.
const NoReadinessProbe = "no readinessProbe"

// Liveness is how the What of a Culprit begins that is a livenessProbe which restarts a pod.
const Liveness = "livenessProbe"

// RestartedBy is the probe that had the pod of a request restarted which nobody had deleted: whatever was late afterwards, the probe is behind it. ok
// is false for other requests.
func (t *Teller) RestartedBy(r ledger.Request) (c Culprit, ok bool) {
	hero := t.hero(&r)
	for i := range t.events {
		switch e := &t.events[i]; {
		case e.Pod != hero || hero < 0 || e.At > r.End:
		case e.Kind == event.Deleted:
			return Culprit{}, false
		case e.Kind == event.Ended && e.Ending == event.Liveness:
			ok = true
		}
	}
	if !ok {
		return Culprit{}, false
	}
	w := &t.sc.Workloads[t.pods[hero].Workload]
	c = Culprit{What: Liveness, Object: w.Name()}
	if p := w.Container().LivenessProbe; p != nil {
		c.What += fmt.Sprintf(" of periodSeconds %d, failureThreshold %d", p.PeriodSeconds, p.FailureThreshold)
	}
	c.File, c.Line = at(w, serverPath(w)+".livenessProbe")
	return c, true
}

// Culprit is the line of the manifests behind failures that are alike: What stands there, or is missing ("no preStop").
// The zero Culprit is none.
type Culprit struct {
	What   string
	Object string // the workload
	File   string
	Line   int
	// Probe is the one that a pod which serves already has not passed yet, with its times, and where it stands; "" for none that takes long.
	Probe     string
	ProbeFile string
	ProbeLine int
}

// Same says that two are the same line, whichever probe stands beside it.
func (c Culprit) Same(o Culprit) bool {
	c.Probe, c.ProbeFile, c.ProbeLine = o.Probe, o.ProbeFile, o.ProbeLine
	return c == o
}

func culprit(w *world.Workload, b ledger.Blame, updated bool) (what, path string) {
	server := serverPath(w)
	hook := w.Hooks[w.Container().Name]
	preStop := func() (string, string) { return hookOf(w) }
	switch b.Cause {
	case ledger.StaleLB:
		if hook.FailsAtOnce() || cutAt(w, &hook) != "" { // what was to keep the pod there does not
			return preStop()
		}
		return "", ""
	case ledger.StaleRules, ledger.KeepaliveRace:
		return preStop()
	case ledger.NoEndpoint, ledger.NoLocalEndpoint, ledger.ListenerClosed:
		if claims := w.Exclusive(); b.Actor == ledger.VolumeAttach && len(claims) > 0 {
			return fmt.Sprintf("volume claim %s, %s", claims[0].Name, claims[0].Access), claims[0].Path
		}
		if crashes(w) {
			return minReady(w)
		}
		if b.Elsewhere && b.Cause == ledger.ListenerClosed {
			if flag, path := closesUnseen(w); flag != "" {
				return flag, path
			}
			return preStop()
		}
		return fewPods(w, updated)
	case ledger.AppError:
		return behindProxy(w, b)
	case ledger.KilledInFlight:
		return fmt.Sprintf("terminationGracePeriodSeconds %d", grace(w)), "spec.template.spec.terminationGracePeriodSeconds"
	case ledger.ExitInFlight:
		return atSIGTERM(w), server
	case ledger.NotListeningYet:
		if !hasReadiness(w) {
			return NoReadinessProbe, server
		}
		if p := w.Container().ReadinessProbe; w.App.PassesAtOnce(p) {
			return "a readinessProbe that does not ask the server", server + ".readinessProbe"
		}
		return "readinessProbe", server + ".readinessProbe"
	case ledger.LivenessRestart:
		return "livenessProbe", server + ".livenessProbe"
	case ledger.Crashed:
		return minReady(w)
	default:
		return "", ""
	}
}

// atSIGTERM is what the app does with requests that it is answering when it is told to end.
func atSIGTERM(w *world.Workload) string {
	if w.App.Reloads() {
		return "the app is uWSGI without --die-on-term: at SIGTERM it reloads, cuts what it has begun, and ends only when its grace period is over"
	}
	return "the app does not finish its requests after SIGTERM"
}

// hookOf is what the preStop hook of a server does, or that it has none.
func hookOf(w *world.Workload) (what, path string) {
	hook, server := w.Hooks[w.Container().Name], serverPath(w)
	if hook.Kind == "" {
		return noPreStop(w), server
	}
	return "preStop: " + hook.Why + cutAt(w, &hook), server + ".lifecycle.preStop"
}

// behindProxy is the container that ends before the proxy in front of it, and what its hook does.
func behindProxy(w *world.Workload, b ledger.Blame) (what, path string) {
	if b.Actor != ledger.Spec || len(w.Behind) == 0 {
		return "", ""
	}
	first := slices.MinFunc(w.Behind, func(x, y string) int { return cmp.Compare(w.Hooks[x].Duration.Min(), w.Hooks[y].Duration.Min()) })
	path = world.ServingPath(&w.Template().Spec, first)
	if w.Hooks[first].Kind == "" {
		return "no preStop of container " + first + ", which is behind " + w.Server, path
	}
	return "a shorter preStop of container " + first + ", which is behind " + w.Server + ": " + w.Hooks[first].Why, path + ".lifecycle.preStop"
}

// saysUnready is what has a server that stops fail its readiness probe on purpose: its hook, or SIGTERM.
func saysUnready(w *world.Workload) (what, path string) {
	if hook := w.Hooks[w.Container().Name]; hook.FailsReadiness || hook.SignalsServer {
		return hookOf(w)
	}
	words := "a readinessProbe that the server fails from SIGTERM on"
	if p := w.Container().ReadinessProbe; p != nil {
		words += fmt.Sprintf(", of periodSeconds %d, failureThreshold %d", p.PeriodSeconds, p.FailureThreshold)
	}
	return words, serverPath(w) + ".readinessProbe"
}

// cutAt says that the grace period ends a hook before it is over, "" where it does not.
func cutAt(w *world.Workload, hook *world.Hook) string {
	if least := hook.Duration.Min(); least == 0 || least <= w.EffectiveGrace() {
		return ""
	}
	words := fmt.Sprintf("; terminationGracePeriodSeconds cuts it at %d s", w.EffectiveGrace()/engine.Second)
	if w.Grace() < engine.Second {
		words += ", the least there is"
	}
	return words
}

// noPreStop says whose there is not, which is the server's, where another container beside it has one.
func noPreStop(w *world.Workload) string {
	for _, h := range w.Hooks { // order: whether there is one
		if h.Kind != "" {
			return "no preStop of container " + w.Container().Name + ", which the Service leads to"
		}
	}
	return "no preStop"
}

// minReady is what lets a rollout go on before a new pod has shown that it stays ready.
func minReady(w *world.Workload) (what, path string) {
	if w.Kind() == world.Pod {
		return "", ""
	}
	return fmt.Sprintf("minReadySeconds %d", w.MinReadySeconds()), "spec.minReadySeconds"
}

// crashes says that the app of some revision does, after it was ready.
func crashes(w *world.Workload) bool {
	for _, a := range w.Revisions { // order: any one decides
		if a.CrashAfter > 0 {
			return true
		}
	}
	return w.App.CrashAfter > 0
}

// fewPods names what leaves too few pods.
func fewPods(w *world.Workload, updated bool) (what, path string) {
	if !updated && w.Kind() != world.DaemonSet && w.Kind() != world.Pod {
		return replicas(w)
	}
	if w.Recreate() {
		return "strategy Recreate", "spec.strategy.type"
	}
	switch w.Kind() {
	case world.DaemonSet:
		return fewNodes(w)
	case world.Pod:
		return "a Pod that no controller keeps", "kind"
	}
	if _, unavailable := w.Fenceposts(); unavailable > 0 {
		_, written := world.RollingOf(w.Resource)
		return fmt.Sprintf("maxUnavailable %s of %s", written.String(), plural(int32(w.Replicas()), "replica")), "spec.strategy.rollingUpdate.maxUnavailable"
	}
	return replicas(w)
}

// replicas is how many pods a workload asks for, or that it does not say.
func replicas(w *world.Workload) (what, path string) {
	if w.Object != nil && !w.Object.Has("spec.replicas") && w.Replicas() == 1 {
		return "no spec.replicas, so 1", "spec"
	}
	return plural(int32(w.Replicas()), "replica"), "spec.replicas"
}

// fewNodes names what leaves nodes without their pod of a DaemonSet.
func fewNodes(w *world.Workload) (what, path string) {
	nodes := plural(int32(w.Replicas()), "node")
	if _, unavailable := w.Fenceposts(); unavailable > 0 {
		_, written := world.RollingOf(w.Resource)
		return fmt.Sprintf("maxUnavailable %s of %s", written.String(), nodes), "spec.updateStrategy.rollingUpdate.maxUnavailable"
	}
	return "one pod on each of " + nodes, "spec.template"
}

func plural(n int32, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

func grace(w *world.Workload) int64 { return int64(w.Grace() / engine.Second) }

func hasReadiness(w *world.Workload) bool { return w.Container().ReadinessProbe != nil }
