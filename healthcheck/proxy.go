package healthcheck

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// SyncPeriod is kube-proxy's default syncPeriod, the same in every mode.
const SyncPeriod = 30 * time.Second

// Timeout is how long a change may wait for the end of a sync before the proxy counts as
// unhealthy: twice the sync period (kube-proxy 1.36 cmd/kube-proxy/app/server.go; verified).
const Timeout = 2 * SyncPeriod

// ToBeDeletedTaint is the key of the taint that Cluster Autoscaler puts on a node before it
// removes it. Effect and value do not matter.
const ToBeDeletedTaint = "ToBeDeletedByClusterAutoscaler"

// ProxyState is what the proxy's health follows from: per IP family, when a change was
// queued and when a sync ended. It is a value; the zero ProxyState has just started. Two
// ProxyStates may be compared with ==.
type ProxyState struct {
	families [2]FamilyState // by endpoints.IPFamily
}

// FamilyState is the ProxyState of one IP family.
type FamilyState struct {
	QueuedAt  time.Time // arrival of the oldest change no sync has ended since; zero for none
	UpdatedAt time.Time // end of the last successful sync; zero before the first
}

// Family returns the state of one family.
func (p ProxyState) Family(f endpoints.IPFamily) FamilyState { return p.families[f] }

// Queued returns the state after a change arrived that the rules have to follow. Further
// changes do not reset the waiting time of the oldest.
func (p ProxyState) Queued(f endpoints.IPFamily, now time.Time) ProxyState {
	if p.families[f].QueuedAt.IsZero() {
		p.families[f].QueuedAt = now
	}
	return p
}

// Updated returns the state after a sync ended and its rules are in force. It also forgets
// changes that arrived while that sync ran, as upstream does: their waiting starts with the
// next Queued.
func (p ProxyState) Updated(f endpoints.IPFamily, now time.Time) ProxyState {
	p.families[f] = FamilyState{UpdatedAt: now}
	return p
}

// HealthyAt says whether the family keeps up: no change has waited for timeout or longer. A
// family that has never finished a sync is healthy, since it is still starting.
func (f FamilyState) HealthyAt(now time.Time, timeout time.Duration) bool {
	return f.UpdatedAt.IsZero() || f.QueuedAt.IsZero() || now.Sub(f.QueuedAt) < timeout
}

// Healthy says whether every family keeps up.
func Healthy(p ProxyState, now time.Time, timeout time.Duration) bool {
	for _, f := range endpoints.Families() {
		if !p.families[f].HealthyAt(now, timeout) {
			return false
		}
	}
	return true
}

// NodeState is what /healthz looks at in the Node object the proxy runs on. The zero
// NodeState is a node not known yet. Once known, a node stays as it was last seen: the
// deletion of the object itself changes nothing (kube-proxy 1.36 node.go; verified).
type NodeState struct {
	Known    bool     // the object has been seen
	Deleting bool     // metadata.deletionTimestamp is set
	Taints   []string // the keys of spec.taints, in any order
}

// Eligible says whether load balancers should send new connections to the node: it is
// known, not being deleted and not about to be. A cordon and a node that is not ready do
// not matter (KEP-3836).
func (n NodeState) Eligible() bool {
	return n.Known && !n.Deleting && !slices.Contains(n.Taints, ToBeDeletedTaint)
}

// Healthz returns what /healthz answers: 200 when the proxy is healthy and, with
// Options.NodeEligibility, the node eligible.
//
// Before that option existed the body had no nodeEligible, which is followed; it also had
// another time format and no status, which is not: nobody routes by those.
func Healthz(p ProxyState, n NodeState, now time.Time, timeout time.Duration, o endpoints.Options) Answer {
	if !o.NodeEligibility {
		return proxyAnswer(p, nil, now, timeout)
	}
	eligible := n.Eligible()
	return proxyAnswer(p, &eligible, now, timeout)
}

// Livez returns what /livez answers: 200 when the proxy is healthy, whatever becomes of the
// node. kube-proxy has had it since 1.28; here it answers in every version.
func Livez(p ProxyState, now time.Time, timeout time.Duration) Answer {
	return proxyAnswer(p, nil, now, timeout)
}

// proxyBody is the JSON of /healthz and /livez; the field order is part of it.
type proxyBody struct {
	LastUpdated  time.Time             `json:"lastUpdated"`
	CurrentTime  time.Time             `json:"currentTime"`
	NodeEligible *bool                 `json:"nodeEligible,omitempty"`
	Healthy      bool                  `json:"healthy"`
	Status       map[string]familyBody `json:"status,omitempty"` // written in key order: IPv4, IPv6
}

type familyBody struct {
	LastUpdated time.Time `json:"lastUpdated"`
	Healthy     bool      `json:"healthy"`
}

// proxyAnswer leaves the node out when eligible is nil. The body's healthy speaks of the
// proxy alone, also where the node makes the status 503.
func proxyAnswer(p ProxyState, eligible *bool, now time.Time, timeout time.Duration) Answer {
	body := proxyBody{CurrentTime: now, NodeEligible: eligible, Healthy: true, Status: map[string]familyBody{}}
	for _, f := range endpoints.Families() {
		s := p.families[f]
		if s.UpdatedAt.IsZero() {
			continue
		}
		one := familyBody{LastUpdated: s.UpdatedAt, Healthy: s.HealthyAt(now, timeout)}
		body.Status[f.String()] = one
		body.Healthy = body.Healthy && one.Healthy
		if s.UpdatedAt.After(body.LastUpdated) {
			body.LastUpdated = s.UpdatedAt
		}
	}
	ok := body.Healthy && (eligible == nil || *eligible)
	if ok {
		// It once was the time of the last run of a loop that ran all the time; readers
		// that look for a recent time still find one.
		body.LastUpdated = now
	}
	text, _ := json.Marshal(body) // fails for years past 9999 only: then, as upstream, nothing is written
	return answer(ok, text)
}
