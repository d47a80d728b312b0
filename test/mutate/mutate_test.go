package mutate

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// write makes a module with one package in two directories, whose files have one name.
func write(t *testing.T) (root string) {
	t.Helper()
	return module(t, map[string]string{
		"one/n.go":    "package one\n\nconst N = 1\n",
		"two/n.go":    "package two\n\nconst N = 2\n",
		"sum/main.go": "package main\n\nimport (\n\t\"example.org/m/one\"\n\t\"example.org/m/two\"\n)\n\nfunc main() { println(one.N + two.N) }\n",
	})
}

// A build with the overlay has both mistakes, and the sources have none.
func TestOverlay(t *testing.T) {
	t.Parallel()
	root := write(t)
	list, err := Overlay(t.TempDir(), root, []Edit{{"one/n.go", "N = 1", "N = 10"}, {"two/n.go", "N = 2", "N = 20"}, {"two/n.go", "20", "30"}})
	if err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{"40": {"run", "-overlay", list, "./sum"}, "3": {"run", "./sum"}} {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		if err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("%v: %q, %v, want %s", args, out, err, want)
		}
	}
}

func TestStaleEdits(t *testing.T) {
	t.Parallel()
	root := write(t)
	for _, c := range []struct {
		edit Edit
		want string
	}{
		{Edit{"one/n.go", "N = 2", ""}, "occurs 0 times in one/n.go"},
		{Edit{"one/n.go", "n", ""}, "want once"},
		{Edit{"three/n.go", "N", ""}, "no such file"},
	} {
		if _, err := Apply(root, []Edit{c.edit}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.edit, err, c.want)
		}
	}
}

// Tests that read the sources find them as they are, whatever they themselves were built from.
func TestLoadSeesNoOverlay(t *testing.T) {
	root, dir := write(t), t.TempDir()
	list := filepath.Join(dir, "overlay.json")
	added := fmt.Sprintf(`{"Replace": {%q: %q}}`, filepath.Join(root, "one", "added.go"), filepath.Join(dir, "added.go"))
	for path, text := range map[string]string{filepath.Join(dir, "added.go"): "package one\n\nconst M = 1\n", list: added} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOFLAGS", "-mod=mod -overlay="+list)
	sources, err := Load(root, "./one")
	if err != nil || len(sources) != 1 || len(sources[0].Files) != 1 {
		t.Errorf("%v, %v: want one package with one file", sources, err)
	}
	if got := withoutOverlay("-mod=mod -overlay=" + list + " -race"); got != "-mod=mod -race" {
		t.Errorf("the other flags are %q", got)
	}
}
