package scenario

import (
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/sim/edit"
	"github.com/lameduck-proxy/lameduck/sim/world"
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
		for _, h := range b.world.webhooks {
			if h.service == id && h.ofPods && h.failurePolicy == string(admissionv1.Fail) {
				b.out.Vetoes = append(b.out.Vetoes, world.Veto{Service: id, Object: h.object, Path: fmt.Sprintf("webhooks[%d]", h.index)})
			}
		}
	}
}

// WithOwnPodsUnasked has the webhooks that a workload ("ns/name") answers not be asked of its own Pods: a namespaceSelector leaves their
// namespace out, by the label that each namespace has with its name (Kubernetes, Admission Webhook Good Practices). Others' Pods wait as
// before. It returns a Remedy for each webhook, the Scenario with all of them, and nil where there is none or other workloads of the Scenario
// are elsewhere.
func WithOwnPodsUnasked(s *world.Scenario, workload string) []Remedy {
	namespace, _, _ := strings.Cut(workload, "/")
	if slices.ContainsFunc(s.Workloads, func(w world.Workload) bool { return w.Namespace() != namespace }) {
		return nil
	}
	out := s.Clone()
	out.Vetoes = nil
	var remedies []Remedy
	for _, v := range s.Vetoes {
		if !s.Serves(v.Service, workload) {
			out.Vetoes = append(out.Vetoes, v)
			continue
		}
		selector := fmt.Sprintf("[{key: kubernetes.io/metadata.name, operator: NotIn, values: [%s]}]", edit.Word(namespace))
		r := Remedy{Title: "a namespaceSelector in its webhook that leaves " + namespace + " out", Scenario: out}
		var of any
		if v.Object != nil {
			of = v.Object.Value
		}
		r.Edit = edit.New(v.Object, of, v.Path+".namespaceSelector.matchExpressions", edit.Value{YAML: selector}, "")
		remedies = append(remedies, r)
	}
	return remedies
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
