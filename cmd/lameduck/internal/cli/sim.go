package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/proxier/page"
	"github.com/lameduck-proxy/lameduck/proxier/source"
	"github.com/lameduck-proxy/lameduck/proxier/source/live"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/html"
	siminput "github.com/lameduck-proxy/lameduck/sim/input"
	"github.com/lameduck-proxy/lameduck/sim/record"
	simreport "github.com/lameduck-proxy/lameduck/sim/report"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/sweep"
)

type simCommand struct {
	input    inputFlags
	selector selectorFlag
	opts     scenario.Options
	gates    map[string]string
	seed     uint64
	runs     int
	limits   record.Limits
	maxLost  time.Duration
	failOn   string
	show     string
	all      bool
	vary     bool
	fixes    int
	list     string
	output   string
	lanes    bool
	report   string
	flags    *pflag.FlagSet
	program  string
	std      Streams

	in      *input           // once it was read
	leftOut []record.LeftOut // of it
	nowhere []record.LeftOut // that lead to nothing of it
	// misspelled are fields of it.
	misspelled []record.Misspelled
	// unserved are workloads of it that no Service selects.
	unserved []record.LeftOut

	sweeps []string
	turn   func(*manifest.Objects) error // what a point of a sweep changes in the input; nil for nothing
}

// lists are what --list can print.
var lists = []string{"causes", "profiles", "presets", "environments", "assumptions", "latencies", "facts", "fields", "schema", "result-schema"}

// simLong is what the command does.
const simLong = `Sim simulates a rolling restart of each workload behind a Service and, as a case of its own,
kubectl drain of the node with most of its pods, with clients that ask all the time, over
several seeds, and says what of the traffic is lost and why. Where an autoscaler may take a
pod away, that is a case, too. --action names others; --action drain=NODE is kubectl drain of
that node with all that has pods there, as they are now, and says it of each Service. Documents of
kind Scenario in the input are run instead: they say what is done, and what is expected.

Each run is compared with the same run in which nothing is done: what fails in both is no loss.

Exit code 1 when a case loses something as assumed or what was begun cannot end (verdicts outage,
stuck, blocked, drops; --fail-on names others), or when a Scenario's expectation is not met. Where
the input does not say the load balancer (depends), it is what any that it might be comes to.
--max-drops and --max-lost allow some loss in the median run. Ctrl-C prints what there is, and
exits 130; so does SIGTERM, and exits 143. --sweep asks how much, not whether: it exits with 0.

` + clusterHelp + `workloads of the namespaces (of all, for the drain of a node) and what leads to them, Pods,
PodDisruptionBudgets, HorizontalPodAutoscalers, Nodes, and the KubeProxyConfiguration in
kube-system.`

