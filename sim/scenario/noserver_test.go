package scenario

import (
	"strings"
	"testing"
)

// A Service in front of a program that answers nobody is not judged, and the reason is not that there is none.
func TestAServiceInFrontOfNoServer(t *testing.T) {
	t.Parallel()
	text := strings.Replace(altWeb, "image: example.com/web", "image: busybox\n        command: [sleep, infinity]", 1)
	cases, problems := casesIn(t, text, Options{Actions: []string{"rollout"}})
	if len(cases) != 1 || cases[0].Verdict != NotJudged || cases[0].Scenario != nil || !strings.Contains(cases[0].Reason, "no server (profile waits)") {
		t.Errorf("%v: %+v", problems, cases)
	}
}
