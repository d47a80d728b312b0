package story

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/cluster"
	"github.com/lameduck-proxy/lameduck/sim/control"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// pod is what a story calls a pod: by age where there is more than one revision, and by its
// workload where there is more than one.
func (t *names) pod(id api.PodID) string {
	p := &t.pods[id]
	words := fmt.Sprintf("pod %d", p.Ordinal)
	if p.Called != "" {
		words = p.Called
	}
	switch {
	case t.last[p.Workload] == 0:
	case p.Revision == t.last[p.Workload]:
		words = "new " + words
	default:
		words = "old " + words
	}
	if len(t.sc.Workloads) > 1 && p.Called == "" {
		words += " of " + t.sc.Workloads[p.Workload].ObjectName()
	}
	return words
}

func (t *names) podList(ids []api.PodID) string {
	const most = 4
	var out []string
	for i, id := range ids {
		if i == most {
			out = append(out, fmt.Sprintf("%d more", len(ids)-most))
			break
		}
		out = append(out, t.pod(id))
	}
	return strings.Join(out, ", ")
}

// words say what an event is.
func (t *names) words(e *event.Event) string {
	switch e.Kind {
	case event.Action:
		return actionWords(e.Action)
	case event.Deadline:
		return control.DeadlineWords(t.sc.Workloads[e.Workload].ObjectName(), e.Seconds)
	case event.NoHistory:
		return cluster.NoHistoryWords(t.sc.Workloads[e.Workload].ObjectName())
	case event.Tainted, event.Untainted, event.NodeGone, event.NodeBack, event.NodeReady, event.Joined:
		return t.nodeWords(e)
	case event.Cordoned, event.Drained:
		return t.drainWords(e)
	case event.Resumed:
		if _, service := e.Action.Operation.(world.DeleteService); service {
			return "service " + e.Action.Target() + " is made again"
		}
		return e.Action.Target() + " runs again"
	case event.Wait:
		return t.waitWords(e)
	case event.Rules:
		return t.rulesWords(e)
	case event.Ingress:
		if len(e.Targets) == 0 {
			return t.pod(e.Pod) + " has no endpoint to ask"
		}
		return fmt.Sprintf("%s asks %s", t.pod(e.Pod), t.podList(e.Targets))
	case event.Balancer:
		member := ""
		if e.Pod >= 0 {
			member = t.pod(e.Pod)
		} else {
			member = t.sc.Nodes[e.Node].Name
		}
		if e.OK && e.Fallback {
			return fmt.Sprintf("%s has no healthy target: it sends to all, %s too (fails open)", t.front(e.Stream), member)
		}
		if e.OK {
			return t.front(e.Stream) + " sends to " + member
		}
		return fmt.Sprintf("%s sends nothing new to %s", t.front(e.Stream), member)
	case event.HealthPort:
		code := "503: load balancers are told to leave"
		if e.OK {
			code = "200"
		}
		return fmt.Sprintf("health port of %s: %s", t.sc.Nodes[e.Node].Name, code)
	default:
		return t.podWords(e)
	}
}

// waitWords says that a node's proxy waits, and for what its last sync was where that was none of the
// Scenario's Services.
func (t *names) waitWords(e *event.Event) string {
	last := "its last sync"
	if e.Others {
		last = "a sync for another Service"
	}
	return fmt.Sprintf("%s's kube-proxy hears of it and waits %s s, until %s s after %s",
		t.sc.Nodes[e.Node].Name, hundredths(e.Until-e.At), t.sc.Nodes[e.Node].Proxy.MinSyncPeriod.Seconds(), last)
}

// front is what a story calls that which a stream of requests goes through: a proxy by its name.
func (t *names) front(stream int) string {
	if lb := t.sc.Traffic[stream].LB; lb != nil && lb.Layer7 != nil && lb.Preset != "" {
		return lb.Preset
	}
	return "load balancer"
}

