package agent

import (
	"context"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/memory"
	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// kernel is a Backend that packets can be asked about.
type kernel struct {
	mu    sync.Mutex
	plane *memory.Dataplane
}

func (k *kernel) Apply(p *plan.Plan, _ plan.Delta) error { return k.Resync(p) }

func (k *kernel) Resync(p *plan.Plan) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.plane = memory.New(p)
	return nil
}

func (k *kernel) Close() error { return nil }

// visit says what becomes of a client's packet to a node port.
func (k *kernel) visit(port uint16) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.plane.Trace(packet.Packet{
		Src: netip.MustParseAddrPort("198.51.100.7:40000"), Dst: netip.AddrPortFrom(netip.MustParseAddr("192.0.2.1"), port), Protocol: packet.TCP,
	}).Verdict.String()
}

// fleet are two endpoints: one here, and one that is ready elsewhere.
func fleet(ready, terminating bool) *discoveryv1.EndpointSlice {
	s := slice("web", ready)
	s.Endpoints[0].Conditions.Terminating = &terminating
	yes, there := true, "node-2"
	s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{
		Addresses: []string{"10.0.1.1"}, NodeName: &there, Conditions: discoveryv1.EndpointConditions{Ready: &yes, Serving: &yes},
	})
	return s
}

// Reference: KEP-1669, "Example: only serving and terminating endpoints on the node, policy Local"; the gate is locked
// since Kubernetes 1.28, so that nobody can compare any more but here.
func TestAProxyWithoutTheFallbackDropsWhatItWouldHaveSaved(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		gates map[string]bool
		want  string
	}{
		{"as the version does", nil, "endpoints"},
		{"with the gate on", map[string]bool{"ProxyTerminatingEndpoints": true}, "endpoints"},
		{"with the gate off", map[string]bool{"ProxyTerminatingEndpoints": false}, "drop"},
	} {
		for _, dialect := range []plan.Dialect{plan.NFTables, plan.IPTables} {
			t.Run(c.name+", "+dialect.String(), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					profile, err := endpoints.ProfileFor(endpoints.CurrentVersion(), c.gates)
					if err != nil {
						t.Fatal(err)
					}
					node := thisNode()
					node.Options, node.Dialect = profile.Options, dialect
					k := &kernel{}
					p, err := newProxy(Options{}, node, k, nil)
					if err != nil {
						t.Fatal(err)
					}
					ctx, cancel := context.WithCancel(t.Context())
					done := make(chan error)
					go func() { done <- p.Run(ctx) }()
					p.SetNode(node)
					p.SetService(local("web", 0))
					p.SetSlice(fleet(true, false))
					p.Synced()
					time.Sleep(2 * time.Second) // the pace of syncs
					if got := k.visit(30080); got != "endpoints" {
						t.Errorf("with a ready endpoint here: %s", got)
					}
					p.SetSlice(fleet(false, true))
					time.Sleep(2 * time.Second)
					if got := k.visit(30080); got != c.want {
						t.Errorf("while it terminates: %s, want %s", got, c.want)
					}
					cancel()
					if err := <-done; err != nil {
						t.Error(err)
					}
				})
			})
		}
	}
}

func TestAProxyWithoutTheFallbackSaysSoLoudly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, version string
		gates         map[string]bool
		want          []string // parts of lines, one for each
	}{
		{"as kube-proxy", "1.36", nil, nil},
		{"off, as no kube-proxy can", "1.36", map[string]bool{"ProxyTerminatingEndpoints": false}, []string{`"terminatingFallback":"off"`, "No kube-proxy of this version"}},
		{"an old version", "1.24", nil, []string{`"terminatingFallback":"off","kubernetesVersion":"1.24"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v, err := endpoints.ParseVersion(c.version)
			if err != nil {
				t.Fatal(err)
			}
			profile, err := endpoints.ProfileFor(v, c.gates)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			announce(funcr.NewJSON(func(line string) { got = append(got, line) }, funcr.Options{}), profile)
			if len(got) != len(c.want) {
				t.Fatalf("%d lines, want %d: %q", len(got), len(c.want), got)
			}
			for i, want := range c.want {
				if !strings.Contains(got[i], want) || !strings.Contains(got[i], `"error":null`) {
					t.Errorf("line %d: %s, want %s and the severity of an error", i, got[i], want)
				}
			}
		})
	}
}
