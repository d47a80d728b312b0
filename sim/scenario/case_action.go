package scenario

import (
	"cmp"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// caseAction is something that is done to each workload of manifests: a case each.
type caseAction struct {
	word string // of Options.Actions, and in the ID of a case
	name string // of Case.Action: what one of it is called, an s makes it several
	// unasked says whether a workload has such a case where nobody asks for actions.
	unasked func(b *builder, o *owner) bool
	// doing is what is done to a workload.
	doing func(b *builder, o *owner) doing
}

// doing is what is done to one workload.
type doing struct {
	operation world.Operation
	// lasts is when the operation ends by itself, 0 where it does not.
	lasts engine.Time
	// more is how many replicas the workload has more than otherwise, before it is done.
	more int32
	// why is why it cannot be done, "" where it can.
	why string
}

// Actions of which a report says more than their name. ActionRollout is that of most cases.
const (
	ActionRollout   = "rolling restart"
	ActionDrain     = "node drain"
	ActionScaleDown = "scale-down"
	ActionShutdown  = "node shutdown"
	ActionSpot      = "spot notice"
	ActionCrash     = "node crash"
	ActionReboot    = "node reboot"
	ActionDelete    = "node deletion"
)

// caseActions lists them in the order in which the cases of a workload come (docs/model/simulator.md 5.4).
func caseActions() []caseAction {
	always := func(*builder, *owner) bool { return true }
	never := func(*builder, *owner) bool { return false }
	return []caseAction{
		{"rollout", ActionRollout, always, func(_ *builder, o *owner) doing {
			return doing{operation: world.RolloutRestart{Workload: o.id()}, why: cmp.Or(refusal("rolloutRestart", o.kind), o.unrolled())}
		}},
		{"drain", ActionDrain, func(_ *builder, o *owner) bool { return o.staysInDrain() == "" }, func(_ *builder, o *owner) doing {
			return doing{operation: world.Drain{Fullest: o.id(), DrainOptions: world.DrainOptions{GracePeriod: world.OwnGrace}}, why: o.staysInDrain()}
		}},
		{"evict", "eviction", never, func(_ *builder, o *owner) doing {
			return doing{operation: world.Evict{Pods: world.Pods{Workload: o.id()}}}
		}},
		{"scale-down", ActionScaleDown, (*builder).scaledDown, (*builder).scaleDown},
		{"autoscaler", "node scale-down", never, func(_ *builder, o *owner) doing { return doing{operation: world.ScaleDownNode{Fullest: o.id()}} }},
		{"karpenter", "node replacement", never, (*builder).replaced},
		{"pool-upgrade", "pool upgrade", never, (*builder).upgraded},
		{"shutdown", ActionShutdown, never, func(_ *builder, o *owner) doing {
			return doing{operation: world.ShutdownNode{Fullest: o.id()}}
		}},
		{"spot", ActionSpot, never, (*builder).spotNoticed},
		{"crash", ActionCrash, never, func(_ *builder, o *owner) doing {
			return doing{operation: world.CrashNode{Fullest: o.id()}}
		}},
		{"reboot", ActionReboot, never, func(b *builder, o *owner) doing {
			return doing{operation: world.CrashNode{Fullest: o.id()}, lasts: b.rebootLasts()}
		}},
		{"delete-node", ActionDelete, never, func(_ *builder, o *owner) doing {
			return doing{operation: world.DeleteNode{Fullest: o.id()}}
		}},
	}
}

// staysInDrain says why a drain takes no pod of a workload away, "" where it does.
func (o *owner) staysInDrain() string {
	if o.kind == world.DaemonSet {
		return "kubectl drain leaves the pods of a DaemonSet where they are"
	}
	return ""
}

// unrolled says that a restart of a workload changes nothing, or is refused, "" where it does what it says.
func (o *owner) unrolled() string {
	if o.object == nil {
		return ""
	}
	if d, ok := o.object.Value.(*appsv1.Deployment); ok && d.Spec.Paused {
		return "paused: kubectl rollout restart refuses it, and a new template replaces no pod before kubectl rollout resume" + place(o.object, "spec.paused", o.object.File)
	}
	r, ok := o.object.Value.(world.Resource)
	switch partition := world.PartitionOf(r); {
	case ok && world.OnDelete(r):
		return "updateStrategy OnDelete: a rollout deletes no pod, and each is replaced when somebody deletes it" + place(o.object, "spec.updateStrategy.type", o.object.File)
	case ok && o.replicas > 0 && partition >= o.replicas:
		return fmt.Sprintf("partition %d, with %d replicas: a rollout replaces no pod", partition, o.replicas) + place(o.object, "spec.updateStrategy.rollingUpdate.partition", o.object.File)
	}
	return ""
}

// Actions are the words of Options.Actions.
func Actions() []string {
	var words []string
	for _, a := range caseActions() {
		words = append(words, a.word)
	}
	return words
}

// actionsOf are the actions that cases of a workload are made of, in their order.
func (b *builder) actionsOf(o *owner) []caseAction {
	_, words := NodesDrained(b.opts.Actions)
	return slices.DeleteFunc(caseActions(), func(a caseAction) bool {
		if len(b.opts.Actions) == 0 {
			return !a.unasked(b, o)
		}
		return !slices.Contains(words, a.word)
	})
}

// checkActions refuses actions that there are not.
func (b *builder) checkActions() {
	drains, words := NodesDrained(b.opts.Actions)
	said := slices.Clone(words)
	for _, nodes := range drains {
		said = append(said, (&nodeDrain{nodes: nodes}).word())
	}
	for i, word := range said {
		if slices.Contains(said[:i], word) {
			b.doc.settingError(b.opts.Wording.Option("action", word), "it is said twice: once is enough")
		}
	}
	for _, word := range words {
		if !slices.Contains(Actions(), word) {
			b.doc.settingError(b.opts.Wording.Option("action", word), "there is no such action; %s", didYouMean(word, Actions()))
		}
	}
}

// scaledDown says whether something may take one of a workload's pods away by itself: an autoscaler.
func (b *builder) scaledDown(o *owner) bool {
	return len(b.scalersOf(o)) > 0 && b.scaleDown(o).why == ""
}

// scaleDown takes one pod of a workload away. One that an autoscaler keeps at what it has begins with one more.
func (b *builder) scaleDown(o *owner) doing {
	if why := refusal("scale", o.kind); why != "" {
		return doing{why: "nothing to scale down: " + why}
	}
	scale := func(from int32) doing {
		return doing{operation: world.Scale{Workload: o.id(), Replicas: int(from) - 1}, more: from - o.replicas}
	}
	for _, s := range b.scalersOf(o) {
		switch {
		case o.replicas > max(s.least, 1):
		case s.most > 0 && o.replicas >= s.most:
			return doing{why: fmt.Sprintf("nothing to scale down: %s %s never has more or fewer pods than %d%s", s.kind, s.object.Name, s.most, place(s.object, "spec."+s.field, o.object.File))}
		default:
			return scale(o.replicas + 1)
		}
	}
	if o.replicas == 1 {
		return doing{why: "nothing to scale down: replicas is 1, and without any pod nobody answers"}
	}
	return scale(o.replicas)
}

// scalersOf lists what scales a workload.
func (b *builder) scalersOf(o *owner) []scaler {
	if r, ok := b.world.workload(o.id()); ok {
		return b.world.scalersOf(r.Value)
	}
	return nil
}
