package sweep

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// casesWith is the case of one workload, without those that are not judged.
func casesWith(t *testing.T, text string, opts scenario.Options) []scenario.Case {
	t.Helper()
	objects, problems := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
	opts.Actions = []string{"rollout"}
	cases, more := scenario.Infer(objects, opts)
	if manifest.HasErrors(problems) || manifest.HasErrors(more) {
		t.Fatalf("%v %v", problems, more)
	}
	cases = slices.DeleteFunc(cases, func(c scenario.Case) bool { return c.Verdict != "" })
	if len(cases) != 1 {
		t.Fatalf("%d cases", len(cases))
	}
	return cases
}

const pod = "        ports: [{containerPort: 8080}]\n"

// What a rollout waits for in vain in some of the runs is its verdict, and a way out is one with which it ends in all of many, not one with
// which it ends in a few by other random numbers.
func TestWhatIsStuckInSomeRunsGetsAWayOut(t *testing.T) {
	t.Parallel()
	const (
		http    = "{httpGet: {path: /, port: 8080}, "
		killing = "        readinessProbe: " + http + "initialDelaySeconds: 20}\n        livenessProbe: " + http + "initialDelaySeconds: 10, periodSeconds: 5, failureThreshold: 2}"
	)
	text := strings.TrimPrefix(strings.Replace(web, readiness, killing, 1), "\n")
	s := swept(t, casesWith(t, text, scenario.Options{Nodes: 3, Set: []string{"start=18s"}}), Options{Runs: 60, Fixes: 1, ConfirmRuns: 60})
	c := &s.Cases[0]
	if n := c.StuckRuns(); c.Verdict != record.Stalled || n == 0 || 2*n > len(c.Runs) || c.Stuck == nil {
		t.Fatalf("%s, stuck in %d of %d", c.Verdict, n, len(c.Runs))
	}
	if len(s.Fixes) != 1 || !strings.HasPrefix(s.Fixes[0].Title, "startupProbe like the livenessProbe") {
		t.Fatalf("%+v", s.Fixes)
	}
	if x := s.Fixes[0].Cases[0]; x.StuckBefore != c.StuckRuns() || x.Stuck != 0 || x.Confirm.Stuck != 0 {
		t.Errorf("%+v", x)
	}
}

// A rollout that cannot go on gets what lets it, tried and confirmed as other fixes are, with its place and what to paste.
func TestWhatIsStuckGetsAWayOut(t *testing.T) {
	t.Parallel()
	const (
		inPlace  = "maxSurge: 0, maxUnavailable: 1"
		hostPort = "        ports: [{containerPort: 8080, hostPort: 8080}]\n"
		named    = "        readinessProbe: {httpGet: {path: /, port: http}, periodSeconds: 1}"
		cannot   = "        readinessProbe: {exec: {command: [cat /tmp/ready]}, periodSeconds: 1}"
		hasty    = readiness + "\n        startupProbe: {httpGet: {path: /, port: 8080}, periodSeconds: 1, failureThreshold: 1}"
		killing  = readiness + "\n        livenessProbe: {httpGet: {path: /, port: 8080}, periodSeconds: 1, failureThreshold: 1}"
	)
	for name, c := range map[string]struct {
		from, to   string // in the manifest
		nodes      int
		want       []string // beginnings of titles
		edit, yaml string   // of the first: file:line and what to paste, "" for a value that is replaced
		noHelp     string
	}{
		"host ports on as many nodes as pods":       {pod, hostPort, 2, []string{inPlace, "one node more"}, "web.yaml:4", "strategy:|  rollingUpdate:|    maxUnavailable: 1|    maxSurge: 0", ""},
		"host ports on fewer nodes than pods":       {pod, hostPort, 1, []string{inPlace + ", one node more", inPlace + ", replicas: 1"}, "web.yaml:4", "strategy:|  rollingUpdate:|    maxUnavailable: 1|    maxSurge: 0", ""},
		"a probe asks for a port that is not there": {readiness, named, 3, []string{"readinessProbe of web on port 8080"}, "web.yaml:14", "", inPlace},
		"a probe runs what is not there":            {readiness, cannot, 3, []string{"readinessProbe of web on port 8080 in place of a program"}, "web.yaml:14", "readinessProbe:|  tcpSocket: {port: 8080}|  periodSeconds: 1|  failureThreshold: 3", inPlace},
		"killed while it starts":                    {readiness, killing, 3, []string{"startupProbe like the livenessProbe"}, "web.yaml:11", "startupProbe:|  httpGet: {path: \"/\", port: 8080}|  failureThreshold: 30|  periodSeconds: 10", inPlace},
		"a startup probe kills too soon":            {readiness, hasty, 3, []string{"startupProbe.failureThreshold: 30, 30 s in all"}, "web.yaml:15", "", inPlace},
		"a gate that nobody sets":                   {"      containers:", "      readinessGates: [{conditionType: example.org/known}]\n      containers:", 3, []string{"no readinessGates"}, "web.yaml:10", "", inPlace},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.TrimPrefix(strings.Replace(web, c.from, c.to, 1), "\n")
			if text == strings.TrimPrefix(web, "\n") {
				t.Fatal("nothing replaced")
			}
			s := swept(t, casesWith(t, text, scenario.Options{Nodes: c.nodes, Set: []string{"readinessGates=never"}}), Options{Runs: 5, Fixes: 1, ConfirmRuns: 20})
			if s.Cases[0].Verdict != record.Stalled || len(s.Fixes) != len(c.want) {
				t.Fatalf("%s, with %+v", s.Cases[0].Verdict, s.Fixes)
			}
			for i, want := range c.want {
				f := &s.Fixes[i]
				x := f.Cases[0]
				if !strings.HasPrefix(f.Title, want) || x.StuckBefore != 5 || x.Stuck != 0 || x.Confirm.Stuck != 0 || x.Confirm.Runs != 20 {
					t.Errorf("%s: %+v, want %s", f.Title, x, want)
				}
			}
			e := s.Fixes[0].Edits[0]
			if got := strings.Join(e.YAML(), "|"); got != c.yaml || fmt.Sprintf("%s:%d", e.File, e.Line) != c.edit {
				t.Errorf("%s:%d %s", e.File, e.Line, got)
			}
			if c.noHelp != "" && (len(s.NoHelp) == 0 || s.NoHelp[0].Title != c.noHelp) {
				t.Errorf("does not help: %v", s.NoHelp)
			}
		})
	}
}

