package fix

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// A node with policy Local sends to no pod that says it is not ready, though that accepts connections for as long as its hook takes: the sleep comes
// before the hook has it say so, or the probe has to fail so often that the pod has ended by then.
// Reference: docs/model/load-balancers.md 5.1 On SIGTERM.
func TestAServerThatSaysWhileItStopsThatItIsNotReady(t *testing.T) {
	t.Parallel()
	const (
		asks = "        readinessProbe: {httpGet: {path: /ready, port: 9901}, periodSeconds: 3, failureThreshold: 1}\n"
		hook = `        lifecycle: {preStop: {exec: {command: [sh, -c, "wget -qO- --post-data='' http://localhost:9901/healthcheck/fail; sleep 20"]}}}` + "\n"
		long = "        readinessProbe: {httpGet: {path: /ready, port: 9901}, periodSeconds: 3, failureThreshold: 40}\n"
	)
	envoy := func(container, policy string) string {
		text := strings.Replace(agent("envoyproxy/envoy:v1.31", container), "kind: DaemonSet", "kind: Deployment", 1)
		return strings.Replace(text, "internalTrafficPolicy: Local", "internalTrafficPolicy: "+policy, 1)
	}
	for name, c := range map[string]struct { // order: each for itself
		text            string
		sleep, failures string // words of the changes
	}{
		"policy Local":            {envoy(asks+hook, "Local"), "before its hook", "readinessProbe.failureThreshold: 8"},
		"any node's pods":         {envoy(asks+hook, "Cluster"), "after its hook", ""},
		"it stays ready for long": {envoy(long+hook, "Local"), "before its hook", ""},
		"no probe":                {envoy(hook, "Local"), "before its hook", ""},
		"a hook that only sleeps": {envoy(asks+"        lifecycle: {preStop: {sleep: {seconds: 20}}}\n", "Local"), "instead of sleep 20", ""},
	} {
		s, w := worldOf(t, c.text, scenario.Options{})
		sleep, failures := "", ""
		for _, x := range Changes(s, w, 30*engine.Second) {
			switch x.ID {
			case "preStop":
				sleep = x.Title
			case "readinessThreshold":
				failures = x.Title
				if len(x.Edits) != 1 || !strings.Contains(x.Cost, "gets traffic for up to 24 s") {
					t.Errorf("%s: %+v", name, x)
				}
			}
		}
		if !strings.Contains(sleep, c.sleep) || failures != c.failures {
			t.Errorf("%s: %q, %q", name, sleep, failures)
		}
	}
}
