package scenario

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// What a Service asks of its load balancer goes before the preset.
// Reference: docs/model/load-balancers.md 1 and 4.
func TestAnnotationsOfALoadBalancer(t *testing.T) {
	t.Parallel()
	const aws, azure = awsPrefix, azurePrefix
	for name, tt := range map[string]struct { // order: each for itself
		preset      string
		annotations map[string]string
		want        string
		unread      string
	}{
		"none": {"aws-nlb-ip", nil, "10s 10s 3 3 never true", ""},
		"health checks of AWS": {"aws-nlb-instance", map[string]string{aws + "healthcheck-interval": "5", aws + "healthcheck-timeout": " 2 ",
			aws + "healthcheck-healthy-threshold": "4", aws + "healthcheck-unhealthy-threshold": "6"}, "5s 2s 4 6 never true", ""},
		"health checks of a classic load balancer": {"aws-classic", map[string]string{aws + "healthcheck-interval": "7"}, "7s 5s 2 6 0s true", ""},
		"draining of a classic load balancer": {"aws-classic", map[string]string{aws + "connection-draining-enabled": "true", aws + "connection-draining-timeout": "60"},
			"10s 5s 2 6 1m0s false", ""},
		"draining without a timeout":            {"aws-classic", map[string]string{aws + "connection-draining-enabled": "true"}, "10s 5s 2 6 5m0s false", ""},
		"draining that is switched off":         {"aws-classic", map[string]string{aws + "connection-draining-enabled": "false"}, "10s 5s 2 6 0s true", ""},
		"a timeout of draining that is off":     {"aws-classic", map[string]string{aws + "connection-draining-timeout": "60"}, "10s 5s 2 6 0s true", ""},
		"the delay alone cuts nothing":          {"aws-nlb-ip", map[string]string{targetGroup: "deregistration_delay.timeout_seconds=30"}, "10s 10s 3 3 never true", ""},
		"flows are cut after the delay":         {"aws-nlb-ip", map[string]string{targetGroup: "deregistration_delay.timeout_seconds=30, deregistration_delay.connection_termination.enabled=true"}, "10s 10s 3 3 30s true", ""},
		"flows are cut after the usual delay":   {"aws-nlb-ip", map[string]string{targetGroup: "deregistration_delay.connection_termination.enabled=true"}, "10s 10s 3 3 5m0s true", ""},
		"flows are cut at once":                 {"aws-nlb-ip", map[string]string{targetGroup: "deregistration_delay.connection_termination.enabled=true,deregistration_delay.timeout_seconds=0"}, "10s 10s 3 3 0s true", ""},
		"flows to unhealthy targets live on":    {"aws-nlb-ip", map[string]string{targetGroup: "target_health_state.unhealthy.connection_termination.enabled=false"}, "10s 10s 3 3 never false", ""},
		"other attributes":                      {"aws-nlb-ip", map[string]string{targetGroup: "preserve_client_ip.enabled=true"}, "10s 10s 3 3 never true", ""},
		"health checks of Azure":                {"azure-standard", map[string]string{azure + "health-probe-interval": "20", azure + "health-probe-num-of-probe": "4"}, "20s 5s 4 4 0s false", ""},
		"those of another provider are nothing": {"gke-l4", map[string]string{azure + "health-probe-interval": "20", aws + "healthcheck-interval": "7"}, "3s 1s 1 2 30s false", ""},
		"values that are none": {"aws-nlb-ip", map[string]string{aws + "healthcheck-interval": "0", aws + "healthcheck-timeout": "5s", aws + "healthcheck-healthy-threshold": "two",
			targetGroup: "nonsense"}, "10s 10s 3 3 never true", "healthcheck-interval healthcheck-timeout healthcheck-healthy-threshold target-group-attributes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := presetFor(tt.preset, policyLocal)
			lb := p.LoadBalancer
			if tt.preset == "aws-nlb-instance" {
				lb.Check = world.HealthCheck{}
			}
			svc := &corev1.Service{}
			svc.Annotations = tt.annotations
			unread := unreadKeys(annotate(&lb, svc, nil), awsPrefix)
			got := fmt.Sprintf("%s %s %d %d %s %t", lb.Check.Interval.Duration(), lb.Check.Timeout.Duration(), lb.Check.Healthy, lb.Check.Unhealthy, spanWords(lb.Drain), lb.CutUnhealthy)
			if got != tt.want || unread != tt.unread {
				t.Errorf("got %s, unread %q, want %s, %q", got, unread, tt.want, tt.unread)
			}
		})
	}
}

