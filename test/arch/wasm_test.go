package arch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPureBuildsForWasm is the second proof of purity: what sim/play needs, and what a stray system call would break.
func TestPureBuildsForWasm(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds every pure package for another platform; not in -short")
	}
	args := []string{"build"}
	for _, path := range purePaths(repo(t)) {
		t.Log(path)
		args = append(args, "./"+path)
	}
	if out, err := buildForWasm(repoRoot(t), args); err != nil {
		t.Errorf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	t.Logf("%d packages built for js/wasm", len(args)-1)
}

func buildForWasm(dir string, args []string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	return cmd.CombinedOutput()
}

func TestWasmBuildFires(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds for another platform; not in -short")
	}
	for name, c := range map[string]struct {
		source string
		ok     bool
	}{
		"builds everywhere": {"package p\n\nimport \"net/netip\"\n\nvar Addr netip.Addr\n", true},
		"needs Linux":       {"package p\n\nimport \"syscall\"\n\nvar Mount = syscall.Mount\n", false},
	} {
		dir := t.TempDir()
		for file, content := range map[string]string{"go.mod": "module p\n\ngo 1.26.0\n", "p.go": c.source} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		out, err := buildForWasm(dir, []string{"build", "."})
		if (err == nil) != c.ok {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}
