package scenario

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// lifecycle.stopSignal has no effect while its gate is off, and whoever wrote it is told so.
// Reference: pod-lifecycle.md 2.3.
func TestAStopSignalIsDroppedByKubernetes(t *testing.T) {
	t.Parallel()
	with := strings.Replace(altWeb, "lifecycle: {preStop: {exec: {command: [/bin/drain]}}}", "lifecycle: {stopSignal: SIGQUIT}", 1)
	objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(with)}}, manifest.Options{})
	cases, problems := Infer(objects, Options{})
	if len(problems) != 1 || problems[0].Severity != manifest.Warning || problems[0].Line == 0 ||
		!strings.Contains(problems[0].String(), "lifecycle.stopSignal: Kubernetes drops it without the feature gate ContainerStopSignals") {
		t.Errorf("problems %v", problems)
	}
	if app := cases[0].Scenario.Workloads[0].App; app.Profile != UnknownProfile || app.IgnoresSIGTERM {
		t.Errorf("the app is taken to be %+v", app)
	}
	// Nothing is said of a container without one.
	objects, _ = manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(altWeb)}}, manifest.Options{})
	if _, problems = Infer(objects, Options{}); len(problems) > 0 {
		t.Errorf("problems %v", problems)
	}
}
