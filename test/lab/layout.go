package lab

import (
	"net/netip"
	"time"
)

// NodeName is the name of the site in the middle, whose kernel is under test.
const NodeName = "node"

// Site is one namespace around the node.
type Site struct {
	Name string
	// Addrs are its addresses, of both families.
	Addrs []netip.Addr
	// Interface is the node's interface behind which it is.
	Interface string
}

// Layout says what a lab consists of.
type Layout struct {
	// Interfaces are the node's, all of them bridges with sites as their ports. The first one
	// carries the node's addresses.
	Interfaces []string
	Sites      []Site
	// Elsewhere names the site to which the node routes what it knows no other way for.
	Elsewhere string
	// Beacons holds an address of Elsewhere for each family, which no packet under test has.
	Beacons []netip.Addr
	// Patience is for beacons only: how long an echo reply may take before the lab is broken, not
	// the packet lost. 0 is a minute: threads of a machine under heavy load wait for some hundred
	// milliseconds, but what the kernel sets up by the side (IPv6 addresses, links) waits for all
	// namespaces that come and go meanwhile, and has taken 20 s.
	Patience time.Duration
}

// Protocol is what a flow consists of, by its IP protocol number.
type Protocol uint8

// The protocols. An Echo is an ICMP echo request, of ICMPv6 where the addresses are IPv6.
const (
	Echo Protocol = 1
	TCP  Protocol = 6
	UDP  Protocol = 17
	SCTP Protocol = 132
)

// String returns "tcp", "udp", "sctp" or "icmp".
func (p Protocol) String() string {
	switch p {
	case TCP:
		return "tcp"
	case UDP:
		return "udp"
	case SCTP:
		return "sctp"
	default:
		return "icmp"
	}
}
