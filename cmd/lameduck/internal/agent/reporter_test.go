package agent

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/healthcheck/server"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// board is where Events are written.
type board struct {
	mu     sync.Mutex
	events []string
}

func (b *board) CreateEvent(_ context.Context, e *eventsv1.Event) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	line := fmt.Sprintf("%s %s %s/%s %s %s: %s", e.Type, e.Regarding.Kind, e.Regarding.Namespace, e.Regarding.Name, e.Reason, e.Action, e.Note)
	if e.Related != nil {
		line += " (" + e.Related.Kind + " " + e.Related.Name + ")"
	}
	b.events = append(b.events, line)
	return nil
}

func (b *board) PatchEvent(context.Context, string, string, []byte) error { return nil }

func (b *board) take() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.events
	b.events = nil
	return all
}

// stubborn is a Backend that refuses rules for as long as it is told to.
type stubborn struct {
	rules
	refuse error
}

func (s *stubborn) Apply(p *plan.Plan, d plan.Delta) error { return s.Resync(p) }

func (s *stubborn) Resync(p *plan.Plan) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refuse
}

func (s *stubborn) will(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = err
}

// Reference: reasons and actions of kube-proxy 1.36 (cmd/kube-proxy/app/server.go, pkg/proxy/healthcheck/service_health.go), and
// lameduck's own.
func TestWhatAProxyCannotDoBecomesAnEvent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, backend := &board{}, &stubborn{}
		node := thisNode() // with no address for health-check node ports: a real socket would hold up the bubble's time
		node.NodePortAddresses = []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("fd00:8::/64")}
		p, err := newProxy(Options{Events: b}, node, backend, nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		p.serve(ctx, &running)
		running.Go(func() {
			if err := p.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		other := func(change func(*corev1.Service)) *corev1.Service {
			svc := local("zoo", 0)
			svc.Spec.ClusterIPs, svc.Spec.Ports[0].NodePort = []string{"10.96.0.2"}, 0
			change(svc)
			return svc
		}
		for _, step := range []struct {
			name string
			do   func()
			want []string
		}{
			{"the start", func() {}, []string{"Normal Node /node-1 Starting StartKubeProxy: "}},
			{"Services that can be", func() {
				p.SetNode(node)
				p.SetService(local("web", 31000))
				p.SetSlice(slice("web", true))
				p.Synced()
			}, nil},
			{"an address in a slice that is none", func() {
				s := slice("web", true)
				s.Endpoints[0].Addresses = []string{"10.0.0.300"}
				p.SetSlice(s)
			}, []string{`Warning EndpointSlice shop/web-1 PartLeftOut SyncProxyRules: endpoints[0].addresses[0]: `}},
			{"two Services with one address", func() {
				p.SetService(other(func(s *corev1.Service) { s.Spec.ClusterIPs[0] = "10.96.0.1" }))
			}, []string{
				"Warning Service shop/zoo AddressConflict SyncProxyRules: 10.96.0.1:80/TCP, ClusterIP of shop/zoo, leads to shop/web, which has it as its ClusterIP (Service web)",
			}},
			{"they still have it", func() { p.SetSlice(slice("web", true)) }, nil},
			{"not any more", func() { p.SetService(other(func(*corev1.Service) {})) }, nil},
			{"two with one health port", func() { p.SetService(other(func(s *corev1.Service) { s.Spec.HealthCheckNodePort = 31000 })) }, []string{
				"Warning Service shop/zoo HealthCheckNodePortConflict Listen: health-check node port 31000 answers for shop/web, which has the same",
			}},
			{"each has its own", func() {
				p.SetService(other(func(s *corev1.Service) { s.Spec.HealthCheckNodePort = 31001 }))
				time.Sleep(time.Hour) // or the next one is counted with the first
			}, nil},
			{"they have one again", func() { p.SetService(other(func(s *corev1.Service) { s.Spec.HealthCheckNodePort = 31000 })) }, []string{
				"Warning Service shop/zoo HealthCheckNodePortConflict Listen: health-check node port 31000 answers for shop/web, which has the same",
			}},
			{"the kernel refuses", func() {
				backend.will(errors.New("nftables: no such file or directory"))
				p.SetSlice(slice("web", false))
			}, []string{"Warning Node /node-1 FailedToSyncProxyRules SyncProxyRules: the rules are those of before: nftables: no such file or directory"}},
			{"it takes rules again", func() { backend.will(nil) }, nil},
			{"ports that are taken", func() {
				taken := &server.ListenError{Address: "0.0.0.0:31000", Err: errors.New("address already in use")}
				p.trouble(server.Trouble{Service: endpoints.ServiceName{Namespace: "shop", Name: "web"}, Address: taken.Address, Err: taken})
				p.trouble(server.Trouble{Address: taken.Address, Err: taken})
				p.trouble(server.Trouble{Address: taken.Address, Err: errors.New("http: TLS handshake error")})
				p.reporter.notListening(endpoints.ServiceName{}, reasonMetrics, taken)
			}, []string{
				`Warning Service shop/web FailedToStartServiceHealthcheck Listen: node node-1 failed to start healthcheck "shop/web" on 0.0.0.0:31000: address already in use`,
				"Warning Node /node-1 FailedToStartProxierHealthcheck StartKubeProxy: listen on 0.0.0.0:31000: address already in use",
				"Warning Node /node-1 FailedToStartMetricServer StartKubeProxy: listen on 0.0.0.0:31000: address already in use",
			}},
		} {
			step.do()
			time.Sleep(time.Minute) // the pace of syncs, of tries again and of Events
			synctest.Wait()
			got := b.take()
			for i := range min(len(got), len(step.want)) {
				if strings.HasSuffix(step.want[i], ": ") && strings.HasPrefix(got[i], step.want[i]) {
					got[i] = step.want[i] // what is wrong is said in package endpoints' words
				}
			}
			if diff := cmp.Diff(step.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", step.name, diff)
			}
		}
		cancel()
		running.Wait()
	})
}

// Neither a proxy that has no API server to tell, nor one that stands beside the proxy in force, says anything.
func TestWithoutAnAPIServerThereAreNoEvents(t *testing.T) {
	t.Parallel()
	inSim(t, 0, func(r *simRig) {
		if r.reporter.recorder != nil {
			t.Error("there is a recorder")
		}
		r.crowd(2)
		r.SetService(local("web-2", 0))
		r.settle()
		if r.reporter.conflicts != nil {
			t.Error("conflicts are looked for though nobody hears of them")
		}
	})
}
