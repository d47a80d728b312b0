package nftables

import (
	"encoding/binary"
	"net/netip"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// field is one part of a key or a value. An address takes 4 or 16 bytes, anything else 4:
// the kernel pads parts of a concatenation to the size of a register.
type field uint8

const (
	fieldAddr   field = iota
	fieldProto        // IP protocol number
	fieldPort         // big-endian, as in the packet
	fieldIndex        // of an endpoint in its list; native byte order, as numgen draws it
	fieldNumber       // a class, an affinity identity, a slot; native byte order, as meta priority holds it
)

// setKind is what becomes of a set or map besides being looked up.
type setKind uint8

const (
	plainSet    setKind = iota // rows of a fixed size, written by us
	verdictMap                 // number -> chain
	memory                     // written by packets, forgotten by time
	intervalSet                // ranges of addresses
)

// set is a named set or map of the table.
type set struct {
	name  string
	kind  setKind
	key   []field
	value []field // nil for a set
	size  uint32  // 0 grows as needed
}

// setID is a set every table has.
type setID uint8

// The sets, in the order in which they are written.
const (
	clusterIPs setID = iota
	nodeIPs
	hairpin
	endpointMap
	stickyEndpoints
	stickyLocalEndpoints
	stickySlots
	stickyIDs
	firewalled
	nodePorts
	frontends
	sticky
	firewalls
	nodePortClasses
	classes
	numSets
)

// numRowSets are those of fixed-size rows: all before sticky.
const numRowSets = int(sticky)

// stickySize bounds how many clients are remembered; the kernel wants a bound for a map that
// packets write. A client more is served, and not remembered (README.md, hazard 8).
const stickySize = 262144

// setTable describes the sets of setID. Nobody changes it.
var setTable = describeSets()

func describeSets() [numSets]set {
	vip := []field{fieldAddr, fieldProto, fieldPort}
	indexed := []field{fieldAddr, fieldProto, fieldPort, fieldIndex}
	slotted := []field{fieldAddr, fieldProto, fieldPort, fieldNumber}
	target := []field{fieldAddr, fieldPort}
	number := []field{fieldNumber}
	return [numSets]set{
		clusterIPs:           {name: "cluster-ips", key: []field{fieldAddr}},
		nodeIPs:              {name: "node-ips", key: []field{fieldAddr}},
		hairpin:              {name: "hairpin", key: []field{fieldAddr, fieldAddr}},
		endpointMap:          {name: "endpoints", key: indexed, value: target},
		stickyEndpoints:      {name: "sticky-endpoints", key: slotted, value: target},
		stickyLocalEndpoints: {name: "sticky-local-endpoints", key: slotted, value: target},
		stickySlots:          {name: "sticky-slots", key: indexed, value: number},
		stickyIDs:            {name: "sticky-ids", key: vip, value: number},
		firewalled:           {name: "firewalled", key: vip, value: number},
		nodePorts:            {name: "node-ports", key: []field{fieldProto, fieldPort}, value: number},
		frontends:            {name: "frontends", key: vip, value: number},
		sticky: {
			name: "sticky", kind: memory, key: []field{fieldNumber, fieldAddr}, value: number, size: stickySize,
		},
		firewalls:       {name: "firewalls", kind: verdictMap, key: number},
		nodePortClasses: {name: "node-port-classes", kind: verdictMap, key: number},
		classes:         {name: "classes", kind: verdictMap, key: number},
	}
}

// rangeSet is the set of one list of source ranges.
func rangeSet(name string) set {
	return set{name: name, kind: intervalSet, key: []field{fieldAddr}}
}

// addrSize is an address's size in bytes.
func addrSize(f endpoints.IPFamily) int {
	if f == endpoints.IPv6 {
		return 16
	}
	return 4
}

// sizeOf is the size of a key or value in bytes.
func sizeOf(fields []field, f endpoints.IPFamily) int {
	n := 0
	for _, x := range fields {
		if x == fieldAddr {
			n += addrSize(f)
		} else {
			n += 4
		}
	}
	return n
}

// rowWriter appends fields to rows.
type rowWriter struct{ b *[]byte }

func (w rowWriter) addr(a netip.Addr) rowWriter {
	if a.Is4() {
		v4 := a.As4()
		*w.b = append(*w.b, v4[:]...)
		return w
	}
	v6 := a.As16()
	*w.b = append(*w.b, v6[:]...)
	return w
}

func (w rowWriter) proto(p endpoints.Protocol) rowWriter {
	*w.b = append(*w.b, protocolNumber(p), 0, 0, 0)
	return w
}

func (w rowWriter) port(p uint16) rowWriter {
	*w.b = append(*w.b, byte(p>>8), byte(p), 0, 0)
	return w
}

func (w rowWriter) number(n uint32) rowWriter {
	*w.b = binary.NativeEndian.AppendUint32(*w.b, n)
	return w
}

func (w rowWriter) vip(k plan.Key) rowWriter { return w.addr(k.Addr).proto(k.Protocol).port(k.Port) }

func (w rowWriter) target(t netip.AddrPort) { w.addr(t.Addr()).port(t.Port()) }

// IP protocol numbers (IANA).
const (
	protoTCP  = 6
	protoUDP  = 17
	protoSCTP = 132
)

func protocolNumber(p endpoints.Protocol) byte {
	switch p {
	case endpoints.UDP:
		return protoUDP
	case endpoints.SCTP:
		return protoSCTP
	default:
		return protoTCP
	}
}

// rowSizes are the sizes of a set's keys and values in a family.
type rowSizes struct{ key, value int }

// rowLayout returns the sizes of the sets of fixed-size rows.
func rowLayout(f endpoints.IPFamily) [numRowSets]rowSizes {
	var out [numRowSets]rowSizes
	for i, s := range setTable {
		if i < numRowSets {
			out[i] = rowSizes{sizeOf(s.key, f), sizeOf(s.value, f)}
		}
	}
	return out
}

// rows are the elements of a set that a transaction takes away and puts in, each a key and,
// to put in, its value, one after the other without gaps.
type rows struct{ del, add []byte }

// changes are what a transaction does to the sets of fixed-size rows of one table. Taking
// away comes before putting in, so that a key may be in both: its value is replaced.
type changes struct {
	sizes [numRowSets]rowSizes
	sets  [numRowSets]rows
}

func newChanges(f endpoints.IPFamily) *changes { return &changes{sizes: rowLayout(f)} }

// put returns the writer for one more row of a set: its key and its value.
func (c *changes) put(s setID) rowWriter { return rowWriter{&c.sets[s].add} }

// take returns the writer for the key of a row that goes.
func (c *changes) take(s setID) rowWriter { return rowWriter{&c.sets[s].del} }

// empty says whether there is nothing to do.
func (c *changes) empty() bool {
	for i := range c.sets {
		if len(c.sets[i].add)+len(c.sets[i].del) > 0 {
			return false
		}
	}
	return true
}
