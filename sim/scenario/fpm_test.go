package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

const fpmApp = `
apiVersion: v1
kind: Service
metadata: {name: app}
spec: {selector: {app: app}, ports: [{port: 9000}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: app}
spec:
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec:
      containers:
      - name: php
        image: php:8.4-fpm
        ports: [{containerPort: 9000}]
        volumeMounts: [{name: config, mountPath: /usr/local/etc/php-fpm.d/zz-stop.conf, subPath: stop}]
      volumes: [{name: config, configMap: {name: app}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: app}
data:
  other: "x"
  stop: |
    [global]
`

// php-fpm finishes for as long as a ConfigMap that it has a file from says; where none does, it cuts, and what it does with the setting is tried.
func TestFPMFinishesForAsLongAsItsConfigurationSays(t *testing.T) {
	t.Parallel()
	const cuts, tried = "cut 0s", " [php-fpm-finishes]"
	for name, x := range map[string]struct{ from, to, want string }{ // order: each for itself
		"nobody sets it":   {"", "", cuts + tried},
		"seconds":          {"[global]", "process_control_timeout = 20 ; as long as a request", "finish 20s []"},
		"with a unit":      {"[global]", "process_control_timeout=2m", "finish 2m0s []"},
		"0":                {"[global]", "process_control_timeout = 0", cuts + " []"},
		"in a comment":     {"[global]", ";process_control_timeout = 20", cuts + tried},
		"no time":          {"[global]", "process_control_timeout = $X", cuts + tried},
		"another setting":  {"[global]", "request_terminate_timeout = 20", cuts + tried},
		"not mounted":      {"volumeMounts: [{name: config,", "volumeMounts: [{name: other,", cuts + tried},
		"another map":      {"configMap: {name: app}", "configMap: {name: other}", cuts + tried},
		"in the last file": {"other: \"x\"\n  stop: |\n    [global]", "a: process_control_timeout = 1\n  b: process_control_timeout = 2", "finish 2s []"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := inferOne(t, strings.Replace(fpmApp, x.from, x.to, 1), Options{}).Scenario.Workloads[0].App
			how := map[world.InFlight]string{world.InFlightCut: "cut", world.InFlightFinish: "finish"}[a.InFlight]
			if got := fmt.Sprintf("%s %s %v", how, a.FinishWithin.Duration(), a.Alternatives); got != x.want || a.GoAway != (how == "finish") {
				t.Errorf("%s, GOAWAY %t, want %s", got, a.GoAway, x.want)
			}
			if said := strings.Contains(a.Evidence, fpmTimeout); said != (a.Alternatives == nil) {
				t.Errorf("%s", a.Evidence)
			}
		})
	}
}
