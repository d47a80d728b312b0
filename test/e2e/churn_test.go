package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/test/e2e/client"
	"github.com/lameduck-proxy/lameduck/test/e2e/network"
)

const (
	churned  = 1000 // Services that come and go
	survives = 4    // one in so many keeps its endpoints, one is left with none, the others are deleted
	writers  = 8    // of objects, at the same time
)

// TestAThousandServicesComeAndGo has clients go on asking a Service that nobody touches, on both
// nodes of each mode, while a thousand others are made, get other endpoints and are deleted.
// Nothing waits for a proxy in between: changes come as fast as the API server takes them.
func TestAThousandServicesComeAndGo(t *testing.T) {
	c := useCluster(t)
	namespace := c.namespace(t)
	var targets []client.Target
	pods := map[string][]*network.Pod{}
	for _, mode := range modes() {
		name := "untouched-" + mode
		c.deploy(t, namespace, name, 2, template(name, spread(mode, name)))
		s := c.service(t, namespace, name, corev1.ServiceTypeLoadBalancer)
		names := c.podsOf(t, namespace, name, 2)
		for _, m := range c.nodes[mode] {
			inside := c.pod(t, namespace, "client", "client-"+m.Name, m)
			pods[mode] = append(pods[mode], inside)
			ways := []way{
				{m.Name + "'s pod", corev1.ProtocolTCP, inside.Dial, clusterIPs(s)[0]},
				{m.Name + "'s pod", corev1.ProtocolTCP, inside.Dial, clusterIPs(s)[1]},
				{"outside by way of " + m.Name, corev1.ProtocolTCP, client.Via(c.outside, m.Node), loadBalancerIPs(s)[0]},
				{"outside", corev1.ProtocolTCP, c.outside.Dial, nodePorts(s, m.Node, corev1.ProtocolTCP)[0]},
			}
			allReach(t, ways, names)
			for _, w := range ways {
				targets = append(targets, client.Target{Name: w.name + " to " + w.to.String(), Dial: w.dial, To: w.to})
			}
		}
	}
	c.forgetUntaken(t)
	load := client.Start(t.Context(), 5*time.Millisecond, targets...)
	crowd := &crowd{c: c, namespace: namespace, before: pods[modes()[0]][0], after: pods[modes()[1]][1]}
	crowd.wave(t)
	first := c.memory(t)
	crowd.wave(t)
	second := c.memory(t)
	report := load.Stop()
	t.Log(report)
	if failed := len(report.Failures()); failed > 0 || len(report.Records) < len(targets) {
		t.Errorf("%d requests to the untouched Services failed", failed)
	}
	for node, before := range first { // order: each is looked at by itself
		// A garbage-collected heap is as large as its last collections let it be: half as much again,
		// and a little, is no growth; keeping a thousand Services would be.
		if after := second[node]; after > before*3/2+16<<20 {
			t.Errorf("%s: %d MiB after a thousand Services had come and gone, %d MiB after another thousand", node, before>>20, after>>20)
		}
	}
	c.noFailedSync(t)
}

// crowd is a thousand Services without a selector.
type crowd struct {
	c             *cluster
	namespace     string
	before, after *network.Pod // whom they lead to, first and then
	services      []*corev1.Service
}

// wave makes all of them, changes them and deletes them, and looks at every node when half of
// them are gone and when all are.
func (w *crowd) wave(t *testing.T) {
	t.Helper()
	from := time.Now()
	w.services = make([]*corev1.Service, churned)
	w.each(t, "make", func(ctx context.Context, i int) (err error) {
		if w.services[i], err = w.c.admin.CoreV1().Services(w.namespace).Create(ctx, crowdService(i), metav1.CreateOptions{}); err != nil {
			return err
		}
		_, err = w.c.admin.DiscoveryV1().EndpointSlices(w.namespace).Create(ctx, crowdSlice(i, w.before), metav1.CreateOptions{})
		return err
	})
	w.each(t, "give other endpoints to", func(ctx context.Context, i int) error {
		if i%survives == 1 {
			return w.c.admin.DiscoveryV1().EndpointSlices(w.namespace).Delete(ctx, crowdName(i), metav1.DeleteOptions{})
		}
		_, err := w.c.admin.DiscoveryV1().EndpointSlices(w.namespace).Update(ctx, crowdSlice(i, w.after), metav1.UpdateOptions{})
		return err
	})
	w.each(t, "delete", func(ctx context.Context, i int) error {
		if i%survives < 2 {
			return nil
		}
		return w.remove(ctx, i)
	})
	t.Logf("%d changes in %s", churned*4, time.Since(from).Round(time.Millisecond))
	w.settled(t)
	w.each(t, "delete the rest, of", func(ctx context.Context, i int) error {
		if i%survives >= 2 {
			return nil
		}
		return w.remove(ctx, i)
	})
	w.c.onEachNode(t, "no rule is left", func(ctx context.Context, m *member) error { return w.noRules(ctx, m, func(int) bool { return true }) })
}

func (w *crowd) remove(ctx context.Context, i int) error {
	err := w.c.admin.CoreV1().Services(w.namespace).Delete(ctx, crowdName(i), metav1.DeleteOptions{})
	if i%survives == 1 {
		return err
	}
	return errors.Join(err, w.c.admin.DiscoveryV1().EndpointSlices(w.namespace).Delete(ctx, crowdName(i), metav1.DeleteOptions{}))
}

