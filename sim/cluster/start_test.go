package cluster

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// inits gives the pods init containers; "+" before a name makes it a sidecar.
func (b build) inits(names ...string) build {
	always := corev1.ContainerRestartPolicyAlways
	for _, name := range names {
		c := corev1.Container{Name: strings.TrimPrefix(name, "+")}
		if c.Name != name {
			c.RestartPolicy = &always
		}
		b.d.Spec.Template.Spec.InitContainers = append(b.d.Spec.Template.Spec.InitContainers, c)
	}
	return b
}

// newPodOf begins a world at whose 10th second a new pod is made: its containers take 100 ms to start,
// its init containers run for 5 s, and its kubelet looks at 0.4 s of each second.
func newPodOf(t *testing.T, b build) (*testWorld, map[string]engine.Time) {
	t.Helper()
	b.Latency.ContainerStart = engine.Constant(100 * ms)
	w := b.app(func(a *world.App) { a.Init = engine.Constant(5 * sec) }).start(t, 1)
	w.kubelets[0].Phase = 400 * ms
	began := map[string]engine.Time{}
	w.hears(func(e event.Event) {
		if e.Kind == event.Started && e.Pod > 0 {
			began[e.Container.Name] = e.At
		}
	})
	w.pods()
	w.do(10*sec, "scale", "web", "2")
	return w, began
}

// A node pulls each image once, for all containers and pods that have it, and one image after another. Reference:
// docs/model/pod-lifecycle.md 4.2 Image pulls.
func TestANodePullsEachImageOnce(t *testing.T) {
	t.Parallel()
	pull := engine.Constant(7 * sec)
	for name, c := range map[string]struct { // order: each for itself
		images []string // of containers beside the server, whose own is example.com/web
		inits  []string
		pods   string
		want   engine.Time // when the last containers of the new pods begin, in place of 10.1 s
	}{
		"one container":                   {nil, nil, "2", 17100 * ms},
		"two with the same image":         {[]string{"example.com/web"}, nil, "2", 17100 * ms},
		"two with images of their own":    {[]string{"log"}, nil, "2", 24100 * ms},
		"two pods of one node":            {nil, nil, "3", 17100 * ms},
		"two pods with two images":        {[]string{"log"}, nil, "3", 24100 * ms},
		"an init container with the same": {nil, []string{"example.com/web"}, "2", 22500 * ms}, // 17.1 + 5, seen at 22.4
		"an init container with another":  {nil, []string{"migrate"}, "2", 29500 * ms},         // that, and another pull
	} {
		b := newBuild(1)
		b.Latency.ImagePull = &pull
		b.container().Image = "example.com/web"
		for i, image := range c.images {
			b.d.Spec.Template.Spec.Containers = append(b.d.Spec.Template.Spec.Containers, corev1.Container{Name: fmt.Sprint("beside-", i), Image: image})
		}
		for i, image := range c.inits {
			b.d.Spec.Template.Spec.InitContainers = append(b.d.Spec.Template.Spec.InitContainers, corev1.Container{Name: fmt.Sprint("init-", i), Image: image})
		}
		b.Latency.ContainerStart = engine.Constant(100 * ms)
		w := b.app(func(a *world.App) { a.Init = engine.Constant(5 * sec) }).start(t, 1)
		w.kubelets[0].Phase = 400 * ms
		var last engine.Time
		w.hears(func(e event.Event) {
			if e.Kind == event.Started && e.Pod > 0 {
				last = e.At
			}
		})
		w.pods()
		w.do(10*sec, "scale", "web", c.pods)
		w.run(60 * sec)
		if last != c.want {
			t.Errorf("%s: the containers begin at %v s, want %v s", name, last.Seconds(), c.want.Seconds())
		}
	}
}

// Each init container runs for its time, the kubelet sees the end at its next relist, and the next
// one begins: the containers last. Until then the pod is Pending. Reference:
// docs/model/pod-lifecycle.md 4.2.
func TestInitContainersRunOneAfterAnother(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		names []string
		want  engine.Time // when the containers begin
	}{
		{nil, 10100 * ms},
		{[]string{"migrate"}, 15500 * ms},         // 10.1 + 5, seen at 15.4
		{[]string{"migrate", "seed"}, 21500 * ms}, // 15.5 + 5, seen at 21.4: the relist of 20.4 comes too early
	} {
		w, began := newPodOf(t, newBuild(1).inits(c.names...))
		w.run(60 * sec)
		if got := began["app"]; got != c.want {
			t.Errorf("%v: the containers began at %s s, want %s", c.names, got.Seconds(), c.want.Seconds())
		}
		for _, l := range w.lines {
			if stamp, rest, _ := strings.Cut(l, " "); strings.HasPrefix(rest, "r0 1 running") && w.when("r0 1 running") < c.want {
				t.Errorf("%v: Running at %s s", c.names, stamp)
			}
		}
		if p := w.PodInstance(1); !p.Accepts() {
			t.Errorf("%v: %+v", c.names, p)
		}
	}
}

// A sidecar goes on, so the next one waits for no end of it, only until it is started: at once when the
// kubelet sees it run, or when its startup probe has succeeded. Reference:
// docs/model/pod-lifecycle.md 4.2.
func TestASidecarHoldsTheNextOneUpUntilItIsStarted(t *testing.T) {
	t.Parallel()
	const none = -1
	for _, c := range []struct {
		name         string
		delay        int32 // of its startup probe
		sidecar, app engine.Time
	}{
		// Seen at 10.4, so the init container runs from 10.5 to 15.5, which is seen at 16.4.
		{"without a startup probe", none, 10100 * ms, 16500 * ms},
		// Its start counts from 10, so it is asked at 17: the init container runs from 17.1 to 22.1.
		{"with a startup probe that waits", 7, 10100 * ms, 22500 * ms},
	} {
		b := newBuild(1).inits("+proxy", "migrate")
		if c.delay != none {
			b.d.Spec.Template.Spec.InitContainers[0].StartupProbe = probe(c.delay, 1, 1, 60)
		}
		w, began := newPodOf(t, b)
		w.run(60 * sec)
		if began["proxy"] != c.sidecar || began["app"] != c.app {
			t.Errorf("%s: %v, want proxy at %s and app at %s s", c.name, began, c.sidecar.Seconds(), c.app.Seconds())
		}
		if !w.PodInstance(1).Accepts() {
			t.Errorf("%s: it does not listen", c.name)
		}
	}
}

// A pod that is deleted while an init container runs has that one end, and its containers never begin.
// Its sidecars get SIGTERM, too, and the pod ends as Failed.
func TestAPodThatIsDeletedWhileItInitializesNeverRuns(t *testing.T) {
	t.Parallel()
	for _, names := range [][]string{{"migrate", "seed"}, {"+proxy", "migrate"}, {"migrate", "+proxy"}} {
		w, began := newPodOf(t, newBuild(1).inits(names...))
		w.at(12*sec, func() { w.deletePod(w.owner, 1) })
		w.run(12*sec + 1500*ms)
		if _, ok := began["app"]; ok || w.PodInstance(1).Accepts() {
			t.Errorf("%v: %v", names, began)
		}
		if got := fmt.Sprint(w.lines); !strings.Contains(got, "r0 1 terminal ready=false") || !strings.Contains(got, "r0 1 gone") {
			t.Errorf("%v: %s", names, got)
		}
		wk := w.kubelets[0].Worker(1)
		if wk != nil {
			t.Errorf("%v: the kubelet still has it", names)
		}
	}
}
