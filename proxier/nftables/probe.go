package nftables

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"syscall"

	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// probe rehearses: it makes a table with every shape of rule, and takes it away in the same
// transaction, so that no packet ever meets it. If the kernel refuses, it finds out why.
func (b *Backend) probe() error {
	var changes []*tableChange
	for _, f := range b.opts.Families {
		changes = append(changes, rehearsal(newState(b.node, f)))
	}
	err := b.rehearse(changes)
	if err == nil {
		return nil
	}
	if errors.Is(err, syscall.EPERM) {
		return fmt.Errorf("no right to change the ruleset (CAP_NET_ADMIN): %w", err)
	}
	var lacks []string
	for _, f := range features() {
		for _, family := range b.opts.Families {
			if alone := b.rehearse([]*tableChange{f.change(family)}); alone != nil {
				lacks = append(lacks, fmt.Sprintf("%s for %s (%s)", f.what, family, f.needs))
			}
		}
	}
	if len(lacks) == 0 {
		return fmt.Errorf("the kernel refuses the rules: %w", err)
	}
	return fmt.Errorf("the kernel lacks %s: %w", strings.Join(lacks, "; "), err)
}

func (b *Backend) rehearse(changes []*tableChange) error {
	return b.kernel.commit(fmt.Sprintf("%s-probe-%d", b.opts.Table, os.Getpid()), changes, 0, false)
}

// rehearsal is a table without Services, but with every kind of chain.
func rehearsal(s *state) *tableChange {
	c := s.create(plan.Empty(s.layout.node))
	u := s.begin()
	u.tx = c
	for _, nodePort := range []bool{false, true} {
		u.addClass(class{treatment: externalLocal, main: 3, local: 2, sticky: 1}, nodePort)
	}
	all := netip.PrefixFrom(unspecified(s.family), 1)
	w := u.allowLists.find([]netip.Prefix{all})
	w.uses++
	u.settleAllowLists()
	c.remove = true
	return c
}
