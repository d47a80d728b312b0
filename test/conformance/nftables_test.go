//go:build linux

package conformance

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	nft "github.com/google/nftables"
	"golang.org/x/sys/unix"

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
		for again := true; again; {
			if again, err = ageSet(c, set, d); err != nil {
				return err
			}
		}
	}
	return nil
}

// ageSet does so with one set. On a slow machine the kernel may forget an entry after it was read and before it is
// replaced: then all of them stand as they did, and there is one less to look at again.
func ageSet(c *nft.Conn, set *nft.Set, d time.Duration) (again bool, err error) {
	elements, err := c.GetSetElements(set)
	if err != nil {
		return false, fmt.Errorf("read the memory: %w", err)
	}
	for _, e := range elements {
		if err := c.SetDeleteElements(set, []nft.SetElement{{Key: e.Key}}); err != nil {
			return false, err
		}
		if left := e.Expires - d; left > 0 {
			if err := c.SetAddElements(set, []nft.SetElement{{Key: e.Key, Val: e.Val, Timeout: left}}); err != nil {
				return false, err
			}
		}
	}
	err = c.Flush()
	if errors.Is(err, unix.ENOENT) {
		return true, nil
	}
	return false, err
}

// After any number of changes nftables do what the Plan of the moment says.
func TestNFTablesAfterRandomChanges(t *testing.T) {
	t.Parallel()
	start := func(node *plan.Node) (dataplane, error) { return nftables.New(node, nftables.Options{}) }
	randomChanges(t, kernel{start: start}, plan.NFTables)
}
