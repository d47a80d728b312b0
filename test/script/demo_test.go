package script

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// make demo tells one story that is read to its end: on a page of 80 lines, 100 columns wide.
func TestTheDemonstrationIsAPage(t *testing.T) {
	t.Parallel()
	lookAtSources(t)
	cmd := exec.Command("bash", "../../examples/demo.sh")
	cmd.Env = append(cmd.Environ(), "LAMEDUCK="+filepath.Join(binaries, "lameduck"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) > 80 {
		t.Errorf("%d lines", len(lines))
	}
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > 100 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	for _, want := range []string{"DROPS", "HOLDS", "still serving though terminating", "DROP  "} {
		if !strings.Contains(string(out), want) {
			t.Errorf("nothing of %q in\n%s", want, out)
		}
	}
}
