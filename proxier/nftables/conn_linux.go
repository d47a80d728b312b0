package nftables

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// conn is a netlink socket to the kernel's nftables.
type conn struct {
	fd   int
	mark uint32
	room int    // bytes the socket takes at once
	b    []byte // for the next batch
	in   [receiveBuffer]byte
}

// receiveBuffer is what answers are read into: the kernel writes no datagram of more than 32
// KiB (af_netlink.c, netlink_dump).
const receiveBuffer = 1 << 16

// openKernel connects to the nftables of a network namespace.
func openKernel(opts Options) (kernel, error) {
	c := &conn{mark: opts.MasqueradeMark}
	open := func() error {
		fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_NETFILTER)
		if err != nil {
			return fmt.Errorf("netlink socket: %w", err)
		}
		c.fd = fd
		return nil
	}
	if err := inNamespace(opts.NetNS, open); err != nil {
		return nil, err
	}
	if err := c.prepare(); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// inNamespace runs f in a network namespace, 0 for the caller's. A socket stays where it was
// made.
func inNamespace(fd int, f func() error) error {
	if fd == 0 {
		return f()
	}
	runtime.LockOSThread()
	home, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("network namespace: %w", err)
	}
	defer func() { _ = home.Close() }()
	if err := unix.Setns(fd, unix.CLONE_NEWNET); err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("enter network namespace: %w", err)
	}
	err = f()
	if back := unix.Setns(int(home.Fd()), unix.CLONE_NEWNET); back != nil {
		// The thread stays locked, and ends with its goroutine instead of running others in a
		// namespace that is not theirs.
		return errors.Join(err, fmt.Errorf("leave network namespace: %w", back))
	}
	runtime.UnlockOSThread()
	return err
}

// Sizes of socket buffers: answers to a whole ruleset's errors, and a patience that only a
// kernel in trouble exceeds.
const (
	receiveSpace   = 8 << 20
	receiveSeconds = 30
)

func (c *conn) prepare() error {
	if err := unix.Bind(c.fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return fmt.Errorf("bind netlink socket: %w", err)
	}
	if err := makeRoom(c.fd); err != nil {
		return err
	}
	patience := unix.Timeval{Sec: receiveSeconds}
	if err := unix.SetsockoptTimeval(c.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &patience); err != nil {
		return fmt.Errorf("receive timeout: %w", err)
	}
	// An answer need not repeat the question, and may say what was wrong with it.
	for _, option := range []int{unix.NETLINK_CAP_ACK, unix.NETLINK_EXT_ACK} {
		if err := unix.SetsockoptInt(c.fd, unix.SOL_NETLINK, option, 1); err != nil {
			return fmt.Errorf("netlink option %d: %w", option, err)
		}
	}
	return nil
}

// makeRoom enlarges a socket's receive buffer.
func makeRoom(fd int) error {
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, receiveSpace); err != nil {
		// Without the right to force it, the limit of the system has to do.
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, receiveSpace); err != nil {
			return fmt.Errorf("receive buffer: %w", err)
		}
	}
	return nil
}

func (c *conn) close() error {
	if c.fd == 0 {
		return nil
	}
	fd := c.fd
	c.fd = 0
	return unix.Close(fd)
}

// refusal is what the kernel says to a message it does not take.
type refusal struct {
	errno  unix.Errno
	label  label
	detail string // the kernel's own words, if it has any
	mark   uint32
}

// Error names the message, and the rule if it was one.
func (r *refusal) Error() string {
	what := r.label.what
	if r.label.rule != nil {
		what += " (" + r.label.rule.text(vocabulary{r.label.family, r.mark}) + ")"
	}
	if r.detail != "" {
		what += ": " + r.detail
	}
	return what + ": " + r.errno.Error()
}

// Unwrap returns the error number.
func (r *refusal) Unwrap() error { return r.errno }

// erestart is what the kernel answers to a batch of another generation (nfnetlink.c).
const erestart = unix.ERESTART

// commit encodes one batch, sends it and reads what the kernel says to it.
func (c *conn) commit(table string, changes []*tableChange, generation uint32, check bool) error {
	e := encoder{b: c.b[:0], table: table, mark: c.mark}
	if err := e.batch(changes, generation, check); err != nil {
		return err
	}
	if cap(e.b) <= receiveSpace {
		c.b = e.b // keep the room for the next one, but not that of a whole cluster
	}
	return c.send(&e)
}

// send has the kernel work on a batch. It does so while the batch is being sent, so all answers
// are there when the call returns.
func (c *conn) send(e *encoder) error {
	if err := c.write(e.b); err != nil {
		return err
	}
	return c.answers(e)
}

// write sends a buffer as one datagram, for which the socket's buffer has to have room.
func (c *conn) write(b []byte) error {
	if len(b)+headroom > c.room {
		want := len(b) + headroom
		if err := unix.SetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, want); err != nil {
			if err := unix.SetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_SNDBUF, want); err != nil {
				return fmt.Errorf("send buffer of %d bytes: %w", want, err)
			}
		}
		c.room = want
	}
	if err := unix.Sendto(c.fd, b, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return fmt.Errorf("send %d bytes to the kernel: %w", len(b), err)
	}
	return nil
}

