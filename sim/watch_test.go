package sim

import (
	"fmt"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// Watching a run changes nothing of it, and shows every step: events with their owners, requests that
// failed with their words, the totals of each stream, and after the last of them the run's own hash.
func TestAWatchedRun(t *testing.T) {
	t.Parallel()
	sc := plainWorld(2, sec)
	plain, err := Run(sc, 1)
	if err != nil {
		t.Fatal(err)
	}
	var last engine.Step
	var events, failed, totals uint64
	watched, err := RunWith(sc, 1, Options{Watch: func(s engine.Step, owner string) {
		last = s
		switch {
		case s.Words == nil && owner != "":
			events++
		case s.Words != nil && owner == "" && s.Name == "failed":
			failed++
		case s.Words != nil && owner == "" && s.Name == "total":
			totals++
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if watched.TraceHash != plain.TraceHash || fmt.Sprintf("%016x", last.Hash) != plain.TraceHash {
		t.Errorf("watched %s, last step %016x, unwatched %s", watched.TraceHash, last.Hash, plain.TraceHash)
	}
	if all := plain.Ledger.All(); events != plain.Events || failed != all.Failed || failed == 0 || totals != uint64(len(plain.Streams)) {
		t.Errorf("%d events of %d, %d of %d failed requests, %d totals", events, plain.Events, failed, all.Failed, totals)
	}
}
