package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/sweep"
	"github.com/lameduck-proxy/lameduck/test/golden"
)

// What is said of sets of manifests as they are met in clusters, of a rolling restart and of what is done to nodes: the head of each
// report, without what is assumed.
func TestSetsOfRealClusters(t *testing.T) {
	t.Parallel()
	always := []string{"rollout", "drain", "karpenter", "pool-upgrade"}
	for name, of := range map[string]struct {
		lb      string
		actions []string
	}{
		"contour":  {lb: "aws-nlb-instance", actions: always},
		"gpu":      {actions: always},
		"postgres": {actions: append([]string{"drain=n1", "drain=n2"}, always...)},
		"patroni":  {actions: []string{"drain=n1"}},
		"cnpg":     {actions: []string{"rollout", "drain", "drain=n1", "drain=n2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(filepath.Join("testdata", "sets", name+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			for _, action := range of.actions {
				s := run(t, name+".yaml", string(data), scenario.Options{LB: of.lb, Actions: []string{action}}, sweep.Options{Seed: 1, Runs: 4})
				head, _, _ := strings.Cut(compose(s, TextOptions{}), "\nASSUMED")
				b.WriteString("## " + action + "\n\n" + strings.TrimRight(head, "\n") + "\n\n")
			}
			golden.Compare(t, filepath.Join("testdata", "sets", name+".txt"), b.String(), *update)
		})
	}
}
