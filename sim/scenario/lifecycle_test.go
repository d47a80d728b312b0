package scenario

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// lifecycle.stopSignal has no effect while its gate is off, and whoever wrote it is told so.
// Reference: docs/model/pod-lifecycle.md 2.3.
func TestAStopSignalIsDroppedByKubernetes(t *testing.T) {
	t.Parallel()
	with := strings.Replace(altWeb, "lifecycle: {preStop: {exec: {command: [/bin/drain]}}}", "lifecycle: {stopSignal: SIGQUIT}", 1)
	objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(with)}}, manifest.Options{})
	cases, problems := inferKept(t, objects, Options{})
	if len(problems) != 1 || problems[0].Severity != manifest.Warning || problems[0].Line == 0 ||
		!strings.Contains(problems[0].String(), "lifecycle.stopSignal: Kubernetes drops it without the feature gate ContainerStopSignals") {
		t.Errorf("problems %v", problems)
	}
	if app := cases[0].Scenario.Workloads[0].App; app.Profile != servers.UnknownProfile || app.IgnoresSIGTERM {
		t.Errorf("the app is taken to be %+v", app)
	}
	// Nothing is said of a container without one.
	objects, _ = manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(altWeb)}}, manifest.Options{})
	if _, problems = inferKept(t, objects, Options{}); len(problems) > 0 {
		t.Errorf("problems %v", problems)
	}
}

