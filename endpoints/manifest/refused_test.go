package manifest

import (
	"fmt"
	"strings"
	"testing"
)

// What the API server refuses is told apart from what it takes and nobody can have meant: no cluster has the former
// (pkg/apis/*/validation/validation.go, 1.36). Of an object that a cluster has it is never said.
func TestWhatTheAPIServerRefusesIsToldFromWhatItTakes(t *testing.T) {
	t.Parallel()
	const pod = "containers: [{name: web, image: web}]"
	workload := func(kind, spec, inPod string) string {
		return fmt.Sprintf("{apiVersion: apps/v1, kind: %s, metadata: {name: a%%s}, spec: {%sselector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {%s}}}}", kind, spec, inPod)
	}
	container := func(fields string) string {
		return workload("Deployment", "", "containers: [{name: web, image: web, "+fields+"}]")
	}
	other := func(api, kind, spec string) string {
		return fmt.Sprintf("{apiVersion: %s, kind: %s, metadata: {name: a%%s}, spec: {%s}}", api, kind, spec)
	}
	service := func(spec string) string { return other("v1", "Service", "selector: {app: a}, "+spec) }
	budget := func(spec string) string {
		return other("policy/v1", "PodDisruptionBudget", "selector: {matchLabels: {app: a}}, "+spec)
	}
	scaler := func(spec string) string {
		return other("autoscaling/v2", "HorizontalPodAutoscaler", "scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}, "+spec)
	}
	ingress := func(pathType string) string {
		return other("networking.k8s.io/v1", "Ingress", "rules: [{http: {paths: [{path: /, "+pathType+"backend: {service: {name: a, port: {number: 80}}}}]}}]")
	}
	for _, c := range []struct {
		object, field string
		refused       bool
	}{
		{workload("Deployment", "minReadySeconds: -1, ", pod), "spec.minReadySeconds", true},
		{workload("Deployment", "progressDeadlineSeconds: 5, minReadySeconds: 5, ", pod), "spec.progressDeadlineSeconds", true},
		{workload("Deployment", "revisionHistoryLimit: -1, ", pod), "spec.revisionHistoryLimit", true},
		{workload("Deployment", "strategy: {rollingUpdate: {maxSurge: some}}, ", pod), "spec.strategy.rollingUpdate.maxSurge", true},
		{workload("Deployment", "strategy: {rollingUpdate: {maxUnavailable: 101%%}}, ", pod), "spec.strategy.rollingUpdate.maxUnavailable", true},
		{workload("DaemonSet", "updateStrategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 1}}, ", pod), "spec.updateStrategy.rollingUpdate.maxSurge", true},
		{workload("StatefulSet", "updateStrategy: {rollingUpdate: {partition: -1}}, ", pod), "spec.updateStrategy.rollingUpdate.partition", true},
		{workload("StatefulSet", "updateStrategy: {rollingUpdate: {maxUnavailable: 0}}, ", pod), "spec.updateStrategy.rollingUpdate.maxUnavailable", false},
		{workload("Deployment", "", "terminationGracePeriodSeconds: -1, "+pod), "spec.template.spec.terminationGracePeriodSeconds", false},
		{workload("Deployment", "", "restartPolicy: Never, "+pod), "spec.template.spec.restartPolicy", true},
		{workload("Deployment", "", "containers: []"), "spec.template.spec.containers", true},
		{workload("Deployment", "", "containers: [{name: Web, image: web}]"), "spec.template.spec.containers[0].name", true},
		{container("ports: [{containerPort: 70000}]"), "spec.template.spec.containers[0].ports[0].containerPort", true},
		{container("livenessProbe: {periodSeconds: -1, tcpSocket: {port: 80}}"), "spec.template.spec.containers[0].livenessProbe.periodSeconds", true},
		{container("livenessProbe: {successThreshold: 2, tcpSocket: {port: 80}}"), "spec.template.spec.containers[0].livenessProbe.successThreshold", true},
		{container("livenessProbe: {httpGet: {port: web}}"), "spec.template.spec.containers[0].livenessProbe.httpGet.port", false},
		{container("livenessProbe: {exec: {command: ['']}}"), "spec.template.spec.containers[0].livenessProbe.exec.command[0]", false},
		{container("readinessProbe: {}"), "spec.template.spec.containers[0].readinessProbe", true},
		{container("lifecycle: {preStop: {sleep: {seconds: -1}}}"), "spec.template.spec.containers[0].lifecycle.preStop.sleep.seconds", true},
		{container("lifecycle: {preStop: {}}"), "spec.template.spec.containers[0].lifecycle.preStop", true},
		{container("resources: {requests: {cpu: -1}}"), "spec.template.spec.containers[0].resources.requests.cpu", true},
		{service("ports: []"), "spec.ports", true},
		{service("ports: [{port: 80000}]"), "spec.ports[0].port", true},
		{service("ports: [{port: 80}, {port: 81}]"), "spec.ports[1].name", true},
		{service("type: NodePort, ports: [{port: 80, nodePort: 80}]"), "spec.ports[0].nodePort", false},
		{service("ports: [{port: 80, nodePort: 30080}]"), "spec.ports[0].nodePort", true},
		{service("externalTrafficPolicy: Local, ports: [{port: 80}]"), "spec.externalTrafficPolicy", true},
		{service("loadBalancerClass: a/b, ports: [{port: 80}]"), "spec.loadBalancerClass", true},
		{service("sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {timeoutSeconds: 86401}}, ports: [{port: 80}]"), "spec.sessionAffinityConfig.clientIP.timeoutSeconds", true},
		{budget("minAvailable: 1, maxUnavailable: 1"), "spec.maxUnavailable", true},
		{budget("minAvailable: -1"), "spec.minAvailable", true},
		{scaler("minReplicas: 3, maxReplicas: 2"), "spec.minReplicas", true},
		{scaler("minReplicas: 1, maxReplicas: 0"), "spec.maxReplicas", true},
		{ingress(""), "spec.rules[0].http.paths[0].pathType", true},
		{ingress("pathType: Regex, "), "spec.rules[0].http.paths[0].pathType", true},
	} {
		for uid, refused := range map[string]bool{"": c.refused, ", uid: a-b": false} {
			_, problems := Load([]File{{"x", fmt.Appendf(nil, c.object, uid)}}, Options{})
			found := false
			for _, p := range problems {
				found = found || p.Field == c.field
				if p.Severity != Warning || p.Field == c.field && p.Refused != refused {
					t.Errorf("%v: refused %t, want a warning and %t (uid %q)", p, p.Refused, refused, uid)
				}
			}
			if !found && (c.refused || uid == "") { // what may have been set up so is said of no object that is there
				t.Errorf("%s: nothing is said of %s: %v", fmt.Sprintf(c.object, uid), c.field, problems)
			}
		}
	}
	// A name that no object of its kind can have; a Service's may begin with a digit.
	for object, refused := range map[string]bool{
		"{apiVersion: v1, kind: Namespace, metadata: {name: Bad_Name}}":   true,
		strings.ReplaceAll(service("ports: [{port: 80}]"), "a%s", "a.b"):  true,
		strings.ReplaceAll(service("ports: [{port: 80}]"), "a%s", "1bad"): false,
		strings.ReplaceAll(workload("Deployment", "", pod), "a%s", "A"):   true,
		strings.ReplaceAll(workload("Deployment", "", pod), "a%s", "a.b"): false,
	} {
		_, problems := Load([]File{{"x", []byte(object)}}, Options{})
		if got := len(problems) == 1 && problems[0].Field == "metadata.name" && problems[0].Refused; got != refused {
			t.Errorf("%s: %v", object, problems)
		}
	}
	// Why no port is left has been said by then.
	_, problems := Load([]File{{"x", []byte(strings.ReplaceAll(service("ports: [{port: 80000}]"), "%s", ""))}}, Options{})
	if len(problems) != 2 || problems[0].Field != "spec.ports" || problems[0].Refused || !problems[1].Refused {
		t.Errorf("%v", problems)
	}
}