func (t *names) rulesWords(e *event.Event) string {
	node := t.sc.Nodes[e.Node].Name
	switch e.Verdict {
	case packet.Endpoints:
		words := fmt.Sprintf("rules on %s lead to %s", node, t.podList(e.Targets))
		if e.Fallback {
			words += ": terminating, but no pod is ready in scope (KEP-1669)"
		}
		return words
	case packet.Reject:
		return fmt.Sprintf("rules on %s refuse connections: no usable endpoint anywhere", node)
	case packet.Drop:
		return fmt.Sprintf("rules on %s drop connections: no usable endpoint on this node", node)
	default:
		return fmt.Sprintf("rules on %s know no such Service", node)
	}
}

func (t *names) nodeWords(e *event.Event) string {
	node := t.sc.Nodes[e.Node].Name
	switch {
	case e.Kind == event.NodeGone:
		return node + " is gone"
	case e.Kind == event.Joined:
		return node + " has joined"
	case e.Kind == event.Untainted && e.OK:
		return node + " is not to be deleted any more: its health port 10256 says 200"
	case e.Kind == event.Untainted:
		return node + " is not to be deleted any more"
	case e.Kind == event.NodeBack:
		return node + " runs again"
	case e.Kind == event.NodeReady && e.OK:
		return node + " counts as ready again"
	case e.Kind == event.NodeReady && e.Refusal != "":
		return node + " counts as not ready, and its pods with it: " + e.Refusal
	case e.Kind == event.NodeReady:
		return node + " says that it shuts down, and is not ready; its pods stay ready"
	case e.OK:
		return node + " tainted for deletion: its health port 10256 goes on saying 200"
	default:
		return node + " tainted for deletion: its health port 10256 says 503"
	}
}

func (t *names) drainWords(e *event.Event) string {
	node := t.sc.Nodes[e.Node].Name
	switch {
	case e.Kind == event.Cordoned && e.Name != "" && e.OK:
		return fmt.Sprintf("%s marks %s: no further pod is put there", e.Name, node)
	case e.Kind == event.Cordoned && e.Name != "":
		return fmt.Sprintf("%s leaves %s as it was", e.Name, node)
	case e.Kind == event.Cordoned && e.OK:
		return node + " cordoned: no further pod is put there, and load balancers go on as before"
	case e.Kind == event.Cordoned:
		return node + " uncordoned"
	case e.OK && e.Name != "":
		return fmt.Sprintf("%s is done with the pods of %s", e.Name, node)
	case e.OK:
		return "kubectl drain of " + node + " is done"
	default:
		return fmt.Sprintf("%s gives up on %s: %s", cmp.Or(e.Name, "kubectl drain"), node, e.Refusal)
	}
}

func (t *names) podWords(e *event.Event) string {
	p := t.pod(e.Pod)
	switch e.Kind {
	case event.Created:
		return p + " created"
	case event.Deleted:
		return p + " deleted"
	case event.Ready:
		return p + " ready"
	case event.NotReady:
		return p + " not ready"
	case event.Gone:
		return p + " gone"
	case event.Volume:
		return p + map[bool]string{true: " has its volume", false: " waits for its volume"}[e.OK]
	case event.Gate:
		return fmt.Sprintf("readiness gate %s of %s %s", e.Gate, p, map[bool]string{true: "opens", false: "closes"}[e.OK])
	case event.Endpoint:
		c := e.Conditions
		return fmt.Sprintf("slice: %s ready=%t serving=%t terminating=%t", p, c.Ready(), c.Serving(), c.Terminating())
	case event.EndpointGone:
		return fmt.Sprintf("slice: %s removed", p)
	case event.EvictionRefused:
		return fmt.Sprintf("eviction of %s refused: %s", p, e.Refusal)
	case event.PreStop:
		return fmt.Sprintf("preStop of %s begins: %s", p, e.Hook.Why)
	case event.PreStopFailed:
		return fmt.Sprintf("preStop of %s fails at once: %s", p, e.Hook.Why)
	case event.Term:
		return "SIGTERM to " + p
	case event.Kill:
		return fmt.Sprintf("SIGKILL to %s: its grace period is over", p)
	case event.Listening:
		return p + " listens"
	case event.Closed:
		return p + " accepts no connections any more"
	default:
		return p + " " + endingWords(e.Ending)
	}
}

func endingWords(e event.Ending) string {
	return map[event.Ending]string{
		event.ByItself: "exits", event.Killed: "is killed",
		event.Liveness: "is restarted by its probe", event.Crashed: "crashes", event.WithNode: "is gone with its machine",
	}[e]
}

