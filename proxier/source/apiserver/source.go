package apiserver

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/source"
)

// Source delivers what a Client finds.
type Source struct {
	client *Client
	sink   source.Sink
	log    logr.Logger

	awaited atomic.Int32 // lists that have not come yet
	listed  chan struct{}
}

// New returns a Source. It asks for nothing before Run.
func New(client *Client, sink source.Sink, log logr.Logger) *Source {
	return &Source{client: client, sink: sink, log: log, listed: make(chan struct{})}
}

// Run delivers until the context ends. The Sink is told that it is Synced when each resource has been
// listed once; without ServiceCIDRs, which a server may not have or not show, it does without.
func (s *Source) Run(ctx context.Context) {
	ctx = logr.NewContext(ctx, s.log)
	ranges := &ranges{sink: s.sink, byName: map[types.NamespacedName][]string{}}
	services := newForwarder(s.sink.SetService, func(n types.NamespacedName) {
		s.sink.DeleteService(endpoints.ServiceName{Namespace: n.Namespace, Name: n.Name})
	}, s.await())
	endpointSlices := newForwarder(s.sink.SetSlice, func(n types.NamespacedName) { s.sink.DeleteSlice(n.Namespace, n.Name) }, s.await())
	nodes := newForwarder(s.sink.SetNode, func(n types.NamespacedName) {
		s.log.Info("The Node object is gone, its last state stays in use", "node", n.Name)
	}, s.await())
	listed := s.await()
	cidrs := newForwarder(ranges.set, ranges.delete, func() { ranges.tell(); listed() })

	var running sync.WaitGroup
	reflect := func(name string, lw cache.ListerWatcher, of runtime.Object, store cache.ReflectorStore) {
		options := cache.ReflectorOptions{Name: name, Logger: &s.log, TypeDescription: name}
		r := cache.NewReflectorWithOptions(lw, of, store, options)
		running.Go(func() { r.RunWithContext(ctx) })
	}
	reflect("Service", s.client.Services, &corev1.Service{}, services)
	reflect("EndpointSlice", s.client.Slices, &discoveryv1.EndpointSlice{}, endpointSlices)
	reflect("Node", s.client.Nodes, &corev1.Node{}, nodes)
	reflect("ServiceCIDR", s.optional(s.client.ServiceCIDRs, listed), &networkingv1.ServiceCIDR{}, cidrs)

	select {
	case <-s.listed:
		s.sink.Synced()
	case <-ctx.Done():
	}
	running.Wait()
}

// await adds a list to those that have to come before the Sink is synced, and returns what says that it
// has, any number of times.
func (s *Source) await() func() {
	s.awaited.Add(1)
	return sync.OnceFunc(func() {
		if s.awaited.Add(-1) == 0 {
			close(s.listed)
		}
	})
}

// optional is a resource that nobody waits for when the server refuses to list it: before 1.33 it had
// no ServiceCIDRs, and a role may not cover them.
func (s *Source) optional(lw cache.ListerWatcher, done func()) cache.ListerWatcher {
	from := cache.ToListerWatcherWithContext(lw)
	refused := func(err error) {
		if err != nil && (apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err)) {
			s.log.V(2).Info("ServiceCIDRs cannot be listed, packets to unallocated ClusterIPs are left alone", "reason", err.Error())
			done()
		}
	}
	wrapped := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list, err := from.ListWithContext(ctx, o)
			refused(err)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return from.WatchWithContext(ctx, o)
		},
	}
	return cache.ToListWatcherWithWatchListSemantics(wrapped, lw)
}

// ranges are the ServiceCIDRs, told to a Sink together.
type ranges struct {
	sink   source.Sink
	byName map[types.NamespacedName][]string
	listed bool
}

func (r *ranges) set(c *networkingv1.ServiceCIDR) {
	r.byName[nameOf(c)] = c.Spec.CIDRs
	r.changed()
}

func (r *ranges) delete(n types.NamespacedName) {
	delete(r.byName, n)
	r.changed()
}

// changed tells the Sink of a change after the first list; before, it is told of all at once.
func (r *ranges) changed() {
	if r.listed {
		r.tell()
	}
}

func (r *ranges) tell() {
	r.listed = true
	var all []netip.Prefix
	for _, cidrs := range r.byName { // order: sorted below
		for _, c := range cidrs {
			if p, err := netip.ParsePrefix(c); err == nil { // the API server has checked it
				all = append(all, p.Masked())
			}
		}
	}
	slices.SortFunc(all, netip.Prefix.Compare)
	r.sink.SetServiceCIDRs(slices.Compact(all))
}
