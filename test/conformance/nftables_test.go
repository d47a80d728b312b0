//go:build linux

package conformance

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
	"github.com/lameduck-proxy/lameduck/proxier/nftables"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// What nftables do with real packets is what the rows say.
func TestNFTables(t *testing.T) {
	t.Parallel()
	start := func(node *plan.Node) (dataplane, error) { return nftables.New(node, nftables.Options{}) }
	backendtest.Run(t, kernel{dialects: []plan.Dialect{plan.NFTables}, start: start}.backend(t))
}
