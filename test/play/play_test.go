// Package play holds the module of lameduck play to the command line: the same records for the same manifests and flags, byte for byte. make wasm
// runs it, with Node for a browser.
package play

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const (
	root = "../.."
	// mostBytes is how large the module may be as it is served.
	mostBytes = 4_000_000
	// leastCompared is how many answers have to be compared.
	leastCompared = 200
)

// question is an Ask, and the same as a command line.
type question struct {
	dir, file string
	ask       map[string]any
	args      []string
	undrawn   bool // its record has no timelines
}

// answer is what of an answer is compared.
type answer struct {
	Refused string
	Errors  []struct{ Text string }
	Exit    int
	Text    string
	Record  json.RawMessage
}

func TestModule(t *testing.T) {
	t.Parallel()
	if os.Getenv("LAMEDUCK_WASM") == "" {
		t.Skip("builds the module and runs it in Node: make wasm")
	}
	dir := t.TempDir()
	run(t, root, "go", "run", "./cmd/play-wasm/build", dir)
	committed(t, dir)
	program := filepath.Join(dir, "lameduck")
	run(t, root, "go", "build", "-buildvcs=false", "-o", program, "./cmd/lameduck")
	var version struct{ Version string }
	if err := json.Unmarshal(run(t, root, program, "version", "-o", "json"), &version); err != nil {
		t.Fatal(err)
	}
	list := questions(t, version.Version)
	compare(t, program, list, answers(t, dir, list))
}