// Attributes of target groups that the cloud provider refuses are not followed, and what comes of them is said, where the evidence is that the
// load balancer is its own.
// Reference: docs/model/load-balancers.md 2 AWS in-tree NLB, attributes of target groups.
func TestAttributesThatTheCloudProviderRefuses(t *testing.T) {
	t.Parallel()
	const pod = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec:\n  replicas: 3\n  selector: {matchLabels: {app: web}}\n" +
		"  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: nginx:1.27}]}}\n"
	const termination = "deregistration_delay.connection_termination.enabled=true"
	for name, tt := range map[string]struct { // order: each for itself
		kind, value, refused string
		drain                engine.Time
	}{
		"both that it takes":               {"nlb", "preserve_client_ip.enabled=true, proxy_protocol_v2.enabled=true", "", engine.Never},
		"none":                             {"nlb", "", "", engine.Never},
		"two more":                         {"nlb", "preserve_client_ip.enabled=true,deregistration_delay.timeout_seconds=30," + termination, "deregistration_delay.timeout_seconds, deregistration_delay.connection_termination.enabled", engine.Never},
		"one that nobody knows":            {"nlb", "nonsense", "nonsense", engine.Never},
		"the AWS Load Balancer Controller": {"external", "deregistration_delay.timeout_seconds=30," + termination, "", 30 * engine.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop, annotations: {" + awsPrefix + "type: " + tt.kind + ", " + targetGroup + ": '" + tt.value + "'}}\n" +
				"spec: {type: LoadBalancer, selector: {app: web}, ports: [{port: 80, nodePort: 30080}]}\n---\n" + pod
			cases, problems := inferText(t, text, Options{})
			want := ""
			if tt.refused != "" {
				want = "the cloud provider refuses " + tt.refused + " here, and no longer brings the load balancer up to date with this Service " +
					"(one that does not know the annotation ignores it): set it on the target groups themselves, or move to the AWS Load Balancer Controller"
			}
			got := ""
			for _, p := range problems {
				if strings.HasPrefix(p.Field, "metadata.annotations") {
					got += p.Message
				}
			}
			if got != want {
				t.Errorf("warned of %q, want %q", got, want)
			}
			if lb := cases[0].Scenario.Traffic[0].LB; lb == nil || lb.Drain != tt.drain || !lb.CutUnhealthy {
				t.Errorf("the load balancer: %+v", lb)
			}
		})
	}
}

// How long an idle connection is kept is in seconds at AWS and in minutes at Azure.
func TestAnnotatedIdleTimeouts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		preset, key, value string
		want               engine.Time
	}{
		{"aws-classic", awsPrefix + "connection-idle-timeout", "90", 90 * engine.Second},
		{"aws-classic", awsPrefix + "connection-idle-timeout", "0", engine.Minute},
		{"azure-standard", azurePrefix + "tcp-idle-timeout", "30", 30 * engine.Minute},
		{"azure-standard", azurePrefix + "tcp-idle-timeout", "half an hour", 4 * engine.Minute},
		{"aws-nlb-ip", awsPrefix + "connection-idle-timeout", "90", 350 * engine.Second},
	} {
		p, _ := presetFor(tt.preset, policyLocal)
		lb := p.LoadBalancer
		svc := &corev1.Service{}
		svc.Annotations = map[string]string{tt.key: tt.value}
		annotate(&lb, svc, nil)
		if lb.Idle != tt.want {
			t.Errorf("%s with %s %s: %s, want %s", tt.preset, tt.key, tt.value, lb.Idle.Duration(), tt.want.Duration())
		}
	}
}

// unreadKeys names what could not be read, without the prefix of all.
func unreadKeys(list []unread, prefix string) string {
	var keys []string
	for _, u := range list {
		key := strings.TrimSuffix(strings.TrimPrefix(u.path, "metadata.annotations[\""), "\"]")
		keys = append(keys, strings.TrimPrefix(key, prefix))
	}
	return strings.Join(keys, " ")
}
