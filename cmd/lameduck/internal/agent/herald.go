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

// herald has the cluster's users hear of what the proxy cannot do for them. Its owner is the Proxier's, but for what servers have
// to say; those only record.
type herald struct {
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

// newHerald returns one that writes Events to a Writer, nil for nowhere.
func newHerald(o Options, node string) *herald {
	h := &herald{node: node, ports: map[endpoints.ServiceName]bool{}}
	if o.Events != nil {
		h.recorder = events.New(events.Options{Writer: o.Events, Controller: "lameduck", Instance: "lameduck-" + node, Log: o.Log})
	}
	return h
}

// ofNode refers to this node as kube-proxy does.
func (h *herald) ofNode() corev1.ObjectReference {
	return corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: h.node}
}

func ofService(name endpoints.ServiceName) corev1.ObjectReference {
	return corev1.ObjectReference{APIVersion: "v1", Kind: "Service", Namespace: name.Namespace, Name: name.Name}
}

func (h *herald) warn(regarding corev1.ObjectReference, reason, action, note string) {
	h.recorder.Record(events.Event{Regarding: regarding, Warning: true, Reason: reason, Action: action, Note: note})
}

func (h *herald) starting() {
	h.recorder.Record(events.Event{Regarding: h.ofNode(), Reason: reasonStarting, Action: actionStart})
}

// notListening tells of a port that is taken: whoever asks there is answered by somebody else, or by nobody. The port is tried
// again.
func (h *herald) notListening(service endpoints.ServiceName, reason string, err error) {
	var listen *server.ListenError
	switch {
	case !errors.As(err, &listen): // a client's misdeed, for instance
	case service != endpoints.ServiceName{}:
		note := fmt.Sprintf("node %s failed to start healthcheck %q on %s: %v", h.node, service, listen.Address, listen.Err)
		h.warn(ofService(service), reasonServiceHealth, actionListen, note)
	default:
		h.warn(h.ofNode(), reason, actionStart, err.Error())
	}
}

// problem tells of a part of an object that cannot be used.
func (h *herald) problem(p endpoints.Problem) {
	of := corev1.ObjectReference{APIVersion: "v1", Kind: p.Kind, Namespace: p.Namespace, Name: p.Name}
	if p.Kind == "EndpointSlice" {
		of.APIVersion = "discovery.k8s.io/v1"
	}
	h.warn(of, reasonPartLeftOut, actionSync, p.Field+": "+p.Message)
}

// observe tells of rules that could not be written, and of Services that want what others have.
func (h *herald) observe(s proxier.Sync) {
	switch {
	case h.recorder == nil:
	case s.Err != nil:
		h.warn(h.ofNode(), reasonSync, actionSync, "the rules are those of before: "+s.Err.Error())
	case !s.Check():
		h.claims(s.Plan)
		h.healthPorts(s)
	}
}

// claims tells of addresses that several Services claim, once as long as they do.
func (h *herald) claims(p *plan.Plan) {
	var now map[conflict]bool
	for _, c := range p.Conflicts() {
		if now == nil {
			now = map[conflict]bool{}
		}
		one := conflict{c.Loser.Key, c.Loser.Service, c.Winner.Service}
		now[one] = true
		if h.conflicts[one] {
			continue
		}
		winner := ofService(c.Winner.Service.ServiceName)
		h.recorder.Record(events.Event{
			Regarding: ofService(c.Loser.Service.ServiceName), Related: &winner, Warning: true, Reason: reasonConflict, Action: actionSync,
			Note: fmt.Sprintf("%s, %s of %s, leads to %s, which has it as its %s", c.Loser.Key, c.Loser.Kind, c.Loser.Service, c.Winner.Service, c.Winner.Kind),
		})
	}
	h.conflicts = now
}

// healthPorts tells of health-check node ports that another Service has, looking only at the Services that changed.
func (h *herald) healthPorts(s proxier.Sync) {
	if s.Full {
		for svc := range s.Plan.Services() {
			h.healthPort(s, svc.Name)
		}
		return
	}
	for _, name := range s.Services {
		h.healthPort(s, name)
	}
}

func (h *herald) healthPort(s proxier.Sync, name endpoints.ServiceName) {
	svc := s.Plan.Service(name)
	if svc == nil || svc.HealthCheckNodePorts == [2]uint16{} {
		delete(h.ports, name)
		return
	}
	for _, f := range endpoints.Families() {
		port := svc.HealthCheckNodePorts[f]
		has, ok := s.Status.Table.Lookup(f, port)
		if port == 0 || !ok || has.Name == name {
			continue
		}
		if !h.ports[name] {
			note := fmt.Sprintf("health-check node port %d answers for %s, which has the same", port, has.Name)
			h.warn(ofService(name), reasonPortConflict, actionListen, note)
		}
		h.ports[name] = true
		return
	}
	delete(h.ports, name)
}
