package record

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// A node that never answers has no pod of the workload or, where several are behind its Service, none of that Service.
func TestANodeThatNeverAnswersNamesWhatItHasNoPodOf(t *testing.T) {
	t.Parallel()
	f := &failing{cause: ledger.NoLocalEndpoint, nodes: []map[int]bool{{0: true}}}
	for shared, want := range map[string]string{ // order: each for itself
		"":    "n1 never answers: no pod of api-stable is there and internalTrafficPolicy is Local",
		"api": "n1 never answers: no pod of Service api is there and internalTrafficPolicy is Local",
	} {
		c := Case{Workload: "prod/api-stable", Nodes: []string{"n1"}, Clients: []Client{{Shared: shared}}}
		if got := c.sentence(f); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
