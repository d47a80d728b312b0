package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/explain"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// simRig is a proxy that programs nothing, in a bubble and without sockets.
type simRig struct {
	*proxy
	t     *testing.T
	mu    sync.Mutex
	lines []string
}

// inSim runs a story with such a proxy that logs up to a level.
func inSim(t *testing.T, verbosity int, story func(r *simRig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &simRig{t: t}
		current, err := endpoints.ProfileFor(endpoints.CurrentVersion(), nil)
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Log: funcr.NewJSON(r.heed, funcr.Options{Verbosity: verbosity}), Profile: current, Sim: &SimOptions{}}
		if r.proxy, err = newProxy(o, thisNode(), nowhere{}, nil); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- r.Run(ctx) }()
		story(r)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func (r *simRig) heed(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, line)
}

// settle waits until what was delivered is decided, and returns what was logged of it.
func (r *simRig) settle() []string {
	time.Sleep(2 * time.Second) // the pace of syncs
	r.mu.Lock()
	defer r.mu.Unlock()
	lines := r.lines
	r.lines = nil
	return lines
}

// ask returns what is answered to a path.
func (r *simRig) ask(path string) (int, string) {
	w := httptest.NewRecorder()
	r.answers().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Code, w.Body.String()
}

// said takes the decisions out of a log, without what they say of the level.
func said(lines []string) []string {
	var out []string
	for _, line := range lines {
		if strings.Contains(line, "ecided") {
			_, line, _ = strings.Cut(line, `"msg":`)
			out = append(out, line)
		}
	}
	return out
}

func TestDecisionsAreLoggedWithTheirReasonsWhenTheyChange(t *testing.T) {
	t.Parallel()
	inSim(t, 0, func(r *simRig) {
		r.SetNode(thisNode())
		r.SetService(local("web", 31000))
		r.SetSlice(slice("web", true))
		r.Synced()
		if diff := cmp.Diff([]string{
			`"Decided for the first time, nothing is programmed","node":"node-1","dialect":"nftables","terminatingFallback":"on",` +
				`"services":1,"servicePorts":1,"endpoints":1,"portsInFallback":0,"droppingFrontends":0,"rejectingFrontends":0,"healthCheckNodePorts":1}`,
		}, said(r.settle())); diff != "" {
			t.Errorf("at first (-want +got):\n%s", diff)
		}
		if lines := r.settle(); len(lines) > 0 {
			t.Errorf("logged though nothing changed: %q", lines)
		}
		// KEP-1669: the only pod is told to stop and serves on. The load balancer is told to go elsewhere at once.
		leaving := slice("web", false)
		terminating := true
		leaving.Endpoints[0].Conditions.Terminating = &terminating
		r.SetSlice(leaving)
		if diff := cmp.Diff([]string{
			`"Endpoint decided","servicePort":"shop/web","ipFamily":"IPv4","endpoint":"10.0.0.1:8080","list":"Cluster","used":true,"fallback":true,` +
				`"reason":"terminating-fallback","was":"ready","sentence":"still serving though terminating: nothing ready anywhere (KEP-1669)","endpointSlice":"web-1"}`,
			`"Endpoint decided","servicePort":"shop/web","ipFamily":"IPv4","endpoint":"10.0.0.1:8080","list":"Local","used":true,"fallback":true,` +
				`"reason":"terminating-fallback","was":"ready","sentence":"still serving though terminating: nothing ready on this node (KEP-1669)","endpointSlice":"web-1"}`,
			`"Health-check node port decided","service":"shop/web","ipFamily":"IPv4","port":31000,"localEndpoints":0,"passes":false,"wasPort":31000,"wasLocalEndpoints":1}`,
		}, said(r.settle())); diff != "" {
			t.Errorf("of a pod that leaves (-want +got):\n%s", diff)
		}
		r.DeleteSlice("shop", "web-1")
		got := strings.Join(said(r.settle()), "\n")
		for _, want := range []string{
			`"list":"Local","used":false,"fallback":false,"reason":"absent","was":"terminating-fallback"`,
			`"Frontend decided","frontend":"0.0.0.0:30080/TCP","kind":"node port","servicePort":"shop/web","from":"outside","action":"reject","was":"forward","reason":"no-endpoints"`,
		} {
			if !strings.Contains(got, want) {
				t.Errorf("of a pod that is gone, without %s:\n%s", want, got)
			}
		}
	})
}

