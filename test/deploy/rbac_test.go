package deploy

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

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/source/apiserver"
)

// The role allows what the client asks for, and nothing else.
func TestRoleIsWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	asked := requests(t)
	each(t, func(t *testing.T, _ string, i *installation) {
		t.Helper()
		var allowed []string
		for _, r := range i.role.Rules {
			if len(r.NonResourceURLs)+len(r.ResourceNames) > 0 {
				t.Errorf("%+v", r)
			}
			for _, g := range r.APIGroups {
				for _, resource := range r.Resources {
					for _, verb := range r.Verbs {
						allowed = append(allowed, verb+" "+strings.TrimPrefix(g+"/"+resource, "/"))
					}
				}
			}
		}
		slices.Sort(allowed)
		if diff := cmp.Diff(asked, allowed); diff != "" {
			t.Errorf("the ClusterRole (-asked for +allowed):\n%s", diff)
		}
	})
}

// recorder is an API server that writes down what it is asked. It has no objects, and is of the kind that has no
// initial events in watches: a proxy asks for those first and for a list then, so that all is asked that ever is.
type recorder struct {
	mutex sync.Mutex
	asked []string
	told  chan struct{} // whenever something was asked
}

// ServeHTTP answers one request.
func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	verb, resource := attributes(req)
	r.mutex.Lock()
	r.asked = append(r.asked, verb+" "+resource)
	r.mutex.Unlock()
	r.told <- struct{}{}
	w.Header().Set("Content-Type", "application/json")
	switch {
	case req.URL.Query().Get("sendInitialEvents") == "true":
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`)
	case verb == "watch":
		_ = http.NewResponseController(w).Flush() // the client has gone, or hears that its watch has begun
		<-req.Context().Done()
	default:
		_, _ = fmt.Fprintf(w, `{"kind":%q,"apiVersion":%q,"metadata":{"resourceVersion":"7"},"items":[]}`, listKinds()[resource], apiVersion(req.URL.Path))
	}
}

func listKinds() map[string]string {
	return map[string]string{
		"services": "ServiceList", "nodes": "NodeList", "discovery.k8s.io/endpointslices": "EndpointSliceList", "networking.k8s.io/servicecidrs": "ServiceCIDRList",
	}
}

func apiVersion(path string) string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if parts[0] == "api" {
		return parts[1]
	}
	return parts[1] + "/" + parts[2]
}

// attributes are what RBAC is asked about a request: its verb and its resource (k8s.io/apiserver
// pkg/endpoints/request/requestinfo.go, 1.36; recalled).
func attributes(req *http.Request) (verb, resource string) {
	parts := strings.Split(strings.Trim(req.URL.Path, "/"), "/")
	group, rest := "", parts[2:]
	if parts[0] == "apis" {
		group, rest = parts[1]+"/", parts[3:]
	}
	if rest[0] == "namespaces" && len(rest) > 2 {
		rest = rest[2:]
	}
	resource, named := group+rest[0], len(rest) > 1
	switch {
	case req.Method == http.MethodPost:
		return "create", resource
	case req.Method != http.MethodGet:
		return strings.ToLower(req.Method), resource
	case req.URL.Query().Get("watch") != "" && req.URL.Query().Get("watch") != "false":
		return "watch", resource
	case named:
		return "get", resource
	default:
		return "list", resource
	}
}

// nowhere is a Sink that forgets.
type nowhere struct{ synced chan struct{} }

func (nowhere) SetService(*corev1.Service)          {}
func (nowhere) DeleteService(endpoints.ServiceName) {}
func (nowhere) SetSlice(*discoveryv1.EndpointSlice) {}
func (nowhere) DeleteSlice(_, _ string)             {}
func (nowhere) SetNode(*corev1.Node)                {}
func (nowhere) SetServiceCIDRs([]netip.Prefix)      {}
func (n nowhere) Synced()                           { close(n.synced) }

// requests has the proxy's client ask everything, and returns what that was, sorted.
func requests(t *testing.T) []string {
	t.Helper()
	r := &recorder{told: make(chan struct{}, 100)}
	h := httptest.NewServer(r)
	client, err := apiserver.Connect("", h.URL, "node-1")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	sink := nowhere{make(chan struct{})}
	var running sync.WaitGroup
	running.Go(func() { apiserver.New(client, sink, logr.Discard()).Run(ctx) })
	<-sink.synced
	for watches(r) < len(listKinds()) { // each after its list
		<-r.told
	}
	cancel()
	running.Wait()
	h.Close()
	slices.Sort(r.asked)
	return slices.Compact(r.asked)
}

// watches counts the watches that followed a list.
func watches(r *recorder) int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	listed, n := map[string]bool{}, 0
	for _, a := range r.asked {
		verb, resource, _ := strings.Cut(a, " ")
		if verb == "list" {
			listed[resource] = true
		} else if listed[resource] {
			n++
		}
	}
	return n
}
