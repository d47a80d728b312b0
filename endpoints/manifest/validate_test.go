package manifest

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// warned loads an object and returns what is warned of, without positions and names: one line each.
func warned(t *testing.T, text string) (*Objects, string) {
	t.Helper()
	objects, problems := Load([]File{{"x", []byte(text)}}, Options{})
	var lines []string
	for _, p := range problems {
		if p.Severity != Warning {
			t.Errorf("%s: %v", text, p)
		}
		p.Position, p.Kind, p.Name = Position{}, "", ""
		lines = append(lines, strings.TrimPrefix(p.Error(), ": "))
	}
	return objects, strings.Join(lines, "\n")
}

// pkg/apis/core/validation/validation.go, validateProbe and validateLivenessProbe (1.36).
func TestFieldsOfProbesThatCannotBeAreIgnored(t *testing.T) {
	t.Parallel()
	const at, ask = "spec.containers[0].", "tcpSocket: {port: 80}, "
	const grace = ".terminationGracePeriodSeconds: must be at least 1, and is for liveness and startup probes only; it is ignored"
	for _, c := range []struct{ probe, fields, want string }{
		{"livenessProbe", "terminationGracePeriodSeconds: 1", ""},
		{"startupProbe", "terminationGracePeriodSeconds: 1", ""},
		{"livenessProbe", "terminationGracePeriodSeconds: 0", at + "livenessProbe" + grace},
		{"readinessProbe", "terminationGracePeriodSeconds: 1", at + "readinessProbe" + grace},
		{"livenessProbe", "successThreshold: 1", ""},
		{"readinessProbe", "successThreshold: 2", ""},
		{"livenessProbe", "successThreshold: 2", at + "livenessProbe.successThreshold: 2 must be 1 for this probe; 1 is used instead"},
		{"startupProbe", "successThreshold: 2", at + "startupProbe.successThreshold: 2 must be 1 for this probe; 1 is used instead"},
		{"livenessProbe", "initialDelaySeconds: -1", at + "livenessProbe.initialDelaySeconds: -1 must not be negative; 0 is used instead"},
		{"livenessProbe", "timeoutSeconds: -1", at + "livenessProbe.timeoutSeconds: -1 must not be negative; 1 is used instead"},
		{"livenessProbe", "periodSeconds: -1", at + "livenessProbe.periodSeconds: -1 must not be negative; 10 is used instead"},
		{"livenessProbe", "failureThreshold: -1", at + "livenessProbe.failureThreshold: -1 must not be negative; 3 is used instead"},
		{"livenessProbe", "httpGet: {port: 80}", at + "livenessProbe: has 2 of exec, httpGet, tcpSocket and grpc, exactly one is needed; this probe is ignored"},
	} {
		_, got := warned(t, fmt.Sprintf("{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, image: i, %s: {%s%s}}]}}", c.probe, ask, c.fields))
		if got != c.want {
			t.Errorf("%s {%s}: %q, want %q", c.probe, c.fields, got, c.want)
		}
	}
}