// each does something to all of them, by several writers.
func (w *crowd) each(t *testing.T, what string, f func(ctx context.Context, i int) error) {
	t.Helper()
	var group sync.WaitGroup
	for first := range writers {
		group.Go(func() {
			for i := first; i < churned; i += writers {
				if err := f(t.Context(), i); err != nil {
					t.Errorf("%s Service %s: %v", what, crowdName(i), err)
					return
				}
			}
		})
	}
	group.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// settled returns when those that have endpoints lead to the last ones, those that have none refuse,
// and the others are in nobody's rules, on every node.
func (w *crowd) settled(t *testing.T) {
	t.Helper()
	_, want, _ := strings.Cut(w.after.Name, "/") // without the namespace
	w.c.onEachNode(t, "the last endpoints are in force", func(ctx context.Context, m *member) error {
		for i, s := range w.services {
			to := netip.AddrPortFrom(netip.MustParseAddr(s.Spec.ClusterIP), servicePort)
			ask := way{m.Name, corev1.ProtocolTCP, m.Dial, to}
			switch i % survives {
			case 0:
				if a, err := ask.ask(ctx); err != nil || a.Pod != want {
					return fmt.Errorf("%s asks %s at %s: answered by %q, want %q: %w", m.Name, s.Name, to, a.Pod, want, err)
				}
			case 1:
				if err := refused(ctx, ask); err != nil {
					return err
				}
			}
		}
		return w.noRules(ctx, m, func(i int) bool { return i%survives >= 2 })
	})
}

// noRules looks for ClusterIPs of Services that are gone in the rules of a node.
func (w *crowd) noRules(ctx context.Context, m *member, gone func(i int) bool) error {
	rules, err := m.rules(ctx)
	if err != nil {
		return err
	}
	for i, s := range w.services {
		if gone(i) && rules[s.Spec.ClusterIP] {
			return fmt.Errorf("%s has rules for %s, ClusterIP %s", m.Name, s.Name, s.Spec.ClusterIP)
		}
	}
	return nil
}

func crowdName(i int) string { return "crowd-" + strconv.Itoa(i) }

func crowdService(i int) *corev1.Service {
	s := &corev1.Service{}
	s.Name = crowdName(i)
	s.Spec.Ports = []corev1.ServicePort{{Name: "http", Port: servicePort, TargetPort: intstr.FromInt32(appPort)}}
	return s
}

// crowdSlice has one pod, which a slice of any Service may name.
func crowdSlice(i int, p *network.Pod) *discoveryv1.EndpointSlice {
	name, protocol, port, ready := "http", corev1.ProtocolTCP, int32(appPort), true
	s := &discoveryv1.EndpointSlice{AddressType: discoveryv1.AddressTypeIPv4}
	s.Name, s.Labels = crowdName(i), map[string]string{discoveryv1.LabelServiceName: crowdName(i)}
	s.Ports = []discoveryv1.EndpointPort{{Name: &name, Protocol: &protocol, Port: &port}}
	s.Endpoints = []discoveryv1.Endpoint{{Addresses: []string{p.Addrs[0].String()}, Conditions: discoveryv1.EndpointConditions{Ready: &ready}}}
	return s
}

// onEachNode waits for something on all nodes at the same time.
func (c *cluster) onEachNode(t *testing.T, what string, wrong func(ctx context.Context, m *member) error) {
	t.Helper()
	for _, mode := range modes() {
		for _, m := range c.nodes[mode] {
			until(t, what, func(ctx context.Context) error { return wrong(ctx, m) })
		}
	}
}

// memory is how much each proxy has in memory, in bytes.
func (c *cluster) memory(t *testing.T) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	c.onEachNode(t, "metrics are there", func(ctx context.Context, m *member) error {
		text, err := m.proxy.Metrics(ctx)
		for name, value := range samples(text) { // order: one has this name
			if name == "process_resident_memory_bytes" {
				out[m.Name] = int64(value)
			}
		}
		if err == nil && out[m.Name] == 0 {
			err = fmt.Errorf("%s does not say how much memory it has", m.Name)
		}
		return err
	})
	return out
}

// noFailedSync looks at the metrics of every proxy.
func (c *cluster) noFailedSync(t *testing.T) {
	t.Helper()
	c.onEachNode(t, "metrics are there", func(ctx context.Context, m *member) error {
		text, err := m.proxy.Metrics(ctx)
		known := false
		for name, value := range samples(text) { // order: each is looked at by itself
			if !strings.Contains(name, "sync_failures_total") && !strings.Contains(name, "restore_failures_total") {
				continue
			}
			if known = true; value != 0 {
				t.Errorf("%s: %s %v", m.Name, name, value)
			}
		}
		if err == nil && !known {
			err = fmt.Errorf("%s does not say whether syncs failed", m.Name)
		}
		return err
	})
}

// samples reads what is told to Prometheus, by name and labels.
func samples(text string) map[string]float64 {
	out := map[string]float64{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		at := strings.LastIndexByte(line, ' ')
		if strings.HasPrefix(line, "#") || at < 0 {
			continue
		}
		if value, err := strconv.ParseFloat(line[at+1:], 64); err == nil {
			out[line[:at]] = value
		}
	}
	return out
}
