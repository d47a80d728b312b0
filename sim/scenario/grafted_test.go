package scenario

import (
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
	"github.com/lameduck-proxy/lameduck/test/graft"
)

var shownGraft = flag.String("graft", "", "with -v, print the input of this name that TestGraftedInputs makes, and what comes of it")

// Inputs that are made of parts of the repository's come to what they came to before, to the last word: problems, cases, Scenarios, and the
// other values that are tried. With -v a test of its own, such as TestGraftedInputs/07, prints what it looks at.
func TestGraftedInputs(t *testing.T) {
	t.Parallel()
	const groups = 16
	graft.Compare(t, "../..", groups, *update, func(rows *strings.Builder, name, text string, number uint64) {
		got := graftedText(text, number)
		fmt.Fprintf(rows, "%s: %s\n", name, outcome(got))
		if *shownGraft == name {
			t.Logf("input %s:\n%s\n%s", name, text, got)
		}
	})
}

// graftedOptions are those of an input: most have none but what is done.
func graftedOptions(n uint64) Options {
	own := func(s string) string { return s }
	opts := Options{Wording: flags(), Files: map[string]Content{}, Actions: []string{graft.Pick(n, Actions(), own)}}
	switch n % 5 {
	case 1:
		opts.Actions = append(opts.Actions, graft.Pick(n+1, Actions(), own))
	case 2:
		opts.LB = graft.Pick(n, LoadBalancerNames(), own)
	case 3:
		opts.Env = graft.Pick(n, EnvironmentNames(), own)
	}
	return opts
}

// graftedText is all that comes of an input.
func graftedText(text string, n uint64) string {
	objects, problems := manifest.Load([]manifest.File{{Name: "in.yaml", Data: []byte(text)}}, manifest.Options{})
	var b strings.Builder
	scenarios, more := Parse(objects, graftedOptions(n))
	if manifest.HasErrors(more) { // the manifests of a Scenario that cannot be are an input as well
		writeProblems(&b, append(problems, more...))
		docs := slices.DeleteFunc(strings.SplitAfter(text, "\n---\n"), func(d string) bool { return strings.Contains(d, "\nkind: Scenario\n") })
		objects, problems = manifest.Load([]manifest.File{{Name: "in.yaml", Data: []byte(strings.Join(docs, ""))}}, manifest.Options{})
	}
	if len(scenarios) == 0 {
		var cases []Case
		cases, more = Infer(objects, graftedOptions(n))
		writeCases(&b, cases, nil)
		for i := range cases {
			if s := cases[i].Scenario; s != nil {
				scenarios = append(scenarios, s)
				fmt.Fprintln(&b, cases[i].Class, cases[i].Service, Alike(s))
				for _, f := range cases[i].Families {
					fmt.Fprintf(&b, "--- %s %s\n%s", f.Preset, f.Name, Normal(f.Scenario))
				}
			}
		}
	}
	writeProblems(&b, append(problems, more...))
	for _, s := range scenarios {
		b.WriteString(Normal(s))
		for i, a := range Alternatives(s) {
			b.WriteString("--- " + a.ID + " " + strconv.Quote(a.Value) + "\n")
			if uint64(i)%3 == n%3 { //nolint:gosec // not negative; a third of them, since they take most of the time
				b.WriteString(Normal(a.Scenario))
			}
		}
		for _, a := range OneNodeMore(s) {
			b.WriteString("--- " + a.ID + " " + strconv.Quote(a.Value) + "\n" + Normal(a.Scenario))
		}
		writeRemedies(&b, s)
	}
	return b.String()
}

// writeRemedies writes what can be changed in a Scenario, and what it is then.
func writeRemedies(b *strings.Builder, s *world.Scenario) {
	write := func(r Remedy, ok bool) {
		if ok {
			fmt.Fprintf(b, "--- %s: %v\n%s", r.Title, r.Edit, Normal(r.Scenario))
		}
	}
	for i := range s.Workloads {
		write(WithReadinessGate(s, s.Workloads[i].Name()))
		for _, r := range WithOwnPodsUnasked(s, s.Workloads[i].Name()) {
			write(r, true)
		}
		fmt.Fprintln(b, TerminationRemedies(&s.Workloads[i].App))
	}
	for i := range s.Services {
		name := s.Services[i].Service.Namespace + "/" + s.Services[i].Service.Name
		write(WithConnectionDraining(s, name, 7*engine.Second))
		write(WithoutNotReady(s, name))
		write(WithUnhealthyKept(s, name))
		write(WithInternalClusterPolicy(s, name))
		write(WithClusterPolicy(s, name))
	}
}
