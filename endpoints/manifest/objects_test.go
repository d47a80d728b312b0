package manifest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// listsOf are the lists of Objects, by name, with the numbers that its objects have in All. None has one that All has not.
func listsOf(objects *Objects) map[string][]int {
	number := map[*Object]int{}
	for i, o := range objects.All {
		number[o] = i
	}
	lists := map[string][]int{}
	v := reflect.ValueOf(*objects)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if name == "All" || name == "Unusable" || name == "Skipped" {
			continue
		}
		for j := range v.Field(i).Len() {
			item := v.Field(i).Index(j)
			if item.Kind() == reflect.Struct {
				item = item.Field(0)
			}
			o, _ := item.Interface().(*Object)
			at, known := number[o]
			if !known {
				at = -1
			}
			lists[name] = append(lists[name], at)
		}
	}
	return lists
}

// Each kind that is read has a list of its own, named like it, and the objects of a list stand in it in input order.
func TestEachKindHasItsList(t *testing.T) {
	t.Parallel()
	irregular := map[string]string{"Ingress": "Ingresses", "GCPBackendPolicy": "BackendPolicies", "HealthCheckPolicy": "HealthPolicies", "Rollout": "Foreign"}
	kinds := kindTable()
	kinds["Rollout"] = &kindInfo{apiVersion: "argoproj.io/v1alpha1"}
	const workload = "spec: {serviceName: a, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c}]}}}"
	needed := map[string]string{
		"Deployment": workload, "ReplicaSet": workload, "StatefulSet": workload, "DaemonSet": workload,
		"Pod": "spec: {containers: [{name: c}]}", "Service": "spec: {ports: [{port: 80}]}", "EndpointSlice": "addressType: IPv4",
		"ServiceCIDR": "spec: {cidrs: [10.0.0.0/16]}", "HorizontalPodAutoscaler": "spec: {maxReplicas: 1, scaleTargetRef: {kind: a, name: a}}",
	}
	for _, kind := range sortedKeys(kinds) {
		var text strings.Builder
		for _, name := range []string{"a", "b"} {
			fmt.Fprintf(&text, "---\napiVersion: %s\nkind: %s\nmetadata: {name: %s}\n%s\n", kinds[kind].apiVersion, kind, name, needed[kind])
		}
		objects, problems := Load([]File{{"in.yaml", []byte(text.String())}}, Options{})
		if len(objects.All) != 2 {
			t.Errorf("%s: %d objects, %v", kind, len(objects.All), problems)
			continue
		}
		want := irregular[kind]
		if want == "" {
			want = kind + "s"
			if strings.HasSuffix(kind, "ss") {
				want = kind + "es"
			}
		}
		lists := listsOf(objects)
		if !slices.Equal(lists[want], []int{0, 1}) || len(lists) != 1 {
			t.Errorf("%s: in %v, want both in %s alone", kind, lists, want)
		}
	}
}

// An object is of no use if a problem is about it: one of its file, its kind and its name. The others stay in their order and in their lists.
func TestObjectsWithoutProblems(t *testing.T) {
	t.Parallel()
	object := func(file, kind, name string) Problem {
		return Problem{Position: Position{File: file}, Kind: kind, Name: name}
	}
	files := []File{
		{"a.yaml", []byte("{apiVersion: v1, kind: Node, metadata: {name: n1}}\n---\n" + service("") + "\n---\n{apiVersion: v1, kind: Namespace, metadata: {name: n1}}\n")},
		{"b.yaml", []byte("{apiVersion: v1, kind: Node, metadata: {name: n2}}\n---\n{apiVersion: v1, kind: Secret, metadata: {name: a}}\n" +
			"---\n{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, spec: {minAvailable: -1, selector: {}}}\n")},
	}
	all, _ := Load(files, Options{})
	for name, c := range map[string]struct {
		problems   []Problem
		want, gone string
	}{
		"no problem":        {nil, "Node n1, Service default/a, Namespace n1, Node n2", "PodDisruptionBudget default/a"},
		"of a Node":         {[]Problem{object("a.yaml", "Node", "n1")}, "Service default/a, Namespace n1, Node n2", "PodDisruptionBudget default/a, Node n1"},
		"of two":            {[]Problem{object("b.yaml", "Node", "n2"), object("a.yaml", "Service", "default/a")}, "Node n1, Namespace n1", "PodDisruptionBudget default/a, Service default/a, Node n2"},
		"of another file":   {[]Problem{object("b.yaml", "Node", "n1")}, "Node n1, Service default/a, Namespace n1, Node n2", "PodDisruptionBudget default/a"},
		"of no object":      {[]Problem{object("a.yaml", "", "")}, "Node n1, Service default/a, Namespace n1, Node n2", "PodDisruptionBudget default/a"},
		"of another's name": {[]Problem{object("a.yaml", "Service", "n1")}, "Node n1, Service default/a, Namespace n1, Node n2", "PodDisruptionBudget default/a"},
	} {
		names := func(list []*Object) string {
			var s []string
			for _, o := range list {
				s = append(s, o.String())
			}
			return strings.Join(s, ", ")
		}
		got := all.Without(c.problems)
		if names(got.All) != c.want || names(got.Unusable) != c.gone {
			t.Errorf("%s: %s, without %s; want %s, without %s", name, names(got.All), names(got.Unusable), c.want, c.gone)
		}
		if n := strings.Count(c.want, "Node "); len(got.Nodes) != n || len(got.Services) != strings.Count(c.want, "Service ") || len(got.Skipped) != 1 {
			t.Errorf("%s: %d Nodes and %d Services", name, len(got.Nodes), len(got.Services))
		}
	}
	if len(all.All) != 4 || len(all.Unusable) != 1 {
		t.Errorf("%d objects and %d without use after all that", len(all.All), len(all.Unusable))
	}
}