func newSim(program string, std Streams) *cobra.Command {
	c := &simCommand{std: std, program: program, opts: scenario.Options{Wording: commandLine()}}
	cmd := &cobra.Command{
		Use:   "sim [-f FILE]",
		Short: "Simulate rollouts and node drains: how much traffic they lose, why, and what helps",
		Long:  simLong,
		Example: `  lameduck sim -f app.yaml
  lameduck sim -n shop
  lameduck sim --context kind -f edited.yaml
  lameduck sim -f app.yaml --target web --rate 500/s --set start=20s
  lameduck sim -f app.yaml --env gke --lb gke-l4
  lameduck sim -f app.yaml --action drain,evict
  lameduck sim --context prod --action drain=node-7
  lameduck sim -f app.yaml --runs 300 -o json
  lameduck sim -f app.yaml --report report.html
  lameduck sim -f scenario.yaml --seed 13 --runs 1
  lameduck sim --list causes`,
		Args: noWords,
		RunE: verb(c.run),
	}
	f := cmd.Flags()
	c.flags = f
	c.input.register(f)
	c.input.readsCluster(cmd, live.Sim)
	f.StringVar(&c.opts.Target, "target", "", "only workloads whose `NS/NAME` contains this")
	c.selector.register(f, "workloads")
	f.StringSliceVar(&c.opts.Actions, "action", nil, "what is done to each workload: `ACTION` "+oneOf(scenario.Actions())+"; or drain=NODE; several with commas (default rollout, drain, and scale-down where an autoscaler does it)")
	f.IntVar(&c.opts.Nodes, "nodes", 0, "`NUMBER` of nodes (default: as many as the workload needs, at least 3)")
	f.StringVar(&c.opts.Rate, "rate", "", "`RATE` of requests of every client, such as 200/s")
	f.StringVar(&c.opts.Timeout, "timeout", "", "how long clients wait for an answer: a `DURATION`, or none (default 30s from outside, 10s inside; UDP, webhook and DNS clients keep their own)")
	f.StringVar(&c.opts.ConnectTimeout, "connect-timeout", "", "how long they wait for a connection: a `DURATION`, or none (default as for the answer, 20s with gRPC)")
	f.StringVar(&c.opts.Profile, "profile", "", "what every app does at SIGTERM: a `NAME` of --list profiles")
	f.StringVar(&c.opts.LB, "lb", "", "load balancer of Services of type LoadBalancer, or proxy of what an Ingress or HTTPRoute names: a `NAME` of --list presets, auto (by what the input says of it, the default) or none (one without any delay)")
	f.StringVar(&c.opts.Env, "env", "", "where the input does not say it, the service proxy and load balancer of this `ENVIRONMENT`: "+oneOf(scenario.EnvironmentNames()))
	f.StringVar(&c.opts.KubernetesVersion, "kubernetes-version", "", "behave like kube-proxy of this `VERSION` (default "+endpoints.CurrentVersion().String()+")")
	f.StringToStringVar(&c.gates, "feature-gates", nil, "feature gates of kube-proxy, such as ProxyTerminatingEndpoints=false")
	f.StringArrayVar(&c.opts.Set, "set", nil, "`PATH=VALUE` of a Scenario's spec, such as latency.watch=3s or start=20s; repeatable")
	f.StringVar(&c.opts.Until, "until", "", "end runs after this `DURATION` even if something is still going on")
	f.Uint64Var(&c.seed, "seed", 1, "first seed")
	f.IntVar(&c.runs, "runs", 0, "`NUMBER` of seeds for each case (default: as many as it takes for a verdict that other seeds would give, too, with 95 % confidence: 100 to 1,000)")
	f.Int64Var(&c.limits.MaxDrops, "max-drops", 0, "allow up to this `NUMBER` of requests lost in the median run")
	f.DurationVar(&c.maxLost, "max-lost", 0, "allow up to this `DURATION` of traffic lost in the median run, such as 500ms")
	f.StringVar(&c.failOn, "fail-on", "drops", "mildest `VERDICT` that makes the exit code 1: "+oneOf(failWords)+"; not-judged fails also where there is nothing to judge")
	f.BoolVar(&c.vary, "sensitivity", true, "try the other values of what was assumed, and say whether they matter")
	f.IntVar(&c.fixes, "fixes", allFixes, "look for fixes for this `NUMBER` of workloads, the worst first; 0 for none (default: for all)")
	f.Lookup("fixes").DefValue = "0" // or the help says -1
	f.StringVar(&c.show, "show", "", "show in full the cases whose id or words contain `CASE` (default: the worst)")
	f.BoolVar(&c.all, "all", false, "list also cases that hold, and why others are not judged")
	f.StringVar(&c.list, "list", "", "print a table instead: `TABLE` "+oneOf(lists)+"; facts=ID prints a fact whole, or a section or a page of them")
	f.BoolVar(&c.lanes, "timeline", false, "with -o json or yaml: the worst run of the worst cases as lanes, of pods, nodes, load balancers and clients")
	f.StringArrayVar(&c.sweeps, "sweep", nil, "say instead what is lost over the values of a setting, `NAME=FROM..TO:STEP` or NAME=VALUE,VALUE,...; twice for a map of two. NAME is "+strings.Join(knobNames(), ", ")+", or a path of --set")
	f.StringVarP(&c.output, "output", "o", "text", "output format: text, json, yaml, junit, html, svg (a picture of one lost request) or perfetto (for ui.perfetto.dev); of --sweep text, json, yaml, svg or html")
	f.StringVar(&c.report, "report", "", "also write a page with the timeline of the worst runs, or the map of --sweep, to this `FILE`: one file, which a browser opens from disk")
	completeSim(cmd)
	if err := cmd.RegisterFlagCompletionFunc("action", c.completesActions); err != nil {
		panic(err) // there is no such flag
	}
	c.input.completes(cmd, "target", workloadNames)
	return cmd
}

