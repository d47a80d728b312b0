package agent

import (
	"errors"
	"fmt"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/iptables"
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

// remove removes the mode's rules.
func (m mode) remove(o KernelOptions) error {
	o.Variant = m.variant
	backend, err := OpenBackend(&plan.Node{Dialect: m.dialect, Options: endpoints.CurrentOptions()}, o)
	if err != nil {
		return unavailable{err}
	}
	return errors.Join(backend.Cleanup(), backend.Close())
}

// unavailable says that a mode does not work on this machine.
type unavailable struct{ error }

func (u unavailable) Unwrap() error { return u.error }

// Cleanup removes the rules of every mode, chains with the options' prefix whoever made them, and says for each what
// it did. A mode that this machine cannot do has left nothing on it.
func Cleanup(o KernelOptions) (done []string, err error) {
	o.TakeOver = true // whoever cleans up does not mind whose chains they were last
	for _, m := range modes() {
		removeErr := m.remove(o)
		switch {
		case errors.As(removeErr, &unavailable{}):
			done = append(done, fmt.Sprintf("%s: nothing to remove, it does not work here (%v)", m, removeErr))
		case removeErr != nil:
			err = errors.Join(err, removeErr)
		default:
			done = append(done, fmt.Sprintf("%s: no rules of ours are left", m))
		}
	}
	return done, err
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
		there := true // the table of nftables is by its name
		if m.dialect == plan.IPTables {
			opts := o.iptables()
			opts.Variant = m.variant
			var err error
			if there, err = iptables.Left(opts); err != nil {
				errs = append(errs, err)
			}
		}
		if err := m.removeIf(there, o); err != nil {
			errs = append(errs, fmt.Errorf("remove what mode %s left: %w", m, err))
		}
	}
	return errors.Join(errs...)
}

func (m mode) removeIf(there bool, o KernelOptions) error {
	if !there {
		return nil
	}
	err := m.remove(o)
	if errors.As(err, &unavailable{}) {
		return nil
	}
	return err
}

func modeOf(b Backend) mode {
	if b, ok := b.(*iptables.Backend); ok {
		return mode{plan.IPTables, b.Variant()}
	}
	return mode{plan.NFTables, iptables.Auto}
}
