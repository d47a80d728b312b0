package fix

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// Several pods of one volume that one node may have are on that node: of others it is said why not.
func TestPodsThatShareAVolumeOfOneNode(t *testing.T) {
	t.Parallel()
	for replicas, want := range map[string]string{
		"replicas: 1": "the volume claim data is ReadWriteOnce",
		"replicas: 2": "they share the volume claim data, which is ReadWriteOnce: a volume that several nodes may have (ReadWriteMany) is what lets them",
	} {
		in := strings.NewReplacer("STRATEGY", "", "CLAIM", "data", "MODE", "ReadWriteOnce", "replicas: 1", replicas).Replace(grafana)
		objects, _ := manifest.Load([]manifest.File{{Name: "in.yaml", Data: []byte(in)}}, manifest.Options{})
		cases, _ := scenario.Infer(objects, scenario.Options{Actions: []string{"drain"}})
		if _, why := Untried(cases[0].Scenario, &cases[0].Scenario.Workloads[0]); why != want {
			t.Errorf("%s: %q, want %q", replicas, why, want)
		}
	}
}

// grafana is a Deployment of one pod with a volume, in two parts: its claim stands between them.
const grafana = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
STRATEGY  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: example.com/web, ports: [{containerPort: 80}]}]
      volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: CLAIM}
spec: {accessModes: [MODE]}
`

// A rollout whose new pod cannot have the volume of the old one is told of strategy Recreate first, and of two pods it is told why not.
func TestAVolumeOfOneNode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		claim, mode, strategy string
		first                 string // what may let a rollout go on
		single                string // why a drain is not met with a second pod
	}{
		{"data", "ReadWriteOnce", "", "strategy Recreate", "the volume claim data is ReadWriteOnce"},
		{"data", "ReadWriteOncePod", "", "strategy Recreate", "the volume claim data is ReadWriteOncePod"},
		{"other", "ReadWriteOnce", "", "strategy Recreate", "the volume claim data may be of one node at a time, and nothing in the input says otherwise"},
		{"data", "ReadWriteOnce", "  strategy: {type: Recreate}\n", "", "the volume claim data is ReadWriteOnce"},
		{"data", "ReadWriteMany", "", "maxSurge: 0, maxUnavailable: 1", ""},
	} {
		in := strings.NewReplacer("STRATEGY", c.strategy, "CLAIM", c.claim, "MODE", c.mode).Replace(grafana)
		objects, _ := manifest.Load([]manifest.File{{Name: "in.yaml", Data: []byte(in)}}, manifest.Options{})
		for _, action := range []string{"rollout", "drain"} {
			cases, _ := scenario.Infer(objects, scenario.Options{Actions: []string{action}})
			s := cases[0].Scenario
			w := &s.Workloads[0]
			if _, why := Untried(s, w); action == "drain" && why != c.single {
				t.Errorf("%s %s: a second pod: %q, want %q", c.claim, c.mode, why, c.single)
			}
			ways, first := Unblock(s, w), ""
			if len(ways) > 0 {
				first = ways[0].Title
			}
			if action == "rollout" && first != c.first && !(c.first == "" && !strings.Contains(first, "Recreate")) {
				t.Errorf("%s %s: %q first, want %q", c.claim, c.mode, first, c.first)
			}
			if action == "rollout" && first == "strategy Recreate" {
				if after := Apply(s, "default/web", ways[:1]).Workload("default/web"); !after.Recreate() {
					t.Errorf("%s: it is not Recreate afterwards", c.mode)
				}
			}
			if action == "drain" && strings.Contains(first, "Recreate") {
				t.Errorf("%s: a drain does not wait for the next pod, and is told %q", c.mode, first)
			}
		}
	}
}
