package play

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lameduck-proxy/lameduck/proxier/page"
	"github.com/lameduck-proxy/lameduck/sim/input"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/report"
	"github.com/lameduck-proxy/lameduck/sim/sweep"
)

// quickRuns is how many seeds a quick answer has, where nobody says how many.
const quickRuns = 3

// allFixes has fixes looked for for all workloads, as the command line does.
const allFixes = -1

// run simulates the manifest of an Ask.
func run(a *Ask, told Told) []byte {
	r := readManifest(a)
	if !r.ok {
		return with(&Ran{Answered: r.answered}, "record", "null")
	}
	opts := a.sweep()
	opts.Progress = told
	result, err := sweep.Run(context.Background(), r.cases, opts)
	if errors.As(err, &sweep.NotSimulated{}) {
		r.answered.Refused = err.Error()
		return with(&Ran{Answered: r.answered}, "record", "null")
	}
	if err != nil {
		r.answered.Refused = broken(err)
	}
	result.LeftOut, result.Nowhere, result.Unserved, result.Misspelled = r.leftOut, r.nowhere, r.unserved, r.misspelled
	result.Version, result.Replay = cmp.Or(a.Version, "(devel)"), a.command(false)
	built := report.Build(result)
	document, err := page.Document(built)
	if err != nil {
		return encoded(failed(a.Do, err))
	}
	out, err := ran(result, r.answered)
	if err != nil {
		return encoded(failed(a.Do, err))
	}
	out.Command = a.command(true)
	return with(out, "record", strings.TrimSuffix(page.JSON(document), "\n"))
}

// sweep says how much is run: as much as the command line does, or little.
func (a *Ask) sweep() sweep.Options {
	seed, _ := strconv.ParseUint(a.Flags.Seed, 10, 64) // options has read it
	o := sweep.Options{Seed: max(seed, 1), Runs: a.Runs, Sensitivity: true, Fixes: allFixes, Timelines: record.DrawnCases, Wording: input.Wording()}
	if a.Quick {
		o.Runs, o.Sensitivity, o.Fixes = cmp.Or(a.Runs, quickRuns), false, 0
	}
	if a.Undrawn {
		o.Timelines = 0
	}
	return o
}

// ran is the answer of a simulation without its record.
func ran(s *record.Simulation, answered Answered) (*Ran, error) {
	opts := report.TextOptions{Width: page.Widest, Lanes: true, Limits: record.Limits{FailOn: record.Drops}, EditWith: func(string) string { return "" }}
	var text bytes.Buffer
	if err := report.WriteText(&text, s, opts); err != nil {
		return nil, err
	}
	out := &Ran{
		Answered: answered, Text: text.String(), Replay: s.Replay, Runs: s.Runs,
		Order: []int{}, Titles: []string{}, Notes: []string{},
	}
	if s.Fails(opts.Limits) {
		out.Exit = 1
	}
	for i := range s.Cases {
		out.Titles = append(out.Titles, report.Title(s, &s.Cases[i]))
	}
	for _, c := range s.Worst() {
		out.Order = append(out.Order, slices.IndexFunc(s.Cases, func(x record.Case) bool { return x.ID == c.ID }))
	}
	if worst, sentence, answers := report.Head(s, opts); worst != nil {
		out.Head = &Head{Verdict: string(worst.Verdict), Sentence: sentence, Answers: []Label{}}
		for _, x := range answers {
			out.Head.Answers = append(out.Head.Answers, Label{x.Label, x.Words})
		}
	}
	return out, nil
}

// with puts a document at the end of an answer, as it is.
func with(out any, name, document string) []byte {
	head := bytes.TrimSuffix(encoded(out), []byte("}"))
	return slices.Concat(head, []byte(`,"`+name+`":`), []byte(document), []byte("}"))
}

// command is the command line of an Ask, with or without what says how many seeds are run and how they are shown.
func (a *Ask) command(whole bool) string {
	f := &a.Flags
	words := []string{"lameduck", "sim", "-f", input.Quoted(a.Name)}
	add := func(name, value string) {
		if value != "" {
			words = append(words, "--"+name, input.Quoted(value))
		}
	}
	add("action", strings.Join(f.Actions, ","))
	add("connect-timeout", f.ConnectTimeout)
	add("env", f.Env)
	add("feature-gates", strings.Join(f.FeatureGates, ","))
	add("kubernetes-version", f.KubernetesVersion)
	add("lb", f.LB)
	add("nodes", f.Nodes)
	add("profile", f.Profile)
	add("rate", f.Rate)
	for _, s := range f.Set {
		add("set", s)
	}
	add("target", f.Target)
	add("timeout", f.Timeout)
	add("until", f.Until)
	if !whole {
		return strings.Join(words, " ")
	}
	add("seed", f.Seed)
	if runs := a.sweep().Runs; runs > 0 {
		add("runs", fmt.Sprint(runs))
	}
	if a.Quick {
		words = append(words, "--sensitivity=false", "--fixes", "0")
	}
	return strings.Join(words, " ")
}
