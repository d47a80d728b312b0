//go:build linux

package conformance

import (
	"os"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
	"github.com/lameduck-proxy/lameduck/proxier/nftables"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// What nftables do with real packets is what the rows say: in a plain run of all tests those of IPv6,
// whose rules are the longer ones, and with make kernel all.
func TestNFTables(t *testing.T) {
	t.Parallel()
	start := func(node *plan.Node) (dataplane, error) { return nftables.New(node, nftables.Options{}) }
	families := []endpoints.IPFamily{endpoints.IPv6}
	if os.Getenv("LAMEDUCK_KERNEL") != "" {
		families = nil
	}
	backendtest.Run(t, kernel{dialects: []plan.Dialect{plan.NFTables}, families: families, start: start}.backend(t))
}

// After any number of changes nftables do what the Plan of the moment says.
func TestNFTablesAfterRandomChanges(t *testing.T) {
	t.Parallel()
	start := func(node *plan.Node) (dataplane, error) { return nftables.New(node, nftables.Options{}) }
	randomChanges(t, kernel{start: start}, plan.NFTables)
}
