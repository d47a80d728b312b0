package scenario

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/test/golden"
)

// The schema is kept, a line for each field: what it is, without what is below it.
func TestTheSchemaIsKept(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	var walk func(path string, v map[string]any)
	walk = func(path string, v map[string]any) {
		own := map[string]any{}
		for key, value := range v { // order: it is written with its keys in order
			if key != "properties" && key != "items" {
				own[key] = value
			}
		}
		raw, err := json.Marshal(own)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s %s\n", path, raw)
		if items, ok := v["items"].(map[string]any); ok {
			walk(path+"[]", items)
		}
		below, _ := v["properties"].(map[string]any)
		for _, key := range sortedKeys(below) {
			if field, ok := below[key].(map[string]any); ok {
				walk(path+"."+key, field)
			}
		}
	}
	walk("", Schema())
	golden.Compare(t, "testdata/schema/fields.golden", out.String(), *update)
}

// A number of pods is whole, and no larger than one of the API; a share is at most all of them.
func TestSharesOfPods(t *testing.T) {
	t.Parallel()
	for v, want := range map[any]string{ // order: each by itself
		int64(0): "0", int64(5): "5", int64(maxWhole): fmt.Sprint(maxWhole), int64(maxWhole) + 1: "", int64(-1): "",
		"0%": "0%", "9%": "9%", "10%": "10%", "99%": "99%", "100%": "100%", "101%": "", "00%": "", "5": "", "-5%": "", "%": "", true: "", 5.5: "",
	} {
		if got, ok := shareOf(v); ok != (want != "") || ok && got.String() != want {
			t.Errorf("%v: %s, %v", v, got.String(), ok)
		}
	}
}

// The name of an AWS load balancer in the status says which kind it is.
func TestHostnamesOfAWS(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{ // order: each by itself
		"a-1.elb.eu-west-1.amazonaws.com": "nlb", "a-1.eu-west-1.elb.amazonaws.com": "elb", "elb.eu-west-1.amazonaws.com": "nlb", "eu-west-1.elb.amazonaws.com": "elb",
		"a.elb.cn-north-1.amazonaws.com.cn": "nlb", "a.cn-north-1.elb.amazonaws.com.cn": "elb", "elb.amazonaws.com": "", "a.eu-west-1.amazonaws.com": "", "elb.eu-west-1.example.com": "", "": "",
		"elb.a.eu-west-1.amazonaws.com": "",
	} {
		svc := &corev1.Service{}
		svc.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{Hostname: "other.example.com"}, {Hostname: host}}
		e := &balancerEvidence{svc: svc}
		got := map[bool]string{}
		for nlb, word := range map[bool]string{true: "nlb", false: "elb"} { // order: each by itself
			if found := e.elbHostname(nlb); found != "" {
				got[nlb] = word
				if found != host {
					t.Errorf("%s: found %s", host, found)
				}
			}
		}
		if got[true]+got[false] != want {
			t.Errorf("%s: %v, want %s", host, got, want)
		}
	}
}

// service is one of the namespace shop.
func service(name string) manifest.Typed[*corev1.Service] {
	return manifest.Typed[*corev1.Service]{
		Object: &manifest.Object{Namespace: "shop", Name: name}, Value: &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}},
	}
}

