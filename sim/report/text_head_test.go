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

// What is said of one of several entrances to a port does not go for the others: the headline names it.
func TestTheHeadlineNamesOneOfSeveralEntrances(t *testing.T) {
	t.Parallel()
	for traffic, want := range map[string]string{ // order: each for itself
		"outside, through Ingress public :80":              " through Ingress public",
		"gRPC, through GRPCRoute r of Gateway inner :80":   " through GRPCRoute r of Gateway inner",
		"outside, through the Service's load balancer :80": " through the Service's load balancer",
		"outside, through an Ingress :80":                  "",
		"gRPC, through a GRPCRoute :80":                    "",
		"outside :80":                                      "",
	} {
		seconds := func(s engine.Time) record.Range { return record.Range{Min: int64(s), Median: int64(s), Max: int64(s)} }
		c := record.Case{Action: "rolling restart", Traffic: traffic, Verdict: record.Outage, WithLoss: 2, Runs: make([]record.Run, 2), LongestOutage: seconds(3 * engine.Second), LostSeconds: seconds(5 * engine.Second)}
		if got := sentence(&c, scenario.Wording{}); got != " answers no request"+want+" for 3 s in every rolling restart, and loses 5 s of traffic." {
			t.Errorf("%q", got)
		}
		c.Verdict = record.Drops
		if got := sentence(&c, scenario.Wording{}); got != " loses 5 s of traffic"+want+" in every rolling restart." {
			t.Errorf("%q", got)
		}
		family := func(name string, x record.Case) record.Family { return record.Family{Name: name, Case: x} }
		c.Families = []record.Family{family("A", c), family("B", c)}
		if got := familySentence(&c, scenario.Wording{}); got != want+": 3 s without an answer in every rolling restart, whichever load balancer it is." {
			t.Errorf("%q", got)
		}
	}
}

