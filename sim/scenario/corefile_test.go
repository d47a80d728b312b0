package scenario

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

const coreDNS = `
apiVersion: v1
kind: Service
metadata: {name: dns, namespace: kube-system}
spec: {selector: {app: dns}, ports: [{port: 53, protocol: UDP}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: dns, namespace: kube-system}
spec:
  selector: {matchLabels: {app: dns}}
  template:
    metadata: {labels: {app: dns}}
    spec:
      containers:
      - name: coredns
        image: registry.k8s.io/coredns/coredns:v1.12.0
        args: [-conf, /etc/coredns/Corefile]
        ports: [{containerPort: 53, protocol: UDP}]
        readinessProbe: {httpGet: {path: /ready, port: 8181}}
        volumeMounts: [{name: config, mountPath: /etc/coredns}]
      volumes: [{name: config, configMap: {name: dns}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: dns, namespace: kube-system}
data:
  Corefile: |
`

// CoreDNS serves for as long as its Corefile says, where that is in the input, and the line is named; where it is not, for as long as
// kubeadm's has it.
func TestCorefile(t *testing.T) {
	t.Parallel()
	const whole = ".:53 {\n  errors\n  health {\n    lameduck 8s\n  }\n  ready\n}"
	for name, x := range map[string]struct{ corefile, from, to, want string }{
		"lameduck":                  {whole, "", "", "drains 8s, readiness fails, lameduck 8s in its Corefile (web.yaml:28)"},
		"on one line":               {".:53 {\nhealth :8081 { lameduck 1m }\nready\n}", "", "", "drains 1m0s, readiness fails, lameduck 1m0s in its Corefile (web.yaml:28)"},
		"two of them":               {"a {\nhealth :1 {\nlameduck 3s\n}\n}\nb {\nhealth :2 {\nlameduck 4s\n}\nready\n}", "", "", "drains 7s, readiness fails, lameduck 7s in its Corefile (web.yaml:28)"},
		"without ready":             {strings.Replace(whole, "ready", "loop", 1), "", "", "drains 8s, lameduck 8s in its Corefile (web.yaml:28)"},
		"a probe of /health":        {whole, "path: /ready", "path: /health", "drains 8s, lameduck 8s in its Corefile (web.yaml:28)"},
		"no lameduck":               {".:53 {\n  health\n  ready\n}", "", "", "closes, no lameduck in its Corefile (web.yaml:28)"},
		"no health":                 {".:53 {\n  ready\n}", "", "", "closes, no lameduck in its Corefile (web.yaml:28)"},
		"another plugin's lameduck": {".:53 {\n  other {\n    lameduck 8s\n  }\n  health\n}", "", "", "closes, no lameduck in its Corefile (web.yaml:28)"},
		"in a comment":              {".:53 {\n  health # {\n  # lameduck 8s\n}", "", "", "closes, no lameduck in its Corefile (web.yaml:28)"},
		"in an import":              {".:53 {\n  import custom/*.override\n}", "", "", "drains 5s, readiness fails"},
		"a time that is none":       {".:53 {\n  health {\n lameduck {$D}\n}\n}", "", "", "drains 5s, readiness fails"},
		"a bracket too few":         {".:53 {\n  health {\n lameduck 8s\n}\n", "", "", "drains 5s, readiness fails"},
		"mounted elsewhere":         {whole, "mountPath: /etc/coredns", "mountPath: /etc/other", "drains 5s, readiness fails"},
		"another ConfigMap":         {whole, "configMap: {name: dns}", "configMap: {name: other}", "drains 5s, readiness fails"},
		"under another key": {whole, "configMap: {name: dns}", "configMap: {name: dns, items: [{key: Corefile, path: Corefile}]}",
			"drains 8s, readiness fails, lameduck 8s in its Corefile (web.yaml:28)"},
		"by its key": {whole, "configMap: {name: dns}", "configMap: {name: dns, items: [{key: Corefile, path: Conf}]}",
			"drains 5s, readiness fails"},
		"by its path": {whole, "args: [-conf, /etc/coredns/Corefile]\n", "args: [-conf, /etc/coredns/Conf]\n", "drains 5s, readiness fails"},
		"in the directory that the program is in": {whole, "args: [-conf, /etc/coredns/Corefile]\n", "command: [/coredns]\n",
			"drains 8s, readiness fails, lameduck 8s in its Corefile (web.yaml:28)"},
		"as a file": {whole, "mountPath: /etc/coredns", "mountPath: /etc/coredns/Corefile, subPath: Corefile",
			"drains 8s, readiness fails, lameduck 8s in its Corefile (web.yaml:28)"},
		"as a file, in the directory that the program is in": {whole, "args: [-conf, /etc/coredns/Corefile]\n        ports: [{containerPort: 53, protocol: UDP}]\n        readinessProbe: {httpGet: {path: /ready, port: 8181}}\n        volumeMounts: [{name: config, mountPath: /etc/coredns}]",
			"ports: [{containerPort: 53, protocol: UDP}]\n        readinessProbe: {httpGet: {path: /ready, port: 8181}}\n        volumeMounts: [{name: config, mountPath: /Corefile, subPath: Corefile}]",
			"drains 8s, readiness fails, lameduck 8s in its Corefile (web.yaml:27)"},
		"by a profile that is given": {whole, "image: registry.k8s.io/coredns/coredns:v1.12.0", "image: example.com/app", "drains 5s, readiness fails"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc := strings.Replace(coreDNS, x.from, x.to, 1) + "    " + strings.ReplaceAll(x.corefile, "\n", "\n    ")
			app := inferOne(t, doc, map[bool]Options{true: {Profile: "coredns"}}[strings.Contains(x.to, "example")]).Scenario.Workloads[0].App
			_, by, _ := strings.Cut(app.Evidence, ", ")
			got := map[world.Listener]string{world.ListenerDrains: "drains " + app.DrainFor.Duration().String(), world.ListenerCloses: "closes"}[app.Listener]
			if app.ReadinessFails {
				got += ", readiness fails"
			}
			if by != "" {
				got += ", " + by
			}
			if got != x.want || (len(app.Alternatives) > 0) != (by == "" && app.Basis == inferred) {
				t.Errorf("got %s, want %s; alternatives %v", got, x.want, app.Alternatives)
			}
		})
	}
}
