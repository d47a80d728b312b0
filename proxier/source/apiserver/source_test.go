package apiserver

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	clienttesting "k8s.io/client-go/tools/cache/testing"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// client-go's error handlers hold back who complains too often, by a time that all bubbles would share.
func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = nil
	m.Run()
}

// notes is a Sink that writes down what it is told, until somebody reads it.
type notes struct {
	mutex sync.Mutex
	lines []string
}

func (n *notes) add(format string, args ...any) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.lines = append(n.lines, fmt.Sprintf(format, args...))
}

// take returns what was told since the last time, sorted: several reflectors tell at once. What was told
// twice counts once.
func (n *notes) take() string {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	lines := n.lines
	n.lines = nil
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "; ")
}

func (n *notes) SetService(s *corev1.Service) {
	n.add("service %s/%s %s", s.Namespace, s.Name, s.Spec.ClusterIP)
}
func (n *notes) DeleteService(s endpoints.ServiceName) { n.add("no service %s", s) }
func (n *notes) SetSlice(s *discoveryv1.EndpointSlice) { n.add("slice %s/%s", s.Namespace, s.Name) }
func (n *notes) DeleteSlice(namespace, name string)    { n.add("no slice %s/%s", namespace, name) }
func (n *notes) SetNode(node *corev1.Node)             { n.add("node %s", node.Name) }
func (n *notes) SetServiceCIDRs(ranges []netip.Prefix) { n.add("ranges %v", ranges) }
func (n *notes) Synced()                               { n.add("SYNCED") }

// server is what an API server has.
type server struct {
	services, slices, nodes, cidrs *clienttesting.FakeControllerSource
}

func newServer(t *testing.T) *server {
	t.Helper()
	resource := func() *clienttesting.FakeControllerSource {
		r := clienttesting.NewFakeControllerSource()
		t.Cleanup(r.Shutdown)
		return r
	}
	return &server{resource(), resource(), resource(), resource()}
}

func (s *server) client() *Client {
	return &Client{Services: s.services, Slices: s.slices, Nodes: s.nodes, ServiceCIDRs: s.cidrs}
}

func meta(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "shop", Name: name} }

func service(name, ip string) *corev1.Service {
	return &corev1.Service{ObjectMeta: meta(name), Spec: corev1.ServiceSpec{ClusterIP: ip}}
}

func cidr(name string, ranges ...string) *networkingv1.ServiceCIDR {
	return &networkingv1.ServiceCIDR{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: networkingv1.ServiceCIDRSpec{CIDRs: ranges}}
}

// start runs a Source in a bubble until its end. The step it returns lets everything settle and says what was told.
func start(t *testing.T, c *Client) (step func() string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	n := &notes{}
	done := make(chan struct{})
	go func() { New(c, n, logr.Discard()).Run(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	return func() string { synctest.Wait(); return n.take() }
}

func want(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// What was there comes first, then the word that this was all, then each change.
func TestDelivery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		s.services.Add(service("web", "10.96.0.1"))
		s.services.Add(service("api", "10.96.0.2"))
		s.slices.Add(&discoveryv1.EndpointSlice{ObjectMeta: meta("web-1")})
		s.nodes.Add(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}})
		s.cidrs.Add(cidr("more", "10.97.0.0/16"))
		s.cidrs.Add(cidr("kubernetes", "fd00::/112", "10.96.0.1/16"))
		step := start(t, s.client())
		want(t, "at first", step(), "SYNCED; node node-1; ranges [10.96.0.0/16 10.97.0.0/16 fd00::/112]; service shop/api 10.96.0.2; service shop/web 10.96.0.1; slice shop/web-1")
		s.services.Modify(service("web", "10.96.0.9"))
		s.services.Delete(service("api", "10.96.0.2"))
		s.slices.Delete(&discoveryv1.EndpointSlice{ObjectMeta: meta("web-1")})
		s.cidrs.Delete(cidr("more"))
		s.nodes.Delete(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}})
		want(t, "then", step(), "no service shop/api; no slice shop/web-1; ranges [10.96.0.0/16 fd00::/112]; service shop/web 10.96.0.9")
	})
}

// A server without objects is synced all the same.
func TestAnEmptyClusterIsSynced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		step := start(t, newServer(t).client())
		want(t, "nothing", step(), "SYNCED; ranges []")
	})
}

// refusing lists nothing, for a reason, until it is told otherwise.
type refusing struct {
	cache.ListerWatcherWithContext
	mutex   sync.Mutex
	reason  error
	expired bool // the next watch from where the last one ended
}

func (r *refusing) relent(reason error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.reason = reason
}

func (r *refusing) why() error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.reason
}

// IsWatchListSemanticsUnSupported says that a list comes by asking for one.
func (r *refusing) IsWatchListSemanticsUnSupported() bool { return true }

func (r *refusing) takeExpired() bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	was := r.expired
	r.expired = false
	return was
}

func (r *refusing) List(o metav1.ListOptions) (runtime.Object, error) {
	return r.ListWithContext(context.Background(), o)
}

func (r *refusing) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return r.WatchWithContext(context.Background(), o)
}

func (r *refusing) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	if err := r.why(); err != nil {
		return nil, err
	}
	return r.ListerWatcherWithContext.ListWithContext(ctx, o)
}

