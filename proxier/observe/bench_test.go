package observe

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// large is a cluster of 10,000 Services with 5 endpoints each, and one of them that has changed.
func large(b *testing.B) (before, after *plan.Plan, changed []endpoints.ServiceName) {
	b.Helper()
	node := &plan.Node{Name: "here", Options: endpoints.CurrentOptions()}
	cache := endpoints.NewCache(node.Options)
	var pods []pod
	for range 5 {
		pods = append(pods, pod{up, "there", ""})
	}
	name := ""
	for i := range 10_000 {
		name = fmt.Sprintf("web-%d", i)
		cache.SetService(object(func(s *corev1.Service) {
			s.Name, s.Spec.Type, s.Spec.HealthCheckNodePort, s.Spec.Ports[0].NodePort = name, corev1.ServiceTypeClusterIP, 0, 0
			s.Spec.ClusterIPs = []string{fmt.Sprintf("10.96.%d.%d", i>>8, i&255)}
		}))
		s := slice(pods)
		s.Name, s.Labels["kubernetes.io/service-name"] = name, name
		cache.SetSlice(s)
	}
	before = plan.Build(cache.Snapshot(), node)
	pods[0].conditions = lame
	s := slice(pods)
	s.Name, s.Labels["kubernetes.io/service-name"] = name, name
	cache.SetSlice(s)
	snap := cache.Snapshot()
	after, _ = plan.Update(before, snap, snap.Changed())
	return before, after, snap.Changed()
}

// BenchmarkDiffOneEndpoint10000x5 is what a sync of one change costs a proxy that tells of it.
func BenchmarkDiffOneEndpoint10000x5(b *testing.B) {
	before, after, changed := large(b)
	b.ReportAllocs()
	for b.Loop() {
		if c := Diff(before, after, changed); len(c) != 1 {
			b.Fatal(c)
		}
	}
}

// BenchmarkDiffAll10000x5 is the first sync with all details, or one of another node.
func BenchmarkDiffAll10000x5(b *testing.B) {
	_, after, _ := large(b)
	b.ReportAllocs()
	for b.Loop() {
		if c := Diff(nil, after, Names(nil, after)); len(c) != 10_000 {
			b.Fatal(len(c))
		}
	}
}
