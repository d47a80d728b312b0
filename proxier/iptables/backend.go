package iptables

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// Variant says which of the tools called iptables is used. They have tables of their own in
// the kernel: a packet meets those of both.
type Variant uint8

// The variants.
const (
	Auto   Variant = iota // what the machine calls iptables
	NFT                   // iptables-nft
	Legacy                // iptables-legacy
)

// String returns "auto", "nft" or "legacy".
func (v Variant) String() string { return [...]string{"auto", "nft", "legacy"}[v] }

// Options of a Backend. The zero value is what a node uses.
type Options struct {
	Variant Variant
	// ChainPrefix begins the name of every chain, "KUBE" if empty: capital letters and digits,
	// seven at most. With another one than kube-proxy's, rules stand beside kube-proxy's instead
	// of in their place.
	ChainPrefix string
	// Families are those it programs; none are all.
	Families []endpoints.IPFamily
	// MasqueradeMark is the bit of a packet's mark that asks for masquerading on the way
	// through; 0 is 0x4000, kube-proxy's bit 14.
	MasqueradeMark uint32
	// NetNS is the file descriptor of a network namespace to work in; 0 is the caller's.
	NetNS int
	// TakeOver goes on where a kube-proxy seems to be running.
	TakeOver bool
	// Listen is how Watch hears of changes in iptables-nft; nil for not at all.
	Listen Listen
	// EndpointChains gives every endpoint a chain of its own, as kube-proxy does. Without it
	// only those with session affinity have one, and iptables are several times as fast.
	EndpointChains bool
}

const defaultMark = 1 << 14

func (o Options) withDefaults() (Options, error) {
	if o.ChainPrefix == "" {
		o.ChainPrefix = defaultPrefix
	}
	if o.MasqueradeMark == 0 {
		o.MasqueradeMark = defaultMark
	}
	if o.MasqueradeMark&(o.MasqueradeMark-1) != 0 {
		return o, fmt.Errorf("masquerade mark %#x: want a single bit", o.MasqueradeMark)
	}
	if o.Variant > Legacy {
		return o, fmt.Errorf("variant %d: want auto, nft or legacy", o.Variant)
	}
	var families []endpoints.IPFamily
	for _, f := range endpoints.Families() {
		if len(o.Families) == 0 || slices.Contains(o.Families, f) {
			families = append(families, f)
		}
	}
	o.Families = families
	return o, names{o.ChainPrefix}.check()
}

// layout returns the layout of a family.
func (o Options) layout(node *plan.Node, family endpoints.IPFamily, have features) layout {
	have.hairpin = have.hairpin && !o.EndpointChains
	return layout{names: names{o.ChainPrefix}, features: have, family: family, node: node, mark: o.MasqueradeMark}
}

// ErrKubeProxy says that a kube-proxy is running on the machine.
var ErrKubeProxy = errors.New("a kube-proxy in iptables mode is running here")

// Backend keeps the chains of a node as Plans have them. It has one owner.
type Backend struct {
	opts     Options
	node     *plan.Node
	families []*family
	rival    error // once a kube-proxy was noticed

	listening listening
}

// New returns a Backend for a node, after it made sure in a rehearsal that the tools and the
// kernel do what the rules need, and that no kube-proxy came back after an earlier run. What
// the tables hold stays until the first Apply.
func New(node *plan.Node, opts Options) (*Backend, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("iptables: %w", err)
	}
	if err := checkNode(node); err != nil {
		return nil, fmt.Errorf("iptables: %w", err)
	}
	b := &Backend{opts: opts, node: node}
	for _, f := range opts.Families {
		k, have, err := openKernel(opts, f)
		if err != nil {
			return nil, fmt.Errorf("iptables: %s: %w", f, err)
		}
		one := &family{kernel: k, features: have, opts: &b.opts, layout: opts.layout(node, f, have)}
		if have.nft {
			one.limit = MaxChainsNFT
		}
		b.families = append(b.families, one)
	}
	if err := b.lookForRival(); err != nil {
		return nil, fmt.Errorf("iptables: %w", err)
	}
	return b, nil
}

// maxInterface is the longest name of an interface (if.h, IFNAMSIZ without the zero byte).
const maxInterface = 15

