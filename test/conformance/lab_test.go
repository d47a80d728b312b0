//go:build linux

package conformance

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
	"github.com/lameduck-proxy/lameduck/test/lab"
)

func TestMain(m *testing.M) {
	if code, ran := lab.InUserNamespace(); ran {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// The simple reference passes all rows: what it is there for is to fail them, so that a plain run of
// all tests leaves this to make kernel.
func TestReference(t *testing.T) {
	t.Parallel()
	if os.Getenv("LAMEDUCK_KERNEL") == "" {
		t.Skip("the reference's own conformance: make kernel")
	}
	backendtest.Run(t, kernel{dialects: []plan.Dialect{plan.NFTables}, start: startReference(t, "")}.backend(t))
}

// The lab is only worth something if wrong rules fail in it, for what is wrong with them.
func TestLabNoticesFaults(t *testing.T) {
	t.Parallel()
	const clusterIP = "a ClusterIP with policy Cluster leads to every ready endpoint, and shows them pods as they are"
	const outside = "with policy Local the outside gets this node's endpoints unmasqueraded, while pods and the node get all"
	labs := newLabs(t)
	for fault, c := range map[string]struct {
		row      string
		protocol packet.Protocol
		want     string // in what the row says
	}{
		"nobody is masqueraded":                      {clusterIP, packet.TCP, "(sees the client), [fd00:244:1::12]:8080 (sees the client)"},
		"everybody is masqueraded":                   {clusterIP, packet.SCTP, "(sees the node), [fd00:244:1::12]:8080 (sees the node)"},
		"hairpins are not masqueraded":               {"a pod that gets itself as the endpoint is masqueraded then, and only then", packet.TCP, "back to where it came from, unmasqueraded: pod A at [fd00:244:1::11]:8080"},
		"rejects are drops":                          {"a ClusterIP with policy Cluster and nothing usable anywhere is rejected", packet.TCP, "got drop, want reject"},
		"drops are rejects":                          {"a ClusterIP with policy Local and endpoints elsewhere only drops", packet.UDP, "got reject, want drop"},
		"the last of several endpoints is missing":   {clusterIP, packet.TCP, "[fd00:244:1::12]:8080 (sees the client), want one of"},
		"an endpoint of another list is too many":    {outside, packet.TCP, "remote pod A at [fd00:244:2::21]:8080, seeing [2001:db8:113::7]"},
		"some flows are dropped":                     {clusterIP, packet.TCP, "not one verdict"},
		"rules meet established flows":               {"a flow stays when source ranges shut its client out, while new ones are dropped", packet.TCP, "went on to drop"},
		"source ranges are ignored":                  {"source ranges guard load-balancer IPs and nothing else", packet.UDP, "want drop"},
		"the second change is lost":                  {"a flow that has ended is a new one when its addresses come back", packet.TCP, "opened again"},
		"nodes are outside":                          {outside, packet.UDP, "the node (fd00:168:10::1) to VIP A"},
		"affinity is never forgotten":                {"session affinity forgets an endpoint that leaves, even if it comes back", packet.TCP, "in 24 flows"},
		"answers do not come back":                   {clusterIP, packet.UDP, "no answer, though there were arrivals: ["},
		"a rule rewrites what is none of its matter": {"addresses that no Service has are left alone", packet.TCP, "yet from another source"},
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			k := kernel{start: startReference(t, fault)}
			i := slices.IndexFunc(backendtest.Cases(), func(bc backendtest.Case) bool {
				return bc.Name() == fmt.Sprintf("%s/%s/%s/%s", c.row, plan.NFTables, endpoints.IPv6, c.protocol)
			})
			if i < 0 {
				t.Fatalf("no row is called %q", c.row)
			}
			bc := backendtest.Cases()[i]
			s, err := k.newSubject(t, labs, bc.Node())
			if err != nil {
				t.Fatal(err)
			}
			if err := bc.Check(s); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the row says %v\nwant something with %q", err, c.want)
			}
		})
	}
}

// With n equally likely results, k draws leave one of them out with a chance of at most n(1-1/n)^k.
func TestDraws(t *testing.T) {
	t.Parallel()
	if got := draws(1); got != 1 {
		t.Errorf("draws(1) = %d, want 1", got)
	}
	for n := 2; n <= 64; n++ {
		chance := func(k int) float64 { return float64(n) * math.Pow(1-1/float64(n), float64(k)) }
		if k := draws(n); chance(k) >= oversight || chance(k-1) < oversight {
			t.Errorf("draws(%d) = %d: one is left out with a chance of %g, with one draw less of %g", n, k, chance(k), chance(k-1))
		}
	}
}
