package scenario

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// clientsWeb is a Deployment with a Service of a port each for requests, gRPC, sessions, webhooks and UDP.
const clientsWeb = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: example.com/web}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  type: %s
  selector: {app: web}
  ports:
  - {name: http, port: 80}
  - {name: grpc, port: 81}
  - {name: redis, port: 6379}
  - {name: webhook, port: 443}
  - {name: dns, port: 53, protocol: UDP}
---
apiVersion: v1
kind: Service
metadata: {name: names}
spec: {clusterIP: None, selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: web}
webhooks: [{name: web.example.com, admissionReviewVersions: [v1], sideEffects: None, clientConfig: {service: {name: web, namespace: default}}}]
`

// parsed reads a Scenario with more fields, of Services of a type.
// A time for gRPC's clients to connect is warned of where there are none.
func TestADialTimeoutWithoutClientsOfGRPCIsWarnedOf(t *testing.T) {
	t.Parallel()
	grpc := strings.Replace(altWeb, "targetPort: 8080", "targetPort: 8080, name: grpc", 1)
	const want = "no client uses gRPC or HTTP/2: it has no effect"
	for name, tt := range map[string]struct { // order: each for itself
		text   string
		opts   Options
		warned bool
	}{
		"no gRPC":           {altWeb, Options{Set: []string{"clients.dialTimeout=5s"}}, true},
		"gRPC":              {grpc, Options{Set: []string{"clients.dialTimeout=5s"}}, false},
		"for all that dial": {altWeb, Options{ConnectTimeout: "5s"}, false},
		"nothing said":      {altWeb, Options{}, false},
	} {
		cases, problems := casesIn(t, tt.text, tt.opts)
		warned := len(problems) == 1 && problems[0].Severity == manifest.Warning && strings.HasPrefix(problems[0].Message, want)
		if warned != tt.warned || !warned && len(problems) > 0 || len(cases) == 0 {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

func parsed(t *testing.T, kind, spec string, opts Options) (*world.Scenario, string) {
	t.Helper()
	text := "apiVersion: lameduck/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec:\n  actions: [{rolloutRestart: deployment/web}]\n" + spec + "---" + fmt.Sprintf(clientsWeb, kind)
	objects, problems := manifest.Load([]manifest.File{{Name: "in.yaml", Data: []byte(text)}}, manifest.Options{})
	list, more := parseKept(t, objects, opts)
	var wrong []string
	for _, p := range append(problems, more...) {
		if p.Severity == manifest.Error {
			wrong = append(wrong, p.String())
		}
	}
	if len(list) != 1 {
		return nil, strings.Join(wrong, "\n")
	}
	return list[0], strings.Join(wrong, "\n")
}

// said lists what the clients of each stream wait for: an answer, a connection.
func said(s *world.Scenario) string {
	var out []string
	for i := range s.Traffic {
		t := &s.Traffic[i]
		words := limitWords(t.Timeout) + "/" + limitWords(t.ConnectTimeout)
		if t.RepeatReused {
			words += "+"
		}
		if t.LinearSYNs > 0 {
			words += fmt.Sprintf("~%d", t.LinearSYNs)
		}
		out = append(out, words)
	}
	return strings.Join(out, " ")
}

// The default clients, in the order of the ports: new connections, keep-alive, gRPC, sessions, the
// webhook's API server, UDP.
func TestHowLongClientsWait(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, kind, spec string
		opts             Options
		want             string
	}{
		{"inside: 10 s, gRPC dials for 20 s", "ClusterIP", "", Options{}, "10s/10s 10s/10s+ 10s/20s 10s/10s 10s/10s 2s/2s"},
		{"from outside: 30 s", "NodePort", "", Options{}, "30s/30s 30s/30s+ 30s/20s 30s/30s 10s/10s 2s/2s"},
		{"--timeout is no matter of webhooks and UDP", "ClusterIP", "", Options{Timeout: "7s"}, "7s/7s 7s/7s+ 7s/20s 7s/7s 10s/10s 2s/2s"},
		{"--timeout none: the kernel limits a connection that is shared", "ClusterIP", "", Options{Timeout: "none"}, "none/none none/none+ none/20s none/2m7s 10s/10s 2s/2s"},
		{"--connect-timeout, gRPC's too", "ClusterIP", "", Options{ConnectTimeout: "3s"}, "10s/3s 10s/3s+ 10s/3s 10s/3s 10s/10s 2s/2s"},
		{"spec.clients", "ClusterIP", "  clients: {timeout: 8s, connectTimeout: 1s, dialTimeout: 4s, repeatReused: false}\n", Options{}, "8s/1s 8s/1s 8s/4s 8s/1s 10s/10s 2s/2s"},
		{"by --set", "ClusterIP", "", Options{Set: []string{"clients.dialTimeout=5s", "clients.repeatReused=false"}}, "10s/10s 10s/10s 10s/5s 10s/10s 10s/10s 2s/2s"},
		{"nobody connects for longer than the request may take", "ClusterIP", "", Options{ConnectTimeout: "15s"}, "10s/10s 10s/10s+ 10s/15s 10s/15s 10s/10s 2s/2s"},
	} {
		s, wrong := parsed(t, c.kind, c.spec, c.opts)
		if s == nil || said(s) != c.want {
			t.Errorf("%s: %v %s, want %s", c.name, s != nil && said(s) != "", said(orEmpty(s))+wrong, c.want)
		}
	}
}

func orEmpty(s *world.Scenario) *world.Scenario {
	if s == nil {
		return &world.Scenario{}
	}
	return s
}

func TestWhatAStreamSaysOfItsClients(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, stream string
		opts         Options
		want         string // or a part of the error
	}{
		{"nothing", "to: web:80", Options{}, "30s/30s"},
		{"from pods", "to: web:80, from: pods", Options{}, "10s/10s"},
		{"a timeout", "to: web:80, timeout: 5s", Options{}, "5s/5s"},
		{"none", "to: web:80, timeout: none, connectTimeout: 2s", Options{}, "none/2s"},
		{"a flag wins", "to: web:80, timeout: 5s", Options{Timeout: "9s"}, "9s/9s"},
		{"--set of a default does not", "to: web:80, timeout: 5s", Options{Set: []string{"clients.timeout=9s"}}, "5s/5s"},
		{"a pool that repeats nothing", "to: web:80, connection: keep-alive, repeatReused: false", Options{}, "30s/30s"},
		{"who resolves names", "to: names:80, from: pods", Options{Timeout: "9s"}, "5s/5s"},
		{"no time at all", "to: web:80, timeout: 0s", Options{}, "in.yaml:8:27: Scenario s: spec.traffic[0].timeout: a request without any time cannot succeed; no limit is none"},
		{"no time at all, by a flag", "to: web:80", Options{Timeout: "0s", Wording: flags()}, "--timeout 0s: Scenario s: spec.clients.timeout: a request without any time cannot succeed; no limit is none"},
		{"no time to connect, by a flag", "to: web:80", Options{ConnectTimeout: "0s", Wording: flags()}, "--connect-timeout 0s: Scenario s: spec.clients.connectTimeout: no connection comes about without any time; no limit is none"},
		{"SYNs each second, of one stream", "to: web:80, synLinearTimeouts: 8", Options{}, "30s/30s~8"},
		{"SYNs each second, of all", "to: web:80", Options{Set: []string{"clients.synLinearTimeouts=4"}}, "30s/30s~4"},
		{"too many SYNs each second", "to: web:80, synLinearTimeouts: 9", Options{}, "synLinearTimeouts: want 0 to 8"},
		{"no unit", "to: web:80", Options{Timeout: "5"}, `"5" has no unit: want a duration with a unit, such as "250ms", "15s" or "1m30s", or none`},
		{"UDP without end", "to: web:53, timeout: none", Options{}, "nothing but its timeout tells a UDP client"},
		{"longer than the request", "to: web:80, timeout: 5s, connectTimeout: 6s", Options{}, "connectTimeout 6s is longer than timeout 5s, which covers it"},
		{"repeats without a pool", "to: web:80, repeatReused: true", Options{}, "only connections that are kept alive are used again: set connection: keep-alive"},
	} {
		s, wrong := parsed(t, "NodePort", "  traffic:\n  -\n    {"+c.stream+"}\n", c.opts)
		if got := said(orEmpty(s)); got != c.want && (wrong == "" || !strings.Contains(wrong, c.want)) {
			t.Errorf("%s: %s %s, want %s", c.name, got, wrong, c.want)
		}
	}
}

func TestWhatAnAddressAnswersThatIsGone(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{ // order: each for itself
		"":       "false 0s",
		"silent": "false 0s",
		"0s":     "true 0s",
		"3s":     "true 3s",
		"icmp":   `"icmp" is no duration: want a duration with a unit, such as "250ms", "15s" or "1m30s", or silent`,
	} {
		var opts Options
		if value != "" {
			opts.Set = []string{"deadAddress=" + value}
		}
		s, got := parsed(t, "ClusterIP", "", opts)
		if s != nil {
			got = fmt.Sprint(s.Unreachable, " ", s.UnreachableAfter.Duration())
		}
		if !strings.HasSuffix(got, want) {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
}

// alternativesOf says what is tried instead of one assumption.
func alternativesOf(s *world.Scenario, id string) string {
	var out []string
	for _, a := range Alternatives(s) {
		if a.ID == id {
			out = append(out, fmt.Sprintf("%s: %s %v %s", a.Value, said(a.Scenario), a.Scenario.Unreachable, a.Scenario.UnreachableAfter.Duration()))
		}
	}
	return strings.Join(out, "; ")
}

func TestWhatClientsMightDoInstead(t *testing.T) {
	t.Parallel()
	const three = "  traffic: [{to: web:80, from: pods, connection: keep-alive}, {to: web:81, from: pods, connection: grpc}, {to: web:53, from: pods}]\n"
	for _, c := range []struct{ spec, set, id, want string }{
		{three, "", "timeout", "5s: 5s/5s+ 5s/20s 2s/2s false 0s; none: none/none+ none/20s 2s/2s false 0s"},
		{three, "", "connect-timeout", "1s: 10s/1s+ 10s/20s 2s/2s false 0s; 3s: 10s/3s+ 10s/20s 2s/2s false 0s"},
		{three, "", "dial-timeout", "1s: 10s/10s+ 10s/1s 2s/2s false 0s; 5s: 10s/10s+ 10s/5s 2s/2s false 0s"},
		{three, "", "keepalive-repeat", "does not ask again: 10s/10s 10s/20s 2s/2s false 0s"},
		{three, "", "dead-address", "ICMP unreachable at once: 10s/10s+ 10s/20s 2s/2s true 0s; ICMP unreachable after 3s: 10s/10s+ 10s/20s 2s/2s true 3s"},
		{three, "", "syn-repeats", "each second up to 5 s, then after 7 and 11 s: 10s/10s+~4 10s/20s~4 2s/2s false 0s"},
		{three, "clients.synLinearTimeouts=4", "syn-repeats", ""},
		{"  traffic: [{to: web:53, from: pods}]\n", "", "syn-repeats", ""},
		{three, "clients.timeout=6s", "timeout", ""},
		{three, "clients.connectTimeout=6s", "connect-timeout", ""},
		{three, "clients.dialTimeout=6s", "dial-timeout", ""},
		{three, "clients.repeatReused=true", "keepalive-repeat", ""},
		{three, "", "methods", ""},
		{three, "deadAddress=silent", "dead-address", ""},
		{"  traffic: [{to: web:53, from: pods}]\n", "", "dead-address", ""},
	} {
		var opts Options
		if c.set != "" {
			opts.Set = []string{c.set}
		}
		s, wrong := parsed(t, "ClusterIP", c.spec, opts)
		if wrong != "" {
			t.Fatal(wrong)
		}
		if got := alternativesOf(s, c.id); got != c.want {
			t.Errorf("%s %s:\n got %s\nwant %s", c.id, c.set, got, c.want)
		}
	}
}

// A load balancer lets no ICMP through: whatever an address answers, its clients do not hear it.
func TestWhatAnAddressAnswersIsNoMatterBehindAFilter(t *testing.T) {
	t.Parallel()
	for lb, want := range map[string]bool{"gke-l4": false, "metallb-l2": true} { // order: each for itself
		s, wrong := parsed(t, "LoadBalancer", "  loadBalancer: {preset: "+lb+"}\n  traffic: [{to: web:80}]\n", Options{})
		if wrong != "" {
			t.Fatal(wrong)
		}
		if got := alternativesOf(s, "dead-address") != ""; got != want || s.Traffic[0].LB == nil {
			t.Errorf("%s: tried %v", lb, got)
		}
	}
}

// An app that is slower does not make its clients wait longer, and what no client waits for is no
// alternative.
func TestASlowerAppHasTheSameClients(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{"pods": "1s 10s", "external": "1s 30s 10s 30s"} { // order: each for itself
		s, wrong := parsed(t, "NodePort", "  traffic: [{to: web:80, from: "+from+"}]\n", Options{})
		if wrong != "" {
			t.Fatal(wrong)
		}
		var got []string
		for _, a := range Alternatives(s) {
			if a.ID == "serve" {
				got = append(got, a.Value, a.Scenario.Traffic[0].Timeout.Duration().String())
				if a.Scenario.Workloads[0].App.Serve.Mean() < engine.Second {
					t.Errorf("%s: answers in %s", a.Value, a.Scenario.Workloads[0].App.Serve)
				}
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: tried %s, want %s", from, got, want)
		}
	}
}

// Another value of what was assumed of clients is tried with those of whom nobody said it, and who wait at all: questions over
// UDP and webhooks have times of their own.
func TestOtherTimeoutsAreThoseOfClientsOfWhomNothingIsSaid(t *testing.T) {
	t.Parallel()
	const span, was, wasConnect = 7 * engine.Second, 30 * engine.Second, 2 * engine.Second
	for name, c := range map[string]struct {
		client                            world.Traffic
		waits, connects, connectsOverGRPC bool
		along                             bool // to connect takes as long as the whole request
	}{
		"nothing said":               {world.Traffic{}, true, true, false, true},
		"the timeout":                {world.Traffic{TimeoutSaid: true}, false, true, false, false},
		"how long it connects":       {world.Traffic{ConnectSaid: true}, true, false, false, false},
		"both":                       {world.Traffic{TimeoutSaid: true, ConnectSaid: true}, false, false, false, false},
		"gRPC":                       {world.Traffic{Connection: world.ConnectionHTTP2}, true, false, true, false},
		"gRPC, how long it connects": {world.Traffic{Connection: world.ConnectionHTTP2, ConnectSaid: true}, true, false, false, false},
		"over UDP":                   {world.Traffic{Protocol: endpoints.UDP}, false, false, false, false},
		"a webhook":                  {world.Traffic{Class: ClassWebhook}, false, false, false, false},
	} {
		try := func(change func(*world.Scenario) bool) (world.Traffic, bool) {
			client := c.client
			client.Timeout, client.ConnectTimeout, client.Rate = was, wasConnect, 1000
			sc := &world.Scenario{Traffic: []world.Traffic{client}}
			changed := change(sc)
			return sc.Traffic[0], changed
		}
		if got, changed := try(waiting(span)); changed != c.waits || (got.Timeout == span) != c.waits || (got.ConnectTimeout == span) != c.along {
			t.Errorf("%s: waits: %t, for %s s, connects for %s s", name, changed, got.Timeout.Seconds(), got.ConnectTimeout.Seconds())
		}
		if got, changed := try(connecting(false, span)); changed != c.connects || (got.ConnectTimeout == span) != c.connects || got.Timeout != was {
			t.Errorf("%s: connects: %t, for %s s", name, changed, got.ConnectTimeout.Seconds())
		}
		if got, changed := try(connecting(true, span)); changed != c.connectsOverGRPC || (got.ConnectTimeout == span) != c.connectsOverGRPC || got.Timeout != was {
			t.Errorf("%s: connects over gRPC: %t, for %s s", name, changed, got.ConnectTimeout.Seconds())
		}
	}
}

// Who asks over UDP asks again once, but not where the protocol has no answers. That is an assumption, which can be said and is varied, as is
// the port that clients ask from.
func TestClientsOverUDP(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		port    string
		set     []string
		retries int
		others  []string
	}{
		{"{name: q, port: 53, protocol: UDP}", nil, 1, []string{asksOnce, onePort}},
		{"{name: q, port: 514, protocol: UDP}", nil, 0, []string{asksTwice, onePort}},
		{"{name: statsd-in, port: 99, protocol: UDP}", nil, 0, []string{asksTwice, onePort}},
		{"{name: q, port: 514, protocol: UDP}", []string{"clients.udpRetries=2"}, 2, nil},
	} {
		cases, problems := casesIn(t, strings.Replace(altWeb, "{port: 80", strings.TrimSuffix(c.port, "}"), 1), Options{Actions: []string{"rollout"}, Set: c.set})
		if len(cases) != 1 || cases[0].Scenario == nil {
			t.Fatal(c.port, problems)
		}
		s := cases[0].Scenario
		var others []string
		for _, a := range Alternatives(s) {
			if a.ID == "udp-repeat" {
				others = append(others, a.Value)
				if x := a.Scenario.Traffic[0]; (x.Retries == s.Traffic[0].Retries) != (a.Value == onePort) || x.FixedPorts != (a.Value == onePort) {
					t.Errorf("%s: %s: %+v", c.port, a.Value, x)
				}
			}
		}
		if got := s.Traffic[0].Retries; got != c.retries || !slices.Equal(others, c.others) {
			t.Errorf("%s %v: %d retries, want %d, or %q", c.port, c.set, got, c.retries, others)
		}
	}
}