// headroom is what the kernel counts of a socket's buffer beside the datagram.
const headroom = 1 << 12

// answers reads the acknowledgement of a batch, or the first error.
func (c *conn) answers(e *encoder) error {
	last := uint32(len(e.labels) - 2) // messages of a batch: the one before its end
	done := false
	var refused *refusal
	buf := c.in[:]
	for {
		n, _, err := unix.Recvfrom(c.fd, buf, unix.MSG_DONTWAIT)
		if errors.Is(err, unix.EAGAIN) {
			break
		}
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read the kernel's answer: %w", err)
		}
		for m := range messages(buf[:n]) {
			if m.kind != unix.NLMSG_ERROR || len(m.data) < 4 {
				continue
			}
			errno := unix.Errno(-int32(binary.NativeEndian.Uint32(m.data))) // an errno, negated
			switch {
			case errno == 0:
				done = done || m.seq == last
			case refused == nil && int(m.seq) < len(e.labels):
				refused = &refusal{errno: errno, label: e.labels[m.seq], detail: extended(m), mark: c.mark}
			}
		}
	}
	switch {
	case refused != nil && refused.errno == erestart:
		return errGeneration
	case refused != nil:
		return refused
	case !done:
		return errors.New("the kernel did not answer")
	default:
		return nil
	}
}

// message is one netlink message.
type message struct {
	kind, flags uint16
	seq         uint32
	data        []byte
}

// messages walks the messages of a datagram.
func messages(b []byte) func(yield func(message) bool) {
	return func(yield func(message) bool) {
		for len(b) >= headerSize {
			n := int(binary.NativeEndian.Uint32(b))
			if n < headerSize || n > len(b) {
				return
			}
			m := message{
				kind: binary.NativeEndian.Uint16(b[4:]), flags: binary.NativeEndian.Uint16(b[6:]),
				seq: binary.NativeEndian.Uint32(b[8:]), data: b[headerSize:n],
			}
			if !yield(m) {
				return
			}
			b = b[min((n+3)&^3, len(b)):]
		}
	}
}

// attributes walks the attributes of a message, without their flags.
func attributes(b []byte) func(yield func(uint16, []byte) bool) {
	return func(yield func(uint16, []byte) bool) {
		for len(b) >= attrSize {
			n := int(binary.NativeEndian.Uint16(b))
			if n < attrSize || n > len(b) {
				return
			}
			const flags = unix.NLA_F_NESTED | unix.NLA_F_NET_BYTEORDER
			if !yield(binary.NativeEndian.Uint16(b[2:])&^uint16(flags), b[attrSize:n]) {
				return
			}
			b = b[min((n+3)&^3, len(b)):]
		}
	}
}

// extended returns the kernel's words in an error, behind the number and the header of the
// message it is about.
func extended(m message) string {
	if m.flags&unix.NLM_F_ACK_TLVS == 0 || len(m.data) < 4+headerSize {
		return ""
	}
	for kind, v := range attributes(m.data[4+headerSize:]) {
		if kind == unix.NLMSGERR_ATTR_MSG {
			return strings.TrimRight(string(v), "\x00")
		}
	}
	return ""
}

// ask sends one request outside a batch and hands over each answer.
func (c *conn) ask(kind int, flags uint16, family byte, table string, each func(message)) error {
	e := encoder{table: table}
	e.begin(nftMessage(kind), flags|unix.NLM_F_ACK, family, 0, label{})
	if table != "" {
		e.text(unix.NFTA_TABLE_NAME, table)
	}
	e.end()
	if err := c.write(e.b); err != nil {
		return err
	}
	buf := c.in[:]
	for {
		n, _, err := unix.Recvfrom(c.fd, buf, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read the kernel's answer: %w", err)
		}
		for m := range messages(buf[:n]) {
			switch m.kind {
			case unix.NLMSG_DONE:
				return nil
			case unix.NLMSG_ERROR:
				if errno := unix.Errno(-int32(binary.NativeEndian.Uint32(m.data))); errno != 0 { // an errno, negated
					return errno
				}
				return nil
			default:
				each(m)
			}
		}
	}
}

// generation asks for the number of the ruleset.
func (c *conn) generation() (uint32, error) {
	var g uint32
	err := c.ask(unix.NFT_MSG_GETGEN, 0, unix.AF_UNSPEC, "", func(m message) {
		for kind, v := range attributes(m.data[nfgenmsg:]) {
			if kind == unix.NFTA_GEN_ID && len(v) == 4 {
				g = binary.BigEndian.Uint32(v)
			}
		}
	})
	if err != nil {
		return 0, fmt.Errorf("ask for the ruleset's generation: %w", err)
	}
	return g, nil
}