// A budget that somebody overrules after a while is named with how long that takes at each node, and how the pods end then.
func TestABudgetThatIsOverruledIsNamed(t *testing.T) {
	t.Parallel()
	of := func(node string, left bool) record.Overruled {
		return record.Overruled{Workload: "shop/web", Node: node, By: "GKE", Why: "PodDisruptionBudget web allows no eviction", Limit: engine.Hour, Left: left, File: "web.yaml", Line: 40}
	}
	for want, runs := range map[string][]record.Run{
		"": {{}, {}},
		"PodDisruptionBudget web allows no eviction. GKE asks for 60 min at each of 2 nodes, then deletes the pods, whatever the budget says, " +
			"with no grace period: a preStop hook has 1 s, and SIGKILL follows SIGTERM after 2 s (web.yaml:40)": {{}, {Overruled: []record.Overruled{of("a", false), of("b", false)}}},
		"PodDisruptionBudget web allows no eviction. GKE asks for 60 min at the node, then deletes the pods, whatever the budget says, " +
			"with what is left of their grace periods (web.yaml:40)": {{Overruled: []record.Overruled{of("a", true)}}},
	} {
		if got := strings.Join((&text{}).overruled(&record.Case{Runs: runs}), "\n"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// The result has each node at which a budget is overruled once, and in how many runs.
func TestResultHasWhatIsOverruled(t *testing.T) {
	t.Parallel()
	of := func(node string, left bool, limit engine.Time) record.Overruled {
		return record.Overruled{Workload: "shop/web", Node: node, By: "AKS", Why: "no", Limit: limit, Left: left, File: "web.yaml", Line: 40}
	}
	got := overruledOf(&record.Case{Runs: []record.Run{
		{}, {Overruled: []record.Overruled{of("b", true, engine.Hour)}}, {Overruled: []record.Overruled{of("a", false, engine.Second), of("b", true, engine.Hour)}},
	}})
	want := []Overruled{
		{"shop/web", "b", "AKS", "no", engine.Hour, true, &Source{"web.yaml", 40}, 2},
		{"shop/web", "a", "AKS", "no", engine.Second, false, &Source{"web.yaml", 40}, 1},
	}
	if !slices.EqualFunc(got, want, func(a, b Overruled) bool {
		same := a.Source != nil && *a.Source == *b.Source
		a.Source, b.Source = nil, nil
		return same && a == b
	}) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if none := overruledOf(&record.Case{Runs: make([]record.Run, 2)}); none == nil || len(none) > 0 {
		t.Errorf("%v is to be an empty list", none)
	}
}

// What else of a workload cannot end is said once, and its reason only where the head has another one.
func TestWhatElseWaitsSaysItsReasonOnce(t *testing.T) {
	t.Parallel()
	const budget = "PodDisruptionBudget web allows no eviction"
	of := func(action, why, what string, drain bool) record.Case {
		return record.Case{Workload: "shop/web", Action: action, Verdict: record.Blocked, Stuck: &record.Stuck{Drain: drain, Why: why, What: what}}
	}
	sim := &record.Simulation{Cases: []record.Case{
		of("node drain", "kubectl drain of node-1 waits for ever: "+budget, "maxUnavailable 1", true),
		of("node drain", "kubectl drain of node-1 waits for ever: "+budget, "maxUnavailable 1", true), // another entry
		of("node scale-down", "Cluster Autoscaler keeps node-1: pod 0 of shop/web: "+budget, "maxUnavailable 1", true),
		of("node scale-down", "Cluster Autoscaler keeps node-1: pod 0 of shop/web: "+budget, "maxUnavailable 1", true),
		of("eviction", "the eviction of pod 0 is refused: "+budget, "a second pod", true),
		of("rolling restart", "the new pod finds no node", "one node more", false),
	}}
	got := (&text{sim: sim}).endless(&sim.Cases[0])
	want := []string{
		"Cluster Autoscaler keeps node-1, for the same reason",
		"the eviction of pod 0 is refused, for the same reason; what would let it: a second pod",
		"a rolling restart never finishes: the new pod finds no node; what would let it: one node more",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// How often a pod was restarted is no other reason: what kills it, and when, is said once.
func TestARestartMoreIsTheSameReason(t *testing.T) {
	t.Parallel()
	of := func(action, times, what string) record.Case {
		return record.Case{Workload: "shop/web", Action: action, Verdict: record.Stalled, Stuck: &record.Stuck{
			Why: "the new pod has been restarted " + times + " times by its livenessProbe and has not stayed ready: it kills what does not listen 0-2 s after its start", What: what,
		}}
	}
	sim := &record.Simulation{Cases: []record.Case{of("node drain", "5", "a startupProbe"), of("rolling restart", "16", "a startupProbe, or kubectl rollout undo")}}
	want := []string{"a rolling restart never finishes, for the same reason; what would let it: a startupProbe, or kubectl rollout undo"}
	if got := (&text{sim: sim}).endless(&sim.Cases[0]); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// Of another app of the input, of a kind that is not simulated, the first lines say so: once for each Service, and not where all cases are listed.
func TestAnotherAppThatIsNotSimulatedIsNamed(t *testing.T) {
	t.Parallel()
	of := func(kind, name string, headline bool) record.Case {
		return record.Case{Kind: kind, Workload: "shop/" + name, Verdict: record.NotJudged, Headline: headline, Reason: "Service " + name + " selects the " + kind + " " + name + ": a kind that is not simulated"}
	}
	sim := &record.Simulation{Wording: flags(), Cases: []record.Case{
		{Kind: "Deployment", Workload: "shop/api", Verdict: record.Drops},
		of("Rollout", "web", true), of("Rollout", "web", true), of("Rollout", "metrics", false), of("Deployment", "db", true), of("CloneSet", "a", true), of("CloneSet", "b", true),
	}}
	const web, a = "Service web selects the Rollout web: a kind that is not simulated", "Service a selects the CloneSet a: a kind that is not simulated"
	for _, c := range []struct {
		opts TextOptions
		want []string
	}{
		{TextOptions{}, []string{web, a, "1 Service more of such kinds (--all)"}},
		{TextOptions{All: true}, nil},
		{TextOptions{Show: "api"}, nil},
	} {
		if got := newText(sim, c.opts, everything).foreign(&sim.Cases[0]); !slices.Equal(got, c.want) {
			t.Errorf("%+v: got %q, want %q", c.opts, got, c.want)
		}
	}
}

// Of Services whose answers nobody waits for the first lines say so, once for each, and not where all cases are listed.
func TestAServiceThatNobodyWaitsForIsNamed(t *testing.T) {
	t.Parallel()
	of := func(name string) record.Case {
		return record.Case{ID: name, Kind: "Deployment", Workload: "shop/" + name, Verdict: record.NotJudged, Reason: scenario.Parked + name + ": why"}
	}
	sim := &record.Simulation{Wording: flags(), Cases: []record.Case{
		{ID: "api", Kind: "Deployment", Workload: "shop/api", Verdict: record.Drops}, of("web"), of("web"), {ID: "db", Verdict: record.NotJudged, Reason: "another reason"}, of("green"),
	}}
	more := *sim
	more.Cases = append(slices.Clone(sim.Cases), of("blue"))
	for _, c := range []struct {
		sim  *record.Simulation
		opts TextOptions
		want []string
	}{
		{sim, TextOptions{}, []string{scenario.Parked + "web: why", scenario.Parked + "green: why"}},
		{&more, TextOptions{}, []string{scenario.Parked + "web: why", scenario.Parked + "green: why", "1 Service more of which nobody waits for an answer now (--all)"}},
		{sim, TextOptions{All: true}, nil},
		{sim, TextOptions{Show: "api"}, nil},
	} {
		if got := newText(c.sim, c.opts, everything).parked(&c.sim.Cases[0]); !slices.Equal(got, c.want) {
			t.Errorf("%+v: got %q, want %q", c.opts, got, c.want)
		}
	}
	if got := newText(sim, TextOptions{}, everything).parked(&sim.Cases[4]); !slices.Equal(got, []string{scenario.Parked + "web: why"}) {
		t.Errorf("of itself: %q", got)
	}
	if got := compose(sim, TextOptions{}); !strings.Contains(flow(got), "Left out "+scenario.Parked+"web: why") {
		t.Errorf("no such line in %s", got)
	}
}

// What waits for a node beside the case that is told says how many nodes are assumed, and with how many it does not.
func TestWhatElseWaitsForANodeSaysThatNodesAreAssumed(t *testing.T) {
	t.Parallel()
	x := homeless(record.Stalled)
	x.Workload, x.Action = "shop/web", "node drain"
	x.Alternatives = []record.Alternative{{ID: "nodes", Value: "6, twice as many as pods", Verdict: record.Drops, Effect: record.VerdictEffect}}
	sim := &record.Simulation{Cases: []record.Case{{Workload: "shop/web", Action: "rolling restart", Verdict: record.Drops}, *x}, Wording: flags()}
	got := newText(sim, TextOptions{}, everything).endless(&sim.Cases[0])
	if want := "; assumed are 3 nodes, for the input has no Node; with 6 it is not stuck (--nodes)"; len(got) != 1 || !strings.HasSuffix(got[0], want) {
		t.Errorf("got %q, want it to end in %q", got, want)
	}
}

// Where clients choose the pod and one of them never comes back, how long the run went on is nothing to say: what does is who waits for what.
func TestAPodThatNeverComesBackIsNotReplacedAfterAWhile(t *testing.T) {
	t.Parallel()
	stuck := &record.Stuck{Why: "web-0 stays Terminating", What: "kubectl delete node node-1"}
	for _, c := range []struct {
		action string
		stuck  *record.Stuck
		most   int64
		want   string
		short  string
	}{
		{scenario.ActionScaleDown, nil, 1, "Who notices: clients that need the pod that goes, for good: none is made in its place; at most 1 of 3 pods at once", "; a pod goes for good, at once 1 of 3"},
		{"", nil, 1, "Who notices: clients that need a pod that stops answering, for 6.3 min until another is ready in its place; at most 1 of 3 pods at once", "; a pod is dark for 6.3 min, at once 1 of 3"},
		{"", stuck, 1, "Who notices: clients that need a pod that stops answering: not every one is replaced; at most 1 of 3 pods at once|Why: web-0 stays Terminating|What to do: kubectl delete node node-1", "; not every pod that goes dark is replaced, at once 1 of 3 are dark"},
		{"", stuck, 0, "Who notices: nobody: no pod stops answering|Why: web-0 stays Terminating|What to do: kubectl delete node node-1", "; no pod is dark"},
	} {
		const long = int64(378 * engine.Second)
		x := &record.Case{Action: c.action, Stuck: c.stuck, Usable: record.Usable{Of: 3}, Dark: &record.Dark{Pods: record.Range{Min: long, Median: long, Max: long}, Most: record.Range{Min: c.most, Median: c.most, Max: c.most}}}
		var got []string
		(&text{sim: &record.Simulation{}, collect: func(label string, paragraphs []string) { got = append(got, label+": "+strings.Join(paragraphs, " ")) }}).dark(x)
		if c.stuck == nil {
			c.want += "|Left out: " + oldAddresses(x)
		}
		if strings.Join(got, "|") != c.want || darkWords(x) != c.short {
			t.Errorf("got  %q, %q\nwant %q, %q", strings.Join(got, "|"), darkWords(x), c.want, c.short)
		}
	}
}

// What is assumed of volumes is most of how long a pod is away that waits for one, and such cases are not tried with other values.
func TestADarkPodThatWaitsForItsVolumeSaysHowLongThatIsTaken(t *testing.T) {
	t.Parallel()
	long := record.Range{Min: 1, Median: int64(25 * engine.Second), Max: int64(32 * engine.Second)}
	x := &record.Case{
		Usable: record.Usable{Of: 1}, Dark: &record.Dark{Pods: long, Most: record.Range{Min: 1, Median: 1, Max: 1}},
		Assumptions: []world.Assumption{{ID: "volume-move", Value: "uniform 10s to 25s", Settle: "--set volumes.move="}},
	}
	got := map[string]string{}
	(&text{sim: &record.Simulation{}, collect: func(label string, paragraphs []string) { got[label] = strings.Join(paragraphs, " ") }}).dark(x)
	const want = "a volume takes 10 s to 25 s to another node, where its pod comes back on one: that is part of these times (--set volumes.move=)"
	if got["Assumed"] != want {
		t.Errorf("%q, want %q", got["Assumed"], want)
	}
}

func TestRatesAreNamed(t *testing.T) {
	t.Parallel()
	for rate, want := range map[int]string{1000: "1 request/s", 500: "0.5 requests/s", 2000: "2 requests/s"} {
		if got := perSecond(rate); got != want {
			t.Errorf("%d: %q, want %q", rate, got, want)
		}
	}
}

// A StatefulSet of one pod is without a pod between two of the same name, whatever else delays its requests: no setting of kube-proxy and no
// hook makes that shorter. With more pods, or without an outage, the first cause is the reason.
func TestAStatefulSetOfOnePodIsItsOwnReason(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		x    record.Case
		want bool
	}{
		"one pod":           {record.Case{Action: scenario.ActionRollout, Kind: "StatefulSet", Usable: record.Usable{Of: 1}, Verdict: record.Outage}, true},
		"a Deployment's":    {record.Case{Action: scenario.ActionRollout, Kind: "Deployment", Usable: record.Usable{Of: 1}, Verdict: record.Outage}, false},
		"three pods":        {record.Case{Action: scenario.ActionRollout, Kind: "StatefulSet", Usable: record.Usable{Of: 3}, Verdict: record.Outage}, false},
		"something is lost": {record.Case{Action: scenario.ActionRollout, Kind: "StatefulSet", Usable: record.Usable{Of: 1}, Verdict: record.Drops}, false},
		"its node is lost":  {record.Case{Action: scenario.ActionCrash, Kind: "StatefulSet", Usable: record.Usable{Of: 1}, Verdict: record.Outage}, false},
		"nothing is blamed": {record.Case{}, false},
	} {
		whys := (&text{sim: &record.Simulation{}}).whys(&c.x)
		if got := len(whys) == 1 && strings.HasPrefix(whys[0], "the only pod has to end before the next one of its name is made"); got != c.want {
			t.Errorf("%s: %q", name, whys)
		}
	}
}

// What sessions lose is the time in which they have no server: that is no number of requests, for most of them wait and are answered.
func TestSessionsAreWithoutAServer(t *testing.T) {
	t.Parallel()
	const sec = engine.Second
	waits := record.Stream{Totals: ledger.Totals{Total: 1000, OK: 999, Failed: 1}, LostSeconds: 2 * sec, DarkSeconds: 2 * sec}
	fails := record.Stream{Totals: ledger.Totals{Total: 1000, OK: 800, Failed: 200}, LostSeconds: 2 * sec, DarkSeconds: sec}
	for _, s := range []*record.Stream{&waits, &fails} {
		s.Outcomes[ledger.Reset] = s.Failed
	}
	for _, x := range []struct {
		of                       record.Stream
		sentence, noticed, units string
	}{
		{
			waits, " leaves sessions without a server for 2 s in every rolling restart.", "2 s without a server; 1 request lost in each run (reset)",
			" Of sessions it is how long one has no server, the mean of all sessions: most requests wait meanwhile and are answered late.",
		},
		{fails, " loses 2 s of traffic in every rolling restart.", "2 s lost (reset)", " 2 s of traffic at 100 requests/s are 200 requests."},
	} {
		c := record.Case{
			Verdict: record.Drops, Action: scenario.ActionRollout, WithLoss: 2, Clients: []record.Client{{Name: "sessions", Rate: 100_000}},
			LostSeconds: record.Range{Min: int64(2 * sec), Median: int64(2 * sec), Max: int64(2 * sec)}, Runs: []record.Run{{Streams: []record.Stream{x.of}}, {Streams: []record.Stream{x.of}}},
		}
		for got, want := range map[string]string{sentence(&c, scenario.Wording{}): x.sentence, clientWords(&c, 0, false): x.noticed, inRequests(&c): x.units} {
			if got != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		}
	}
}

// That nothing is lost while a drain waits is no word about a rollout: the worst that something else loses of the same workload is told.
func TestWhatElseLosesIsToldBesideWhatWaits(t *testing.T) {
	t.Parallel()
	seconds := func(s engine.Time) record.Range { return record.Range{Max: int64(s)} }
	of := func(action, workload string, verdict record.Verdict, with int, most engine.Time) record.Case {
		c := record.Case{ID: action + workload, Action: action, Traffic: "inside :80", Workload: workload, Kind: "Deployment", Headline: true, Verdict: verdict, WithLoss: with, Runs: make([]record.Run, 4), LostSeconds: seconds(most)}
		if verdict.Endless() {
			c.Stuck = &record.Stuck{Why: "kubectl drain of n waits for ever: no", Drain: true}
			for i := range c.Runs {
				c.Runs[i].Stuck = c.Stuck
			}
		}
		return c
	}
	const s = engine.Second
	drain, other := of("node drain", "shop/web", record.Blocked, 0, 0), of("rolling restart", "shop/other", record.Drops, 4, 9*s)
	for name, tt := range map[string]struct { // order: each for itself
		c    record.Case
		more []record.Case
		opts TextOptions
		want string
	}{
		"a rollout that drops":      {drain, []record.Case{other, of("rolling restart", "shop/web", record.Drops, 2, 3*s)}, TextOptions{}, "rolling restart, inside :80: loses up to 3 s of traffic in 2 of 4 rolling restarts"},
		"one that hardly ever does": {drain, []record.Case{of("rolling restart", "shop/web", record.Rare, 1, s/20)}, TextOptions{}, ""},
		"of another workload":       {drain, []record.Case{other}, TextOptions{}, ""},
		"shown alone":               {drain, []record.Case{of("rolling restart", "shop/web", record.Drops, 2, 3*s)}, TextOptions{Show: "x"}, ""},
		"what is lost meanwhile":    {of("node drain", "shop/web", record.Blocked, 1, s), []record.Case{of("rolling restart", "shop/web", record.Drops, 2, 3*s)}, TextOptions{}, ""},
		"a case that only loses":    {of("node drain", "shop/web", record.Drops, 1, s), []record.Case{of("rolling restart", "shop/web", record.Drops, 2, 3*s)}, TextOptions{}, ""},
	} {
		sim := &record.Simulation{Cases: append([]record.Case{tt.c}, tt.more...)}
		if got := strings.Join((&text{sim: sim, opts: tt.opts}).losesToo(&sim.Cases[0]), "|"); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// What holds with stand-ins holds for those.
func TestAHeadlineOfStandInsSaysSo(t *testing.T) {
	t.Parallel()
	const words = " That goes for what stands in here (see Left out), and may not for what there is."
	for id, want := range map[string]bool{record.StandIn: true, world.OtherProxy: true, "capacity": false} { // order: each for itself
		c := record.Case{Action: "rolling restart", Verdict: record.Holds, Runs: make([]record.Run, 2), NotModelled: []world.NotModelled{{ID: id}}}
		if got := sentence(&c, scenario.Wording{}); strings.Contains(got, words) != want {
			t.Errorf("%s: %q", id, got)
		}
		c.Families = []record.Family{{Name: "A", Case: record.Case{Verdict: record.Holds}}, {Name: "B", Case: record.Case{Verdict: record.Holds}}}
		if got := familySentence(&c, scenario.Wording{}); strings.Contains(got, "with each load balancer that stands in for this one") != (id == record.StandIn) {
			t.Errorf("%s: %q", id, got)
		}
	}
}

// What does not finish is the action; of a Scenario, which has several, something of it. In how many runs is said where it is not all of them.
func TestWhatNeverFinishesIsNamed(t *testing.T) {
	t.Parallel()
	stuck := func(of ...bool) (out []record.Run) {
		for _, s := range of {
			r := record.Run{}
			if s {
				r.Stuck = &record.Stuck{What: "one node more"}
			}
			out = append(out, r)
		}
		return out
	}
	for want, c := range map[string]record.Case{ // order: each by itself
		"the rolling restart never finishes":                      {Action: scenario.ActionRollout, Kind: "Deployment", Runs: stuck(true, true)},
		"the rolling restart does not finish in 1 of 2 runs":      {Action: scenario.ActionRollout, Kind: "Deployment", Runs: stuck(true, false)},
		"something that it begins never finishes":                 {Action: scenario.ActionRollout, Kind: "Scenario", Runs: stuck(true)},
		"something that it begins does not finish in 2 of 3 runs": {Action: scenario.ActionRollout, Kind: "Scenario", Runs: stuck(true, false, true)},
	} {
		c.Workload = "shop/web"
		if got := neverFinishes(&c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Requests of all runs are a part of a client's traffic by run; of clients without a rate, and without runs, that says nothing.
func TestRequestsAreSecondsOfAClientsTraffic(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		requests uint64
		rate     int
		runs     int
		want     engine.Time
	}{
		{300, 100_000, 1, 3 * engine.Second}, {300, 100_000, 2, 1500 * engine.Millisecond}, {300, 50_000, 1, 6 * engine.Second}, {0, 100_000, 1, 0}, {300, 0, 1, 0}, {300, 100_000, 0, 0},
	} {
		c := &record.Case{Clients: []record.Client{{}, {Rate: tt.rate}}, Runs: make([]record.Run, tt.runs)}
		if got := meanSeconds(tt.requests, c, 1); got != tt.want {
			t.Errorf("%d requests at %d in %d runs: %v, want %v", tt.requests, tt.rate, tt.runs, got, tt.want)
		}
	}
}

// How clients see what is lost is said from the most frequent on, without what hardly any of them see, and without shares where it is one thing.
func TestHowClientsSeeALoss(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		refused, timeouts uint64
		parts             int
	}{{0, 0, 0}, {10, 0, 1}, {0, 10, 1}, {6, 4, 2}, {99, 1, 1}, {1, 99, 1}} {
		s := &record.Stream{Totals: ledger.Totals{Total: 200, OK: 200 - tt.refused - tt.timeouts, Failed: tt.refused + tt.timeouts}}
		s.Outcomes[ledger.OK], s.Outcomes[ledger.Refused], s.Outcomes[ledger.Timeout] = s.OK, tt.refused, tt.timeouts
		got := outcomeWords(s)
		if parts := len(strings.FieldsFunc(got, func(r rune) bool { return r == ',' })); parts != tt.parts {
			t.Errorf("%d refused, %d without an answer: %q", tt.refused, tt.timeouts, got)
		}
		if first := seenAs(ledger.Refused); tt.refused > tt.timeouts != strings.HasPrefix(got, " ("+first) {
			t.Errorf("%d refused, %d without an answer: %q", tt.refused, tt.timeouts, got)
		}
	}
}

// What every run loses is one figure only where no run loses less than half of it, or more than twice: else the headline says the range.
func TestTheHeadlineOfAWideRange(t *testing.T) {
	t.Parallel()
	const s = int64(engine.Second)
	for want, r := range map[string]record.Range{
		" loses 8 s of traffic in every rolling restart.":               {Min: 4 * s, Median: 8 * s, Max: 16 * s},
		" loses 8 s of traffic in the median rolling restart (3-9 s).":  {Min: 3 * s, Median: 8 * s, Max: 9 * s},
		" loses 0.01 s of traffic in every rolling restart.":            {Min: s / 500, Median: s / 100, Max: s / 20},
		" loses 8 s of traffic in the median rolling restart (7-17 s).": {Min: 7 * s, Median: 8 * s, Max: 17 * s},
	} {
		c := &record.Case{Action: "rolling restart", Kind: "Deployment", Verdict: record.Drops, WithLoss: 5, Runs: make([]record.Run, 5), LostSeconds: r}
		if got := losing(c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Who notices is not said where nobody asks, or nothing was run: nobody got all answers there.
func TestWithoutClientsNobodyNotices(t *testing.T) {
	t.Parallel()
	for _, change := range []func(c *record.Case){func(c *record.Case) { c.Clients = nil }, func(c *record.Case) { c.Runs = nil }} {
		s := example()
		c := &s.Cases[1]
		x := newText(s, TextOptions{}, everything)
		if got := x.noticed(c); len(got) != 1 {
			t.Errorf("%q", got)
		}
		if change(c); x.noticed(c) != nil {
			t.Errorf("%q", x.noticed(c))
		}
	}
}
