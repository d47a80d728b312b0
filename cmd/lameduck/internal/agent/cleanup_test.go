//go:build linux

package agent

import (
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lameduck-proxy/lameduck/proxier/iptables"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// alone puts the test's thread into a network namespace of its own. Both end with the test.
func alone(t *testing.T) {
	t.Helper()
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Skipf("no network namespace of its own: %v", err)
	}
}

// enforce puts empty rules of a mode in force.
func enforce(t *testing.T, dialect plan.Dialect, variant iptables.Variant) {
	t.Helper()
	node := thisNode()
	node.Dialect = dialect
	if err := Program(plan.Empty(node), KernelOptions{Variant: variant}); err != nil {
		t.Skipf("no rules of %s here: %v", dialect, err)
	}
}

func TestCleanupRemovesTheRulesOfEveryMode(t *testing.T) {
	for _, c := range []struct {
		dialect plan.Dialect
		variant iptables.Variant
		removed int // which of modes
	}{{plan.NFTables, iptables.Auto, 0}, {plan.IPTables, iptables.NFT, 1}, {plan.IPTables, iptables.Legacy, 2}} {
		t.Run(modes()[c.removed].String(), func(t *testing.T) {
			alone(t)
			enforce(t, c.dialect, c.variant)
			for _, again := range []bool{false, true} {
				done, err := Cleanup(KernelOptions{})
				if err != nil || len(done) != len(modes()) {
					t.Fatalf("%q, %v", done, err)
				}
				for i, line := range done {
					want := ": there were no rules of ours"
					if i == c.removed && !again {
						want = ": our rules are removed"
					}
					if !strings.HasSuffix(line, want) {
						t.Errorf("again %v: %q, want %q", again, line, want)
					}
				}
			}
		})
	}
}

// What cannot be removed is never said not to be there.
func TestCleanupWithoutAToolOrARightFails(t *testing.T) {
	t.Run("tool", func(t *testing.T) {
		alone(t)
		enforce(t, plan.IPTables, iptables.NFT)
		t.Setenv("PATH", t.TempDir())
		done, err := Cleanup(KernelOptions{})
		if err == nil || !strings.Contains(err.Error(), "iptables-nft: rules may be left") || !strings.Contains(err.Error(), "chain KUBE-") || len(done) != 2 {
			t.Errorf("%q, %v", done, err)
		}
	})
	t.Run("right", func(t *testing.T) {
		alone(t)
		enforce(t, plan.NFTables, iptables.Auto)
		t.Setenv("PATH", t.TempDir())
		header, none := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, make([]unix.CapUserData, 2)
		if err := unix.Capset(&header, &none[0]); err != nil { // of this thread, which ends with the test
			t.Fatal(err)
		}
		done, err := Cleanup(KernelOptions{})
		if err == nil || !strings.Contains(err.Error(), "nftables: rules may be left") || !strings.Contains(err.Error(), "CAP_NET_ADMIN") || len(done) > 1 {
			t.Errorf("%q, %v", done, err)
		}
	})
}