// failWords are the verdicts that --fail-on takes, the worst first.
var failWords = []string{
	string(record.Outage), string(record.Stalled), string(record.Blocked), string(record.Drops), string(record.Depends), string(record.Rare), string(record.NotJudged),
}

// allFixes is --fixes where nobody says it: those of all workloads.
const allFixes = -1

// completeSim offers the shell what a flag takes.
func completeSim(cmd *cobra.Command) {
	for _, flag := range []struct {
		name  string
		words func() []string
	}{
		{"lb", scenario.LoadBalancerNames},
		{"env", scenario.EnvironmentNames},
		{"profile", profileNames},
		{"list", listWords},
		{"fail-on", func() []string { return failWords }},
		{"output", func() []string { return []string{"text", "json", "yaml", "junit", "html", "perfetto", "svg"} }},
		{"set", setPaths},
		{"sweep", sweepNames},
	} {
		directive := cobra.ShellCompDirectiveNoFileComp
		if flag.name == "set" || flag.name == "sweep" {
			directive |= cobra.ShellCompDirectiveNoSpace // the value follows
		}
		err := cmd.RegisterFlagCompletionFunc(flag.name, func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return flag.words(), directive
		})
		if err != nil {
			panic(err) // there is no such flag
		}
	}
}

// listWords are the tables, and the pages of facts.
func listWords() []string {
	words := slices.Clone(lists)
	for _, name := range factPages() {
		words = append(words, factsOf+name)
	}
	return words
}

func profileNames() []string {
	var names []string
	for _, p := range servers.Profiles() {
		names = append(names, p.ID)
	}
	return names
}

func (c *simCommand) run() error {
	if err := c.checkFlags(); err != nil {
		return err
	}
	switch {
	case c.list != "":
		return c.printList()
	case len(c.sweeps) > 0:
		return c.sweep()
	}
	cases, err := c.cases()
	if err != nil {
		return err
	}
	if err := c.checkShow(cases); err != nil {
		return err
	}
	ctx, stopped, stop := untilSignalled()
	defer stop()
	collectLess()
	result, ended, fault := inTime(ctx, lastWait, func() (*record.Simulation, error) {
		return sweep.Run(ctx, cases, sweep.Options{Seed: c.seed, Runs: c.runs, Sensitivity: c.vary, Fixes: c.fixes, Timelines: c.timelines(), Progress: c.progress(), Wording: commandLine()})
	})
	if !ended {
		c.std.say("interrupted in the middle of something that takes long with a world as large: nothing is printed")
		return interruptedBy(stopped())
	}
	if errors.As(fault, &sweep.NotSimulated{}) {
		return fault
	}
	result.Version, result.LeftOut, result.Nowhere = currentVersion().Version, c.leftOut, c.nowhere
	result.Misspelled = c.misspelled
	result.Unserved = c.unserved
	result.Replay = c.replay()
	if c.std.Simulated != nil {
		c.std.Simulated(result)
	}
	if err := c.print(result); err != nil {
		return err
	}
	if fault != nil {
		return internalError{fault}
	}
	if verdict := c.verdict(result); !result.Interrupted {
		return verdict
	}
	return interruptedBy(stopped())
}

// timelines is of how many cases a timeline is wanted.
func (c *simCommand) timelines() int {
	if c.lanes || slices.Contains([]string{"html", "svg", "perfetto"}, c.output) || c.report != "" || c.std.Simulated != nil {
		return record.DrawnCases
	}
	if c.draws() {
		return 1
	}
	return 0
}

