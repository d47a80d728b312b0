package input

import (
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// refuses is what is said in place of what would be used instead of a value.
const refuses = "the API server refuses it"

// Unreadable says whether an input is at fault as a whole: a document cannot be read, or a Scenario's objects are refused.
func Unreadable(objects *manifest.Objects, problems []manifest.Problem) bool {
	return slices.ContainsFunc(problems, func(p manifest.Problem) bool {
		return p.Severity == manifest.Error && (!p.Refused || len(objects.Scenarios) > 0)
	})
}

// refused are problems of an input of which nothing is run: what the API server refuses is an Error beside others.
func refused(problems []manifest.Problem) []manifest.Problem {
	problems = slices.Clone(problems)
	for i := range problems {
		if p := &problems[i]; p.Refused {
			p.Severity = manifest.Error
			if p.Instead != "" {
				p.Instead = refuses
			}
		}
	}
	return problems
}

// accepted leaves out the objects that the API server refuses. What was an Error of one object alone is a Warning until it is known whether
// there are others; workloads that were not asked for are not counted.
func accepted(objects *manifest.Objects, problems []manifest.Problem, target string) (*manifest.Objects, []manifest.Problem) {
	problems = slices.Clone(problems)
	var out []manifest.Problem
	for i := range problems {
		if p := &problems[i]; p.Refused {
			p.Severity = manifest.Warning
			if p.Instead != "" {
				p.Instead = refuses
			}
			out = append(out, *p)
			p.Refused = !scenario.Simulates(p.Kind) || strings.Contains(p.Name, target)
		}
	}
	return objects.Without(out), problems
}

// settled makes what is refused an Error where nothing is run without it.
func settled(cases []scenario.Case, problems []manifest.Problem) ([]scenario.Case, []manifest.Problem, error) {
	if len(LeftOut(problems)) == 0 || slices.ContainsFunc(cases, func(c scenario.Case) bool { return c.Scenario != nil }) {
		return cases, problems, nil
	}
	for i := range problems {
		if problems[i].Refused {
			problems[i].Severity = manifest.Error
		}
	}
	return nil, problems, nil
}

// Nowhere lists the Services that lead to nothing which the input has, by what Cases says of them: whoever asks them gets no answer now, unless what
// they are for is elsewhere.
func Nowhere(problems []manifest.Problem) []record.LeftOut {
	var out []record.LeftOut
	for i := range problems {
		p := &problems[i]
		if !p.Nowhere {
			continue
		}
		x := record.LeftOut{Kind: p.Kind, Name: p.Name, SetLater: p.SetLater, File: p.File, Line: p.Line, Source: p.Position.String()}
		x.Why, _, _ = strings.Cut(p.Message, "; ")
		if p.Field != "spec.selector" && p.Field != "" {
			x.Why = p.Field + ": " + x.Why
		}
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

// Misspelled lists the fields that are most likely misspelled, by what was found in the input: what they were for is no part of what is run.
func Misspelled(problems []manifest.Problem) []record.Misspelled {
	var out []record.Misspelled
	for i := range problems {
		if p := &problems[i]; p.Meant != "" {
			out = append(out, record.Misspelled{Object: strings.TrimSpace(p.Kind + " " + p.Name), Field: p.Field, Meant: p.Meant, File: p.File, Line: p.Line, Source: p.Position.String()})
		}
	}
	return out
}

// LeftOut lists the objects that are no part of what is run, since the API server refuses them, by what Cases says of them.
func LeftOut(problems []manifest.Problem) []record.LeftOut {
	var out []record.LeftOut
	for i := range problems {
		p := &problems[i]
		if !p.Refused || p.Severity != manifest.Warning {
			continue
		}
		x := record.LeftOut{Kind: p.Kind, Name: p.Name, File: p.File, Line: p.Line, Source: p.Position.String()}
		q := *p
		q.Position, q.Kind, q.Name = manifest.Position{}, "", ""
		x.Why = q.Error()[len(": "):]
		if i := slices.IndexFunc(out, func(y record.LeftOut) bool { return y.Kind == x.Kind && y.Name == x.Name && y.File == x.File }); i >= 0 {
			continue // the first reason is enough
		}
		out = append(out, x)
	}
	return out
}
