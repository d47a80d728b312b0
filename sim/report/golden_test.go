package report

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/proxier/page"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/sweep"
	"github.com/lameduck-proxy/lameduck/test/golden"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The texts that people get, whole. Somebody has read each of them aloud.
func TestTexts(t *testing.T) {
	t.Parallel()
	for name, g := range goldens {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := g.of(t)
			text := compose(s, g.opts)
			file := filepath.Join("testdata", name+".txt")
			golden.Compare(t, file, text, *update)
			legible(t, text, page.Widest)
			worst, drained := drains(s.Worst())
			most := mostLines(worst, chosen(worst, g.opts.Show), g.opts) + linesOfDrain*len(drained)
			if lines := strings.Count(text, "\n"); !g.opts.All && !g.opts.Verbose && lines > most {
				t.Errorf("%d lines, want at most %d", lines, most)
			}
			narrow := g.opts
			narrow.Width = 60
			legible(t, compose(s, narrow), 60)
		})
	}
	for _, file := range files(t) {
		if name := strings.TrimSuffix(filepath.Base(file), ".txt"); goldens[name].of == nil {
			t.Errorf("%s: nobody compares it", file)
		}
	}
}

// The documents that programs get, whole: of everything that there is, and of each kind of case. The runs are left out: they are a row
// of figures each, and the cases have what they come to.
func TestDocuments(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, name := range documents {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc := Build(goldens[name].of(t))
			doc.Runs = doc.Runs[:min(1, len(doc.Runs))]
			got, err := json.MarshalIndent(doc, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", name+".json")
			golden.Compare(t, file, string(got)+"\n", *update)
		})
	}
}

// documents are what TestDocuments looks at.
var documents = []string{
	"made-drops", "made-families", "made-stuck", "made-blocked", "made-kept", "made-before", "made-sessions", "drain-node", "drain-nodes",
	"web-app", "daemonset", "grpc", "host-ports", "ingress-no-retries", "recreate",
}

