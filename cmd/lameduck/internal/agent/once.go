package agent

import (
	"errors"
	"fmt"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/conntrack"
	"github.com/lameduck-proxy/lameduck/proxier/iptables"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// Program puts a Plan in force, whatever the rules were, and has UDP flows follow it.
func Program(p *plan.Plan, o KernelOptions) (err error) {
	backend, err := OpenBackend(p.Node(), o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, backend.Close()) }()
	if err := backend.Resync(p); err != nil {
		return err
	}
	flows, err := conntrack.New(conntrack.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, flows.Close()) }()
	if !flows.Follow(p, nil) {
		return nil
	}
	_, err = flows.Clean()
	return err
}

// Cleanup removes the rules of every mode, those of the options' chain prefix included, and says for each what it did.
// A mode that this machine cannot do has left nothing on it.
func Cleanup(o KernelOptions) (done []string, err error) {
	o.TakeOver = true // whoever cleans up does not mind whose chains they were last
	modes := []struct {
		dialect plan.Dialect
		variant iptables.Variant
		name    string
	}{
		{plan.NFTables, iptables.Auto, "nftables"},
		{plan.IPTables, iptables.NFT, "iptables-nft"},
		{plan.IPTables, iptables.Legacy, "iptables-legacy"},
	}
	for _, m := range modes {
		o.Variant = m.variant
		backend, openErr := OpenBackend(&plan.Node{Dialect: m.dialect, Options: endpoints.CurrentOptions()}, o)
		if openErr != nil {
			done = append(done, fmt.Sprintf("%s: nothing to remove, it does not work here (%v)", m.name, openErr))
			continue
		}
		cleanErr := errors.Join(backend.Cleanup(), backend.Close())
		if cleanErr == nil {
			done = append(done, m.name+": no rules of ours are left")
		}
		err = errors.Join(err, cleanErr)
	}
	return done, err
}
