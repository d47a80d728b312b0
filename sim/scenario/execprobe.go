package scenario

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// execProbes says of the programs that ask whether a server lives, or has started, that they are taken to ask what an HTTP probe would:
// nobody knows what else they look at.
func (b *builder) execProbes(w *world.Workload) {
	c := w.Container()
	for _, kind := range []string{"livenessProbe", "startupProbe"} {
		p := c.LivenessProbe
		if kind == "startupProbe" {
			p = c.StartupProbe
		}
		if p == nil || p.Exec == nil || world.AsksProcess(p, kind == "livenessProbe") || servers.Lacks(c, p.Exec) != "" {
			continue
		}
		const most = 30
		command := []rune(strings.Join(p.Exec.Command, " "))
		if len(command) > most {
			command = append(command[:most], []rune("...")...)
		}
		b.notModelled("exec-probe", kind+" "+string(command)+" is taken to fail until the app listens, and whenever it does not", w.Kind()+" "+w.Name(), "unknown")
	}
}

// checkPrograms warns of probes and postStart hooks whose program is known not to be there (docs/model/pod-lifecycle.md 3.2.7, 4.2 postStart).
func (b *builder) checkPrograms(o *manifest.Object, pod *corev1.PodSpec) {
	const never = "the probe never succeeds, and a new pod is never ready; those that run now are taken to be, by another template"
	for i := range pod.Containers {
		c := &pod.Containers[i]
		warn := func(field string, exec *corev1.ExecAction, follows string) {
			if why := servers.Lacks(c, exec); why != "" {
				b.doc.problems = append(b.doc.problems, o.Problem(manifest.Warning, fmt.Sprintf("spec.template.spec.containers[%d].%s.exec.command", i, field), why+": "+follows))
			}
		}
		for _, p := range []struct {
			field   string
			probe   *corev1.Probe
			follows string
		}{
			{"readinessProbe", c.ReadinessProbe, never},
			{"startupProbe", c.StartupProbe, never},
			{"livenessProbe", c.LivenessProbe, "the kubelet throws the error away, and restarts nothing"},
		} {
			if p.probe != nil {
				warn(p.field, p.probe.Exec, p.follows+"; valid here: httpGet, tcpSocket or grpc, for which the kubelet needs no program")
			}
		}
		if c.Lifecycle != nil && c.Lifecycle.PostStart != nil {
			warn("lifecycle.postStart", c.Lifecycle.PostStart.Exec, "the hook fails, and the kubelet kills the container each time it starts")
		}
	}
}
