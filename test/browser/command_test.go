package browser

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/play"
)

// asked is a file's name with flags, as the page has them.
type asked struct {
	Name  string         `json:"name"`
	Flags map[string]any `json:"flags"`
}

// The command line that the page shows and copies is, to a shell, that which has the same answer (Ran.command): of every flag that there is,
// and of names and values that a shell would read otherwise.
func TestThePageShowsTheCommandThatHasTheSameAnswer(t *testing.T) {
	t.Parallel()
	command := node(t, web, "esbuild")
	shell, err := exec.LookPath("bash")
	if err != nil {
		lacking(t, "there is no bash")
	}
	questions := []asked{
		{"web-app.yaml", map[string]any{}},
		{"it's \"one\" of $(mine) `x` & more; #1 *.yaml", map[string]any{"action": []string{"rollout", "drain"}}},
		{"-dash é.yaml", map[string]any{"action": "drain", "lb": "none", "nodes": "4", "rate": "50/s"}},
		{"a\\b\tc\n.yaml", map[string]any{"set": []string{"start=9s", "latency.watch={uniform: [1s, 2s]}"}}},
		{"b.yaml", map[string]any{"set": "start=9s", "seed": "7", "env": "gke", "timeout": "2s", "target": "we", "until": "20m"}},
		{"c.yaml", map[string]any{
			"profile": "nginx", "connect-timeout": "1s", "kubernetes-version": "1.30", "feature-gates": []string{"ProxyTerminatingEndpoints=true"},
		}},
	}
	raw, err := json.Marshal(questions)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(command, "command.mjs", web)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(raw), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	if err := json.Unmarshal(out, &shown); err != nil || len(shown) != len(questions) {
		t.Fatalf("%d commands, %v", len(shown), err)
	}
	manifest, err := os.ReadFile("../../examples/web-app.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range questions {
		got, want := words(t, shell, shown[i]), words(t, shell, answered(t, string(manifest), q))
		if !slices.Equal(pairs(got), pairs(want)) {
			t.Errorf("%q: the page shows\n%q, the answer's is\n%q", q.Name, got, want)
		}
		if want[3] != q.Name {
			t.Errorf("the file is %q, want %q", want[3], q.Name)
		}
	}
}

// answered is the command of an answer of few runs, without what says that they are few.
func answered(t *testing.T, manifest string, q asked) string {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"do": "run", "manifest": manifest, "name": q.Name, "version": "v0", "flags": q.Flags, "runs": 1, "quick": true})
	if err != nil {
		t.Fatal(err)
	}
	var a struct{ Command, Refused string }
	if err := json.Unmarshal(play.Answer(raw, nil), &a); err != nil {
		t.Fatal(err)
	}
	out, few := strings.CutSuffix(a.Command, " --runs 1 --sensitivity=false --fixes 0")
	if !few {
		t.Fatalf("%q: command %q, %s", q.Name, a.Command, a.Refused)
	}
	return out
}

// words are what a shell makes of a command line.
func words(t *testing.T, shell, line string) []string {
	t.Helper()
	out, err := exec.Command(shell, "-c", `printf '%s\0' `+line).Output()
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// pairs are the flags with their values, in an order of their own: of --set, that which they have.
func pairs(words []string) []string {
	var out []string
	for i := 2; i+1 < len(words); i += 2 {
		out = append(out, words[i]+" "+words[i+1])
	}
	slices.SortStableFunc(out, func(a, b string) int {
		x, _, _ := strings.Cut(a, " ")
		y, _, _ := strings.Cut(b, " ")
		return strings.Compare(x, y)
	})
	return append(words[:2:2], out...)
}
