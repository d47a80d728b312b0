package fix

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/edit"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// abrupt says that pods end with their machine in all that is done: no hook runs, no SIGTERM comes, and no grace period counts.
func abrupt(s *world.Scenario) bool {
	return len(s.Actions) > 0 && !slices.ContainsFunc(s.Actions, func(a world.Action) bool {
		switch o := a.Operation.(type) {
		case world.CrashNode:
			return false
		case world.ShutdownNode:
			return len(s.Shutdown) > 0
		case world.SpotNotice:
			return o.Handled() || len(s.Shutdown) > 0
		case world.DeleteNode:
			return !o.Machine
		default:
			return true
		}
	})
}

// Sudden says that pods end with their machine in all that is done.
func Sudden(s *world.Scenario) bool { return abrupt(s) }

// silenced says that a node falls silent with its pods: they count as there until somebody deletes them.
func silenced(s *world.Scenario) bool {
	return slices.ContainsFunc(s.Actions, func(a world.Action) bool { return world.Silences(a.Operation) })
}

// patience is how many seconds a pod should tolerate it that its node is silent: no longer than it takes until that is noticed.
const patience = 30

// tolerations have pods be deleted, and made again elsewhere, sooner after their node has fallen silent: by default that takes 300 s
// more than noticing it does (docs/model/pod-lifecycle.md 6 Taint eviction).
func (t *target) tolerations() *Change {
	if !silenced(t.sc) || t.isDaemon() {
		return nil
	}
	keys := []string{corev1.TaintNodeUnreachable, corev1.TaintNodeNotReady}
	own := t.w.Template().Spec.Tolerations
	longer := slices.ContainsFunc(keys, func(key string) bool {
		d, ever := world.Endures(own, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoExecute})
		return ever || d > patience*engine.Second
	})
	if !longer {
		return nil
	}
	var items, words []string
	for _, key := range keys { // the first that matches counts
		items = append(items, fmt.Sprintf("{key: %s, operator: Exists, effect: NoExecute, tolerationSeconds: %d}", key, patience))
		words = append(words, fmt.Sprintf("%s for %d s", strings.TrimPrefix(key, "node.kubernetes.io/"), patience))
	}
	for i := range own {
		if drives := own[i].Effect == "" || own[i].Effect == corev1.TaintEffectNoExecute; !drives || !slices.Contains(keys, own[i].Key) {
			items = append(items, edit.ValueOf(own[i], "").YAML)
		}
	}
	return &Change{
		ID: "tolerations", Title: fmt.Sprintf("tolerationSeconds: %d for unreachable and not-ready", patience),
		Cost: fmt.Sprintf("a node that is only cut off for %d s loses its pods, too", patience),
		Edits: []edit.Edit{t.editOf("spec.template.spec.tolerations", edit.Value{
			YAML: "[" + strings.Join(items, ", ") + "]", Words: strings.Join(words, " and ") + " (NoExecute), before all others",
		}, fmt.Sprintf("%d of them", len(own)))},
	}
}
