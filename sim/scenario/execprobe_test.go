package scenario

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// A readiness probe of a program that nobody knows is taken to pass when the app listens, which is said, and that it passes at once is tried.
// Reference: docs/model/pod-lifecycle.md 3.3 exec readiness.
func TestWhatAReadinessProbeIsTakenToAsk(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ probe, set, want, tried string }{
		"a file":                       {"exec: {command: [cat, /tmp/healthy]}", "", "web: cat /tmp/healthy passes when the app listens", "at once"},
		"a program of its own":         {"exec: {command: [/bin/ready, --long, --enough-to-be-cut-off]}", "", "web: /bin/ready --long --enough-to-... passes when the app listens", "at once"},
		"said to ask the server":       {"exec: {command: [/bin/ready]}", "server", "", ""},
		"said to ask nothing":          {"exec: {command: [/bin/ready]}", "nothing", "", ""},
		"a file that is not there":     {"exec: {command: [sh, -c, 'test ! -f /tmp/drain']}", "", "", ""},
		"a program that asks a server": {"exec: {command: [redis-cli, ping]}", "", "", ""},
		"a connection":                 {"tcpSocket: {port: 8080}", "", "", ""},
	} {
		text := strings.Replace(altWeb, "lifecycle: {", "readinessProbe: {"+c.probe+"}\n        lifecycle: {", 1)
		if !strings.Contains(text, "readinessProbe") {
			t.Fatal(text)
		}
		o := Options{}
		if c.set != "" {
			o.Set = []string{"apps.web.readinessAsks=" + c.set}
		}
		s := inferOne(t, text, o).Scenario
		if got := assumedValue(s, readinessAsks); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		tried := ""
		for _, a := range Alternatives(s) {
			if a.ID == readinessAsks {
				if tried += a.Value; a.Scenario.Workloads[0].App.ReadinessAsks != world.AsksNothing || s.Workloads[0].App.ReadinessAsks != world.AsksByProgram {
					t.Errorf("%s: tried %+v", name, a.Scenario.Workloads[0].App)
				}
			}
		}
		if tried != c.tried {
			t.Errorf("%s: tried %q, want %q", name, tried, c.tried)
		}
	}
}
