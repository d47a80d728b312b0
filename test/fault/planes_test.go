//go:build linux

package fault

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	nft "github.com/google/nftables"
	"github.com/google/nftables/expr"

	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
	"github.com/lameduck-proxy/lameduck/proxier/iptables"
	"github.com/lameduck-proxy/lameduck/proxier/nftables"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// plane is a kind of dataplane. All its functions are called in the node's namespace.
type plane struct {
	name    string
	dialect plan.Dialect
	start   func(*plan.Node) (dataplane, error)
	// rules lists what it programmed, so that two lists are the same if the rules are: without
	// counters, handles and the orders of sets.
	rules func() (string, error)
	tool  string // that rules runs
	// lost counts the packets that found no endpoint although their Service had some; nil where
	// that cannot happen.
	lost func() (uint64, error)
}

// planes are those to test: in a plain run of all tests one, with make kernel all.
func planes() []plane {
	all := []plane{
		{
			name: "nftables", dialect: plan.NFTables, rules: nftRules, tool: "nft", lost: nftLost,
			start: func(n *plan.Node) (dataplane, error) { return nftables.New(n, nftables.Options{}) },
		},
		onIPTables(iptables.NFT), onIPTables(iptables.Legacy),
	}
	if !thorough() && os.Getenv(victim) == "" {
		return all[:1]
	}
	return all
}

func onIPTables(v iptables.Variant) plane {
	return plane{
		name: "iptables-" + v.String(), dialect: plan.IPTables,
		start: func(n *plan.Node) (dataplane, error) { return iptables.New(n, iptables.Options{Variant: v}) },
		rules: func() (string, error) { return iptablesRules(v) }, tool: "iptables-" + v.String() + "-save",
	}
}

// counters are what iptables-save prints behind a chain.
var counters = regexp.MustCompile(` \[\d+:\d+\]$`)

// iptablesRules lists all tables without counters: chains by name, the rules of each in their order.
func iptablesRules(v iptables.Variant) (string, error) {
	var all []string
	for _, tool := range []string{"iptables", "ip6tables"} {
		for _, table := range []string{"mangle", "nat", "filter"} {
			out, err := exec.Command(tool+"-"+v.String()+"-save", "-t", table).Output() // one of a few
			if err != nil {
				return "", fmt.Errorf("%s-save: %w", tool, err)
			}
			var lines []string
			for line := range strings.Lines(string(out)) {
				if line = strings.TrimSpace(line); !strings.HasPrefix(line, "#") {
					lines = append(lines, counters.ReplaceAllString(line, ""))
				}
			}
			slices.SortStableFunc(lines, func(a, b string) int { return strings.Compare(chainOf(a), chainOf(b)) })
			all = append(append(all, tool), lines...)
		}
	}
	return strings.Join(all, "\n"), nil
}

// chainOf is what a line of iptables-save is about.
func chainOf(line string) string {
	words := strings.Fields(line)
	if len(words) > 1 && words[0] == "-A" {
		return words[1]
	}
	return ""
}

// each runs a test for every kind.
func each(t *testing.T, test func(t *testing.T, p plane)) {
	t.Helper()
	for _, p := range planes() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			test(t, p)
		})
	}
}

// listable skips a test that lists rules where the tool for it is missing; with LAMEDUCK_KERNEL it fails then.
func (p plane) listable(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath(p.tool); err != nil {
		backendtest.Lacking(t, "rules cannot be listed: %v", err)
	}
}

// nftLost adds up what picks count that end in reject.
func nftLost() (uint64, error) {
	c, err := nft.New()
	if err != nil {
		return 0, fmt.Errorf("netlink: %w", err)
	}
	chains, err := c.ListChains()
	if err != nil {
		return 0, fmt.Errorf("list chains: %w", err)
	}
	var lost uint64
	counters := 0
	for _, chain := range chains {
		if !strings.Contains(chain.Name, "pick-") {
			continue
		}
		rules, err := c.GetRules(chain.Table, chain)
		if err != nil {
			return 0, fmt.Errorf("list the rules of %s: %w", chain.Name, err)
		}
		for _, r := range rules {
			for _, e := range r.Exprs {
				if n, ok := e.(*expr.Counter); ok {
					lost += n.Packets
					counters++
				}
			}
		}
	}
	if counters == 0 {
		return 0, fmt.Errorf("none of %d chains counts what finds no endpoint", len(chains))
	}
	return lost, nil
}

// nftRules lists the ruleset without counters, and in an order of its own: that of chains tells
// when they were made, that of a set's elements is the kernel's. What packets wrote is left out.
//
// The kernel resizes a map some time after it has grown, and whoever lists it meanwhile may find an
// element twice or miss one (Linux nft_set_hash.c: nft_rhash_walk begins again, and a dump goes on by
// counting). So the rules are those that two listings in a row agree on.
func nftRules() (string, error) {
	before := ""
	for range 20 {
		out, err := exec.Command("nft", "-s", "list", "ruleset").Output()
		if err != nil {
			return "", fmt.Errorf("nft list ruleset: %w", err)
		}
		rules := canonical(string(out))
		if rules == before {
			return rules, nil
		}
		before = rules
	}
	return "", errors.New("nft list ruleset: 20 listings, and no two in a row are the same")
}

// canonical puts the tool's listing into that order: chains and sets by name, elements one a line.
func canonical(listing string) string {
	var table string
	var all, block, elements []string
	for line := range strings.Lines(listing) {
		line = strings.TrimRight(line, "\n")
		depth := len(line) - len(strings.TrimLeft(line, "\t"))
		text := strings.TrimSpace(line)
		switch {
		case text == "":
		case depth == 0:
			table = strings.TrimSuffix(text, "{")
		case depth == 1 && text == "}":
			slices.Sort(elements)
			all = append(all, strings.Join(append(block, elements...), "\n\t"))
			block, elements = nil, nil
		case depth == 1:
			block = []string{table + text}
		case depth > 2 || strings.HasPrefix(text, "elements = {"):
			if !strings.HasSuffix(block[0], "map sticky {") {
				text = strings.Trim(strings.TrimPrefix(text, "elements = {"), " },")
				elements = append(elements, strings.Split(text, ", ")...)
			}
		default:
			block = append(block, text)
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}
