package scenario

import (
	"fmt"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/edit"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Some losses are not the workload's to mend: its load balancer has to know a new pod before the old
// one goes, or to let go of what it has. What is changed then is another object of the manifests.

// Remedy is such a change, and the Scenario as it is with it. A fix shows the Edit and tries the Scenario; the Scenario given to the
// functions below stays as it is.
type Remedy struct {
	Title    string
	Scenario *world.Scenario
	// Edit is of another object than the workload; its With the object to add where the input does not have it. It has no Path where
	// nothing in a manifest can be changed to that end.
	Edit edit.Edit
	// Cost is what it takes besides, "" for nothing.
	Cost string
}

// WithReadinessGate has the AWS Load Balancer Controller give the pods of a workload ("ns/name") the
// readiness gate of their target group, as it does in a namespace with the label: a rollout then
// waits until the load balancer has found each new pod healthy (docs/model/load-balancers.md 2, lbc
// readiness gate). ok is false where no load balancer with pods as targets stands before the
// workload, or it gives them the gate already.
func WithReadinessGate(s *world.Scenario, workload string) (r Remedy, ok bool) {
	namespace, _, _ := strings.Cut(workload, "/")
	r = Remedy{Title: "readiness gate of the AWS Load Balancer Controller", Scenario: s.Clone()}
	label := gateLabel
	for i := range r.Scenario.Traffic {
		t := &r.Scenario.Traffic[i]
		if t.LB == nil || t.LB.GateInjection != world.InjectNever || !s.Serves(t.ClientSide().Service, workload) {
			continue
		}
		if p, _ := presetFor(t.LB.Preset, ""); p.LoadBalancer.GateInjection == world.InjectLabelled && t.LB.ReadinessGate != "" {
			lb := *t.LB
			lb.GateInjection = world.InjectAlways
			t.LB, ok = &lb, true
			if label = gateLabelOf(s, t); label == autoModeGateLabel {
				r.Title = "readiness gate of EKS Auto Mode"
			}
		}
	}
	r.Title += ", by a label of Namespace " + namespace
	path, to := fmt.Sprintf("metadata.labels[%q]", label), edit.Value{YAML: gateEnabled}
	if o := s.Namespaces[namespace]; o != nil {
		r.Edit = edit.New(o, o.Value, path, to, "")
		r.Edit.Merge = true
		return r, ok
	}
	r.Edit = edit.New(nil, nil, path, to, "")
	r.Edit.With.YAML = fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s, labels: {%s: %s}}}", edit.Word(namespace), label, gateEnabled)
	return r, ok
}

// The kinds in which Google's HTTP load balancers are told how to treat backends: of an Ingress, and of a Gateway.
const (
	kindBackendConfig = "BackendConfig"
	kindBackendPolicy = "GCPBackendPolicy"
	kindHealthPolicy  = "HealthCheckPolicy"
)

// WithConnectionDraining has Google's HTTP load balancer let connections to a pod or node that was
// removed live on for d, whole seconds: without a BackendConfig, or for a Gateway a GCPBackendPolicy, they are cut at once
// (docs/model/load-balancers.md 1, GKE L7). service is "ns/name". ok is false where no such load
// balancer stands before it, or it drains for as long already.
func WithConnectionDraining(s *world.Scenario, service string, d engine.Time) (r Remedy, ok bool) {
	namespace, name, _ := strings.Cut(service, "/")
	seconds := (d + engine.Second - 1) / engine.Second
	r = Remedy{Scenario: s.Clone()}
	kind := kindBackendConfig
	var config *manifest.Object
	for i := range r.Scenario.Traffic {
		t := &r.Scenario.Traffic[i]
		if t.LB == nil || t.Service != service || !strings.HasPrefix(t.LB.Preset, "gke-l7-") || t.LB.Drain >= seconds*engine.Second {
			continue
		}
		lb := *t.LB
		lb.Drain = seconds * engine.Second
		t.LB, ok = &lb, true
		if t.Route != nil {
			config = t.Route.Backend
			if t.Route.Ingress.Value == nil {
				kind = kindBackendPolicy
			}
		}
	}
	r.Title = fmt.Sprintf("connection draining %d s (%s)", seconds, kind)
	if config != nil {
		path := map[string]string{kindBackendConfig: "spec", kindBackendPolicy: "spec.default"}[config.Kind] + ".connectionDraining.drainingTimeoutSec"
		r.Edit = edit.New(config, config.Value, path, edit.Value{YAML: fmt.Sprint(int64(seconds))}, "")
		r.Edit.Merge = true
		return r, ok
	}
	if kind == kindBackendPolicy { // it names its Service
		r.Edit = edit.New(nil, nil, "spec.default.connectionDraining.drainingTimeoutSec", edit.Value{YAML: fmt.Sprint(int64(seconds))}, "")
		r.Edit.With.YAML = fmt.Sprintf("{apiVersion: networking.gke.io/v1, kind: GCPBackendPolicy, metadata: {name: %s, namespace: %s}, spec: {default: {connectionDraining: {drainingTimeoutSec: %d}}, targetRef: {group: '', kind: Service, name: %s}}}",
			edit.Word(name), edit.Word(namespace), int64(seconds), edit.Word(name))
		return r, ok
	}
	// The Service is to name a BackendConfig that is added.
	named := fmt.Sprintf(`{"default": %q}`, name)
	var o *manifest.Object
	var of any
	for i := range s.Services {
		if v := &s.Services[i]; v.Service.Namespace+"/"+v.Service.Name == service {
			o, of = v.Object, v.Service
		}
	}
	const annotation = "cloud.google.com/backend-config"
	r.Edit = edit.New(o, of, fmt.Sprintf("metadata.annotations[%q]", annotation), edit.Value{YAML: "'" + named + "'", Words: named}, "")
	r.Edit.Merge = true
	r.Edit.With.YAML = fmt.Sprintf("{apiVersion: cloud.google.com/v1, kind: BackendConfig, metadata: {name: %s, namespace: %s}, spec: {connectionDraining: {drainingTimeoutSec: %d}}}",
		edit.Word(name), edit.Word(namespace), int64(seconds))
	return r, ok
}

