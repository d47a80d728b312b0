package scenario

import (
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// asksOfAllPods says whether the API server asks a webhook before it makes any Pod: its rules name Pods, and no selector leaves some out.
func asksOfAllPods(rules []admissionv1.RuleWithOperations, selectors ...*metav1.LabelSelector) bool {
	for _, s := range selectors {
		if s != nil && len(s.MatchLabels)+len(s.MatchExpressions) > 0 {
			return false
		}
	}
	return slices.ContainsFunc(rules, func(r admissionv1.RuleWithOperations) bool {
		creates := slices.Contains(r.Operations, admissionv1.Create) || slices.Contains(r.Operations, admissionv1.OperationAll)
		core := slices.Contains(r.APIGroups, "") || slices.Contains(r.APIGroups, "*")
		pods := slices.ContainsFunc(r.Resources, func(name string) bool { return name == "pods" || name == "*" || name == "*/*" })
		return creates && core && pods
	})
}

// vetoes notes the Services whose webhooks keep Pods from being made while they do not answer.
func (b *builder) vetoes() {
	b.out.Vetoes = nil
	for i := range b.out.Services {
		id := b.out.Services[i].Object.ID()
		if slices.ContainsFunc(b.world.webhooks, func(h webhook) bool {
			return h.service == id && h.ofPods && h.failurePolicy == string(admissionv1.Fail)
		}) {
			b.out.Vetoes = append(b.out.Vetoes, id)
		}
	}
}

// webhookBeyond says of a webhook what follows where it does not answer: of that the figures say nothing.
func (b *builder) webhookBeyond(e *entry) {
	if e.class != ClassWebhook {
		return
	}
	for _, h := range b.world.webhooks {
		switch {
		case h.service != e.service.ID() || h.port != e.port.Port:
			continue
		case h.failurePolicy == string(admissionv1.Ignore):
			b.notModelled("webhook", "failurePolicy Ignore: the API server goes on without the answer, so that no request of users is lost, but a check", "Service "+e.service.ID(), "fewer")
		case h.ofPods:
			b.notModelled("webhook", "while no pod of it answers, this webhook (failurePolicy Fail) keeps the Pods of all other workloads from being made, too", "Service "+e.service.ID(), "more")
		}
		return
	}
}