func files(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// unwanted are words that readers asked about, and words that a sampled result has no right to.
var unwanted = regexp.MustCompile(`(?i)\b(roll-outs?|zero|safe|never loses?|guaranteed|the manifest asks|lateness|settle|h2|NOTHING ANSWERS)\b|webhook of API server|1 cases|1 runs\b|\bnone -> |-> none|lost none|: none$`)

// legible holds for every text: no line is too wide, and no word needs to be explained.
func legible(t *testing.T, text string, width int) {
	t.Helper()
	for i, line := range strings.Split(text, "\n") {
		if w := page.Width(line); w > width {
			t.Errorf("line %d has %d columns, want at most %d: %q", i+1, w, width, line)
		}
		if strings.HasSuffix(line, " ") {
			t.Errorf("line %d ends with blanks: %q", i+1, line)
		}
	}
	if found := unwanted.FindString(flow(text)); found != "" {
		t.Errorf("%q is in\n%s", found, text)
	}
}

// sample is a simulation and how it is shown.
type sample struct {
	of   func(t *testing.T) *record.Simulation
	opts TextOptions
}

// beforeADrain is an input with pods where they are; nothing is on its node-8.
const beforeADrain = "../../../examples/before-a-drain.yaml"

var goldens = map[string]sample{
	"made-drops":         {of: made(func(*record.Simulation) {})},
	"made-families":      {of: made(families)},
	"made-stuck":         {of: made(stuck)},
	"made-blocked":       {of: made(barred)},
	"made-kept":          {of: made(keeping)},
	"made-rare":          {of: made(rare)},
	"made-before":        {of: made(before)},
	"made-fallback":      {of: made(fallback)},
	"made-sessions":      {of: made(sessions)},
	"made-nothing":       {of: made(func(s *record.Simulation) { s.Cases = s.Cases[2:]; s.Fixes, s.NoHelp = nil, nil })},
	"made-forty":         {of: made(forty)},
	"made-all":           {of: made(func(*record.Simulation) {}), opts: TextOptions{All: true, Verbose: true}},
	"made-no-match":      {of: made(func(*record.Simulation) {}), opts: TextOptions{Show: "nobody"}},
	"web-app":            {of: played("web-app.yaml", scenario.Options{}, usual)},
	"web-app-holds":      {of: played("recommended.yaml", scenario.Options{}, usual)},
	"web-app-held":       {of: played("recommended.yaml", scenario.Options{}, usual), opts: TextOptions{Show: "shop/web"}},
	"single-replica":     {of: played("single.yaml", scenario.Options{}, usual)},
	"several-entries":    {of: played("entries.yaml", scenario.Options{LB: "gke-l4"}, usual)},
	"unknown-lb":         {of: played("unknown-lb.yaml", scenario.Options{}, fixed)},
	"daemonset":          {of: played("daemonset.yaml", scenario.Options{LB: "gke-l4"}, fixed)},
	"daemonset-stuck":    {of: played("daemonset-stuck.yaml", scenario.Options{}, few)},
	"stuck":              {of: played("host-ports.yaml", scenario.Options{Nodes: 3}, few)},
	"host-ports":         {of: played("host-ports.yaml", scenario.Options{}, plain)},
	"one-node":           {of: played("host-ports.yaml", scenario.Options{Nodes: 1}, few)},
	"canary":             {of: played("canary.yaml", scenario.Options{}, fixed)},
	"zero-replicas":      {of: played("zero-replicas.yaml", scenario.Options{}, few)},
	"grace-0":            {of: played("grace-0.yaml", scenario.Options{}, few)},
	"nodeport-local":     {of: played("nodeport-local.yaml", scenario.Options{}, plain)},
	"grpc":               {of: played("grpc.yaml", scenario.Options{}, few)},
	"mesh":               {of: played("mesh.yaml", scenario.Options{}, few)},
	"rollout":            {of: played("rollout.yaml", scenario.Options{}, few)},
	"npm":                {of: played("npm.yaml", scenario.Options{}, few)},
	"jvm":                {of: played("jvm.yaml", scenario.Options{}, few)},
	"ingress-nginx":      {of: played("ingress-nginx.yaml", scenario.Options{}, few)},
	"ingress-no-retries": {of: played("ingress-no-retries.yaml", scenario.Options{}, plain)},
	"recreate":           {of: played("recreate.yaml", scenario.Options{}, few)},
	"volume":             {of: played("volume.yaml", scenario.Options{}, few)},
	"volume-crash":       {of: played("volume.yaml", scenario.Options{Actions: []string{"crash"}}, few)},
	"drain-node":         {of: played(beforeADrain, scenario.Options{Actions: []string{"drain=node-7"}}, fixed)},
	"drain-nodes":        {of: played(beforeADrain, scenario.Options{Actions: []string{"drain=node-5", "node-6"}}, plain)},
	"unknown-lb-alone":   {of: played("unknown-lb.yaml", scenario.Options{}, sweep.Options{Seed: 1, Runs: 1})},
	"drain-nothing":      {of: played(beforeADrain, scenario.Options{Actions: []string{"drain=node-8"}}, plain)},
	"node":               {of: played("node.yaml", scenario.Options{}, few)},
	"left-out":           {of: played("left-out.yaml", scenario.Options{}, plain)},
	"fallback":           {of: played("fallback.yaml", scenario.Options{Timeout: "3s"}, few)},
}

// usual, few, fixed and plain are how much is run for a text: what it needs to have all of its parts, and no more.
var (
	usual = sweep.Options{Seed: 1, Runs: 8, Sensitivity: true, Fixes: 1, ConfirmRuns: 20}
	few   = sweep.Options{Seed: 1, Runs: 4, Sensitivity: true, Fixes: 1, ConfirmRuns: 5}
	fixed = sweep.Options{Seed: 1, Runs: 2, Fixes: 1, ConfirmRuns: 2}
	plain = sweep.Options{Seed: 1, Runs: 4}
)

func made(change func(*record.Simulation)) func(*testing.T) *record.Simulation {
	return func(*testing.T) *record.Simulation {
		s := example()
		change(s)
		return s
	}
}

// played runs a manifest of testdata as the command does.
// played is what comes of a file: played once, however many tests look at it, and a copy for each of them.
func played(file string, opts scenario.Options, much sweep.Options) func(*testing.T) *record.Simulation {
	var once sync.Once
	var first *record.Simulation
	return func(t *testing.T) *record.Simulation {
		t.Helper()
		once.Do(func() {
			data, err := os.ReadFile(filepath.Join("testdata", file))
			if err != nil {
				t.Fatal(err)
			}
			first = run(t, file, string(data), opts, much)
		})
		if first == nil {
			t.Fatal("another test could not play it")
		}
		s := *first
		copyAll(reflect.ValueOf(&s).Elem())
		return &s
	}
}

// copyAll has a value share no list and no pointer with the one that it is a copy of; maps, which nobody changes, and what no other package sees
// of a type are shared.
func copyAll(v reflect.Value) {
	if !v.CanSet() {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			was := v.Elem()
			v.Set(reflect.New(v.Type().Elem()))
			v.Elem().Set(was)
			copyAll(v.Elem())
		}
	case reflect.Slice:
		if !v.IsNil() {
			was := v.Slice(0, v.Len())
			v.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			reflect.Copy(v, was)
			for i := range v.Len() {
				copyAll(v.Index(i))
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			copyAll(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			copyAll(v.Field(i))
		}
	default: // nothing is shared, or functions and maps
	}
}

// run does it with a text.
func run(t *testing.T, file, text string, opts scenario.Options, much sweep.Options) *record.Simulation {
	t.Helper()
	objects, problems := manifest.Load([]manifest.File{{Name: file, Data: []byte(text)}}, manifest.Options{})
	opts.Wording, much.Wording = flags(), flags()
	cases, more := scenario.Infer(objects, opts)
	if problems = append(problems, more...); manifest.HasErrors(problems) {
		t.Fatal(problems)
	}
	s, err := sweep.Run(context.Background(), cases, much)
	if err != nil {
		t.Fatal(err)
	}
	s.Replay = "lameduck sim -f " + file
	return s
}

// Every cause and everybody who may be late have words that fit into a line of the table, and
// say the same of nothing twice.
func TestEveryCauseHasWords(t *testing.T) {
	t.Parallel()
	for _, b := range blames() {
		name, story := causeName(b), causeStory(b)
		if len(name) < 10 || len(name) > 110 || len(story) < 10 || len(story) > 150 {
			t.Errorf("%s, %s: %q, %q", b.Cause, b.Actor, name, story)
		}
		if found := unwanted.FindString(name + " " + story); found != "" {
			t.Errorf("%s, %s: %q has %q", b.Cause, b.Actor, name+" "+story, found)
		}
	}
	var seen []string
	for _, row := range Causes() {
		if row.What == "" || row.Signature == "" || slices.Contains(seen, row.What) {
			t.Errorf("%s: %q, %q", row.Cause, row.What, row.Signature)
		}
		seen = append(seen, row.What)
	}
}

// A command that is too long for a line is one that a shell takes as it stands.
func TestACommandOfSeveralLinesCanBePasted(t *testing.T) {
	t.Parallel()
	s := example()
	s.Replay = "lameduck sim -f " + strings.Repeat("deploy/overlays/ ", 9) + "--lb gke-l4"
	text := compose(s, TextOptions{Width: 60})
	_, command, ok := strings.Cut(text, "Again: ")
	lines := strings.Split(strings.TrimSuffix(command, "\n"), "\n")
	if !ok || len(lines) < 3 {
		t.Fatal(text)
	}
	for i, line := range lines {
		if more := strings.HasSuffix(line, " \\"); more != (i < len(lines)-1) {
			t.Errorf("line %d of the command is %q", i+1, line)
		}
	}
	if got, want := strings.Join(strings.Fields(strings.ReplaceAll(command, "\\\n", "")), " "), s.Replay+" --show web:80 --seed 1 --runs 1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A file is named once; then the line is enough, until another file is meant.
func TestFilesAreNamedWhereTheyChange(t *testing.T) {
	t.Parallel()
	w := newText(&record.Simulation{}, TextOptions{}, everything)
	var got []string
	for _, p := range []struct {
		file string
		line int
	}{{"a.yaml", 1}, {"a.yaml", 2}, {"b.yaml", 3}, {"a.yaml", 4}, {"", 0}} {
		got = append(got, w.place(p.file, p.line))
	}
	if want := fmt.Sprint([]string{"a.yaml:1", ":2", "b.yaml:3", "a.yaml:4", ""}); fmt.Sprint(got) != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// flags words settings as a command line does.
func flags() scenario.Wording {
	return scenario.Wording{
		OptionText: func(name, value string) string { return strings.TrimSpace("--" + name + " " + value) },
		FieldText:  func(path, value string) string { return "--set " + path + "=" + value },
	}
}
