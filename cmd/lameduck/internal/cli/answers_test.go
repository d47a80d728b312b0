package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lameduck-proxy/lameduck/proxier/page"
)

// answers is where what is printed is kept, and the inputs that no other package has.
const (
	answers   = "testdata/answers/"
	ofReports = "../../../../sim/report/testdata/"
)

// asked is an input, which is read from stdin, and the command lines that are given it.
type asked struct {
	input string
	lines []string
}

// fewRuns is little to run, plainRuns nothing but the cases themselves, each as a program reads it.
const (
	fewRuns   = "sim -f - --runs 3 -o json"
	plainRuns = "sim -f - --runs 2 --sensitivity=false --fixes 0 -o json"
)

// allAsked has inputs that together reach most of what can be said, by name.
func allAsked() map[string]asked {
	out := map[string]asked{
		"web-app":         {examples + "web-app.yaml", []string{fewRuns, "sim -f - --runs 3 --all -v", "sim -f - --runs 3 -o junit"}},
		"web-app-actions": {examples + "web-app.yaml", []string{plainRuns + " --action drain,evict,scale-down,karpenter,pool-upgrade,shutdown,spot,crash,reboot,delete-node"}},
		"web-app-drain":   {examples + "web-app.yaml", []string{plainRuns + " --action drain=node-1", "sim -f - --runs 2 --action drain=node-1"}},
		"web-app-lanes":   {examples + "web-app.yaml", []string{"sim -f - --runs 1 --sensitivity=false --fixes 0 --rate 5/s --action rollout -o json --timeline"}},
		"web-app-sweep":   {examples + "web-app.yaml", []string{"sim -f - --runs 3 --sweep prestop=0,5,10 -o json", "sim -f - --runs 3 --sweep prestop=0,5,10"}},
		"web-app-yaml":    {examples + "web-app.yaml", []string{"sim -f - --runs 1 --sensitivity=false --fixes 0 --action rollout -o yaml"}},
		"services":        {examples + "web.yaml", []string{"explain -f - -o json", "explain -f -", "explain -f - -o yaml"}},
		"shop":            {"../../../../sim/scenario/testdata/manifests/shop.yaml", []string{"sim -f - --runs 1 --sensitivity=false --fixes 0"}},
		"unknown-lb":      {ofReports + "unknown-lb.yaml", []string{"sim -f - --runs 2 --fixes 1"}},
	}
	for _, name := range []string{"canary", "entries", "daemonset", "daemonset-stuck", "grpc", "host-ports", "mesh", "rollout", "ingress-nginx", "recreate", "nodeport-local"} {
		out[name] = asked{ofReports + name + ".yaml", []string{"sim -f - --runs 2 --sensitivity=false --fixes 0 --all -v"}}
	}
	for _, name := range []string{"grpc", "recreate", "ingress-nginx", "single"} {
		out[name+"-json"] = asked{ofReports + name + ".yaml", []string{plainRuns}}
	}
	for _, name := range []string{
		"all-terminating-readiness", "apiserver-outage", "autoscaler-scales-down", "autoscaler-stopped-by-a-budget", "cluster-policy-node-crashed",
		"daemonset-ingress", "drain-against-anti-affinity", "drain-blocked-by-a-budget", "drain-three-nodes", "field-aws-2366", "field-deis-1254",
		"gke-local-sessions-cut", "gpu-pool", "grpc-goaway", "headless-stale-dns", "karpenter-default-budget", "keep-alive-resets", "kubelet-restarted",
		"last-local-endpoint", "metallb-bgp", "new-revision-answers-500", "nlb-ip-no-prestop", "node-comes-back", "node-joins", "pod-relabelled",
		"pool-upgrade-grace-too-long", "ready-then-crash", "scale-down-doubled-up", "service-recreated", "sessions-cut", "slow-start-killed-by-liveness",
		"spot-notice-too-short", "statefulset-roll", "statefulset-stuck", "surge-without-room", "udp-pinned-flow", "zone-hints",
	} {
		out["scenario-"+name] = asked{examples + "scenarios/" + name + ".yaml", []string{plainRuns, "sim -f - --runs 2"}}
	}
	for _, name := range []string{"drain-blocked-by-a-budget", "statefulset-roll"} {
		a := out["scenario-"+name]
		a.lines = append(a.lines, "sim -f - --runs 1 --rate 2/s -o perfetto", "sim -f - --runs 1 --rate 2/s -o json --timeline")
		out["scenario-"+name] = a
	}
	return out
}