// crowd delivers many Services, each with an endpoint on this node and a node port with policy Local.
func (r *simRig) crowd(n int) {
	r.SetNode(thisNode())
	for i := range n {
		svc := local(fmt.Sprintf("web-%d", i), 0)
		svc.Spec.ClusterIPs = []string{fmt.Sprintf("10.96.%d.%d", i>>8, i&255)}
		svc.Spec.Ports[0].NodePort = int32(30000 + i)
		r.SetService(svc)
		r.SetSlice(slice(svc.Name, true))
	}
	r.Synced()
}

// elsewhere is a node on which none of the endpoints are: one delivery that changes all decisions.
func elsewhere() *plan.Node {
	n := thisNode()
	n.Name = "node-2"
	return n
}

func TestAFirstSyncIsASummaryAndALargeChangeIsCutShort(t *testing.T) {
	t.Parallel()
	const linesPerSync = 100 // of observe.Log
	const services = 1000
	inSim(t, 0, func(r *simRig) {
		r.crowd(services)
		if lines := said(r.settle()); len(lines) != 1 || !strings.Contains(lines[0], `"services":1000`) {
			t.Errorf("at first: %d lines, the first %s", len(lines), lines[0])
		}
		r.SetNode(elsewhere())
		lines := said(r.settle())
		if len(lines) != linesPerSync+1 {
			t.Errorf("of a large change: %d lines, want %d and one more", len(lines), linesPerSync)
		}
		// Each Service's endpoint is a remote one now, and its node port drops what comes from outside.
		if want := `"More was decided differently than is logged","decisions":2000,"logged":100,"services":1000,"allWith":"-v=4"}`; lines[len(lines)-1] != want {
			t.Errorf("the last line: %s\nwant %s", lines[len(lines)-1], want)
		}
	})
	inSim(t, 4, func(r *simRig) {
		r.crowd(services)
		if lines := said(r.settle()); len(lines) != 1+2*services {
			t.Errorf("at first, with details: %d lines", len(lines))
		}
		r.SetNode(elsewhere())
		if lines := said(r.settle()); len(lines) != 2*services+1 {
			t.Errorf("of a large change, with details: %d lines", len(lines))
		}
	})
}

