package scenario

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// refuseVoid refuses actions that would do nothing since what they are about is not there, or no more: kubectl refuses them, too.
func (b *builder) refuseVoid() {
	for i := range b.out.Actions {
		a, before := &b.out.Actions[i], b.out.Actions[:i]
		if why := b.void(a, before); why != "" {
			b.doc.report(manifest.Error, a.Pos, "spec.actions", "%s", why)
		}
	}
}

// void says why an action does nothing after those before it, "" where it does something.
func (b *builder) void(a *world.Action, before []world.Action) string {
	switch o := a.Operation.(type) {
	case world.Rollback:
		if !slices.ContainsFunc(before, func(x world.Action) bool { return revises(x.Operation) == o.Workload }) {
			return fmt.Sprintf("rollback of %s: there is no earlier revision to go back to (kubectl: no rollout history found); put a rolloutRestart, setImage or apply before it", o.Workload)
		}
	case world.Pause:
		if b.paused(a, before, o.Workload) {
			return fmt.Sprintf("pause of %s: it is paused already, and kubectl refuses it", o.Workload)
		}
	case world.Resume:
		if !b.paused(a, before, o.Workload) {
			return fmt.Sprintf("resume of %s: it is not paused, and kubectl refuses it", o.Workload)
		}
	case world.DeleteNode:
		if gone(a, before, func(x *world.Action) bool { d, ok := x.Operation.(world.DeleteNode); return ok && d.Node == o.Node }) && !comesBack(b.out.Actions, o.Node) {
			return fmt.Sprintf("deleteNode of %s: an earlier action deletes it, and kubectl finds it no more", o.Node)
		}
	case world.DeleteService:
		if gone(a, before, func(x *world.Action) bool { return x.Operation == o }) {
			return fmt.Sprintf("deleteService of %s: an earlier action deletes it, and kubectl finds it no more", o.Service)
		}
	case world.Drain:
		if !b.selectsPods(o.PodSelector) {
			return fmt.Sprintf("drain: podSelector %s selects no pod of any workload: nothing would leave %s; use cordon for a node that only gets no more pods", o.PodSelector, world.Action{Operation: o}.Target())
		}
	}
	return ""
}

// revises is the workload that an operation gives a new revision, "" for none.
func revises(o world.Operation) string {
	switch o := o.(type) {
	case world.RolloutRestart:
		return o.Workload
	case world.Apply:
		return o.Workload
	case world.SetImage:
		return o.Workload
	default:
		return ""
	}
}

// paused says whether a Deployment is paused when an action comes.
func (b *builder) paused(a *world.Action, before []world.Action, workload string) bool {
	i := slices.IndexFunc(b.out.Workloads, func(w world.Workload) bool { return w.Name() == workload })
	if i < 0 {
		return false
	}
	d, ok := b.out.Workloads[i].Resource.(*appsv1.Deployment)
	paused := ok && d.Spec.Paused
	for i := range before {
		switch o := before[i].Operation.(type) {
		case world.Pause:
			if o.Workload == workload {
				paused = before[i].For == 0 || before[i].At+before[i].For > a.At
			}
		case world.Resume:
			if o.Workload == workload {
				paused = false
			}
		}
	}
	return paused
}

// gone says whether an action that took something away was before another one, and has not ended until then.
func gone(a *world.Action, before []world.Action, takes func(*world.Action) bool) bool {
	return slices.ContainsFunc(before, func(x world.Action) bool { return takes(&x) && (x.For == 0 || x.At+x.For > a.At) })
}

// comesBack says whether a node may join again: after a crash or a shutdown that ends, or since an action has it join.
func comesBack(actions []world.Action, node string) bool {
	return slices.ContainsFunc(actions, func(a world.Action) bool {
		switch o := a.Operation.(type) {
		case world.CreateNode:
			return o.Node == node
		case world.CrashNode:
			return o.Node == node && a.For > 0
		case world.ShutdownNode:
			return o.Node == node && a.For > 0
		default:
			return false
		}
	})
}

// selectsPods says whether a selector of kubectl drain finds any pod, on whatever node. Pods that an action labels anew may be any.
func (b *builder) selectsPods(selector string) bool {
	s, err := labels.Parse(selector)
	if err != nil || s.Empty() {
		return true
	}
	matches := func(of map[string]string) bool { return s.Matches(labels.Set(of)) }
	return slices.ContainsFunc(b.out.Workloads, func(w world.Workload) bool { return matches(w.Template().Labels) }) ||
		slices.ContainsFunc(b.world.pods, func(p homed) bool { return matches(p.Value.Labels) }) ||
		slices.ContainsFunc(b.out.Actions, func(a world.Action) bool {
			switch o := a.Operation.(type) {
			case world.Relabel, world.CreatePod:
				return true
			case world.Apply:
				return matches(world.TemplateOf(o.Resource).Labels)
			default:
				return false
			}
		})
}
