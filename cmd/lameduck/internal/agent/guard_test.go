package agent

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// asked is the status of an answer to a request that came to an address.
func asked(h http.Handler, at, method, host string) int {
	addr, err := net.ResolveTCPAddr("tcp", at)
	if err != nil {
		panic(err)
	}
	r := httptest.NewRequest(method, "/metrics", http.NoBody)
	r.Host = host
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, addr)))
	return w.Code
}

func TestALoopbackPortAnswersToNobodyElsesName(t *testing.T) {
	t.Parallel()
	h := Guarded(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for _, c := range []struct {
		at, host string
		want     int
	}{
		{"127.0.0.1:10249", "127.0.0.1:10249", 200},
		{"127.0.0.1:10249", "127.0.0.1", 200},
		{"127.0.0.1:10249", "localhost:10249", 200},
		{"127.0.0.1:10249", "LocalHost", 200},
		{"[::1]:10249", "[::1]:10249", 200},
		{"[::1]:10249", "[::1]", 200},
		{"127.0.0.1:10249", "192.0.2.1:8080", 200}, // a tunnel: whoever reads the answer knows the address
		{"127.0.0.1:10249", "evil.example:10249", 403},
		{"127.0.0.1:10249", "evil.example", 403},
		{"127.0.0.1:10249", "127.0.0.1.evil.example", 403},
		{"127.0.0.1:10249", "localhost.evil.example:10249", 403},
		{"127.0.0.1:10249", "", 403},
		{"127.3.2.1:10249", "evil.example", 403},
		{"[::1]:10249", "evil.example", 403},
		{"[::ffff:127.0.0.1]:10249", "evil.example", 403}, // of a socket that is open on all addresses
		{"192.0.2.1:10249", "node-1.example:10249", 200},  // no loopback address: it was opened for others
	} {
		if got := asked(h, c.at, "GET", c.host); got != c.want {
			t.Errorf("at %s, Host %q: %d, want %d", c.at, c.host, got, c.want)
		}
	}
}

func TestOnlyQuestionsAreAnswered(t *testing.T) {
	t.Parallel()
	h := Guarded(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for method, want := range map[string]int{"GET": 200, "HEAD": 200, "POST": 405, "PUT": 405, "DELETE": 405, "OPTIONS": 405, "TRACE": 405, "CONNECT": 405} {
		for _, at := range []string{"127.0.0.1:10249", "192.0.2.1:10249"} {
			if got := asked(h, at, method, "localhost"); got != want {
				t.Errorf("%s at %s: %d, want %d", method, at, got, want)
			}
		}
	}
}

// What is guarded are the ports of a real proxy.
func TestMetricsAndSimulationAreGuarded(t *testing.T) {
	t.Parallel()
	r := start(t, thisNode(), func(o *Options) { o.Sim = &SimOptions{Address: "127.0.0.1:0"} })
	for _, what := range []string{"metrics", "sim"} {
		at := <-r.at[what]
		for _, c := range []struct {
			method, host string
			want         int
		}{{"GET", "", 200}, {"HEAD", "localhost", 200}, {"GET", "evil.example", 403}, {"POST", "", 405}} {
			request, err := http.NewRequestWithContext(t.Context(), c.method, "http://"+at+"/metrics", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			request.Host = c.host // "" is the address
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			answer, err := client.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			if err := answer.Body.Close(); err != nil || answer.StatusCode != c.want {
				t.Errorf("%s: %s, Host %q: %d, %v; want %d", what, c.method, c.host, answer.StatusCode, err, c.want)
			}
		}
	}
}

// A client that has left is answered nothing, and nothing is worked out for it.
func TestWorkForAClientThatHasLeftEnds(t *testing.T) {
	t.Parallel()
	inSim(t, 0, func(r *simRig) {
		r.SetNode(thisNode())
		r.SetService(local("web", 31000))
		r.SetSlice(slice("web", true))
		r.Synced()
		r.settle()
		ctx, leave := context.WithCancel(r.t.Context())
		leave()
		for _, path := range []string{"/explain?service=shop/web", "/healthchecknodeports"} {
			w := httptest.NewRecorder()
			r.answers().ServeHTTP(w, httptest.NewRequest("GET", path, http.NoBody).WithContext(ctx))
			if w.Body.Len() > 0 {
				t.Errorf("%s answered %s", path, w.Body)
			}
		}
	})
}
