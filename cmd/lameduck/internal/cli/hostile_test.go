package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/proxier/page"
)

// hostile is what a terminal would obey, and a line that nobody wrote.
const hostile = "x\x1b[31m\u009b2J\u202e\u2066\x07\nfaked: line\r\u2028y"

// hostileWorld has every kind that a verb reads something of.
const hostileWorld = `
{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {team: duck}}}
---
{apiVersion: v1, kind: Node, metadata: {name: node-1, labels: {kubernetes.io/hostname: node-1, topology.kubernetes.io/zone: zone-a}},
 spec: {providerID: "kind://node"}, status: {addresses: [{type: InternalIP, address: 192.168.0.11}], conditions: [{type: Ready, status: "True", reason: Fine}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, labels: {tier: front}, annotations: {note: words}}
spec:
  replicas: 2
  selector: {matchLabels: {app: duckpond}}
  template:
    metadata: {labels: {app: duckpond}, annotations: {hint: other}}
    spec:
      terminationGracePeriodSeconds: 20
      containers:
      - name: main
        image: registry.example/pond:1.2
        command: [/bin/pond, --listen]
        env: [{name: MODE, value: loud}]
        ports: [{name: http, containerPort: 8080}]
        lifecycle: {preStop: {exec: {command: [sh, -c, "sleep 2 && pond stop"]}}}
        readinessProbe: {httpGet: {path: /ready, port: 8080, httpHeaders: [{name: X-Probe, value: probing}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop, annotations: {about: service}}, spec: {type: LoadBalancer, clusterIP: 10.96.0.10,
 selector: {app: duckpond}, ports: [{name: front-port, port: 80, targetPort: 8080, nodePort: 30080}]}}
---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: web-1, namespace: shop, labels: {kubernetes.io/service-name: web}}, addressType: IPv4,
 endpoints: [{addresses: [10.0.1.5], nodeName: node-1, zone: zone-a, conditions: {ready: true}, targetRef: {kind: Pod, name: web-x, namespace: shop}},
 {addresses: [10.0.1.6], nodeName: node-2, hostname: named, conditions: {ready: false, serving: true, terminating: true}}], ports: [{name: front-port, port: 8080}]}
---
{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: entry, namespace: shop, annotations: {nginx.ingress.kubernetes.io/proxy-read-timeout: "30"}},
 spec: {ingressClassName: nginx, rules: [{host: shop.example, http: {paths: [{path: /shop, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}}
---
{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: scaler, namespace: shop}, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web},
 minReplicas: 2, maxReplicas: 4}}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: budget, namespace: shop}, spec: {minAvailable: 1, selector: {matchLabels: {app: duckpond}}}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: route, namespace: shop}, spec: {parentRefs: [{name: gate}], hostnames: [route.example],
 rules: [{backendRefs: [{name: web, port: 80}]}]}}
`

// hostileKinds are further kinds of the API, each with a document to begin with.
const hostileKinds = `
{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: shop}, spec: {serviceName: db, replicas: 1, selector: {matchLabels: {app: db}},
 template: {metadata: {labels: {app: db}}, spec: {containers: [{name: db, image: registry.example/db}]}}}}
---
{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: edge, namespace: shop}, spec: {selector: {matchLabels: {app: edge}},
 template: {metadata: {labels: {app: edge}}, spec: {containers: [{name: edge, image: registry.example/edge, ports: [{containerPort: 80, hostPort: 80}]}]}}}}
---
{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: bare, namespace: shop}, spec: {replicas: 1, selector: {matchLabels: {app: duckpond}},
 template: {metadata: {labels: {app: duckpond}}, spec: {containers: [{name: bare, image: registry.example/bare}]}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: alone, namespace: shop, labels: {app: duckpond}}, spec: {containers: [{name: alone, image: registry.example/alone}]}}
---
{apiVersion: networking.k8s.io/v1, kind: ServiceCIDR, metadata: {name: kubernetes}, spec: {cidrs: [10.96.0.0/16]}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: checks}, webhooks: [{name: checks.example.com, sideEffects: None,
 admissionReviewVersions: [v1], failurePolicy: Fail, clientConfig: {service: {namespace: shop, name: web, port: 80}}}]}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: changes}, webhooks: [{name: changes.example.com, sideEffects: None,
 admissionReviewVersions: [v1], clientConfig: {service: {namespace: shop, name: web, port: 80}}}]}
`