// A policy of Google's is a Service's by its namespace, name and kind; without a kind it is of a Service.
func TestWhosePolicyItIs(t *testing.T) {
	t.Parallel()
	s := &subject{service: service("web")}
	for _, c := range []struct {
		namespace, name, kind string
		want                  bool
	}{
		{"shop", "web", "Service", true}, {"shop", "web", "", true}, {"shop", "web", "ServiceImport", false}, {"shop", "api", "Service", false}, {"other", "web", "Service", false},
	} {
		ref := map[string]any{"name": c.name}
		if c.kind != "" {
			ref["kind"] = c.kind
		}
		o := &manifest.Object{Namespace: c.namespace, Value: map[string]any{"spec": map[string]any{"targetRef": ref}}}
		if got := policyOf([]*manifest.Object{{Namespace: "shop"}, o}, s); (got == o) != c.want || got != nil && !c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// The main Service of a canary is behind the same host and path of another Ingress in its namespace, which is none itself; of several the first
// by its name.
func TestTheMainServiceOfACanary(t *testing.T) {
	t.Parallel()
	ingress := func(namespace string, canary bool, host, path, service string) manifest.Typed[*networkingv1.Ingress] {
		i := &networkingv1.Ingress{}
		if canary {
			i.Annotations = map[string]string{nginxPrefix + "canary": "true"}
		}
		i.Spec.Rules = []networkingv1.IngressRule{{Host: "none"}, {Host: host, IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{
			Paths: []networkingv1.HTTPIngressPath{{Path: "/none"}, {Path: path, Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: service}}}},
		}}}}
		return manifest.Typed[*networkingv1.Ingress]{Object: &manifest.Object{Namespace: namespace}, Value: i}
	}
	own := ingress("shop", true, "a.example", "/", "canary")
	s := &subject{service: service("canary")}
	for name, c := range map[string]struct {
		others []manifest.Typed[*networkingv1.Ingress]
		want   string
	}{
		"the same host and path":    {[]manifest.Typed[*networkingv1.Ingress]{ingress("shop", false, "a.example", "/", "web")}, "web"},
		"no path is the first one":  {[]manifest.Typed[*networkingv1.Ingress]{ingress("shop", false, "a.example", "", "web")}, "web"},
		"another host":              {[]manifest.Typed[*networkingv1.Ingress]{ingress("shop", false, "b.example", "/", "web")}, ""},
		"another path":              {[]manifest.Typed[*networkingv1.Ingress]{ingress("shop", false, "a.example", "/b", "web")}, ""},
		"another namespace":         {[]manifest.Typed[*networkingv1.Ingress]{ingress("other", false, "a.example", "/", "web")}, ""},
		"another canary":            {[]manifest.Typed[*networkingv1.Ingress]{ingress("shop", true, "a.example", "/", "web")}, ""},
		"the canary's own Service":  {[]manifest.Typed[*networkingv1.Ingress]{ingress("shop", false, "a.example", "/", "canary")}, ""},
		"two, the first by name":    {[]manifest.Typed[*networkingv1.Ingress]{ingress("shop", false, "a.example", "/", "web"), ingress("shop", false, "a.example", "/", "api")}, "api"},
		"two, the other way around": {[]manifest.Typed[*networkingv1.Ingress]{ingress("shop", false, "a.example", "/", "api"), ingress("shop", false, "a.example", "/", "web")}, "api"},
		"none":                      {nil, ""},
	} {
		if got := (&inventory{ingresses: append(c.others, own)}).mainOf(s, own); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := (&inventory{ingresses: []manifest.Typed[*networkingv1.Ingress]{own}}).mainOf(s, ingress("shop", false, "a.example", "/", "canary")); got != "" {
		t.Errorf("of no canary: %q", got)
	}
}

// A pod is named by a number below as many as its workload has, scaled as far as it is, twice that of a Deployment to which something else is
// done, too; a StatefulSet's count from where it says.
func TestTheLastPodThatCanBeNamed(t *testing.T) {
	t.Parallel()
	const head = `apiVersion: lameduck/v1alpha1
kind: Scenario
metadata: {name: s}
spec:
  traffic: [{name: inside, from: pods, to: "web:80", rate: 10/s}]
  actions:
%s---
apiVersion: apps/v1
kind: %s
metadata: {name: web}
spec:
  %s
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx, ports: [{containerPort: 80}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
`
	for name, c := range map[string]struct {
		kind, fields, before string
		last                 int
	}{
		"a Deployment":                         {"Deployment", "replicas: 3", "", 2},
		"a Deployment that is restarted":       {"Deployment", "replicas: 3", "  - {at: 1s, rolloutRestart: deployment/web}\n", 5},
		"a Deployment that is scaled":          {"Deployment", "replicas: 3", "  - {at: 1s, scale: {of: deployment/web, replicas: 5}}\n", 9},
		"a StatefulSet":                        {"StatefulSet", "replicas: 3", "", 2},
		"a StatefulSet that counts from four":  {"StatefulSet", "replicas: 3\n  ordinals: {start: 4}", "", 6},
		"a StatefulSet that is scaled":         {"StatefulSet", "replicas: 3", "  - {at: 1s, scale: {of: statefulset/web, replicas: 5}}\n", 4},
		"a StatefulSet that is scaled to less": {"StatefulSet", "replicas: 3", "  - {at: 1s, scale: {of: statefulset/web, replicas: 1}}\n", 2},
	} {
		for more, want := range []bool{true, false} {
			action := fmt.Sprintf("%s  - {at: 9s, delete: {of: %s/web, pod: %d}}\n", c.before, strings.ToLower(c.kind), c.last+more)
			objects, _ := manifest.Load([]manifest.File{{Name: "in.yaml", Data: fmt.Appendf(nil, head, action, c.kind, c.fields)}}, manifest.Options{})
			_, problems := Parse(objects, Options{})
			if ok := !manifest.HasErrors(problems); ok != want {
				t.Errorf("%s, pod %d: %v", name, c.last+more, problems)
			}
		}
	}
}
