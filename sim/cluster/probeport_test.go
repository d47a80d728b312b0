package cluster

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/control"
	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

func asking(port intstr.IntOrString) *corev1.Probe {
	p := probe(0, 1, 1, 1)
	p.HTTPGet = &corev1.HTTPGetAction{Port: port}
	return p
}

// A pod whose readiness or startup probe asks for a port by a name that its container does not have
// is never ready: its rollout is stuck as soon as nothing else is left to do, long before any deadline.
func TestAProbeOfANamedPortThatIsNotThereMakesARolloutStuck(t *testing.T) {
	t.Parallel()
	const what = "a port of that name in the container, or the port's number in the probe"
	const why = "the new pod is never ready: the %s probe of its container app asks for a port named web, and the container has none of that name"
	named := intstr.FromString("web")
	socket := probe(0, 1, 1, 1)
	socket.TCPSocket = &corev1.TCPSocketAction{Port: named}
	for _, c := range []struct {
		name string
		edit func(*corev1.Container)
		want *control.Stuck
	}{
		{"by another name", func(c *corev1.Container) { c.ReadinessProbe = asking(named) },
			&control.Stuck{Why: fmt.Sprintf(why, "readiness"), What: what, Path: "spec.template.spec.containers[0].readinessProbe.httpGet.port"}},
		{"a TCP probe", func(c *corev1.Container) { c.ReadinessProbe = socket },
			&control.Stuck{Why: fmt.Sprintf(why, "readiness"), What: what, Path: "spec.template.spec.containers[0].readinessProbe.tcpSocket.port"}},
		{"a startup probe", func(c *corev1.Container) { c.StartupProbe = asking(named) },
			&control.Stuck{Why: fmt.Sprintf(why, "startup"), What: what, Path: "spec.template.spec.containers[0].startupProbe.httpGet.port"}},
		{"a liveness probe kills nobody", func(c *corev1.Container) { c.LivenessProbe = asking(named) }, nil},
		{"by the name of a port", func(c *corev1.Container) { c.ReadinessProbe, c.Ports[0].Name = asking(named), "web" }, nil},
		{"by number", func(c *corev1.Container) { c.ReadinessProbe = asking(intstr.FromInt32(8080)) }, nil},
		{"by a number in quotes", func(c *corev1.Container) { c.ReadinessProbe = asking(intstr.FromString("8080")) }, nil},
	} {
		b := newBuild(2).strategy("1", "0")
		c.edit(b.container())
		w := b.start(t, 1)
		w.do(10*sec, "rolloutRestart", "web", "")
		w.run(60 * sec)
		got := w.StuckRollout()
		if got == nil != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, got, c.want)
		}
		if census := w.census(as[*api.Workload](w.store.Get(api.DeploymentKey(0)))); (census.old == 0) != (c.want == nil) {
			t.Errorf("%s: %+v", c.name, census)
		}
	}
}

// A sidecar's probe counts as well, and names the sidecar.
func TestAProbeOfANamedPortThatASidecarDoesNotHave(t *testing.T) {
	t.Parallel()
	b := newBuild(1).inits("migrate", "+proxy")
	b.d.Spec.Template.Spec.InitContainers[1].ReadinessProbe = asking(intstr.FromString("admin"))
	w := b.start(t, 1)
	w.do(10*sec, "rolloutRestart", "web", "")
	w.run(60 * sec)
	if got := w.StuckRollout(); got == nil || got.Path != "spec.template.spec.initContainers[1].readinessProbe.httpGet.port" {
		t.Errorf("%+v", got)
	}
}

// A probe whose program the image does not have is never answered: what waits for its success waits for ever, and a liveness probe kills nobody.
// The container of a postStart hook that cannot be run is killed, again and again.
func TestAProgramThatTheImageDoesNotHave(t *testing.T) {
	t.Parallel()
	absent := &corev1.ExecAction{Command: []string{"cat", "/tmp/ready"}}
	asks := func() *corev1.Probe { p := probe(0, 1, 1, 1); p.Exec = absent; return p }
	hook := &corev1.Lifecycle{PostStart: &corev1.LifecycleHandler{Exec: absent}}
	for _, c := range []struct {
		name string
		edit func(*corev1.Container)
		path string // of what the rollout waits for, "" for nothing
	}{
		{"a readiness probe", func(c *corev1.Container) { c.ReadinessProbe = asks() }, "readinessProbe.exec"},
		{"a startup probe", func(c *corev1.Container) { c.StartupProbe = asks() }, "startupProbe.exec"},
		{"a liveness probe", func(c *corev1.Container) { c.LivenessProbe = asks() }, ""},
		{"a postStart hook", func(c *corev1.Container) { c.Lifecycle = hook }, "lifecycle.postStart"},
		{"an image that has it", func(c *corev1.Container) { c.Image, c.Lifecycle, c.ReadinessProbe = "alpine", hook, asks() }, ""},
	} {
		b := newBuild(2).strategy("1", "0")
		b.container().Image = "gcr.io/distroless/static"
		c.edit(b.container())
		b = b.hook(b.container().Name, servers.HookOf(b.container(), world.Overrides{}))
		w := b.start(t, 1)
		w.do(10*sec, "rolloutRestart", "web", "")
		w.run(60 * sec)
		got := w.StuckRollout()
		if got == nil != (c.path == "") || got != nil && got.Path != "spec.template.spec.containers[0]."+c.path {
			t.Errorf("%s: %+v", c.name, got)
		}
		restarts := 0
		for _, id := range w.livePods {
			if p := w.pod(id); p != nil {
				restarts = max(restarts, p.Restarts)
			}
		}
		if (restarts > 0) != (c.name == "a postStart hook") {
			t.Errorf("%s: %d restarts", c.name, restarts)
		}
	}
}
