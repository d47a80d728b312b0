//go:build linux

package agent

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
	"github.com/lameduck-proxy/lameduck/proxier/iptables"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// alone puts the test's thread into a network namespace of its own. Both end with the test.
func alone(t *testing.T) {
	t.Helper()
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		backendtest.Lacking(t, "no network namespace of its own: %v", err)
	}
}

// enforce puts empty rules of a mode in force.
func enforce(t *testing.T, dialect plan.Dialect, variant iptables.Variant) {
	t.Helper()
	node := thisNode()
	node.Dialect = dialect
	if err := Program(plan.Empty(node), KernelOptions{Variant: variant}); err != nil {
		backendtest.Lacking(t, "no rules of %s here: %v", dialect, err)
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

// runTool runs a tool in the test's namespace.
func runTool(t *testing.T, input, name string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		backendtest.Lacking(t, "no %s here: %v", name, err)
	}
	cmd := exec.Command(name, args...)
	cmd.Stdin = strings.NewReader(input)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

func TestOtherServiceProxiesAreSeen(t *testing.T) {
	alone(t)
	kube, aside := newClaim(KernelOptions{}), newClaim(KernelOptions{ChainPrefix: "DUCK"})
	want := func(when string, o KernelOptions, c *claim, want ...string) {
		t.Helper()
		got, err := look(o, c)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, want %q", when, got, err, want)
		}
	}
	want("at first", KernelOptions{}, kube)
	enforce(t, plan.NFTables, iptables.Auto)
	want("with rules of its own", KernelOptions{}, kube)
	second := newClaim(KernelOptions{ChainPrefix: "KUBE"})
	want("a second one", KernelOptions{}, second, anotherLameduck)
	want("one aside", KernelOptions{ChainPrefix: "DUCK"}, aside)
	if _, err := Cleanup(KernelOptions{}); err == nil || !strings.Contains(err.Error(), "end it first") {
		t.Errorf("clean-up beside a proxy that runs: %v", err)
	}
	if err := kube.release(); err != nil {
		t.Fatal(err)
	}
	want("when the first has ended", KernelOptions{}, second)
	if err := second.release(); err != nil {
		t.Fatal(err)
	}

	third := newClaim(KernelOptions{})
	runTool(t, "", "nft", "add table ip6 kube-proxy; add chain ip6 kube-proxy services")
	want("kube-proxy in mode nftables", KernelOptions{}, third, kubeProxyNFTables)
	runTool(t, "*mangle\n:KUBE-PROXY-CANARY -\nCOMMIT\n", "iptables-nft-restore", "--noflush")
	want("both", KernelOptions{}, third, kubeProxyIPTables, kubeProxyNFTables)
	want("both, aside", KernelOptions{ChainPrefix: "DUCK"}, aside)
	if err := third.release(); err != nil {
		t.Fatal(err)
	}
	if err := aside.release(); err != nil {
		t.Fatal(err)
	}
}

// What somebody else does to the chains of iptables-nft is heard, repaired and counted, and what the proxy does itself is not heard.
func TestAForeignFlushOfIPTablesNFTIsHeard(t *testing.T) {
	alone(t)
	node := thisNode()
	node.Dialect = plan.IPTables
	backend, err := OpenBackend(node, KernelOptions{Variant: iptables.NFT})
	if err != nil {
		backendtest.Lacking(t, "no iptables-nft here: %v", err)
	}
	b, ok := backend.(*iptables.Backend)
	if !ok {
		t.Fatalf("got a %T", backend)
	}
	p := plan.Empty(node)
	if err := b.Resync(p); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	told, err := b.Watch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i, disturb := range [][]string{
		{"iptables-nft", "-t", "nat", "-F"}, {"ip6tables-nft", "-t", "filter", "-F", "KUBE-FORWARD"}, {"iptables-nft", "-t", "nat", "-D", "OUTPUT", "1"},
		{"nft", "flush", "ruleset"},
	} {
		if err := b.Resync(p); err != nil {
			t.Fatal(err)
		}
		runTool(t, "", "iptables-nft", "-t", "nat", "-N", fmt.Sprintf("OTHERS-%d", i))
		if len(told) > 0 {
			t.Errorf("told before %q", disturb)
		}
		runTool(t, "", disturb[0], disturb[1:]...)
		<-told
		if err := b.Check(p); err != nil || b.Repairs() < i+1 {
			t.Errorf("after %q: %d repairs, %v", disturb, b.Repairs(), err)
		}
	}
}
