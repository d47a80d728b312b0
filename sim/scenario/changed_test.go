package scenario

import (
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lameduck-proxy/lameduck/test/golden"
)

// keptChanges has what comes of inputs with one line changed, a row each.
const keptChanges = "testdata/changed/kept.txt"

// lineChanges are what is done to a line "key: value".
var lineChanges = []struct {
	name string
	do   func(key, value string) string // "" leaves the line out, with what is below it
}{
	{"left out", func(string, string) string { return "" }},
	{"without value", func(key, _ string) string { return key + ":" }},
	{"as a word", func(key, _ string) string { return key + ": other" }},
	{"as a number", func(key, _ string) string { return key + ": 3" }},
	{"as 0", func(key, _ string) string { return key + ": 0" }},
	{"below 0", func(key, _ string) string { return key + ": -1" }},
	{"as a duration", func(key, _ string) string { return key + ": 7s" }},
	{"as a percentage", func(key, _ string) string { return key + ": 30%" }},
	{"as yes", func(key, _ string) string { return key + ": true" }},
	{"misspelt", func(key, value string) string { return key + "s: " + value }},
	{"ten times", func(key, value string) string { return key + ": " + value + "0" }},
}

// Inputs that somebody has changed in one place come to what they came to before: an error, in its words and with its position, or a Scenario. The
// inputs are those of the golden files and the examples.
func TestChangedInputs(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	for _, c := range chosenChanges(changeable(t)) {
		got[c.name] = c.input
	}
	names := sortedKeys(got)
	inParallel(len(names), func(i int) string { return outcome(caseText(got[names[i]])) }, func(i int, s string) { got[names[i]] = names[i] + ": " + s })
	var lines []string
	for _, name := range names {
		lines = append(lines, got[name])
	}
	golden.Compare(t, keptChanges, strings.Join(lines, "\n")+"\n", *update)
}

// changeable lists the inputs, as caseText takes them, with their names before them.
func changeable(t *testing.T) [][2]string {
	t.Helper()
	var inputs [][2]string
	for _, pattern := range []string{
		"testdata/*.txt", "testdata/manifests/*.yaml", "../../examples/*.yaml", "../../examples/*/*.yaml", "../report/testdata/*.yaml",
	} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatal(pattern, err)
		}
		for _, path := range paths {
			if filepath.Base(path) == "refused.txt" {
				continue // nothing comes of these
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			text, name := string(data), filepath.Base(path)
			if filepath.Ext(path) == ".yaml" {
				if !strings.Contains(text, "kind: Scenario\n") {
					text = "$ infer\n$ show nodes traffic workloads actions\n" + text
				}
				inputs = append(inputs, [2]string{name, text})
				continue
			}
			for _, c := range strings.Split("\n"+text, "\n=== ")[1:] {
				title, rest, _ := strings.Cut(c, "\n")
				input, _, _ := strings.Cut(rest+"\n", "----\n")
				inputs = append(inputs, [2]string{name + ", " + title, input})
			}
		}
	}
	return inputs
}

// changedInput is an input with one line changed.
type changedInput struct {
	name, input string
	order       uint32
}

// chosenChanges has each key changed in some of the ways, in one of the inputs that have it: which one depends on nothing but the line and the change.
func chosenChanges(inputs [][2]string) []changedInput {
	chosen := map[string]changedInput{}
	for _, in := range inputs {
		lines := strings.Split(in[1], "\n")
		for i, line := range lines {
			key, value, ok := strings.Cut(line, ":")
			name := strings.TrimLeft(key, " -")
			if !ok || name == "" || strings.ContainsAny(name, "#$>{[ ") {
				continue
			}
			for _, c := range lineChanges {
				if sumText(name, c.name)%5 > 1 {
					continue
				}
				order, was := sumText(in[0], line, c.name), chosen[name+c.name]
				if was.name == "" || order < was.order {
					title := fmt.Sprintf("%s %s: %s:%d", name, c.name, in[0], i+1)
					chosen[name+c.name] = changedInput{title, changed(lines, i, c.do(key, strings.TrimSpace(value))), order}
				}
			}
		}
	}
	return slices.Collect(maps.Values(chosen))
}

// changed has another text in place of a line and of what is below it.
func changed(lines []string, at int, with string) string {
	end, depth := at+1, indent(strings.Replace(lines[at], "- ", "  ", 1))
	below := func(line string) bool {
		return indent(line) > depth || indent(line) == depth && strings.HasPrefix(line[depth:], "- ")
	}
	if !strings.HasSuffix(with, ": ") { // misspelt: what is below stays
		for end < len(lines) && strings.TrimSpace(lines[end]) != "" && below(lines[end]) {
			end++
		}
	}
	rest := slices.Clone(lines[:at])
	if with != "" {
		rest = append(rest, with)
	}
	return strings.Join(append(rest, lines[end:]...), "\n")
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

func sumText(parts ...string) uint32 {
	h := fnv.New32a()
	for _, p := range parts {
		_, _ = h.Write([]byte(p + "\n"))
	}
	return h.Sum32()
}

// outcome is what came out, in short: its sum, and the first error if there is one.
func outcome(out string) string {
	text := fmt.Sprintf("%08x", sumText(out))
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "error: ") {
			return text + " " + strings.TrimSpace(line)
		}
	}
	return text
}

// inParallel works out n texts on all cores.
func inParallel(n int, of func(i int) string, done func(i int, s string)) {
	out := make([]string, n)
	var group sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		group.Go(func() {
			for i := w; i < n; i += workers {
				out[i] = of(i)
			}
		})
	}
	group.Wait()
	for i, s := range out {
		done(i, s)
	}
}