// TerminationRemedies says what helps an app that goes on after SIGTERM until it is killed, or ends at once and cuts what it has begun, the
// best first; nil for one that finishes that. A longer grace period is none: the app would only wait longer for its
// SIGKILL, and whatever it is doing then is cut all the same (docs/model/pod-lifecycle.md 2.3).
func TerminationRemedies(a *world.App) []string {
	if !a.IgnoresSIGTERM {
		return finishing(a)
	}
	handler := "a handler for SIGTERM in the app that stops listening and finishes what it has begun"
	stop := "STOPSIGNAL in the Dockerfile, if the app ends in order on another signal"
	switch a.Profile {
	case "shell-pid1":
		return []string{`exec in the command, so that the app itself is PID 1: sh -c "exec ./server"`, handler, stop}
	case "node-default":
		return []string{
			nodeHandler + ": as PID 1, node ignores SIGTERM without a handler",
			`an init as PID 1, such as ENTRYPOINT ["tini", "--"]: then SIGTERM ends the app at once, and cuts what it has begun`, stop,
		}
	case "npm-9.6-start":
		return []string{"node as the command in place of npm, with " + nodeHandler, "an image of node with npm 10.3 or later, which passes SIGTERM on: node 18.20, 20.12, 22", stop}
	case world.UWSGI:
		return []string{
			`hook-master-start = unix_signal:15 gracefully_kill_them_all: at SIGTERM it finishes what runs, and ends`,
			"--die-on-term, or STOPSIGNAL SIGQUIT in the Dockerfile: SIGTERM ends it at once in place of a reload, and cuts what it has begun",
		}
	default:
		return []string{handler, `an init as PID 1, such as ENTRYPOINT ["tini", "--"]: then SIGTERM ends the app at once, and cuts what it has begun`, stop}
	}
}

// nodeHandler is what an app on Node.js needs.
const nodeHandler = "process.on('SIGTERM', () => server.close()) in the app"

// finishing says how an app that ends at SIGTERM before it has answered is made to answer first; nil for one that does, and for what
// serves sessions, or is no app of the reader's.
func finishing(a *world.App) []string {
	if a.InFlight != world.InFlightCut {
		return nil
	}
	switch a.Profile {
	case "behind-init", "npm-start":
		return []string{nodeHandler + ": it stops accepting, finishes what runs, and ends"}
	case "yarn-start":
		return []string{"node as the command in place of yarn, which ends at SIGTERM without waiting, and " + nodeHandler + ": it finishes what runs, and ends"}
	case world.UWSGI:
		return []string{"hook-master-start = unix_signal:15 gracefully_kill_them_all: it stops accepting, finishes what runs, and ends"}
	case servers.IstioProxy:
		return []string{
			`EXIT_ON_ZERO_ACTIVE_CONNECTIONS: "true" under proxyMetadata in the annotation proxy.istio.io/config: it then finishes what runs, and ends`,
			"a longer terminationDrainDuration there, and a longer terminationGracePeriodSeconds",
		}
	case servers.PHPFPM:
		return []string{fpmTimeout + " = 20 under [global] in php-fpm's configuration: at SIGQUIT it then finishes what runs, for that long, and ends"}
	case "spring-old", "spring-3.4":
		return []string{"server.shutdown=graceful in the app: it stops accepting, finishes what runs, and ends"}
	case "nginx-sigterm":
		return []string{"STOPSIGNAL SIGQUIT in the image, as nginx has from 1.20 on and bitnami/nginx from 1.28 on: it stops accepting, finishes what runs, and ends"}
	case "exits-at-once", "go-default":
		return []string{"a handler for SIGTERM in the app: it stops accepting, finishes what runs, and ends"}
	default:
		return nil
	}
}
