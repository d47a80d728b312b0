//go:build linux

package deploy

import (
	"context"
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
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/source/apiserver"
)

// The role allows what the client asks for, and nothing else.
func TestRoleIsWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	asked := requests(t)
	each(t, func(t *testing.T, overlay string, i *installation) {
		t.Helper()
		asked := asked
		if overlay == sim { // which TestSimIsConfined finds writing nothing
			asked = slices.DeleteFunc(slices.Clone(asked), func(a string) bool { return strings.HasSuffix(a, "/events") })
		}
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
	r := newAPIServer()
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
	r.awaitWatches()
	// What it has to say to users: package events writes an Event, and changes it when it happens again.
	if err := client.CreateEvent(ctx, &eventsv1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web.1"}}); err != nil {
		t.Error(err)
	}
	if err := client.PatchEvent(ctx, "shop", "web.1", []byte("{}")); err != nil {
		t.Error(err)
	}
	cancel()
	running.Wait()
	h.Close()
	slices.Sort(r.asked)
	return slices.Compact(r.asked)
}
