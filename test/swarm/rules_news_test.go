package swarm

import (
	"fmt"
	"slices"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/nodeproxy"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// watches number the versions that were written, and what each watch delivered last.
type watches map[any]int

func (w watches) wrote(o any) { w[o] = len(w) + 1 }

// last is kept under the watch's name, beside the versions: names and versions are never equal.
type last string

// proxy is what is known of a service proxy.
type proxy struct {
	heard   *nodeproxy.View // the newest its watch has brought
	first   engine.Time     // when the first news since its last sync came
	news    bool
	begun   *nodeproxy.View // what it had heard when its sync began
	force   *nodeproxy.View // what is in force since its last sync, nil before
	syncing bool
	ended   engine.Time
	synced  bool // it has synced since the world began
	// Up to 1.33: how many syncs might begin at once, in parts of minSyncPeriod, and when that was so.
	credit, counted engine.Time
}

// A watch delivers versions in the order in which they were written (docs/model/propagation.md).
func (j *judge) hearDelivery(e event.Event) {
	number, key := j.watches[e.Object], last(e.Name)
	if number < j.watches[key] {
		j.fail("order", "watch %s brought version %d after %d at %s s", e.Name, number, j.watches[key], e.At.Seconds())
	}
	j.watches[key] = number
	for n := range j.w.Nodes {
		if e.Name != fmt.Sprint("proxy ", j.w.Nodes[n].Name) || e.View == nil {
			continue
		}
		p := &j.proxies[n]
		if p.heard = e.View; !p.news {
			p.news, p.first = true, e.At
		}
	}
}

// A proxy that has news syncs at once, but not before minSyncPeriod has passed since the sync
// before ended, for whichever Services that was; what it has heard by the beginning is in force at the end
// (docs/model/kube-proxy.md 6). A sync for other Services alone changes no rule.
func (j *judge) hearSync(e event.Event) {
	p, hold := &j.proxies[e.Node], j.w.Nodes[e.Node].Proxy.MinSyncPeriod
	if j.w.goes || j.touched(world.KubeProxyOf+j.w.Nodes[e.Node].Name) {
		return // it may be late, or have begun again
	}
	if e.Kind == event.SyncEnded {
		if p.begun != nil && e.View != p.begun {
			j.fail("sync", "node %d: state %d is in force at %s s, state %d was known when the sync began", e.Node, e.View.Number, e.At.Seconds(), p.begun.Number)
		}
		p.syncing, p.ended, p.synced, p.force = false, e.At, true, e.View
		return
	}
	if p.syncing {
		j.fail("sync", "node %d: two syncs at %s s", e.Node, e.At.Seconds())
	}
	waits := p.news && !e.Others
	if j.earlierRunner() {
		j.takeToken(e, p, hold, waits)
	} else {
		j.held(e, p, hold, waits)
	}
	p.syncing = true
	if e.Others {
		p.begun = p.force
	} else {
		p.begun, p.news = p.heard, false
	}
}

// held: from 1.34 on minSyncPeriod passes after every sync.
func (j *judge) held(e event.Event, p *proxy, hold engine.Time, waits bool) {
	due := p.first
	if p.synced {
		due = max(due, p.ended+hold)
	}
	switch {
	case p.synced && e.At < p.ended+hold:
		j.fail("hold", "node %d: a sync at %s s, the one before ended at %s s, minSyncPeriod is %s s", e.Node, e.At.Seconds(), p.ended.Seconds(), hold.Seconds())
	case waits && e.At > due:
		j.fail("hold", "node %d: a sync at %s s, due at %s s", e.Node, e.At.Seconds(), due.Seconds())
	}
}

// earlierRunner says whether proxies are of a version up to 1.33.
func (j *judge) earlierRunner() bool {
	return j.w.Kubernetes.Version.Before(endpoints.Version{Major: 1, Minor: 34})
}

// takeToken: up to 1.33 a sync takes one of two tokens, each of which comes back a minSyncPeriod after the
// one before; and news is in the rules no later than that after the last sync, whatever there are.
func (j *judge) takeToken(e event.Event, p *proxy, hold engine.Time, waits bool) {
	if !p.synced {
		p.credit = 2 * hold
	}
	p.credit, p.counted = min(2*hold, p.credit+e.At-p.counted), e.At
	due := p.first
	if p.synced {
		due = max(due, p.ended+hold)
	}
	switch {
	case p.credit < hold:
		j.fail("hold", "node %d: a sync at %s s, when %s s are missing to the next token", e.Node, e.At.Seconds(), (hold - p.credit).Seconds())
	case waits && e.At > due:
		j.fail("hold", "node %d: a sync at %s s, due at %s s", e.Node, e.At.Seconds(), due.Seconds())
	case waits && p.credit == 2*hold && e.At > max(p.first, p.ended):
		j.fail("hold", "node %d: a sync at %s s, although both tokens were there at %s s", e.Node, e.At.Seconds(), p.first.Seconds())
	}
	p.credit -= hold
}

// The slices say of every pod what its object says: in it while it has an address and is not
// done; serving is Ready, terminating is being deleted, ready is serving and not terminating,
// or whatever publishNotReadyAddresses says (docs/model/controllers.md 9.1). The controller knows
// what is older than its watch is late, of the Service whose slices it writes.
func (j *judge) hearSlices(at engine.Time, view *nodeproxy.View) {
	j.hearGatedSlices(at, func(ip string) (c endpoints.Conditions, ok bool) {
		for svc := range view.Snapshot.Services() {
			for i := range svc.Ports {
				for _, e := range svc.Ports[i].Endpoints {
					if e.Addr.Addr().String() == ip {
						return e.Conditions, true
					}
				}
			}
		}
		return 0, false
	})
	if j.does("apiserver") || j.does("component") {
		return
	}
	late := j.w.Latency.Watch.Max() + j.w.Latency.APIWrite.Max() + sec
	written := func(p *api.Pod) bool {
		return slices.ContainsFunc(view.Snapshot.Changed(), func(n endpoints.ServiceName) bool { return n.String() == j.home(p) })
	}
	in := map[string]string{}
	for svc := range view.Snapshot.Services() {
		for i := range svc.Ports {
			for _, e := range svc.Ports[i].Endpoints {
				in[e.Addr.Addr().String()] = fmt.Sprint("ready ", e.Conditions.Ready(), ", serving ", e.Conditions.Serving(), ", terminating ", e.Conditions.Terminating())
			}
		}
	}
	for _, id := range j.order {
		if p := j.pods[id]; at >= p.changed+late && written(p.api) {
			j.saysOf(at, p, in)
		}
	}
}

// saysOf holds what the slices say, by address, to what a pod's object says.
func (j *judge) saysOf(at engine.Time, p *pod, in map[string]string) {
	o, want := p.api, ""
	if o.Node >= 0 && j.machines[o.Node].gone != engine.Never {
		return // without its Node it is in the slices or not, as its Service publishes addresses
	}
	if o.IP.IsValid() && !o.Gone && o.Phase != api.PhaseSucceeded && o.Phase != api.PhaseFailed {
		want = fmt.Sprint("ready ", j.publishes(o) || o.Ready && !o.Deleting(), ", serving ", o.Ready, ", terminating ", o.Deleting())
	}
	if have := in[o.IP.String()]; have != want {
		j.fail("slices", "at %s s they say %q of %s, which has been %q since %s s", at.Seconds(), have, o.Name, want, p.changed.Seconds())
	}
}
