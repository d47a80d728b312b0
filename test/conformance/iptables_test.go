//go:build linux

package conformance

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
	"github.com/lameduck-proxy/lameduck/proxier/iptables"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// What iptables do with real packets is what the rows say: in a plain run of all tests those of IPv4
// on iptables-nft, with make kernel all.
func TestIPTablesNFT(t *testing.T) {
	t.Parallel()
	families := []endpoints.IPFamily{endpoints.IPv4}
	if os.Getenv("LAMEDUCK_KERNEL") != "" {
		families = nil
	}
	onIPTables(t, iptables.Options{Variant: iptables.NFT}, families)
}

func TestIPTablesLegacy(t *testing.T) {
	t.Parallel()
	if os.Getenv("LAMEDUCK_KERNEL") == "" {
		t.Skip("the other of two variants with the same rules: make kernel")
	}
	ownLock(t)
	onIPTables(t, iptables.Options{Variant: iptables.Legacy}, nil)
}

// ownLock gives iptables-legacy a lock that an ordinary user may take, where it is not the machine's.
func ownLock(t *testing.T) {
	t.Helper()
	f, err := os.OpenFile("/run/xtables.lock", os.O_RDONLY|os.O_CREATE, 0o600)
	if err == nil {
		_ = f.Close()
		return
	}
	if err := os.Setenv("XTABLES_LOCKFILE", filepath.Join(t.TempDir(), "lock")); err != nil { //nolint:usetesting // t.Setenv is not for parallel tests
		t.Fatal(err)
	}
}

// With a chain for every endpoint, as kube-proxy has it, nothing else becomes of a packet.
func TestIPTablesWithEndpointChains(t *testing.T) {
	t.Parallel()
	if os.Getenv("LAMEDUCK_KERNEL") != "all" {
		t.Skip("other rules to the same end: make kernel LAMEDUCK_KERNEL=all")
	}
	onIPTables(t, iptables.Options{Variant: iptables.NFT, EndpointChains: true}, nil)
}

func onIPTables(t *testing.T, opts iptables.Options, families []endpoints.IPFamily) {
	t.Helper()
	for _, tool := range []string{"iptables-", "ip6tables-"} {
		if _, err := exec.LookPath(tool + opts.Variant.String()); err != nil {
			backendtest.Lacking(t, "needs the tools: %v", err)
		}
	}
	if len(families) == 1 {
		opts.Families = families
	}
	start := func(node *plan.Node) (dataplane, error) {
		b, err := iptables.New(node, opts)
		return leaving{b}, err
	}
	backendtest.Run(t, kernel{dialects: []plan.Dialect{plan.IPTables}, families: families, start: start}.backend(t))
}

// leaving is a Backend that takes its chains with it: iptables-legacy is no part of nftables, which
// the subject removes.
type leaving struct{ *iptables.Backend }

func (l leaving) Close() error { return l.Cleanup() }