// A sleep action must not be longer than the grace period, any other hook may be: it is cut.
// Reference: docs/model/pod-lifecycle.md 2.1 and 2.2.
func TestAHookThatOutlastsTheGracePeriodIsRefusedOrWarnedOf(t *testing.T) {
	t.Parallel()
	const field = "spec.template.spec.containers[0].lifecycle."
	for name, c := range map[string]struct {
		hook, version, meta string
		want                string
	}{
		"a sleep action":                      {"preStop: {sleep: {seconds: 40}}", "", "", "warning " + field + "preStop.sleep.seconds: 40 is more than terminationGracePeriodSeconds, 30"},
		"a sleep action of postStart":         {"postStart: {sleep: {seconds: 31}}", "", "", "warning " + field + "postStart.sleep.seconds: 31 is more than terminationGracePeriodSeconds, 30"},
		"as long as the grace period":         {"preStop: {sleep: {seconds: 30}}", "", "", "warning " + field + "preStop: it takes the whole grace period of 30 s, and the app has 2 s"},
		"shorter by a second":                 {"preStop: {sleep: {seconds: 29}}", "", "", ""},
		"a sleep program":                     {"preStop: {exec: {command: [sleep, '40']}}", "", "", "warning " + field + "preStop: it takes 40s, and the grace period is 30 s: the kubelet cuts it, and the app has 2 s"},
		"a sleep action of a cluster's":       {"preStop: {sleep: {seconds: 40}}", "", ", uid: a-b-c", "warning " + field + "preStop: it takes 40s"},
		"a sleep action before 1.30":          {"preStop: {sleep: {seconds: 40}}", "1.29", "", ""},
		"one of a cluster's, with the gate":   {"preStop: {sleep: {seconds: 40}}", "1.29", ", uid: a-b-c", "warning " + field + "preStop: it takes 40s"},
		"a program of which nothing is known": {"preStop: {exec: {command: [/bin/drain]}}", "", "", ""},
		"one that goes on for ever": {"preStop: {exec: {command: [sleep, infinity]}}", "", "", "warning " + field +
			"preStop: it does not end by itself: the kubelet cuts it after the grace period of 30 s, and the app has 2 s to finish after SIGTERM"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(altWeb, "lifecycle: {preStop: {exec: {command: [/bin/drain]}}}", "lifecycle: {"+c.hook+"}", 1)
			if c.meta != "" {
				text = strings.Replace(text, "metadata: {name: web", "metadata: {name: web"+c.meta, 1)
			}
			objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
			_, problems := inferKept(t, objects, Options{KubernetesVersion: c.version})
			got := ""
			for _, p := range problems {
				if strings.HasSuffix(p.Field, ".sleep") { // that there is none by default
					continue
				}
				if got += p.Severity.String() + " " + p.Field + ": " + p.Message; p.Line == 0 {
					t.Errorf("no position: %v", p)
				}
			}
			if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// The grace period is the pod's own, where it says one.
func TestAHookIsHeldToTheGracePeriodOfItsPod(t *testing.T) {
	t.Parallel()
	for grace, want := range map[string]string{
		"0":  "11 is more than terminationGracePeriodSeconds, 0: the API server refuses it; valid here: 0 to 0, or a longer terminationGracePeriodSeconds",
		"10": "11 is more than terminationGracePeriodSeconds, 10: the API server refuses it; valid here: 0 to 10, or a longer terminationGracePeriodSeconds",
		"11": "it takes the whole grace period of 11 s", "12": "", "60": "",
	} {
		text := strings.Replace(altWeb, "lifecycle: {preStop: {exec: {command: [/bin/drain]}}}", "lifecycle: {preStop: {sleep: {seconds: 11}}}", 1)
		text = strings.Replace(text, "      containers:\n", "      terminationGracePeriodSeconds: "+grace+"\n      containers:\n", 1)
		objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
		_, problems := inferKept(t, objects, Options{})
		if got := ""; len(problems) > 0 {
			got = problems[0].Message
			if want == "" || !strings.HasPrefix(got, want) || len(problems) > 1 && !problems[0].Refused {
				t.Errorf("grace period %s: %v, want %q", grace, problems, want)
			}
		} else if want != "" {
			t.Errorf("grace period %s: nothing is said, want %q", grace, want)
		}
	}
}

// The kubelet gives a hook a second, whatever the pod says. Reference: docs/model/pod-lifecycle.md 2.1 Effective grace.
func TestAHookHasASecondAtLeast(t *testing.T) {
	t.Parallel()
	for hook, want := range map[string]string{
		"[sleep, '20']":  "it takes 20s, and the grace period is 1 s: the kubelet cuts it",
		"[sleep, '1']":   "it takes the whole grace period of 1 s",
		"[sleep, '0.5']": "",
	} {
		text := strings.Replace(altWeb, "exec: {command: [/bin/drain]}", "exec: {command: "+hook+"}", 1)
		text = strings.Replace(text, "      containers:\n", "      terminationGracePeriodSeconds: 0\n      containers:\n", 1)
		objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
		got := ""
		if _, problems := Infer(objects, Options{}); len(problems) > 0 {
			got = problems[0].Message
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", hook, got, want)
		}
	}
	if got := assumedValue(firstOf(t, strings.Replace(altWeb, "      containers:\n", "      terminationGracePeriodSeconds: 0\n      containers:\n", 1)), "prestop"); got !=
		"web: uniform 0s-5s, cut after 1s by the end of the grace period (unknown program /bin/drain)" {
		t.Errorf("of a program nobody knows: %q", got)
	}
}

// Before 1.26 the API server drops what a topology spread constraint says of the nodes that count. Reference: docs/model/controllers.md 5 Node
// inclusion policies.
func TestOldAPIServersDropNodeInclusionPolicies(t *testing.T) {
	t.Parallel()
	text := strings.Replace(altWeb, "      containers:", "      topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: Honor, nodeAffinityPolicy: Ignore}]\n      containers:", 1)
	for minor, dropped := range map[int]bool{24: true, 25: true, 26: false, 36: false} {
		cases, problems := casesIn(t, text, Options{Actions: []string{"drain"}, KubernetesVersion: fmt.Sprintf("1.%d", minor)})
		if len(cases) != 1 {
			t.Fatal(problems)
		}
		c := cases[0].Scenario.Workloads[0].Template().Spec.TopologySpreadConstraints[0]
		var said []string
		for _, p := range problems {
			if strings.Contains(p.Message, "drops it, 1.26 is the first") {
				said = append(said, strings.TrimPrefix(p.Field, "spec.template.spec.topologySpreadConstraints[0]."))
			}
		}
		want := map[bool]string{true: "nodeAffinityPolicy nodeTaintsPolicy"}[dropped] // in this order whenever it is asked
		if (c.NodeTaintsPolicy == nil) != dropped || (c.NodeAffinityPolicy == nil) != dropped || strings.Join(said, " ") != want {
			t.Errorf("1.%d: %+v, warnings of %v, want %s", minor, c, said, want)
		}
	}
}

// A sleep action is no hook in Kubernetes 1.29, whose API server drops it, and refused before. Reference: docs/model/pod-lifecycle.md 2.2.
func TestSleepActionsOfOlderVersions(t *testing.T) {
	t.Parallel()
	text := strings.Replace(altWeb, "lifecycle: {preStop: {exec: {command: [/bin/drain]}}}", "lifecycle: {preStop: {sleep: {seconds: 7}}}", 1)
	live := strings.Replace(text, "metadata: {name: web", "metadata: {name: web, uid: a-b-c", 1)
	for _, c := range []struct {
		text, version         string
		refused, hook, isSaid bool
	}{
		{text, "1.30", false, true, false}, {text, "1.29", false, false, true}, {live, "1.29", false, true, false},
		{text, "1.28", true, false, false}, {text, "1.25", true, false, false},
	} {
		objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(c.text)}}, manifest.Options{})
		cases, problems := inferKept(t, objects, Options{KubernetesVersion: c.version, Actions: []string{"rollout"}})
		refused := slices.ContainsFunc(problems, func(p manifest.Problem) bool {
			return p.Refused && strings.HasSuffix(p.Field, ".preStop.sleep") && p.Line > 0
		})
		if refused != c.refused || refused != (len(cases) == 0) {
			t.Errorf("%s: refused %v, %d cases: %v", c.version, refused, len(cases), problems)
		}
		if len(cases) == 0 {
			continue
		}
		sc := cases[0].Scenario
		if hook := len(sc.Workloads[0].Hooks) > 0; hook != c.hook {
			t.Errorf("%s: a hook: %v", c.version, hook)
		}
		if said := slices.ContainsFunc(sc.NotModelled, func(n world.NotModelled) bool {
			return n.ID == world.Dropped && strings.HasPrefix(n.What, "Kubernetes 1.29 drops the sleep action, for its feature gate PodLifecycleSleepAction is off by default before 1.30: simulated without this hook (web.yaml:")
		}); said != c.isSaid {
			t.Errorf("%s: said %v: %v", c.version, said, sc.NotModelled)
		}
	}
}

