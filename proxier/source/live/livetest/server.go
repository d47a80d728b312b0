// Package livetest is an API server for tests of what reads one. It serves lists of the objects it is given as
// kube-apiserver does: in pages, by namespace, in JSON, with the errors that tests ask for. It takes no writes, watches
// nothing and knows no selectors: asking for one fails the test.
package livetest

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// Server is a running API server. Change its fields before the first request.
type Server struct {
	URL string
	// Forbidden are the requests that it refuses, such as "list nodes" or "list services shop".
	Forbidden []string
	// Expires has the first request for a further page of a list refused, because it came too late.
	Expires bool
	// Missing are resources that the server does not know, though it knows others of their group.
	Missing []string
	// Hangs are resources of which no list is ever answered.
	Hangs []string
	// Broken are resources that the server fails to list.
	Broken []string
	// Page is how many objects a page has at most, whatever is asked for; 0 is as asked for.
	Page int
	// Token, if not "", has to come with every request.
	Token string

	version string
	objects []map[string]any
	close   func()
	// authority is the certificate that clients have to trust, DER.
	authority []byte

	mu      sync.Mutex
	asked   []string
	expired bool
}

// New starts a server of a version such as "v1.36.3" with the objects of YAML documents.
func New(version string, manifests ...string) (*Server, error) {
	s := &Server{version: version}
	for _, text := range manifests {
		if err := s.add(text); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(s.objects, func(a, b map[string]any) int {
		return cmp.Or(cmp.Compare(meta(a, "namespace"), meta(b, "namespace")), cmp.Compare(meta(a, "name"), meta(b, "name")))
	})
	h := httptest.NewUnstartedServer(s)
	h.EnableHTTP2 = true
	h.StartTLS() // client-go has no credentials for anything else
	s.URL, s.close, s.authority = h.URL, h.Close, h.Certificate().Raw
	return s, nil
}

// Close ends the server. Requests that it lets hang have to be over.
func (s *Server) Close() { s.close() }

// Requests lists what was asked, path and query, in any order.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// Kubeconfig writes a kubeconfig with one context, current, and its user's token.
func (s *Server) Kubeconfig(path, context, namespace string) error {
	const text = `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: %q, certificate-authority-data: %s}}]
users: [{name: u, user: {token: %q}}]
contexts: [{name: %q, context: {cluster: c, user: u, namespace: %q}}]
current-context: %q
`
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	authority := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.authority}))
	return os.WriteFile(path, fmt.Appendf(nil, text, s.URL, authority, s.Token, context, namespace, context), 0o600)
}

func (s *Server) add(text string) error {
	docs := yaml.NewDecoder(strings.NewReader(text))
	for {
		var o map[string]any
		err := docs.Decode(&o)
		switch {
		case err != nil && err.Error() == "EOF":
			return nil
		case err != nil:
			return err
		case o["metadata"] == nil:
			continue // a comment
		case slices.ContainsFunc(s.objects, func(have map[string]any) bool { return id(have) == id(o) }):
			return fmt.Errorf("two objects %s", id(o))
		}
		s.objects = append(s.objects, o)
	}
}

// id is what no two objects of a server have in common.
func id(o map[string]any) string {
	version, _ := o["apiVersion"].(string)
	group, _, grouped := strings.Cut(version, "/")
	if !grouped { // the core group
		group = ""
	}
	return fmt.Sprint(o["kind"], " ", group, " ", meta(o, "namespace"), "/", meta(o, "name"))
}

func meta(o map[string]any, field string) string {
	m, _ := o["metadata"].(map[string]any) // add has looked
	text, _ := m[field].(string)           // "" without
	return text
}

// request is what a path asks for.
type request struct {
	apiVersion, namespace, resource, name string
}

// parse reads /api/v1/..., /apis/GROUP/VERSION/..., the rest being [namespaces/NAMESPACE/]RESOURCE[/NAME].
func parse(path string) (request, bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	r := request{}
	switch {
	case len(parts) > 2 && parts[0] == "api":
		r.apiVersion, parts = parts[1], parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		r.apiVersion, parts = parts[1]+"/"+parts[2], parts[3:]
	default:
		return r, false
	}
	if len(parts) > 2 && parts[0] == "namespaces" {
		r.namespace, parts = parts[1], parts[2:]
	}
	r.resource = parts[0]
	if len(parts) > 1 {
		r.name = parts[1]
	}
	return r, len(parts) < 3
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.Method+" "+r.URL.RequestURI())
	s.mu.Unlock()
	switch {
	case r.Method != http.MethodGet:
		fail(w, http.StatusMethodNotAllowed, "MethodNotAllowed", r.Method)
	case s.Token != "" && r.Header.Get("Authorization") != "Bearer "+s.Token:
		fail(w, http.StatusUnauthorized, "Unauthorized", "Unauthorized")
	case r.URL.Path == "/version":
		write(w, http.StatusOK, map[string]any{"gitVersion": s.version})
	case r.URL.Path == "/apis":
		write(w, http.StatusOK, map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": s.groups()})
	default:
		s.serve(w, r)
	}
}

