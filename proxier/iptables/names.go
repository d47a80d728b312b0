package iptables

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"net/netip"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// defaultPrefix is kube-proxy's.
const defaultPrefix = "KUBE"

// maxPrefix is the longest prefix of chain names: iptables takes names of 28 characters at most
// (XT_EXTENSION_MAXNAMELEN less one), and -SVC- with a hash are 21 of them.
const maxPrefix = 28 - len("-SVC-") - hashLength

// hashLength is how much of a hash is in a chain's name: 80 bits.
const hashLength = 16

// names are the names of chains, under one prefix.
type names struct{ prefix string }

func (n names) check() error {
	if n.prefix == "" || len(n.prefix) > maxPrefix {
		return fmt.Errorf("chain prefix %q: want 1 to %d characters, since chain names end at 28", n.prefix, maxPrefix)
	}
	for _, c := range n.prefix {
		if (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return fmt.Errorf("chain prefix %q: want capital letters and digits, not %q", n.prefix, c)
		}
	}
	return nil
}

// chain is one of the chains there is one of.
func (n names) chain(what string) string { return n.prefix + "-" + what }

// The chains there is one of, as kube-proxy calls them. Each is in one table or two.
const (
	services         = "SERVICES"          // nat and filter
	nodePorts        = "NODEPORTS"         // nat and filter
	externalServices = "EXTERNAL-SERVICES" // filter
	proxyFirewall    = "PROXY-FIREWALL"    // filter
	forward          = "FORWARD"           // filter
	localnet         = "FIREWALL"          // filter; kubelet makes it, too
	postrouting      = "POSTROUTING"       // nat
	markMasq         = "MARK-MASQ"         // nat
	ownCanary        = "LAMEDUCK-CANARY"   // all three: with it a flush is noticed
	openedLoopback   = "LAMEDUCK-LOCALNET" // mangle, empty: route_localnet was off before we turned it on
	proxyCanary      = "PROXY-CANARY"      // all three: kube-proxy's
	kubeletCanary    = "KUBELET-CANARY"    // mangle and others: kubelet's
)

// The chains of a service port.
const (
	clusterChain  = "SVC"
	localChain    = "SVL"
	externalChain = "EXT"
	firewallChain = "FW"
	endpointChain = "SEP"
)

// servicePort is the chain of a service port. Its name is the same on every node and after
// every restart.
func (n names) servicePort(what string, name endpoints.ServicePortName) string {
	return n.hashed(what, name, "")
}

// endpoint is the chain of an endpoint of a service port.
func (n names) endpoint(name endpoints.ServicePortName, at netip.AddrPort) string {
	return n.hashed(endpointChain, name, at.String())
}

func (n names) hashed(what string, name endpoints.ServicePortName, rest string) string {
	sum := sha256.Sum256([]byte(name.String() + strings.ToLower(name.Protocol.String()) + rest))
	return n.chain(what) + "-" + base32.StdEncoding.EncodeToString(sum[:])[:hashLength]
}

// isServicePorts says whether a chain is called like one of a service port.
func (n names) isServicePorts(chain string) bool {
	rest, ok := strings.CutPrefix(chain, n.prefix+"-")
	if !ok {
		return false
	}
	what, _, _ := strings.Cut(rest, "-")
	switch what {
	case clusterChain, localChain, externalChain, firewallChain, endpointChain:
		return len(rest) > len(what)+1
	default:
		return false
	}
}

// table is one of the tables that the rules are in.
type table uint8

const (
	mangle table = iota
	nat
	filter
	numTables
)

// String returns the table's name as iptables has it.
func (t table) String() string { return [...]string{"mangle", "nat", "filter"}[t] }

// tables lists them in an order.
func tables() []table { return []table{mangle, nat, filter} }

// restoreTool is the tool that takes a family's rules.
func restoreTool(f endpoints.IPFamily) string {
	if f == endpoints.IPv6 {
		return "ip6tables-restore"
	}
	return "iptables-restore"
}
