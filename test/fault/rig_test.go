//go:build linux

package fault

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
	"github.com/lameduck-proxy/lameduck/test/lab"
)

func TestMain(m *testing.M) {
	if os.Getenv(victim) != "" {
		os.Exit(beVictim())
	}
	if code, ran := lab.InUserNamespace(); ran {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// thorough says whether tests are to be as long as their numbers say.
func thorough() bool { return os.Getenv("LAMEDUCK_KERNEL") != "" }

// everything says whether that holds for the slow ones, too.
func everything() bool { return os.Getenv("LAMEDUCK_KERNEL") == "all" }

// often returns a number of times: all of them, or few in a plain run of all tests. A sync of iptables takes ten times as
// long as one of nftables, and so they have a fifth of all unless everything is asked for.
func (p plane) often(all, few int) int {
	switch {
	case !thorough():
		return few
	case p.dialect == plan.IPTables && !everything():
		return max(few, all/5)
	default:
		return all
	}
}

// dataplane is what is put into trouble.
type dataplane interface {
	Apply(p *plan.Plan, d plan.Delta) error
	Resync(p *plan.Plan) error
	Close() error
}

// rig is a dataplane at work in a lab.
type rig struct {
	*lab.Lab
	worker *lab.Worker // in the node's namespace
	kind   plane
	dataplane
	*cluster
}

// newRig makes a lab, and has a dataplane work on its node. The test skips where it cannot.
func newRig(t *testing.T, kind plane, seed uint64) *rig {
	t.Helper()
	r := bareRig(t, kind, seed)
	err := r.worker.Do(func() (err error) {
		r.dataplane, err = kind.start(r.node)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.worker.Do(r.Close); err != nil {
			t.Error(err)
		}
	})
	return r
}

// bareRig has no dataplane yet.
func bareRig(t *testing.T, kind plane, seed uint64) *rig {
	t.Helper()
	l, err := lab.New(layout())
	if err != nil {
		backendtest.Lacking(t, "needs network namespaces: %v", err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	r := &rig{Lab: l, kind: kind, cluster: newCluster(kind.dialect, seed)}
	if err := l.SetNodeAddresses(r.node.Addresses); err != nil {
		t.Fatal(err)
	}
	for _, p := range []lab.Protocol{lab.TCP, lab.UDP, lab.SCTP} {
		for _, f := range endpoints.Families() {
			if err := l.Listen(p, f == endpoints.IPv6, targetPort); err != nil {
				t.Fatal(err)
			}
		}
	}
	if r.worker, err = l.Worker(lab.NodeName); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.worker.Close)
	return r
}

// Close lets the dataplane go.
func (r *rig) Close() error { return r.dataplane.Close() }

// sync puts what has become of the cluster in force.
func (r *rig) sync() error {
	p, d := r.step()
	return r.worker.Do(func() error { return r.Apply(p, d) })
}

// The sites. All pods of a machine share one, since a site may have any number of addresses.
const (
	pods      = "pods"      // on the node
	caller    = "caller"    // a pod on the node that is no endpoint
	remote    = "remote"    // pods on another node
	client    = "client"    // outside the cluster
	elsewhere = "elsewhere" // all the rest
)

// podsPerSite is how many there are here, and elsewhere.
const podsPerSite = 16

func layout() lab.Layout {
	l := lab.Layout{
		Interfaces: []string{"eth0", "cbr0"}, Elsewhere: elsewhere,
		Beacons: []netip.Addr{netip.MustParseAddr("198.18.0.1"), netip.MustParseAddr("2001:db8:ff::1")},
		Sites: []lab.Site{
			{Name: pods, Interface: "cbr0"}, {Name: caller, Interface: "cbr0", Addrs: callerAddrs()},
			{Name: remote, Interface: "eth0"}, {Name: client, Interface: "eth0", Addrs: clientAddrs()},
		},
	}
	for i := range podsPerSite {
		for _, f := range endpoints.Families() {
			l.Sites[0].Addrs = append(l.Sites[0].Addrs, podAddr(f, i, true))
			l.Sites[2].Addrs = append(l.Sites[2].Addrs, podAddr(f, i, false))
		}
	}
	l.Sites = append(l.Sites, lab.Site{Name: elsewhere, Interface: "eth0", Addrs: slices.Clone(l.Beacons)})
	return l
}

func both(v4, v6 string) []netip.Addr {
	return []netip.Addr{netip.MustParseAddr(v4), netip.MustParseAddr(v6)}
}

func callerAddrs() []netip.Addr { return both("10.244.1.200", "fd00:244:1::200") }
func clientAddrs() []netip.Addr { return both("203.0.113.7", "2001:db8:113::7") }

// podAddr is an address of the i-th pod here or on the other node.
func podAddr(f endpoints.IPFamily, i int, local bool) netip.Addr {
	node := 2
	if local {
		node = 1
	}
	if f == endpoints.IPv6 {
		return netip.MustParseAddr(fmt.Sprintf("fd00:244:%d::%x", node, i+1))
	}
	return netip.MustParseAddr(fmt.Sprintf("10.244.%d.%d", node, i+1))
}

// source is the address that calls from a site have.
func (r *rig) source(site string, f endpoints.IPFamily) netip.Addr {
	var all []netip.Addr
	switch site {
	case client:
		all = clientAddrs()
	case caller:
		all = callerAddrs()
	default:
		all = r.node.Addresses
	}
	return all[slices.IndexFunc(all, func(a netip.Addr) bool { return endpoints.FamilyOf(a) == f })]
}

// repetitions counts the first packets of connections that the kernel of a site sent again. One
// that was lost is not seen in any other way by a client that waits.
func (r *rig) repetitions(site string) (string, error) {
	var text []byte
	err := r.Do(site, func() (err error) {
		text, err = os.ReadFile("/proc/thread-self/net/netstat")
		return err
	})
	if err != nil {
		return "", err
	}
	lines := strings.Split(string(text), "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		if j := slices.Index(strings.Fields(lines[i]), "TCPSynRetrans"); j >= 0 {
			return strings.Fields(lines[i+1])[j], nil
		}
	}
	return "", errors.New("the kernel does not count repeated first packets")
}
