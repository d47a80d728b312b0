package nftables

import (
	"encoding/binary"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// encoder writes netlink messages one after the other into one buffer: what a batch is. The
// messages of google/nftables are not used here: its batches carry no generation to check, ask
// for an echo of every rule, and take two to three times as long (README.md).
type encoder struct {
	b      []byte
	table  string
	mark   uint32
	labels []label // by sequence number
	start  int     // of the message being written
}

// label says what a message is about, if the kernel refuses it.
type label struct {
	what   string
	rule   *rule
	family endpoints.IPFamily // of the rule
}

const (
	headerSize = 16 // struct nlmsghdr
	attrSize   = 4  // struct nlattr
	// maxElements is how many bytes of elements go into one message: an attribute's length has
	// 16 bits.
	maxElements = 60000
)

// nftMessage is the type of a message of the nftables subsystem.
func nftMessage(kind int) uint16 {
	return uint16(unix.NFNL_SUBSYS_NFTABLES<<8 | kind) // a constant of the interface
}

// begin starts a message.
func (e *encoder) begin(kind, flags uint16, family byte, resource uint16, l label) {
	e.start = len(e.b)
	seq := uint32(len(e.labels)) // messages of a batch
	e.labels = append(e.labels, l)
	e.b = binary.NativeEndian.AppendUint32(e.b, 0) // the length, once it is known
	e.b = binary.NativeEndian.AppendUint16(e.b, kind)
	e.b = binary.NativeEndian.AppendUint16(e.b, flags|unix.NLM_F_REQUEST)
	e.b = binary.NativeEndian.AppendUint32(e.b, seq)
	e.b = binary.NativeEndian.AppendUint32(e.b, 0)     // port: the kernel knows it
	e.b = append(e.b, family, unix.NFNETLINK_V0)       // struct nfgenmsg
	e.b = binary.BigEndian.AppendUint16(e.b, resource) // network byte order, unlike the header
}

// end completes a message.
func (e *encoder) end() {
	binary.NativeEndian.PutUint32(e.b[e.start:], uint32(len(e.b)-e.start)) // bounded by maxElements
}

// bytes writes an attribute.
func (e *encoder) bytes(kind uint16, v []byte) {
	e.b = binary.NativeEndian.AppendUint16(e.b, uint16(attrSize+len(v))) // keys, values, expressions
	e.b = binary.NativeEndian.AppendUint16(e.b, kind)
	e.b = append(e.b, v...)
	for len(e.b)%attrSize != 0 {
		e.b = append(e.b, 0)
	}
}

// text writes a string with the zero byte the kernel wants.
func (e *encoder) text(kind uint16, s string) { e.bytes(kind, append([]byte(s), 0)) }

// number writes a number in network byte order.
func (e *encoder) number(kind uint16, n uint32) {
	e.bytes(kind, binary.BigEndian.AppendUint32(nil, n))
}

// nest starts an attribute that holds others; close it with the result.
func (e *encoder) nest(kind uint16) int {
	at := len(e.b)
	e.b = binary.NativeEndian.AppendUint16(e.b, 0)
	e.b = binary.NativeEndian.AppendUint16(e.b, kind|unix.NLA_F_NESTED)
	return at
}

func (e *encoder) close(at int) {
	binary.NativeEndian.PutUint16(e.b[at:], uint16(len(e.b)-at)) // bounded by maxElements
}

// nfFamily is a family as netfilter numbers it.
func nfFamily(f endpoints.IPFamily) byte {
	if f == endpoints.IPv6 {
		return unix.NFPROTO_IPV6
	}
	return unix.NFPROTO_IPV4
}

// batchGeneration is NFNL_BATCH_GENID of nfnetlink.h.
const batchGeneration = 1

// batchBegin opens a transaction. With check, the kernel refuses it if the ruleset is of
// another generation.
func (e *encoder) batchBegin(generation uint32, check bool) {
	e.begin(unix.NFNL_MSG_BATCH_BEGIN, 0, 0, unix.NFNL_SUBSYS_NFTABLES, label{what: "generation"})
	if check {
		e.number(batchGeneration, generation)
	}
	e.end()
}

func (e *encoder) batchEnd() {
	// The kernel acknowledges a batch by its messages; one answer, to the last, is enough.
	flags := binary.NativeEndian.Uint16(e.b[e.start+6:])
	binary.NativeEndian.PutUint16(e.b[e.start+6:], flags|unix.NLM_F_ACK)
	e.begin(unix.NFNL_MSG_BATCH_END, 0, 0, unix.NFNL_SUBSYS_NFTABLES, label{what: "commit"})
	e.end()
}

// batch writes one transaction.
func (e *encoder) batch(changes []*tableChange, generation uint32, check bool) error {
	e.batchBegin(generation, check)
	for _, c := range changes {
		if err := e.tableChange(c); err != nil {
			return err
		}
	}
	e.batchEnd()
	return nil
}

// tableChange writes all messages of a table's change.
func (e *encoder) tableChange(c *tableChange) error {
	family := nfFamily(c.family)
	v := tableEncoder{encoder: e, family: c.family, nf: family}
	if c.replace {
		v.clear(c)
	}
	for i := range c.sets {
		v.newSet(&c.sets[i])
	}
	for i := range c.chains {
		v.newChain(&c.chains[i])
	}
	for i := range c.chains {
		if err := v.rules(&c.chains[i]); err != nil {
			return err
		}
	}
	for i := range c.ranges {
		v.rangeElements(&c.ranges[i])
	}
	v.verdicts(unix.NFT_MSG_NEWSETELEM, c.addVerdicts)
	v.allRows(c.rows)
	v.verdicts(unix.NFT_MSG_DELSETELEM, c.delVerdicts)
	for _, name := range c.dropChains {
		v.flushChain(name)
		v.deleteChain(name)
	}
	for _, name := range c.dropSets {
		v.deleteSet(name)
	}
	if c.remove {
		v.deleteTable()
	}
	return nil
}

// clear leaves of a table what the change will fill.
func (v *tableEncoder) clear(c *tableChange) {
	v.newTable()
	if c.had == nil {
		v.deleteTable()
		v.newTable()
		return
	}
	v.flushChain("")
	for _, name := range c.had.sets {
		if slices.ContainsFunc(c.sets, func(s set) bool { return s.name == name }) {
			v.flushSet(name)
		} else {
			v.deleteSet(name)
		}
	}
	for _, name := range c.had.chains {
		if !slices.ContainsFunc(c.chains, func(x chain) bool { return x.name == name }) {
			v.deleteChain(name)
		}
	}
}

// tableEncoder writes messages about one table.
type tableEncoder struct {
	*encoder
	family endpoints.IPFamily
	nf     byte
}

func (v *tableEncoder) message(kind int, flags uint16, l label) {
	v.begin(nftMessage(kind), flags, v.nf, 0, l)
}

func (v *tableEncoder) newTable() {
	v.message(unix.NFT_MSG_NEWTABLE, unix.NLM_F_CREATE, label{what: "the table"})
	v.text(unix.NFTA_TABLE_NAME, v.table)
	v.number(unix.NFTA_TABLE_FLAGS, 0) // not dormant, if there is one already
	v.end()
}

func (v *tableEncoder) deleteTable() {
	v.message(unix.NFT_MSG_DELTABLE, 0, label{what: "removing the table"})
	v.text(unix.NFTA_TABLE_NAME, v.table)
	v.end()
}

// nft's numbers of data types (nftables, include/datatype.h); they tell listings what to print.
const (
	typeIPv4    = 7
	typeIPv6    = 8
	typeProto   = 12
	typePort    = 13
	typeMark    = 19
	typeClassID = 23
	typeBits    = 6 // of each, in a concatenation

	dataVerdict = 0xffffff00 // NFT_DATA_VERDICT

	udataKeyByteOrder  = 0 // NFTNL_UDATA_SET_KEYBYTEORDER
	udataDataByteOrder = 1 // NFTNL_UDATA_SET_DATABYTEORDER
	byteOrderHost      = 1 // nft's BYTEORDER_HOST_ENDIAN
	byteOrderBig       = 2 // nft's BYTEORDER_BIG_ENDIAN
)

func typeNumber(f field, family endpoints.IPFamily) uint32 {
	switch f {
	case fieldAddr:
		if family == endpoints.IPv6 {
			return typeIPv6
		}
		return typeIPv4
	case fieldProto:
		return typeProto
	case fieldPort:
		return typePort
	case fieldIndex:
		return typeMark
	default:
		return typeClassID
	}
}

func typeNumbers(fields []field, family endpoints.IPFamily) uint32 {
	n := uint32(0)
	for _, f := range fields {
		n = n<<typeBits | typeNumber(f, family)
	}
	return n
}

// newSet writes a set's definition. Its name serves as its identity, but the kernel insists on
// a number too.
func (v *tableEncoder) newSet(s *set) {
	v.message(unix.NFT_MSG_NEWSET, unix.NLM_F_CREATE, label{what: "set " + s.name})
	v.text(unix.NFTA_SET_TABLE, v.table)
	v.text(unix.NFTA_SET_NAME, s.name)
	v.number(unix.NFTA_SET_FLAGS, setFlags(s))
	v.number(unix.NFTA_SET_KEY_TYPE, typeNumbers(s.key, v.family))
	v.number(unix.NFTA_SET_KEY_LEN, uint32(sizeOf(s.key, v.family))) // a few bytes
	switch {
	case s.kind == verdictMap:
		v.number(unix.NFTA_SET_DATA_TYPE, dataVerdict)
	case s.value != nil:
		v.number(unix.NFTA_SET_DATA_TYPE, typeNumbers(s.value, v.family))
		v.number(unix.NFTA_SET_DATA_LEN, uint32(sizeOf(s.value, v.family))) // a few bytes
	}
	v.number(unix.NFTA_SET_ID, uint32(len(v.labels))) // any number, once
	if s.size > 0 {
		desc := v.nest(unix.NFTA_SET_DESC)
		v.number(unix.NFTA_SET_DESC_SIZE, s.size)
		v.close(desc)
	}
	v.bytes(unix.NFTA_SET_USERDATA, byteOrders(s))
	v.end()
}

func setFlags(s *set) uint32 {
	flags := uint32(0)
	if s.value != nil || s.kind == verdictMap {
		flags |= unix.NFT_SET_MAP
	}
	switch s.kind {
	case memory:
		flags |= unix.NFT_SET_TIMEOUT | unix.NFT_SET_EVAL
	case intervalSet:
		flags |= unix.NFT_SET_INTERVAL
	default:
	}
	return flags
}

// byteOrders tells nft how to read numbers when it lists the set; the kernel does not care.
func byteOrders(s *set) []byte {
	order := func(fields []field) uint32 {
		if len(fields) == 1 && fields[0] == fieldNumber {
			return byteOrderHost
		}
		return byteOrderBig
	}
	one := func(b []byte, kind byte, n uint32) []byte {
		return binary.NativeEndian.AppendUint32(append(b, kind, 4), n)
	}
	out := one(nil, udataKeyByteOrder, order(s.key))
	if s.value != nil {
		out = one(out, udataDataByteOrder, order(s.value))
	}
	return out
}

// flushSet takes all elements out, of which it names none.
func (v *tableEncoder) flushSet(name string) {
	v.message(unix.NFT_MSG_DELSETELEM, 0, label{what: "emptying set " + name})
	v.text(unix.NFTA_SET_ELEM_LIST_TABLE, v.table)
	v.text(unix.NFTA_SET_ELEM_LIST_SET, name)
	v.end()
}

func (v *tableEncoder) deleteSet(name string) {
	v.message(unix.NFT_MSG_DELSET, 0, label{what: "removing set " + name})
	v.text(unix.NFTA_SET_TABLE, v.table)
	v.text(unix.NFTA_SET_NAME, name)
	v.end()
}

func (v *tableEncoder) newChain(c *chain) {
	v.message(unix.NFT_MSG_NEWCHAIN, unix.NLM_F_CREATE, label{what: "chain " + c.name})
	v.text(unix.NFTA_CHAIN_TABLE, v.table)
	v.text(unix.NFTA_CHAIN_NAME, c.name)
	if c.hook != noHook {
		h := v.nest(unix.NFTA_CHAIN_HOOK)
		v.number(unix.NFTA_HOOK_HOOKNUM, hookNumber(c.hook))
		v.number(unix.NFTA_HOOK_PRIORITY, uint32(c.hook.priority())) // the kernel reads it as signed
		v.close(h)
		v.text(unix.NFTA_CHAIN_TYPE, "nat")
		v.number(unix.NFTA_CHAIN_POLICY, nfAccept)
	}
	v.end()
}

// nfAccept is NF_ACCEPT of netfilter.h.
const nfAccept = 1

func hookNumber(h hook) uint32 {
	switch h {
	case output:
		return unix.NF_INET_LOCAL_OUT
	case postrouting:
		return unix.NF_INET_POST_ROUTING
	default:
		return unix.NF_INET_PRE_ROUTING
	}
}

func (v *tableEncoder) deleteChain(name string) {
	v.message(unix.NFT_MSG_DELCHAIN, 0, label{what: "removing chain " + name})
	v.text(unix.NFTA_CHAIN_TABLE, v.table)
	v.text(unix.NFTA_CHAIN_NAME, name)
	v.end()
}

// flushChain removes a chain's rules, or those of all chains if it has no name.
func (v *tableEncoder) flushChain(name string) {
	v.message(unix.NFT_MSG_DELRULE, 0, label{what: "emptying chain " + name})
	v.text(unix.NFTA_RULE_TABLE, v.table)
	if name != "" {
		v.text(unix.NFTA_RULE_CHAIN, name)
	}
	v.end()
}

func (v *tableEncoder) rules(c *chain) error {
	for i := range c.rules {
		r := &c.rules[i]
		v.message(unix.NFT_MSG_NEWRULE, unix.NLM_F_CREATE|unix.NLM_F_APPEND, label{"a rule of chain " + c.name, r, v.family})
		v.text(unix.NFTA_RULE_TABLE, v.table)
		v.text(unix.NFTA_RULE_CHAIN, c.name)
		all := v.nest(unix.NFTA_RULE_EXPRESSIONS)
		if err := v.expressions(r); err != nil {
			return err
		}
		v.close(all)
		if r.comment != "" {
			// NFTNL_UDATA_RULE_COMMENT: type 0, length, the text and its zero byte.
			v.bytes(unix.NFTA_RULE_USERDATA, append(append([]byte{0, byte(len(r.comment) + 1)}, r.comment...), 0))
		}
		v.end()
	}
	return nil
}

// elements opens a message of elements; close it with the result.
func (v *tableEncoder) elements(kind int, name string) int {
	flags := uint16(0)
	if kind == unix.NFT_MSG_NEWSETELEM {
		flags = unix.NLM_F_CREATE | unix.NLM_F_EXCL
	}
	v.message(kind, flags, label{what: "elements of " + name})
	v.text(unix.NFTA_SET_ELEM_LIST_TABLE, v.table)
	v.text(unix.NFTA_SET_ELEM_LIST_SET, name)
	return v.nest(unix.NFTA_SET_ELEM_LIST_ELEMENTS)
}

func (v *tableEncoder) elementsEnd(at int) {
	v.close(at)
	v.end()
}

func (v *tableEncoder) allRows(c *changes) {
	if c == nil {
		return
	}
	for i, s := range setTable {
		if i >= numRowSets {
			return
		}
		v.rows(unix.NFT_MSG_DELSETELEM, s.name, c.sets[i].del, c.sizes[i].key, 0)
		v.rows(unix.NFT_MSG_NEWSETELEM, s.name, c.sets[i].add, c.sizes[i].key, c.sizes[i].value)
	}
}

// rows writes rows into as many messages as they need.
func (v *tableEncoder) rows(kind int, name string, b []byte, key, value int) {
	at, open := 0, false
	for size := key + value; len(b) > 0; b = b[size:] {
		if open && len(v.b)-at > maxElements {
			v.elementsEnd(at)
			open = false
		}
		if !open {
			at, open = v.elements(kind, name), true
		}
		elem := v.nest(unix.NFTA_LIST_ELEM)
		v.data(unix.NFTA_SET_ELEM_KEY, b[:key])
		if value > 0 {
			v.data(unix.NFTA_SET_ELEM_DATA, b[key:size])
		}
		v.close(elem)
	}
	if open {
		v.elementsEnd(at)
	}
}

func (v *tableEncoder) data(kind uint16, b []byte) {
	at := v.nest(kind)
	v.bytes(unix.NFTA_DATA_VALUE, b)
	v.close(at)
}

// rangeElements writes spans as the kernel's interval sets have them: an element where each
// begins, and one that ends it at the address after its last.
func (v *tableEncoder) rangeElements(r *rangeElements) {
	if len(r.spans) == 0 {
		return
	}
	at := v.elements(unix.NFT_MSG_NEWSETELEM, r.in)
	one := func(key []byte, flags uint32) {
		if len(v.b)-at > maxElements {
			v.elementsEnd(at)
			at = v.elements(unix.NFT_MSG_NEWSETELEM, r.in)
		}
		elem := v.nest(unix.NFTA_LIST_ELEM)
		v.data(unix.NFTA_SET_ELEM_KEY, key)
		if flags != 0 {
			v.number(unix.NFTA_SET_ELEM_FLAGS, flags)
		}
		v.close(elem)
	}
	for _, s := range r.spans {
		one(s.first.AsSlice(), 0)
		if after := s.last.Next(); after.IsValid() {
			one(after.AsSlice(), unix.NFT_SET_ELEM_INTERVAL_END)
		}
	}
	v.elementsEnd(at)
}

func (v *tableEncoder) verdicts(kind int, list []verdictElement) {
	for _, x := range list {
		at := v.elements(kind, setTable[x.in].name)
		elem := v.nest(unix.NFTA_LIST_ELEM)
		v.data(unix.NFTA_SET_ELEM_KEY, binary.NativeEndian.AppendUint32(nil, x.number))
		data := v.nest(unix.NFTA_SET_ELEM_DATA)
		inner := v.nest(unix.NFTA_DATA_VERDICT)
		v.number(unix.NFTA_VERDICT_CODE, verdictCode(x.verdict.kind))
		v.text(unix.NFTA_VERDICT_CHAIN, x.verdict.chain)
		v.close(inner)
		v.close(data)
		v.close(elem)
		v.elementsEnd(at)
	}
}

// verdictCode is NFT_JUMP or NFT_GOTO of nf_tables.h.
func verdictCode(k verdictKind) uint32 {
	const nftJump, nftGoto = -3, -4
	code := int32(nftGoto)
	if k == jump {
		code = nftJump
	}
	return uint32(code) // the kernel reads it as signed
}