// tableHandle is NFTA_TABLE_HANDLE of nf_tables.h.
const tableHandle = 4

// nfgenmsg is the size of the struct before the attributes.
const nfgenmsg = 4

// inspect looks at a table and its chains from outside.
func (c *conn) inspect(table string, family endpoints.IPFamily) (structure, bool, error) {
	var s structure
	err := c.ask(unix.NFT_MSG_GETTABLE, 0, nfFamily(family), table, func(m message) {
		for kind, v := range attributes(m.data[nfgenmsg:]) {
			switch kind {
			case tableHandle:
				s.handle = binary.BigEndian.Uint64(v)
			case unix.NFTA_TABLE_USE:
				s.uses = binary.BigEndian.Uint32(v)
			}
		}
	})
	if errors.Is(err, unix.ENOENT) {
		return s, false, nil
	}
	if err != nil {
		return s, false, fmt.Errorf("look at table %s: %w", table, err)
	}
	digest := fnv.New64a()
	err = c.ask(unix.NFT_MSG_GETCHAIN, unix.NLM_F_DUMP, nfFamily(family), "", func(m message) {
		var parts [3][]byte
		for kind, v := range attributes(m.data[nfgenmsg:]) {
			switch kind {
			case unix.NFTA_CHAIN_TABLE:
				parts[0] = v
			case unix.NFTA_CHAIN_HANDLE:
				parts[1] = v
			case unix.NFTA_CHAIN_USE:
				parts[2] = v
			}
		}
		if string(parts[0]) == table+"\x00" {
			_, _ = digest.Write(parts[1]) // a hash never fails
			_, _ = digest.Write(parts[2])
		}
	})
	if err != nil {
		return s, false, fmt.Errorf("look at the chains of table %s: %w", table, err)
	}
	s.chains = digest.Sum64()
	return s, true, nil
}

// chains lists those of all tables of a family.
func (c *conn) chains(family endpoints.IPFamily) ([]string, error) {
	var list []string
	err := c.ask(unix.NFT_MSG_GETCHAIN, unix.NLM_F_DUMP, nfFamily(family), "", func(m message) {
		var table, name string
		for kind, v := range attributes(m.data[nfgenmsg:]) {
			switch kind {
			case unix.NFTA_CHAIN_TABLE:
				table = strings.TrimRight(string(v), "\x00")
			case unix.NFTA_CHAIN_NAME:
				name = strings.TrimRight(string(v), "\x00")
			}
		}
		list = append(list, table+" "+name)
	})
	if err != nil {
		return nil, fmt.Errorf("list the chains of %s: %w", family, err)
	}
	return list, nil
}

// stock lists the chains and sets of a table.
func (c *conn) stock(table string, family endpoints.IPFamily) (all *stock, ok bool, err error) {
	s, ok, err := c.inspect(table, family)
	if err != nil || !ok {
		return nil, false, err
	}
	var out stock
	things := uint32(0)
	list := func(kind, name int, what string, each func(name string)) error {
		err := c.ask(kind, unix.NLM_F_DUMP, nfFamily(family), table, func(m message) {
			var names [tableAndName]string
			for kind, v := range attributes(m.data[nfgenmsg:]) {
				if kind < tableAndName {
					names[kind] = strings.TrimRight(string(v), "\x00")
				}
			}
			if names[unix.NFTA_SET_TABLE] == table {
				things++
				each(names[name])
			}
		})
		if err != nil {
			return fmt.Errorf("list the %s of table %s: %w", what, table, err)
		}
		return nil
	}
	err = errors.Join(
		list(unix.NFT_MSG_GETCHAIN, unix.NFTA_CHAIN_NAME, "chains", func(name string) { out.chains = append(out.chains, name) }),
		list(unix.NFT_MSG_GETSET, unix.NFTA_SET_NAME, "sets", func(name string) {
			if !strings.HasPrefix(name, "__") { // a rule's own, which goes with it
				out.sets = append(out.sets, name)
			}
		}),
	)
	if err != nil || things != s.uses {
		return nil, true, err
	}
	return &out, true, nil
}

// tableAndName are the attributes that matter of a chain or set: NFTA_SET_TABLE and NFTA_SET_NAME
// are 1 and 2; NFTA_CHAIN_TABLE is 1, too, and NFTA_CHAIN_NAME 3.
const tableAndName = 4

// remove takes away the tables of this name, after it made sure of them.
func (c *conn) remove(table string, families []endpoints.IPFamily) error {
	for range attemptsAtCommit {
		g, err := c.generation()
		if err != nil {
			return err
		}
		var gone []*tableChange
		for _, f := range families {
			_, ok, err := c.inspect(table, f)
			if err != nil {
				return err
			}
			if ok {
				gone = append(gone, &tableChange{family: f, remove: true})
			}
		}
		if len(gone) == 0 {
			return nil
		}
		if err = c.commit(table, gone, g, true); !errors.Is(err, errGeneration) {
			return err
		}
	}
	return errGeneration
}