// pkg/apis/core/validation/validation.go, validateHandler (1.36): what says nothing that can be done is taken away, whichever probe or hook.
func TestProbesAndHooksThatCannotBeAreIgnored(t *testing.T) {
	t.Parallel()
	const port = " must be from 1 to 65535; this "
	for _, c := range []struct{ handler, field, want string }{
		{"httpGet: {port: 0}", ".httpGet.port", "0" + port}, {"httpGet: {port: 65536}", ".httpGet.port", "65536" + port},
		{"tcpSocket: {port: 65536}", ".tcpSocket.port", "65536" + port}, {"exec: {command: []}", ".exec.command", "has no word, a program is needed; this "},
		{"grpc: {port: 65536}", ".grpc.port", "65536" + port}, {"", "", "has 0 of exec, httpGet"},
		{"sleep: {seconds: -1}", ".sleep.seconds", "-1 must not be negative; this "},
	} {
		for _, name := range []string{"livenessProbe", "readinessProbe", "startupProbe", "postStart", "preStop"} {
			path, hook := "spec.containers[0]."+name, !strings.HasSuffix(name, "Probe")
			body := name + ": {" + c.handler + "}"
			if hook {
				path, body = "spec.containers[0].lifecycle."+name, "lifecycle: {"+body+"}"
			}
			objects, got := warned(t, "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, image: i, "+body+"}]}}")
			if only := strings.HasPrefix(c.field, ".grpc") && hook || strings.HasPrefix(c.field, ".sleep") && !hook || strings.HasPrefix(c.field, ".tcpSocket") && hook; only {
				continue // there is no such hook, or probe; and a tcpSocket hook never did anything
			}
			if !strings.HasPrefix(got, path+c.field+": "+c.want) || !strings.HasSuffix(got, "is ignored") {
				t.Errorf("%s: %q", body, got)
			}
			container := objects.All[0].Value.(*corev1.Pod).Spec.Containers[0] //nolint:errcheck // the input is a Pod
			if container.LivenessProbe != nil || container.ReadinessProbe != nil || container.StartupProbe != nil ||
				container.Lifecycle != nil && (container.Lifecycle.PostStart != nil || container.Lifecycle.PreStop != nil) {
				t.Errorf("%s: it is still there", body)
			}
		}
	}
}

// pkg/apis/core/validation/validation.go, ValidateServiceClusterIPsRelatedFields (1.36).
func TestFamiliesOfAServiceThatCannotBeAreIgnored(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ spec, warned, families, policy string }{
		{"", "", "[]", "SingleStack"},
		{"ipFamilies: [IPv6]", "", "[IPv6]", "SingleStack"},
		{"ipFamilies: [IPv6, IPv4], ipFamilyPolicy: PreferDualStack", "", "[IPv6 IPv4]", "PreferDualStack"},
		{"ipFamilies: [IPv4, IPv4]", "spec.ipFamilies[1]: IPv4 is there twice; it is ignored", "[IPv4]", "SingleStack"},
		{"ipFamilies: [IPv4, IPv6], ipFamilyPolicy: SingleStack",
			"spec.ipFamilyPolicy: SingleStack with two IP families, it must be PreferDualStack or RequireDualStack; RequireDualStack is used instead", "[IPv4 IPv6]", "RequireDualStack"},
		{"ipFamilies: [IPv4, IPv6]",
			"spec.ipFamilyPolicy: missing with two IP families, it must be PreferDualStack or RequireDualStack; RequireDualStack is used", "[IPv4 IPv6]", "RequireDualStack"},
		{"ipFamilies: [IPv6], clusterIP: 10.96.0.1",
			"spec.ipFamilies[0]: IPv6, but the cluster IP 10.96.0.1 is IPv4; the families of the cluster IPs are used", "[IPv4]", "SingleStack"},
	} {
		objects, got := warned(t, "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 80}], "+c.spec+"}}")
		spec := objects.Services[0].Value.Spec
		if got != c.warned || fmt.Sprint(spec.IPFamilies) != c.families || string(*spec.IPFamilyPolicy) != c.policy {
			t.Errorf("{%s}: %v %s, %q", c.spec, spec.IPFamilies, *spec.IPFamilyPolicy, got)
		}
	}
}

// pkg/apis/discovery/validation/validation.go, validatePorts (1.36).
func TestPortsOfASliceThatCannotBeAreSkipped(t *testing.T) {
	t.Parallel()
	objects, got := warned(t, `{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: a, labels: {kubernetes.io/service-name: w}}, addressType: IPv4, endpoints: [],
  ports: [{name: a, port: 80}, {name: b, port: 0}, {name: c, port: 65536}, {name: d, port: 1, protocol: HTTP}, {name: D, port: 2}, {name: a, port: 3}, {name: e, port: 65535}, {name: f}]}`)
	const want = `ports[1].port: 0 must be from 1 to 65535; this port is skipped
ports[2].port: 65536 must be from 1 to 65535; this port is skipped
ports[3].protocol: unknown protocol "HTTP", valid are TCP, UDP or SCTP; this port is skipped
ports[4].name: "D" must be at most 63 lower-case letters, digits and '-', starting and ending with a letter or digit; this port is skipped
ports[5].name: "a" is also the name of ports[0], names must differ; this port is skipped`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	var names []string
	for _, p := range objects.EndpointSlices[0].Value.Ports {
		names = append(names, *p.Name)
	}
	if strings.Join(names, " ") != "a e f" {
		t.Errorf("left: %q", names)
	}
}

