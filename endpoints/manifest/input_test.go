package manifest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const node1 = "apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n"

// bomb doubles a list n times: about 2^n values in n lines.
func bomb(n int) string {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: Service\nmetadata:\n  a0: &a0 [x, x]\n")
	for i := range n {
		fmt.Fprintf(&b, "  a%d: &a%d [*a%d, *a%d]\n", i+1, i+1, i, i)
	}
	return b.String()
}

func TestOddInput(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, input, want string }{
		{"nothing", "", "nothing\n"},
		{"white space", " \n\t\n\r\n", "nothing\n"},
		{"a byte order mark", "\ufeff" + node1, "x:1:1 Node n1\n"},
		{"a Scenario of a group with a domain", "apiVersion: lameduck.dev/v1alpha1\nkind: Scenario\nmetadata: {name: a}\n", "error: x:1:13: Scenario a: apiVersion: unknown version lameduck.dev/v1alpha1; use lameduck/v1alpha1\n"},
		{"a kind that lameduck has not", "apiVersion: lameduck.io/v1\nkind: Rollout\nmetadata: {name: a}\n", "error: x:2:7: Rollout a: kind: unknown kind; lameduck.io/v1 has Scenario\n"},
		{"somebody else's Scenario", "apiVersion: example.com/v1\nkind: Scenario\nmetadata: {name: a}\n", "skipped example.com/v1 Scenario 1\n"},
		{"a byte order mark in each of two concatenated files", "\ufeff" + node1 + "---\n\ufeff" + node1, "warning: x:6:1: Node n1: defined again, the first is at x:1:1; this later one is used\nx:6:1 Node n1\n"},
		{"CRLF", strings.ReplaceAll("# c\n---\n"+node1+"...\n", "\n", "\r\n"), "x:3:1 Node n1\n"},
		{"CRLF and an error", strings.ReplaceAll(node1+"spec: [1, 2]\n", "\n", "\r\n"), "error: x:5:7: Node n1: spec: expected a mapping, got a list\n"},
		{"CRLF within JSON", "{\"apiVersion\": \"v1\",\r\n \"kind\": \"Node\",\r\n \"metadata\": {\"name\": 1}}", "error: x:3:23: Node 1: metadata.name: expected a string, got the number 1; put it in quotes\n"},
		{"no line break at the end", strings.TrimSpace(node1), "x:1:1 Node n1\n"},
		{"UTF-16", "\xff\xfea\x00", "error: x:1:1: this is UTF-16; save the file as UTF-8\n"},
		{"a NUL byte", node1 + "spec:\n  podCIDR: a\x00b\n", "error: x:6:13: NUL byte; this is no text file, or it is not UTF-8\n"},
		{"a NUL byte in one of two documents", node1 + "---\n\x00\n", "error: x:6:1: NUL byte; this is no text file, or it is not UTF-8\nx:1:1 Node n1\n"},
		{"invalid UTF-8 behind wide characters", "a: ö\nä: \xff\n", "error: x:2:4: invalid UTF-8; save the file as UTF-8\n"},
		{"an escape character", "a: \x1b[1m\n", "error: x:1:4: control character U+001B; write it as an escape in a double-quoted string\n"},
		{"a control character of Latin-1", "b: c\na: ö\u0080\n", "error: x:2:5: control character U+0080; write it as an escape in a double-quoted string\n"},
		{"a NUL byte in a document of a kind that is skipped", "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {a: \"\x00\"}\n", "skipped v1 Secret 1\n"},
		{"columns count characters", "apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {äöü: \"ß\", x: [1]}}\n", "error: x:3:44: Node n1: metadata.labels.x: expected a string, got a list\n"},
		{"columns count characters in JSON, too", `{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": {"äöü": "ß", "x": [1]}}}`, "error: x:1:93: Node n1: metadata.labels.x: expected a string, got a list\n"},
		{"an alias bomb", bomb(40), "error: x:21:8: aliases make this document stand for more than 1000000 values\n"},
		{"nesting in YAML", "a: " + strings.Repeat("[", 200) + strings.Repeat("]", 200), "error: x:1:132: nested deeper than 128 levels\n"},
		{"nesting in block YAML", nestedBlock(200), "error: x:129:129: nested deeper than 128 levels\n"},
		{"nesting in JSON", `{"a": ` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "}", "error: x:1:135: malformed JSON: nested deeper than 128 levels\n"},
		{"nesting that no parser survives", strings.Repeat("[", 100_000), "error: x:1:130: malformed JSON: nested deeper than 128 levels\n"},
		{"nesting through aliases", nestedAliases(200), "error: x:130:16: nested deeper than 128 levels\n"},
		{"lists in lists without end", strings.Repeat(`{"apiVersion":"v1","kind":"List","items":[`, 20) + strings.Repeat("]}", 20), "error: x:1:412: List: items: lists in lists, nested too deep\n"},
		{"a document end with something behind it", node1 + "... x\n", "error: x:5:1: malformed YAML: expected the end of the document; put a line with only --- between documents\n"},
		{"two documents that are not separated", "{a: b}\n{c: d}\n", "error: x:2:1: malformed YAML: expected the end of the document; put a line with only --- between documents\n"},
		{"a second document after a line break of Unicode", "a: b\u2028---\nc: d\n", "error: x:2:1: a second document starts here; put a line with only --- between documents\n"},
		{"JSON without a colon", `{"a" "b"}`, "error: x:1:6: malformed JSON: expected ':' after the key \"a\", got '\"'\n"},
		{"a template below a key", "a:\n  b:\n    {{- include \"c\" . | nindent 4 }}\nd:\n  {{- if .Values.e }}\n", "error: x:3:5: a template ({{ }}), not YAML; render it first, for example with helm template\n"},
		{"a template behind a key", "a: &b {{ c }}\nd: {{- e | quote }}\n- f\n", "error: x:2:4: a template ({{ }}), not YAML; render it first, for example with helm template\n"},
		{"braces in quotes are no template", "a: '{{ b }}'\nc: \"x: {{ d }}\"\n - e\n", "error: x:3:2: malformed YAML: expected a key here; check the indentation of this line and those above\n"},
		{"a Helm chart", "apiVersion: v2\nname: web\nversion: 0.1.0\n", "error: x:1:1: kind: missing; this is the Chart.yaml of a Helm chart: render the chart first, for example with helm template\n"},
		{"a kustomization", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nreplicas: [{name: web, count: 6}]\n",
			"warning: x:1:1: Kustomization: not built, so what it adds and changes is not in the answer: -k DIR builds it, or kubectl kustomize DIR before\nskipped kustomize.config.k8s.io/v1beta1 Kustomization 1\n"},
		{"a template as a value", "a: {{ .Values.web }}\n", "error: x:1:4: a template ({{ }}), not YAML; render it first, for example with helm template\n"},
		{"a template at the top", "{{ if .Values.web }}\na: b\n{{ end }}\n", "error: x:1:1: a template ({{ }}), not YAML; render it first, for example with helm template\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := summary(Load([]File{{"x", []byte(tt.input)}}, Options{}))
			if got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}

func nestedBlock(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func nestedAliases(depth int) string {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: Service\nmetadata:\n  a0: &a0 [x]\n")
	for i := range depth {
		fmt.Fprintf(&b, "  a%d: &a%d [*a%d]\n", i+1, i+1, i)
	}
	return b.String()
}

func TestInputOverTheLimitIsRefusedAsAWhole(t *testing.T) {
	t.Parallel()
	files := []File{{"a.yaml", []byte(node1)}, {"b.yaml", []byte(node1)}}
	objects, problems := Load(files, Options{MaxBytes: int64(len(node1)) + 1})
	const want = "b.yaml:1:1: the input is larger than the limit of 48 bytes; nothing was read, give fewer or smaller files"
	if len(problems) != 1 || problems[0].Error() != want || problems[0].Severity != Error || len(objects.All) != 0 {
		t.Errorf("got %d objects, %v", len(objects.All), problems)
	}
	if _, problems := Load(files[:1], Options{MaxBytes: int64(len(node1))}); len(problems) != 0 {
		t.Errorf("input of exactly the limit: %v", problems)
	}
	big := File{"big.yaml", make([]byte, DefaultMaxBytes+1)}
	if _, problems := Load([]File{big}, Options{}); len(problems) != 1 || !strings.Contains(problems[0].Error(), "limit of 64 MiB") {
		t.Errorf("the default limit: %v", problems)
	}
}

func TestTheListOfProblemsIsBounded(t *testing.T) {
	t.Parallel()
	_, problems := Load([]File{{"x", []byte(strings.Repeat("a: 1\n---\n", maxProblems) + "x: [\n")}}, Options{})
	if len(problems) != maxProblems+1 {
		t.Fatalf("%d problems", len(problems))
	}
	last := problems[maxProblems]
	if !strings.Contains(last.Message, "1 more problems") || last.Severity != Error || !HasErrors(problems) {
		t.Errorf("the last is %v: %v", last.Severity, last)
	}
}

func TestStandardInputIsNamed(t *testing.T) {
	t.Parallel()
	_, problems := Load([]File{{"-", []byte("- a\n")}}, Options{})
	if len(problems) != 1 || !strings.HasPrefix(problems[0].Error(), "<stdin>:1:1: ") {
		t.Errorf("%v", problems)
	}
	if got := (Position{File: "a.yaml"}).String(); got != "a.yaml" {
		t.Errorf("a position without a line is %q", got)
	}
}

// Duplicate keys, unknown fields and merge keys by the thousand: each is
// reported, none is compared with all the others.
func TestThousandsOfMistakesInOneObject(t *testing.T) {
	t.Parallel()
	var labels, unknown, ips, merged strings.Builder
	for i := range 16_000 {
		fmt.Fprintf(&labels, "    k%d: v\n", i%8_000)
		fmt.Fprintf(&ips, "  - 203.0.%d.%d\n", i%8_000/200, i%200)
		fmt.Fprintf(&merged, "  m%d: v\n", i)
		if i%2 == 0 {
			fmt.Fprintf(&unknown, "  sessionAffinitx%d: v\n", i)
		}
	}
	for _, tt := range []struct {
		input    string
		problems int
	}{
		{"apiVersion: v1\nkind: Service\nmetadata:\n  name: a\n  labels:\n" + labels.String(), 8_000},
		{"apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec:\n  ports: [{port: 80}]\n" + unknown.String(), 8_000},
		{"apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec:\n  ports: [{port: 80}]\n  externalIPs:\n" + ips.String(), 8_000},
		{"apiVersion: v1\nkind: Service\nmetadata: {name: a, labels: &x {a: b}}\nspec:\n  ports: [{port: 80}]\n  selector:\n    <<: [*x, *x]\n  <<: {}\n" + merged.String(), maxProblems + 1},
	} {
		if _, problems := Load([]File{{"x", []byte(tt.input)}}, Options{}); len(problems) != tt.problems {
			t.Errorf("%d problems, want %d; the first is %v", len(problems), tt.problems, problems[0])
		}
	}
}

// What the API server refuses of a container, and what can only fail, is said with its line.
func TestWhatOfAContainerCannotWorkIsSaid(t *testing.T) {
	t.Parallel()
	text := `apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: web
    ports: [{name: http, containerPort: 8080}]
    resources:
      requests: {cpu: 100m, memory: -1Gi}
      limits: {cpu: "-2"}
    livenessProbe: {httpGet: {port: admin}}
    readinessProbe: {tcpSocket: {port: side}}
    startupProbe: {exec: {command: []}}
    lifecycle:
      preStop: {exec: {command: [""]}}
      postStart: {exec: {command: []}}
  - name: side
    ports: [{name: side, containerPort: 9091}]
    livenessProbe: {grpc: {port: 9091}}
    readinessProbe: {tcpSocket: {port: 7070}}
`
	objects, problems := Load([]File{{Name: "in.yaml", Data: []byte(text)}}, Options{})
	var got []string
	for _, p := range problems {
		if p.Severity != Warning {
			t.Errorf("%v is no warning", p)
		}
		at, words, _ := strings.Cut(strings.TrimPrefix(p.Error(), "in.yaml:"), ": Pod default/web: spec.containers[0].")
		line, _, _ := strings.Cut(at, ":")
		got = append(got, line+" "+words)
	}
	want := []string{
		"9 resources.requests.memory: -1Gi must not be negative; it is left out",
		"10 resources.limits.cpu: -2 must not be negative; it is left out",
		`11 livenessProbe.httpGet.port: the container has no port named "admin" (it has http): the probe always fails`,
		`12 readinessProbe.tcpSocket.port: the container has no port named "side" (it has http): the probe always fails`,
		"13 startupProbe.exec.command: has no word, a program is needed; this probe is ignored",
		`15 lifecycle.preStop.exec.command[0]: "" is the name of no program: it always fails`,
		"16 lifecycle.postStart.exec.command: has no word, a program is needed; this hook is ignored",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	web := objects.Pods[0].Value.Spec.Containers[0]
	if len(web.Resources.Requests) != 1 || len(web.Resources.Limits) != 0 || web.StartupProbe != nil || web.Lifecycle.PostStart != nil || web.Lifecycle.PreStop == nil {
		t.Errorf("left over: %+v", web)
	}
}
