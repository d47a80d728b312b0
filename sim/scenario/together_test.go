package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// Where the input has no Pods, they might all be on the node that is drained, or as many as find room there. Nothing is assumed where
// the input says it, or where something keeps them apart.
func TestPodsThatMightShareANode(t *testing.T) {
	t.Parallel()
	const web = altWeb // two pods
	node := func(name, pods string) string {
		return "\n---\n{apiVersion: v1, kind: Node, metadata: {name: " + name + "}, status: {allocatable: {pods: '" + pods + "', cpu: '4', memory: 8Gi}}}"
	}
	pod := "\n---\n{apiVersion: v1, kind: Pod, metadata: {name: web-0, namespace: shop, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: '1', controller: true}]}," +
		" spec: {nodeName: node-1, containers: [{name: web}]}}"
	three := strings.Replace(web, "replicas: 2", "replicas: 3", 1)
	for _, tt := range []struct {
		what, text, action string
		want               string // value @ nodes of the pods
	}{
		{"all of them", web, "drain", "all on one node @ node-1 node-1"},
		{"the node that is drained", web, "drain=node-2", "all on one node @ node-2 node-2"},
		{"a crash", web, "crash", "all on one node @ node-1 node-1"},
		{"a rolling restart", web, "rollout", ""},
		{"an eviction is of one pod", web, "evict", ""},
		{"as many as find room", three + node("a", "1") + node("b", "2"), "drain", "2 on one node @ b b"},
		{"one at most", three + node("a", "1") + node("b", "1") + node("c", "1"), "drain", ""},
		{"the input has a pod", web + pod, "drain", ""},
		{"a host port", strings.Replace(web, "containerPort: 8080", "containerPort: 8080, hostPort: 8080", 1), "drain", ""},
	} {
		objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(tt.text)}}, manifest.Options{})
		cases, problems := inferKept(t, objects, Options{Actions: []string{tt.action}})
		c := cases[len(cases)-1]
		if manifest.HasErrors(problems) || c.Scenario == nil {
			t.Fatalf("%s: %v", tt.what, problems)
		}
		if assumed := assumedValue(c.Scenario, Places) != ""; assumed != (tt.want != "") {
			t.Errorf("%s: assumed %v", tt.what, assumed)
		}
		var got []string
		for _, a := range Alternatives(c.Scenario) {
			if a.ID != Places {
				continue
			}
			got = append(got, a.Value, "@")
			for _, p := range a.Scenario.Workloads[0].Placed {
				got = append(got, p.Node)
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %q, want %q", tt.what, strings.Join(got, " "), tt.want)
		}
	}
}

// How many pods find room is not counted pod by pod: a Deployment may ask for two billion, and that it does is only said after this.
func TestRoomForVeryManyPods(t *testing.T) {
	t.Parallel()
	const all = 2_000_000_000
	web := strings.Replace(altWeb, "replicas: 2", fmt.Sprint("replicas: ", all), 1)
	pod := func(field string) string {
		return strings.NewReplacer("      containers:", "      "+field+"\n      containers:",
			"image: example.com/web", "resources: {requests: {cpu: 10m, memory: 1Gi}}").Replace(web)
	}
	node := func(name, allocatable string) string {
		return "\n---\n{apiVersion: v1, kind: Node, metadata: {name: " + name + ", labels: {kubernetes.io/hostname: " + name + "}}, status: {allocatable: {" + allocatable + "}}}"
	}
	const a, z = "cpu: '4', memory: 700Gi, pods: '500'", "cpu: '5', memory: 512Gi, pods: '1000'"
	term := "requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}]}}"
	for _, tt := range []struct {
		what, text, node string
		pods             int
	}{
		{"nodes that say nothing", pod(""), "node-1", all},
		{"CPU, then memory", pod("") + node("a", a) + node("z", z), "z", 500},
		{"memory, then CPU", pod("") + node("a", z) + node("z", a), "a", 500},
		{"CPU alone", pod("") + node("a", "cpu: '4', pods: '500'") + node("z", "cpu: 4009m, pods: '500'"), "a", 400},
		{"how many pods a node takes", pod("") + node("a", "pods: '110'") + node("z", "pods: '111'"), "z", 111},
		{"one billion of cores", pod("") + node("a", "cpu: '20000000', pods: '2000000000'"), "a", all},
		{"ones that want to be together", pod("affinity: {podAffinity: {"+term) + node("a", a) + node("z", z), "z", 500},
		{"ones that want to be apart", pod("affinity: {podAntiAffinity: {"+term) + node("a", a) + node("z", z), "a", 1},
		{
			"ones that are spread", pod("topologySpreadConstraints: [{maxSkew: 7, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]") +
				node("a", a) + node("z", z), "a", 7,
		},
		{"a node that is none of theirs", pod("nodeSelector: {kubernetes.io/hostname: z}") + node("a", z) + node("z", "pods: '3'"), "z", 3},
		{"no node that takes any", pod("nodeSelector: {kubernetes.io/hostname: x}") + node("a", a), "", 0},
	} {
		objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(tt.text)}}, manifest.Options{})
		cases, problems := inferKept(t, objects, Options{Actions: []string{"drain"}})
		if manifest.HasErrors(problems) || len(cases) == 0 || cases[0].Scenario == nil {
			t.Errorf("%s: %v", tt.what, problems)
			continue
		}
		w, node, n := crowd(cases[0].Scenario)
		if w == nil || node != tt.node || n != tt.pods {
			t.Errorf("%s: %d on %q, want %d on %q", tt.what, n, node, tt.pods, tt.node)
		}
	}
}
