package iptables

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

func TestRulesInAText(t *testing.T) {
	t.Parallel()
	const text = "*filter\n:A - [0:0]\n-A A -j B\n-A A -j C\nCOMMIT\n*nat\n:A - [0:0]\n-A A -j D\n-X E\nCOMMIT\n*filter\n-A A -j F\nCOMMIT\n"
	if diff := cmp.Diff(counts{filter: 3, nat: 1}, rulesIn(text)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// countedKernel is tables without a chain of ours, and may refuse what it is told to do.
type countedKernel struct {
	kernel // for what is never called here

	layout layout
	refuse int // how many of the next texts
	last   string
}

// save has a rule in each chain that leads to ours, so that exists is asked.
func (k *countedKernel) save(...table) (string, error) {
	text := ""
	for _, x := range k.layout.fixtures() {
		text += "*" + x.table.String() + "\n:" + x.chain + " - [0:0]\n-A " + x.chain + " -j RETURN\nCOMMIT\n"
	}
	return text, nil
}

func (k *countedKernel) exists(fixture) (bool, error)     { return true, nil }
func (k *countedKernel) openLocalhost(func() error) error { return nil }

func (k *countedKernel) restore(text string) (err error) {
	if k.refuse > 0 {
		k.refuse--
		return errors.New("no")
	}
	k.last = text
	return nil
}

// countedWorld is a cluster whose Services change, and a Backend of IPv4 that follows.
type countedWorld struct {
	cache   *endpoints.Cache
	plan    *plan.Plan
	kernel  *countedKernel
	backend *Backend
}

func newCountedWorld() *countedWorld {
	node := &plan.Node{Name: "node-a", Dialect: plan.IPTables, Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.1")}, Options: endpoints.CurrentOptions()}
	w := &countedWorld{cache: endpoints.NewCache(node.Options), plan: plan.Empty(node), kernel: &countedKernel{}}
	opts := Options{ChainPrefix: defaultPrefix, MasqueradeMark: defaultMark, TakeOver: true, EndpointChains: true}
	w.backend = &Backend{opts: opts, node: node}
	w.kernel.layout = opts.layout(node, endpoints.IPv4, features{})
	w.backend.families = []*family{{kernel: w.kernel, opts: &w.backend.opts, layout: w.kernel.layout}}
	return w
}

// service has so many ready endpoints on another node.
func (w *countedWorld) service(name, ip string, ready int) {
	w.cache.SetService(&corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeNodePort, ClusterIP: ip, ClusterIPs: []string{ip}, IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol},
			Ports: []corev1.ServicePort{{Protocol: corev1.ProtocolTCP, Port: 80, NodePort: 30000 + int32(ip[len(ip)-1])}},
		},
	})
	port, portName := int32(8080), ""
	sl := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: "shop", Name: name + "-1", Labels: map[string]string{discoveryv1.LabelServiceName: name}},
		AddressType: discoveryv1.AddressTypeIPv4, Ports: []discoveryv1.EndpointPort{{Name: &portName, Port: &port}},
	}
	for i := range ready {
		addr := netip.AddrFrom4([4]byte{10, 0, ip[len(ip)-1], byte(i + 1)})
		sl.Endpoints = append(sl.Endpoints, discoveryv1.Endpoint{Addresses: []string{addr.String()}})
	}
	w.cache.SetSlice(sl)
}

// apply has the Backend follow.
func (w *countedWorld) apply() error {
	snap := w.cache.Snapshot()
	var d plan.Delta
	w.plan, d = plan.Update(w.plan, snap, snap.Changed())
	return w.backend.Apply(w.plan, d)
}

// inChains counts the rules of all chains as they should be.
func (w *countedWorld) inChains(t table) int {
	n := 0
	for _, c := range w.backend.families[0].state.chains(w.plan, t) {
		n += c.size()
	}
	return n
}

// Reference: Kubernetes 1.36 pkg/proxy/iptables/proxier.go, IPTablesRulesTotal and IPTablesRulesLastSync.
func TestRulesAreCountedAsTheyChange(t *testing.T) {
	t.Parallel()
	w := newCountedWorld()
	if total, written := w.backend.Rules(endpoints.IPv4, "nat"); total != 0 || written != 0 {
		t.Errorf("%d rules, %d written, before anything is", total, written)
	}
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"nothing but what there always is", func() {}},
		{"a Service without endpoints", func() { w.service("web", "10.96.0.1", 0) }},
		{"one with some", func() { w.service("api", "10.96.0.2", 3) }},
		{"they come", func() { w.service("web", "10.96.0.1", 2) }},
		{"one goes", func() { w.service("api", "10.96.0.2", 2) }},
		{"a Service goes", func() { w.cache.DeleteService(endpoints.ServiceName{Namespace: "shop", Name: "api"}) }},
	} {
		step.do()
		w.kernel.last = ""
		if err := w.apply(); err != nil {
			t.Fatal(err)
		}
		for _, table := range []table{nat, filter} {
			total, written := w.backend.Rules(endpoints.IPv4, table.String())
			if want := w.inChains(table); total != want || want == 0 {
				t.Errorf("%s: %d rules in %s, want %d", step.name, total, table, want)
			}
			if want := rulesIn(w.kernel.last)[table]; written != want {
				t.Errorf("%s: %d rules written in %s, want %d", step.name, written, table, want)
			}
		}
	}
	if total, written := w.backend.Rules(endpoints.IPv6, "nat"); total != 0 || written != 0 {
		t.Errorf("a family that nobody programs has %d rules, %d written", total, written)
	}
	if err := w.backend.Check(w.plan); err != nil { // the tables are empty to whoever looks: all is written
		t.Fatal(err)
	}
	if total, written := w.backend.Rules(endpoints.IPv4, "nat"); written != total {
		t.Errorf("all written is %d of %d rules", written, total)
	}
}

func TestAChangeThatCouldNotBeMadeIsCounted(t *testing.T) {
	t.Parallel()
	w := newCountedWorld()
	w.service("web", "10.96.0.1", 1)
	if err := w.apply(); err != nil || w.backend.PartialFailures(endpoints.IPv4) != 0 {
		t.Fatal(err, w.backend.PartialFailures(endpoints.IPv4))
	}
	w.service("web", "10.96.0.1", 2)
	w.kernel.refuse = 1
	if err := w.apply(); err != nil || w.backend.PartialFailures(endpoints.IPv4) != 1 {
		t.Errorf("error %v, counted %d", err, w.backend.PartialFailures(endpoints.IPv4))
	}
	w.service("web", "10.96.0.1", 3)
	w.kernel.refuse = 9
	err := w.apply()
	var one *familyError
	if !errors.As(err, &one) || one.Family() != endpoints.IPv4 || !strings.HasPrefix(err.Error(), "iptables: IPv4: ") {
		t.Errorf("error %v", err)
	}
	if n := w.backend.PartialFailures(endpoints.IPv4); n != 2 {
		t.Errorf("counted %d", n)
	}
	if n := w.backend.PartialFailures(endpoints.IPv6); n != 0 {
		t.Errorf("counted %d of a family that nobody programs", n)
	}
}
