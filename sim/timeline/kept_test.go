package timeline

import (
	"flag"
	"os"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/cluster"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/test/golden"
)

// keptTimelines has all timelines that tests of this package make, whatever else they ask of them.
const keptTimelines = "testdata/kept/timelines.txt"

var update = flag.Bool("update", false, "rewrite "+keptTimelines+", where all tests are run")

var kept = golden.NewSums(keptTimelines, update, "timelines", "pods", "nodes", "targets", "bands", "events", "failures")

func TestMain(m *testing.M) { os.Exit(kept.Main(m)) }

// Keep keeps a Timeline that a test has made.
func Keep(t *testing.T, tl *Timeline) {
	t.Helper()
	text := golden.Text(tl)
	figures := []int{1, len(tl.Pods), len(tl.Nodes), len(tl.Targets), len(tl.Bands), len(tl.Events), len(tl.Failures)}
	kept.Keep(t, func() (string, []int) { return text, figures })
}

// Build is that of the Recorder, and keeps what it makes.
func (s *script) Build(seed uint64, end engine.Time, pods []cluster.PodRef) *Timeline {
	s.t.Helper()
	tl := s.Recorder.Build(seed, end, pods)
	Keep(s.t, tl)
	return tl
}