// pkg/apis/apps/validation/validation.go, ValidateDeploymentSpec (1.36): the selector is there and matches the template's labels.
func TestASelectorThatCannotBeIsThatOfTheTemplatesLabels(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ selector, warned, want string }{
		{"{matchLabels: {app: web}}", "", "app=web"},
		{"{matchExpressions: [{key: app, operator: Exists}]}", "", "app"},
		{"{}", "spec.selector: missing; the labels of the pod template are used", "app=web,tier=front"},
		{"{matchLabels: {app: wbe}}", "spec.selector: does not match the labels of the pod template; those are used instead", "app=web,tier=front"},
		{"{matchExpressions: [{key: app, operator: Is}]}", `spec.selector: "Is" is not a valid label selector operator; the labels of the pod template are used instead`, "app=web,tier=front"},
	} {
		objects, got := warned(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {selector: "+c.selector+
			", template: {metadata: {labels: {app: web, tier: front}}, spec: {containers: [{name: c, image: i}]}}}}")
		d := objects.Deployments[0].Value
		if words := metav1.FormatLabelSelector(d.Spec.Selector); got != c.warned || words != c.want {
			t.Errorf("%s: %q, %s, want %q, %s", c.selector, got, words, c.warned, c.want)
		}
		if clear(d.Spec.Selector.MatchLabels); len(d.Spec.Template.Labels) != 2 {
			t.Errorf("%s: the labels are the template's own", c.selector)
		}
	}
}

// What is asked for and is not there has the position of what is around it.
func TestTheValueOfAFieldThatIsNotThere(t *testing.T) {
	t.Parallel()
	objects, _ := Load([]File{{"x", []byte("apiVersion: v1\nkind: Node\nmetadata:\n  name: a\nspec:\n  podCIDR: 10.0.0.0/24\n  providerID:\n")}}, Options{})
	for path, want := range map[string]string{
		"spec.podCIDR": "x:6:12", "spec.providerID": "x:7:3", "spec.unschedulable": "x:5:1", "spec": "x:5:1", "metadata.name": "x:4:9", "metadata.name.first": "x:4:3",
	} {
		if got := objects.Nodes[0].Object.ValueAt(path).String(); got != want {
			t.Errorf("%s is at %s, want %s", path, got, want)
		}
	}
}

// A field that has another shape than it is to have is an error with its place.
func TestAFieldOfAnotherShapeIsAnError(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]string{
		"ports: 3":                 "x:1:68: Service default/a: spec.ports: expected a list",
		"ports: {port: 80}":        "x:1:68: Service default/a: spec.ports: expected a list",
		"ports: [80]":              "x:1:69: Service default/a: spec.ports[0]: expected a mapping",
		"selector: [app]":          "x:1:71: Service default/a: spec.selector: expected a mapping",
		"externalIPs: 10.0.0.1":    "x:1:74: Service default/a: spec.externalIPs: expected a list",
		"externalIPs: [[1.2.3.4]]": "x:1:75: Service default/a: spec.externalIPs[0]: expected a string",
	} {
		_, problems := Load([]File{{"x", []byte("{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {" + spec + "}}")}}, Options{})
		if !HasErrors(problems) || !strings.HasPrefix(problems[0].Error(), want) {
			t.Errorf("%s: %v, want %s", spec, problems, want)
		}
	}
}

