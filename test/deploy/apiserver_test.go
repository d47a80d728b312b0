//go:build linux

package deploy

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
)

// apiServer is as much of an API server as a proxy needs, and writes down what it is asked. It is of the kind that has no
// initial events in watches: a proxy asks for those first and for a list then, so that all is asked that ever is.
type apiServer struct {
	objects map[string][]any // by resource, with kind and apiVersion; never changes

	mutex    sync.Mutex
	asked    []string
	watchers map[string][]chan []byte
	told     chan struct{} // whenever something was asked
}

func newAPIServer() *apiServer {
	return &apiServer{objects: map[string][]any{}, watchers: map[string][]chan []byte{}, told: make(chan struct{}, 1000)}
}

// ServeHTTP answers one request.
func (s *apiServer) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	verb, resource := attributes(req)
	w.Header().Set("Content-Type", "application/json")
	switch {
	case req.URL.Query().Get("sendInitialEvents") == "true":
		s.note(verb, resource, nil)
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`)
	case verb == "watch":
		s.watch(w, req, resource)
	case verb == "list":
		s.note(verb, resource, nil)
		list := map[string]any{
			"kind": listKinds()[resource], "apiVersion": apiVersion(req.URL.Path),
			"metadata": map[string]string{"resourceVersion": "7"}, "items": append([]any{}, s.objects[resource]...),
		}
		_ = json.NewEncoder(w).Encode(list) // a client that has gone needs no answer
	default:
		s.note(verb, resource, nil)
	}
}

func (s *apiServer) note(verb, resource string, watcher chan []byte) {
	s.mutex.Lock()
	s.asked = append(s.asked, verb+" "+resource)
	if watcher != nil {
		s.watchers[resource] = append(s.watchers[resource], watcher)
	}
	s.mutex.Unlock()
	s.told <- struct{}{}
}

// watch tells a client what is sent until it goes.
func (s *apiServer) watch(w http.ResponseWriter, req *http.Request, resource string) {
	events := make(chan []byte, 100)
	s.note("watch", resource, events)
	for {
		_ = http.NewResponseController(w).Flush() // a client that has gone ends the request
		select {
		case <-req.Context().Done():
			return
		case e := <-events:
			_, _ = w.Write(e)
		}
	}
}

// modify tells whoever watches a resource that an object has changed.
func (s *apiServer) modify(resource string, object any) error {
	event, err := json.Marshal(map[string]any{"type": "MODIFIED", "object": object})
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, w := range s.watchers[resource] {
		w <- append(event, '\n')
	}
	return err
}

// awaitWatches returns when every resource is watched, after it was listed.
func (s *apiServer) awaitWatches() {
	for {
		s.mutex.Lock()
		n := len(s.watchers)
		s.mutex.Unlock()
		if n == len(listKinds()) {
			return
		}
		<-s.told
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