// A mapping in braces is told from one in lines, and from what is none; what was not read has neither fields nor positions of its own.
func TestWhatStandsInBraces(t *testing.T) {
	t.Parallel()
	o := loadOne(t, "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec:\n  selector: {a: b}\n  ports:\n  - port: 80\n    name: a\n  - {port: 81, name: b}\n")
	for path, want := range map[string]bool{
		"metadata": true, "spec": false, "spec.selector": true, "spec.selector.a": false, "spec.ports": false, "spec.ports[0]": false,
		"spec.ports[1]": true, "spec.ports[2]": false, "spec.sessionAffinity": false, "": false,
	} {
		if got := o.InBraces(path); got != want {
			t.Errorf("%s is in braces: %t", path, got)
		}
	}
	made := &Object{Position: Position{"here", 3, 4}}
	if made.Has("spec") || made.InBraces("") || made.Fields("") != nil || made.ValueAt("spec.ports[0]").String() != "here:3:4" || made.At("spec").String() != "here:3:4" {
		t.Errorf("an object that was not read: fields %v, the ports at %s", made.Fields(""), made.ValueAt("spec.ports[0]"))
	}
}

// Lists that are longer than the API server takes are named and used all the same.
func TestListsThatAreTooLong(t *testing.T) {
	t.Parallel()
	list := func(n int, item string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(item+", ", n), ", ") + "]"
	}
	slice := func(endpoints string) string {
		return "{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: a, labels: {kubernetes.io/service-name: a}}, addressType: IPv4, endpoints: " + endpoints + "}"
	}
	for name, c := range map[string]struct{ text, want string }{
		"as many endpoints as it takes": {slice(list(1000, "{addresses: [10.0.0.1]}")), ""},
		"one endpoint more": {slice(list(1001, "{addresses: [10.0.0.1]}")),
			"in.yaml:1:137: EndpointSlice default/a: endpoints: 1001 endpoints, the API server takes at most 1000; all are used"},
		"as many addresses as it takes": {slice("[{addresses: " + list(100, "10.0.0.1") + "}]"), ""},
		"one address more": {slice("[{addresses: " + list(101, "10.0.0.1") + "}]"),
			"in.yaml:1:150: EndpointSlice default/a: endpoints[0].addresses: 101 addresses, the API server takes at most 100; only the first is used anyway"},
	} {
		objects, problems := Load([]File{{"in.yaml", []byte(c.text)}}, Options{})
		got := ""
		if len(problems) > 0 {
			got = problems[0].Error()
		}
		if got != c.want || len(problems) > 1 || len(objects.EndpointSlices) != 1 || len(objects.EndpointSlices[0].Value.Endpoints) != strings.Count(c.text, "addresses:") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Line ends and space between the words change nothing of JSON but where things stand, and of YAML nothing at all.
func TestSpaceIsNoPartOfAText(t *testing.T) {
	t.Parallel()
	const object = `{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": {"ports": [ {"port": 80} , {"port": "x"} ], "clusterIP": null}}`
	text := func(s string) string { return summary(Load([]File{{"in", []byte(s)}}, Options{})) }
	for _, space := range []string{"\n", "\r\n", "\t\n", " \t \r\n", "\n\n\t"} {
		lines := strings.ReplaceAll(object, " ", space)
		want := fmt.Sprintf("error: in:%d:%d: Service default/a: spec.ports[1].port: expected a whole number, got the string \"x\"\n",
			1+14*strings.Count(space, "\n"), 1+len(space)-1-strings.LastIndex(space, "\n"))
		if got := text(lines); got != want {
			t.Errorf("%q between the words: %s, want %s", space, got, want)
		}
		if _, err := parseJSON(space+lines+space, 1); err != nil { // not left to the parser of YAML
			t.Errorf("%q between the words: %v", space, err.message)
		}
	}
	for name, data := range corpus(t) {
		if len(data) > 20_000 {
			continue
		}
		want, _ := Load([]File{{name, data}}, Options{})
		got, problems := Load([]File{{name, []byte(strings.ReplaceAll(string(data), "\n", "\r\n"))}}, Options{})
		if !reflect.DeepEqual(values(t, got), values(t, want)) || len(problems) > 0 {
			t.Errorf("%s with other line ends is another: %v", name, problems)
		}
	}
}
