package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/edit"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Fields that are most likely misspelled come before all else, each with its line; many are counted, unless everything is asked for.
func TestMisspelledFieldsComeFirst(t *testing.T) {
	t.Parallel()
	many := func(n int) (list []record.Misspelled) {
		for i := range n {
			list = append(list, record.Misspelled{Field: fmt.Sprintf("spec.template.spec.containers[0].probe%d", i), Meant: "readinessProbe", File: "web.yaml", Line: 10 + i})
		}
		return list
	}
	const rest = ". kubectl apply refuses such fields, and the API server ignores them: spell them right first. What follows is of the manifest without them."
	for name, tt := range map[string]struct {
		n    int
		opts TextOptions
		want string
	}{
		"none": {0, TextOptions{}, ""},
		"two":  {2, TextOptions{}, "MISSPELLED by the looks of it: probe0 (web.yaml:10) for readinessProbe, probe1 (:11) for readinessProbe" + rest},
		"five": {5, TextOptions{}, "MISSPELLED by the looks of it: probe0 (web.yaml:10) for readinessProbe, probe1 (:11) for readinessProbe, probe2 (:12) for readinessProbe, probe3 (:13) for readinessProbe, " +
			"probe4 (:14) for readinessProbe" + rest},
		"six": {6, TextOptions{}, "MISSPELLED by the looks of it: probe0 (web.yaml:10) for readinessProbe, probe1 (:11) for readinessProbe, probe2 (:12) for readinessProbe, probe3 (:13) for readinessProbe, 2 more" + rest},
		"six, and everything": {6, TextOptions{All: true}, "MISSPELLED by the looks of it: probe0 (web.yaml:10) for readinessProbe, probe1 (:11) for readinessProbe, probe2 (:12) for readinessProbe, " +
			"probe3 (:13) for readinessProbe, probe4 (:14) for readinessProbe, probe5 (:15) for readinessProbe" + rest},
		"of one case": {2, TextOptions{Show: "web"}, ""},
	} {
		out := newText(&record.Simulation{Misspelled: many(tt.n)}, tt.opts, everything)
		out.misspelled()
		if got := strings.Join(strings.Fields(out.String()), " "); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// Another verdict is said where the loss alone does not say it: of an outage that ends.
func TestWhatAnotherValueComesTo(t *testing.T) {
	t.Parallel()
	sec := func(n engine.Time) record.Range { return record.Range{Median: int64(n * engine.Second)} }
	for want, a := range map[string]record.Alternative{
		"outage, 5 s lost":                    {Verdict: record.Outage, LostSeconds: sec(5), Effect: record.VerdictEffect},
		"6 s lost":                            {Verdict: record.Outage, LostSeconds: sec(6), Effect: record.SizeEffect},
		"7 s lost":                            {Verdict: record.Drops, LostSeconds: sec(7), Effect: record.VerdictEffect},
		"no request is answered any more":     {Verdict: record.Outage, LostSeconds: sec(8), ForGood: true, Effect: record.VerdictEffect},
		"nothing lost":                        {Verdict: record.Holds, Effect: record.VerdictEffect},
		string(record.Stalled) + ", 9 s lost": {Verdict: record.Stalled, LostSeconds: sec(9), Effect: record.VerdictEffect},
	} {
		if got := effectWords(&record.Case{}, &a); got != want {
			t.Errorf("%+v: %q, want %q", a, got, want)
		}
	}
}

// Of a case that loses something in few of its runs it is said in how many the other value was tried, and in how many of them something is lost:
// no few runs say that nothing would be, or that it makes no difference.
func TestWhatAnotherValueComesToWhereFewRunsLoseAnything(t *testing.T) {
	t.Parallel()
	few, all, none := &record.Case{Runs: make([]record.Run, 100), WithLoss: 34}, &record.Case{Runs: make([]record.Run, 100), WithLoss: 100}, &record.Case{Runs: make([]record.Run, 100)}
	most := record.Range{Max: int64(2 * engine.Second)}
	for _, x := range []struct {
		c    *record.Case
		a    record.Alternative
		want string
	}{
		{few, record.Alternative{Verdict: record.Holds, Effect: record.VerdictEffect, Runs: 20}, "nothing lost in 20 runs"},
		{few, record.Alternative{Verdict: record.Rare, Effect: record.VerdictEffect, Runs: 100, WithLoss: 1, LostSeconds: most}, "up to 2 s lost in 1 of 100 runs"},
		{few, record.Alternative{Verdict: record.Drops, Effect: record.NoEffect, Runs: 20, WithLoss: 7, LostSeconds: most}, "no clear difference in 20 runs"},
		{all, record.Alternative{Verdict: record.Drops, Effect: record.NoEffect, Runs: 20, WithLoss: 20, LostSeconds: most}, "no difference"},
		{all, record.Alternative{Verdict: record.Drops, Effect: record.NoEffect, Runs: 20, WithLoss: 20, LostSeconds: most, Shift: -60}, "no clear difference in 20 runs"},
		{all, record.Alternative{Verdict: record.Holds, Effect: record.VerdictEffect, Runs: 20}, "nothing lost"},
		{none, record.Alternative{Verdict: record.Holds, Effect: record.NoEffect, Runs: 20}, "no difference"},
		{none, record.Alternative{Verdict: record.Drops, Effect: record.NoEffect, Runs: 100, WithLoss: 1, LostSeconds: most}, "up to 2 s lost in 1 of 100 runs"},
	} {
		if got := effectWords(x.c, &x.a); got != x.want {
			t.Errorf("%+v: %q, want %q", x.a, got, x.want)
		}
	}
}

// Changes that help others are listed as far as there is room; one that is too many is listed, too, for a line that says so is as long.
func TestHowManyChangesForOthersAreListed(t *testing.T) {
	t.Parallel()
	const room = 3
	for n := range 8 {
		s := &record.Simulation{}
		for i := range n {
			s.Fixes = append(s.Fixes, record.Fix{Workload: fmt.Sprintf("shop/w%d", i), Title: fmt.Sprintf("preStop: sleep %d", i)})
		}
		out := newText(s, TextOptions{}, roomForOthers(room))
		out.otherFixes(nil, true)
		listed, left := strings.Count(out.String(), "preStop: "), 0
		if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); strings.Contains(lines[len(lines)-1], "more changes help") {
			_, _ = fmt.Sscan(lines[len(lines)-1], &left) // 0 is an error below
		}
		want := n
		if n > room+1 {
			want = room
		}
		if listed != want || left != n-want {
			t.Errorf("%d changes: %d listed, %d left out, want %d\n%s", n, listed, left, want, out.String())
		}
	}
}

func roomForOthers(n int) room {
	r := everything
	r.others = n
	return r
}

// With the least room what stands in for load balancers of other cases is a number.
func TestStandInsWithoutRoom(t *testing.T) {
	t.Parallel()
	other := func(id, what string) record.Case {
		return record.Case{ID: id, Workload: "shop/web", NotModelled: []world.NotModelled{{ID: record.StandIn, What: what}}}
	}
	sim := &record.Simulation{Cases: []record.Case{{ID: "a"}, other("b", "Kong is not simulated"), other("c", "Traefik is not simulated")}}
	for counted, want := range map[bool]string{ // order: each for itself
		false: "of shop/web: Kong is not simulated|of shop/web: Traefik is not simulated",
		true:  "what is in front in 2 other cases is not simulated: others stand in (-v)",
	} {
		r := everything
		r.counted = counted
		if got := strings.Join(newText(sim, TextOptions{}, r).standIns(&sim.Cases[0]), "|"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Nor is the label of an object that the input does not have.
func TestALabelWithoutRoom(t *testing.T) {
	t.Parallel()
	const key = "example.com/inject"
	e := &edit.Edit{Path: `metadata.labels["` + key + `"]`, To: edit.Value{YAML: "enabled"}, With: edit.Value{YAML: "{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {" + key + ": enabled}}}"}}
	whole := map[bool]string{
		true:  " {apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {" + key + ": enabled}}} ",
		false: " apiVersion: v1 kind: Namespace metadata: name: shop labels: {" + key + ": enabled} ",
	}
	for inBraces, want := range whole { // order: each for itself
		r := everything
		r.inBraces = inBraces
		out := newText(&record.Simulation{}, TextOptions{}, r)
		out.edit(e, "--show web")
		if got := " " + strings.TrimSpace(flow(out.String())) + " "; got != want {
			t.Errorf("in braces %v: %q, want %q", inBraces, got, want)
		}
	}
	r := everything
	r.unpasted = true
	out := newText(&record.Simulation{}, TextOptions{}, r)
	out.edit(e, "--show web")
	if got, want := strings.TrimSpace(flow(out.String())), key+": enabled (--show web has it in full)"; got != want {
		t.Errorf("without any room: %q, want %q", got, want)
	}
	r.counted = true
	out = newText(&record.Simulation{}, TextOptions{}, r)
	out.edit(e, "--show web")
	if got, want := strings.TrimSpace(flow(out.String())), key+": enabled (-v has it in full)"; got != want {
		t.Errorf("with less than that: %q, want %q", got, want)
	}
	if e.Path = "spec.replicas"; e.Key() != "" {
		t.Error(e.Key())
	}
}

// Where there is no room an object that is added stands in braces. A field of one is shown in any case.
func TestAnEditWithoutRoom(t *testing.T) {
	t.Parallel()
	for _, inBraces := range []bool{false, true} {
		for _, path := range []string{"", "spec.minReadySeconds"} {
			r := everything
			r.inBraces = inBraces
			out := newText(&record.Simulation{}, TextOptions{}, r)
			e := &edit.Edit{Path: path, To: edit.ValueOf(5, ""), With: edit.Value{YAML: "{kind: PodDisruptionBudget, spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}}"}}
			if path != "" {
				e.File, e.Line, e.Kind = "web.yaml", 7, "Deployment"
			}
			out.edit(e, "--show web")
			if got, want := strings.Contains(flow(out.String()), "{kind: PodDisruptionBudget, spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}}"), inBraces && path == ""; got != want {
				t.Errorf("in braces %v, %q: %s", inBraces, path, out.String())
			}
		}
	}
}

// The file of an input that has one alone is named once: the other places are lines. A name that is a part of another one is none of it.
func TestTheOnlyFileIsNamedOnce(t *testing.T) {
	t.Parallel()
	sim := &record.Simulation{Cases: []record.Case{{Source: "web.yaml:3:1"}, {Source: "web.yaml:9:1"}}}
	out := newText(sim, TextOptions{}, everything)
	out.Text("", "a (web.yaml:3), b (web.yaml:9), c (my-web.yaml:4), -f web.yaml: no")
	out.Hanging("", 2, "d (web.yaml:12)")
	if got, want := flow(out.String()), "a (web.yaml:3), b (:9), c (my-web.yaml:4), -f web.yaml: no d (:12)"; strings.TrimSpace(got) != want {
		t.Errorf("%q, want %q", got, want)
	}
	sim.Cases[1].Source = "api.yaml:9:1"
	out = newText(sim, TextOptions{}, everything)
	out.Text("", "a (web.yaml:3), b (web.yaml:9)")
	if got, want := strings.TrimSpace(out.String()), "a (web.yaml:3), b (web.yaml:9)"; got != want {
		t.Errorf("of several files: %q, want %q", got, want)
	}
}

// Before anything else a reader hears that no case is about users, and whose traffic it is then.
func TestWhatIsNotUsersTrafficIsSaidFirst(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct { // order: each for itself
		cases []record.Case
		want  string
	}{
		"a webhook":         {[]record.Case{{Class: "webhook", Users: scenario.UsersWebhook, Verdict: record.Drops}}, "the API server, which asks a webhook."},
		"configuration":     {[]record.Case{{Class: "h2", Users: scenario.UsersNone, Verdict: record.Drops}, {Class: "peer", Users: scenario.UsersNone, Verdict: record.Holds}}, "machines: configuration of proxies, admission or the like, by the ports' names; and pods that talk to each other."},
		"users, too":        {[]record.Case{{Class: "webhook", Users: scenario.UsersWebhook, Verdict: record.Drops}, {Class: "inside", Users: scenario.UsersInside, Verdict: record.Holds}}, ""},
		"nothing is judged": {[]record.Case{{Class: "scrape", Users: scenario.UsersNone, Verdict: record.NotJudged}}, ""},
		"a Scenario's own":  {[]record.Case{{Kind: "Scenario", Users: scenario.UsersNone, Verdict: record.Drops}}, ""},
	} {
		out := newText(&record.Simulation{Cases: tt.cases}, TextOptions{}, everything)
		out.entry()
		want := ""
		if tt.want != "" {
			want = "NOT USERS' TRAFFIC no port of the input is one for users. What follows is about " + tt.want
		}
		if got := strings.Join(strings.Fields(out.String()), " "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// A room has no more of anything than the one before it, and less of something.
func TestEachRoomIsSmallerThanTheOneBefore(t *testing.T) {
	t.Parallel()
	figures := func(r room) []int {
		said := []int{r.cases, r.causes, r.story, r.fixes, r.assumed, r.noHelp, r.notes, r.others, r.parts}
		for _, short := range []bool{r.brief, r.terse, r.one, r.inBraces, r.bare, r.unpasted, r.counted} {
			said = append(said, 1-boolOf(short))
		}
		return said
	}
	all := rooms()
	for i, r := range all[1:] {
		before, less := figures(all[i]), false
		for k, n := range figures(r) {
			if n > before[k] {
				t.Errorf("room %d has more than the one before it: %+v after %+v", i+1, r, all[i])
			}
			less = less || n < before[k]
		}
		if !less {
			t.Errorf("room %d is as large as the one before it: %+v", i+1, r)
		}
	}
	for k, n := range figures(all[0]) {
		if n == 0 {
			t.Errorf("the first room has nothing of its figure %d: %+v", k, all[0])
		}
	}
}

func boolOf(b bool) int {
	if b {
		return 1
	}
	return 0
}