// In a cluster where pods with a readiness gate are Ready something sets it: that the input does not have it is no reason to call a
// rollout stuck, let alone to take the gate away. What if nothing does is tried.
func TestAGateWhoseControllerIsNotInTheInput(t *testing.T) {
	t.Parallel()
	text := strings.TrimPrefix(strings.Replace(web, "      containers:", "      readinessGates: [{conditionType: example.org/known}]\n      containers:", 1), "\n")
	s := swept(t, casesWith(t, text, scenario.Options{}), Options{Runs: 20, Fixes: 1, ConfirmRuns: 20, Sensitivity: true})
	c := &s.Cases[0]
	if c.Verdict.Endless() || len(s.Fixes) == 0 || strings.Contains(s.Fixes[0].Title, "readinessGates") {
		t.Errorf("%s, with %+v", c.Verdict, s.Fixes)
	}
	if effect, _ := c.EffectOf("keeper"); effect != record.VerdictEffect {
		t.Errorf("%+v", c.Alternatives)
	}
}

// A drain that two budgets of one pod keep from its end is told which of them is to go, and that is tried: the one that lets a pod go stays.
func TestWhichOfTwoBudgetsGoesIsTried(t *testing.T) {
	t.Parallel()
	loose := strings.NewReplacer("name: web", "name: loose", "minAvailable: 2", "maxUnavailable: 1").Replace(budgetText)
	s := swept(t, drainedCases(t, web+budgetText+loose, "drain"), Options{Runs: 5, Fixes: 1, ConfirmRuns: 20})
	if len(s.Fixes) != 1 || !strings.HasPrefix(s.Fixes[0].Title, "delete PodDisruptionBudget web (minAvailable 2)") {
		t.Fatalf("%+v", s.Fixes)
	}
	if x := s.Fixes[0].Cases[0]; x.StuckBefore != 5 || x.Stuck != 0 || x.Confirm.Stuck != 0 || x.Confirm.Runs != 20 {
		t.Errorf("%+v", x)
	}
}

// A change with which a rollout loses nothing for it never ends is no fix.
func TestNoFixLeavesARolloutStuck(t *testing.T) {
	t.Parallel()
	text := strings.Replace(web, pod, "        ports: [{containerPort: 8080, hostPort: 8080}]\n", 1)
	text = strings.Replace(text, "  replicas: 2\n", "  replicas: 2\n  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}\n", 1)
	s := swept(t, casesWith(t, text, scenario.Options{Nodes: 2}), Options{Runs: 5, Fixes: 1, ConfirmRuns: 20})
	if s.Cases[0].WithLoss == 0 || len(s.Fixes) == 0 {
		t.Fatalf("%d runs with loss, %v", s.Cases[0].WithLoss, s.Fixes)
	}
	for _, f := range s.Fixes {
		if strings.Contains(f.Title, "maxUnavailable: 0") {
			t.Errorf("%s", f.Title)
		}
	}
}
