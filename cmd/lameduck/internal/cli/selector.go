package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// selectorFlag is -l, with kubectl's syntax: what is asked about, by its labels. All objects of the input are read all the same:
// a workload's Service, or a Service's slices, may have other labels.
type selectorFlag struct{ text string }

func (f *selectorFlag) register(flags *pflag.FlagSet, what string) {
	flags.StringVarP(&f.text, "selector", "l", "", "only "+what+" with these labels: a `SELECTOR` as kubectl has it, such as app=web,tier!=cache")
}

// parse is nil without the flag.
func (f *selectorFlag) parse() (labels.Selector, error) {
	if f.text == "" {
		return nil, nil
	}
	s, err := labels.Parse(f.text)
	if err != nil {
		return nil, fmt.Errorf("-l %s: %w", f.text, err)
	}
	return s, nil
}

// none is the error of a selector that nothing matches. known are the objects that there are, with their labels.
func (f *selectorFlag) none(what string, known []string) error {
	if len(known) == 0 {
		return fmt.Errorf("-l %s: the input has no %s", f.text, what)
	}
	return fmt.Errorf("-l %s: no %s has such labels; there are %s", f.text, what, strings.Join(few(known), ", "))
}

// withLabels writes "shop/web (app=web)".
func withLabels(o metav1.Object) string {
	id := o.GetName()
	if ns := o.GetNamespace(); ns != "" {
		id = ns + "/" + id
	}
	if len(o.GetLabels()) == 0 {
		return id + " (no labels)"
	}
	return id + " (" + labels.FormatLabels(o.GetLabels()) + ")"
}

// services is what a selector leaves of the Services; nil for all.
func (f *selectorFlag) services(objects *manifest.Objects) (func(endpoints.ServiceName) bool, error) {
	selector, err := f.parse()
	if selector == nil {
		return nil, err
	}
	kept := map[endpoints.ServiceName]bool{}
	var known []string
	for _, s := range objects.Services {
		kept[endpoints.ServiceName{Namespace: s.Namespace, Name: s.Name}] = selector.Matches(labels.Set(s.Value.Labels))
		known = append(known, withLabels(s.Value))
	}
	// order: whether there is one does not depend on it
	for _, matches := range kept {
		if matches {
			return func(n endpoints.ServiceName) bool { return kept[n] }, nil
		}
	}
	return nil, f.none("Service", known)
}

// cases is what a selector leaves of the cases, by the labels of the workload that is acted on.
func (f *selectorFlag) cases(cases []scenario.Case, objects *manifest.Objects) ([]scenario.Case, error) {
	selector, err := f.parse()
	if selector == nil {
		return cases, err
	}
	wanted := map[string]bool{} // "Kind ns/name"
	var known []string
	for _, o := range objects.All {
		meta, ok := o.Value.(metav1.Object)
		id := o.Kind + " " + o.ID()
		if !ok || !slices.ContainsFunc(cases, func(c scenario.Case) bool { return c.Kind+" "+c.Workload == id }) {
			continue
		}
		wanted[id] = selector.Matches(labels.Set(meta.GetLabels()))
		known = append(known, withLabels(meta))
	}
	left := slices.DeleteFunc(slices.Clone(cases), func(c scenario.Case) bool {
		return c.Kind != scenario.KindNode && !wanted[c.Kind+" "+c.Workload]
	})
	if !slices.ContainsFunc(left, func(c scenario.Case) bool { return c.Workload != "" }) {
		return nil, f.none("workload", known)
	}
	return left, nil
}
