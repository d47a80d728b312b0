package events

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Limits of an Event's fields (Kubernetes 1.36 pkg/apis/core/validation/events.go; recalled).
const (
	maxNote = 1024
	maxName = 200 // of the object in the Event's name, which has 253 with the moment
)

// name is that of the object and the moment, as client-go has it, each once.
func (r *Recorder) name(e *entry) string {
	r.named = max(r.named+1, e.first.UnixNano())
	object := strings.TrimRight(cut(e.Regarding.Name, maxName), ".-")
	return fmt.Sprintf("%s.%x", object, r.named)
}

// object is an Event as the API has it. Those of objects without a namespace are in "default".
func (r *Recorder) object(e *entry, name string) *eventsv1.Event {
	kind := corev1.EventTypeNormal
	if e.Warning {
		kind = corev1.EventTypeWarning
	}
	return &eventsv1.Event{
		ObjectMeta:          metav1.ObjectMeta{Name: name, Namespace: namespaceOf(e)},
		EventTime:           metav1.MicroTime{Time: e.first},
		ReportingController: r.opts.Controller, ReportingInstance: r.opts.Instance,
		Action: e.Action, Reason: e.Reason, Regarding: e.Regarding, Related: e.Related, Note: cut(e.Note, maxNote), Type: kind,
	}
}

func namespaceOf(e *entry) string { return cmp.Or(e.Regarding.Namespace, metav1.NamespaceDefault) }

// cut shortens a text, to whole characters.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "")
}

// series is what there is to say of an Event that has come again.
type series struct {
	of              *entry
	namespace, name string
	count           int32
	patch           []byte
}

// due returns what has come again since the API server was told, the longest untold first.
func (r *Recorder) due() []series {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []series
	for _, e := range r.known { // order: sorted below
		if e.name == "" || e.count == e.written {
			continue
		}
		patch, _ := json.Marshal(map[string]any{"series": eventsv1.EventSeries{Count: e.count, LastObservedTime: metav1.MicroTime{Time: e.last}}})
		out = append(out, series{e, namespaceOf(e), e.name, e.count, patch})
	}
	slices.SortFunc(out, func(a, b series) int {
		return cmp.Or(a.of.patched.Compare(b.of.patched), cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
	})
	return out
}
