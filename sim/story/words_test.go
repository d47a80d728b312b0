package story

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/cluster"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
	"github.com/lameduck-proxy/lameduck/test/golden"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// told are the kinds of events that a story tells of, by name.
var told = []struct {
	name string
	kind event.Kind
}{
	{"Created", event.Created}, {"Deleted", event.Deleted}, {"Ready", event.Ready}, {"NotReady", event.NotReady}, {"Gone", event.Gone}, {"Endpoint", event.Endpoint},
	{"EndpointGone", event.EndpointGone}, {"PreStop", event.PreStop}, {"PreStopFailed", event.PreStopFailed}, {"Term", event.Term}, {"Kill", event.Kill},
	{"Listening", event.Listening}, {"Closed", event.Closed}, {"Ended", event.Ended}, {"Wait", event.Wait}, {"Rules", event.Rules}, {"HealthPort", event.HealthPort},
	{"Ingress", event.Ingress}, {"Balancer", event.Balancer}, {"Gate", event.Gate}, {"Tainted", event.Tainted}, {"NodeGone", event.NodeGone}, {"NodeBack", event.NodeBack},
	{"NodeReady", event.NodeReady}, {"Cordoned", event.Cordoned}, {"EvictionRefused", event.EvictionRefused}, {"Drained", event.Drained}, {"Untainted", event.Untainted},
	{"Joined", event.Joined}, {"Deadline", event.Deadline}, {"NoHistory", event.NoHistory}, {"Volume", event.Volume},
}

// eventChanges are what may be different of an event.
var eventChanges = []struct {
	name string
	do   func(*event.Event)
}{
	{"OK", func(e *event.Event) { e.OK = true }},
	{"with a name", func(e *event.Event) { e.Name = "Karpenter" }},
	{"OK, with a name", func(e *event.Event) { e.OK, e.Name = true, "Karpenter" }},
	{"refused", func(e *event.Event) { e.Refusal = "its budget" }},
	{"for others", func(e *event.Event) { e.Others = true }},
	{"no pod", func(e *event.Event) { e.Pod = -1 }},
	{"through a proxy", func(e *event.Event) { e.Stream = 1 }},
	{"to two pods", func(e *event.Event) { e.Targets, e.Verdict = []api.PodID{0, 1}, packet.Endpoints }},
	{"to four pods", func(e *event.Event) { e.Targets, e.Verdict = []api.PodID{0, 1, 2, 3}, packet.Endpoints }},
	{"to five pods, in fallback", func(e *event.Event) {
		e.Targets, e.Verdict, e.Fallback = []api.PodID{0, 1, 2, 3, 4}, packet.Endpoints, true
	}},
	{"refusing", func(e *event.Event) { e.Verdict = packet.Reject }},
	{"dropping", func(e *event.Event) { e.Verdict = packet.Drop }},
	{"ready", func(e *event.Event) { e.Conditions = endpoints.Ready | endpoints.Serving }},
	{"terminating", func(e *event.Event) { e.Conditions = endpoints.Terminating }},
	{"another pod", func(e *event.Event) { e.Pod = 2 }},
	{"a pod with a name", func(e *event.Event) { e.Pod = 4 }},
	{"killed", func(e *event.Event) { e.Ending = event.Killed }},
	{"by its probe", func(e *event.Event) { e.Ending = event.Liveness }},
	{"crashed", func(e *event.Event) { e.Ending = event.Crashed }},
	{"with its node", func(e *event.Event) { e.Ending = event.WithNode }},
}

// What a story says of each kind of event, and of those that differ from it in one way, is kept.
func TestWordsOfEvents(t *testing.T) {
	t.Parallel()
	web := world.Workload{Resource: &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}}}
	db := world.Workload{Resource: &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "db"}}}
	sc := &world.Scenario{
		Workloads: []world.Workload{web, db},
		Nodes:     []world.Node{{Name: "node-1"}, {Name: "node-2"}},
		Traffic:   []world.Traffic{{LB: &world.LoadBalancer{}}, {LB: &world.LoadBalancer{Preset: "nginx", Layer7: &world.Layer7{}}}},
	}
	sc.Nodes[1].Proxy.MinSyncPeriod = sec
	pods := []cluster.PodRef{
		{ID: 0, Ordinal: 1, Revision: 0}, {ID: 1, Ordinal: 1, Revision: 1}, {ID: 2, Ordinal: 2, Revision: 1},
		{ID: 3, Ordinal: 1, Workload: 1}, {ID: 4, Called: "web-0", Revision: 1},
	}
	var out strings.Builder
	for _, workloads := range []int{1, 2} {
		sc.Workloads = sc.Workloads[:workloads]
		if workloads == 2 {
			sc.Workloads = []world.Workload{web, db}
		}
		seen := pods
		if workloads == 1 {
			seen = []cluster.PodRef{pods[0], pods[1], pods[2], {ID: 3, Ordinal: 3}, pods[4]}
		}
		names := newNames(sc, seen)
		fmt.Fprintf(&out, "with %d workloads\n", workloads)
		for _, k := range told {
			plain := event.Event{Kind: k.kind, At: 10 * sec, Until: 10*sec + 1234*sec/1000, Pod: 0, Node: 1, Hook: &world.Hook{Why: "sleep 5"}, Gate: "gate"}
			before := names.words(&plain)
			fmt.Fprintf(&out, "%s: %s\n", k.name, before)
			for _, c := range eventChanges {
				e := plain
				if c.do(&e); c.name == "no pod" && k.kind != event.Balancer {
					continue
				}
				if words := names.words(&e); words != before {
					fmt.Fprintf(&out, "  %s: %s\n", c.name, words)
				}
			}
		}
	}
	golden.Compare(t, "testdata/words.txt", out.String(), *update)
}
