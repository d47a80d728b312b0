package nftables

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// watcher is a socket on which the kernel tells of every transaction.
type watcher struct {
	file     *os.File
	fd       int
	table    string
	families []endpoints.IPFamily
	in       [receiveBuffer]byte
}

// watch subscribes to what others than this socket do.
func (c *conn) watch(opts Options) (notices, error) {
	w := &watcher{table: opts.Table, families: opts.Families, fd: -1}
	own, err := unix.Getsockname(c.fd)
	if err != nil {
		return nil, fmt.Errorf("name of the netlink socket: %w", err)
	}
	name, ok := own.(*unix.SockaddrNetlink)
	if !ok {
		return nil, fmt.Errorf("the netlink socket is called %T", own)
	}
	if w.fd, w.file, err = notificationSocket(opts.NetNS); err != nil {
		return nil, err
	}
	if err := errors.Join(makeRoom(w.fd), ignore(w.fd, name.Pid)); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare the netlink socket: %w", err), w.close())
	}
	if err := subscribe(w.fd); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// ignore has the kernel drop what it would tell of one socket's own transactions: a load is a
// message for each of its elements. Each datagram is about one transaction, and its messages
// bear the port of the socket that it came by (nf_tables_api.c, nft_commit_notify).
func ignore(fd int, port uint32) error {
	const portOffset = 12 // struct nlmsghdr, nlmsg_pid
	// A filter loads words in network byte order.
	port = binary.BigEndian.Uint32(binary.NativeEndian.AppendUint32(nil, port))
	code := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: portOffset},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: port},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
		{Code: unix.BPF_RET | unix.BPF_K, K: ^uint32(0)},
	}
	return unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
		&unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}) // four
}

func (w *watcher) close() error { return w.file.Close() }

// next waits for what another program does, and says whether it is about our tables.
func (w *watcher) next() (bool, error) {
	n, err := w.file.Read(w.in[:])
	if errors.Is(err, unix.ENOBUFS) {
		return true, nil // more than there was room for: it may have been
	}
	return err == nil && w.concerns(w.in[:n]), err
}

// concerns says whether a datagram is about our tables. Whatever a message is about, its first
// attribute is the name of the table; that of the end of a transaction has none.
func (w *watcher) concerns(b []byte) bool {
	for m := range messages(b) {
		if m.kind>>8 != unix.NFNL_SUBSYS_NFTABLES || m.kind&0xff == unix.NFT_MSG_NEWGEN || len(m.data) < nfgenmsg {
			continue
		}
		if !slices.ContainsFunc(w.families, func(f endpoints.IPFamily) bool { return nfFamily(f) == m.data[0] }) {
			continue
		}
		for kind, v := range attributes(m.data[nfgenmsg:]) {
			if kind == unix.NFTA_TABLE_NAME && strings.TrimRight(string(v), "\x00") == w.table {
				return true
			}
		}
	}
	return false
}
