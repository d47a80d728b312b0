package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/lameduck-proxy/lameduck/test/e2e/client"
)

// way is from where, to which address of a Service.
type way struct {
	name     string
	protocol corev1.Protocol
	dial     client.Dial
	to       netip.AddrPort
}

// ask sends a request, which has a second: nothing here is slow, but what is dropped.
func (w way) ask(ctx context.Context) (client.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if w.protocol == corev1.ProtocolUDP {
		return client.Ask(ctx, w.dial, w.to)
	}
	return client.Get(ctx, w.dial, w.to)
}

// reaches asks until each of the pods has answered. With two that are drawn at random, as many
// requests as here all come to one of them once in 10^18 times.
func (w way) reaches(ctx context.Context, pods []string) error {
	seen := map[string]bool{}
	for range 60 {
		a, err := w.ask(ctx)
		if err != nil {
			return fmt.Errorf("%s, %s to %s: %w", w.name, w.protocol, w.to, err)
		}
		if !slices.Contains(pods, a.Pod) {
			return fmt.Errorf("%s, %s to %s: answered by %s, want one of %v", w.name, w.protocol, w.to, a.Pod, pods)
		}
		if seen[a.Pod] = true; len(seen) == len(pods) {
			return nil
		}
	}
	return fmt.Errorf("%s, %s to %s: answered by %v only, want each of %v", w.name, w.protocol, w.to, slices.Sorted(maps.Keys(seen)), pods)
}

// allReach waits until every way leads to each of the pods.
func allReach(t *testing.T, ways []way, pods []string) {
	t.Helper()
	for _, w := range ways {
		until(t, "every way leads to each pod", func(ctx context.Context) error { return w.reaches(ctx, pods) })
	}
}

// onlyReaches asks often enough for each of two pods to answer, and wants one of them to.
func (w way) onlyReaches(ctx context.Context, pod string) error {
	for range 30 {
		if err := w.reaches(ctx, []string{pod}); err != nil {
			return err
		}
	}
	return nil
}

// drops wants a request to be left without any answer, refusals included.
func (w way) drops(ctx context.Context) error {
	a, err := w.ask(ctx)
	if err == nil {
		return fmt.Errorf("%s, %s to %s: answered by %s, want it dropped", w.name, w.protocol, w.to, a.Pod)
	}
	if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("%s, %s to %s: %w, want it dropped", w.name, w.protocol, w.to, err)
	}
	return nil
}

// podsOf are the names of the pods that a Service's slices have as ready, which are to be so many.
func (c *cluster) podsOf(t *testing.T, namespace, service string, want int) []string {
	t.Helper()
	var names []string
	until(t, fmt.Sprintf("Service %s has %d ready endpoints in both families", service, want), func(ctx context.Context) error {
		for _, family := range families() {
			all, err := c.endpoints(ctx, namespace, service, family)
			if err != nil {
				return err
			}
			names = nil
			for name, e := range all {
				if e.ready {
					names = append(names, name)
				}
			}
			if len(names) != want {
				return fmt.Errorf("%s: %v", family, all)
			}
		}
		slices.Sort(names)
		return nil
	})
	return names
}

func families() []discoveryv1.AddressType {
	return []discoveryv1.AddressType{discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6}
}
