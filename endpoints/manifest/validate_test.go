package manifest

import (
	"fmt"
	"strings"
	"testing"
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
		lines = append(lines, strings.TrimPrefix(p.Field+": "+p.Message, ": "))
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
