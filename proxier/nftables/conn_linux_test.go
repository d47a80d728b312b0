package nftables

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lameduck-proxy/lameduck/endpoints"
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

// Each call of a socket that is gone says what could not be done.
func TestEveryCallOfASocketThatIsGoneIsAnError(t *testing.T) {
	t.Parallel()
	fits, grows := &conn{fd: -1, room: 1 << 20}, &conn{fd: -1}
	one := func(_ any, err error) error { return err }
	two := func(_, _ any, err error) error { return err }
	both := []endpoints.IPFamily{endpoints.IPv4, endpoints.IPv6}
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"makeRoom":            {makeRoom(-1), "receive buffer"},
		"prepare":             {fits.prepare(), "bind netlink socket"},
		"write what fits":     {fits.write([]byte{1}), "send 1 bytes to the kernel"},
		"write what does not": {grows.write([]byte{1}), "send buffer of 4097 bytes"},
		"commit":              {fits.commit("a", nil, 0, false), "send 40 bytes to the kernel"},
		"generation":          {one(fits.generation()), "ask for the ruleset's generation: send 20 bytes to the kernel"},
		"inspect":             {two(fits.inspect("a", endpoints.IPv4)), "look at table a: send 28 bytes to the kernel"},
		"chains":              {one(fits.chains(endpoints.IPv6)), "list the chains of IPv6: send 20 bytes to the kernel"},
		"stock":               {two(fits.stock("a", endpoints.IPv4)), "look at table a: send 28 bytes to the kernel"},
		"remove":              {fits.remove("a", both), "ask for the ruleset's generation: send 20 bytes to the kernel"},
		"watch":               {one(fits.watch(Options{})), "name of the netlink socket"},
		"subscribe":           {subscribe(-1), "subscribe to changes of the ruleset"},
		"close":               {fits.close(), ""},
		"close again":         {fits.close(), "no error"},
	} {
		want := c.want + ": " + unix.EBADF.Error()
		switch c.want {
		case "":
			want = unix.EBADF.Error()
		case "no error":
			want = "<nil>"
		}
		if got := fmt.Sprint(c.err); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// What others do is told where it names a table, a chain or a rule of the families that there are Services in.
func TestWhatChangesAreOfOthers(t *testing.T) {
	t.Parallel()
	text := func(kind uint16, s string) []byte {
		b := binary.NativeEndian.AppendUint16(nil, uint16(attrSize+len(s)+1))
		b = append(binary.NativeEndian.AppendUint16(b, kind), s...)
		return append(b, make([]byte, 4-len(b)%4)...)
	}
	for _, c := range []struct {
		kind   uint16
		family byte
		want   Change
		ok     bool
	}{
		{unix.NFT_MSG_NEWTABLE, unix.NFPROTO_IPV4, Change{Family: endpoints.IPv4, Table: "t"}, true},
		{unix.NFT_MSG_DELTABLE, unix.NFPROTO_IPV6, Change{Family: endpoints.IPv6, Table: "t", Gone: true}, true},
		{unix.NFT_MSG_NEWCHAIN, unix.NFPROTO_IPV6, Change{Family: endpoints.IPv6, Table: "t", Chain: "third"}, true},
		{unix.NFT_MSG_DELCHAIN, unix.NFPROTO_IPV4, Change{Family: endpoints.IPv4, Table: "t", Chain: "third", Gone: true}, true},
		{unix.NFT_MSG_NEWRULE, unix.NFPROTO_IPV4, Change{Family: endpoints.IPv4, Table: "t", Chain: "second"}, true},
		{unix.NFT_MSG_DELRULE, unix.NFPROTO_IPV4, Change{Family: endpoints.IPv4, Table: "t", Chain: "second", Gone: true}, true},
		{unix.NFT_MSG_NEWRULE, unix.NFPROTO_INET, Change{Table: "t", Chain: "second"}, false},
		{unix.NFT_MSG_NEWSET, unix.NFPROTO_IPV4, Change{}, false},
		{unix.NFT_MSG_NEWSETELEM, unix.NFPROTO_IPV4, Change{}, false},
	} {
		data := slices.Concat([]byte{c.family, 0, 0, 0}, text(1, "t"), text(2, "second"), text(3, "third"))
		got, ok := changeOf(message{kind: nftMessage(int(c.kind)), data: data})
		if got != c.want || ok != c.ok {
			t.Errorf("%d of family %d: %+v, %t, want %+v, %t", c.kind, c.family, got, ok, c.want, c.ok)
		}
		w := &watcher{table: "t", families: []endpoints.IPFamily{endpoints.IPv6}}
		told := netlink(nftMessage(int(c.kind)), 0, 1, data...)
		if got, want := w.concerns(told), c.family == unix.NFPROTO_IPV6; got != want {
			t.Errorf("%d of family %d concerns who watches IPv6: %t", c.kind, c.family, got)
		}
		w.table = "other"
		if w.concerns(told) {
			t.Errorf("%d concerns who watches another table", c.kind)
		}
	}
}

// Whoever has found what it looks for in an answer is not shown the rest.
func TestAWalkEndsWhereItIsEnded(t *testing.T) {
	t.Parallel()
	attribute := []byte{8, 0, 1, 0, 'a', 'b', 'c', 'd'}
	seen := 0
	for kind, v := range attributes(slices.Concat(attribute, attribute)) {
		if seen++; kind != 1 || string(v) != "abcd" {
			t.Errorf("attribute %d: %q", kind, v)
		}
		break
	}
	header := make([]byte, headerSize)
	binary.NativeEndian.PutUint32(header, headerSize)
	for range messages(slices.Concat(header, header)) {
		seen++
		break
	}
	if seen != 2 {
		t.Errorf("%d were seen, want one of each", seen)
	}
}

// A watch that was closed is not open any more, and says so to whoever closes it again.
func TestAWatchIsClosedOnce(t *testing.T) {
	alone(t)
	k, err := openKernel(Options{Table: defaultTable, Families: sortedFamilies(nil), MasqueradeMark: defaultMark})
	if err != nil {
		t.Fatal(err)
	}
	w, err := k.watch(Options{Table: defaultTable, Families: sortedFamilies(nil)})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.close(), k.close()); err != nil {
		t.Error(err)
	}
	if err := w.close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("closed again: %v", err)
	}
	if err := k.close(); err != nil {
		t.Errorf("the kernel let go of again: %v", err)
	}
}
