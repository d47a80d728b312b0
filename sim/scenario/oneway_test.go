package scenario

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// Clients of a port over UDP whose protocol has no answers send messages, and come after who waits for an answer.
func TestMessagesOverUDPAreNoQuestions(t *testing.T) {
	t.Parallel()
	for ports, want := range map[string]struct { // order: each for itself
		name  string
		users Users
	}{
		"{name: syslog, port: 514, protocol: UDP, targetPort: 8080}":                                                                  {Messages, UsersSessions},
		"{name: in, port: 8125, protocol: UDP, targetPort: 8080}":                                                                     {Messages, UsersSessions},
		"{name: logs, port: 514, protocol: UDP, targetPort: 8080}, {name: statsd, port: 9, protocol: UDP, targetPort: 8080}":          {Messages, UsersSessions},
		"{name: dns, port: 53, protocol: UDP, targetPort: 8080}":                                                                      {"queries", UsersInside},
		"{name: statsd, port: 8125, protocol: UDP, targetPort: 8080}, {name: questions, port: 9999, protocol: UDP, targetPort: 8080}": {Messages, UsersInside},
	} {
		objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(strings.Replace(altWeb, "{port: 80, targetPort: 8080}", ports, 1))}}, manifest.Options{})
		cases, problems := inferKept(t, objects, Options{Actions: []string{"rollout"}})
		if manifest.HasErrors(problems) || len(cases) != 1 {
			t.Fatalf("%s: %d cases, %v", ports, len(cases), problems)
		}
		if cases[0].Scenario == nil {
			t.Fatalf("%s: %s", ports, cases[0].Reason)
		}
		if c := cases[0]; c.Scenario.Traffic[0].Name != want.name || c.Users != want.users {
			t.Errorf("%s: %s, %d", ports, c.Scenario.Traffic[0].Name, c.Users)
		}
	}
}
