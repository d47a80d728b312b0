package healthcheck

// Answer is a complete HTTP response, whatever the request's method and path were. Each
// Answer owns its header and body; the receiver may change them.
type Answer struct {
	Status int // 200 or 503, nothing else
	// Header has its names as net/http writes them: it may be assigned to an http.Header. This package does not import net/http, which would be a
	// third of the simulator in a browser.
	Header map[string][]string
	Body   []byte // JSON, without a newline at the end
}

const (
	statusOK                 = 200
	statusServiceUnavailable = 503
)

// OK says whether a probe passes.
func (a Answer) OK() bool { return a.Status == statusOK }

// answer builds a JSON answer as both kinds of ports give it.
func answer(ok bool, body []byte) Answer {
	header := map[string][]string{"Content-Type": {"application/json"}, "X-Content-Type-Options": {"nosniff"}}
	a := Answer{Status: statusServiceUnavailable, Header: header, Body: body}
	if ok {
		a.Status = statusOK
	}
	return a
}
