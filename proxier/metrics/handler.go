package metrics

import (
	"io"
	"net/http"
	"net/http/pprof"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// scrapes is how many scrapes are answered at one time; more are refused with 503.
const scrapes = 4

// Handler answers as kube-proxy's metrics port does: /metrics, /proxyMode and /healthz, which says that the process is there
// and no more (docs/model/kube-proxy.md 5.2). With profiling there is /debug/pprof/ as well.
func (m *Metrics) Handler(profiling bool) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry, MaxRequestsInFlight: scrapes}))
	mux.Handle("/proxyMode", text(m.mode.String()))
	mux.Handle("/healthz", text("ok"))
	if profiling {
		mux.HandleFunc("/debug/pprof/", pprof.Index)
		mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	}
	return mux
}

// text answers with a text, whatever is asked.
func text(body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = io.WriteString(w, body) // who asked is gone
	})
}
