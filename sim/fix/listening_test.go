package fix

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// A readiness probe asks the port that clients are led to, whether the container names it or not.
func TestAReadinessProbeAsksThePortThatClientsAreLedTo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ ports, target, want string }{
		"of the container":                       {"[{containerPort: 8080}]", "{port: 80, targetPort: 8080}", "readinessProbe on port 8080"},
		"not named by the container":             {"", "{port: 80, targetPort: 8080}", "readinessProbe on port 8080"},
		"the Service's own":                      {"", "{port: 80}", "readinessProbe on port 80"},
		"a guess, and the container names one":   {"[{containerPort: 8080}]", "{port: 80}", "readinessProbe on port 8080"},
		"a guess, and the container names two":   {"[{containerPort: 8080}, {containerPort: 9090}]", "{port: 80}", "readinessProbe on port 80"},
		"said, though the container names one":   {"[{containerPort: 8080}]", "{port: 80, targetPort: 80}", "readinessProbe on port 80"},
		"by name":                                {"[{containerPort: 9090, name: metrics}, {containerPort: 8080, name: http}]", "{port: 80, targetPort: http}", "readinessProbe on port 8080"},
		"not the first, which is for metrics":    {"[{containerPort: 9090}, {containerPort: 8080}]", "{port: 80, targetPort: 8080}", "readinessProbe on port 8080"},
		"over TCP where clients come over both":  {"[{containerPort: 53, protocol: UDP}, {containerPort: 54}]", "{port: 53, targetPort: 53, protocol: UDP}", "readinessProbe on port 54"},
		"none where clients come over UDP alone": {"[{containerPort: 53, protocol: UDP}]", "{port: 53, targetPort: 53, protocol: UDP}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.NewReplacer("        ports: [{containerPort: 8080}]\n", "PORTS", "  ports: [{port: 80, targetPort: 8080}]\n", "  ports: ["+c.target+"]\n").Replace(fill(nil))
			ports := ""
			if c.ports != "" {
				ports = "        ports: " + c.ports + "\n"
			}
			sc, w := worldOf(t, strings.Replace(text, "PORTS", ports, 1), scenario.Options{})
			var got []string
			for _, change := range Changes(sc, w, engine.Second) {
				if change.ID == "readinessProbe" {
					got = append(got, change.Title)
				}
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			if slices.Contains(got, "") {
				t.Error("a change without a title")
			}
		})
	}
}

func TestANameThatTheContainerLacksIsNoPort(t *testing.T) {
	t.Parallel()
	named := &corev1.ServicePort{Port: 80, TargetPort: intstr.FromString("http")}
	if got := targetOf(named, &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Ports: []corev1.ContainerPort{{Name: "metrics", ContainerPort: 9090}}}}}}); got != 0 {
		t.Errorf("port %d", got)
	}
}