// A rollout that cannot make progress in time is called failed, which a pipeline takes for the end: said once, with the line, of the first container
// that is too late for it. Reference: docs/model/controllers.md 2 Progress timeout.
func TestARolloutThatIsCalledFailedIsWarnedOf(t *testing.T) {
	t.Parallel()
	const hook = "lifecycle: {preStop: {exec: {command: [/bin/drain]}}}"
	for name, c := range map[string]struct {
		spec, probe string
		want        bool
	}{
		"as long":            {"progressDeadlineSeconds: 60", "initialDelaySeconds: 60", true},
		"a second longer":    {"progressDeadlineSeconds: 61", "initialDelaySeconds: 60", false},
		"the default":        {"minReadySeconds: 1", "initialDelaySeconds: 599", false},
		"paused":             {"progressDeadlineSeconds: 60, paused: true", "initialDelaySeconds: 60", false},
		"nothing is delayed": {"progressDeadlineSeconds: 1", "periodSeconds: 5", false},
	} {
		text := strings.Replace(altWeb, hook, "readinessProbe: {tcpSocket: {port: 8080}, "+c.probe+"}", 1)
		text = strings.Replace(text, "spec:\n", "spec:\n  "+strings.ReplaceAll(c.spec, ", ", "\n  ")+"\n", 1)
		objects, problems := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
		_, more := inferKept(t, objects, Options{})
		said := ""
		for _, p := range append(problems, more...) {
			if strings.Contains(p.String(), "ProgressDeadlineExceeded") {
				said += p.String()
			}
		}
		want := "web.yaml:6:28: Deployment shop/web: spec.progressDeadlineSeconds: no pod is ready before the 60 s of readinessProbe.initialDelaySeconds"
		if (said != "") != c.want || c.want && !strings.HasPrefix(said, want) {
			t.Errorf("%s: %q", name, said)
		}
	}
}