// hostileScenario is appended where Scenarios are tried.
const hostileScenario = `
---
{apiVersion: lameduck/v1alpha1, kind: Scenario, metadata: {name: story}, spec: {nodes: [{name: node-1, zone: zone-a}, {name: node-2}],
 traffic: [{name: inside, to: "shop/web:80", from: pods, rate: 20/s}], actions: [{at: 5s, rolloutRestart: deployment/web, namespace: shop}]}}
`

// documents are those of a text, as JSON has them.
func documents(t *testing.T, text string) []any {
	t.Helper()
	var out []any
	dec := yaml.NewDecoder(strings.NewReader(text))
	for {
		var doc map[string]any
		if dec.Decode(&doc) != nil {
			return out
		}
		out = append(out, doc)
	}
}

// asInput is JSON text of documents; JSON can say every character.
func asInput(t *testing.T, docs []any) string {
	t.Helper()
	data, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": docs})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// attempt runs the command line and looks at all that it says.
func attempt(t *testing.T, what, input string, args ...string) (code int, out, err string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = Main(append([]string{"lameduck"}, args...), Streams{In: strings.NewReader(input), Out: &stdout, Err: &stderr})
	words := fmt.Sprintf("%s: %q", what, args)
	if code == ExitInternal {
		t.Errorf("%s: exit code 3: %s", words, stderr.String())
	}
	obeyed(t, words+": stdout", stdout.String())
	obeyed(t, words+": stderr", stderr.String())
	return code, stdout.String(), stderr.String()
}

// obeyed fails where a terminal would obey something, or a line begins that nobody wrote. Lines that go on are indented.
func obeyed(t *testing.T, what, text string) {
	t.Helper()
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimLeft(line, "\t") // the rules of nft are indented so
		if at := strings.IndexFunc(line, page.Hides); at >= 0 {
			t.Errorf("%s: obeyed would be %q", what, line[max(0, at-40):min(len(line), at+40)])
			return
		}
		if strings.HasPrefix(line, "faked") {
			t.Errorf("%s: a line is faked:\n%s", what, text)
			return
		}
	}
}

// verbs are command lines that read objects from stdin.
func verbs(n int) [][]string {
	simulated := []string{"sim", "-f", "-", "--runs", "1", "--sensitivity=false", "--fixes", "0", "--rate", "10/s", "-v"}
	format := []string{"json", "yaml", "junit", "text"}[n%4]
	return [][]string{
		append(simulated, "--all"),
		append(simulated, "-o", format),
		{"explain", "-f", "-", "--node", "node-1", "-v"},
		{"explain", "-f", "-", "--node", "node-1", "-o", []string{"yaml", "json"}[n%2]},
		{"trace", "-f", "-", "--node", "node-1", "--from", "192.0.2.7", "--to", "10.96.0.10:80/tcp", "-o", []string{"text", "json", "yaml"}[n%3]},
		{"proxy", "--dry-run", "-f", "-", "--node", "node-1", "--mode", []string{"nftables", "iptables"}[n%2]},
	}
}

// Every text of a world of all kinds, wherever it stands, and every key, is hostile once, consistently: names with what refers to them. In short
// a few of them are.
func TestNoWordOfAManifestIsObeyed(t *testing.T) {
	t.Parallel()
	shown := map[string]int{}
	for _, text := range []string{hostileWorld, hostileWorld + hostileScenario} {
		words := map[string]bool{}
		for _, d := range documents(t, text) {
			collect(d, words)
		}
		for n, word := range slices.Sorted(maps.Keys(words)) {
			if text != hostileWorld && !strings.Contains(hostileScenario, word) || testing.Short() && n%4 != 1 {
				continue
			}
			var docs []any
			for _, d := range documents(t, text) {
				docs = append(docs, exchanged(d, word))
			}
			for _, args := range verbs(n) {
				if _, out, _ := attempt(t, "for "+word, asInput(t, docs), args...); strings.Contains(out, `x\x1b[31m\u009b2J`) {
					shown[args[0]]++
				}
			}
		}
	}
	for _, verb := range []string{"sim", "explain"} { // the others print no words of manifests
		if shown[verb] == 0 && !testing.Short() {
			t.Errorf("%s has shown none of it", verb)
		}
	}
	t.Log(shown)
}

// collect finds texts and keys.
func collect(v any, into map[string]bool) {
	switch v := v.(type) {
	case string:
		into[v] = true
	case []any:
		for _, x := range v {
			collect(x, into)
		}
	case map[string]any:
		for k, x := range v {
			into[k] = true
			collect(x, into)
		}
	}
}