// backWords say when a machine is there again that has crashed.
func backWords(a *world.Action) string {
	if a.For == 0 {
		return ""
	}
	return ", back after " + a.For.Duration().String()
}

func actionWords(a *world.Action) string {
	switch o := a.Operation.(type) {
	case world.RolloutRestart:
		return "rolling restart of " + o.Workload
	case world.CreatePod:
		return "kubectl create pod " + o.Pod
	case world.CrashPod, world.CrashNode:
		return "crash of " + a.Target() + backWords(a)
	case world.ShutdownNode:
		return "shutdown of " + a.Target()
	case world.SpotNotice:
		return fmt.Sprintf("spot notice for %s: %s", a.Target(), a.Value())
	case world.DeleteNode:
		return strings.TrimSpace(fmt.Sprintf("kubectl delete node %s %s", o.Node, map[bool]string{true: "as its machine goes"}[o.Machine]))
	case world.CreateNode:
		return strings.TrimSpace(fmt.Sprintf("node %s joins %s", o.Node, a.Value()))
	case world.Drain:
		return strings.TrimSpace(fmt.Sprintf("kubectl drain %s %s", a.Target(), o.Flags()))
	case world.Cordon:
		return "kubectl cordon " + o.Node
	case world.Evict:
		return "eviction of " + a.Target()
	case world.Relabel:
		return fmt.Sprintf("kubectl label pod %s %s", a.Target(), a.Value())
	case world.SetSelector:
		return fmt.Sprintf("kubectl set selector service %s %s", a.Target(), a.Value())
	case world.SetPort:
		return fmt.Sprintf("kubectl patch service %s %s", a.Target(), a.Value())
	case world.SetBudget:
		return fmt.Sprintf("kubectl patch poddisruptionbudget %s %s", a.Target(), a.Value())
	case world.DeleteService:
		return "kubectl delete service " + o.Service
	case world.ScaleDownNode:
		return "Cluster Autoscaler removes " + o.Node
	case world.Consolidate:
		return strings.TrimSpace(fmt.Sprintf("Karpenter disrupts %s %s", a.Target(), a.Value()))
	case world.UpgradePool:
		return fmt.Sprintf("upgrade of a node pool (%s): %s", a.Value(), a.Target())
	case world.Component:
		return o.Name + map[string]string{
			world.ComponentPause: " is paused", world.ComponentResume: " runs again", world.ComponentRestart: " is restarted",
		}[o.What]
	}
	return strings.TrimSpace(strings.Join([]string{a.Verb(), a.Target(), a.Value()}, " "))
}

// hundredths is a duration to a hundredth of a second, which is what a story needs: "0.98".
func hundredths(t engine.Time) string { return (t - t%(10*engine.Millisecond)).Seconds() }

// lostWords say what became of a request, told at that time.
func (t *names) lostWords(l *Lost, told engine.Time) string {
	r := &l.Request
	where := "a node"
	switch {
	case r.Ingress != "":
		where = t.pod(t.named(r.Ingress))
	case r.Node >= 0 && r.Node < len(t.sc.Nodes):
		where = t.sc.Nodes[r.Node].Name
	case t.sc.Traffic[r.Stream].LB != nil: // past the nodes
		where = t.front(r.Stream)
	}
	if r.Pod != "" && l.Pod >= 0 {
		where += " -> " + t.pod(l.Pod)
	}
	seen := map[ledger.Outcome]string{
		ledger.Refused: "connection refused", ledger.Reset: "connection reset", ledger.Timeout: "timeout", ledger.HTTP5xx: "HTTP 5xx", ledger.Unreachable: "no route to host",
	}[r.Outcome]
	if seen == "" {
		seen = r.Outcome.String()
	}
	sent := ""
	switch {
	case r.End-r.Arrival < engine.Second:
	case told == r.Arrival:
		seen += fmt.Sprintf(" after %s s", hundredths(r.End-r.Arrival))
	default:
		sent = fmt.Sprintf(", sent %s s before", hundredths(r.End-r.Arrival))
	}
	if sent != "" && l.Elsewhere {
		sent += " to where nothing answered"
	}
	return fmt.Sprintf("this request%s: %s: %s", sent, where, seen)
}
