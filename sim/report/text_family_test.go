package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// The headline of a case with an unknown load balancer gives the range over all that it might be, and
// says what that depends on, also where the verdict is the same with each.
func TestTheHeadlineSaysWhatDependsOnTheLoadBalancer(t *testing.T) {
	t.Parallel()
	const s = engine.Second
	for _, x := range []struct {
		verdict        record.Verdict
		dark, most     engine.Time // the longest outage with the one and with the other
		lost, mostLost engine.Time
		want           string
	}{
		{record.Depends, 2 * s, 9 * s, 2 * s, 9 * s, ": 2 s to 9 s without an answer in every rolling restart, by load balancer."},
		{record.Outage, 2 * s, 2 * s, 2 * s, 2 * s, ": 2 s without an answer in every rolling restart, whichever load balancer it is."},
		{record.Outage, 2 * s, 9 * s, 2 * s, 9 * s, ": 2 s to 9 s without an answer in every rolling restart; how long depends on the load balancer."},
		{record.Drops, 0, 0, 0, 3 * s, " loses up to 3 s of traffic in a rolling restart; how much depends on the load balancer."},
	} {
		of := func(dark, lost engine.Time) record.Family {
			r := func(at engine.Time) record.Range {
				return record.Range{Min: int64(at), Median: int64(at), Max: int64(at)}
			}
			return record.Family{Case: record.Case{Verdict: x.verdict, LongestOutage: r(dark), LostSeconds: r(lost)}}
		}
		c := record.Case{
			Verdict: x.verdict, WithLoss: 2, Runs: make([]record.Run, 2), Action: "rolling restart",
			Families: []record.Family{of(x.dark, x.lost), of(x.most, x.mostLost)},
		}
		if got := familySentence(&c, scenario.Wording{}); got != x.want {
			t.Errorf("%s, %v to %v: %q, want %q", x.verdict, x.dark, x.most, got, x.want)
		}
	}
}

// Where the median loses nothing behind any load balancer, and some runs do, the headline does not say that nothing was lost.
func TestTheHeadlineOfRunsThatLoseNowAndThen(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		first, second int
		want          string
	}{
		{1, 0, " loses up to 2 s of traffic in 1 of 4 rolling restarts, whichever load balancer it is."},
		{1, 2, " loses up to 3 s of traffic in 2 of 4 rolling restarts, whichever load balancer it is."},
		{0, 0, " lost nothing in 4 of 4 rolling restarts, whichever load balancer it is."},
	} {
		of := func(n int) record.Family {
			f := record.Family{Case: record.Case{Verdict: record.Drops, WithLoss: n}}
			if n > 0 {
				f.Case.LostSeconds.Max = int64(n+1) * int64(engine.Second)
			}
			return f
		}
		c := record.Case{Verdict: record.Drops, Runs: make([]record.Run, 4), Action: "rolling restart", Families: []record.Family{of(x.first), of(x.second)}}
		if got := familySentence(&c, scenario.Wording{}); got != x.want {
			t.Errorf("%d and %d: %q, want %q", x.first, x.second, got, x.want)
		}
	}
}

