package sim

import (
	"fmt"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// Watching a run changes nothing of it, and shows every step: events with their owners, requests
// with their words, and after the last of them the run's own hash.
func TestAWatchedRun(t *testing.T) {
	t.Parallel()
	sc := plainWorld(2, sec)
	plain, err := Run(sc, 1)
	if err != nil {
		t.Fatal(err)
	}
	var last engine.Step
	var events, requests uint64
	watched, err := RunWith(sc, 1, Options{Watch: func(s engine.Step, owner string) {
		last = s
		switch {
		case s.Words == nil && owner != "":
			events++
		case s.Words != nil && owner == "" && s.Name == "request":
			requests++
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if watched.TraceHash != plain.TraceHash || fmt.Sprintf("%016x", last.Hash) != plain.TraceHash {
		t.Errorf("watched %s, last step %016x, unwatched %s", watched.TraceHash, last.Hash, plain.TraceHash)
	}
	if events != plain.Events || requests != plain.Ledger.All().Total {
		t.Errorf("%d events of %d, %d requests of %d", events, plain.Events, requests, plain.Ledger.All().Total)
	}
}
