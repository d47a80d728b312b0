package browser

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/play"
)

// The page of lameduck play opens the links that lessons have to their worlds.
func TestThePageReadsTheLinksOfLessons(t *testing.T) {
	t.Parallel()
	command := node(t, web, "esbuild")
	world, err := os.ReadFile("../../examples/lessons/prestop.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, manifest := range []string{string(world), "# é 木 & \"<b>\" \u2028\n"} {
		fragment, err := play.Fragment("prestop.yaml", manifest)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(command, "link.mjs", web)
		cmd.Stdin, cmd.Stderr = strings.NewReader(fragment), os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Name, Manifest string }
		if err := json.Unmarshal(out, &got); err != nil || got.Name != "prestop.yaml" || got.Manifest != manifest {
			t.Errorf("%s, %v", out, err)
		}
	}
}
