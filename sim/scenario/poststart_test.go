package scenario

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// A postStart hook that sleeps takes as long as it says. How long a program takes of which nothing is known is an assumption, and others are tried.
func TestHowLongAPostStartHookTakes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		hook    string
		most    engine.Time
		assumed string
		others  string
	}{
		"none":                       {"", 0, "", ""},
		"a sleep action":             {"postStart: {sleep: {seconds: 20}}", 20 * engine.Second, "", ""},
		"a program that sleeps":      {"postStart: {exec: {command: [sleep, \"20\"]}}", 20 * engine.Second, "", ""},
		"a program that is unknown":  {"postStart: {exec: {command: [/register]}}", 5 * engine.Second, "web: uniform 0s-5s (unknown program /register)", "0s 30s "},
		"and a preStop hook besides": {"postStart: {sleep: {seconds: 7}}, preStop: {sleep: {seconds: 3}}", 7 * engine.Second, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(altWeb, "preStop: {exec: {command: [/bin/drain]}}", tt.hook, 1)
			s := inferOne(t, text, Options{}).Scenario
			if got := s.Workloads[0].Hooks["web"].After.Duration.Max(); got != tt.most {
				t.Errorf("it takes %s s at most, want %s", got.Seconds(), tt.most.Seconds())
			}
			assumed, others := "", ""
			for _, a := range s.Assumptions {
				if a.ID == "poststart" {
					assumed = a.Value
				}
			}
			for _, a := range Alternatives(s) {
				if a.ID == "poststart" {
					others += a.Value + " "
					if d := a.Scenario.Workloads[0].Hooks["web"].After.Duration; d.Max().Duration().String() != a.Value || d.Min() != d.Max() {
						t.Errorf("%s: %s", a.Value, d)
					}
				}
			}
			if assumed != tt.assumed || others != tt.others {
				t.Errorf("assumed %q, tried %q; want %q and %q", assumed, others, tt.assumed, tt.others)
			}
		})
	}
}

// An image that lacks the program of a preStop hook has the container's postStart hook all the same.
func TestAMissingPreStopProgramLeavesThePostStartHook(t *testing.T) {
	t.Parallel()
	text := strings.Replace(altWeb, "preStop: {exec: {command: [/bin/drain]}}", "postStart: {sleep: {seconds: 7}}, preStop: {exec: {command: [sh, -c, sleep 5]}}", 1)
	tried := 0
	for _, a := range Alternatives(inferOne(t, text, Options{}).Scenario) {
		if a.ID == "prestop-program" {
			tried++
			if h := a.Scenario.Workloads[0].Hooks["web"]; h.Kind != "missing" || h.After.Duration.Max() != 7*engine.Second {
				t.Errorf("%+v", h)
			}
		}
	}
	if tried != 1 {
		t.Errorf("%d tried", tried)
	}
}