// pkg/apis/core/validation/validation.go, ValidateTolerations and validateTaintEffect (1.36).
func TestTaintsAndTolerationsThatCannotBeAreRefused(t *testing.T) {
	t.Parallel()
	const at = "spec.tolerations[0]"
	pod := func(toleration string) string {
		return "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: web, image: web}], tolerations: [{" + toleration + "}]}"
	}
	node := func(taint string) string {
		return "apiVersion: v1\nkind: Node\nmetadata: {name: node-1}\nspec: {taints: [{" + taint + "}]}"
	}
	const effects = "valid are NoSchedule, PreferNoSchedule or NoExecute: the API server refuses it"
	for text, want := range map[string]string{
		node("key: a, effect: NoSchedule"): "",
		node("key: a, effect: Nonsense"):   `spec.taints[0].effect: unknown value "Nonsense", ` + effects,
		node("key: a"):                     `spec.taints[0].effect: unknown value "", ` + effects,
		pod("operator: Exists"):            "",
		pod("key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 1e9"): "",
		pod("key: a, value: b, effect: NoSchedul"):                                 at + `.effect: unknown value "NoSchedul", did you mean NoSchedule? Valid are NoSchedule, PreferNoSchedule or NoExecute: the API server refuses it`,
		pod("key: a, operator: Exists, tolerationSeconds: 5"):                      at + ".tolerationSeconds: is for the effect NoExecute alone: the API server refuses it",
		pod("key: a, operator: Exists, effect: NoSchedule, tolerationSeconds: 5"):  at + ".tolerationSeconds: is for the effect NoExecute alone: the API server refuses it",
		pod("value: a"): at + ".operator: must be Exists where there is no key: the API server refuses it",
		pod("key: a, operator: Exists, value: b"): at + ".value: has no place beside the operator Exists: the API server refuses it",
		pod("key: a, operator: Gt, value: '5'"):   at + `.operator: "Gt" is not simulated; valid here: Equal or Exists`,
	} {
		_, problems := Load([]File{{"x", []byte(text)}}, Options{})
		var got []string
		for _, p := range problems {
			got = append(got, p.Field+": "+p.Message)
			if p.Severity != Error {
				t.Errorf("%v is no error", p)
			}
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%s\ngot  %s\nwant %s", text, strings.Join(got, "\n"), want)
		}
	}
}

// pkg/apis/core/validation/validation.go, ValidateService (1.36). A port that is skipped takes nobody's name, number or node port.
func TestPortsOfAServiceThatCannotBeToldApart(t *testing.T) {
	t.Parallel()
	const port = "spec.ports[%d].port: %s is also ports[%d], each port and protocol can be given once; this port is skipped"
	const unnamed = "spec.ports[0].name: missing, every port of a Service with several needs a name; this port is used with the empty name"
	unnamedAgain := func(i int) string {
		return fmt.Sprintf("spec.ports[%d].name: missing, and ports[0] has no name either; this port is skipped", i)
	}
	name := func(i, first int) string {
		return fmt.Sprintf("spec.ports[%d].name: \"a\" is also the name of ports[%d], names must differ; this port is skipped", i, first)
	}
	nodePort := func(i, first int) string {
		return fmt.Sprintf("spec.ports[%d].nodePort: 30080/TCP is also the node port of ports[%d]; this node port is ignored", i, first)
	}
	for ports, want := range map[string]struct {
		left   string
		warned []string
	}{
		"{port: 80}":                                                               {":80", nil},
		"{port: 80}, {port: 81}, {port: 82}":                                       {":80", []string{unnamed, unnamedAgain(1), unnamedAgain(2)}},
		"{port: 80}, {port: 80}":                                                   {":80", []string{unnamed, unnamedAgain(1)}},
		"{name: a, port: 80}, {name: b, port: 81}":                                 {"a:80 b:81", nil},
		"{name: a, port: 80}, {name: a, port: 81}, {name: a, port: 82}":            {"a:80", []string{name(1, 0), name(2, 0)}},
		"{name: a, port: 80}, {name: a, port: 81}, {name: b, port: 81}":            {"a:80 b:81", []string{name(1, 0)}},
		"{name: a, port: 80}, {name: b, port: 80}, {name: c, port: 80}":            {"a:80", []string{fmt.Sprintf(port, 1, "80/TCP", 0), fmt.Sprintf(port, 2, "80/TCP", 0)}},
		"{name: a, port: 80}, {name: b, port: 80}, {name: b, port: 81}":            {"a:80 b:81", []string{fmt.Sprintf(port, 1, "80/TCP", 0)}},
		"{name: a, port: 80}, {name: b, port: 80, protocol: UDP}":                  {"a:80 b:80", nil},
		"{name: a, port: 80, protocol: UDP}, {name: b, port: 80, protocol: UDP}":   {"a:80", []string{fmt.Sprintf(port, 1, "80/UDP", 0)}},
		"{name: a, port: 0}, {name: a, port: 80}":                                  {"a:80", []string{"spec.ports[0].port: 0 must be from 1 to 65535; this port is skipped"}},
		np("a", 80, 30080) + np("b", 81, 30081):                                    {"a:80:30080 b:81:30081", nil},
		np("a", 80, 30080) + np("b", 81, 30080) + np("c", 82, 30080):               {"a:80:30080 b:81 c:82", []string{nodePort(1, 0), nodePort(2, 0)}},
		np("a", 80, 30081) + np("a", 81, 30080) + np("b", 82, 30080):               {"a:80:30081 b:82:30080", []string{name(1, 0)}},
		np("a", 80, 30081) + np("b", 80, 30080) + np("c", 82, 30080):               {"a:80:30081 c:82:30080", []string{fmt.Sprintf(port, 1, "80/TCP", 0)}},
		np("a", 80, 30080) + "{name: b, port: 80, nodePort: 30080, protocol: UDP}": {"a:80:30080 b:80:30080", nil},
		np("a", 80, 30080) + np("b", 30080, 30081) + np("c", 30081, 30082):         {"a:80:30080 b:30080:30081 c:30081:30082", nil},
	} {
		objects, got := warned(t, "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {type: NodePort, ports: ["+ports+"]}}")
		var left []string
		for _, p := range objects.Services[0].Value.Spec.Ports {
			one := fmt.Sprintf("%s:%d", p.Name, p.Port)
			if p.NodePort != 0 {
				one += fmt.Sprintf(":%d", p.NodePort)
			}
			left = append(left, one)
		}
		if strings.Join(left, " ") != want.left || got != strings.Join(want.warned, "\n") {
			t.Errorf("%s: left %q, want %q, warned\n%s\nwant\n%s", ports, left, want.left, got, strings.Join(want.warned, "\n"))
		}
	}
}

