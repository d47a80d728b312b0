package agent

import (
	"io"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier"
	"github.com/lameduck-proxy/lameduck/proxier/iptables"
	"github.com/lameduck-proxy/lameduck/proxier/metrics"
	"github.com/lameduck-proxy/lameduck/proxier/nftables"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// KernelOptions say how rules are written, whichever the mode.
type KernelOptions struct {
	// MasqueradeMark is the bit of a packet's mark that asks for masquerading; 0 is 0x4000.
	MasqueradeMark uint32
	// ChainPrefix begins the names of iptables chains; "" is kube-proxy's, whose place they take.
	ChainPrefix string
	// Variant is which iptables to use.
	Variant iptables.Variant
	// TakeOver goes on where a kube-proxy in iptables mode seems to be running.
	TakeOver bool
}

// Backend is a mode's dataplane.
type Backend interface {
	proxier.Backend
	// Cleanup removes all that is the Backend's and nothing else.
	Cleanup() error
}

// OpenBackend returns the Backend of the node's dialect.
func OpenBackend(node *plan.Node, o KernelOptions) (Backend, error) {
	if node.Dialect == plan.IPTables {
		return iptables.New(node, o.iptables())
	}
	return nftables.New(node, o.nftables())
}

// Dump writes the rules of a Plan as its mode's tool takes them.
func Dump(w io.Writer, p *plan.Plan, o KernelOptions) error {
	if p.Node().Dialect == plan.IPTables {
		return iptables.Dump(w, p, o.iptables())
	}
	return nftables.Dump(w, p, o.nftables())
}

func (o KernelOptions) nftables() nftables.Options {
	return nftables.Options{MasqueradeMark: o.MasqueradeMark}
}

func (o KernelOptions) iptables() iptables.Options {
	return iptables.Options{MasqueradeMark: o.MasqueradeMark, ChainPrefix: o.ChainPrefix, Variant: o.Variant, TakeOver: o.TakeOver, Listen: o.listen}
}

// listen hears of changes of iptables-nft where they are made: in the kernel's nftables.
func (o KernelOptions) listen(concerns func(f endpoints.IPFamily, table, chain string, gone bool) bool) (iptables.Listener, error) {
	return nftables.Listen(o.nftables(), func(c nftables.Change) bool { return concerns(c.Family, c.Table, c.Chain, c.Gone) })
}

// The iptables backend counts its rules.
var _ metrics.RuleCounter = (*iptables.Backend)(nil)

// The backends notice at once when another program has changed their tables, but for iptables-legacy.
var (
	_ proxier.Watcher = (*nftables.Backend)(nil)
	_ proxier.Watcher = (*iptables.Backend)(nil)
)
