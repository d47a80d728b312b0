package host

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/vishvananda/netlink"
)

// Addresses returns the addresses of all interfaces of the network namespace that the caller is in, each once and in
// order. Left out are loopback addresses, which every node has, link-local ones, which nobody reaches a Service by, and
// those that are still or no longer good for nothing.
func Addresses() ([]netip.Addr, error) {
	list, err := netlink.AddrList(nil, netlink.FAMILY_ALL)
	if err != nil {
		return nil, fmt.Errorf("host: list addresses: %w", err)
	}
	var out []netip.Addr
	for _, a := range list {
		if addr, ok := netip.AddrFromSlice(a.IP); ok && usable(addr.Unmap(), a.Flags) {
			out = append(out, addr.Unmap())
		}
	}
	slices.SortFunc(out, netip.Addr.Compare)
	return slices.Compact(out), nil
}

// Flags of an address (include/uapi/linux/if_addr.h).
const (
	duplicate = 0x08 // IFA_F_DADFAILED: another machine has it
	tentative = 0x40 // IFA_F_TENTATIVE: it is not known yet whether another machine has it
)

func usable(a netip.Addr, flags int) bool {
	return !a.IsLoopback() && !a.IsLinkLocalUnicast() && flags&(duplicate|tentative) == 0
}

// Watch calls changed with all addresses, when it begins and whenever they have changed, until the context ends.
func Watch(ctx context.Context, changed func([]netip.Addr)) error {
	updates, done := make(chan netlink.AddrUpdate), make(chan struct{})
	if err := netlink.AddrSubscribe(updates, done); err != nil {
		return fmt.Errorf("host: watch addresses: %w", err)
	}
	defer func() {
		close(done)
		for range updates { // a message that waits holds up its sender
			continue
		}
	}()
	last, err := Addresses()
	if err != nil {
		return err
	}
	changed(last)
	for {
		select {
		case <-ctx.Done():
			return nil
		case _, ok := <-updates:
			if !ok {
				return errors.New("host: the kernel stopped telling of addresses")
			}
		}
		now, err := Addresses()
		if err != nil {
			return err
		}
		if !slices.Equal(now, last) {
			last = now
			changed(now)
		}
	}
}
