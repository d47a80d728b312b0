package script

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// The pictures of the README are what the program draws now. To draw one again: its command below, with its output in the file.
func TestThePicturesOfTheReadme(t *testing.T) {
	t.Parallel()
	lookAtSources(t)
	for file, about := range map[string]struct {
		args []string
		exit int
	}{
		"race.svg": {[]string{"-o", "svg"}, 1}, // traffic is lost
		"sweep.svg": {[]string{
			"--action", "rollout", "--sweep", "prestop=0s..10s:1s", "--sweep", "latency.proxySync=100ms,250ms,500ms,1s,1500ms,2s,3s,4s,5s", "-o", "svg",
		}, 0},
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(filepath.Join(binaries, "lameduck"), slices.Concat([]string{"sim", "-f", "examples/web-app.yaml"}, about.args)...)
			cmd.Dir = "../.."
			got, err := cmd.Output()
			if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != about.exit {
				t.Fatal(err)
			}
			want, err := os.ReadFile(filepath.Join("../../docs", file))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("docs/%s is %d bytes, the program draws %d others", file, len(want), len(got))
			}
		})
	}
}
