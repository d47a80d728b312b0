package fix

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// What is offered can be made, whatever the kind of the workload and whatever is done to it: an edit that is refused would end the
// search for all of them.
func TestWhatIsOfferedCanBeMade(t *testing.T) {
	t.Parallel()
	const gated = "      readinessGates: [{conditionType: example.com/well}]\n"
	const apart = "      affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}]}}\n"
	const asks = "        startupProbe: {httpGet: {path: /, port: http}}\n"
	tried := 0
	for _, kind := range []string{"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"} {
		text := strings.Replace(filled(map[string]string{"GRACE": gated + apart, "CONTAINER": asks}), "kind: Deployment", "kind: "+kind, 1)
		if kind == "DaemonSet" {
			text = strings.Replace(text, "  replicas: 2\n", "", 1)
		}
		for _, action := range []string{"rollout", "drain", "crash", "shutdown", "spot", "evict"} {
			if kind == "ReplicaSet" && action == "rollout" || kind == "DaemonSet" && (action == "drain" || action == "evict") {
				continue // nothing would be done
			}
			objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
			cases, problems := scenario.Infer(objects, scenario.Options{Actions: []string{action}})
			if len(cases) == 0 || cases[0].Scenario == nil || manifest.HasErrors(problems) {
				t.Errorf("%s, %s: %d cases, %v", kind, action, len(cases), problems)
				continue
			}
			s := cases[0].Scenario
			w := s.Workload("shop/web")
			for _, c := range append(Changes(s, w, 7*engine.Second), Unblock(s, w)...) {
				tried++
				Apply(s, w.Name(), []Change{c}) // which panics if it is refused
				if kind == "StatefulSet" && strings.Contains(c.Title, "maxSurge") {
					t.Errorf("%s, %s: %s: there is no surge", kind, action, c.Title)
				}
			}
		}
	}
	if tried < 30 {
		t.Errorf("%d changes were offered", tried)
	}
}
