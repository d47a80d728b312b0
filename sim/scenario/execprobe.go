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
		b.notModelled("exec-probe", kind+" "+shortCommand(p.Exec)+" is taken to fail until the app listens, and whenever it does not", w.Kind()+" "+w.Name(), "unknown")
	}
}

// shortCommand is the begin of a command line.
func shortCommand(a *corev1.ExecAction) string {
	const most = 30
	command := []rune(strings.Join(a.Command, " "))
	if len(command) > most {
		command = append(command[:most], []rune("...")...)
	}
	return string(command)
}

// assumeReadiness notes of an exec readiness probe of which nobody knows what it asks that it is taken to pass when the app listens
// (docs/model/pod-lifecycle.md 3.3 exec readiness).
func (b *builder) assumeReadiness(w *world.Workload) {
	c := w.Container()
	p := c.ReadinessProbe
	if p == nil || p.Exec == nil || w.App.NotAServer || w.App.ReadinessAsks != world.AsksByProgram || world.AsksProcess(p, false) ||
		servers.AsksServer(p) || servers.Lacks(c, p.Exec) != "" {
		return
	}
	b.assume(readinessAsks, w.ObjectName()+": "+shortCommand(p.Exec)+" passes when the app listens")
}

// readinessAsks is the name of that assumption, and of what says it.
const readinessAsks = "readinessAsks"

// unasked has the readiness probes pass at once of which that is not known.
func unasked(s *world.Scenario) bool {
	changed := false
	for i := range s.Workloads {
		w := &s.Workloads[i]
		if w.Aside || w.App.ReadinessAsks != world.AsksByProgram {
			continue
		}
		w.App.ReadinessAsks, changed = world.AsksNothing, true
		w.Revisions = eachApp(w.Revisions, func(a *world.App) {
			if a.ReadinessAsks == world.AsksByProgram {
				a.ReadinessAsks = world.AsksNothing
			}
		})
	}
	return changed
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
