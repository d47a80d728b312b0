package nftables

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// Options of a Backend. The zero value is what a node uses.
type Options struct {
	// Table names the tables, "lameduck" if empty.
	Table string
	// Families are those it programs; none are all.
	Families []endpoints.IPFamily
	// MasqueradeMark is the bit of a packet's mark that asks for masquerading on the way
	// through; 0 is 0x4000, kube-proxy's bit 14.
	MasqueradeMark uint32
	// NetNS is the file descriptor of a network namespace to work in; 0 is the caller's.
	NetNS int
}

// Defaults of Options.
const (
	defaultTable = "lameduck"
	defaultMark  = 1 << 14
)

func (o Options) withDefaults() (Options, error) {
	if o.Table == "" {
		o.Table = defaultTable
	}
	if o.MasqueradeMark == 0 {
		o.MasqueradeMark = defaultMark
	}
	if o.MasqueradeMark&(o.MasqueradeMark-1) != 0 {
		return o, fmt.Errorf("masquerade mark %#x: want a single bit", o.MasqueradeMark)
	}
	o.Families = sortedFamilies(o.Families)
	return o, nil
}

// Backend keeps the tables of a node as Plans have them. It has one owner.
type Backend struct {
	opts   Options
	node   *plan.Node
	kernel kernel
	states []*state // by family of opts; nil before the first Apply and after a failed one
	// at is the generation the ruleset had when this Backend last looked, and looks what its
	// tables were like then.
	at    uint32
	looks []structure
	// foreign is what Watch has found out since the last Apply.
	foreign atomic.Bool
	// replaced counts how often the tables were written as a whole, repairs how often since another program had changed them.
	replaced, repairs int
	// removed are tables of others that were in the place of ours, since they were last asked for.
	removed []string
}

// New returns a Backend for a node, after it made sure in a rehearsal that the kernel can do
// what the rules need. What the tables hold stays until the first Apply.
func New(node *plan.Node, opts Options) (*Backend, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("nftables: %w", err)
	}
	if err := checkNode(node); err != nil {
		return nil, fmt.Errorf("nftables: %w", err)
	}
	k, err := openKernel(opts)
	if err != nil {
		return nil, fmt.Errorf("nftables: %w", err)
	}
	b := &Backend{opts: opts, node: node, kernel: k}
	if err := b.probe(); err != nil {
		return nil, fmt.Errorf("nftables: %w", errors.Join(err, k.close()))
	}
	return b, nil
}

// maxInterface is the longest name of an interface (if.h, IFNAMSIZ without the zero byte).
const maxInterface = 15

// checkNode refuses what no rule could express.
func checkNode(node *plan.Node) error {
	d := node.Detector
	switch {
	case node.Dialect != plan.NFTables:
		return fmt.Errorf("a node of dialect %s: want %s", node.Dialect, plan.NFTables)
	case d.Mode != plan.DetectBridgeInterface && d.Mode != plan.DetectInterfaceNamePrefix:
		return nil
	case d.Interface == "" || len(d.Interface) > maxInterface:
		return fmt.Errorf("%s %q: want 1 to %d characters", d.Mode, d.Interface, maxInterface)
	default:
		return nil
	}
}

// Apply puts a Plan in force, in one transaction: packets meet the old rules or the new ones.
// The delta is what differs from the Plan of the last Apply; it is not looked at the first
// time, after a failure, and when another program has changed the tables (see Watch): then they are
// replaced as a whole. Established flows go on in any case. After an error the rules are those of
// before.
func (b *Backend) Apply(p *plan.Plan, d plan.Delta) error {
	if err := b.apply(p, &d); err != nil {
		b.states = nil
		return fmt.Errorf("nftables: %w", err)
	}
	return nil
}

func (b *Backend) apply(p *plan.Plan, d *plan.Delta) error {
	foreign := b.foreign.Swap(false)
	switch {
	case b.states == nil || p.Node() != b.node:
		return b.replace(p)
	case foreign:
		return b.repair(p)
	}
	var changes []*tableChange
	structural := false
	for _, s := range b.states {
		if c := s.apply(d); !c.empty() {
			changes = append(changes, c)
			structural = structural || c.structural()
		}
	}
	if len(changes) == 0 {
		return b.check(p)
	}
	err := b.commit(changes)
	if err != nil {
		// Another program changed our tables, or what we believe of them is wrong. If it was neither,
		// the kernel will say so again.
		return b.repair(p)
	}
	if structural {
		return b.look()
	}
	return nil
}

// check looks whether the tables are still what this Backend made of them, and replaces them if
// not: an Apply without a difference. It notices chains, sets and rules that came or went. An
// element that another program took out shows when it is next to be changed, or to Watch.
func (b *Backend) check(p *plan.Plan) error {
	g, err := b.kernel.generation()
	if err != nil {
		return err
	}
	if g == b.at {
		return nil
	}
	if ok, err := b.intact(); err != nil || ok {
		return err
	}
	return b.repair(p)
}

// repair writes the tables as a whole since another program has changed them.
func (b *Backend) repair(p *plan.Plan) error {
	err := b.replace(p)
	if err == nil {
		b.repairs++
	}
	return err
}

// Repairs counts how often the tables were written again since another program had changed them.
func (b *Backend) Repairs() int { return b.repairs }

