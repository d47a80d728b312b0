package scenario

import (
	"strings"
	"testing"
)

// An app on a JVM takes 15 s to listen, and from 5 to 40 s as other values of the assumption, whatever
// it does at SIGTERM.
func TestAJVMStartsLater(t *testing.T) {
	t.Parallel()
	const usual = "2s, then 500ms, 20s"
	jvm := func(by string) string { return "15s (a JVM, by its " + by + "), then 5s (a JVM), 40s (a JVM)" }
	for _, tt := range []struct{ image, more, want string }{
		{"example.com/web", "", usual},
		{"eclipse-temurin:21-jre", "", jvm("image eclipse-temurin:21-jre")},
		{"example.com/web-jre", "", jvm("image example.com/web-jre")},
		{"example.com/web", "command: [java, -jar, app.jar]", jvm("command java -jar app.jar")},
		{"example.com/web", "env: [{name: SPRING_PROFILES_ACTIVE, value: prod}]", jvm("variable SPRING_PROFILES_ACTIVE")},
		{"example.com/web", "env: [{name: JAVA_TOOL_OPTIONS, value: -Xmx1g}]", jvm("variable JAVA_TOOL_OPTIONS")},
		{"tomcat:10", "", jvm("image tomcat:10")},
		{"example.com/web", "livenessProbe: {httpGet: {path: /actuator/health/liveness, port: 8080}}", jvm("probe of /actuator/health/liveness")},
		{"example.com/web", "livenessProbe: {httpGet: {path: /health, port: 8080}}", usual},
		{"quay.io/keycloak/keycloak:26", "", jvm("image quay.io/keycloak/keycloak:26")},
		{"example.com/javascript", "", usual},
		{"node:22", "", usual},
	} {
		text := strings.Replace(altWeb, "image: example.com/web", "image: "+tt.image+"\n        "+tt.more, 1)
		s := inferOne(t, text, Options{}).Scenario
		_, value := assumptionOf(s, "start")
		var tried []string
		for _, a := range Alternatives(s) {
			if a.ID == "start" {
				tried = append(tried, a.Value)
				if got := a.Scenario.Workloads[0].App.Start.Max().Duration().String(); !strings.HasPrefix(a.Value, got) {
					t.Errorf("%s: %s is %s", tt.image, a.Value, got)
				}
			}
		}
		if got := value + ", then " + strings.Join(tried, ", "); got != tt.want {
			t.Errorf("%s %s: %s, want %s", tt.image, tt.more, got, tt.want)
		}
	}
	if s := inferOne(t, strings.Replace(altWeb, "example.com/web", "openjdk", 1), Options{Set: []string{"start=3s"}}).Scenario; s.Workloads[0].App.Start.Max().Seconds() != "3" {
		t.Error("what is said of the start-up does not count for a JVM")
	}
}
