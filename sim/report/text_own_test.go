package report

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/edit"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// What to do about a case says what a change does to that case, not to the one that loses most with it; and of which case the figures are, where
// the change was not confirmed for it.
func TestWhatToDoHasTheFiguresOfItsCase(t *testing.T) {
	t.Parallel()
	const sec = int64(engine.Second)
	drain := record.Case{ID: "drain/web:80", Workload: "shop/web", Verdict: record.Outage, Kind: "Deployment", Action: scenario.ActionDrain,
		LostSeconds: record.Range{Min: 34 * sec, Median: 51 * sec, Max: 55 * sec}}
	rollout := record.Case{ID: "rollout/web:80", Workload: "shop/web", Verdict: record.Outage, Kind: "Deployment", Action: scenario.ActionRollout,
		LostSeconds: record.Range{Median: 47 * sec, Max: 50 * sec}}
	fixed := func(c *record.Case, after int64, withLoss int) record.FixedCase {
		return record.FixedCase{ID: c.ID, Action: c.Action, Before: record.Range{Median: c.LostSeconds.Median - sec, Max: c.LostSeconds.Max}, Runs: 20,
			Confirm: record.Confirm{Runs: 200, WithLoss: withLoss, LostSeconds: record.Range{Median: after * sec, Max: 2 * after * sec}}}
	}
	for want, cases := range map[string][]record.FixedCase{
		"24 s lost in place of 51 s (in 200 new node drains at most 48 s)":                                                               {fixed(&rollout, 19, 200), fixed(&drain, 24, 200)},
		"18 s lost in place of 46 s (in 200 new rollouts at most 36 s; rolling restart)":                                                 {fixed(&rollout, 18, 200)},
		"nothing lost in 200 new node drains (at most 1.5 % of node drains lose anything); rolling restart: in 200 new runs at most 6 s": {fixed(&drain, 0, 0), fixed(&rollout, 3, 150)},
	} {
		f := record.Fix{Workload: "shop/web", Title: "periodSeconds: 1", Cases: cases}
		own := []record.FixedCase{}
		own = append(own, cases...)
		s := &record.Simulation{Cases: []record.Case{drain, rollout}, Fixes: []record.Fix{f}}
		x := newText(s, TextOptions{}, everything)
		got := x.confirmedFor(&s.Fixes[0], &s.Cases[0])
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if len(own) == 2 || cases[0].ID == drain.ID {
			if todo := x.todo(&s.Cases[0]); todo[0] != "periodSeconds: 1: "+want {
				t.Errorf("%q", todo)
			}
		}
	}
}

// A field stands on a page once: whoever pastes all that is there has no key twice.
func TestWhatIsToBePastedStandsOnThePageOnce(t *testing.T) {
	t.Parallel()
	hook := func(seconds string) edit.Edit {
		return edit.Edit{File: "web.yaml", Line: 9, Kind: "Deployment", Path: "spec.lifecycle.preStop", At: "spec", To: edit.Value{YAML: "{sleep: {seconds: " + seconds + "}}"}}
	}
	s := &record.Simulation{Cases: []record.Case{{ID: "a", Workload: "shop/web", Source: "web.yaml:1"}}}
	x := newText(s, TextOptions{}, everything)
	for _, e := range []edit.Edit{hook("15"), hook("15"), hook("20")} {
		x.edit(&e, "")
	}
	const want = "web.yaml:9   lifecycle: preStop: sleep: {seconds: 15} :9 preStop as above :9 in place of the above: lifecycle: preStop: sleep: {seconds: 20}"
	if got := strings.Join(strings.Fields(x.String()), " "); got != strings.Join(strings.Fields(want), " ") {
		t.Errorf("%q", got)
	}
}