func (r *refusing) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	if err := r.why(); err != nil {
		return nil, err
	}
	if r.takeExpired() {
		return nil, apierrors.NewResourceExpired("compacted")
	}
	return r.ListerWatcherWithContext.WatchWithContext(ctx, o)
}

// Nobody waits for ServiceCIDRs that the server does not have or show; for all else, and for a server
// that is away, one does, as long as it takes.
func TestWhatMayBeMissing(t *testing.T) {
	t.Parallel()
	resource := schema.GroupResource{Resource: "servicecidrs"}
	for name, c := range map[string]struct {
		reason error
		first  string
	}{
		"not there":     {apierrors.NewNotFound(resource, ""), "SYNCED"},
		"not shown":     {apierrors.NewForbidden(resource, "", fmt.Errorf("no role")), "SYNCED"},
		"server is out": {apierrors.NewServiceUnavailable("starting"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t)
				cidrs := &refusing{ListerWatcherWithContext: cache.ToListerWatcherWithContext(s.cidrs), reason: c.reason}
				client := s.client()
				client.ServiceCIDRs = cidrs
				step := start(t, client)
				want(t, "while it is missing", step(), c.first)
				s.cidrs.Add(cidr("kubernetes", "10.96.0.0/16"))
				cidrs.relent(nil)
				sleep()
				rest := "ranges [10.96.0.0/16]"
				if c.first == "" {
					rest = "SYNCED; " + rest
				}
				want(t, "when it is there", step(), rest)
			})
		})
	}
}

// While the server was away, a Service went, one came, one changed, and its history was compacted: the relist tells.
func TestARelistTellsWhatHasGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		s.services.Add(service("web", "10.96.0.1"))
		s.services.Add(service("api", "10.96.0.2"))
		services := &refusing{ListerWatcherWithContext: cache.ToListerWatcherWithContext(s.services)}
		client := s.client()
		client.Services = services
		step := start(t, client)
		step()
		services.relent(apierrors.NewServiceUnavailable("restarting"))
		s.services.ResetWatch() // ends the watch
		s.services.DeleteDropWatch(service("api", ""))
		s.services.AddDropWatch(service("new", "10.96.0.3"))
		s.services.ModifyDropWatch(service("web", "10.96.0.4"))
		sleep()
		want(t, "while the server is away", step(), "")
		services.expired = true
		services.relent(nil)
		sleep()
		want(t, "after it came back", step(), "no service shop/api; service shop/new 10.96.0.3; service shop/web 10.96.0.4")
	})
}

// An API server is asked what kube-proxy asks it.
func TestRequests(t *testing.T) {
	t.Parallel()
	var mutex sync.Mutex
	var asked []string
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mutex.Lock()
		defer mutex.Unlock()
		q := r.URL.Query()
		asked = append(asked, fmt.Sprintf("%s labels=%s fields=%s", r.URL.Path, q.Get("labelSelector"), q.Get("fieldSelector")))
		if accept := r.Header.Get("Accept"); !strings.HasPrefix(accept, "application/vnd.kubernetes.protobuf") {
			t.Errorf("Accept: %s", accept)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"ServiceList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"web"}}]}`)
	}))
	t.Cleanup(h.Close)
	c, err := NewClient(&rest.Config{Host: h.URL}, "node-1")
	if err != nil {
		t.Fatal(err)
	}
	for _, lw := range []cache.ListerWatcher{c.Services, c.Slices, c.Nodes, c.ServiceCIDRs} {
		list, err := cache.ToListerWithContext(lw).ListWithContext(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if l, ok := list.(*corev1.ServiceList); !ok || len(l.Items) != 1 || l.Items[0].Name != "web" {
			t.Errorf("%T %v", list, list)
		}
	}
	selector := "!service.kubernetes.io/headless,!service.kubernetes.io/service-proxy-name"
	want(t, "requests", strings.Join(asked, "\n"), strings.Join([]string{
		"/api/v1/services labels=" + selector + " fields=",
		"/apis/discovery.k8s.io/v1/endpointslices labels=" + selector + " fields=",
		"/api/v1/nodes labels= fields=metadata.name=node-1",
		"/apis/networking.k8s.io/v1/servicecidrs labels= fields=",
	}, "\n"))
}

// sleep has all back-offs pass, on the bubble's clock.
func sleep() { time.Sleep(5 * time.Minute) }

// What a proxy's configuration says of its connection is done.
func TestConnection(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ contentType, accept, want string }{
		{"", "", "application/vnd.kubernetes.protobuf,application/json"},
		{"application/vnd.kubernetes.protobuf", "", "application/vnd.kubernetes.protobuf,application/json"},
		{"application/json", "", "application/json"},
		{"application/vnd.kubernetes.protobuf", "application/json", "application/json"},
	} {
		asked := make(chan string, 1)
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked <- r.Header.Get("Accept")
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"kind":"NodeList","apiVersion":"v1"}`)
		}))
		t.Cleanup(h.Close)
		client, err := Connect("", h.URL, "node-1", Rate(50, 100), Content(c.contentType, c.accept))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := cache.ToListerWithContext(client.Nodes).ListWithContext(t.Context(), metav1.ListOptions{}); err != nil {
			t.Error(err)
		}
		want(t, "asked for", <-asked, c.want)
	}
	config := &rest.Config{}
	Rate(50, 100)(config)
	if config.QPS != 50 || config.Burst != 100 {
		t.Errorf("QPS %v, burst %v", config.QPS, config.Burst)
	}
}
