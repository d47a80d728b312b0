//go:build linux

package conformance

import (
	"net/netip"
	"slices"
	"sync"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
	"github.com/lameduck-proxy/lameduck/test/lab"
)

// labs are the labs of a test, each used by one case after the other: to make and unmake one
// keeps a kernel busy for 100 ms (BenchmarkLab), far longer than what most cases do in it.
type labs struct {
	mutex     sync.Mutex
	idle, all []*lab.Lab
}

func newLabs(t *testing.T) *labs {
	t.Helper()
	ls := &labs{}
	t.Cleanup(func() { // when all cases have ended
		for _, l := range ls.all {
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return ls
}

// take returns a lab without rules, flows and connections. The test skips where there cannot be
// one.
func (ls *labs) take(t *testing.T) *lab.Lab {
	t.Helper()
	ls.mutex.Lock()
	defer ls.mutex.Unlock()
	if n := len(ls.idle); n > 0 {
		l := ls.idle[n-1]
		ls.idle = ls.idle[:n-1]
		return l
	}
	l, err := lab.New(layout())
	if err != nil {
		backendtest.Lacking(t, "needs network namespaces: %v", err)
	}
	ls.all = append(ls.all, l)
	return l
}

// put gives a lab to whoever comes next.
func (ls *labs) put(l *lab.Lab) {
	ls.mutex.Lock()
	defer ls.mutex.Unlock()
	ls.idle = append(ls.idle, l)
}

// elsewhere has all addresses that belong to Services, or to nobody.
const elsewhere = "elsewhere"

// layout gives each machine and pod among the places a site.
func layout() lab.Layout {
	l := lab.Layout{
		Interfaces: []string{backendtest.Uplink, backendtest.PodInterface}, Elsewhere: elsewhere,
		Beacons: []netip.Addr{netip.MustParseAddr("198.18.0.1"), netip.MustParseAddr("2001:db8:ff::1")},
	}
	rest := lab.Site{Name: elsewhere, Interface: backendtest.Uplink, Addrs: slices.Clone(l.Beacons)}
	for _, p := range backendtest.Places() {
		addrs := []netip.Addr{p.Addr(endpoints.IPv4), p.Addr(endpoints.IPv6)}
		switch {
		case p.Node() == backendtest.NodeName && p.Interface() == "": // the node itself
		case p == backendtest.Nowhere || p.Interface() == "":
			rest.Addrs = append(rest.Addrs, addrs...)
		default:
			l.Sites = append(l.Sites, lab.Site{Name: p.String(), Addrs: addrs, Interface: p.Interface()})
		}
	}
	l.Sites = append(l.Sites, rest)
	return l
}
