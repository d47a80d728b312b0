package cluster

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// relabels has labels of pods changed 10 s after the beginning, and more.
func (b build) relabels(at ...world.Action) build {
	b.Actions = append(b.Actions, at...)
	return b
}

func label(at int, pod int, key, value string) world.Action {
	o := world.Relabel{Pods: world.Pods{Workload: "default/web", Number: pod}}
	if value == "-" {
		o.Remove = []string{key}
	} else {
		o.Set = map[string]string{key: value}
	}
	return world.Action{At: engine.Time(at) * sec, Operation: o}
}

// ids are the pods in the slices of the first Service.
func (w *testWorld) ids() []api.PodID {
	var out []api.PodID
	for _, e := range w.slicesInAPI(0) {
		out = append(out, e.ID)
	}
	return out
}

// A pod whose label is changed leaves its Service at once, with no terminating state, and its ReplicaSet, which makes another one. It goes
// on running, and nobody counts it any more. Reference: docs/model/controllers.md 9.1 Removing the label; 3 Claims.
func TestAPodThatIsRelabelled(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"debug", "-"} {
		b := newBuild(3).nodes(3).relabels(label(10, 1, "app", value))
		b.Latency.APIWrite, b.Latency.SliceController = engine.Constant(10*ms), engine.Constant(20*ms)
		w := b.acts(t)
		w.at(10*sec+5*ms, func() {
			if got := w.ids(); !slices.Equal(got, []api.PodID{0, 1, 2}) {
				t.Errorf("before: %v", got)
			}
		})
		w.at(10*sec+45*ms, func() {
			if got := w.ids(); slices.Contains(got, 1) {
				t.Errorf("it is in the slices 35 ms after its label was changed: %v", got)
			}
		})
		w.run(60 * sec)
		if got := w.ids(); !slices.Equal(got, []api.PodID{0, 2, 3}) || w.Unrest() != "" || w.CannotEnd() != nil {
			t.Errorf("%v, %q, %+v", got, w.Unrest(), w.CannotEnd())
		}
		p := as[*api.Pod](w.store.Get(api.PodKey(1)))
		if p.Deleting() || !p.Ready || p.ReplicaSet != nil || !w.Instance(p.IP).Accepts() {
			t.Errorf("%+v", p)
		}
		if u := w.Usable(0); u.Min != 2 || u.Of != 3 {
			t.Errorf("%+v", u)
		}
		rs := as[*api.ReplicaSet](w.store.Get(api.ReplicaSetKey(api.ReplicaSetID{})))
		if rs.Pods != 3 || rs.Available != 3 {
			t.Errorf("%+v", rs)
		}
		for _, e := range w.settledEndpoints(0) {
			if e.ID == 1 {
				t.Error("it is in the settled state")
			}
		}
	}
}

// A label that no selector has changes nothing. One that is put back has the pod adopted, and then there is one too many.
func TestAPodThatComesBack(t *testing.T) {
	t.Parallel()
	w := newBuild(3).nodes(3).relabels(label(10, 1, "team", "shop")).acts(t)
	w.run(60 * sec)
	if got := w.ids(); !slices.Equal(got, []api.PodID{0, 1, 2}) || w.Unrest() != "" {
		t.Errorf("%v, %q", got, w.Unrest())
	}
	w = newBuild(3).nodes(3).relabels(label(10, 1, "app", "debug"), label(40, 1, "app", "web")).acts(t)
	w.run(120 * sec)
	p, _ := w.store.Get(api.PodKey(1)).(*api.Pod)
	if got := w.ids(); len(got) != 3 || w.Unrest() != "" || len(w.livePods) != 3 || p != nil && p.ReplicaSet == nil {
		t.Errorf("%v of %v, %q, %+v", got, w.livePods, w.Unrest(), p)
	}
	if len(w.World.pods) != 4 {
		t.Errorf("%d pods were made", len(w.World.pods))
	}
}

// Its ReplicaSet waits for room like for any other pod: the one that was relabelled keeps its node.
func TestAReplacementWithoutRoom(t *testing.T) {
	t.Parallel()
	w := newBuild(2).nodes(2).hostPort(80, nil).relabels(label(10, 0, "app", "debug")).acts(t)
	w.run(60 * sec)
	if s := w.CannotEnd(); s == nil || s.What != "one node more" {
		t.Errorf("%+v", s)
	}
}

// blueGreen is a Service of the blue one of two workloads, and its switch to green.
func blueGreen(green int32) build {
	b := newBuild(2).nodes(2).another("green", green)
	b.svc.Spec.Selector = map[string]string{"app": "web", "color": "blue"}
	for i, color := range []string{"blue", "green"} {
		d := b.Workloads[i].Deployment()
		labels := map[string]string{"app": "web", "color": color}
		d.Spec.Template.Labels, d.Spec.Selector.MatchLabels = labels, labels
	}
	return b.relabels(world.Action{At: 10 * sec, Operation: world.SetSelector{Service: "default/web", Selector: map[string]string{"app": "web", "color": "green"}}})
}

