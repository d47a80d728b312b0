package proxier

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/pace"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

const (
	s  = time.Second
	ms = time.Millisecond
)

// backend is a Backend as real ones are: a call puts a whole Plan in force, or fails and leaves
// everything as it was. It refuses what no real one could take: two calls at once, and a delta
// that does not lead from what is in force to the Plan.
type backend struct {
	t     *testing.T
	began time.Time

	mu      sync.Mutex
	inForce *plan.Plan
	trusted bool // what is in force is what the last call left
	busy    bool
	calls   []string
	fail    []error       // what the next calls return, nil for those that succeed
	takes   time.Duration // how long a call takes
	hold    chan struct{} // if not nil, a call goes on when it can read from it
}

func (b *backend) Apply(p *plan.Plan, d plan.Delta) error {
	return b.call(p, "apply", func() error {
		if !b.trusted {
			b.t.Error("Apply, although the Backend has lost track of its rules")
			return nil
		}
		if diff := cmp.Diff(changes(plan.Diff(b.inForce, p)), changes(d)); diff != "" {
			b.t.Errorf("the delta does not lead to the Plan (-want +got):\n%s", diff)
		}
		return nil
	})
}

func (b *backend) Resync(p *plan.Plan) error {
	return b.call(p, "resync", func() error { return nil })
}

func (b *backend) Close() error {
	b.t.Error("the loop closed the Backend, which is not its to close")
	return nil
}

func (b *backend) call(p *plan.Plan, name string, check func() error) error {
	b.mu.Lock()
	if b.busy {
		b.t.Error("two calls at once")
	}
	b.busy = true
	hold, takes := b.hold, b.takes
	b.mu.Unlock()
	if hold != nil {
		<-hold
	}
	time.Sleep(takes)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.busy = false
	err := check()
	if len(b.fail) > 0 {
		err, b.fail = errors.Join(err, b.fail[0]), b.fail[1:]
	}
	outcome := "ok"
	b.trusted = err == nil
	if err == nil {
		b.inForce = p
	} else {
		outcome = "fails"
	}
	b.calls = append(b.calls, fmt.Sprintf("%s %s %s: %s", time.Since(b.began), name, outcome, contents(p)))
	return err
}

// holds has calls wait for the channel from now on, nil for none.
func (b *backend) holds(c chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hold = c
}

// changes names the frontends of a delta.
func changes(d plan.Delta) []string {
	out := make([]string, 0, len(d.Frontends))
	for _, c := range d.Frontends {
		out = append(out, fmt.Sprintf("%s old %t new %t", c.Key, c.Old != nil, c.New != nil))
	}
	return out
}

// contents says what a Plan forwards to.
func contents(p *plan.Plan) string {
	var out []string
	for svc := range p.Services() {
		var addrs []string
		for _, t := range svc.Ports[0].Lists.Cluster {
			addrs = append(addrs, t.Addr.Addr().String())
		}
		out = append(out, svc.Name.Name+"="+strings.Join(addrs, ","))
	}
	return strings.Join(out, " ")
}

// rig is a Proxier that runs in a bubble, from time 0.
type rig struct {
	*Proxier
	t       *testing.T
	began   time.Time
	backend *backend
	stop    func() error

	// mu guards what the Proxier reports, against the race detector's notion of it: a test looks
	// only when everybody waits (synctest.Wait), but nothing tells whoever goes on later.
	mu       sync.Mutex
	syncs    []Sync
	cleaned  []Cleaning
	problems []string
}

func node() *plan.Node {
	return &plan.Node{Name: "node-a", Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.1")}, Options: endpoints.CurrentOptions()}
}

// run starts a Proxier on a fake Backend, in a bubble of its own; change may alter its Options.
// What the Proxier reports is read after synctest.Wait.
func run(t *testing.T, change func(*rig, *Options), test func(r *rig)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t, began: time.Now(), backend: &backend{t: t, began: time.Now()}}
		o := Options{
			Backend: r.backend, Node: node(),
			Pace:     pace.Policy{MinInterval: s, RetryInterval: 30 * s},
			Observer: func(s Sync) { note(r, &r.syncs, s) },
			Cleaned:  func(c Cleaning) { note(r, &r.cleaned, c) },
			Problems: func(p endpoints.Problem) { note(r, &r.problems, p.Error()) },
		}
		if change != nil {
			change(r, &o)
		}
		p, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		r.Proxier = p
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- p.Run(ctx) }()
		r.stop = func() error { cancel(); return <-ended }
		t.Cleanup(cancel)
		test(r)
		cancel()
		synctest.Wait()
	})
}

// note adds to what was reported, noted reads it when everybody waits.
func note[T any](r *rig, list *[]T, one T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*list = append(*list, one)
}

func noted[T any](r *rig, list *[]T) []T {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(*list)
}

// at waits until so long after the start, and until nothing more happens then.
func (r *rig) at(d time.Duration) {
	time.Sleep(d - time.Since(r.began))
	synctest.Wait()
}

// want says which calls the Backend has had by now.
func (r *rig) want(calls ...string) {
	r.t.Helper()
	synctest.Wait()
	r.backend.mu.Lock()
	defer r.backend.mu.Unlock()
	if diff := cmp.Diff(calls, slices.Clone(r.backend.calls)); diff != "" {
		r.t.Fatalf("calls (-want +got):\n%s", diff)
	}
}

func (r *rig) lastSync() Sync {
	r.t.Helper()
	all := noted(r, &r.syncs)
	if len(all) == 0 {
		r.t.Fatal("no sync was reported")
	}
	return all[len(all)-1]
}

// service is a Service with one TCP port and a health-check node port.
func service(name, ip string) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeLoadBalancer, ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicyLocal, HealthCheckNodePort: 31000,
			ClusterIP: ip, ClusterIPs: []string{ip}, IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol},
			Ports: []corev1.ServicePort{{Protocol: corev1.ProtocolTCP, Port: 80}},
		},
	}
}

// slice is the EndpointSlice of a Service, with ready endpoints on node-a.
func slice(service string, ips ...string) *discoveryv1.EndpointSlice {
	port, name, nodeName := int32(8080), "", "node-a"
	out := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: "shop", Name: service + "-1", Labels: map[string]string{discoveryv1.LabelServiceName: service}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: &name, Port: &port}},
	}
	for _, ip := range ips {
		out.Endpoints = append(out.Endpoints, discoveryv1.Endpoint{Addresses: []string{ip}, NodeName: &nodeName})
	}
	return out
}

// fill delivers a Service with an endpoint and says that this is all there is.
func (r *rig) fill() {
	r.SetService(service("web", "10.96.0.1"))
	r.SetSlice(slice("web", "10.0.0.1"))
	r.Synced()
}