// Nobody has to say which load balancer it is where nothing is lost with any.
func TestWhatHoldsWithEachLoadBalancerAsksForNone(t *testing.T) {
	t.Parallel()
	text := newText(&record.Simulation{}, TextOptions{}, everything)
	c := &record.Case{Verdict: record.Depends, Families: []record.Family{{Preset: "gke-l4"}, {Preset: "aws-nlb-ip"}}}
	if got := text.todo(c)[0]; !strings.HasPrefix(got, "say which of these it is") {
		t.Error(got)
	}
	for value, want := range map[string]string{ // order: each for itself
		"inferred gke-l7-neg (annotation kubernetes.io/ingress.class: gce)": "say which of these it is, for all that is said of it is annotation kubernetes.io/ingress.class: gce: ",
		"preset gke-l4 (environment gke)":                                   "say which of these it is, for all that is said of it is environment gke: ",
		"assumed gke-l4 (nothing says which one it is)":                     "say which of these it is, for nothing in the input does: ",
		"assumed ingress-nginx (annotations of several controllers: a; b)":  "say which of these it is, for there are annotations of several controllers: a; b: ",
	} {
		basis, words, _ := strings.Cut(value, " ")
		c.Assumptions = []world.Assumption{{ID: "ingress", Basis: basis, Value: words}}
		if got := text.todo(c)[0]; !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	c.NotModelled = slices.Grow(c.NotModelled, 1)[:1]
	c.NotModelled[0].ID = "stand-in"
	if got := text.todo(c)[0]; !strings.HasPrefix(got, "say which of these it is most like, for yours is not simulated: ") {
		t.Errorf("%q", got)
	}
	c.Verdict = record.Holds
	if got := text.todo(c); len(got) != 1 || got[0] != "nothing" {
		t.Errorf("%q", got)
	}
}

// What helps a workload that is not shown is what helps behind the load balancer that its worst case is told of, and says which that is.
func TestAFoldedChangeIsOfTheLoadBalancerThatIsTold(t *testing.T) {
	t.Parallel()
	run := func(hash string, lost int) []record.Run {
		return []record.Run{{TraceHash: hash, Streams: []record.Stream{{Totals: ledger.Totals{Failed: uint64(lost)}, LostSeconds: engine.Time(lost) * engine.Second}}}}
	}
	family := func(preset, hash string, lost int) record.Family {
		f := record.Family{Preset: preset, Case: record.Case{Runs: run(hash, lost)}}
		f.Case.Close()
		return f
	}
	api := record.Case{Workload: "shop/api", Headline: true, Kind: "Deployment", Runs: run("2", 30), Families: []record.Family{family("envoy-gateway", "1", 1), family("aws-alb-ip", "2", 30)}}
	api.Close()
	api.Verdict = record.Depends
	sim := &record.Simulation{Cases: []record.Case{{Workload: "shop/web", Runs: run("3", 40)}, api}, Fixes: []record.Fix{
		{Workload: "shop/api", Title: "preStop: sleep 5", Families: []string{"envoy-gateway"}},
		{Workload: "shop/api", Title: "preStop: sleep 50", Families: []string{"aws-alb-ip"}},
	}}
	if f := firstFix(sim, "shop/api"); f == nil || f.Title != "preStop: sleep 50" {
		t.Fatalf("%+v", f)
	}
	text := newText(sim, TextOptions{}, everything)
	text.otherFixes([]string{"shop/web"}, true)
	if got := text.String(); !strings.Contains(got, "preStop: sleep 50, behind AWS ALB, ip targets, for 1 more workload") || strings.Contains(got, "sleep 5,") {
		t.Errorf("%s", got)
	}
}

// Of what cannot end it is said that nothing was looked for, too, where nothing was.
func TestWhatHelpsWhatIsStuckWasNotLookedFor(t *testing.T) {
	t.Parallel()
	stuck := record.Case{ID: "x", Workload: "shop/web", Verdict: record.Stalled, Stuck: &record.Stuck{Why: "no port is free"}, Runs: make([]record.Run, 1)}
	c := stuck
	c.Families = []record.Family{{Preset: "metallb-l2", Case: stuck}}
	x := newText(&record.Simulation{}, TextOptions{}, everything)
	if got := x.helpsWith(&c, &c.Families[0]); got != "not looked for" {
		t.Errorf("%q", got)
	}
	x = newText(&record.Simulation{NoHelp: []record.NoHelp{{Workload: "shop/web", Title: "replicas: 3"}}}, TextOptions{}, everything)
	if got := x.helpsWith(&c, &c.Families[0]); got != "nothing that was tried" {
		t.Errorf("%q", got)
	}
}

// Medians that differ by chance alone do not depend on the load balancer: the headline says one figure. Those that differ by more do.
func TestTheHeadlineOfWhatHardlyDiffers(t *testing.T) {
	t.Parallel()
	const s = engine.Second
	family := func(of func(i int) engine.Time) record.Family {
		f := record.Family{}
		for i := range 40 {
			f.Case.Runs = append(f.Case.Runs, record.Run{Streams: []record.Stream{{Totals: ledger.Totals{Failed: 1}, LostSeconds: of(i), LongestOutage: of(i)}}})
		}
		f.Case.Close()
		return f
	}
	two := func(high int) func(i int) engine.Time { // of which so many are high
		return func(i int) engine.Time {
			if i < high {
				return 60 * s
			}
			return 37*s + engine.Time(i)*s/5
		}
	}
	for name, x := range map[string]struct {
		second func(i int) engine.Time
		want   string
	}{
		"two tops":        {two(17), ": 60 s without an answer in every node drain, whichever load balancer it is."},
		"twice as long":   {func(int) engine.Time { return 90 * s }, ": 60 s to 90 s without an answer in every node drain; how long depends on the load balancer."},
		"hardly anything": {func(i int) engine.Time { return two(22)(i) + s/100 }, ": 60 s without an answer in every node drain, whichever load balancer it is."},
	} {
		c := record.Case{Verdict: record.Outage, WithLoss: 40, Runs: make([]record.Run, 40), Action: "node drain", Families: []record.Family{family(two(24)), family(x.second)}}
		if got := familySentence(&c, scenario.Wording{}); got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}

// A time without an answer behind one load balancer, and traffic that is lost behind another, are no range of one figure: both are named.
func TestTheHeadlineOfAnOutageBehindSomeLoadBalancers(t *testing.T) {
	t.Parallel()
	const s = int64(engine.Second)
	family := func(name string, verdict record.Verdict, out, lost, most int64, with int) record.Family {
		return record.Family{Name: name, Case: record.Case{Verdict: verdict, WithLoss: with, LongestOutage: record.Range{Median: out}, LostSeconds: record.Range{Median: lost, Max: most}}}
	}
	long := []record.Family{family("GKE", record.Outage, 6*s, 6*s, 7*s, 10), family("NLB", record.Outage, 132*s, 138*s, 140*s, 10)}
	for want, f := range map[string]record.Family{
		": from 0.2 s of traffic lost (Azure) to 2.2 min without an answer (NLB) in a node drain, by load balancer.":     family("Azure", record.Drops, s/5, s/5, s, 10),
		": from up to 1 s of traffic lost (Azure) to 2.2 min without an answer (NLB) in a node drain, by load balancer.": family("Azure", record.Drops, 0, 0, s, 4),
		": from nothing lost (Azure) to 2.2 min without an answer (NLB) in a node drain, by load balancer.":              family("Azure", record.Holds, 0, 0, 0, 0),
	} {
		f.Case.Usable = record.Usable{Of: 1, For: engine.Time(8 * s)}
		c := record.Case{Verdict: record.Depends, WithLoss: 10, Runs: make([]record.Run, 10), Action: "node drain", Families: append(slices.Clone(long), f)}
		if got := familySentence(&c, scenario.Wording{}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