// groups are those of the objects and those that every server has.
func (s *Server) groups() []map[string]any {
	have := []string{"apps/v1", "autoscaling/v2", "discovery.k8s.io/v1", "networking.k8s.io/v1", "admissionregistration.k8s.io/v1", "batch/v1"}
	for _, o := range s.objects {
		if v, _ := o["apiVersion"].(string); strings.Contains(v, "/") && !slices.Contains(have, v) {
			have = append(have, v)
		}
	}
	var out []map[string]any
	for _, gv := range have {
		group, version, _ := strings.Cut(gv, "/")
		out = append(out, map[string]any{"name": group, "versions": []map[string]any{{"groupVersion": gv, "version": version}}})
	}
	return out
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	what, ok := parse(r.URL.Path)
	verb := "list"
	if what.name != "" {
		verb = "get"
	}
	query := r.URL.Query()
	switch {
	case !ok || query.Has("labelSelector") || query.Has("fieldSelector") || query.Has("watch"):
		fail(w, http.StatusBadRequest, "BadRequest", "not a request that livetest knows: "+r.URL.RequestURI())
	case s.forbids(verb, what):
		fail(w, http.StatusForbidden, "Forbidden", what.resource+" is forbidden")
	case slices.Contains(s.Missing, what.resource):
		http.Error(w, "404 page not found", http.StatusNotFound) // as kube-apiserver does without a resource
	case slices.Contains(s.Hangs, what.resource):
		<-r.Context().Done()
	case slices.Contains(s.Broken, what.resource):
		fail(w, http.StatusInternalServerError, "InternalError", "conversion webhook failed")
	case verb == "get":
		s.one(w, what)
	default:
		s.list(w, what, query.Get("continue"), query.Get("limit"), strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadataList"))
	}
}

func (s *Server) forbids(verb string, what request) bool {
	rule := verb + " " + what.resource
	return slices.Contains(s.Forbidden, rule) || slices.Contains(s.Forbidden, rule+" "+what.namespace)
}

func (s *Server) matching(what request) []map[string]any {
	out := []map[string]any{}
	for _, o := range s.objects {
		kind, _ := o["kind"].(string)
		if o["apiVersion"] == what.apiVersion && plural(kind) == what.resource && (what.namespace == "" || meta(o, "namespace") == what.namespace) {
			out = append(out, o)
		}
	}
	return out
}

// plural is the resource of a kind.
func plural(kind string) string {
	kind = strings.ToLower(kind)
	if strings.HasSuffix(kind, "s") {
		return kind + "es"
	}
	return kind + "s"
}

func (s *Server) one(w http.ResponseWriter, what request) {
	for _, o := range s.matching(what) {
		if meta(o, "name") == what.name {
			write(w, http.StatusOK, o)
			return
		}
	}
	fail(w, http.StatusNotFound, "NotFound", what.resource+" "+what.name+" not found")
}

// list serves a page, of whole objects or of their metadata only. The token of the next one is where it begins.
func (s *Server) list(w http.ResponseWriter, what request, token, limit string, metadata bool) {
	items := s.matching(what)
	from, _ := strconv.Atoi(token) // 0 without
	size, _ := strconv.Atoi(limit) // 0 without, which means all
	if s.Page > 0 && size > 0 {
		size = min(size, s.Page)
	}
	if token != "" && s.expire() {
		fail(w, http.StatusGone, "Expired", "The provided continue parameter is too old")
		return
	}
	rest := map[string]any{"resourceVersion": "7"}
	to := len(items)
	if size > 0 && from+size < to {
		to = from + size
		rest["continue"] = strconv.Itoa(to)
	}
	var bare []map[string]any // as in a list of the real one: without apiVersion and kind
	kind := "List"
	for _, o := range items[from:to] {
		kind = fmt.Sprint(o["kind"]) + "List"
		c := map[string]any{}
		// order: a copy is the same in any order
		for k, v := range o {
			if k == "metadata" || !metadata && k != "apiVersion" && k != "kind" {
				c[k] = v
			}
		}
		bare = append(bare, c)
	}
	if bare == nil {
		bare = []map[string]any{}
	}
	version := what.apiVersion
	if metadata {
		version, kind = "meta.k8s.io/v1", "PartialObjectMetadataList"
	}
	write(w, http.StatusOK, map[string]any{"apiVersion": version, "kind": kind, "metadata": rest, "items": bare})
}

func (s *Server) expire() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.Expires && !s.expired
	s.expired = true
	return first
}

func fail(w http.ResponseWriter, code int, reason, message string) {
	write(w, code, map[string]any{"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message})
}

func write(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v) // a client that is gone needs no answer
}
