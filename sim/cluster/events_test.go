package cluster

import (
	"reflect"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// A log that follows one node tells of that node's rules and waits alone, and of all else that it would hear.
func TestALogMayFollowOneNodesRules(t *testing.T) {
	t.Parallel()
	heard := func(nodes []int) (rules, others []event.Event) {
		b := newBuild(3).nodes(3)
		w := b.start(t, 1)
		var j journal
		e, ok := w.Entry(world.Traffic{Service: "default/web", Port: 80})
		if !ok {
			t.Fatal("the stream enters nowhere")
		}
		w.log.Subscribe(j.Record, event.Stories()...)
		w.log.Follow(nodes)
		w.Tell([]Entry{e})
		w.at(30*sec, func() { w.deletePod(w.owner, 0) })
		w.run(60 * sec)
		for _, e := range j {
			if e.Kind == event.Rules || e.Kind == event.HealthPort || e.Kind == event.Wait {
				rules = append(rules, e)
			} else {
				others = append(others, e)
			}
		}
		return rules, others
	}
	all, same := heard(nil)
	for _, nodes := range [][]int{{}, {1}, {0, 2}} {
		got, others := heard(nodes)
		want := slices.DeleteFunc(slices.Clone(all), func(e event.Event) bool { return !slices.Contains(nodes, e.Node) })
		if !reflect.DeepEqual(others, same) {
			t.Errorf("of nodes %v: other events are others", nodes)
		}
		if len(got) != len(want) || len(got) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("of nodes %v: %d lists of rules and waits, want %d of all %d", nodes, len(got), len(want), len(all))
		}
	}
	if len(all) < 9 || len(same) == 0 {
		t.Errorf("%d lists of rules and waits and %d other events: the test shows nothing", len(all), len(same))
	}
}

// A node's health check node port is told of where anybody asks it: clients that go to healthy nodes alone, or the probe of a load
// balancer, whose clients go wherever it sends them all the same.
func TestAHealthPortIsToldOfWhereALoadBalancerProbesIt(t *testing.T) {
	t.Parallel()
	probed := func(p world.Probe) world.Traffic {
		return world.Traffic{LB: &world.LoadBalancer{Check: world.HealthCheck{Probe: p}}}
	}
	for name, c := range map[string]struct {
		traffic world.Traffic
		want    []bool // what node-1, whose only pod goes, answers
		healthy bool
	}{
		"healthy nodes only":   {world.Traffic{HealthyNodesOnly: true}, []bool{true, false}, true},
		"a probe of the port":  {probed(world.ProbeHealthPort), []bool{true, false}, false},
		"a probe of the proxy": {probed(world.ProbeProxyHealth), nil, false},
		"a probe of the pods":  {probed(world.ProbeNodePort), nil, false},
		"nobody":               {world.Traffic{}, nil, false},
	} {
		b := newBuild(2).nodes(2)
		b.svc.Spec.Type, b.svc.Spec.ExternalTrafficPolicy = corev1.ServiceTypeLoadBalancer, corev1.ServiceExternalTrafficPolicyLocal
		b.svc.Spec.HealthCheckNodePort, b.svc.Spec.Ports[0].NodePort = 32000, 30080
		w := b.start(t, 1)
		c.traffic.Service, c.traffic.Port, c.traffic.External = "default/web", 80, true
		e, ok := w.Entry(c.traffic)
		if !ok {
			t.Fatal("the stream enters nowhere")
		}
		var got []bool
		var to []int // where clients go when the port says 503
		gone := w.pod(0).Node
		w.log.Subscribe(func(ev event.Event) {
			if ev.Node != gone || len(got) == 2 {
				return
			}
			if got = append(got, ev.OK); !ev.OK {
				to = w.NodesFor(e)
			}
		}, event.HealthPort)
		w.Tell([]Entry{e})
		w.at(30*sec, func() { w.deletePod(w.owner, 0) })
		w.run(32 * sec)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: its port is said to answer %v, want %v", name, got, c.want)
		}
		if e.Changing() != c.healthy || c.want != nil && (len(to) == 1) != c.healthy {
			t.Errorf("%s: clients go to nodes %v, and may go elsewhere: %v", name, to, e.Changing())
		}
	}
}
