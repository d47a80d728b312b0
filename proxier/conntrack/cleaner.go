package conntrack

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// Options of a Cleaner. The zero value is what a node uses.
type Options struct {
	// Families are those whose flows it looks through; none are all.
	Families []endpoints.IPFamily
	// NetNS is the file descriptor of a network namespace to work in; 0 is the caller's.
	NetNS int
}

// table is the kernel's table of connections.
type table interface {
	// forget deletes the UDP flows of a family that are stale, and returns how many. What could not
	// be deleted does not keep it from the others.
	forget(family endpoints.IPFamily, stale func(Flow) bool) (int, error)
	// addresses returns the addresses of a family that are the machine's own.
	addresses(family endpoints.IPFamily) ([]netip.Addr, error)
	close() error
}

// Cleaner deletes stale flows. It has one owner.
type Cleaner struct {
	families []endpoints.IPFamily
	table    table
	last     *plan.Plan   // in force
	before   []*plan.Plan // in force since all stale flows were last deleted, last apart
	due      bool
}

// New returns a Cleaner of a network namespace.
func New(o Options) (*Cleaner, error) {
	t, err := openTable(o.NetNS)
	if err != nil {
		return nil, fmt.Errorf("conntrack: %w", err)
	}
	return newCleaner(o, t), nil
}

func newCleaner(o Options, t table) *Cleaner {
	c := &Cleaner{families: o.Families, table: t}
	if len(c.families) == 0 {
		all := endpoints.Families()
		c.families = all[:]
	}
	return c
}

// Close lets go of the kernel.
func (c *Cleaner) Close() error { return c.table.close() }

// maxBefore bounds how many Plans are remembered while the kernel refuses to be cleaned up. The
// oldest is forgotten first: flows to a Service gone that long ago stay until they time out.
const maxBefore = 32

// Follow takes note of the Plan in force and of the Services that differ from the one before. It
// says whether that may have left stale flows, or earlier ones are still there.
func (c *Cleaner) Follow(p *plan.Plan, changed []endpoints.ServiceName) bool {
	old := c.last
	c.last = p
	if old == nil {
		c.due = hasUDP(p)
		return c.due
	}
	for _, name := range changed {
		if c.due {
			break
		}
		c.due = mayLeaveStale(old.Service(name), p.Service(name))
	}
	if c.due && len(changed) > 0 {
		if len(c.before) == maxBefore {
			c.before = c.before[1:]
		}
		c.before = append(c.before, old)
	}
	return c.due
}

// hasUDP says whether there is a UDP port at all.
func hasUDP(p *plan.Plan) bool {
	for s := range p.Services() {
		if len(udpPorts(s)) > 0 {
			return true
		}
	}
	return false
}

// Clean deletes the stale flows and returns how many, by family. After an error it is due again.
func (c *Cleaner) Clean() (forgotten [2]int, err error) {
	var errs []error
	for _, f := range c.families {
		n, err := c.cleanFamily(f)
		forgotten[f] = n
		if err != nil {
			errs = append(errs, fmt.Errorf("conntrack: clean up %s: %w", f, err))
		}
	}
	if len(errs) == 0 {
		c.due, c.before = false, nil
	}
	return forgotten, errors.Join(errs...)
}

func (c *Cleaner) cleanFamily(f endpoints.IPFamily) (int, error) {
	local, err := c.table.addresses(f)
	if err != nil {
		return 0, err
	}
	j := newJudge(c.last, c.before, local)
	return c.table.forget(f, j.stale)
}
