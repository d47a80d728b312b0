package cluster

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// A readiness probe that says that a file is not there has a pod ready before its server listens, and not ready once its hook has made the file:
// no other program does either. Reference: docs/model/pod-lifecycle.md 3.3 exec readiness.
func TestAProbeForAFileThatIsNotThere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		argv    []string
		asks    world.Asks
		atOnce  bool // ready before it listens
		unready bool // when the hook has made the file
	}{
		{"a file that is not there", []string{"sh", "-c", "test ! -f /tmp/drain"}, world.AsksByProgram, true, true},
		{"nothing", []string{"true"}, world.AsksByProgram, true, false},
		{"a program that nobody knows", []string{"/bin/ready"}, world.AsksByProgram, false, true},
		{"one that is said to ask nothing", []string{"/bin/ready"}, world.AsksNothing, true, false},
		{"a file, and said to ask the server", []string{"test", "!", "-e", "/tmp/drain"}, world.AsksServer, false, true},
	} {
		b := newBuild(1).app(func(a *world.App) { a.Start, a.ReadinessAsks = engine.Constant(9*sec), c.asks })
		asks := probe(0, 1, 1, 1)
		asks.ProbeHandler = corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: c.argv}}
		b.container().ReadinessProbe = asks
		b.hook("app", world.Hook{Kind: "exec", Why: "touch /tmp/drain; sleep 40", Duration: engine.Constant(40 * sec), FailsReadiness: true})
		w := b.grace(60).start(t, 1)
		w.pods()
		w.do(10*sec, "rolloutRestart", "web", "")
		var ready, listens bool
		w.at(16*sec, func() { ready, listens = w.kubelets[0].Worker(1).Ready(), w.PodInstance(1).Listening })
		w.run(45 * sec)
		if listens || ready != c.atOnce {
			t.Errorf("%s: ready %v while it listens %v", c.name, ready, listens)
		}
		if got := !w.kubelets[0].Worker(0).Ready(); got != c.unready {
			t.Errorf("%s: not ready %v while its hook runs", c.name, got)
		}
	}
}
