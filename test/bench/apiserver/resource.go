package apiserver

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// resource is everything of one kind.
type resource struct {
	mu       sync.Mutex
	kind     schema.GroupVersionKind // never changes
	version  uint64
	keys     []string // in the order in which they came
	entries  map[string]*entry
	log      []logged
	watchers []*watcher
}

// entry is an object, with what selectors ask about and what was encoded of it.
type entry struct {
	object  Object
	labels  labels.Set
	fields  fields.Set
	encoded [formats]*encoded
}

// logged is an event that a watcher may have missed between a list and a watch.
type logged struct {
	version uint64
	change  *Change
}

// watcher is a watch in progress.
type watcher struct {
	format   Format
	selector selector
	w        http.ResponseWriter
	flush    func() error
}

// selector is what a client wants of a resource.
type selector struct {
	labels labels.Selector
	fields fields.Selector
}

func (s selector) matches(e *entry) bool {
	return s.labels.Matches(e.labels) && s.fields.Matches(e.fields)
}

func key(o Object) string { return o.GetNamespace() + "/" + o.GetName() }

func newEntry(o Object) *entry {
	e := &entry{object: o, labels: o.GetLabels(), fields: fields.Set{"metadata.name": o.GetName(), "metadata.namespace": o.GetNamespace()}}
	if svc, ok := o.(*corev1.Service); ok {
		e.fields["spec.clusterIP"], e.fields["spec.type"] = svc.Spec.ClusterIP, string(svc.Spec.Type)
	}
	return e
}

// in returns the object in a format.
func (e *entry) in(f Format) (*encoded, error) {
	if e.encoded[f] == nil {
		done, err := encode(f, e.object)
		if err != nil {
			return nil, err
		}
		e.encoded[f] = &done
	}
	return e.encoded[f], nil
}

// set stores what a change leaves behind.
func (r *resource) set(kind watch.EventType, e *entry) {
	k := key(e.object)
	_, exists := r.entries[k]
	switch {
	case kind == watch.Deleted:
		delete(r.entries, k)
		r.keys = slices.DeleteFunc(r.keys, func(other string) bool { return other == k })
		return
	case !exists:
		r.keys = append(r.keys, k)
	}
	r.entries[k] = e
}

// selected returns the entries that a client wants, encoded.
func (r *resource) selected(f Format, s selector) ([]*encoded, error) {
	var out []*encoded
	for _, k := range r.keys {
		e := r.entries[k]
		if !s.matches(e) {
			continue
		}
		done, err := e.in(f)
		if err != nil {
			return nil, err
		}
		out = append(out, done)
	}
	return out, nil
}

// list answers with everything there is.
func (r *resource) list(f Format, s selector) ([]byte, error) {
	found, err := r.selected(f, s)
	if err != nil {
		return nil, err
	}
	items := make([][]byte, len(found))
	for i := range found {
		items[i] = found[i].item
	}
	return encodeList(f, r.kind, strconv.FormatUint(r.version, 10), items)
}

// begin returns what a watch starts with: everything there is and a bookmark, or what has
// happened since a version.
func (r *resource) begin(f Format, s selector, initial bool, since uint64) ([][]byte, error) {
	if !initial {
		return r.since(f, s, since), nil
	}
	found, err := r.selected(f, s)
	if err != nil {
		return nil, err
	}
	var out [][]byte
	for _, e := range found {
		out = append(out, e.event)
	}
	mark, err := bookmark(r.kind, strconv.FormatUint(r.version, 10), true)
	if err != nil {
		return nil, err
	}
	end, err := encodeEvent(f, watch.Bookmark, mark)
	return append(out, end), err
}

func (r *resource) since(f Format, s selector, version uint64) [][]byte {
	var out [][]byte
	for _, l := range r.log {
		if l.version > version && s.matches(l.change.entry) {
			out = append(out, l.change.events[f])
		}
	}
	return out
}

// tell writes a change to every watcher that wants it. Those that are gone are forgotten.
func (r *resource) tell(c *Change) error {
	var failed error
	r.watchers = slices.DeleteFunc(r.watchers, func(w *watcher) bool {
		if !w.selector.matches(c.entry) {
			return false
		}
		_, err := w.w.Write(c.events[w.format])
		if err == nil {
			err = w.flush()
		}
		if err != nil {
			failed = fmt.Errorf("tell a watcher of %s: %w", r.kind.Kind, err)
		}
		return err != nil
	})
	return failed
}

// send tells a change to every watcher, and stores it.
func (r *resource) send(c *Change) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.tell(c)
	r.version = c.version
	r.set(c.kind, c.entry)
	r.log = append(r.log, logged{c.version, c})
	return err
}

// join adds a watcher. The first events are written under the lock, so that none is
// missed and none comes twice.
func (r *resource) join(me *watcher, initial bool, since uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	first, err := r.begin(me.format, me.selector, initial, since)
	if err != nil {
		refuse(me.w, me.format, http.StatusInternalServerError, metav1.StatusReasonInternalError, err.Error())
		return err
	}
	me.w.Header().Set("Content-Type", me.format.contentType()+";stream=watch")
	me.w.WriteHeader(http.StatusOK)
	for _, event := range first {
		if _, err := me.w.Write(event); err != nil {
			return fmt.Errorf("begin a watch: %w", err)
		}
	}
	r.watchers = append(r.watchers, me)
	return me.flush()
}

func (r *resource) leave(me *watcher) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watchers = slices.DeleteFunc(r.watchers, func(other *watcher) bool { return other == me })
}
