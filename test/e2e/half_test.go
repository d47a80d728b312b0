package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// The first state of a TCP connection, in which the kernel remembers for two minutes whom it sent
// the first packet to (TCP_CONNTRACK_SYN_SENT).
const synSent = 1

// halfOpen are the connections to the Service, by way of each node, whose first packet nobody has
// answered: where it went to tells what to look for when a request failed. One that the rules
// dropped isn't among them.
func (w *rolling) halfOpen(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for i, m := range w.c.nodes[slowLabel] {
		err := m.Do(func() error {
			flows, err := netlink.ConntrackTableList(netlink.ConntrackTable, unix.AF_INET)
			for _, f := range flows {
				if s, ok := f.ProtoInfo.(*netlink.ProtoInfoTCP); !ok || s.State != synSent || !f.Forward.DstIP.Equal(w.ways[i].to.Addr().AsSlice()) {
					continue
				}
				fmt.Fprintf(&b, "%s sent %s:%d, to %s:%d, on to %s:%d (%s), and heard nothing, %d s left\n", m.Name,
					f.Forward.SrcIP, f.Forward.SrcPort, f.Forward.DstIP, f.Forward.DstPort, f.Reverse.SrcIP, f.Reverse.SrcPort, w.nameOf(f.Reverse.SrcIP.String()), f.TimeOut)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	return b.String()
}

// forgetUntaken forgets the connections whose first packet came to a node before its rules, and so went on as it was: nobody takes it, and the node
// sends a later connection from the same port after it for two minutes, as it does with kube-proxy's rules. Clients ask until they are answered
// before a load begins, and a load uses the same ports again: it would lose one connection in some thousand to that.
func (c *cluster) forgetUntaken(t *testing.T) {
	t.Helper()
	for _, members := range c.nodes { // order: each is looked at by itself
		for _, m := range members {
			for _, family := range []netlink.InetFamily{unix.AF_INET, unix.AF_INET6} {
				err := m.Do(func() error {
					_, err := netlink.ConntrackDeleteFilters(netlink.ConntrackTable, family, untaken{})
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// untaken are TCP connections to where they were sent, without an answer.
type untaken struct{}

func (untaken) MatchConntrackFlow(f *netlink.ConntrackFlow) bool {
	s, ok := f.ProtoInfo.(*netlink.ProtoInfoTCP)
	return ok && s.State == synSent && f.Forward.DstIP.Equal(f.Reverse.SrcIP)
}

// nameOf is the pod of an address.
func (w *rolling) nameOf(ip string) string {
	for _, p := range slices.Concat(w.old, w.fresh) {
		if p.Status.PodIP == ip {
			return p.Name
		}
	}
	return "no pod of the rollout"
}
