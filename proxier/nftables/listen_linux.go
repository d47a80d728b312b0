package nftables

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// reader reads what the kernel tells of transactions: a message for each change, in datagrams, and at the end one with the generation
// (nf_tables_api.c, nf_tables_commit).
type reader struct {
	file      *os.File
	concerns  func(Change) bool
	concerned bool // so far, by the transaction that is being told of
	in        [receiveBuffer]byte
}

// listen subscribes to what everybody does.
func listen(opts Options, concerns func(Change) bool) (transactions, error) {
	fd, file, err := notificationSocket(opts.NetNS)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(makeRoom(fd), subscribe(fd)); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &reader{file: file, concerns: concerns}, nil
}

// notificationSocket opens a socket for notifications in a network namespace.
func notificationSocket(netNS int) (fd int, file *os.File, err error) {
	err = inNamespace(netNS, func() (err error) {
		fd, err = unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_NETFILTER)
		return err
	})
	if err != nil {
		return 0, nil, fmt.Errorf("netlink socket: %w", err)
	}
	return fd, os.NewFile(uintptr(fd), "nftables notifications"), nil
}

// subscribe has the kernel tell a socket of all transactions.
func subscribe(fd int) error {
	groups := uint32(1) << (unix.NFNLGRP_NFTABLES - 1)
	if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: groups}); err != nil {
		return fmt.Errorf("subscribe to changes of the ruleset: %w", err)
	}
	return nil
}

func (r *reader) close() error { return r.file.Close() }

func (r *reader) next() (generation uint32, concerned bool, err error) {
	for {
		n, err := r.file.Read(r.in[:])
		if errors.Is(err, unix.ENOBUFS) {
			r.concerned = false
			return 0, true, nil
		}
		if err != nil {
			return 0, false, err
		}
		for m := range messages(r.in[:n]) {
			if m.kind>>8 != unix.NFNL_SUBSYS_NFTABLES || len(m.data) < nfgenmsg {
				continue
			}
			if m.kind&0xff == unix.NFT_MSG_NEWGEN {
				concerned, r.concerned = r.concerned, false
				return generationOf(m), concerned, nil
			}
			if c, ok := changeOf(m); ok {
				r.concerned = r.concerned || r.concerns(c)
			}
		}
	}
}

// generationOf reads the message at the end of a transaction.
func generationOf(m message) uint32 {
	for kind, v := range attributes(m.data[nfgenmsg:]) {
		if kind == unix.NFTA_GEN_ID && len(v) == 4 {
			return binary.BigEndian.Uint32(v)
		}
	}
	return 0
}

// changeOf reads a message about a table, a chain or a rule of the families that there are Services in.
func changeOf(m message) (c Change, ok bool) {
	chain := uint16(0) // the attribute with its name
	switch m.kind & 0xff {
	case unix.NFT_MSG_NEWTABLE, unix.NFT_MSG_DELTABLE:
	case unix.NFT_MSG_NEWCHAIN, unix.NFT_MSG_DELCHAIN:
		chain = unix.NFTA_CHAIN_NAME
	case unix.NFT_MSG_NEWRULE, unix.NFT_MSG_DELRULE:
		chain = unix.NFTA_RULE_CHAIN
	default:
		return c, false
	}
	for _, f := range endpoints.Families() {
		if nfFamily(f) == m.data[0] {
			c.Family, ok = f, true
		}
	}
	switch m.kind & 0xff {
	case unix.NFT_MSG_DELTABLE, unix.NFT_MSG_DELCHAIN, unix.NFT_MSG_DELRULE:
		c.Gone = true
	}
	for kind, v := range attributes(m.data[nfgenmsg:]) {
		switch name := strings.TrimRight(string(v), "\x00"); {
		case kind == unix.NFTA_TABLE_NAME:
			c.Table = name
		case kind == chain && chain != 0:
			c.Chain = name
		}
	}
	return c, ok
}
