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
	_, problems := Infer(objects, Options{})
	const want = "the image gcr.io/distroless/static has no sleep: the hook fails at once, without any delay; valid here: preStop: {sleep: {seconds: N}}, " +
		"for which the kubelet needs no program (Kubernetes 1.30 and later)"
	if len(problems) != 1 || problems[0].Severity != manifest.Warning || !strings.HasSuffix(problems[0].String(), want) || problems[0].Line == 0 {
		t.Errorf("problems %v", problems)
	}
}
