package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/healthcheck"
	"github.com/lameduck-proxy/lameduck/proxier/explain"
	"github.com/lameduck-proxy/lameduck/proxier/page"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// SimMode is what /proxyMode says of a proxy that programs nothing: neither of kube-proxy's modes, so that nobody
// takes it for the proxy that has the rules.
const SimMode = "sim"

// simPaths is what there is to ask of a proxy that programs nothing.
const simPaths = `lameduck decides here and programs nothing. Ask for
  /explain?service=NAMESPACE/NAME           which endpoints the node would use, and why
  /trace?from=IP&to=IP:PORT/PROTOCOL        what would become of a packet
  /healthchecknodeports                     the health-check node ports there would be
  /healthchecknodeports/PORT?family=IPv4    what one of them would answer
  /healthz /livez /metrics /proxyMode       as kube-proxy has them
`

// answers are those of a proxy that programs nothing.
func (p *proxy) answers() http.Handler {
	mux := http.NewServeMux()
	own, metrics := p.health.Handler(), p.metrics.Handler(p.opts.Servers.Profiling)
	mux.Handle("/healthz", own)
	mux.Handle("/livez", own)
	mux.Handle("/metrics", metrics)
	mux.Handle("/debug/pprof/", metrics)
	mux.HandleFunc("GET /proxyMode", func(w http.ResponseWriter, _ *http.Request) { writeText(w, http.StatusOK, SimMode) })
	mux.HandleFunc("GET /explain", p.inForce(p.explain))
	mux.HandleFunc("GET /trace", p.inForce(p.trace))
	mux.HandleFunc("GET /healthchecknodeports", p.inForce(p.listHealthPorts))
	mux.HandleFunc("GET /healthchecknodeports/{port}", p.inForce(p.healthPort))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { writeText(w, http.StatusOK, simPaths) })
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeText(w, http.StatusNotFound, fmt.Sprintf("there is no %s\n\n%s", r.URL.Path, simPaths))
	})
	return mux
}

// inForce answers from the last decisions, or says that there are none yet.
func (p *proxy) inForce(answer func(http.ResponseWriter, *http.Request, *plan.Plan)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		decided := p.sim.plan.Load()
		if decided == nil {
			refuse(w, http.StatusServiceUnavailable, "nothing is decided yet: not everything in the cluster has been listed")
			return
		}
		answer(w, r, decided)
	}
}

func (p *proxy) explain(w http.ResponseWriter, r *http.Request, decided *plan.Plan) {
	asked := r.URL.Query().Get("service")
	namespace, name, ok := strings.Cut(asked, "/")
	if !ok || namespace == "" || name == "" {
		refuse(w, http.StatusBadRequest, fmt.Sprintf("service %q: want ?service=NAMESPACE/NAME", asked))
		return
	}
	svc := decided.Service(endpoints.ServiceName{Namespace: namespace, Name: name})
	if svc == nil {
		refuse(w, http.StatusNotFound, fmt.Sprintf("service %q: the node proxies no Service of that name; %s", asked, known(decided)))
		return
	}
	left := func() bool { return r.Context().Err() != nil }
	x := explain.BuildServices(slices.Values([]*endpoints.Service{svc.Source()}), decided.Node(), p.opts.Profile, nil, left)
	if x != nil {
		reply(w, x)
	}
}

// known names some of the Services that could have been asked for.
func known(p *plan.Plan) string {
	const listed = 10
	var names []string
	for s := range p.Services() {
		if len(names) == listed {
			names = append(names, fmt.Sprintf("%d more", p.Len()-listed))
			break
		}
		names = append(names, s.Name.String())
	}
	if len(names) == 0 {
		return "it proxies none at all"
	}
	return "it proxies " + strings.Join(names, ", ")
}

func (p *proxy) trace(w http.ResponseWriter, r *http.Request, decided *plan.Plan) {
	q := r.URL.Query()
	packet, err := explain.ParsePacket(q.Get("from"), q.Get("to"))
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error()+"; ask as /trace?from=IP&to=IP:PORT/PROTOCOL")
		return
	}
	packet.InInterface = q.Get("in-interface")
	reply(w, explain.BuildTrace(decided, packet, p.opts.Profile))
}

// healthPorts is the JSON of all health-check node ports. Fields are only ever added.
type healthPorts struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"` // "HealthCheckNodePorts"
	Node       string       `json:"node"`
	Ports      []healthPort `json:"ports"` // IPv4 before IPv6, then by number
}

type healthPort struct {
	Port           int    `json:"port"`
	IPFamily       string `json:"ipFamily"`
	Service        string `json:"service"`
	LocalEndpoints int    `json:"localEndpoints"`
	Status         int    `json:"status"` // 200 or 503
}

func (p *proxy) listHealthPorts(w http.ResponseWriter, r *http.Request, decided *plan.Plan) {
	out := healthPorts{APIVersion: explain.APIVersion, Kind: "HealthCheckNodePorts", Node: decided.Node().Name, Ports: []healthPort{}}
	st := p.state()
	healthy := healthcheck.Healthy(st.Proxy, time.Now(), healthcheck.Timeout)
	for svc := range st.Table.Services() {
		if r.Context().Err() != nil {
			return // who asked has left
		}
		out.Ports = append(out.Ports, healthPort{
			Port: int(svc.Port), IPFamily: svc.Family.String(), Service: svc.Name.String(), LocalEndpoints: svc.LocalEndpoints,
			Status: healthcheck.ServiceAnswer(svc, healthy, decided.Node().Options).Status,
		})
	}
	reply(w, out)
}

// healthPort answers as the port would: in the family asked for, else in the first that has it.
func (p *proxy) healthPort(w http.ResponseWriter, r *http.Request, _ *plan.Plan) {
	number, err := strconv.ParseUint(r.PathValue("port"), 10, 16)
	if err != nil {
		refuse(w, http.StatusBadRequest, fmt.Sprintf("port %q: want a number from 1 to 65535", r.PathValue("port")))
		return
	}
	asked := r.URL.Query().Get("family")
	families := endpoints.Families()
	if asked != "" && !slices.ContainsFunc(families[:], func(f endpoints.IPFamily) bool { return f.String() == asked }) {
		refuse(w, http.StatusBadRequest, fmt.Sprintf("family %q: want IPv4 or IPv6", asked))
		return
	}
	for _, f := range families {
		if _, ok := p.state().Table.Lookup(f, uint16(number)); ok && (asked == "" || asked == f.String()) {
			p.health.NodePort(f, uint16(number)).ServeHTTP(w, r)
			return
		}
	}
	refuse(w, http.StatusNotFound, fmt.Sprintf("port %d: no Service would have this health-check node port; /healthchecknodeports lists those there would be", number))
}

// refusal is the JSON of a question that cannot be answered.
type refusal struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"` // "Error"
	Message    string `json:"message"`
}

func refuse(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, refusal{APIVersion: explain.APIVersion, Kind: "Error", Message: message})
}

func reply(w http.ResponseWriter, answer any) { writeJSON(w, http.StatusOK, answer) }

func writeJSON(w http.ResponseWriter, status int, answer any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	_ = enc.Encode(answer)                             // plain values: it cannot fail
	_, _ = io.WriteString(w, page.JSON(text.String())) // who asked is gone
}

func writeText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // who asked is gone
}