// np is a port of a Service with a node port, in YAML.
func np(name string, port, nodePort int) string {
	return fmt.Sprintf("{name: %s, port: %d, nodePort: %d}, ", name, port, nodePort)
}

// A budget that the API server would refuse is no budget, and among what cannot be used: the warning says what would do.
func TestBudgetsThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	const skipped = "; this PodDisruptionBudget is skipped"
	for spec, want := range map[string]string{
		"minAvailable: 1":  "",
		"minAvailable: -1": "spec.minAvailable: -1 must not be negative: valid here is a whole number such as 1 or a percentage such as 25%" + skipped,
		"selector: {matchExpressions: [{key: a, operator: Near, values: [b]}]}":   `spec.selector: matchExpressions[0]: "Near" is no operator; valid here: In, NotIn, Exists, DoesNotExist` + skipped,
		"selector: {matchExpressions: [{key: a, operator: In}]}":                  "spec.selector: matchExpressions[0]: operator In needs values" + skipped,
		"selector: {matchExpressions: [{key: a, operator: Exists, values: [b]}]}": "spec.selector: matchExpressions[0]: operator Exists takes no values" + skipped,
	} {
		objects, got := warned(t, "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b}, spec: {"+spec+"}}")
		if got != want || len(objects.PodDisruptionBudgets)+len(objects.Unusable) != 1 || (len(objects.Unusable) == 1) != (want != "") {
			t.Errorf("%s: %q, want %q; %d unusable", spec, got, want, len(objects.Unusable))
		}
	}
	for value, want := range map[string]string{
		"4000000000": "expected a whole number from -2147483648 to 2147483647, or a string, got the number 4000000000",
		"1.5":        "expected a whole number or a string, got the number 1.5",
	} {
		_, problems := Load([]File{{Name: "in.yaml", Data: []byte("{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b}, spec: {minAvailable: " + value + "}}")}}, Options{})
		if len(problems) != 1 || !strings.Contains(problems[0].Error(), want) {
			t.Errorf("%s: %v", value, problems)
		}
	}
}
