package healthcheck

import "net/http"

// Answer is a complete HTTP response, whatever the request's method and path were. Each
// Answer owns its header and body; the receiver may change them.
type Answer struct {
	Status int // 200 or 503, nothing else
	Header http.Header
	Body   []byte // JSON, without a newline at the end
}

// OK says whether a probe passes.
func (a Answer) OK() bool { return a.Status == http.StatusOK }

// answer builds a JSON answer as both kinds of ports give it.
func answer(ok bool, body []byte) Answer {
	a := Answer{Status: http.StatusServiceUnavailable, Header: make(http.Header, 3), Body: body}
	if ok {
		a.Status = http.StatusOK
	}
	a.Header.Set("Content-Type", "application/json")
	a.Header.Set("X-Content-Type-Options", "nosniff")
	return a
}
