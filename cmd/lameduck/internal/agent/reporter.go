package agent

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/healthcheck/server"
	"github.com/lameduck-proxy/lameduck/proxier"
	"github.com/lameduck-proxy/lameduck/proxier/events"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// Reasons and actions of Events. The first four, and the two actions, are kube-proxy's (1.36 cmd/kube-proxy/app/server.go,
// pkg/proxy/healthcheck/service_health.go; verified), where only the first and the second are ever seen: after the others it ends.
const (
	reasonStarting      = "Starting"
	reasonServiceHealth = "FailedToStartServiceHealthcheck"
	reasonHealth        = "FailedToStartProxierHealthcheck"
	reasonMetrics       = "FailedToStartMetricServer"
	reasonPartLeftOut   = "PartLeftOut"
	reasonConflict      = "AddressConflict"
	reasonPortConflict  = "HealthCheckNodePortConflict"
	reasonSync          = "FailedToSyncProxyRules"

	actionStart  = "StartKubeProxy"
	actionListen = "Listen"
	actionSync   = "SyncProxyRules"
)

// reporter has the cluster's users hear of what the proxy cannot do for them. Its owner is the Proxier's, but for what servers have
// to say; those only record.
type reporter struct {
	recorder  *events.Recorder // nil writes none
	node      string
	conflicts map[conflict]bool // that have been told of
	ports     map[endpoints.ServiceName]bool
}

// conflict is a claim that does not count, and whose does.
type conflict struct {
	key           plan.Key
	loser, winner endpoints.ServicePortName
}

// newReporter returns one that writes Events to a Writer, nil for nowhere.
func newReporter(o Options, node string) *reporter {
	r := &reporter{node: node, ports: map[endpoints.ServiceName]bool{}}
	if o.Events != nil {
		r.recorder = events.New(events.Options{Writer: o.Events, Controller: "lameduck", Instance: "lameduck-" + node, Log: o.Log})
	}
	return r
}

// ofNode refers to this node as kube-proxy does.
func (r *reporter) ofNode() corev1.ObjectReference {
	return corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: r.node}
}

func ofService(name endpoints.ServiceName) corev1.ObjectReference {
	return corev1.ObjectReference{APIVersion: "v1", Kind: "Service", Namespace: name.Namespace, Name: name.Name}
}

func (r *reporter) warn(regarding corev1.ObjectReference, reason, action, note string) {
	r.recorder.Record(events.Event{Regarding: regarding, Warning: true, Reason: reason, Action: action, Note: note})
}

func (r *reporter) starting() {
	r.recorder.Record(events.Event{Regarding: r.ofNode(), Reason: reasonStarting, Action: actionStart})
}

// notListening tells of a port that is taken: another program answers there, or none does. The port is tried
// again.
func (r *reporter) notListening(service endpoints.ServiceName, reason string, err error) {
	var listen *server.ListenError
	switch {
	case !errors.As(err, &listen): // a client's misdeed, for instance
	case service != endpoints.ServiceName{}:
		note := fmt.Sprintf("node %s failed to start healthcheck %q on %s: %v", r.node, service, listen.Address, listen.Err)
		r.warn(ofService(service), reasonServiceHealth, actionListen, note)
	default:
		r.warn(r.ofNode(), reason, actionStart, err.Error())
	}
}

// problem tells of a part of an object that cannot be used.
func (r *reporter) problem(p endpoints.Problem) {
	of := corev1.ObjectReference{APIVersion: "v1", Kind: p.Kind, Namespace: p.Namespace, Name: p.Name}
	if p.Kind == "EndpointSlice" {
		of.APIVersion = "discovery.k8s.io/v1"
	}
	r.warn(of, reasonPartLeftOut, actionSync, p.Field+": "+p.Message)
}

// observe tells of rules that could not be written, and of Services that want what others have.
func (r *reporter) observe(s proxier.Sync) {
	switch {
	case r.recorder == nil:
	case s.Err != nil:
		r.warn(r.ofNode(), reasonSync, actionSync, "the rules are those of before: "+s.Err.Error())
	case !s.Check():
		r.claims(s.Plan)
		r.healthPorts(s)
	}
}

// claims tells of addresses that several Services claim, once as long as they do.
func (r *reporter) claims(p *plan.Plan) {
	var now map[conflict]bool
	for _, c := range p.Conflicts() {
		if now == nil {
			now = map[conflict]bool{}
		}
		one := conflict{c.Loser.Key, c.Loser.Service, c.Winner.Service}
		now[one] = true
		if r.conflicts[one] {
			continue
		}
		winner := ofService(c.Winner.Service.ServiceName)
		r.recorder.Record(events.Event{
			Regarding: ofService(c.Loser.Service.ServiceName), Related: &winner, Warning: true, Reason: reasonConflict, Action: actionSync,
			Note: fmt.Sprintf("%s, %s of %s, leads to %s, which has it as its %s", c.Loser.Key, c.Loser.Kind, c.Loser.Service, c.Winner.Service, c.Winner.Kind),
		})
	}
	r.conflicts = now
}

// healthPorts tells of health-check node ports that another Service has, looking only at the Services that changed.
func (r *reporter) healthPorts(s proxier.Sync) {
	if s.Full {
		for svc := range s.Plan.Services() {
			r.healthPort(s, svc.Name)
		}
		return
	}
	for _, name := range s.Services {
		r.healthPort(s, name)
	}
}

func (r *reporter) healthPort(s proxier.Sync, name endpoints.ServiceName) {
	svc := s.Plan.Service(name)
	if svc == nil || svc.HealthCheckNodePorts == [2]uint16{} {
		delete(r.ports, name)
		return
	}
	for _, f := range endpoints.Families() {
		port := svc.HealthCheckNodePorts[f]
		has, ok := s.Status.Table.Lookup(f, port)
		if port == 0 || !ok || has.Name == name {
			continue
		}
		if !r.ports[name] {
			note := fmt.Sprintf("health-check node port %d answers for %s, which has the same", port, has.Name)
			r.warn(ofService(name), reasonPortConflict, actionListen, note)
		}
		r.ports[name] = true
		return
	}
	delete(r.ports, name)
}