// Removed names the tables of another program that stood in the place of the Backend's and were removed, since it was last asked.
func (b *Backend) Removed() []string {
	defer func() { b.removed = nil }()
	return b.removed
}

// Resync replaces the tables as a whole, in one transaction, whatever they hold.
func (b *Backend) Resync(p *plan.Plan) error {
	b.states = nil
	return b.Apply(p, plan.Delta{})
}

// Close lets go of the kernel and leaves the rules in force.
func (b *Backend) Close() error { return b.kernel.close() }

// Cleanup removes the Backend's tables and nothing else.
func (b *Backend) Cleanup() error {
	b.states = nil
	if err := b.kernel.remove(b.opts.Table, b.opts.Families); err != nil {
		return fmt.Errorf("nftables: clean up: %w", err)
	}
	return nil
}

// attemptsAtCommit bounds how often a transaction is tried again because another program's came
// in between.
const attemptsAtCommit = 8

// commit makes changes to tables that are what we believe them to be.
func (b *Backend) commit(changes []*tableChange) error {
	for range attemptsAtCommit {
		err := b.kernel.commit(b.opts.Table, changes, b.at, true)
		if err == nil {
			b.at = nextGeneration(b.at)
			return nil
		}
		if !errors.Is(err, errGeneration) {
			return err
		}
		ok, err := b.intact()
		if err != nil {
			return err
		}
		if !ok {
			return errGeneration
		}
	}
	return errGeneration
}

// intact says whether the tables look as they were left, and remembers the generation of
// which that is true.
func (b *Backend) intact() (bool, error) {
	g, looks, err := b.observe()
	if err != nil {
		return false, err
	}
	for i := range looks {
		if i >= len(b.looks) || looks[i] != b.looks[i] {
			return false, nil
		}
	}
	b.at = g
	return true, nil
}

// look remembers what the tables look like after we made or removed chains.
func (b *Backend) look() error {
	g, looks, err := b.observe()
	if err != nil {
		return err
	}
	b.looks = looks
	if g != b.at {
		// Another program's transaction came between ours and the look: they may be what it made.
		b.looks = nil
	}
	return nil
}

// observe returns what the tables look like, and the generation they do it in.
func (b *Backend) observe() (uint32, []structure, error) {
	for range attemptsAtCommit {
		before, err := b.kernel.generation()
		if err != nil {
			return 0, nil, err
		}
		var looks []structure
		for _, f := range b.opts.Families {
			s, _, err := b.kernel.inspect(b.opts.Table, f)
			if err != nil {
				return 0, nil, err
			}
			looks = append(looks, s)
		}
		after, err := b.kernel.generation()
		if err != nil {
			return 0, nil, err
		}
		if before == after {
			return before, looks, nil
		}
	}
	return 0, nil, errGeneration
}

// replace writes the tables as a whole.
func (b *Backend) replace(p *plan.Plan) error {
	if err := checkNode(p.Node()); err != nil {
		return err
	}
	b.node = p.Node()
	states := make([]*state, 0, len(b.opts.Families))
	for _, f := range b.opts.Families {
		states = append(states, newState(b.node, f))
	}
	if err := b.overwrite(createAll(states, p)); err != nil {
		return err
	}
	b.states = states
	b.replaced++
	return b.look()
}

// overwrite commits changes that need nothing of what is there. The generation is checked all
// the same: what is there is filled again where it can be, and it is known afterwards. The last
// attempt does without.
func (b *Backend) overwrite(changes []*tableChange) error {
	for range attemptsAtCommit {
		g, err := b.kernel.generation()
		if err != nil {
			return err
		}
		refill, strange, err := b.takeStock(changes)
		if err != nil {
			return err
		}
		err = b.kernel.commit(b.opts.Table, changes, g, true)
		if refill && err != nil && !errors.Is(err, errGeneration) {
			// Another program made something else of it, which cannot be filled with what is ours.
			err = b.kernel.commit(b.opts.Table, fromNothing(changes), g, true)
		}
		if err == nil {
			b.at = nextGeneration(g)
			b.removed = append(b.removed, strange...)
			return nil
		}
		if !errors.Is(err, errGeneration) {
			return err
		}
	}
	changes = fromNothing(changes)
	if err := b.kernel.commit(b.opts.Table, changes, 0, false); err != nil {
		return err
	}
	g, err := b.kernel.generation()
	b.at = g
	return err
}

// takeStock looks what there is to fill again, and says whether there is anything, and which tables nobody like us made.
func (b *Backend) takeStock(changes []*tableChange) (refill bool, strange []string, err error) {
	for _, c := range changes {
		had, ok, err := b.kernel.stock(b.opts.Table, c.family)
		if err != nil {
			return false, nil, err
		}
		c.had = had
		refill = refill || had != nil
		if ours := had != nil && (had.empty() || slices.Contains(had.sets, frontendSet)); ok && !ours {
			strange = append(strange, fmt.Sprintf("table %s %s", tableFamily(c.family), b.opts.Table))
		}
	}
	return refill, strange, nil
}

// frontendSet is a map that every table of ours has.
const frontendSet = "frontends"

// tableFamily is what nft calls the tables of a family.
func tableFamily(f endpoints.IPFamily) string {
	if f == endpoints.IPv6 {
		return "ip6"
	}
	return "ip"
}

// fromNothing has changes remove what is there.
func fromNothing(changes []*tableChange) []*tableChange {
	for _, c := range changes {
		c.had = nil
	}
	return changes
}
