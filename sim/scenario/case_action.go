package scenario

import (
	"fmt"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// caseAction is something that is done to each workload of manifests: a case each.
type caseAction struct {
	word string // of Options.Actions, and in the ID of a case
	name string // of Case.Action: what one of it is called, an s makes it several
	// operation is what is done, or why it cannot be done to a workload.
	operation func(b *builder, o *owner) (does world.Operation, why string)
}

// ActionRollout is the action of cases where nobody asks for others.
const ActionRollout = "rolling restart"

// caseActions lists them in the order in which the cases of a workload come (docs/model/simulator.md 5.4).
func caseActions() []caseAction {
	return []caseAction{
		{"rollout", ActionRollout, func(_ *builder, o *owner) (world.Operation, string) {
			return world.RolloutRestart{Workload: o.id()}, ""
		}},
		{"drain", "node drain", func(_ *builder, o *owner) (world.Operation, string) {
			return world.Drain{Fullest: o.id(), DrainOptions: world.DrainOptions{GracePeriod: world.OwnGrace}}, ""
		}},
		{"evict", "eviction", func(_ *builder, o *owner) (world.Operation, string) {
			return world.Evict{Pods: world.Pods{Workload: o.id()}}, ""
		}},
		{"scale-down", "scale-down", func(b *builder, o *owner) (world.Operation, string) {
			if o.replicas == 1 {
				return nil, "nothing to scale down: replicas is 1, and without any pod nobody answers"
			}
			if kept := b.keptByScaler(o); kept != "" {
				return nil, kept
			}
			return world.Scale{Workload: o.id(), Replicas: int(o.replicas) - 1}, ""
		}},
	}
}

// Actions are the words of Options.Actions.
func Actions() []string {
	var words []string
	for _, a := range caseActions() {
		words = append(words, a.word)
	}
	return words
}

// actionsAsked are the actions that cases are made of, in their order.
func (b *builder) actionsAsked() []caseAction {
	if len(b.opts.Actions) == 0 {
		return caseActions()[:1]
	}
	return slices.DeleteFunc(caseActions(), func(a caseAction) bool { return !slices.Contains(b.opts.Actions, a.word) })
}

// checkActions refuses actions that there are not.
func (b *builder) checkActions() {
	for _, word := range b.opts.Actions {
		if !slices.Contains(Actions(), word) {
			b.doc.settingError(b.opts.Wording.Option("action", word), "there is no such action; %s", didYouMean(word, Actions()))
		}
	}
}

// keptByScaler says that an autoscaler of a workload lets no pod go of those that there are, "" where none does.
func (b *builder) keptByScaler(o *owner) string {
	r, ok := b.world.deployment(o.id())
	if !ok {
		return ""
	}
	for _, s := range b.world.scalersOf(r.Value) {
		if s.least >= o.replicas {
			return fmt.Sprintf("nothing to scale down: %s %s keeps %d pods, which is what there are%s", s.kind, s.object.Name, s.least, place(s.object, "spec."+s.field, o.object.File))
		}
	}
	return ""
}
