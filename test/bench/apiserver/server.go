package apiserver

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
)

// Server is an API server. Its methods may be called from anywhere.
type Server struct {
	http http.Server

	version   atomic.Uint64        // the last one of any resource
	resources map[string]*resource // by path; never changes

	mu    sync.Mutex
	asked []string // the paths of requests nobody here answers
}

// New returns a Server that has nothing yet.
func New() *Server {
	s := &Server{resources: map[string]*resource{}}
	s.version.Store(1)
	for path, kind := range kinds() {
		s.resources[path] = &resource{kind: kind, version: 1, entries: map[string]*entry{}}
	}
	s.http.Handler = s
	s.http.ReadHeaderTimeout = time.Minute
	return s
}

// Serve answers on a listener until Close.
func (s *Server) Serve(l net.Listener) error {
	if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("apiserver: %w", err)
	}
	return nil
}

// Close ends all connections.
func (s *Server) Close() error { return s.http.Close() }

// of finds the resource of an object.
func (s *Server) of(o Object) (*resource, error) {
	kinds, _, err := scheme.Scheme.ObjectKinds(o)
	if err != nil {
		return nil, fmt.Errorf("apiserver: %w", err)
	}
	for _, r := range s.resources { // order: kinds differ
		if r.kind == kinds[0] {
			return r, nil
		}
	}
	return nil, fmt.Errorf("apiserver: nothing serves a %s", kinds[0].Kind)
}

// Add stores an object before anybody asks, and encodes it in a format.
func (s *Server) Add(o Object, f Format) error {
	r, err := s.of(o)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.version = s.version.Add(1)
	o.SetResourceVersion(strconv.FormatUint(r.version, 10))
	e := newEntry(o)
	r.set(watch.Added, e)
	_, err = e.in(f)
	return err
}

// Change is an event that is ready to be sent, once.
type Change struct {
	resource *resource
	kind     watch.EventType
	entry    *entry
	version  uint64
	events   [formats][]byte
}

// Prepare encodes an event. Changes have to be sent in the order in which they were prepared.
func (s *Server) Prepare(kind watch.EventType, o Object) (*Change, error) {
	r, err := s.of(o)
	if err != nil {
		return nil, err
	}
	version := s.version.Add(1)
	o.SetResourceVersion(strconv.FormatUint(version, 10))
	c := &Change{resource: r, kind: kind, entry: newEntry(o), version: version}
	for f := range formats {
		if c.events[f], err = encodeEvent(f, kind, o); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Send stores changes and writes them to all watches. When it returns, the bytes are with
// the kernel; from is the moment before the first of them was written.
func (s *Server) Send(changes ...*Change) (from time.Time, err error) {
	from = time.Now()
	for _, c := range changes {
		err = errors.Join(err, c.resource.send(c))
	}
	return from, err
}

// Watchers says how many watches of a kind are in progress.
func (s *Server) Watchers(kind string) int {
	for _, r := range s.resources { // order: kinds differ
		if r.kind.Kind == kind {
			r.mu.Lock()
			defer r.mu.Unlock()
			return len(r.watchers)
		}
	}
	return 0
}

// Unanswered returns the requests for something that this server does not have.
func (s *Server) Unanswered() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.asked...)
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f := formatOf(r)
	if r.Method != http.MethodGet {
		s.swallow(w, r)
		return
	}
	if res := s.resources[r.URL.Path]; res != nil {
		s.serve(w, r, res, f)
		return
	}
	s.get(w, r, f)
}

// formatOf returns the first format that a client accepts and the server has.
func formatOf(r *http.Request) Format {
	for accepted := range strings.SplitSeq(r.Header.Get("Accept"), ",") {
		name, _, _ := strings.Cut(accepted, ";")
		switch strings.TrimSpace(name) {
		case Protobuf.contentType():
			return Protobuf
		case JSON.contentType():
			return JSON
		}
	}
	return JSON
}

// swallow takes what clients write (events) and says that it was stored.
func (s *Server) swallow(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		return
	}
	w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write(body) // a client that is gone needs no answer
}

// get answers with a single object.
func (s *Server) get(w http.ResponseWriter, r *http.Request, f Format) {
	o := s.find(r.URL.Path)
	if o == nil {
		s.mu.Lock()
		s.asked = append(s.asked, r.URL.Path)
		s.mu.Unlock()
		refuse(w, f, http.StatusNotFound, metav1.StatusReasonNotFound, fmt.Sprintf("this server has no %s", r.URL.Path))
		return
	}
	body, err := encodeObject(f, o)
	answer(w, f, body, err)
}

// find looks for the object of a path such as /api/v1/nodes/NAME or
// /api/v1/namespaces/NAMESPACE/services/NAME.
func (s *Server) find(path string) Object {
	path, namespace := withoutNamespace(path)
	i := strings.LastIndexByte(path, '/')
	if i < 0 || s.resources[path[:i]] == nil {
		return nil
	}
	r := s.resources[path[:i]]
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.entries[namespace+path[i:]]; e != nil {
		return e.object
	}
	return nil
}

func withoutNamespace(path string) (rest, namespace string) {
	before, after, ok := strings.Cut(path, "/namespaces/")
	if !ok {
		return path, ""
	}
	namespace, after, _ = strings.Cut(after, "/")
	return before + "/" + after, namespace
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, res *resource, f Format) {
	q := r.URL.Query()
	l, errLabels := labels.Parse(q.Get("labelSelector"))
	fs, errFields := fields.ParseSelector(q.Get("fieldSelector"))
	if err := errors.Join(errLabels, errFields); err != nil {
		refuse(w, f, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
		return
	}
	sel := selector{l, fs}
	if is(q.Get("watch")) {
		s.watch(w, r, res, f, sel)
		return
	}
	res.mu.Lock()
	body, err := res.list(f, sel)
	res.mu.Unlock()
	answer(w, f, body, err)
}

func is(parameter string) bool { return parameter == "true" || parameter == "1" }

// watch sends events until the client goes.
func (s *Server) watch(w http.ResponseWriter, r *http.Request, res *resource, f Format, sel selector) {
	q := r.URL.Query()
	since, err := strconv.ParseUint(q.Get("resourceVersion"), 10, 64)
	if err != nil && q.Get("resourceVersion") != "" {
		refuse(w, f, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
		return
	}
	// A watch from no version or from 0 starts with what there is, too.
	initial := is(q.Get("sendInitialEvents")) || since == 0
	me := &watcher{format: f, selector: sel, w: w, flush: http.NewResponseController(w).Flush}
	if err := res.join(me, initial, since); err != nil {
		return // the client is gone
	}
	<-r.Context().Done()
	res.leave(me)
}

func answer(w http.ResponseWriter, f Format, body []byte, err error) {
	if err != nil {
		refuse(w, f, http.StatusInternalServerError, metav1.StatusReasonInternalError, err.Error())
		return
	}
	w.Header().Set("Content-Type", f.contentType())
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // a client that is gone needs no answer
}

func refuse(w http.ResponseWriter, f Format, code int, reason metav1.StatusReason, message string) {
	status := &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message, // a status code
	}
	body, err := encodeObject(f, status)
	if err != nil {
		http.Error(w, message, code)
		return
	}
	w.Header().Set("Content-Type", f.contentType())
	w.WriteHeader(code)
	_, _ = w.Write(body) // a client that is gone needs no answer
}
