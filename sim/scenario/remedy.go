package scenario

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Some losses are not the workload's to mend: its load balancer has to know a new pod before the old
// one goes, or to let go of what it has. What is changed then is another object of the manifests.

// Remedy is such a change, and the Scenario as it is with it. A fix shows Path, From and To as an edit
// of Object and tries the Scenario; the Scenario given to the functions below stays as it is.
type Remedy struct {
	Title    string
	Scenario *world.Scenario
	// Object is what is changed at Path from From to To, "" for not there; nil where the input does
	// not have the object.
	Object         *manifest.Object
	Path, From, To string
	// YAML is what to paste, line by line, indented from the first of them on: the field, or, where
	// Object is nil, the document to add.
	YAML []string
}

// WithReadinessGate has the AWS Load Balancer Controller give the pods of a workload ("ns/name") the
// readiness gate of their target group, as it does in a namespace with the label: a rollout then
// waits until the load balancer has found each new pod healthy (docs/model/load-balancers.md 2, lbc
// readiness gate). ok is false where no load balancer with pods as targets stands before the
// workload, or it gives them the gate already.
func WithReadinessGate(s *world.Scenario, workload string) (r Remedy, ok bool) {
	namespace, _, _ := strings.Cut(workload, "/")
	r = Remedy{Title: "readiness gate of the AWS Load Balancer Controller", Scenario: s.Clone(), Path: fmt.Sprintf("metadata.labels[%q]", gateLabel), To: gateEnabled}
	for i := range r.Scenario.Traffic {
		t := &r.Scenario.Traffic[i]
		if t.LB == nil || t.LB.GateInjection != world.InjectNever || !s.Serves(t.Door().Service, workload) {
			continue
		}
		if p, _ := presetFor(t.LB.Preset, ""); p.LoadBalancer.GateInjection == world.InjectLabelled && t.LB.ReadinessGate != "" {
			lb := *t.LB
			lb.GateInjection = world.InjectAlways
			t.LB, ok = &lb, true
		}
	}
	label := gateLabel + ": " + gateEnabled
	if r.Object = s.Namespaces[namespace]; r.Object == nil {
		r.YAML = []string{"apiVersion: v1", "kind: Namespace", "metadata:", "  name: " + namespace, "  labels:", "    " + label}
		return r, ok
	}
	r.YAML = []string{"metadata:", "  labels:", "    " + label}
	if n, is := r.Object.Value.(*corev1.Namespace); is {
		r.From = n.Labels[gateLabel]
	}
	return r, ok
}

// WithConnectionDraining has Google's HTTP load balancer let connections to a pod or node that was
// removed live on for d, whole seconds: without a BackendConfig they are cut at once
// (docs/model/load-balancers.md 1, GKE L7). service is "ns/name". ok is false where no such load
// balancer stands before it, or it drains for as long already.
func WithConnectionDraining(s *world.Scenario, service string, d engine.Time) (r Remedy, ok bool) {
	namespace, name, _ := strings.Cut(service, "/")
	seconds := (d + engine.Second - 1) / engine.Second
	r = Remedy{Title: fmt.Sprintf("connection draining %d s (BackendConfig)", seconds), Scenario: s.Clone(), To: fmt.Sprint(int64(seconds))}
	for i := range r.Scenario.Traffic {
		t := &r.Scenario.Traffic[i]
		if t.LB == nil || t.Service != service || !strings.HasPrefix(t.LB.Preset, "gke-l7-") || t.LB.Drain >= seconds*engine.Second {
			continue
		}
		lb := *t.LB
		lb.Drain = seconds * engine.Second
		t.LB, ok = &lb, true
		if t.Route != nil && t.Route.Backend != nil {
			r.Object = t.Route.Backend
		}
	}
	config := []string{"spec:", "  connectionDraining:", "    drainingTimeoutSec: " + r.To}
	if r.Object != nil {
		r.Path, r.YAML = "spec.connectionDraining.drainingTimeoutSec", config
		if from := rawAt(r.Object.Value, "spec", "connectionDraining", "drainingTimeoutSec"); from != nil {
			r.From = fmt.Sprint(from)
		}
		return r, ok
	}
	const annotation = "cloud.google.com/backend-config"
	r.Path = fmt.Sprintf("metadata.annotations[%q]", annotation)
	r.To = fmt.Sprintf(`{"default": %q}`, name)
	for i := range s.Services {
		if v := &s.Services[i]; v.Service.Namespace+"/"+v.Service.Name == service {
			r.Object, r.From = v.Object, v.Service.Annotations[annotation]
		}
	}
	r.YAML = append([]string{
		"metadata:", "  annotations:", "    " + annotation + ": '" + r.To + "'", "---",
		"apiVersion: cloud.google.com/v1", "kind: BackendConfig", "metadata:", "  name: " + name, "  namespace: " + namespace,
	}, config...)
	return r, ok
}

// TerminationRemedies says what helps an app that goes on after SIGTERM until it is killed, the best
// first; nil for one that ends. A longer grace period is none: the app would only wait longer for its
// SIGKILL, and whatever it is doing then is cut all the same (docs/model/pod-lifecycle.md 2.3).
func TerminationRemedies(a *world.App) []string {
	if !a.IgnoresSIGTERM {
		return nil
	}
	handler := "a handler for SIGTERM in the app that stops listening and finishes what it has begun"
	stop := "STOPSIGNAL in the Dockerfile, if the app ends in order on another signal"
	switch a.Profile {
	case "shell-pid1":
		return []string{`exec in the command, so that the app itself is PID 1: sh -c "exec ./server"`, handler, stop}
	case "node-default":
		return []string{
			"process.on('SIGTERM', () => server.close()) in the app: as PID 1, node ignores SIGTERM without a handler",
			`an init as PID 1, such as ENTRYPOINT ["tini", "--"]: then SIGTERM ends the app at once, and cuts what it has begun`, stop,
		}
	default:
		return []string{handler, `an init as PID 1, such as ENTRYPOINT ["tini", "--"]: then SIGTERM ends the app at once, and cuts what it has begun`, stop}
	}
}
