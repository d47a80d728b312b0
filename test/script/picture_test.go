package script

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The picture of the README is what the program draws now. To draw it again: the command below, with its output in docs/sweep.svg.
func TestThePictureOfTheReadme(t *testing.T) {
	t.Parallel()
	lookAtSources(t)
	const picture = "../../docs/sweep.svg"
	cmd := exec.Command(filepath.Join(binaries, "lameduck"), "sim", "-f", "examples/web-app.yaml", "--action", "rollout",
		"--sweep", "prestop=0s..10s:1s", "--sweep", "latency.proxySync=100ms,250ms,500ms,1s,1500ms,2s,3s,4s,5s", "-o", "svg")
	cmd.Dir = "../.."
	got, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is %d bytes, the program draws %d others", picture, len(want), len(got))
	}
}
