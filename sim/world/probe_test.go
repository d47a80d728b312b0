package world

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// A probe that looks for the process passes as soon as that runs. One that looks at a file does so only where it asks whether the app lives:
// readiness may be what the file is for.
func TestWhatAnExecProbeAsks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		argv            []string
		ready, liveness bool
	}{
		{[]string{"pgrep", "-f", "kafka"}, true, true},
		{[]string{"/bin/true"}, true, true},
		{[]string{"sh", "-c", "pidof mysqld"}, true, true},
		{[]string{"/bin/bash", "-ec", "ps aux"}, true, true},
		{[]string{"cat", "/tmp/healthy"}, false, true},
		{[]string{"sh", "-c", "test -f /tmp/live"}, false, true},
		{[]string{"sh", "-c", "test ! -f /tmp/drain"}, true, true},
		{[]string{"sh", "-c", "test -f /tmp/live && test ! -f /tmp/drain"}, false, true},
		{[]string{"sh", "-c", "[ ! -e /tmp/drain ] && true;"}, true, true},
		{[]string{"bash", "-c", "[[ ! -f /tmp/drain ]]"}, true, true},
		{[]string{"test", "!", "-e", "/tmp/drain"}, true, true},
		{[]string{"sh", "-c", "! test -e /tmp/drain"}, true, true},
		{[]string{"sh", "-c", "! cat /tmp/drain"}, true, true},
		{[]string{"sh", "-c", "! test ! -e /tmp/live"}, false, false},
		{[]string{"sh", "-c", "test ! -f /tmp/drain && curl -sf localhost:8080"}, false, false},
		{[]string{"sh", "-c", "test ! -n x"}, false, true},
		{[]string{"sh", "-c", "! curl localhost"}, false, false},
		{[]string{"sh", "-c", "exit 0"}, true, true},
		{[]string{"sh", "-c", "exit 1"}, false, false},
		{[]string{"sh", "-c", "!"}, false, false},
		{[]string{"sh", "-c", "ps aux | grep x"}, false, false},
		{[]string{"sh", "-c", "true && redis-cli ping"}, false, false},
		{[]string{"redis-cli", "ping"}, false, false},
		{[]string{"sh", "-c", ""}, false, false},
		{nil, false, false},
	} {
		p := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: c.argv}}}
		if AsksProcess(p, false) != c.ready || AsksProcess(p, true) != c.liveness {
			t.Errorf("%q: %v, and of liveness %v", c.argv, AsksProcess(p, false), AsksProcess(p, true))
		}
	}
	if AsksProcess(nil, true) || AsksProcess(&corev1.Probe{}, true) {
		t.Error("no program")
	}
}

// What somebody says of a readiness probe counts before its program, and nothing else is asked by a program.
func TestWhatAReadinessProbePasses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		program string
		asks    Asks
		want    bool
	}{
		{"true", AsksByProgram, true}, {"true", AsksServer, false}, {"/bin/ready", AsksByProgram, false}, {"/bin/ready", AsksNothing, true},
	} {
		p := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{c.program}}}}
		if got := (&App{ReadinessAsks: c.asks}).PassesAtOnce(p); got != c.want {
			t.Errorf("%s, said to ask %d: %v", c.program, c.asks, got)
		}
	}
	a := App{ReadinessAsks: AsksNothing}
	if a.PassesAtOnce(nil) || a.PassesAtOnce(&corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{}}}) {
		t.Error("a probe without a program asks")
	}
	absent := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "-c", "true && test ! -f /tmp/x"}}}}
	if !AsksForAbsence(absent) || AsksForAbsence(&corev1.Probe{}) {
		t.Error("whether a probe looks for a file that is not there")
	}
}

// A startup probe that does not wait long enough gets a failureThreshold with room, and no other one gets any.
func TestHowManyFailuresAStartupProbeIsGiven(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		delay, period, threshold int32
		start                    engine.Time
		failures, seconds        int64
	}{
		{0, 2, 5, 15 * engine.Second, 30, 60},
		{10, 10, 3, 15 * engine.Second, 5, 60},
		{0, 0, 3, engine.Second, 30, 30},
		{0, 10, 3, 7 * engine.Second, 0, 0},
	} {
		p := &corev1.Probe{InitialDelaySeconds: c.delay, PeriodSeconds: c.period, FailureThreshold: c.threshold}
		if failures, seconds := FailuresFor(p, c.start); failures != c.failures || seconds != c.seconds {
			t.Errorf("%+v: %d, %d s", c, failures, seconds)
		}
	}
}
