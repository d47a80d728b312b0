package cluster

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// While a webhook with failurePolicy Fail that is asked of all Pods has no pod that answers, no ReplicaSet makes one, its own neither. Where none
// is left that ever will, that is for good. Reference: docs/model/controllers.md 3 Webhooks.
func TestAWebhookThatDoesNotAnswerKeepsPodsFromBeingMade(t *testing.T) {
	t.Parallel()
	serves := world.Hook{Kind: servers.HookSleep, Duration: engine.Constant(5 * sec)}
	slow := func(b build) build {
		return b.app(func(a *world.App) { a.Start = engine.Constant(3 * sec) })
	}
	crash := world.CrashNode{Node: "node-1"}
	for name, c := range map[string]struct {
		b     build
		until engine.Time
		stuck bool
		ready int
	}{
		"no webhook":                       {newBuild(1).nodes(2).does(crash, 0), 500 * sec, false, 1},
		"its only pod crashes":             {newBuild(1).nodes(2).does(crash, 0), 500 * sec, true, 0},
		"before its pod is deleted":        {newBuild(1).nodes(2).does(crash, 0), 200 * sec, false, 0},
		"another one answers":              {newBuild(2).nodes(2).does(crash, 0), 500 * sec, false, 2},
		"drained, and it ends at once":     {slow(newBuild(1).nodes(2)).latent().drained(nil, "node-1"), 60 * sec, true, 0},
		"drained, and it serves on":        {slow(newBuild(1).nodes(2)).latent().hook("app", serves).drained(nil, "node-1"), 60 * sec, false, 1},
		"ended all at once, for a rollout": {newBuild(2).recreate().does(world.RolloutRestart{Workload: "default/web"}, 0), 60 * sec, true, 0},
		"it is back after a while":         {slow(newBuild(2).nodes(2)).latent().does(world.CrashPod{Pods: world.Pods{Workload: "default/web", Number: 1}}, 0).does(world.Delete{Pods: world.Pods{Workload: "default/web"}}, 0), 60 * sec, false, 2},
	} {
		if name != "no webhook" {
			c.b.Vetoes = []world.Veto{{Service: "default/web"}}
		}
		w := c.b.acts(t)
		w.run(c.until)
		got := w.CannotEnd()
		if (got != nil) != c.stuck || got != nil && (got.Drain || !strings.Contains(got.Why, "asks the webhook of Service web first (failurePolicy Fail)")) {
			t.Errorf("%s: %+v", name, got)
		}
		if n := w.Usable(0).Now; n != c.ready {
			t.Errorf("%s: %d usable pods, want %d", name, n, c.ready)
		}
		if err := w.Stuck(); err != nil && c.until > 300*sec {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// latent has news take a moment, so that a pod which ends at once has ended before its successor is asked for.
func (b build) latent() build {
	b.Latency.Controller = engine.Constant(50 * ms)
	return b
}