// checkNode refuses what no rule could express.
func checkNode(node *plan.Node) error {
	d := node.Detector
	switch {
	case node.Dialect != plan.IPTables:
		return fmt.Errorf("a node of dialect %s: want %s", node.Dialect, plan.IPTables)
	case d.Mode != plan.DetectBridgeInterface && d.Mode != plan.DetectInterfaceNamePrefix:
		return nil
	case d.Interface == "" || len(d.Interface) > maxInterface:
		return fmt.Errorf("%s %q: want 1 to %d characters", d.Mode, d.Interface, maxInterface)
	case strings.ContainsAny(d.Interface, " \t\r\n\v\"'!+/\\") || d.Interface[0] == '-':
		return fmt.Errorf("%s %q: want the name of an interface, without spaces, quotes, !, + and /", d.Mode, d.Interface)
	default:
		return nil
	}
}

// lookForRival looks for a kube-proxy that came back, in the table that is quick to read.
func (b *Backend) lookForRival() error {
	for _, f := range b.families {
		text, err := f.kernel.save(mangle)
		if err != nil {
			return fmt.Errorf("%s: %w", f.layout.family, err)
		}
		if err := f.rival(parseSaved(text)); err != nil {
			return err
		}
	}
	return nil
}

// Apply puts a Plan in force, each family by itself: if one fails, the other goes on, and the
// error says which. The delta is what differs from the Plan of the last Apply; it is not looked
// at the first time and after a failure: then all chains are written again. Without a
// difference it is a Check. Established flows go on in any case.
func (b *Backend) Apply(p *plan.Plan, d plan.Delta) error {
	defer b.listening.call()()
	if err := b.prepare(p.Node()); err != nil {
		return fmt.Errorf("iptables: %w", err)
	}
	if d.Empty() {
		return b.each(func(f *family) error { return f.check(p) })
	}
	some := affected(&d)
	return b.each(func(f *family) error { return f.apply(p, some) })
}

// Check looks whether the chains are still what the Backend made of them, and writes them again
// if not. It reads all of them: a second and a half with 10,000 Services on iptables-nft.
func (b *Backend) Check(p *plan.Plan) error { return b.Apply(p, plan.Delta{}) }

// Resync writes all chains again, whatever they hold.
func (b *Backend) Resync(p *plan.Plan) error {
	defer b.listening.call()()
	if err := b.prepare(p.Node()); err != nil {
		return fmt.Errorf("iptables: %w", err)
	}
	return b.each(func(f *family) error { return f.replace(p) })
}

// prepare takes over what is particular to a node, where it is another one.
func (b *Backend) prepare(node *plan.Node) error {
	if b.rival != nil {
		return b.rival
	}
	if node == b.node {
		return nil
	}
	if err := checkNode(node); err != nil {
		return err
	}
	b.node = node
	for _, f := range b.families {
		f.layout, f.state, f.without = b.opts.layout(node, f.layout.family, f.features), nil, nil
	}
	return nil
}

// each does something for every family, whatever becomes of the others.
func (b *Backend) each(do func(*family) error) error {
	var errs []error
	for _, f := range b.families {
		f.written = nil
		if err := do(f); err != nil {
			f.state = nil
			errs = append(errs, &familyError{f.layout.family, err})
			if errors.Is(err, ErrKubeProxy) {
				b.rival = err
			}
		}
	}
	return errors.Join(errs...)
}

// Repairs counts how often the chains of a family were written again since another program had changed them.
func (b *Backend) Repairs() int {
	n := 0
	for _, f := range b.families {
		n += f.repairs
	}
	return n
}

// Without returns what the rules in force do without though the node has it, and which setting says so; nil for nothing.
func (b *Backend) Without() error {
	var errs []error
	for _, f := range b.families {
		errs = append(errs, f.without)
	}
	return errors.Join(errs...)
}

// Variant returns which iptables it uses: NFT or Legacy.
func (b *Backend) Variant() Variant {
	for _, f := range b.families {
		if f.features.nft {
			return NFT
		}
	}
	return Legacy
}

// Close lets go of the kernel and leaves the rules in force.
func (b *Backend) Close() error { return nil }

// Cleanup removes the chains with the Backend's prefix that any program made, and the rules that
// lead to them; and nothing else. The chain that closes 127.0.0.0/8 stays where a kubelet has
// it, too.
func (b *Backend) Cleanup() error {
	defer b.listening.call()()
	return b.each(func(f *family) error { return f.cleanup() })
}
