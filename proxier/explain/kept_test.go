package explain

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
	"github.com/lameduck-proxy/lameduck/test/golden"
)

var update = flag.Bool("update", false, "rewrite testdata/worlds.txt")

// What is said of random worlds, and of packets to every address in them, is kept whole.
func TestWhatIsSaidOfRandomWorlds(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	for i, version := range []string{"1.36", "1.36", "1.25", "1.30", "1.36"} {
		dialect := []plan.Dialect{plan.NFTables, plan.IPTables}[i%2]
		node, p := backendtest.WorldNode(dialect), profile(t, version, nil)
		node.Options, node.MasqueradeAll = p.Options, i == 4
		w := backendtest.NewWorld(uint64(i+1), node)
		for n := range 4 {
			disturb(t, w, n)
		}
		snap := w.Cache.Snapshot()
		x := Build(snap, node, p, func(endpoints.ServiceName) bool { return true })
		if err := x.WriteText(&out, TextOptions{Width: []int{0, 0, 60, 60, 80}[i], Style: func(r Role, word string) string { return fmt.Sprint(word, "'", r) }}); err != nil {
			t.Fatal(err)
		}
		for _, v := range x.Services[:min(len(x.Services), 3)] {
			data, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "%s\n", data)
		}
		for _, v := range x.Services[:min(len(x.Services), 3)] {
			data, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "%s\n", data)
		}
		rules := plan.Build(snap, node)
		said := map[Hop]bool{}
		for f := range rules.Frontends() {
			for _, to := range destinations(f.Key, node) {
				for _, from := range sources(f.Key.Addr) {
					traced, err := ParsePacket(from, strings.ToLower(to.String()+"/"+f.Key.Protocol.String()))
					if err != nil {
						t.Fatal(err)
					}
					writeTrace(&out, BuildTrace(rules, traced, p), said)
				}
			}
		}
	}
	golden.Compare(t, "testdata/worlds.txt", out.String(), *update)
}

// disturb adds the n-th Service, with endpoints in all conditions, of several zones.
func disturb(t *testing.T, w *backendtest.World, n int) {
	t.Helper()
	name := fmt.Sprintf("svc-%d", n)
	slices := w.Slices(name)
	for _, s := range slices {
		for i := range s.Endpoints {
			e := &s.Endpoints[i]
			serving, terminating := w.Rand.IntN(4) > 0, w.Rand.IntN(3) == 0
			ready := serving && !terminating
			e.Conditions = discoveryv1.EndpointConditions{Ready: &ready, Serving: &serving, Terminating: &terminating}
			if n > 1 {
				e.Hints = &discoveryv1.EndpointHints{ForZones: []discoveryv1.ForZone{{Name: []string{w.Node.Zone, "zone-b"}[w.Rand.IntN(2)]}}}
			}
		}
	}
	svc := w.Service(n, name)
	if n > 1 {
		near := corev1.ServiceTrafficDistributionPreferClose
		svc.Spec.TrafficDistribution = &near
	}
	if svc.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal && svc.Spec.Type == corev1.ServiceTypeLoadBalancer {
		svc.Spec.HealthCheckNodePort = int32(31000 + n)
	}
	backendtest.SetService(t, w.Cache, svc, slices...)
}

// destinations are a frontend, on the node's own address for a node port, and beside it another port and those of health checks.
func destinations(key plan.Key, node *plan.Node) []netip.AddrPort {
	if !key.Addr.IsUnspecified() {
		return []netip.AddrPort{netip.AddrPortFrom(key.Addr, key.Port), netip.AddrPortFrom(key.Addr, 1)}
	}
	var out []netip.AddrPort
	for _, own := range node.Addresses {
		for _, port := range []uint16{key.Port, 1, 31000, 31001} {
			if own.Is4() == key.Addr.Is4() {
				out = append(out, netip.AddrPortFrom(own, port))
			}
		}
	}
	return out
}

// sources are where packets to an address come from: a pod, the node itself, outside.
func sources(to netip.Addr) []string {
	if to.Is4() {
		return []string{"10.244.1.2", "192.168.10.1", "198.51.100.7"}
	}
	return []string{"fd00:244:1::2", "fd00:168:10::1", "2001:db8::7"}
}

// writeTrace writes what is decided of a packet, and each hop that was not said of one before it.
func writeTrace(b *strings.Builder, a *Trace, said map[Hop]bool) {
	fmt.Fprintf(b, "%s -> %s: %s %s %v masquerade %t hairpin %v\n", a.From, a.To, a.Verdict, a.Service, a.Endpoints, a.Masquerade, a.Hairpin)
	for _, h := range a.Hops {
		if !said[h] {
			fmt.Fprintf(b, "  %s: %s\n", h.Stage, h.Detail)
		}
		said[h] = true
	}
}
