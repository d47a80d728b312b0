//go:build linux

package iptables

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// unseen is for tests in which nobody has to look into the kernel: the tools are there.
func unseen(endpoints.IPFamily) ([]string, error) { return nil, errors.New("asked without need") }

// leave has a Backend write its rules, and go.
func leave(t *testing.T, opts Options) {
	t.Helper()
	node := &plan.Node{Name: "node-1", Dialect: plan.IPTables}
	b, err := New(node, opts)
	if err != nil {
		backendtest.Lacking(t, "no %v here: %v", opts.Variant, err)
	}
	if err := b.Resync(plan.Empty(node)); err != nil {
		t.Fatal(err)
	}
}

// What was left is told by its variant and its prefix, and looking for it makes nothing.
func TestWhatIsLeftIsFoundAndRemoved(t *testing.T) {
	onBoth(t, func(t *testing.T, v Variant) {
		other := NFT
		if v == NFT {
			other = Legacy
		}
		want := func(when string, opts Options, want bool) {
			t.Helper()
			if got, err := Remove(opts, unseen); err != nil || got != want {
				t.Errorf("%s, %v with prefix %q, taking over %v: %v, %v, want %v", when, opts.Variant, opts.ChainPrefix, opts.TakeOver, got, err, want)
			}
		}
		before := run(t, "nft", "list", "ruleset")
		want("at first", Options{Variant: v, TakeOver: true}, false)
		if after := run(t, "nft", "list", "ruleset"); after != before {
			t.Errorf("looking made\n%s", after)
		}
		leave(t, Options{Variant: v})
		want("with rules", Options{Variant: other}, false)
		want("with rules", Options{Variant: other, TakeOver: true}, false)
		want("with rules", Options{Variant: v, ChainPrefix: "DUCK"}, false)
		want("with rules", Options{Variant: v}, true)
		want("when they are gone", Options{Variant: v}, false)
		leave(t, Options{Variant: v, ChainPrefix: "DUCK"})
		want("with another prefix's", Options{Variant: v}, false)
		want("with another prefix's, whoever made them", Options{Variant: v, TakeOver: true}, true)
		want("when they are gone", Options{Variant: v, TakeOver: true}, false)
		if left := run(t, "iptables-"+v.String()+"-save"); strings.Contains(left, "LAMEDUCK") || strings.Contains(left, "SERVICES") {
			t.Errorf("left:\n%s", left)
		}
	})
}

// A kube-proxy's chains without a canary of ours are nobody's business, but for a clean-up that was asked for.
func TestChainsWithoutACanaryAreSomebodyElses(t *testing.T) {
	onBoth(t, func(t *testing.T, v Variant) {
		feed(t, "*nat\n:KUBE-SERVICES -\nCOMMIT\n", "iptables-"+v.String()+"-restore", "--noflush")
		for _, c := range []struct{ takeOver, want bool }{{false, false}, {true, true}} {
			if got, err := Remove(Options{Variant: v, TakeOver: c.takeOver}, unseen); err != nil || got != c.want {
				t.Errorf("taking over %v: %v, %v, want %v", c.takeOver, got, err, c.want)
			}
		}
	})
}