// mostRuns bounds --runs: more seeds make no verdict surer.
const mostRuns = 1_000_000

func (c *simCommand) checkFlags() error {
	var errs []error
	if c.runs < 0 || c.runs == 0 && c.flags.Changed("runs") {
		errs = append(errs, fmt.Errorf("--runs %d: want at least 1; without --runs it is as many as it takes", c.runs))
	}
	if c.runs > mostRuns {
		errs = append(errs, fmt.Errorf("--runs %d: want at most %d", c.runs, mostRuns))
	}
	if c.seed < 1 || c.seed > siminput.LastSeed {
		errs = append(errs, fmt.Errorf("--seed %d: want 1 to %d: each run has the next one, and programs read them from JSON", c.seed, uint64(siminput.LastSeed)))
	}
	if c.lanes && c.output != "json" && c.output != "yaml" {
		errs = append(errs, fmt.Errorf("--timeline is a part of -o json and -o yaml, not of -o %s", c.output))
	}
	if c.list != "" {
		errs = append(errs, besides(c.flags, "list", "output", "verbose"))
	}
	errs = append(errs, siminput.SetTwice(c.opts.Set), c.checkSweep())
	if c.fixes < 0 && c.flags.Changed("fixes") {
		errs = append(errs, fmt.Errorf("--fixes %d: want a number of workloads, 0 for none; without --fixes it is all of them", c.fixes))
	}
	if c.flags.Changed("nodes") && c.opts.Nodes == 0 {
		errs = append(errs, fmt.Errorf("--nodes 0: want at least 1"))
	}
	if c.limits.MaxDrops < 0 {
		errs = append(errs, fmt.Errorf("--max-drops %d: want at least 0", c.limits.MaxDrops))
	}
	if c.maxLost < 0 {
		errs = append(errs, fmt.Errorf("--max-lost %s: want at least 0s", c.maxLost))
	}
	c.limits.FailOn, c.limits.MaxLost = record.Verdict(c.failOn), engine.Time(c.maxLost)
	for _, f := range []struct {
		name, value string
		valid       []string
	}{
		{"fail-on", c.failOn, slices.Clone(failWords)},
		{"output", c.output, c.outputs()},
		{"list", c.table(), append([]string{""}, lists...)},
	} {
		if !slices.Contains(f.valid, f.value) {
			errs = append(errs, fmt.Errorf("--%s %q: want %s", f.name, f.value, oneOf(slices.DeleteFunc(f.valid, func(s string) bool { return s == "" }))))
		}
	}
	gates, wrong := siminput.Gates(c.gates)
	c.opts.FeatureGates = gates
	return errors.Join(append(errs, wrong...)...)
}

// cases reads the input and makes the cases: of its Scenarios, or, without any, of its
// workloads.
func (c *simCommand) cases() ([]scenario.Case, error) {
	drains, _ := scenario.NodesDrained(c.opts.Actions)
	c.input.cluster.everybody = len(drains) > 0
	in, err := c.input.read(c.std)
	if err != nil {
		return nil, err
	}
	c.in = in
	return c.casesOf()
}

// parse makes objects of files of the input, at the point of a sweep that is simulated.
func (c *simCommand) parse(files []manifest.File) (*manifest.Objects, []manifest.Problem, error) {
	objects, problems := c.in.parse(files)
	if c.turn == nil || siminput.Unreadable(objects, problems) {
		return objects, problems, nil
	}
	return objects, problems, c.turn(objects)
}

