package scenario

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

func objectsIn(text string) *manifest.Objects {
	objects, _ := manifest.Load([]manifest.File{{Name: "in.yaml", Data: []byte(text)}}, manifest.Options{})
	return objects
}

// Who may have the volume of a pod is said by its claim, by the Scenario, or assumed; of several pods everybody may.
func TestWhoMayHaveAVolume(t *testing.T) {
	t.Parallel()
	const (
		pvc = `---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: %s}
spec: {accessModes: [%s]}
`
		kept = `
      volumes:
      - {name: v, persistentVolumeClaim: {claimName: data%s}}
`
	)
	deployment := func(replicas int, readOnly string) string {
		return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: %d
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: example.com/web, ports: [{containerPort: 80}]}]%s---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
`, replicas, fmt.Sprintf(kept, readOnly))
	}
	for _, c := range []struct {
		name, in string
		set      []string
		want     string // claims, with "?" where assumed
		assumed  string // values of the assumptions about volumes
	}{
		{"no claim in the input", deployment(1, ""), nil, "data ReadWriteOnce?", "data: ReadWriteOnce, uniform 10s-25s"},
		{"said", deployment(1, ""), []string{"volumes.access=ReadWriteMany"}, "data ReadWriteMany", ""},
		{"said, and how long it takes", deployment(1, ""), []string{"volumes.access=ReadWriteOncePod", "volumes.move=5s"}, "data ReadWriteOncePod", ""},
		{"its claim", deployment(1, "") + fmt.Sprintf(pvc, "data", "ReadWriteOnce"), nil, "data ReadWriteOnce", "uniform 10s-25s"},
		{"its claim stands over what is said of others", deployment(1, "") + fmt.Sprintf(pvc, "data", "ReadWriteOnce"), []string{"volumes.access=ReadWriteMany"}, "data ReadWriteOnce", "uniform 10s-25s"},
		{"a claim for all", deployment(1, "") + fmt.Sprintf(pvc, "data", "ReadWriteOnce, ReadWriteMany"), nil, "data ReadWriteMany", ""},
		{"a claim for readers", deployment(1, "") + fmt.Sprintf(pvc, "data", "ReadOnlyMany"), nil, "data ReadWriteMany", ""},
		{"a claim for one pod", deployment(1, "") + fmt.Sprintf(pvc, "data", "ReadWriteOncePod"), nil, "data ReadWriteOncePod", "uniform 10s-25s"},
		{"a claim that does not say", deployment(1, "") + fmt.Sprintf(pvc, "data", ""), nil, "data ReadWriteMany", ""},
		{"a claim of another name", deployment(1, "") + fmt.Sprintf(pvc, "other", "ReadWriteMany"), nil, "data ReadWriteOnce?", "data: ReadWriteOnce, uniform 10s-25s"},
		{"several pods", deployment(2, ""), nil, "data ReadWriteMany", ""},
		{"several pods, and a claim that only one node may have", deployment(2, "") + fmt.Sprintf(pvc, "data", "ReadWriteOnce"), nil, "data ReadWriteOnce", "uniform 10s-25s"},
		{"several pods, and a claim that only one pod may have", deployment(2, "") + fmt.Sprintf(pvc, "data", "ReadWriteOncePod"), nil, "data ReadWriteMany", ""},
		{"pods of several nodes", deployment(2, "") + fmt.Sprintf(pvc, "data", "ReadWriteOnce") + runningOn("node-1", "node-2"), nil, "data ReadWriteMany", ""},
		{"pods of one node", deployment(2, "") + fmt.Sprintf(pvc, "data", "ReadWriteOnce") + runningOn("node-1", "node-1"), nil, "data ReadWriteOnce", "uniform 10s-25s"},
		{"only read", deployment(1, ", readOnly: true"), nil, "", ""},
	} {
		cases, _ := inferKept(t, objectsIn(c.in), Options{Set: c.set, Actions: []string{"rollout"}})
		s := cases[0].Scenario
		var claims, assumed []string
		for _, x := range s.Workloads[0].Claims {
			claims = append(claims, x.Name+" "+x.Access.String()+map[bool]string{true: "?"}[x.Assumed])
		}
		for _, a := range s.Assumptions {
			if strings.HasPrefix(a.ID, "volume-") {
				assumed = append(assumed, a.Value)
			}
		}
		if got, at := strings.Join(claims, ", "), strings.Join(assumed, ", "); got != c.want || at != c.assumed {
			t.Errorf("%s: %q, assumed %q; want %q and %q", c.name, got, at, c.want, c.assumed)
		}
		left := ""
		for _, n := range s.NotModelled {
			if n.ID == "volumes" && strings.Contains(n.What, "2 pods share it") {
				left = n.What
			}
		}
		if shared := []string{"several pods, and a claim that only one pod may have", "pods of several nodes"}; (left != "") != slices.Contains(shared, c.name) {
			t.Errorf("%s: left out: %q", c.name, left)
		}
	}
}

// runningOn are two nodes, and pods of the Deployment web on some of them.
func runningOn(nodes ...string) string {
	const of = `---
{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web-1, uid: r1, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: d1, controller: true}]}, spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: example.com/web}]}}}}
---
{apiVersion: v1, kind: Node, metadata: {name: node-1}, status: {conditions: [{type: Ready, status: "True"}]}}
---
{apiVersion: v1, kind: Node, metadata: {name: node-2}, status: {conditions: [{type: Ready, status: "True"}]}}
`
	out := of
	for i, node := range nodes {
		out += fmt.Sprintf(`---
{apiVersion: v1, kind: Pod, metadata: {name: web-1-%d, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, uid: r1, controller: true}]}, spec: {nodeName: %s, containers: [{name: web, image: example.com/web}]}, status: {phase: Running, podIP: 10.0.0.%d, conditions: [{type: Ready, status: "True"}]}}
`, i, node, i+1)
	}
	return out
}

// Each pod of a StatefulSet has volumes of its own, as its templates say.
func TestVolumesOfAStatefulSet(t *testing.T) {
	t.Parallel()
	cases, _ := inferKept(t, objectsIn(`apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 3
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: db, image: example.com/db, ports: [{containerPort: 80}]}]
  volumeClaimTemplates:
  - {metadata: {name: data}, spec: {accessModes: [ReadWriteOnce]}}
  - {metadata: {name: shared}, spec: {accessModes: [ReadWriteMany]}}
