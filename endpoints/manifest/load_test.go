package manifest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"
)

// corpus returns manifests such as people write them, name -> content: those of package scenario's tests, and the real
// ones that live beside the repository, where they do.
func corpus(t *testing.T) map[string][]byte {
	t.Helper()
	paths, _ := filepath.Glob("../../sim/scenario/testdata/manifests/*.yaml")
	if len(paths) == 0 {
		t.Fatal("no manifests")
	}
	more, _ := filepath.Glob("../../../shared/corpus/*.yaml")
	files := map[string][]byte{}
	for _, path := range append(paths, more...) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(path)] = data
	}
	return files
}

func TestTheCorpusLoadsWithoutAProblem(t *testing.T) {
	t.Parallel()
	count := map[string]int{
		"database.yaml": 2, "frontend.yaml": 3, "ingress.yaml": 5, "sessions.yaml": 5, "shop.yaml": 13,
		"argo-cd-ha.yaml": 29, "cassandra.yaml": 2, "guestbook.yaml": 6, "ingress-nginx-baremetal.yaml": 9,
		"ingress-nginx-cloud.yaml": 9, "online-boutique.yaml": 24, "podinfo-frontend.yaml": 3,
	}
	for name, data := range corpus(t) {
		objects, problems := Load([]File{{name, data}}, Options{})
		if want, known := count[name]; len(problems) != 0 || known && len(objects.All) != want || !known && len(objects.All) == 0 {
			t.Errorf("%s: %d objects, want %d; problems: %v", name, len(objects.All), want, problems)
		}
	}
}

func TestBothYAMLParsersReadTheCorpusAlike(t *testing.T) {
	t.Parallel()
	simple, all := 0, 0
	for name, data := range corpus(t) {
		for _, doc := range split(string(data)) {
			if doc.content() == "" || len(doc.text) > 100_000 {
				continue
			}
			all++
			got, gave := parseSimpleYAML(doc.text, doc.line)
			if gave != nil {
				continue
			}
			simple++
			want, err := parseFullYAML(doc.text, doc.line)
			if err != nil {
				t.Fatalf("%s:%d: %v", name, doc.line, err)
			}
			if dump(got) != dump(want) {
				t.Errorf("%s:%d: the parsers differ", name, doc.line)
			}
		}
	}
	if simple*10 < all*9 {
		t.Errorf("only %d of %d documents are simple YAML; the fast path is not taken", simple, all)
	}
}

// values returns the objects' values as JSON.
func values(t *testing.T, objects *Objects) [][]byte {
	t.Helper()
	var out [][]byte
	for _, o := range objects.All {
		data, err := json.Marshal(o.Value)
		if err != nil {
			t.Fatalf("%v: %v", o, err)
		}
		out = append(out, data)
	}
	return out
}

func TestYAMLAndJSONOfTheSameObjectsAreEqual(t *testing.T) {
	t.Parallel()
	for name, data := range corpus(t) {
		fromYAML, _ := Load([]File{{name, data}}, Options{})
		var asJSON, asYAML []byte
		for _, v := range values(t, fromYAML) {
			asJSON = append(append(asJSON, v...), '\n')
			var generic any
			if err := yaml.Unmarshal(v, &generic); err != nil {
				t.Fatal(err)
			}
			out, err := yaml.Marshal(generic)
			if err != nil {
				t.Fatal(err)
			}
			asYAML = append(append(asYAML, "---\n"...), out...)
		}
		for format, text := range map[string][]byte{"JSON": asJSON, "YAML": asYAML} {
			again, problems := Load([]File{{name, text}}, Options{})
			if len(problems) > 0 {
				t.Errorf("%s as %s: %v", name, format, problems)
			}
			if !slices.EqualFunc(values(t, fromYAML), values(t, again), bytes.Equal) {
				t.Errorf("%s as %s is not what it was", name, format)
			}
		}
	}
}