// Without the tools, what the kernel shows decides.
func TestAToolThatIsMissingIsNamedWhereThereAreRules(t *testing.T) {
	onBoth(t, func(t *testing.T, v Variant) {
		shown := func(list ...string) func(endpoints.IPFamily) ([]string, error) {
			return func(endpoints.IPFamily) ([]string, error) { return list, nil }
		}
		program := "iptables-" + v.String()
		leave(t, Options{Variant: Legacy})
		fresh := func() { // where iptables-legacy has not been used
			if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("PATH", t.TempDir())
		ours := shown("filter FORWARD", "mangle KUBE-LAMEDUCK-CANARY", "nat KUBE-SERVICES")
		_, err := Remove(Options{Variant: v, TakeOver: v == Legacy}, ours)
		if err == nil || !strings.Contains(err.Error(), program) || !strings.Contains(err.Error(), "only that program can remove") {
			t.Errorf("with rules: %v, want it to name %s", err, program)
		}
		if v == Legacy {
			if found, err := Remove(Options{Variant: v}, ours); found || err != nil {
				t.Errorf("tables that may be anybody's: %v, %v", found, err)
			}
		} else {
			if _, err := Remove(Options{Variant: v}, unseen); err == nil || !strings.Contains(err.Error(), "cannot be seen") {
				t.Errorf("where nobody may look: %v", err)
			}
			if _, err := Remove(Options{Variant: v, TakeOver: true}, shown("nat KUBE-SERVICES")); err == nil || !strings.Contains(err.Error(), "chain KUBE-SERVICES of table nat") {
				t.Errorf("with chains of anybody: %v", err)
			}
		}
		fresh()
		for _, others := range [][]string{nil, {"filter INPUT", "nat DOCKER", "mangle KUBE-KUBELET-CANARY", "lameduck services"}} {
			if found, err := Remove(Options{Variant: v, TakeOver: true}, shown(others...)); found || err != nil {
				t.Errorf("with %v: %v, %v", others, found, err)
			}
		}
	})
}

// withoutRights has the test's thread, and what it starts, lose all rights of root; alone has made it the test's own.
func withoutRights(t *testing.T) {
	t.Helper()
	runtime.LockOSThread()
	const noRoot = 1 // SECBIT_NOROOT: what root starts has no rights for that alone
	if err := unix.Prctl(unix.PR_SET_SECUREBITS, noRoot, 0, 0, 0); err != nil {
		backendtest.Lacking(t, "rights cannot be given up here: %v", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	none := make([]unix.CapUserData, 2)
	if err := unix.Capset(&header, &none[0]); err != nil {
		t.Fatal(err)
	}
}

func TestARightThatIsMissingIsNamed(t *testing.T) {
	onBoth(t, func(t *testing.T, v Variant) {
		leave(t, Options{Variant: v})
		withoutRights(t)
		rights := map[Variant]string{NFT: "(CAP_NET_ADMIN)", Legacy: "(CAP_NET_ADMIN, CAP_NET_RAW)"}[v]
		if _, err := Remove(Options{Variant: v, TakeOver: true}, unseen); err == nil || !strings.Contains(err.Error(), rights) {
			t.Errorf("got %v, want it to say %s", err, rights)
		}
	})
}

// Somebody who writes the chains again at once is another proxy.
func TestRulesThatComeBackAreReported(t *testing.T) {
	t.Parallel()
	k := newFakeKernel()
	k.tables[mangle]["KUBE-LAMEDUCK-CANARY"] = nil
	k.tables[nat]["KUBE-SERVICES"] = nil
	k.onCommit = func() {
		if _, ok := k.tables[nat]["KUBE-SERVICES"]; !ok {
			k.tables[nat]["KUBE-SERVICES"] = nil
		}
	}
	opts := Options{ChainPrefix: "KUBE", TakeOver: true}
	found, err := removeAll(k, &opts, opts.layout(nobodys(), endpoints.IPv4, features{}))
	if !found || err == nil || !strings.Contains(err.Error(), "made them again") {
		t.Errorf("found %v, %v", found, err)
	}
}

// Of iptables-legacy only the tables in use can be seen: those that lameduck writes may have its chains, in a family's own list.
func TestTablesOfLegacyThatAreInUse(t *testing.T) {
	for _, c := range []struct {
		program, table string
		family         endpoints.IPFamily
		ours           bool
	}{
		{"iptables-legacy", "mangle", endpoints.IPv4, true}, {"iptables-legacy", "nat", endpoints.IPv4, true}, {"iptables-legacy", "filter", endpoints.IPv4, true},
		{"iptables-legacy", "raw", endpoints.IPv4, false}, {"ip6tables-legacy", "filter", endpoints.IPv6, true},
	} {
		t.Run(c.program+" "+c.table, func(t *testing.T) {
			alone(t)
			used := func(f endpoints.IPFamily) string {
				list, err := (&conn{layout: layout{family: f}}).legacyTables()
				if err != nil {
					t.Error(err)
				}
				return strings.Join(list, ", ")
			}
			if got := used(c.family); got != "" {
				t.Errorf("at first %s is in use", got)
			}
			run(t, c.program, "-t", c.table, "-S")
			want := ""
			if c.ours {
				want = "table " + c.table + " of /proc/thread-self/net/" + strings.TrimSuffix(c.program, "tables-legacy") + "_tables_names"
			}
			other := endpoints.IPv6
			if c.family == other {
				other = endpoints.IPv4
			}
			if got := used(c.family); got != want || used(other) != "" {
				t.Errorf("%q is in use, and %q of the other family, want %q", got, used(other), want)
			}
			if found, err := Remove(Options{Variant: Legacy, Families: []endpoints.IPFamily{other}}, unseen); found || err != nil || used(other) != "" {
				t.Errorf("looking for the other family's: %v, %v, made %q", found, err, used(other))
			}
		})
	}
}

// A list of tables that cannot be read is an error, and does not pass for an empty one; one that is not there is the kernel's that has none.
func TestAListOfTablesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if tables, err := tablesIn(dir); err == nil {
		t.Errorf("of a directory: %q", tables)
	}
	if tables, err := tablesIn(filepath.Join(dir, "ip_tables_names")); err != nil || tables != nil {
		t.Errorf("of no file: %q, %v", tables, err)
	}
	name := filepath.Join(dir, "names")
	if err := os.WriteFile(name, []byte("raw\nnat\nsecurity\nfilter\nmangle\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tables, err := tablesIn(name)
	if want := []string{"table nat of " + name, "table filter of " + name, "table mangle of " + name}; err != nil || !slices.Equal(tables, want) {
		t.Errorf("%q, %v", tables, err)
	}
}

// Chains are removed by the prefix of a canary, not by any name that begins or ends alike.
func TestWhichPrefixesAreRemoved(t *testing.T) {
	t.Parallel()
	chains := func(mangled ...string) (have saved) {
		for _, x := range tables() {
			have[x] = map[string]*savedChain{}
		}
		for _, name := range mangled {
			have[mangle][name] = &savedChain{}
		}
		return have
	}
	for _, c := range []struct {
		chains   []string
		takeOver bool
		want     string
	}{
		{nil, false, ""}, {nil, true, "KUBE"},
		{[]string{"KUBE", "KUBE-KUBELET-CANARY", "KUBE-PROXY-CANARY"}, false, ""},
		{[]string{"KUBE-LAMEDUCK-CANARY"}, false, "KUBE"}, {[]string{"KUBE-LAMEDUCK-CANARY"}, true, "KUBE"},
		{[]string{"DUCK-LAMEDUCK-CANARY", "OTHER"}, false, ""},
		{[]string{"ZOO-LAMEDUCK-CANARY", "DUCK-LAMEDUCK-CANARY", "KUBE-LAMEDUCK-CANARY", "AB-LAMEDUCK-CANARY", "OTHER"}, true, "AB DUCK KUBE ZOO"},
	} {
		opts := &Options{ChainPrefix: "KUBE", TakeOver: c.takeOver}
		if got := strings.Join(prefixes(opts, chains(c.chains...)), " "); got != c.want {
			t.Errorf("of %q, taking over %v: %q, want %q", c.chains, c.takeOver, got, c.want)
		}
	}
	opts := &Options{ChainPrefix: "KUBE", TakeOver: true}
	shown := []string{"mangle DUCK-LAMEDUCK-CANARY", "nat DUCK-SERVICES", "nat KUBE-SERVICES", "nat OTHER", "filter KUBE-FORWARD", "filter INPUT"}
	want := "chain DUCK-LAMEDUCK-CANARY of table mangle, chain DUCK-SERVICES of table nat, chain KUBE-SERVICES of table nat"
	if got := strings.Join(removable(opts, opts.layout(nobodys(), endpoints.IPv4, features{}), shown), ", "); got != want {
		t.Errorf("removable: %s, want %s", got, want)
	}
}