// What is printed is kept whole, of few runs: what no other test reads of an answer is held here, and each difference has to be read.
func TestAnswersAreKeptWhole(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for name, a := range allAsked() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			input, err := os.ReadFile(a.input)
			if err != nil {
				t.Fatal(err)
			}
			var all strings.Builder
			for _, line := range a.lines {
				all.WriteString("$ lameduck " + line + "\n" + answer(t, line, input) + "\n")
			}
			kept(t, answers+name+".txt", all.String())
		})
	}
}

func TestEachAnswerIsCompared(t *testing.T) {
	t.Parallel()
	of := allAsked()
	var inputs []string
	for _, a := range of { // order: it is looked whether one is among them
		inputs = append(inputs, a.input)
	}
	files, err := filepath.Glob(answers + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), filepath.Ext(f))
		if _, ok := of[name]; !ok && filepath.Ext(f) == ".txt" || filepath.Ext(f) == ".yaml" && !slices.Contains(inputs, f) {
			t.Errorf("%s: nobody asks for it", f)
		}
	}
}

// answer is what a command line prints and exits with.
func answer(t *testing.T, line string, input []byte) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := Main(append([]string{"lameduck"}, strings.Fields(line)...), Streams{In: bytes.NewReader(input), Out: &stdout, Err: &stderr})
	text := stdout.String()
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		text = dense(t, text)
	} else if !strings.Contains(line, " -o ") {
		for _, l := range strings.Split(text, "\n") {
			if page.Width(l) > page.Widest {
				t.Errorf("%s: a line of %d columns: %s", line, page.Width(l), l)
			}
		}
	}
	if stderr.Len() > 0 {
		text += "stderr:\n" + stderr.String()
	}
	return text + "exit code " + string(rune('0'+code)) + "\n"
}

// dense is JSON with each value that fits into a line on one. Causes of a SimulationResult stand in its cases, too: they are compared with those, and left out.
func dense(t *testing.T, text string) string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	v := ordered(t, d)
	if m, ok := v.(fields); ok {
		if of := m.of("causes"); of != nil && m.of("cases") != nil {
			var all []any
			for _, c := range m.of("cases").value.([]any) { //nolint:errcheck // a list in each result
				all = append(all, c.(fields).of("causes").value.([]any)...) //nolint:errcheck // the same
			}
			if list := of.value.([]any); len(list) != len(all) || len(all) > 0 && !reflect.DeepEqual(list, all) { //nolint:errcheck // the same
				t.Error("the causes of all cases are not those of each")
			}
			of.value = []any{"as in the cases"}
		}
		if of := m.of("version"); of != nil && of.value == currentVersion().Version {
			of.value = "VERSION"
		}
	}
	var b strings.Builder
	lay(&b, v, "")
	return b.String() + "\n"
}

// fields are those of an object of JSON, in their order.
type fields []*field

type field struct {
	name  string
	value any
}

func (f fields) of(name string) *field {
	for _, x := range f {
		if x.name == name {
			return x
		}
	}
	return nil
}

func ordered(t *testing.T, d *json.Decoder) any {
	t.Helper()
	next := func() json.Token {
		token, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	switch token := next(); token {
	case json.Delim('{'):
		out := fields{}
		for d.More() {
			name, _ := next().(string)
			out = append(out, &field{name, ordered(t, d)})
		}
		next()
		return out
	case json.Delim('['):
		out := []any{}
		for d.More() {
			out = append(out, ordered(t, d))
		}
		next()
		return out
	default:
		return token
	}
}

// lay writes a value, on one line if it fits.
func lay(b *strings.Builder, v any, indent string) {
	const wide = 150
	if line := short(v); utf8.RuneCountInString(line)+len(indent) <= wide {
		b.WriteString(line)
		return
	}
	inner := indent + " "
	switch v := v.(type) {
	case fields:
		b.WriteString("{")
		for i, f := range v {
			b.WriteString(comma(i) + "\n" + inner + f.name + ": ")
			lay(b, f.value, inner)
		}
		b.WriteString("}")
	case []any:
		b.WriteString("[")
		for i, x := range v {
			b.WriteString(comma(i) + "\n" + inner)
			lay(b, x, inner)
		}
		b.WriteString("]")
	default:
		b.WriteString(short(v))
	}
}

func comma(i int) string {
	if i > 0 {
		return ","
	}
	return ""
}

// short is a value on one line; names of fields need no quotes to be read.
func short(v any) string {
	var b strings.Builder
	switch v := v.(type) {
	case fields:
		for i, f := range v {
			b.WriteString(comma(i) + f.name + ": " + short(f.value))
		}
		return "{" + b.String() + "}"
	case []any:
		for i, x := range v {
			b.WriteString(comma(i) + short(x))
		}
		return "[" + b.String() + "]"
	case json.Number:
		return v.String()
	default:
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			return err.Error()
		}
		return strings.TrimSuffix(b.String(), "\n")
	}
}
