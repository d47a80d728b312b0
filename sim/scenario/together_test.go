package scenario

import (
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
		cases, problems := Infer(objects, Options{Actions: []string{tt.action}})
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