// What goes into a container that is written in braces is printed in braces, and says between which of a line or what it takes the place of. A container
// that is not the first of its pod begins where another one ends, and is named.
func TestWhereSomethingIsPastedIsSaid(t *testing.T) {
	t.Parallel()
	const pod, sleep = "spec.template.spec", "{sleep: {seconds: 15}}"
	word := strings.Repeat("x", 90) // so long that there is no room beside the place
	long := "{exec: {command: [" + word + "]}}"
	for _, c := range []struct {
		at, path, to, want string
		braces             edit.Braces
	}{
		{pod + ".containers[0]", pod + ".containers[0].lifecycle.preStop", sleep, "web.yaml:9 in the braces of containers[0]: lifecycle: {preStop: {sleep: {seconds: 15}}}", edit.InBraces},
		{pod + ".containers[0].lifecycle", pod + ".containers[0].lifecycle.preStop", sleep, "web.yaml:9 in the braces of lifecycle: preStop: {sleep: {seconds: 15}}", edit.InBraces},
		{pod + ".containers[1].lifecycle.preStop", pod + ".containers[1].lifecycle.preStop", sleep, "web.yaml:9 in place of that preStop: preStop: {sleep: {seconds: 15}}", edit.InBraces},
		{pod, pod + ".terminationGracePeriodSeconds", "60", "web.yaml:9 in the braces of the pod's spec: terminationGracePeriodSeconds: 60", edit.InBraces},
		{"metadata", "metadata.annotations[\"a.io/b\"]", "c", "web.yaml:9 in the braces of metadata: annotations: {a.io/b: c}", edit.InBraces},
		{"metadata.annotations[\"a.io/b\"]", "metadata.annotations[\"a.io/b\"]", "c", "web.yaml:9 a.io/b: c", edit.InBraces},
		{"metadata", "metadata.labels[\"a.io/merge\"]", "c", "web.yaml:9 in the braces of metadata: labels: {a.io/merge: c}", edit.InBraces},
		{"metadata", "metadata.labels[\"a.io/merge\"]", "c", "web.yaml:9 metadata: labels: a.io/merge: c", edit.NoBraces},
		{"", "metadata.labels", "{a: b}", "web.yaml:9 in the braces: metadata: {labels: {a: b}}", edit.InBraces},
		{pod + ".containers[0]", pod + ".containers[0].lifecycle.preStop", sleep, "web.yaml:9 lifecycle: preStop: sleep: {seconds: 15}", edit.NoBraces},
		{pod + ".containers[12]", pod + ".containers[12].lifecycle.preStop", sleep, "web.yaml:9 lifecycle: # of containers[12], which begins here preStop: sleep: {seconds: 15}", edit.NoBraces},
		{pod + ".containers[12].lifecycle", pod + ".containers[12].lifecycle.preStop", sleep, "web.yaml:9 preStop: sleep: {seconds: 15}", edit.NoBraces},
		{pod + ".containers[0].lifecycle.preStop", pod + ".containers[0].lifecycle.preStop", sleep, "web.yaml:9 preStop: # in place of the one here sleep: {seconds: 15}", edit.NoBraces},
		{pod + ".containers[0].lifecycle.preStop", pod + ".containers[0].lifecycle.preStop", long, "web.yaml:9 # in place of the one here preStop: exec: {command: [" + word + "]}", edit.NoBraces},
	} {
		e := edit.Edit{File: "web.yaml", Line: 9, Kind: "Deployment", Path: c.path, At: c.at, Braces: c.braces, To: edit.Value{YAML: c.to}}
		e.Merge = strings.Contains(c.path, "merge")
		x := newText(&record.Simulation{}, TextOptions{}, everything)
		x.edit(&e, "")
		if got := strings.Join(strings.Fields(x.String()), " "); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// A word that has no room beside where it is pasted is below that, and in one piece.
func TestNoWordIsBrokenForWhereItIsPasted(t *testing.T) {
	t.Parallel()
	const path = `metadata.annotations["service.beta.kubernetes.io/aws-load-balancer-connection-draining-enabled"]`
	e := edit.Edit{File: "deploy/overlays/production/web.yaml", Line: 9, Kind: "Service", Path: path, At: "metadata", Braces: edit.InBraces, To: edit.Value{YAML: `"true"`}}
	x := newText(&record.Simulation{}, TextOptions{}, everything)
	x.edit(&e, "")
	if got := x.String(); strings.Count(got, "\n") != 3 || !strings.Contains(got, "service.beta.kubernetes.io/aws-load-balancer-connection-draining-enabled:\n") {
		t.Errorf("%s", got)
	}
}

// What goes into JSON is JSON: in one line, which a break would spoil, with the comma that parts it from what stands there.
func TestWhatIsPastedIntoJSONIsJSON(t *testing.T) {
	t.Parallel()
	const hook, grace = "spec.template.spec.containers[0].lifecycle.preStop", "spec.template.spec.terminationGracePeriodSeconds"
	program := strings.Repeat("sleep 1; ", 12)
	for _, c := range []struct {
		at, to, want string
		braces       edit.Braces
	}{
		{strings.TrimSuffix(hook, ".lifecycle.preStop"), "{sleep: {seconds: 15}}", `
      web.json:9   first in the braces of containers[0]:
          "lifecycle": {"preStop": {"sleep": {"seconds": 15}}},
`, edit.BeforeOther},
		{strings.TrimSuffix(hook, ".preStop"), "{sleep: {seconds: 15}}", `
      web.json:9   first in the braces of lifecycle: "preStop": {"sleep": {"seconds": 15}}
`, edit.InJSON},
		{hook, `{exec: {command: [sh, -c, "` + program + `"]}}`, `
      web.json:9   in place of that preStop:
          "preStop": {"exec": {"command": ["sh", "-c", "` + program + `"]}}
`, edit.InJSON},
		{grace, "60", `
      web.json:9   "terminationGracePeriodSeconds": 60 instead of 30
`, edit.InJSON},
	} {
		e := edit.Edit{File: "web.json", Line: 9, Kind: "Deployment", Path: hook, At: c.at, Braces: c.braces, To: edit.Value{YAML: c.to}}
		if c.at == grace {
			e.Path, e.From.YAML = grace, "30"
		}
		x := newText(&record.Simulation{}, TextOptions{}, everything)
		x.edit(&e, "")
		if got := "\n" + x.String(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// A hook whose program is not in the image gets the kubelet's action, and what is enough is one, too: a shorter sleep of a program that is not
// there is none.
func TestWhatIsEnoughOfAnActionIsAnAction(t *testing.T) {
	t.Parallel()
	for action, want := range map[bool]string{true: "as assumed, a sleep action of 2 s is enough", false: "as assumed, sleep 2 is enough"} {
		if got := enough(&record.Fix{Least: "2 s", Action: action}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Who asks shortly before a pod is there waits, and is answered: the time in which nobody could answer is the longer one, and the head says that.
func TestTheTimeWithoutAPodIsTheHeadline(t *testing.T) {
	t.Parallel()
	c := &record.Case{Verdict: record.Outage, Kind: "Deployment", Action: scenario.ActionShutdown, Workload: "shop/web", WithLoss: 1,
		LongestOutage: record.Range{Median: 348 * int64(engine.Second)}, LostSeconds: record.Range{Median: 348 * int64(engine.Second)},
		Runs: []record.Run{{Settled: true, Usable: record.Usable{Of: 1, Now: 1, For: 366 * engine.Second}}}}
	const want = " has no pod that answers for 6.1 min in 1 of 1 node shutdown: it loses 5.8 min of traffic, and who asks near the end of that waits."
	if got := sentence(c, scenario.Wording{}); got != want {
		t.Errorf("%q", got)
	}
	c.Runs[0].Usable.For = 349 * engine.Second
	if got := sentence(c, scenario.Wording{}); !strings.HasPrefix(got, " answers no request for 5.8 min in 1 of 1 node shutdown") {
		t.Errorf("%q", got)
	}
}