// exchanged is v with a hostile word in place of one.
func exchanged(v any, word string) any {
	other := func(s string) string {
		if s == word {
			return s + hostile
		}
		return s
	}
	switch v := v.(type) {
	case string:
		return other(v)
	case []any:
		var out []any
		for _, x := range v {
			out = append(out, exchanged(x, word))
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			out[other(k)] = exchanged(x, word)
		}
		return out
	}
	return v
}

// Every text that the types of the API have is hostile: alone, for what is said of it, and with others that are let through, for what
// becomes of it.
func TestNoFieldOfTheAPIIsObeyed(t *testing.T) {
	t.Parallel()
	docs := documents(t, hostileWorld)
	further := documents(t, hostileKinds)
	ofKind := func(kind string) func(any) bool {
		return func(d any) bool { m, _ := d.(map[string]any); return m["kind"] == kind }
	}
	for kind, typ := range map[string]reflect.Type{
		"StatefulSet": reflect.TypeFor[appsv1.StatefulSet](), "DaemonSet": reflect.TypeFor[appsv1.DaemonSet](), "ReplicaSet": reflect.TypeFor[appsv1.ReplicaSet](),
		"Pod": reflect.TypeFor[corev1.Pod](), "ServiceCIDR": reflect.TypeFor[networkingv1.ServiceCIDR](),
		"ValidatingWebhookConfiguration": reflect.TypeFor[admissionv1.ValidatingWebhookConfiguration](),
		"MutatingWebhookConfiguration":   reflect.TypeFor[admissionv1.MutatingWebhookConfiguration](),
		"Service":                        reflect.TypeFor[corev1.Service](), "EndpointSlice": reflect.TypeFor[discoveryv1.EndpointSlice](), "Node": reflect.TypeFor[corev1.Node](),
		"Deployment": reflect.TypeFor[appsv1.Deployment](), "Ingress": reflect.TypeFor[networkingv1.Ingress](), "Namespace": reflect.TypeFor[corev1.Namespace](),
		"HorizontalPodAutoscaler": reflect.TypeFor[autoscalingv2.HorizontalPodAutoscaler](), "PodDisruptionBudget": reflect.TypeFor[policyv1.PodDisruptionBudget](),
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			docs := docs
			if i := slices.IndexFunc(further, ofKind(kind)); i >= 0 {
				docs = append(slices.Clone(docs), further[i])
			}
			at := slices.IndexFunc(docs, ofKind(kind))
			paths := textPaths(typ, nil)
			if len(paths) < 15 {
				t.Fatalf("only %d texts", len(paths))
			}
			const together = 60
			now, many := docs[at], 0
			for i, path := range paths {
				if !letThrough(t, path, put(docs[at], path)) {
					continue
				}
				if next := put(now, path); letThrough(t, path, next) {
					now, many = next, many+1
				}
				if many == together || i == len(paths)-1 {
					all := slices.Clone(docs)
					all[at] = now
					for _, args := range verbs(i) {
						attempt(t, kind, asInput(t, all), args...)
					}
					now, many = docs[at], 0
				}
			}
		})
	}
}

// letThrough says whether a document has no error, and looks at what is said of it.
func letThrough(t *testing.T, path []string, doc any) bool {
	t.Helper()
	data, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	_, problems := manifest.Load([]manifest.File{{Name: hostile, Data: data}}, manifest.Options{})
	var out bytes.Buffer
	_ = reportProblems(problems, Streams{Err: &out})
	obeyed(t, strings.Join(path, "."), out.String())
	return !manifest.HasErrors(problems)
}

// textPaths are the ways to all texts of a type: names of JSON, "0" for the first of a list, "=" for a value of a map and "?" for its key.
func textPaths(t reflect.Type, seen []reflect.Type) [][]string {
	var out [][]string
	add := func(name string, t reflect.Type) {
		for _, rest := range textPaths(t, seen) {
			if name != "" {
				rest = append([]string{name}, rest...)
			}
			out = append(out, rest)
		}
	}
	if _, text := reflect.New(t).Interface().(json.Unmarshaler); text {
		return [][]string{nil}
	}
	switch t.Kind() {
	case reflect.String:
		return [][]string{nil}
	case reflect.Pointer:
		return textPaths(t.Elem(), seen)
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 {
			add("0", t.Elem())
		}
	case reflect.Map:
		out = append(out, []string{"?"})
		add("=", t.Elem())
	case reflect.Struct:
		if slices.Contains(seen, t) {
			return nil
		}
		seen = append(slices.Clone(seen), t)
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			add(name, t.Field(i).Type)
		}
	default:
	}
	return out
}

