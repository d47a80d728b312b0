package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// cluster writes n Services and n EndpointSlices of 10 endpoints each, in the
// layout kubectl get -o yaml prints, as separate documents or as one List.
func cluster(n int, list bool) []byte {
	var b strings.Builder
	first, indent := "---\n", ""
	if list {
		b.WriteString("apiVersion: v1\nkind: List\nitems:\n")
		indent = "  "
	}
	object := func(text string) {
		if !list {
			b.WriteString(first + text)
			return
		}
		for i, line := range strings.SplitAfter(text, "\n") {
			switch {
			case line == "":
			case i == 0:
				b.WriteString("- " + line)
			default:
				b.WriteString(indent + line)
			}
		}
	}
	for i := range n {
		object(fmt.Sprintf(`apiVersion: v1
kind: Service
metadata:
  name: svc-%[1]d
  namespace: ns-%[2]d
  labels:
    app: a%[1]d
spec:
  clusterIP: 10.96.%[3]d.%[4]d
  selector:
    app: a%[1]d
  ports:
  - name: http
    port: 80
    targetPort: 8080
    protocol: TCP
`, i, i%10, i/250, i%250+1))
		var endpoints strings.Builder
		for e := range 10 {
			fmt.Fprintf(&endpoints, `- addresses:
  - 10.%d.%d.%d
  conditions:
    ready: true
    serving: true
    terminating: false
  nodeName: node-%d
  zone: z%d
  targetRef:
    kind: Pod
    name: pod-%d-%d
    namespace: ns-%d
    uid: 0a1b2c3d-0000-0000-0000-%012d
`, i/250, i%250, e+1, e, e%3, i, e, i%10, e)
		}
		object(fmt.Sprintf(`apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: svc-%[1]d-x
  namespace: ns-%[2]d
  labels:
    kubernetes.io/service-name: svc-%[1]d
addressType: IPv4
ports:
- name: http
  port: 8080
  protocol: TCP
endpoints:
%[3]s`, i, i%10, endpoints.String()))
	}
	return []byte(b.String())
}

func asJSON(tb testing.TB, data []byte) []byte {
	tb.Helper()
	var v any
	if err := yaml.Unmarshal(data, &v); err != nil {
		tb.Fatal(err)
	}
	out, err := json.MarshalIndent(v, "", "    ")
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func benchmarkLoad(b *testing.B, data []byte, objects int) {
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		got, problems := Load([]File{{"bench.yaml", data}}, Options{})
		if len(problems) != 0 || len(got.All) != objects {
			b.Fatalf("%d objects, want %d; problems: %v", len(got.All), objects, problems)
		}
	}
}

func BenchmarkLoadYAMLDocuments2000Services2000Slices20000Endpoints(b *testing.B) {
	benchmarkLoad(b, cluster(2000, false), 4000)
}

func BenchmarkLoadYAMLList2000Services2000Slices20000Endpoints(b *testing.B) {
	benchmarkLoad(b, cluster(2000, true), 4000)
}

func BenchmarkLoadJSONList2000Services2000Slices20000Endpoints(b *testing.B) {
	benchmarkLoad(b, asJSON(b, cluster(2000, true)), 4000)
}

func BenchmarkLoadCRDs2MB(b *testing.B) {
	const path = "../../../shared/corpus/argo-cd-ha.yaml"
	data, err := os.ReadFile(path)
	if err != nil {
		b.Skipf("the corpus is not here: %v", err)
	}
	benchmarkLoad(b, data, 20)
}

// BenchmarkParseYAMLOnly2000... is the part of the above that is parsing.
func BenchmarkParseYAMLOnly2000Services2000Slices20000Endpoints(b *testing.B) {
	data := cluster(2000, true)
	text := string(data)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parseYAML(text, 1); err != nil {
			b.Fatal(err)
		}
	}
}

func TestBenchmarkInputIsTheSameAsDocumentsListAndJSON(t *testing.T) {
	t.Parallel()
	list := cluster(3, true)
	var want []byte
	for i, data := range [][]byte{list, cluster(3, false), asJSON(t, list)} {
		objects, problems := Load([]File{{"x", data}}, Options{})
		if len(problems) > 0 || len(objects.All) != 6 {
			t.Fatalf("input %d: %d objects, %v", i, len(objects.All), problems)
		}
		var got []byte
		for _, o := range objects.All {
			j, err := json.Marshal(o.Value)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, j...)
		}
		if i > 0 && !bytes.Equal(got, want) {
			t.Errorf("input %d differs:\n%s\n%s", i, got, want)
		}
		want = got
	}
}
