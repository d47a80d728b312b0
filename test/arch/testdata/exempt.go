// Package exempt uses net/http for its words, which its rule allows, and for more, which it does not.
package exempt

import (
	"net/http"
	"net/http/httptest" // want "pure package imports net/http/httptest: sockets"
)

func answer(h http.Header) int {
	h.Set("X", "y")
	_ = httptest.DefaultRemoteAddr
	return http.StatusServiceUnavailable
}

var client = http.DefaultClient // want "net/http.DefaultClient: of net/http, this package may only use names matching"

func serve(w http.ResponseWriter) { // want "net/http.ResponseWriter"
	w.WriteHeader(http.StatusOK)
}
