package agent

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Guarded lets only questions through, and on a loopback address only those of programs of this machine. A page in a browser here may
// send requests to a loopback port under a name of its own that leads there (DNS rebinding), and would read the answers: to such a name
// nothing is said.
func Guarded(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case onLoopback(r) && !named(r.Host):
			writeText(w, http.StatusForbidden, "this port answers to an IP address or to localhost only\n")
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			writeText(w, http.StatusMethodNotAllowed, "want GET or HEAD\n")
		default:
			h.ServeHTTP(w, r)
		}
	})
}

// onLoopback says whether a request came to a loopback address, be the port open on all addresses.
func onLoopback(r *http.Request) bool {
	at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && at.AddrPort().Addr().Unmap().IsLoopback()
}

// named says whether a Host, with or without a port, is an IP address or localhost.
func named(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	_, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	return err == nil || strings.EqualFold(host, "localhost")
}
