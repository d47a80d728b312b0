package nftables

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// Registers of 32 bits (nf_tables.h, NFT_REG32_00 = 8): keys begin at the first; what has to
// survive a key is kept in a late one.
const (
	regKey   = 8
	regSpare = 20
)

// expressions writes a rule as the kernel's expressions. Each rule loads what it reads: nothing
// survives from one to the next.
func (v *tableEncoder) expressions(r *rule) error {
	x := expresser{family: v.family, mark: v.mark}
	for _, s := range r.statements {
		if err := x.statement(s); err != nil {
			return err
		}
	}
	for _, e := range x.out {
		b, err := expr.Marshal(v.nf, e)
		if err != nil {
			return fmt.Errorf("expression %T: %w", e, err)
		}
		v.bytes(unix.NFTA_LIST_ELEM|unix.NLA_F_NESTED, b)
	}
	return nil
}

type expresser struct {
	family endpoints.IPFamily
	mark   uint32
	out    []expr.Any
}

func (x *expresser) add(e ...expr.Any) { x.out = append(x.out, e...) }

func (x *expresser) statement(s statement) error {
	switch s := s.(type) {
	case setPriority:
		x.key(s.key)
		x.add(lookup(s.in, regKey, false), priorityFrom(regKey))
	case clearPriority:
		x.clearPriority()
	case byPriority:
		x.add(&expr.Meta{Key: expr.MetaKeyPRIORITY, Register: regKey}, lookup(s.in, 0, false))
	case inSet:
		x.key(s.key)
		x.add(&expr.Lookup{SourceRegister: regKey, SetName: s.in, Invert: s.not})
	case inPrefix:
		x.prefix(s)
	case viaInterface:
		x.viaInterface(s)
	case isLocal:
		x.add(&expr.Fib{Register: regKey, FlagSADDR: s.source, FlagDADDR: !s.source, ResultADDRTYPE: true},
			&expr.Cmp{Op: compareOp(s.not), Register: regKey, Data: native(unix.RTN_LOCAL)})
	case mark, isMarked, unmark:
		x.marking(s)
	case masquerade:
		x.add(&expr.Masq{FullyRandom: true})
	case translate:
		x.translate(s)
	case memorise:
		x.memorise(s)
	case count:
		x.add(&expr.Counter{})
	case verdict:
		x.verdict(s)
	default:
		return fmt.Errorf("statement %T has no expressions", s)
	}
	return nil
}

func native(n uint32) []byte { return binary.NativeEndian.AppendUint32(nil, n) }

func compareOp(not bool) expr.CmpOp {
	if not {
		return expr.CmpOpNeq
	}
	return expr.CmpOpEq
}

func lookup(in string, result uint32, invert bool) *expr.Lookup {
	return &expr.Lookup{SourceRegister: regKey, DestRegister: result, IsDestRegSet: true, SetName: in, Invert: invert}
}

func priorityFrom(reg uint32) *expr.Meta {
	return &expr.Meta{Key: expr.MetaKeyPRIORITY, SourceRegister: true, Register: reg}
}

func (x *expresser) clearPriority() {
	x.add(&expr.Immediate{Register: regSpare, Data: native(0)}, priorityFrom(regSpare))
}

// words is how many registers an address takes.
func (x *expresser) words() uint32 { return uint32(addrSize(x.family)) / 4 } // 1 or 4

// address loads the source or destination address. The offsets are those of the headers.
func (x *expresser) address(source bool, reg uint32) {
	offset := uint32(16)
	switch {
	case x.family == endpoints.IPv6 && source:
		offset = 8
	case x.family == endpoints.IPv6:
		offset = 24
	case source:
		offset = 12
	}
	x.add(&expr.Payload{DestRegister: reg, Base: expr.PayloadBaseNetworkHeader, Offset: offset, Len: 4 * x.words()})
}

// key loads a concatenation.
func (x *expresser) key(c concat) {
	reg := uint32(regKey)
	for _, o := range c {
		switch o.kind {
		case opDaddr, opNoDaddr, opSaddr:
			x.address(o.kind == opSaddr, reg)
			if o.kind == opNoDaddr {
				zero := make([]byte, addrSize(x.family))
				x.add(&expr.Bitwise{SourceRegister: reg, DestRegister: reg, Len: 4 * x.words(), Mask: zero, Xor: zero})
			}
			reg += x.words()
			continue
		case opProto:
			x.add(&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: reg})
		case opDport:
			x.add(&expr.Payload{DestRegister: reg, Base: expr.PayloadBaseTransportHeader, Offset: 2, Len: 2})
		case opPriority, opIdentity:
			x.add(&expr.Meta{Key: expr.MetaKeyPRIORITY, Register: reg})
			if o.kind == opIdentity {
				x.add(&expr.Bitwise{SourceRegister: reg, DestRegister: reg, Len: 4, Mask: native(identityMask), Xor: native(0)})
			}
		case opRandom:
			x.add(&expr.Numgen{Register: reg, Modulus: o.mod, Type: unix.NFT_NG_RANDOM, Offset: o.offset})
		}
		reg++
	}
}

