package fix

import (
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/edit"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// ReadinessGate is the ID of the change that has the load balancer know a new pod before the rollout goes on.
const ReadinessGate = "readinessGate"

// gate has the load balancer know a new pod before the rollout goes on; nil where it has no such gate, or has it already.
func (t *target) gate() *Change {
	r, ok := scenario.WithReadinessGate(t.sc, t.w.Name())
	if !ok {
		return nil
	}
	return &Change{
		ID: ReadinessGate, Title: r.Title, Edits: []edit.Edit{r.Edit}, Around: Around{Gate: true},
		Cost: "a rollout waits until the load balancer has found each new pod healthy",
	}
}

// draining has Google's HTTP load balancer let what was begun on its connections to a removed pod or node come to its end; nil
// where it is another one, or drains for as long already.
func (t *target) draining() *Change {
	d := max(t.w.App.FinishWithin, spare)
	_, remedies := drained(t.sc, t.w.Name(), d)
	return ofServices(Change{ID: "connectionDraining", Around: Around{Drain: d}}, remedies)
}

// readyOnly has the workload's Services lead to ready pods only, where they lead to all.
func (t *target) readyOnly() *Change {
	_, remedies := remedied(t.sc, t.w.Name(), scenario.WithoutNotReady)
	return ofServices(Change{
		ID: "publishNotReadyAddresses", Around: Around{ReadyOnly: true},
		Destructive: "who reaches pods by this Service before they are ready, such as the others or whoever unseals a Vault, no longer does, and they may never be ready: give them a headless one of their own first",
	}, remedies)
}

// unhealthyKept has an AWS network or classic load balancer leave connections to an unhealthy target alone.
func (t *target) unhealthyKept() *Change {
	_, remedies := remedied(t.sc, t.w.Name(), scenario.WithUnhealthyKept)
	return ofServices(Change{
		ID: "unhealthyTargets", Around: Around{KeepUnhealthy: true},
		Cost: "clients of a target that hangs wait for their own timeouts in place of a reset",
	}, remedies)
}

// anyNode has the workload's Services lead to pods on any node, where they lead to those of the node that is asked.
func (t *target) anyNode() *Change {
	_, remedies := remedied(t.sc, t.w.Name(), scenario.WithClusterPolicy)
	c := Change{ID: "externalTrafficPolicy", Around: Around{AnyNode: true}, Cost: "a request may take one hop more"}
	if !t.proxiedOnly() {
		c.Destructive = "pods no longer see the addresses of clients"
	}
	return ofServices(c, remedies)
}

// proxiedOnly says that all clients outside come through a proxy of HTTP requests: what pods see is its address, whatever the policy is, and
// the clients' are in a header.
func (t *target) proxiedOnly() bool {
	return !slices.ContainsFunc(t.sc.Traffic, func(s world.Traffic) bool { return s.External && s.Route == nil })
}

// anyNodeInside has the workload's Services lead clients in the cluster to pods on any node, where they lead to those of the clients' own.
func (t *target) anyNodeInside() *Change {
	_, remedies := remedied(t.sc, t.w.Name(), scenario.WithInternalClusterPolicy)
	return ofServices(Change{
		ID: "internalTrafficPolicy", Around: Around{AnyNodeInside: true},
		Cost: "a request may take one hop more", Destructive: "clients no longer stay with the pod of their own node",
	}, remedies)
}

// upgraded has the nodes send to pods that terminate and still serve where they have no others; nil where they do.
func (t *target) upgraded() *Change {
	if _, ok := scenario.WithFallback(t.sc); !ok {
		return nil
	}
	return &Change{
		ID: "kubernetes", Title: "Kubernetes 1.26 or later", Around: Around{Upgrade: true},
		Cost: "from 1.26 on a node sends to pods that terminate and still serve where it has no others (KEP-1669); it is no change of the manifest",
	}
}

// ofServices is a change of Services, nil where there is none of them to change.
func ofServices(c Change, remedies []scenario.Remedy) *Change {
	if len(remedies) == 0 {
		return nil
	}
	c.Title = remedies[0].Title
	for i := range remedies {
		if remedies[i].Edit.Path != "" {
			c.Edits = append(c.Edits, remedies[i].Edit)
		}
	}
	if cost := remedies[0].Cost; cost != "" {
		c.Cost = strings.TrimSuffix(cost+"; "+c.Cost, "; ")
	}
	return &c
}

// drained is a Scenario in which the load balancers before a workload's Services drain for so long, with what that takes.
func drained(s *world.Scenario, workload string, d engine.Time) (*world.Scenario, []scenario.Remedy) {
	return remedied(s, workload, func(s *world.Scenario, service string) (scenario.Remedy, bool) {
		return scenario.WithConnectionDraining(s, service, d)
	})
}

// remedied is a Scenario with something changed of each Service that clients reach a workload by, with what that takes.
func remedied(s *world.Scenario, workload string, remedy func(s *world.Scenario, service string) (scenario.Remedy, bool)) (*world.Scenario, []scenario.Remedy) {
	var remedies []scenario.Remedy
	for i := range s.Traffic {
		service := s.Traffic[i].Service // what is so already is no remedy
		if !s.Serves(service, workload) {
			continue
		}
		if r, ok := remedy(s, service); ok {
			remedies, s = append(remedies, r), r.Scenario
		}
	}
	return s, remedies
}