// A Service follows its selector: the slices change when their controller has heard of it, and the pods of before are in no state of
// leaving. Where the new selector matches none there is no endpoint. Reference: docs/model/controllers.md 9.1 Selector.
func TestAServiceWithAnotherSelector(t *testing.T) {
	t.Parallel()
	for green, want := range map[int32][]api.PodID{2: {2, 3}, 0: nil} { // order: each for itself
		b := blueGreen(green)
		b.Latency.APIWrite, b.Latency.Watch, b.Latency.SliceController = engine.Constant(10*ms), engine.Constant(10*ms), engine.Constant(20*ms)
		w := b.acts(t)
		if got := w.ids(); !slices.Equal(got, []api.PodID{0, 1}) {
			t.Fatalf("at the beginning: %v", got)
		}
		w.at(9*sec, func() {
			if got := w.settledEndpoints(0); len(got) != 2 {
				t.Errorf("settled before: %v", got)
			}
		})
		w.at(10*sec+35*ms, func() {
			if got := w.ids(); !slices.Equal(got, []api.PodID{0, 1}) {
				t.Errorf("before the controller has heard of it: %v", got)
			}
			if got := w.settledEndpoints(0); len(got) != int(green) {
				t.Errorf("the settled state lags: %v", got)
			}
		})
		w.run(60 * sec)
		if got := w.ids(); !slices.Equal(got, want) || w.Unrest() != "" {
			t.Errorf("%v, %q", got, w.Unrest())
		}
		for n := range w.Proxies {
			e, _ := w.Entry(world.Traffic{Service: "default/web", Port: 80})
			if got := len(e.Endpoints(w.Proxies[n].Installed())); got != int(green) {
				t.Errorf("node %d has %d endpoints", n, got)
			}
		}
	}
}

// A Service that selects nothing at first has no endpoints, and those of the pods that match when it is given a selector, under the port that its
// name is in their template. Reference: docs/model/controllers.md 9.1 Selector.
func TestAServiceThatIsGivenASelector(t *testing.T) {
	t.Parallel()
	b := newBuild(2).nodes(2)
	b.container().Ports[0].Name = "http"
	b.svc.Spec.Selector, b.svc.Spec.Ports[0].TargetPort = nil, intstr.FromString("http")
	b = b.relabels(world.Action{At: 10 * sec, Operation: world.SetSelector{Service: "default/web", Selector: map[string]string{"app": "web"}}})
	w := b.acts(t)
	w.run(9 * sec)
	if got := w.ids(); len(got) != 0 || w.Unrest() != "" {
		t.Errorf("before: %v, %q", got, w.Unrest())
	}
	w.run(20 * sec)
	e, _ := w.Entry(world.Traffic{Service: "default/web", Port: 80})
	if got := w.ids(); !slices.Equal(got, []api.PodID{0, 1}) || w.Unrest() != "" || w.targetPortInAPI(e) != 8080 {
		t.Errorf("%v, %q, port %d", got, w.Unrest(), w.targetPortInAPI(e))
	}
}

// A DaemonSet releases a pod whose labels do not match any more, and makes another one on its node beside it, where there is room. If the label
// comes back, the older of both stays. Reference: docs/model/controllers.md 5 Claims.
func TestADaemonsPodThatIsRelabelled(t *testing.T) {
	t.Parallel()
	for _, back := range []bool{false, true} {
		b := newBuild(1).nodes(2).daemons("0", "1").relabels(label(10, 0, "app", "debug"))
		if back {
			b = b.relabels(label(60, 0, "app", "web"))
		}
		w := b.acts(t)
		w.run(50 * sec)
		old := as[*api.Pod](w.store.Get(api.PodKey(0)))
		if got := w.ids(); !slices.Equal(got, []api.PodID{1, 2}) || len(w.PodsOn(0)) != 2 || w.Unrest() != "" || old.Deleting() || !old.Released {
			t.Errorf("%v, %d pods, %q, %+v", got, len(w.PodsOn(0)), w.Unrest(), old)
		}
		w.run(120 * sec)
		want := map[bool][]api.PodID{false: {1, 2}, true: {0, 1}}[back]
		if got := w.ids(); !slices.Equal(got, want) || len(w.PodsOn(0)) != map[bool]int{false: 2, true: 1}[back] || w.Unrest() != "" {
			t.Errorf("back %v: %v, %d pods, %q", back, got, len(w.PodsOn(0)), w.Unrest())
		}
	}
}

// A daemon that has a port of the node keeps its successor off it, labelled or not: that waits. Reference: docs/model/controllers.md 5 Claims.
func TestADaemonsPodThatIsRelabelledKeepsItsPort(t *testing.T) {
	t.Parallel()
	w := newBuild(1).nodes(2).hostPort(80, nil).daemons("0", "1").relabels(label(10, 0, "app", "debug")).acts(t)
	w.run(50 * sec)
	if got := w.ids(); !slices.Equal(got, []api.PodID{1}) || len(w.sched.Pending()) != 1 {
		t.Errorf("%v, %v", got, w.sched.Pending())
	}
}

// A bare Pod that is relabelled leaves its Service, and nothing else becomes of it. Reference: docs/model/controllers.md 9.1 Removing the label.
func TestABarePodThatIsRelabelled(t *testing.T) {
	t.Parallel()
	w := newBuild(1).bare().relabels(label(10, 0, "app", "debug"), label(60, 0, "app", "web")).acts(t)
	w.run(50 * sec)
	if got := w.ids(); len(got) != 0 || w.Unrest() != "" || len(w.PodsOn(0)) != 1 || w.Usable(0).Now != 1 {
		t.Errorf("%v, %q, %+v", got, w.Unrest(), w.Usable(0))
	}
	w.run(100 * sec)
	if got := w.ids(); !slices.Equal(got, []api.PodID{0}) {
		t.Error(got)
	}
}
