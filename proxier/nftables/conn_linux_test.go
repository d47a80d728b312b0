package nftables

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// saying is a connection to a kernel that says some datagrams and nothing else.
func saying(t *testing.T, datagrams ...[]byte) *conn {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = unix.Close(pair[0]), unix.Close(pair[1]) }) // nothing is lost that was written
	for _, d := range datagrams {
		if _, err := unix.Write(pair[1], d); err != nil {
			t.Fatal(err)
		}
	}
	return &conn{fd: pair[0], room: 1 << 20, mark: 0x4000}
}

// netlink is a message (linux/netlink.h, struct nlmsghdr).
func netlink(kind, flags uint16, seq uint32, data ...byte) []byte {
	b := binary.NativeEndian.AppendUint32(nil, uint32(headerSize+len(data)))
	b = binary.NativeEndian.AppendUint16(b, kind)
	b = binary.NativeEndian.AppendUint16(b, flags)
	b = binary.NativeEndian.AppendUint32(b, seq)
	b = binary.NativeEndian.AppendUint32(b, 0)
	b = append(b, data...)
	return append(b, make([]byte, (4-len(b)%4)%4)...)
}

// acknowledged is what the kernel says to a message: 0 or the number of an error, with words if there are any (struct nlmsgerr, NLMSGERR_ATTR_MSG).
func acknowledged(seq uint32, errno unix.Errno, words string) []byte {
	data := binary.NativeEndian.AppendUint32(nil, uint32(-int32(errno))) // as the kernel writes it
	if words == "" {
		return netlink(unix.NLMSG_ERROR, 0, seq, data...)
	}
	data = append(data, make([]byte, headerSize)...)
	data = append(data, 8, 0, 2, 0, 1, 2, 3, 4) // NLMSGERR_ATTR_OFFS comes first
	data = binary.NativeEndian.AppendUint16(data, uint16(4+len(words)+1))
	data = binary.NativeEndian.AppendUint16(data, unix.NLMSGERR_ATTR_MSG)
	data = append(append(data, words...), 0)
	return netlink(unix.NLMSG_ERROR, unix.NLM_F_ACK_TLVS, seq, data...)
}

// Of what the kernel says to a batch the last message's acknowledgement counts, or the first error, with its own words.
func TestWhatTheKernelSaysToABatch(t *testing.T) {
	t.Parallel()
	begin, set, element, end := label{what: "begin"}, label{what: "set a"}, label{what: "element b"}, label{what: "end"}
	accepted := acknowledged(2, 0, "")
	for _, c := range []struct {
		name string
		said [][]byte
		want string // "" if the change is in force
	}{
		{"all is well", [][]byte{accepted}, ""},
		{"all is well, and more is said", [][]byte{accepted, acknowledged(1, 0, "")}, ""},
		{"all is well, in one datagram", [][]byte{slices.Concat(acknowledged(1, 0, ""), accepted)}, ""},
		{"something else is said", [][]byte{netlink(unix.NLMSG_NOOP, 0, 2, 0, 0, 0, 0)}, "the kernel did not answer"},
		{"an error without a number", [][]byte{netlink(unix.NLMSG_ERROR, 0, 2, 1, 2, 3), accepted}, ""},
		{"another message was acknowledged", [][]byte{acknowledged(1, 0, "")}, "the kernel did not answer"},
		{"half a message", [][]byte{accepted[:len(accepted)-4]}, "the kernel did not answer"},
		{"an error", [][]byte{acknowledged(2, unix.ENOENT, "")}, "element b: no such file or directory"},
		{"an error with words", [][]byte{acknowledged(1, unix.EINVAL, "no")}, "set a: no: invalid argument"},
		{"the first of two errors", [][]byte{acknowledged(1, unix.EEXIST, ""), acknowledged(2, unix.ENOENT, "")}, "set a: file exists"},
		{"an error behind what is well", [][]byte{accepted, acknowledged(1, unix.EEXIST, "")}, "set a: file exists"},
		{"an error of the whole batch", [][]byte{acknowledged(0, unix.EPERM, "")}, "begin: operation not permitted"},
		{"an error of nothing that was sent", [][]byte{acknowledged(4, unix.EPERM, "")}, "the kernel did not answer"},
		{"somebody else was faster", [][]byte{acknowledged(0, erestart, "")}, errGeneration.Error()},
	} {
		err := saying(t, c.said...).answers(&encoder{labels: []label{begin, set, element, end}})
		if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if refused := (*refusal)(nil); errors.As(err, &refused) && refused.mark != 0x4000 {
			t.Errorf("%s: the mark is not known to who prints the rule", c.name)
		}
	}
}

