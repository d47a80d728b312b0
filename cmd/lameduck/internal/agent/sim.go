package agent

import (
	"sync/atomic"

	"github.com/lameduck-proxy/lameduck/proxier"
	"github.com/lameduck-proxy/lameduck/proxier/observe"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// SimOptions are those of a proxy that decides and programs nothing, beside a kube-proxy that does.
type SimOptions struct {
	// Address is where it is asked about its decisions.
	Address string
}

// nowhere is a Backend without a dataplane: what is decided comes in force at once, for nobody.
type nowhere struct{}

// Apply does nothing.
func (nowhere) Apply(*plan.Plan, plan.Delta) error { return nil }

// Resync does nothing.
func (nowhere) Resync(*plan.Plan) error { return nil }

// Close does nothing.
func (nowhere) Close() error { return nil }

// simulated remembers what was decided last and logs what is decided differently.
type simulated struct {
	log  observe.Log
	plan atomic.Pointer[plan.Plan] // nil before the first sync
}

// observe takes a sync that is over.
func (d *simulated) observe(s proxier.Sync) {
	if s.Err != nil || s.Check() {
		return
	}
	before := d.plan.Swap(s.Plan)
	names := s.Services
	if s.Full || before == nil {
		names = observe.Names(before, s.Plan)
	}
	d.log.Tell(before, s.Plan, names)
}
