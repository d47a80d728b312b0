//go:build linux

package conformance

import (
	"fmt"
	"os"
	"testing"
	"time"

	nft "github.com/google/nftables"

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
	k := kernel{dialects: []plan.Dialect{plan.NFTables}, families: families, start: start, age: ageMemory}
	backendtest.Run(t, k.backend(t))
}

// ageMemory replaces what packets have remembered in lameduck's tables by entries that have less
// time left. The kernel forgets them by itself then, and packets set their time back as ever.
func ageMemory(d time.Duration) error {
	c, err := nft.New()
	if err != nil {
		return fmt.Errorf("netlink: %w", err)
	}
	for _, family := range []nft.TableFamily{nft.TableFamilyIPv4, nft.TableFamilyIPv6} {
		set, err := c.GetSetByName(&nft.Table{Name: "lameduck", Family: family}, "sticky")
		if err != nil {
			return fmt.Errorf("find the memory: %w", err)
		}
		elements, err := c.GetSetElements(set)
		if err != nil {
			return fmt.Errorf("read the memory: %w", err)
		}
		for _, e := range elements {
			if err := c.SetDeleteElements(set, []nft.SetElement{{Key: e.Key}}); err != nil {
				return err
			}
			if left := e.Expires - d; left > 0 {
				if err := c.SetAddElements(set, []nft.SetElement{{Key: e.Key, Val: e.Val, Timeout: left}}); err != nil {
					return err
				}
			}
		}
	}
	return c.Flush()
}

// After any number of changes nftables do what the Plan of the moment says.
func TestNFTablesAfterRandomChanges(t *testing.T) {
	t.Parallel()
	start := func(node *plan.Node) (dataplane, error) { return nftables.New(node, nftables.Options{}) }
	randomChanges(t, kernel{start: start}, plan.NFTables)
}
