package apiserver

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
)

func TestEventsAreWrittenWhereAnAPIServerHasThem(t *testing.T) {
	t.Parallel()
	var got []string
	status := http.StatusCreated
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		line := r.Method + " " + r.URL.Path + " " + r.Header.Get("Content-Type")
		if r.Method == http.MethodPatch {
			line += " " + string(body)
		} else {
			var unwrapped eventsv1.Event
			if err := unwrapped.Unmarshal(protobuf(t, body)); err != nil || unwrapped.Note != "port 31000 is taken" {
				t.Errorf("sent: %v, %v", unwrapped, err)
			}
		}
		got = append(got, line)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`)
	}))
	defer api.Close()
	c, err := NewClient(&rest.Config{Host: api.URL}, "node-1")
	if err != nil {
		t.Fatal(err)
	}
	e := &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web.1"}, Note: "port 31000 is taken",
		Regarding: corev1.ObjectReference{Kind: "Service", Namespace: "shop", Name: "web"},
	}
	if err := c.CreateEvent(t.Context(), e); err != nil {
		t.Error(err)
	}
	status = http.StatusOK
	if err := c.PatchEvent(t.Context(), "shop", "web.1", []byte(`{"series":{"count":2}}`)); err != nil {
		t.Error(err)
	}
	status = http.StatusForbidden
	if err := c.CreateEvent(t.Context(), e); !apierrors.IsForbidden(err) {
		t.Errorf("refused: %v", err)
	}
	const create = "POST /apis/events.k8s.io/v1/namespaces/shop/events application/vnd.kubernetes.protobuf"
	want := []string{create, `PATCH /apis/events.k8s.io/v1/namespaces/shop/events/web.1 application/merge-patch+json {"series":{"count":2}}`, create}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// protobuf takes an object out of what Kubernetes wraps around it: four bytes, then a runtime.Unknown.
func protobuf(t *testing.T, body []byte) []byte {
	t.Helper()
	var u runtime.Unknown
	if len(body) < 4 || u.Unmarshal(body[4:]) != nil {
		t.Fatalf("no protobuf: %q", body)
	}
	return u.Raw
}