// casesOf makes the cases of the input that was read.
func (c *simCommand) casesOf() ([]scenario.Case, error) {
	objects, problems, err := c.parse(c.in.files)
	if err != nil {
		return nil, err
	}
	c.behave(objects)
	if !siminput.Unreadable(objects, problems) && len(objects.Scenarios) > 0 && c.selector.text != "" {
		return nil, fmt.Errorf("-l %s: the input has documents of kind Scenario, and each says itself what it is about", c.selector.text)
	}
	from := siminput.Source{Files: c.in.files, Load: c.parse, Read: readReference}
	cases, found, err := from.Cases(objects, problems, &c.opts)
	switch {
	case err != nil:
		return nil, err
	case siminput.Unreadable(objects, problems):
		return nil, reportProblems(found, c.std)
	}
	c.leftOut, c.nowhere, c.misspelled = siminput.LeftOut(found), siminput.Nowhere(found), siminput.Misspelled(found)
	c.input.skipped(objects, c.std)
	if len(objects.Scenarios) > 0 {
		return cases, reportProblems(found, c.std)
	}
	if len(cases) == 0 && c.in.cluster != nil {
		c.std.say("hint: there is no workload behind a Service; -n NAMESPACE reads another namespace, -A all of them")
	}
	if len(cases) == 0 {
		c.nothing(objects, problems)
	}
	if err := reportProblems(found, c.std); err != nil {
		return nil, err
	}
	if c.selector.text == "" { // else it says which workloads are meant
		c.unserved = siminput.Unserved(objects, cases, c.leftOut, &c.opts)
	}
	return c.selector.cases(cases, objects)
}

// behave takes the cluster's version, where neither a flag nor a Scenario says another.
func (c *simCommand) behave(objects *manifest.Objects) {
	says := func(o *manifest.Object) bool { return o.Has("spec.kubernetes.version") }
	sets := func(s string) bool { return strings.HasPrefix(s, "kubernetes.version=") }
	if c.in.cluster == nil || c.opts.KubernetesVersion != "" || slices.ContainsFunc(objects.Scenarios, says) || slices.ContainsFunc(c.opts.Set, sets) {
		return
	}
	c.opts.KubernetesVersion = c.in.cluster.behaviour(c.std)
}

// readReference reads a file that a Scenario, or --set, names.
func readReference(path string) scenario.Content {
	files, err := source.Read([]string{path}, nil)
	content := scenario.Content{Files: files}
	if err != nil {
		content.Err = strings.TrimPrefix(err.Error(), path+": ")
	}
	return content
}

// progress shows how far the runs are on a terminal.
func (c *simCommand) progress() func(stage string, done, of int) {
	f := file(c.std.Err)
	if f == nil || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	shown := -1
	return func(stage string, done, of int) {
		percent := 100 * done / of
		switch {
		case done == of:
			fmt.Fprintf(f, "\r\x1b[K")
		case percent != shown:
			fmt.Fprintf(f, "\r\x1b[K%s: %d of %d", stage, done, of)
		}
		shown = percent
	}
}

// replay is the command line without what says how many seeds are run and how they are shown.
func (c *simCommand) replay() string {
	words := []string{displayName(c.program), "sim"}
	for _, f := range c.input.files {
		words = append(words, "-f", quoted(f))
	}
	for _, dir := range c.input.kustomize {
		words = append(words, "-k", quoted(dir))
	}
	if !c.input.recursive {
		words = append(words, "-R=false")
	}
	words = append(words, c.in.replay(c.input.cluster)...)
	c.flags.Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "filename", "kustomize", "recursive", "seed", "runs", "show", "all", "output", "verbose", "max-drops", "max-lost", "fail-on", "sensitivity", "fixes", "timeline", "report",
			"context", "namespace", "all-namespaces", "request-timeout":
		case "set":
			for _, s := range c.opts.Set {
				words = append(words, "--set", quoted(s))
			}
		case "sweep":
			for _, s := range c.sweeps {
				words = append(words, "--sweep", quoted(s))
			}
		case "action":
			words = append(words, "--action", quoted(strings.Join(c.opts.Actions, ",")))
		case "feature-gates":
			words = append(words, "--feature-gates", quoted(strings.Trim(f.Value.String(), "[]")))
		default:
			words = append(words, "--"+f.Name, quoted(f.Value.String()))
		}
	})
	return strings.Join(words, " ")
}

