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

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/proxier"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// rules is a Backend that writes down for which node it was to program.
type rules struct {
	mu    sync.Mutex
	nodes []string
}

func (r *rules) Apply(p *plan.Plan, _ plan.Delta) error {
	return r.Resync(p)
}

func (r *rules) Resync(p *plan.Plan) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.nodes = append(r.nodes, fmt.Sprintf("%s %v %v", p.Node().Zone, p.Node().Addresses, p.Node().ServiceCIDRs))
	return nil
}

func (r *rules) Close() error { return nil }

func (r *rules) take() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := strings.Join(r.nodes, "; ")
	r.nodes = nil
	return all
}

func build(k Known) (*plan.Node, error) {
	n := &plan.Node{Name: "node-1", Addresses: k.Host, ServiceCIDRs: k.ServiceCIDRs}
	if k.Object != nil {
		if n.Zone = k.Object.Labels["zone"]; n.Zone == "unusable" {
			return nil, errors.New("no such zone")
		}
	}
	return n, nil
}

func object(zone string, taints ...string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"zone": zone}}}
	for _, key := range taints {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key})
	}
	return n
}

// The parts of a node arrive one by one, and one set of rules is written from all of them; each later change is
// followed, what cannot be used is not.
func TestANodeInParts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		backend := &rules{}
		p, err := proxier.New(proxier.Options{Backend: backend})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- p.Run(ctx) }()
		f := &feed{Proxier: p, build: build, log: logr.Discard()}
		ranges := []netip.Prefix{netip.MustParsePrefix("10.96.0.0/16")}
		addr := func(s string) []netip.Addr { return []netip.Addr{netip.MustParseAddr(s)} }
		for _, step := range []struct {
			do   func()
			want string
		}{
			{func() { f.setHost(addr("192.0.2.1")) }, ""},
			{func() { f.SetServiceCIDRs(ranges) }, ""},
			{func() { f.SetNode(object("a", "one")) }, ""},
			{f.Synced, "a [192.0.2.1] [10.96.0.0/16]"},
			{func() { f.SetNode(object("b")) }, "b [192.0.2.1] [10.96.0.0/16]"},
			{func() { f.SetNode(object("b", "another taint")) }, ""},
			{func() { f.SetNode(object("unusable")) }, ""},
			{func() { f.SetNode(object("b")) }, ""},
			{func() { f.setHost(addr("192.0.2.2")) }, "b [192.0.2.2] [10.96.0.0/16]"},
			{func() { f.SetServiceCIDRs(nil) }, "b [192.0.2.2] []"},
		} {
			step.do()
			time.Sleep(2 * time.Second) // the pace of syncs
			if got := backend.take(); got != step.want {
				t.Errorf("programmed for %q, want %q", got, step.want)
			}
		}
		f.SetNode(object("b", "ToBeDeletedByClusterAutoscaler"))
		synctest.Wait()
		if n := p.Status().Node; !n.Known || n.Eligible() {
			t.Errorf("a node that is about to be deleted: %+v", n)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
