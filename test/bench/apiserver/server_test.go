package apiserver

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/lameduck-proxy/lameduck/test/bench/objects"
)

const services = 300

// start serves a small cluster on a port of its own.
func start(t *testing.T, f Format) (*Server, kubernetes.Interface) {
	t.Helper()
	s := New()
	size := objects.Size{Services: services, Endpoints: 3}
	all := []Object{objects.Node(), objects.ServiceCIDRs()}
	for i := range size.Services {
		all = append(all, objects.Service(i), size.Slice(i))
	}
	for _, o := range all {
		if err := s.Add(o, f); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	config := &rest.Config{Host: "http://" + l.Addr().String()}
	if f == Protobuf {
		config.ContentType = runtime.ContentTypeProtobuf
		config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return s, client
}

func eachFormat(t *testing.T, test func(t *testing.T, f Format)) {
	t.Helper()
	for _, f := range []Format{Protobuf, JSON} {
		t.Run(f.contentType(), func(t *testing.T) {
			t.Parallel()
			test(t, f)
		})
	}
}

// TestInformersSeeEverythingAndWhatChanges is what both proxies do.
func TestInformersSeeEverythingAndWhatChanges(t *testing.T) {
	t.Parallel()
	eachFormat(t, func(t *testing.T, f Format) {
		s, client := start(t, f)
		factory := informers.NewSharedInformerFactory(client, 0)
		svcs, slcs := factory.Core().V1().Services(), factory.Discovery().V1().EndpointSlices()
		updated, deleted := make(chan any, 1), make(chan any, 1)
		if _, err := slcs.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			UpdateFunc: func(_, o any) { updated <- o },
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := svcs.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			DeleteFunc: func(o any) { deleted <- o },
		}); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		factory.Start(ctx.Done())
		t.Cleanup(func() { stop(); factory.Shutdown() })
		for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
			if !synced {
				t.Fatalf("%v did not sync", kind)
			}
		}
		got, err := svcs.Lister().Services("default").Get("svc-299")
		if err != nil || got.Spec.ClusterIP != objects.ClusterIP(299).String() || got.Spec.Ports[0].Port != objects.Port {
			t.Errorf("svc-299 is %+v, %v", got, err)
		}
		if n := len(slcs.Informer().GetStore().List()); n != services {
			t.Errorf("%d slices, want %d", n, services)
		}

		want := objects.Later(7).String()
		send(t, s, watch.Modified, objects.SliceOf(5, []netip.Addr{objects.Later(7)}))
		u, ok := (<-updated).(*discoveryv1.EndpointSlice)
		if !ok || u.Name != "svc-5-abcde" || len(u.Endpoints) != 1 || u.Endpoints[0].Addresses[0] != want {
			t.Errorf("updated to %+v, want one endpoint %s", u, want)
		}
		send(t, s, watch.Deleted, objects.Service(9))
		if d, ok := (<-deleted).(*corev1.Service); !ok || d.Name != "svc-9" {
			t.Errorf("deleted %+v", d)
		}
	})
}

func send(t *testing.T, s *Server, kind watch.EventType, o Object) {
	t.Helper()
	c, err := s.Prepare(kind, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Send(c); err != nil {
		t.Fatal(err)
	}
}

// TestListAndWatchFromItsVersionMissNothing is what older clients do.
func TestListAndWatchFromItsVersionMissNothing(t *testing.T) {
	t.Parallel()
	eachFormat(t, func(t *testing.T, f Format) {
		s, client := start(t, f)
		list, err := client.CoreV1().Services("").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Items) != services || list.Items[17].Name != "svc-17" {
			t.Errorf("%d services, the 18th is %s", len(list.Items), list.Items[17].Name)
		}
		send(t, s, watch.Added, objects.Service(services))
		w, err := client.CoreV1().Services("").Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		send(t, s, watch.Added, objects.Service(services+1))
		for i := services; i < services+2; i++ {
			e := <-w.ResultChan()
			if svc, ok := e.Object.(*corev1.Service); !ok || e.Type != watch.Added || svc.Spec.ClusterIP != objects.ClusterIP(i).String() {
				t.Errorf("event %d is %s %+v", i, e.Type, e.Object)
			}
		}
	})
}

func TestSelectorsChoose(t *testing.T) {
	t.Parallel()
	s, client := start(t, Protobuf)
	other := objects.Service(services)
	other.Labels["service.kubernetes.io/service-proxy-name"] = "another"
	headless := objects.Service(services + 1)
	headless.Spec.ClusterIP = corev1.ClusterIPNone
	send(t, s, watch.Added, other)
	send(t, s, watch.Added, headless)
	list, err := client.CoreV1().Services("").List(t.Context(), metav1.ListOptions{
		LabelSelector: "!service.kubernetes.io/service-proxy-name", FieldSelector: "spec.clusterIP!=None",
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != services {
		t.Errorf("%d services, want the %d that are no other proxy's and have a ClusterIP", len(list.Items), services)
	}
	nodes, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + objects.NodeName})
	if err != nil || len(nodes.Items) != 1 || nodes.Items[0].Status.Addresses[0].Address != objects.NodeIP {
		t.Errorf("nodes %+v, %v", nodes, err)
	}
	_, err = client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{LabelSelector: "a=b=c"})
	if !apierrors.IsBadRequest(err) {
		t.Errorf("a label selector that is none: %v", err)
	}
}

func TestSingleObjectsAndThoseThatAreNotThere(t *testing.T) {
	t.Parallel()
	s, client := start(t, Protobuf)
	node, err := client.CoreV1().Nodes().Get(t.Context(), objects.NodeName, metav1.GetOptions{})
	if err != nil || node.Name != objects.NodeName {
		t.Errorf("node %+v, %v", node, err)
	}
	svc, err := client.CoreV1().Services("default").Get(t.Context(), "svc-3", metav1.GetOptions{})
	if err != nil || svc.Name != "svc-3" {
		t.Errorf("service %+v, %v", svc, err)
	}
	if _, err := client.CoreV1().Pods("default").Get(t.Context(), "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a pod: %v", err)
	}
	if got := s.Unanswered(); !slices.Equal(got, []string{"/api/v1/namespaces/default/pods/web"}) {
		t.Errorf("unanswered: %v", got)
	}
	event, err := client.CoreV1().Events("default").Create(t.Context(), &corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: "hello"}}, metav1.CreateOptions{})
	if err != nil || event.Name != "hello" {
		t.Errorf("event %+v, %v", event, err)
	}
}

func TestFormatIsTheFirstThatTheServerHas(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]Format{
		"":                                    JSON,
		"application/json":                    JSON,
		"application/vnd.kubernetes.protobuf": Protobuf,
		"application/cbor, application/json":  JSON,
		"application/vnd.kubernetes.protobuf,application/json":      Protobuf,
		"application/vnd.kubernetes.protobuf;stream=watch;q=1, */*": Protobuf,
	} {
		r := &http.Request{Header: http.Header{"Accept": {accept}}}
		if got := formatOf(r); got != want {
			t.Errorf("Accept: %s gets format %d, want %d", accept, got, want)
		}
	}
}
