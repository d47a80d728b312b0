package sweep

import (
	"regexp"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// A drain that a budget keeps from its end and the rollout of the same workload get one hook: the longer one, tried and confirmed for both.
func TestADrainThatIsBlockedAndARolloutGetOneHook(t *testing.T) {
	t.Parallel()
	const text = `apiVersion: v1
kind: Service
metadata: {name: kv}
spec:
  selector: {app: kv}
  ports: [{port: 9092}]
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: kv}
spec:
  serviceName: kv
  replicas: 3
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: kv}}
  template:
    metadata: {labels: {app: kv}}
    spec:
      terminationGracePeriodSeconds: 120
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - {labelSelector: {matchLabels: {app: kv}}, topologyKey: kubernetes.io/hostname}
      containers:
      - name: kv
        image: apache/kafka:3.8.0
        ports: [{containerPort: 9092}]
        readinessProbe: {tcpSocket: {port: 9092}, initialDelaySeconds: 10, periodSeconds: 10}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: kv}
spec: {minAvailable: 100%, selector: {matchLabels: {app: kv}}}
`
	objects, problems := manifest.Load([]manifest.File{{Name: "kv.yaml", Data: []byte(text)}}, manifest.Options{})
	cases, more := scenario.Infer(objects, scenario.Options{})
	if manifest.HasErrors(problems) || manifest.HasErrors(more) {
		t.Fatalf("%v %v", problems, more)
	}
	s := swept(t, cases, Options{Runs: 20, Fixes: 1, ConfirmRuns: 20, Sensitivity: true})
	hook := regexp.MustCompile(`preStop: sleep \d+`)
	var hooks []string
	for i := range s.Fixes {
		if h := hook.FindString(s.Fixes[i].Title); h != "" {
			hooks = append(hooks, h)
		}
	}
	if len(hooks) < 2 {
		t.Fatalf("hooks %q of %d changes", hooks, len(s.Fixes))
	}
	for _, h := range hooks {
		if h != hooks[0] {
			t.Errorf("%q", hooks)
		}
	}
}

// What a set of changes does not help with is known of the very set, in its order.
func TestWhatIsKnownOfASetOfChanges(t *testing.T) {
	t.Parallel()
	s := &solution{
		sets: [][]string{{"a"}, {"a", "b"}}, notWith: [][]record.OtherValue{{{ID: "x"}}, {{ID: "y"}, {ID: "z"}}},
	}
	for ids, want := range map[string]string{"a": "x", "a b": "y z", "b a": "", "b": "", "": ""} {
		got := ""
		for _, o := range s.known(strings.Fields(ids)) {
			got += " " + o.ID
		}
		if strings.TrimSpace(got) != want {
			t.Errorf("%q: %q, want %q", ids, got, want)
		}
	}
	if (*solution)(nil).known([]string{"a"}) != nil {
		t.Error("something is known of what was never solved")
	}
}