func (x *expresser) prefix(s inPrefix) {
	x.address(s.source, regKey)
	size := addrSize(x.family)
	mask := make([]byte, size)
	for i := range s.of.Bits() {
		mask[i/8] |= 1 << (7 - i%8)
	}
	if s.of.Bits() < size*8 {
		x.add(&expr.Bitwise{SourceRegister: regKey, DestRegister: regKey, Len: 4 * x.words(), Mask: mask, Xor: make([]byte, size)})
	}
	x.add(&expr.Cmp{Op: compareOp(s.not), Register: regKey, Data: s.of.Masked().Addr().AsSlice()})
}

// viaInterface compares names as the kernel keeps them, padded with zeros; the start of a name
// is compared without.
func (x *expresser) viaInterface(s viaInterface) {
	name := []byte(s.name)
	if !s.start {
		name = append(name, make([]byte, max(unix.IFNAMSIZ-len(name), 0))...)
	}
	x.add(&expr.Meta{Key: expr.MetaKeyIIFNAME, Register: regKey}, &expr.Cmp{Op: compareOp(s.not), Register: regKey, Data: name})
}

func (x *expresser) marking(s statement) {
	bit := func(mask, xor uint32) *expr.Bitwise {
		return &expr.Bitwise{SourceRegister: regKey, DestRegister: regKey, Len: 4, Mask: native(mask), Xor: native(xor)}
	}
	load := &expr.Meta{Key: expr.MetaKeyMARK, Register: regKey}
	store := &expr.Meta{Key: expr.MetaKeyMARK, SourceRegister: true, Register: regKey}
	switch s.(type) {
	case mark:
		x.add(load, bit(^x.mark, x.mark), store)
	case unmark:
		x.add(load, bit(^uint32(0), x.mark), store)
	default:
		x.add(load, bit(x.mark, 0), &expr.Cmp{Op: expr.CmpOpNeq, Register: regKey, Data: native(0)})
	}
}

func (x *expresser) translate(s translate) {
	x.key(s.key)
	x.add(lookup(s.in, regKey, false))
	if s.clear {
		x.clearPriority()
	}
	x.add(&expr.NAT{
		Type: expr.NATTypeDestNAT, Family: uint32(nfFamily(x.family)),
		RegAddrMin: regKey, RegProtoMin: regKey + x.words(),
	})
}

// memorise needs a register of data also to forget, though it is ignored: the kernel takes no
// map without one.
func (x *expresser) memorise(s memorise) {
	x.key(s.key)
	x.add(&expr.Meta{Key: expr.MetaKeyPRIORITY, Register: regSpare})
	d := &expr.Dynset{SrcRegKey: regKey, SrcRegData: regSpare, SetName: "sticky"}
	switch s.op {
	case remember:
		d.Operation = unix.NFT_DYNSET_OP_ADD
	case refresh:
		d.Operation = unix.NFT_DYNSET_OP_UPDATE
	case forget:
		d.Operation = dynsetDelete
	}
	if s.op != forget {
		d.Timeout = time.Duration(s.seconds) * time.Second
	}
	x.add(d)
}

// dynsetDelete is NFT_DYNSET_OP_DELETE of nf_tables.h.
const dynsetDelete = 2

// Codes of ICMP's "port unreachable" (RFC 792, RFC 4443): what reject sends where nothing else
// is said, for TCP as well.
const (
	icmpPortUnreachable   = 3
	icmpv6PortUnreachable = 4
)

func (x *expresser) verdict(s verdict) {
	switch s.kind {
	case jump:
		x.add(&expr.Verdict{Kind: expr.VerdictJump, Chain: s.chain})
	case goTo:
		x.add(&expr.Verdict{Kind: expr.VerdictGoto, Chain: s.chain})
	case drop:
		x.add(&expr.Verdict{Kind: expr.VerdictDrop})
	case reject:
		code := uint8(icmpPortUnreachable)
		if x.family == endpoints.IPv6 {
			code = icmpv6PortUnreachable
		}
		x.add(&expr.Reject{Type: unix.NFT_REJECT_ICMP_UNREACH, Code: code})
	}
}