// put is a copy of v with a hostile text at a path.
func put(v any, path []string) any {
	if len(path) == 0 {
		if s, ok := v.(string); ok {
			return s + hostile
		}
		return hostile
	}
	switch path[0] {
	case "0":
		list, _ := v.([]any)
		list = slices.Clone(list)
		if len(list) == 0 {
			list = []any{nil}
		}
		list[0] = put(list[0], path[1:])
		return list
	case "?":
		m := copied(v)
		m["key"+hostile] = "value"
		return m
	case "=":
		m := copied(v)
		m["key"] = put(m["key"], path[1:])
		return m
	default:
		m := copied(v)
		m[path[0]] = put(m[path[0]], path[1:])
		return m
	}
}

func copied(v any) map[string]any {
	if m, ok := v.(map[string]any); ok {
		return maps.Clone(m)
	}
	return map[string]any{}
}

// Every flag that takes words is given hostile ones, and so is every argument, name of a file and verb.
func TestNoFlagIsObeyed(t *testing.T) {
	t.Parallel()
	input := asInput(t, documents(t, hostileWorld))
	dir := t.TempDir()
	named := filepath.Join(dir, hostile+".yaml")
	if err := os.WriteFile(named, []byte("kind: Service\napiVersion: v1\nmetadata: {name: 7}\n---\n"+hostileWorld), 0o600); err != nil {
		t.Fatal(err)
	}
	base := map[string][]string{
		"sim": verbs(0)[0], "explain": verbs(0)[2], "trace": verbs(0)[4], "proxy": verbs(0)[5], "version": {"version"},
	}
	for _, cmd := range newRoot("lameduck", Streams{}).Commands() {
		args := base[cmd.Name()]
		if args == nil {
			continue // cobra's own
		}
		attempt(t, "argument", input, append(slices.Clone(args), hostile)...)
		attempt(t, "unknown flag", input, append(slices.Clone(args), "--"+hostile)...)
		attempt(t, "name of a file", input, append(slices.Clone(args), "-f", named)...)
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "write-config-to" || f.Value.Type() == "bool" { // one writes a file
				return
			}
			if f.Name == "report" { // and so does this one, where it can
				attempt(t, "flag", input, append(slices.Clone(args), "--report=/nonexistent/"+hostile)...)
				return
			}
			values := []string{hostile, "a=" + hostile, hostile + "=true", "/nonexistent/" + hostile, "1\x1b", "10.0.0.1\n", "spec=\x1b"}
			if testing.Short() {
				values = values[:2]
			}
			for _, value := range values {
				attempt(t, "flag", input, append(slices.Clone(args), "--"+f.Name+"="+value)...)
			}
		})
	}
	attempt(t, "verb", input, hostile)
	for _, list := range lists {
		for _, format := range []string{"text", "json", "yaml"} {
			attempt(t, "list", "", "sim", "--list", list, "-o", format)
		}
	}
	for _, word := range []string{"", "--service", "--node"} {
		attempt(t, "completion", "", cobra.ShellCompRequestCmd, "explain", "-f", named, word, "")
	}
}

// What programs read is what was written, whatever terminals would make of it.
func TestFormatsForProgramsKeepWhatTheyEscape(t *testing.T) {
	t.Parallel()
	value := map[string]any{"a": hostile + "\U000e0041\u0085\ufeff", "key" + hostile: []any{"yes", "\u00a0", "one\ntwo"}}
	var asJSON, asYAML bytes.Buffer
	if err := writeJSON(&asJSON, value); err != nil {
		t.Fatal(err)
	}
	if err := writeYAML(&asYAML, value); err != nil {
		t.Fatal(err)
	}
	obeyed(t, "JSON", asJSON.String())
	obeyed(t, "YAML", asYAML.String())
	var gotJSON, gotYAML map[string]any
	if err := json.Unmarshal(asJSON.Bytes(), &gotJSON); err != nil {
		t.Error(err)
	}
	if err := yaml.Unmarshal(asYAML.Bytes(), &gotYAML); err != nil {
		t.Error(err)
	}
	if !reflect.DeepEqual(gotJSON, value) || !reflect.DeepEqual(gotYAML, value) {
		t.Errorf("JSON %q, YAML %q, want %q", gotJSON, gotYAML, value)
	}
}
