package input

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/sweep"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// LastSeed is the last first seed: those of all runs are below 2^53, so that JSON keeps them (RFC 8259, section 6).
const LastSeed = 9_000_000_000_000_000

// Source is where an input comes from.
type Source struct {
	Files []manifest.File
	// Load makes objects of some of the files.
	Load func(files []manifest.File) (*manifest.Objects, []manifest.Problem, error)
	// Read is what stands under a path that a Scenario, or --set, names.
	Read func(path string) scenario.Content
}

// Cases makes the cases of objects that were loaded from all files, with their problems: of the Scenarios among them, or, without any, of the
// workloads. The files that they name are read into opts. With an Error among the problems there are no cases. Objects that the API server
// refuses stop no other: they are left out, and what is Refused is an Error only where nothing else is run. The error is one of how they
// were asked for.
func (s *Source) Cases(objects *manifest.Objects, problems []manifest.Problem, opts *scenario.Options) ([]scenario.Case, []manifest.Problem, error) {
	switch {
	case Unreadable(objects, problems):
		return nil, refused(problems), nil
	case opts.Actions != nil && len(opts.Actions) == 0:
		return nil, nil, fmt.Errorf("--action: say which; valid here: %s, or drain=NODE", OneOf(scenario.Actions()))
	case len(objects.Scenarios) > 0 && opts.Actions != nil:
		return nil, nil, errors.New("--action is for manifests: a Scenario says itself what is done (spec.actions)")
	case len(objects.Scenarios) > 0:
		return s.scenarios(objects, problems, opts)
	default:
		s.references(nil, opts)
		rest, problems := accepted(objects, problems, opts.Target)
		cases, found := scenario.Infer(rest, *opts)
		return settled(cases, slices.Concat(problems, found))
	}
}

// scenarios makes the cases of the input's Scenarios. problems are those of the input read as a whole.
func (s *Source) scenarios(objects *manifest.Objects, problems []manifest.Problem, opts *scenario.Options) ([]scenario.Case, []manifest.Problem, error) {
	var list []*world.Scenario
	parts := split(s.Files, objects)
	if len(parts) > 1 {
		problems = nil // what is wrong between files that have nothing to do with each other is not wrong
	}
	for _, own := range parts {
		part := objects
		if own != nil {
			var found []manifest.Problem
			var err error
			if part, found, err = s.Load(own); err != nil {
				return nil, nil, err
			}
			problems = append(problems, found...)
		}
		for _, o := range part.Scenarios {
			s.references(o, opts)
		}
		scenarios, found := scenario.Parse(part, *opts)
		list = append(list, scenarios...)
		problems = append(problems, found...)
	}
	for i := range problems { // a Scenario says itself what its world is: without one of the objects it is another one
		if p := &problems[i]; p.Refused && p.Instead != "" {
			p.Severity, p.Instead = manifest.Error, refuses
		}
	}
	return sweep.Scenarios(list), problems, nil
}

// split gives each file with Scenarios an input of its own, with the files that have none: objects of one Scenario's file are no other's. A nil
// entry stands for the whole input.
func split(files []manifest.File, objects *manifest.Objects) [][]manifest.File {
	var with []string
	for _, o := range objects.Scenarios {
		if !slices.Contains(with, o.File) {
			with = append(with, o.File)
		}
	}
	if len(with) < 2 {
		return [][]manifest.File{nil}
	}
	var out [][]manifest.File
	for _, name := range with {
		own := []manifest.File{}
		for _, f := range files {
			if f.Name == name || !slices.Contains(with, f.Name) {
				own = append(own, f)
			}
		}
		out = append(out, own)
	}
	return out
}

// references reads the files that a Scenario, or --set, names.
func (s *Source) references(o *manifest.Object, opts *scenario.Options) {
	if opts.Files == nil {
		opts.Files = map[string]scenario.Content{}
	}
	for _, r := range scenario.References(o, *opts) {
		opts.Files[r.Path] = s.Read(r.Path)
	}
}

// Gates reads feature gates as a flag has them, by name "true" or "false". All that is wrong with them is returned.
func Gates(given map[string]string) (map[string]bool, []error) {
	out := map[string]bool{}
	var names []string
	// order: sorted below
	for name := range given {
		names = append(names, name)
	}
	slices.Sort(names)
	var errs []error
	for _, name := range names {
		value := given[name]
		if value != "true" && value != "false" {
			errs = append(errs, fmt.Errorf("--feature-gates %s=%s: want true or false", name, value))
		}
		out[name] = value == "true"
	}
	return out, errs
}

// SetTwice says which path --set gives two values.
func SetTwice(set []string) error {
	seen := map[string]string{}
	for _, s := range set {
		path, value, _ := strings.Cut(s, "=")
		if before, again := seen[path]; again {
			return fmt.Errorf("--set %s is given twice, with %q and %q; want one of them", path, before, value)
		}
		seen[path] = value
	}
	return nil
}

// OneOf joins words for an error message: "a, b or c".
func OneOf(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