// A Service as kubectl get -o yaml --show-managed-fields prints it.
func TestALiveObjectIsAcceptedAsItIs(t *testing.T) {
	t.Parallel()
	o := loadOne(t, `apiVersion: v1
kind: Service
metadata:
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: |
      {"apiVersion":"v1","kind":"Service","metadata":{"name":"web","namespace":"shop"}}
  creationTimestamp: "2026-01-31T12:00:00Z"
  managedFields:
  - apiVersion: v1
    fieldsType: FieldsV1
    fieldsV1:
      f:metadata:
        f:annotations:
          .: {}
    manager: kubectl
    operation: Update
    time: "2026-01-31T12:00:00Z"
  name: web
  namespace: shop
  resourceVersion: "1234"
  selfLink: /api/v1/namespaces/shop/services/web
  uid: 0a1b2c3d-0000-0000-0000-000000000000
spec:
  allocateLoadBalancerNodePorts: true
  clusterIP: 10.96.1.2
  clusterIPs:
  - 10.96.1.2
  externalTrafficPolicy: Local
  healthCheckNodePort: 31234
  internalTrafficPolicy: Cluster
  ipFamilies:
  - IPv4
  ipFamilyPolicy: SingleStack
  ports:
  - name: http
    nodePort: 20080
    port: 80
    protocol: TCP
    targetPort: http
  selector:
    app: web
  sessionAffinity: None
  type: LoadBalancer
status:
  conditions: []
  somethingNew: 1
  loadBalancer:
    ingress:
    - ip: 203.0.113.10
`)
	if got := field(t, o, "metadata.managedFields"); got != "absent" {
		t.Errorf("managedFields are kept: %s", got)
	}
	if got := field(t, o, "spec.ports[0].nodePort"); got != "20080" {
		t.Errorf("the node port is %s", got)
	}
	if o.ID() != "shop/web" || o.String() != "Service shop/web" {
		t.Errorf("it is called %v", o)
	}
}

func TestTheNamespaceOptionFillsIn(t *testing.T) {
	t.Parallel()
	objects, problems := Load([]File{{"x", []byte(service("") + "\n---\n" + node1)}}, Options{Namespace: "shop"})
	if len(problems) > 0 || objects.Services[0].ID() != "shop/a" || objects.Services[0].Value.Namespace != "shop" || objects.Nodes[0].ID() != "n1" {
		t.Errorf("%v, %v", objects.All, problems)
	}
}

func TestTheResultDoesNotReferToTheInput(t *testing.T) {
	t.Parallel()
	data := []byte(node1 + "---\n{\"apiVersion\": \"v1\", \"kind\": \"Node\", \"metadata\": {\"name\": \"n2\"}}")
	objects, _ := Load([]File{{"x", data}}, Options{})
	for i := range data {
		data[i] = 'X'
	}
	if len(objects.Nodes) != 2 || objects.Nodes[0].Value.Name != "n1" || objects.Nodes[1].Value.Name != "n2" {
		t.Errorf("%v", objects.All)
	}
}

func TestProblemsComeInInputOrder(t *testing.T) {
	t.Parallel()
	_, problems := Load([]File{{"b", []byte("{a: \n---\n- 1\n")}, {"a", []byte("- 2\n")}}, Options{})
	var got []string
	for _, p := range problems {
		got = append(got, p.Position.String())
	}
	if want := []string{"b:1:1", "b:3:1", "a:1:1"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestUnmatched(t *testing.T) {
	t.Parallel()
	objects, problems := Load([]File{{"x", []byte(`apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: lonely}
spec: {ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: elsewhere}
spec: {type: ExternalName, externalName: a.example.com}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
endpoints: []
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: gone-1, labels: {kubernetes.io/service-name: gone}}
addressType: IPv4
endpoints: []
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-2, namespace: other, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
endpoints: []
`)}}, Options{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	got := summary(&Objects{}, Unmatched(objects))
	const want = `warning: x:24:63: EndpointSlice default/gone-1: metadata.labels["kubernetes.io/service-name"]: there is no Service default/gone in the input; this EndpointSlice is never used
warning: x:30:80: EndpointSlice other/web-2: metadata.labels["kubernetes.io/service-name"]: there is no Service other/web in the input; this EndpointSlice is never used
warning: x:6:1: Service default/lonely: no EndpointSlice in the input has the label kubernetes.io/service-name: lonely; this Service has no endpoints
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := Unmatched(&Objects{}); got != nil {
		t.Errorf("of nothing: %v", got)
	}
}

// Of a field's name that ends early the only longer one is meant: of two, or of a short beginning, nobody knows.
func TestTheOnlyLongerNameIsMeant(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"externalTraffic": "externalTrafficPolicy", "externaltraffic": "externalTrafficPolicy", "externalP": "", "external": "", "sessionA": "sessionAffinityConfig", "session": "",
		"externalTrafficPolicy": "", "": "",
	} {
		if got := onlyLonger(name, []string{"externalTrafficPolicy", "externalIPs", "sessionAffinityConfig"}); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestNearestName(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, want string
	}{
		{"externaltrafficpolicy", "externalTrafficPolicy"}, {"externalTraficPolicy", "externalTrafficPolicy"},
		{"prots", "ports"}, {"tpye", ""}, {"typ", "type"}, {"Type", "type"}, {"x", ""}, {"", ""}, {"something", ""},
	} {
		if got := Nearest(tt.name, []string{"externalTrafficPolicy", "ports", "type"}); got != tt.want {
			t.Errorf("nearest(%q) = %q, want %q", tt.name, got, tt.want)
		}
	}
}
