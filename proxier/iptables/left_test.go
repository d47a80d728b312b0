//go:build linux

package iptables

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// What was left is told by its variant and its prefix, and looking for it makes nothing.
func TestWhatIsLeftIsFound(t *testing.T) {
	onBoth(t, func(t *testing.T, v Variant) {
		other := NFT
		if v == NFT {
			other = Legacy
		}
		want := func(when string, mine bool) {
			t.Helper()
			for _, c := range []struct {
				opts Options
				want bool
			}{{Options{Variant: v}, mine}, {Options{Variant: other}, false}, {Options{Variant: v, ChainPrefix: "DUCK"}, false}} {
				if got, err := Left(c.opts); err != nil || got != c.want {
					t.Errorf("%s, %v with prefix %q: %v, %v, want %v", when, c.opts.Variant, c.opts.ChainPrefix, got, err, c.want)
				}
			}
		}
		before := run(t, "nft", "list", "ruleset")
		want("at first", false)
		if after := run(t, "nft", "list", "ruleset"); after != before {
			t.Errorf("looking made\n%s", after)
		}
		node := &plan.Node{Name: "node-1", Dialect: plan.IPTables}
		b, err := New(node, Options{Variant: v})
		if err != nil {
			t.Skipf("no %v here: %v", v, err)
		}
		if err := b.Resync(plan.Empty(node)); err != nil {
			t.Fatal(err)
		}
		want("with rules", true)
		if err := b.Cleanup(); err != nil {
			t.Fatal(err)
		}
		want("after clean-up", false)
	})
}
