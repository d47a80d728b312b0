package agent

import (
	"errors"
	"fmt"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/iptables"
	"github.com/lameduck-proxy/lameduck/proxier/nftables"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// mode is a way to write rules that others do not undo.
type mode struct {
	dialect plan.Dialect
	variant iptables.Variant
}

func modes() []mode {
	return []mode{{plan.NFTables, iptables.Auto}, {plan.IPTables, iptables.NFT}, {plan.IPTables, iptables.Legacy}}
}

// String returns "nftables", "iptables-nft" or "iptables-legacy".
func (m mode) String() string {
	if m.dialect == plan.NFTables {
		return m.dialect.String()
	}
	return m.dialect.String() + "-" + m.variant.String()
}

// remove removes the mode's rules and says whether there were any.
func (m mode) remove(o KernelOptions) (found bool, err error) {
	if m.dialect == plan.NFTables {
		return nftables.Remove(o.nftables())
	}
	opts := o.iptables()
	opts.Variant = m.variant
	return iptables.Remove(opts, func(f endpoints.IPFamily) ([]string, error) { return nftables.Chains(o.nftables(), f) })
}

// Cleanup removes the rules of every mode, chains with the options' prefix that any program made, and says for each what
// it did. What may be left is an error: for want of a right, of a tool, or because another program makes the rules again.
func Cleanup(o KernelOptions) (done []string, err error) {
	o.TakeOver = true // a clean-up removes chains of any program
	for _, m := range modes() {
		found, removeErr := m.remove(o)
		switch {
		case removeErr != nil:
			err = errors.Join(err, fmt.Errorf("%s: rules may be left: %w", m, removeErr))
		case found:
			done = append(done, fmt.Sprintf("%s: our rules are removed", m))
		default:
			done = append(done, fmt.Sprintf("%s: there were no rules of ours", m))
		}
	}
	return done, errors.Join(err, nobodyRuns(o))
}

// nobodyRuns returns an error if a proxy runs here that will write its rules again.
func nobodyRuns(o KernelOptions) error {
	c := newClaim(o)
	ours, err := c.ours()
	if err == nil && !ours {
		err = errors.New("a lameduck proxy runs here and writes its rules again: end it first")
	}
	return errors.Join(err, c.release())
}

// removeOthers removes what earlier runs of lameduck left in other modes than a Backend's: packets would still meet
// it, and follow what has long changed. What others made is not touched: neither where lameduck's canary is not, nor
// where a kube-proxy has come back beside it.
func removeOthers(b Backend, o KernelOptions) error {
	o.TakeOver = false
	var errs []error
	for _, m := range modes() {
		if m == modeOf(b) {
			continue
		}
		if _, err := m.remove(o); err != nil {
			errs = append(errs, fmt.Errorf("remove what mode %s left: %w", m, err))
		}
	}
	return errors.Join(errs...)
}

func modeOf(b Backend) mode {
	if b, ok := b.(*iptables.Backend); ok {
		return mode{plan.IPTables, b.Variant()}
	}
	return mode{plan.NFTables, iptables.Auto}
}
