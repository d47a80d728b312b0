package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/record"
	simreport "github.com/lameduck-proxy/lameduck/sim/report"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// checkShow refuses a --show that no case matches, before anything is run.
func (c *simCommand) checkShow(cases []scenario.Case) error {
	if c.show == "" || len(cases) == 0 {
		return nil
	}
	var ids []string
	for i := range cases {
		x := &cases[i]
		if simreport.Matches(&record.Case{ID: x.ID, Action: x.Action, Workload: x.Workload, Traffic: x.Traffic, Kind: x.Kind, Class: x.Class}, c.show) {
			return nil
		}
		ids = append(ids, x.ID)
	}
	const most = 20
	words := strings.Join(ids[:min(len(ids), most)], ", ")
	if len(ids) > most {
		words += fmt.Sprintf(" and %d more", len(ids)-most)
	}
	return fmt.Errorf("--show %s: no case matches %q; there are: %s", c.show, c.show, words)
}

// nothing says why an input has no case, where it is not for want of a Service: it is empty, or its workloads were skipped
// because of their apiVersion.
func (c *simCommand) nothing(objects *manifest.Objects, problems []manifest.Problem) {
	if c.in.cluster != nil {
		return
	}
	if len(problems) == 0 && len(objects.All)+len(objects.Skipped) == 0 {
		c.std.say("hint: the input is empty: no Kubernetes object is in it; a Deployment and its Service are needed")
		return
	}
	if slices.ContainsFunc(objects.Skipped, func(s manifest.Skipped) bool { return strings.HasPrefix(s.APIVersion, "kustomize.config.k8s.io/") }) {
		return // a warning has said what it is for
	}
	if words := kindsOf(objects.Skipped); words != "" && len(objects.All) == 0 {
		c.std.say("hint: nothing of the input is simulated: %s; a Deployment and its Service are needed", words)
		return
	}
	var names []string
	for _, p := range problems {
		if p.Field == "apiVersion" && slices.Contains([]string{"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"}, p.Kind) {
			names = append(names, p.Kind+" "+p.Name)
		}
	}
	if len(names) > 0 {
		c.std.say("hint: nothing is simulated of %s: skipped because of the apiVersion; valid for these kinds is apps/v1", strings.Join(names, ", "))
	}
}

// kindsOf counts the objects that are of no use, "2 Foo (example.com/v1)".
func kindsOf(skipped []manifest.Skipped) string {
	const most = 4
	var words []string
	for _, s := range skipped[:min(most, len(skipped))] {
		words = append(words, fmt.Sprintf("%d %s (%s)", s.Count, s.Kind, s.APIVersion))
	}
	if more := len(skipped) - most; more > 0 {
		words = append(words, fmt.Sprintf("%d more kinds", more))
	}
	return strings.Join(words, ", ")
}