// editWith is the command that opens what a file name stands for, "" for a file.
func (c *simCommand) editWith(file string) string {
	if !c.in.live(file) {
		return ""
	}
	o := c.in.cluster.files[file]
	words := []string{"kubectl"}
	which := c.input.cluster.options
	for _, flag := range [][2]string{
		{"--kubeconfig", which.Kubeconfig}, {"--context", c.in.cluster.cluster.Context}, {"--cluster", which.Cluster}, {"--user", which.User},
	} {
		if flag[1] != "" {
			words = append(words, flag[0], quoted(flag[1]))
		}
	}
	if o.Namespace != "" {
		words = append(words, "-n", o.Namespace)
	}
	return strings.Join(append(words, "edit", strings.ToLower(o.Kind), o.Name), " ")
}

// quoted protects a word from the shell.
func quoted(word string) string { return siminput.Quoted(word) }

func (c *simCommand) print(s *record.Simulation) error {
	if err := c.writeReport(s); err != nil {
		return err
	}
	switch c.output {
	case "json":
		return writeJSON(c.std.Out, simreport.Build(s))
	case "yaml":
		return writeYAML(c.std.Out, simreport.Build(s))
	case "perfetto":
		return writeTrace(c.std.Out, s)
	case "junit":
		return simreport.WriteJUnit(c.std.Out, s, c.fails)
	case "svg":
		return simreport.WriteSVG(c.std.Out, s, c.show)
	case "html":
		return html.Write(c.std.Out, s, c.textOptions())
	default:
		return simreport.WriteText(c.std.Out, s, c.textOptions())
	}
}

// textOptions are how much the text shows, and the words of the page.
func (c *simCommand) textOptions() simreport.TextOptions {
	return simreport.TextOptions{
		Show: c.show, All: c.all, Verbose: c.input.verbose > 0, Width: columns(c.std.Out), Style: verdictColours(c.std.Out), EditWith: c.editWith,
		Limits: c.limits, Lanes: c.draws(),
	}
}

// writeReport writes the page of --report, whole or not at all.
func (c *simCommand) writeReport(s *record.Simulation) error {
	if c.report == "" {
		return nil
	}
	var out bytes.Buffer
	if err := html.Write(&out, s, c.textOptions()); err != nil {
		return err
	}
	return c.saveReport(out.Bytes())
}

// saveReport writes the file of --report.
func (c *simCommand) saveReport(text []byte) error {
	if err := os.WriteFile(c.report, text, 0o644); err != nil { //nolint:gosec // a report that others may read, as what a shell writes
		return fmt.Errorf("--report: %w", err)
	}
	return nil
}

// draws says whether a picture has room: on a terminal that is wide enough for it.
func (c *simCommand) draws() bool { return c.output == "text" && columns(c.std.Out) >= page.Widest }

// verdictColours is the Style of a terminal.
func verdictColours(w io.Writer) simreport.Style {
	if !terminal(w) {
		return nil
	}
	return func(v record.Verdict, word string) string {
		code := map[record.Verdict]string{record.Outage: "1;31", record.Stalled: "1;31", record.Blocked: "1;31", record.Drops: "33", record.Depends: "36", record.Holds: "32"}[v]
		if code == "" {
			return word
		}
		return page.Painted(code, word)
	}
}

// fails says whether a case is a finding; nil stands for an input without any.
func (c *simCommand) fails(x *record.Case) bool {
	if x == nil {
		return c.limits.FailOn == record.NotJudged
	}
	return x.Fails(c.limits)
}

func (c *simCommand) verdict(s *record.Simulation) error {
	if c.output != "text" {
		for i := range s.Cases {
			for _, u := range s.Cases[i].Unmet {
				c.std.say("%s: not as expected: %s", s.Cases[i].ID, u)
			}
		}
	}
	if s.Interrupted {
		return nil // no verdict
	}
	if n := len(s.LeftOut); n > 0 {
		return leftOutError{n}
	}
	if len(s.Cases) == 0 {
		if c.fails(nil) {
			c.std.say("nothing to judge: no workload of the input is behind a Service of it")
			return errFindings
		}
		return nil
	}
	if s.Fails(c.limits) {
		return errFindings
	}
	return nil
}