// committed holds the module in the repository to its size, and to the sources where it was built with this Go. It is compressed better than the one
// built here, so what is compared is what both hold.
func committed(t *testing.T, built string) {
	t.Helper()
	dist := filepath.Join(root, "sim/play/dist")
	stat, err := os.Stat(filepath.Join(dist, "lameduck.wasm.gz"))
	if os.IsNotExist(err) {
		t.Log("sim/play/dist has no module: make play builds it")
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the module has %d bytes", stat.Size())
	if stat.Size() >= mostBytes {
		t.Errorf("the module has %d bytes: less than %d is what a page may load", stat.Size(), mostBytes)
	}
	for _, name := range []string{"module.json", "wasm_exec.js", "LICENSES-module.txt"} {
		ours, err := os.ReadFile(filepath.Join(built, name))
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := os.ReadFile(filepath.Join(dist, name))
		if err != nil {
			t.Fatal(err)
		}
		if goOf(ours) != goOf(theirs) {
			t.Logf("the module in the repository was built with %s: not compared", goOf(theirs))
			return
		}
		if !bytes.Equal(ours, theirs) {
			t.Errorf("sim/play/dist/%s is not what the sources build: make play", name)
		}
	}
	if !bytes.Equal(unpacked(t, dist), unpacked(t, built)) {
		t.Error("sim/play/dist/lameduck.wasm.gz is not what the sources build: make play")
	}
}

// unpacked is the module in a directory.
func unpacked(t *testing.T, dir string) []byte {
	t.Helper()
	packed, err := os.ReadFile(filepath.Join(dir, "lameduck.wasm.gz"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	module, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return module
}

// goOf is the version of Go that a module.json names, "" for another file.
func goOf(text []byte) string {
	var m struct{ Go string }
	_ = json.Unmarshal(text, &m) // another file has none
	return m.Go
}

// run runs a program in a directory and returns what it prints.
func run(t *testing.T, dir, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return out
}

// loads are flags to ask about manifests with, as an Ask has them.
var loads = []map[string]any{
	{},
	{"action": "drain"},
	{"lb": "nlb", "rate": "50/s"},
	{"kubernetes-version": "1.25", "nodes": "5"},
	{"set": []string{"nodes.proxy.minSyncPeriod=10s", "start=15s"}, "seed": "7"},
	{"env": "gke", "timeout": "2s", "action": "rollout,evict"},
	{"profile": "nginx", "connect-timeout": "1s", "until": "20m", "feature-gates": "ProxyTerminatingEndpoints=true"},
}

// questions are all examples, and those that are manifests with each load of flags. Every tenth is asked with all that the command line does.
func questions(t *testing.T, version string) []question {
	t.Helper()
	var files []string
	for _, pattern := range []string{"examples/*.yaml", "examples/scenarios/*.yaml", "examples/lessons/*.yaml"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	scenario := regexp.MustCompile(`(?m)^kind: Scenario`)
	var out []question
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		of := loads
		if scenario.Match(text) {
			of = []map[string]any{{}, {"set": []string{"start=9s"}}}[:1+min(1, len(out)%3)]
		}
		for _, flags := range of {
			q := question{dir: filepath.Dir(path), file: filepath.Base(path), args: []string{"sim", "-f", filepath.Base(path), "--runs", "2"}}
			q.ask = map[string]any{"do": "run", "manifest": string(text), "name": q.file, "version": version, "flags": flags, "runs": 2}
			if len(out)%10 != 0 {
				q.ask["quick"] = true
				q.args = append(q.args, "--sensitivity=false", "--fixes", "0")
				q.undrawn = len(out)%10 > 5
				q.ask["undrawn"] = q.undrawn
			}
			for name, value := range flags { // order: flags have none
				if list, ok := value.([]string); ok {
					for _, v := range list {
						q.args = append(q.args, "--"+name, v)
					}
					continue
				}
				q.args = append(q.args, "--"+name, fmt.Sprint(value))
			}
			out = append(out, q)
		}
	}
	return out
}

// answers asks the module, as many of it at once as there are processors: each has one thread.
func answers(t *testing.T, dist string, list []question) []answer {
	t.Helper()
	shares := make([][]int, runtime.GOMAXPROCS(0))
	for i := range list {
		at := i % len(shares)
		shares[at] = append(shares[at], i)
	}
	out := make([]answer, len(list))
	var all sync.WaitGroup
	for n, share := range shares {
		all.Go(func() {
			got, err := asked(t.Context(), dist, strconv.Itoa(n), list, share)
			if err != nil {
				t.Error(err)
				return
			}
			for i, at := range share {
				out[at] = got[i]
			}
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return out
}

// asked is what one module answers to a share of the questions.
func asked(ctx context.Context, dist, name string, list []question, share []int) ([]answer, error) {
	var asks bytes.Buffer
	for _, at := range share {
		if err := json.NewEncoder(&asks).Encode(list[at].ask); err != nil {
			return nil, err
		}
	}
	from, to := filepath.Join(dist, "asks"+name), filepath.Join(dist, "answers"+name)
	if err := os.WriteFile(from, asks.Bytes(), 0o600); err != nil {
		return nil, err
	}
	if said, err := exec.CommandContext(ctx, "node", "ask.mjs", dist, from, to).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("ask.mjs: %w\n%s", err, said)
	}
	text, err := os.ReadFile(to)
	if err != nil {
		return nil, err
	}
	var out []answer
	for line := range bytes.SplitSeq(bytes.TrimSuffix(text, []byte{0}), []byte{0}) {
		_, line, _ = bytes.Cut(line, []byte(" ")) // after how long it took
		var a answer
		if err := json.Unmarshal(line, &a); err != nil {
			return nil, fmt.Errorf("answer %d: %w", len(out), err)
		}
		out = append(out, a)
	}
	if len(out) != len(share) {
		return nil, fmt.Errorf("%d answers to %d questions", len(out), len(share))
	}
	return out, nil
}

// elsewhere is what a page says of what it does not do.
const elsewhere = "run it with lameduck sim -f"

// compare holds answers to what the command line prints.
func compare(t *testing.T, program string, list []question, got []answer) {
	t.Helper()
	compared, refused := 0, 0
	for i := range list {
		q, a := &list[i], &got[i]
		if strings.Contains(a.Refused, elsewhere) || slices.ContainsFunc(a.Errors, func(e struct{ Text string }) bool { return strings.Contains(e.Text, elsewhere) }) {
			refused++
			t.Logf("not for the page: %s: %s", q.file, a.Refused)
			continue
		}
		as := []string{"-o", "json", "--timeline"}
		if q.undrawn {
			as = as[:2]
		}
		stdout, stderr, exit := ask(t, program, q, as...)
		if exit == 2 { // an error: the page says the same
			said := a.Refused
			for _, e := range a.Errors {
				said += e.Text
			}
			if said == "" || !strings.Contains(strings.Join(strings.Fields(stderr), " "), strings.Join(strings.Fields(cut(said)), " ")) {
				t.Errorf("%s: the page says %q, the command line:\n%s", strings.Join(q.args, " "), said, stderr)
			}
			compared++
			continue
		}
		if want := bytes.TrimSuffix(stdout, []byte("\n")); !bytes.Equal(a.Record, want) || a.Exit != exit {
			t.Errorf("%s: exit %d, want %d, %q; %s", strings.Join(q.args, " "), a.Exit, exit, a.Refused, difference(a.Record, want))
		}
		compared++
		if i%5 == 0 {
			if text, _, _ := ask(t, program, q); a.Text != string(text) {
				t.Errorf("%s: another text: %s", strings.Join(q.args, " "), difference([]byte(a.Text), text))
			}
		}
	}
	t.Logf("%d answers compared, %d not for the page", compared, refused)
	if compared < leastCompared {
		t.Errorf("%d answers compared: want %d at least", compared, leastCompared)
	}
}

// cut is the beginning of what is said: the first of several, for the terminal has each on lines of its own.
func cut(said string) string { return said[:min(len(said), 60)] }

// ask asks the command line.
func ask(t *testing.T, program string, q *question, more ...string) (stdout []byte, stderr string, exit int) {
	t.Helper()
	cmd := exec.Command(program, append(slices.Clone(q.args), more...)...)
	cmd.Dir, cmd.Env = q.dir, append(os.Environ(), "COLUMNS=100")
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.Bytes(), said.String(), cmd.ProcessState.ExitCode()
}

// difference is where two texts begin to differ.
func difference(got, want []byte) string {
	at := 0
	for at < len(got) && at < len(want) && got[at] == want[at] {
		at++
	}
	from := max(0, at-100)
	return fmt.Sprintf("at byte %s\ngot  %q\nwant %q", strconv.Itoa(at), got[from:min(at+100, len(got))], want[from:min(at+100, len(want))])
}
