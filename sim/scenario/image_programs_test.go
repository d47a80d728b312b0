package scenario

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/servers"
)

// The assumption has its row, and its other value is a hook that fails; a program that is known to be
// missing is a warning that names the sleep action.
func TestAHookOfAnUnknownImageIsAnAssumption(t *testing.T) {
	t.Parallel()
	text := strings.Replace(altWeb, "[/bin/drain]", "[sleep, '15']", 1)
	s := inferOne(t, text, Options{}).Scenario
	if _, value := assumptionOf(s, "prestop-program"); value != "web: its image has sleep" {
		t.Errorf("it assumes %q", value)
	}
	tried := 0
	for _, a := range Alternatives(s) {
		if a.ID != "prestop-program" {
			continue
		}
		tried++
		if h := a.Scenario.Workloads[0].Hooks["web"]; h.Kind != servers.HookMissing || h.Duration.Max() != 0 {
			t.Errorf("%s: %+v", a.Value, h)
		}
	}
	if h := s.Workloads[0].Hooks["web"]; tried != 1 || h.Kind != servers.HookExec || h.Duration.Mean() != 15*engine.Second {
		t.Errorf("tried %d times, and the scenario itself has %+v", tried, h)
	}
	objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(strings.Replace(text, "example.com/web", "gcr.io/distroless/static", 1))}}, manifest.Options{})
	_, problems := inferKept(t, objects, Options{})
	const want = "the image gcr.io/distroless/static has no sleep: the hook fails at once, without any delay; valid here: preStop: {sleep: {seconds: N}}, " +
		"for which the kubelet needs no program (Kubernetes 1.30 and later)"
	if len(problems) != 1 || problems[0].Severity != manifest.Warning || !strings.HasSuffix(problems[0].String(), want) || problems[0].Line == 0 {
		t.Errorf("problems %v", problems)
	}
}

// A probe and a postStart hook whose program the image is known not to have are warned of, with their place.
func TestWhatThePodDependsOnIsNotInTheImage(t *testing.T) {
	t.Parallel()
	text := strings.Replace(altWeb, "exec: {command: [/bin/drain]}", "sleep: {seconds: 5}}, postStart: {exec: {command: [sh, -c, 'sleep 1']}", 1)
	text = strings.Replace(text, "example.com/web", "gcr.io/distroless/static\n        livenessProbe: {exec: {command: [cat, /tmp/live]}}", 1)
	objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
	_, problems := inferKept(t, objects, Options{})
	want := []string{
		"livenessProbe.exec.command: the image gcr.io/distroless/static has no cat: the kubelet throws the error away, and restarts nothing; " +
			"valid here: httpGet, tcpSocket or grpc, for which the kubelet needs no program",
		"lifecycle.postStart.exec.command: the image gcr.io/distroless/static has no sh: the hook fails, and the kubelet kills the container each time it starts",
	}
	if len(problems) != len(want) {
		t.Fatalf("problems %v", problems)
	}
	for i, p := range problems {
		if p.Severity != manifest.Warning || !strings.HasSuffix(p.String(), want[i]) || p.Line == 0 {
			t.Errorf("%s", p.String())
		}
	}
}