// A change is in force only if the kernel says so: what cannot be sent, or whose answer cannot be read, is an error.
func TestWithoutTheKernelsAnswerNothingIsInForce(t *testing.T) {
	t.Parallel()
	e := &encoder{labels: make([]label, 3)}
	if err := saying(t).answers(e); err == nil || !strings.Contains(err.Error(), "did not answer") {
		t.Errorf("a kernel that says nothing: %v", err)
	}
	nobody := &conn{fd: -1, room: 1 << 20}
	if err := nobody.answers(e); !errors.Is(err, unix.EBADF) {
		t.Errorf("an answer that cannot be read: %v", err)
	}
	if err := nobody.send(e); !errors.Is(err, unix.EBADF) {
		t.Errorf("a change that cannot be sent: %v", err)
	}
	if err := nobody.prepare(); !errors.Is(err, unix.EBADF) {
		t.Errorf("a socket that cannot be bound: %v", err)
	}
	if _, err := nobody.generation(); !errors.Is(err, unix.EBADF) {
		t.Errorf("a question that cannot be asked: %v", err)
	}
	if _, err := openKernel(Options{NetNS: -1}); !errors.Is(err, unix.EBADF) {
		t.Errorf("a namespace that is not there: %v", err)
	}
	if l, err := Listen(Options{NetNS: -1}, func(Change) bool { return true }); !errors.Is(err, unix.EBADF) || l != nil {
		t.Errorf("a namespace that is not there, listened to: %v, %v", l, err)
	}
}

// A transaction of others ends with a message that has the ruleset's number, and what was in it is told of once.
func TestWhatIsToldOfATransaction(t *testing.T) {
	t.Parallel()
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = from.Close(), to.Close() }() // both are only read from and written to here
	const kind = unix.NFNL_SUBSYS_NFTABLES << 8
	ended := func(number byte) []byte {
		return netlink(kind|unix.NFT_MSG_NEWGEN, 0, 1, 0, 0, 0, 0, 8, 0, 2, 0, 0, 0, 0, 9, 8, 0, unix.NFTA_GEN_ID, 0, 0, 0, 1, number)
	}
	table := func(name byte) []byte {
		return netlink(kind|unix.NFT_MSG_DELTABLE, 0, 1, unix.NFPROTO_IPV4, 0, 0, 0, 6, 0, unix.NFTA_TABLE_NAME, 0, name, 0)
	}
	r := &reader{file: from, concerns: func(c Change) bool { return c.Table == "x" && c.Gone }}
	for _, c := range []struct {
		name       string
		said       []byte
		generation uint32
		concerned  bool
	}{
		{"somebody else's table", slices.Concat(table('y'), ended(7)), 0x107, false},
		{"ours", slices.Concat(table('x'), table('y'), ended(8)), 0x108, true},
		{"nothing", ended(9), 0x109, false},
		{"another subsystem, and half a message", slices.Concat(netlink(1<<8|unix.NFT_MSG_NEWGEN, 0, 1, 0, 0, 0, 0), netlink(kind|unix.NFT_MSG_NEWGEN, 0, 1, 0, 0), ended(10)), 0x10a, false},
		{"no number", netlink(kind|unix.NFT_MSG_NEWGEN, 0, 1, 0, 0, 0, 0), 0, false},
	} {
		if _, err := to.Write(c.said); err != nil {
			t.Fatal(err)
		}
		if generation, concerned, err := r.next(); generation != c.generation || concerned != c.concerned || err != nil {
			t.Errorf("%s: %#x, %v, %v", c.name, generation, concerned, err)
		}
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.next(); !errors.Is(err, io.EOF) {
		t.Errorf("nothing more is said: %v", err)
	}
}

// What a kernel lacks is named with the module and the version that have it.
func TestEveryFeatureSaysWhatItNeeds(t *testing.T) {
	t.Parallel()
	for _, f := range features() {
		if f.what == "" || !strings.HasPrefix(f.needs, "n") || !strings.Contains(f.needs, "_") {
			t.Errorf("%q needs %q", f.what, f.needs)
		}
	}
}
