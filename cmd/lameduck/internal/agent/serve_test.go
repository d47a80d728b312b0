package agent

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr/funcr"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// agentRig is a whole proxy, but for the kernel and the API server: real servers on real sockets.
type agentRig struct {
	*proxy
	t       *testing.T
	backend *rules
	at      map[string]chan string // where servers listen, by what they are for
	inForce chan struct{}
}

func start(t *testing.T, node *plan.Node, change func(*Options)) *agentRig {
	t.Helper()
	r := &agentRig{t: t, backend: &rules{}, at: map[string]chan string{"metrics": make(chan string, 8)}, inForce: make(chan struct{}, 8)}
	o := Options{Log: funcr.NewJSON(r.heed, funcr.Options{Verbosity: 2}), Servers: ServerOptions{Metrics: "127.0.0.1:0"}}
	if change != nil {
		change(&o)
	}
	var err error
	if r.proxy, err = newProxy(o, node, r.backend, nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	r.serve(ctx, &running)
	running.Go(func() {
		if err := r.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); running.Wait() })
	return r
}

// heed reads the log: where servers listen, and that rules are in force.
func (r *agentRig) heed(line string) {
	var entry struct{ Msg, For, Address string }
	if err := json.Unmarshal([]byte(line), &entry); err != nil {
		r.t.Errorf("%v: %s", err, line)
	}
	switch entry.Msg {
	case "Listening":
		r.at[entry.For] <- entry.Address
	case "Rules are in force":
		r.inForce <- struct{}{}
	}
}

func thisNode() *plan.Node {
	return &plan.Node{Name: "node-1", Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.1")}, Options: endpoints.CurrentOptions()}
}

// get asks one of the servers.
func (r *agentRig) get(url string) (int, string) {
	r.t.Helper()
	// No connection is kept: the servers' end would wait for it.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get("http://" + url)
	if err != nil {
		r.t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		r.t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

func TestMetricsOfARealProxy(t *testing.T) {
	t.Parallel()
	r := start(t, thisNode(), func(o *Options) { o.Servers.Build = map[string]string{"version": "v1"} })
	at := <-r.at["metrics"]
	if status, body := r.get(at + "/proxyMode"); status != 200 || body != "nftables" {
		t.Errorf("/proxyMode: %d %q", status, body)
	}
	if status, body := r.get(at + "/healthz"); status != 200 || body != "ok" {
		t.Errorf("/healthz: %d %q", status, body)
	}
	if status, _ := r.get(at + "/debug/pprof/"); status != 404 {
		t.Errorf("profiles without having been asked for: %d", status)
	}
	r.SetNode(thisNode())
	r.Synced()
	<-r.inForce
	_, body := r.get(at + "/metrics")
	for _, want := range []string{
		`kubeproxy_sync_full_proxy_rules_duration_seconds_count{ip_family="IPv6"} 1`, `lameduck_build_info{version="v1"} 1`,
		`kubeproxy_sync_proxy_rules_service_changes_total 0`, `kubeproxy_sync_proxy_rules_nftables_sync_failures_total{ip_family="IPv4"} 0`,
	} {
		if !strings.Contains(body, "\n"+want+"\n") {
			t.Errorf("/metrics lacks %s:\n%s", want, body)
		}
	}
}

func TestProfilesAreServedWhereAskedFor(t *testing.T) {
	t.Parallel()
	r := start(t, thisNode(), func(o *Options) { o.Servers.Profiling = true })
	if status, body := r.get(<-r.at["metrics"] + "/debug/pprof/goroutine?debug=1"); status != 200 || !strings.HasPrefix(body, "goroutine profile:") {
		t.Errorf("%d %.80q", status, body)
	}
}