func TestAProxyThatProgramsNothingIsAskedOnAPortOfItsOwn(t *testing.T) {
	t.Parallel()
	inSim(t, 0, func(r *simRig) {
		wants := func(path string, status int, contains ...string) {
			t.Helper()
			got, body := r.ask(path)
			for _, c := range contains {
				if !strings.Contains(body, c) {
					t.Errorf("%s lacks %s:\n%s", path, c, body)
				}
			}
			if got != status {
				t.Errorf("%s: %d, want %d", path, got, status)
			}
			if strings.HasPrefix(body, "{") && !json.Valid([]byte(body)) {
				t.Errorf("%s has more than one answer:\n%s", path, body)
			}
		}
		wants("/explain?service=shop/web", 503, "nothing is decided yet")
		wants("/healthchecknodeports", 503, "nothing is decided yet")
		wants("/proxyMode", 200, "sim")
		wants("/livez", 200, `"healthy":true`)
		wants("/healthz", 503, `"nodeEligible":false`)
		wants("/", 200, "/explain?service=")
		wants("/healthchecks", 404, "there is no /healthchecks", "/healthchecknodeports")

		r.SetNode(thisNode())
		web := local("web", 31000)
		web.Spec.ClusterIPs, web.Spec.IPFamilies = append(web.Spec.ClusterIPs, "fd00::1"), append(web.Spec.IPFamilies, corev1.IPv6Protocol)
		r.SetService(web)
		r.SetSlice(slice("web", true))
		r.Synced()
		r.settle()

		wants("/metrics", 200, "kubeproxy_sync_full_proxy_rules_duration_seconds_count", "lameduck_build_info")
		wants("/debug/pprof/", 404)
		wants("/healthchecknodeports/31000", 200, `"localEndpoints": 1`, `"serviceProxyHealthy": true`)
		wants("/healthchecknodeports/31000?family=IPv4", 200, `"localEndpoints": 1`)
		wants("/healthchecknodeports/31000?family=IPv6", 503, `"localEndpoints": 0`)
		wants("/healthchecknodeports/31000?family=v6", 400, "want IPv4 or IPv6")
		wants("/healthchecknodeports/31001", 404, "no Service would have this")
		wants("/healthchecknodeports/http", 400, "want a number from 1 to 65535")
		wants("/healthchecknodeports", 200, `"port": 31000,
      "ipFamily": "IPv4",
      "service": "shop/web",
      "localEndpoints": 1,
      "status": 200`, `"ipFamily": "IPv6"`)
		wants("/trace?from=192.0.2.7&to=10.96.0.1:80", 200, `"kind": "Trace",
  "node": "node-1"`, `"service": "shop/web"`, `"verdict": "endpoints"`)
		wants("/trace", 400, `"kind": "Error"`, "from IP and to IP:PORT/PROTOCOL are needed; ask as /trace?from=IP&to=IP:PORT/PROTOCOL")
		wants("/trace?from=here&to=10.96.0.1:80", 400, "from \\\"here\\\": want an IP address")
		wants("/explain", 400, "want ?service=NAMESPACE/NAME")
		wants("/explain?service=web", 400, "want ?service=NAMESPACE/NAME")
		wants("/explain?service=shop/wbe", 404, "it proxies shop/web")
		_, body := r.ask("/explain?service=shop/web")
		var x explain.Explanation
		if err := json.Unmarshal([]byte(body), &x); err != nil || x.Kind != "Explanation" || x.Node != "node-1" || len(x.Services) != 2 ||
			x.Services[0].Decisions[0].Local.Reason != "ready" {
			t.Errorf("explained (%v): %s", err, body)
		}
	})
}

// Whoever asks for a Service that is not there is told of ten that are, and how many more there are.
func TestAServiceThatIsNotThereIsAnsweredWithSomeThatAre(t *testing.T) {
	t.Parallel()
	for count, want := range map[int]string{
		0:  "it proxies none at all",
		1:  "it proxies shop/s00\"",
		10: "shop/s08, shop/s09\"",
		13: "shop/s08, shop/s09, 3 more\"",
	} {
		inSim(t, 0, func(r *simRig) {
			r.SetNode(thisNode())
			for i := range count {
				s := local(fmt.Sprintf("s%02d", i), 0)
				s.Spec.ClusterIPs = []string{fmt.Sprintf("10.96.1.%d", i+1)}
				s.Spec.ClusterIP = s.Spec.ClusterIPs[0]
				r.SetService(s)
			}
			r.Synced()
			r.settle()
			if status, body := r.ask("/explain?service=shop/web"); status != http.StatusNotFound || !strings.Contains(body, want) {
				t.Errorf("of %d Services: %d %s, want %s", count, status, body, want)
			}
		})
	}
}

// Reference: kube-proxy, which runs beside it, has 10256, 10249 and the Services' own ports.
func TestAProxyThatProgramsNothingTakesNoPortOfKubeProxys(t *testing.T) {
	t.Parallel()
	node := thisNode()
	node.Addresses = []netip.Addr{loopback()}
	r := start(t, node, func(o *Options) {
		o.Servers, o.Sim = ServerOptions{}, &SimOptions{Address: "127.0.0.1:0"}
	})
	at := <-r.at["sim"]
	r.SetNode(node)
	r.SetService(local("web", 31002))
	r.SetSlice(slice("web", true))
	r.Synced()
	<-r.inForce
	if status, body := r.get(at + "/healthchecknodeports/31002"); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	if n := len(r.at["health"]) + len(r.at["metrics"]); n > 0 {
		t.Errorf("%d more ports are open", n)
	}
}