---
apiVersion: v1
kind: Service
metadata: {name: db}
spec: {selector: {app: db}, ports: [{port: 80}]}
`), Options{Actions: []string{"rollout"}})
	w := &cases[0].Scenario.Workloads[0]
	want := []world.Claim{
		{Name: "data", Each: true, Access: world.ReadWriteOnce, Path: "spec.volumeClaimTemplates[0]"},
		{Name: "shared", Each: true, Access: world.ReadWriteMany, Path: "spec.volumeClaimTemplates[1]"},
	}
	if fmt.Sprint(w.Claims) != fmt.Sprint(want) || fmt.Sprint(w.Exclusive()) != fmt.Sprint(want[:1]) {
		t.Errorf("%+v", w.Claims)
	}
}

// What is not said of volumes is tried otherwise, and nothing else.
func TestOtherVolumes(t *testing.T) {
	t.Parallel()
	in := `apiVersion: v1
kind: Pod
metadata: {name: db, labels: {app: db}}
spec:
  containers: [{name: db, image: example.com/db, ports: [{containerPort: 80}]}]
  volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]
---
apiVersion: v1
kind: Service
metadata: {name: db}
spec: {selector: {app: db}, ports: [{port: 80}]}
`
	for _, c := range []struct {
		set  []string
		want string
	}{
		{nil, "volume-access ReadWriteMany, volume-move 3s, volume-move 1m"},
		{[]string{"volumes.access=ReadWriteOnce"}, "volume-move 3s, volume-move 1m"},
		{[]string{"volumes.move=2s"}, "volume-access ReadWriteMany"},
		{[]string{"volumes.access=ReadWriteMany"}, ""},
	} {
		cases, _ := inferKept(t, objectsIn(in), Options{Set: c.set, Actions: []string{"evict"}})
		var got []string
		for _, a := range Alternatives(cases[0].Scenario) {
			if strings.HasPrefix(a.ID, "volume-") {
				got = append(got, a.ID+" "+a.Value)
				if is := a.Scenario.Workloads[0].Claims[0].Access == world.ReadWriteMany; is != (a.ID == "volume-access") {
					t.Errorf("%s: %v", a.Value, a.Scenario.Workloads[0].Claims)
				}
			}
		}
		if g := strings.Join(got, ", "); g != c.want {
			t.Errorf("%v: %q, want %q", c.set, g, c.want)
		}
	}
}
