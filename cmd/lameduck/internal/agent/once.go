package agent

import (
	"errors"

	"github.com/lameduck-proxy/lameduck/proxier/conntrack"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// Program puts a Plan in force, whatever the rules were, those of other modes included, and has UDP flows follow it.
func Program(p *plan.Plan, o KernelOptions) (err error) {
	backend, err := OpenBackend(p.Node(), o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, backend.Close()) }()
	if err := backend.Resync(p); err != nil {
		return err
	}
	if err := removeOthers(backend, o); err != nil {
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
