package memory

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// talker checks that every path the rows take can be told.
type talker struct {
	*subject
	told map[string]bool
}

func (r *talker) Probe(p packet.Packet) (packet.Trace, error) {
	t, err := r.subject.Probe(p)
	if err != nil {
		return t, err
	}
	var stages []string
	for _, h := range t.Hops {
		if h.Stage == "" || h.Detail == "" || strings.HasSuffix(h.Detail, ".") || strings.Contains(h.Detail, "%!") || strings.Contains(h.Detail, "invalid") {
			return t, fmt.Errorf("a hop reads %q: %q", h.Stage, h.Detail)
		}
		r.told[h.Stage] = true
		stages = append(stages, h.Stage)
	}
	if len(stages) < 2 || stages[0] != "source" {
		return t, fmt.Errorf("the path is told as %q, want its source first and a reason", stages)
	}
	last := t.Hops[len(t.Hops)-1]
	wantLast := map[packet.Verdict][]string{
		packet.Endpoints: {"masquerade"},
		packet.None:      {"services"},
		packet.Reject:    {"policy", "cluster IPs"},
		packet.Drop:      {"policy", "source ranges", "service CIDR", "localnet"},
		packet.Accept:    {"health check"},
	}[t.Verdict]
	if !slices.Contains(wantLast, last.Stage) {
		return t, fmt.Errorf("a path to %s ends with %q, want one of %q", t.Verdict, last.Stage, wantLast)
	}
	if (t.Verdict == packet.Reject || t.Verdict == packet.Drop) && !strings.Contains(last.Detail, t.Verdict.String()) {
		return t, fmt.Errorf("a path to %s ends with the words %q", t.Verdict, last.Detail)
	}
	return t, nil
}

func TestEveryPathOfTheRowsIsTold(t *testing.T) {
	t.Parallel()
	told := map[string]bool{}
	for _, c := range backendtest.Cases() {
		if err := c.Check(&talker{subject: newSubject(c.Node()), told: told}); err != nil {
			t.Errorf("%s: %v", c.Name(), err)
		}
	}
	for _, stage := range []string{
		"source", "frontend", "source ranges", "policy", "endpoints", "masquerade", "fallback",
		"services", "health check", "cluster IPs", "service CIDR", "localnet",
	} {
		if !told[stage] {
			t.Errorf("no path has the stage %q", stage)
		}
	}
}

func TestSurprisesAreExplained(t *testing.T) {
	t.Parallel()
	onPrimary := node()
	onPrimary.Addresses = append(onPrimary.Addresses, addr(192, 168, 1, 1))
	onPrimary.NodePortAddresses = onPrimary.PrimaryNodePortAddresses()
	iptables := node()
	iptables.Dialect = plan.IPTables
	sp := portOf(1, 0)
	p := planWithNodePort(t, onPrimary)
	for name, c := range map[string]struct {
		dp   *Dataplane
		dst  netip.AddrPort
		want string
	}{
		"a node port on the wrong address": {New(p), netip.MustParseAddrPort("192.168.1.1:30080"), "nodePortAddresses"},
		"a node port on localhost":         {New(p), netip.MustParseAddrPort("127.0.0.1:30080"), "do not answer on 127.0.0.1"},
		"a health-check node port":         {New(p), netip.MustParseAddrPort("192.168.0.1:31000"), "health-check node port"},
		"a ClusterIP's undefined port":     {New(planOf(t, iptables, sp)), netip.MustParseAddrPort("172.16.0.1:81"), "without this port"},
		"an address of nobody":             {New(p), netip.MustParseAddrPort("8.8.8.8:53"), "no Service has"},
	} {
		trace := c.dp.Trace(packet.Packet{Src: netip.MustParseAddrPort("192.168.0.1:1000"), Dst: c.dst, Protocol: packet.TCP})
		last := trace.Hops[len(trace.Hops)-1].Detail
		if trace.Verdict != packet.None || !strings.Contains(last, c.want) {
			t.Errorf("%s: verdict %s, %q, want it to say %q", name, trace.Verdict, last, c.want)
		}
	}
}

// An address of a Service is named by its kind: there may be several external ones.
func TestFrontendsAreNamedByTheirKind(t *testing.T) {
	t.Parallel()
	service := endpoints.ServicePortName{ServiceName: endpoints.ServiceName{Namespace: "shop", Name: "web"}}
	dst := netip.MustParseAddrPort("192.0.2.1:80")
	for kind, want := range map[plan.Kind]string{
		plan.ClusterIP:      "192.0.2.1:80/TCP is the ClusterIP of shop/web",
		plan.ExternalIP:     "192.0.2.1:80/TCP is an external IP of shop/web",
		plan.LoadBalancerIP: "192.0.2.1:80/TCP is the LoadBalancer IP of shop/web",
		plan.NodePort:       "192.0.2.1 is this node, port 80 a node port of shop/web",
	} {
		f := &plan.Frontend{Key: plan.Key{Addr: dst.Addr(), Port: dst.Port(), Protocol: endpoints.TCP}, Kind: kind, Service: service}
		if got := frontendText(f, dst); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