// printList prints one of the tables behind the simulator.
func (c *simCommand) printList() error {
	var rows [][]string
	switch c.table() {
	case "schema":
		return c.printSchema(scenario.Schema())
	case "result-schema":
		return c.printSchema(simreport.Schema())
	case "fields":
		return c.printFields()
	case "facts":
		return c.printFacts()
	case "causes":
		rows = append(rows, []string{"CAUSE", "WHAT", "LOOKS LIKE"})
		for _, r := range simreport.Causes() {
			rows = append(rows, []string{r.Cause, r.What, r.Signature})
		}
	case "profiles":
		rows = append(rows, []string{"PROFILE", "IMAGE OR COMMAND", "LISTENER AT SIGTERM", "IN FLIGHT", "SOURCE"})
		for _, p := range servers.Profiles() {
			rows = append(rows, []string{p.ID, p.Match, p.Listener, p.InFlight, p.Source + " (" + p.Status + ")"})
		}
	case "presets":
		rows = presetRows()
	case "environments":
		rows = append(rows, []string{"ENVIRONMENT", "WHAT", "SERVICE PROXY", "LOAD BALANCER", "SOURCE"})
		for _, e := range scenario.Environments() {
			rows = append(rows, []string{e.ID, e.What, e.ProxyWords(), e.BalancerWords(), e.Source + " (" + e.Status + ")"})
		}
	default:
		table := scenario.Assumptions(commandLine())
		if c.list == "latencies" {
			table = scenario.LatencyTable(commandLine())
		}
		rows = append(rows, []string{"ASSUMPTION", "WHAT", "VALUE", "RANGE", "BASIS", "SOURCE", "SETTING"})
		for _, a := range table {
			rows = append(rows, []string{a.ID, a.What, a.Value, a.Range, a.Basis, a.Source, a.Settle})
		}
	}
	return c.printRows(rows)
}

// printSchema prints a JSON Schema, which has no text form.
func (c *simCommand) printSchema(schema map[string]any) error {
	if c.output == "yaml" {
		return writeYAML(c.std.Out, schema)
	}
	return writeJSON(c.std.Out, schema)
}

// presetRows has a row for each preset and one for each of its fields.
func presetRows() [][]string {
	rows := [][]string{{"PRESET", "FIELD", "VALUE", "STATUS", "SOURCE"}}
	for _, p := range scenario.Presets() {
		what := p.What
		if p.Layer7() {
			what += "; a proxy of HTTP requests"
		}
		rows = append(rows, []string{p.ID, "is", what, "", ""})
		for _, f := range p.Fields {
			rows = append(rows, []string{p.ID, f.Name, f.Value, f.Status, f.Source})
		}
	}
	return rows
}

// printRows prints a table: as text, or as a list of objects named by its header.
func (c *simCommand) printRows(rows [][]string) error {
	if c.output == "junit" {
		return fmt.Errorf("--list %s has no JUnit form: want text, json or yaml", c.table())
	}
	if c.output == "text" {
		return writeTable(c.std.Out, rows)
	}
	items := []map[string]string{}
	for _, row := range rows[1:] {
		item := map[string]string{}
		for i, cell := range row {
			item[strings.ToLower(strings.ReplaceAll(rows[0][i], " ", "-"))] = cell
		}
		items = append(items, item)
	}
	list := map[string]any{"apiVersion": "lameduck/v1", "kind": "List", "name": c.table(), "items": items}
	if c.output == "yaml" {
		return writeYAML(c.std.Out, list)
	}
	return writeJSON(c.std.Out, list)
}

// collectLess has garbage collected less often than by default: a run keeps little and lives for milliseconds, so that
// collecting takes up to a third of the time of thousands of them. Large worlds are held to the memory that they are allowed.
// A user who sets GOGC knows better.
func collectLess() {
	const percent, memory = 400, 3 << 29 // 1.5 GiB
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(memory)
	}
}
