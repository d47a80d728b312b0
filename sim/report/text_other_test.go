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

// What no maker says, and nobody has measured, comes before what a reader can look up, where it doubles or halves what is lost.
func TestUnlessNamesFirstWhatNobodyKnows(t *testing.T) {
	t.Parallel()
	const sec = int64(engine.Second)
	const syn, guess = "a SYN without an answer stays with its target: 5 s lost (no maker says it; --set loadBalancer.repeatedSYN=)", "the load balancer leaves a removed target after 9 s: 3 s lost"
	const serve, connect = "an answer takes 10 s: 8 s lost (--set apps.NAME.serve=)", "a client waits 1 s for a connection: 9 s lost (--connect-timeout)"
	for _, x := range []struct {
		syn, guess int64 // what is lost then
		want       []string
	}{
		{5 * sec, 3 * sec, []string{syn, guess}}, {5 * sec, sec, []string{syn, connect}}, {sec, sec, []string{connect, serve}},
	} {
		c := &record.Case{Workload: "shop/web", Verdict: record.Drops, LostSeconds: record.Range{Min: sec, Median: sec, Max: sec}, Assumptions: []world.Assumption{
			{ID: "serve", Value: "20ms", Settle: "--set apps.NAME.serve="}, {ID: repeatedSYN, Value: "azure-standard: goes where new connections go by then", Settle: "--set loadBalancer.repeatedSYN="},
			{ID: "connect-timeout", Value: "as the whole request", Settle: "--connect-timeout"}, {ID: "lb.propagation", Value: "azure-standard: 2s, " + scenario.Unmeasured},
		}}
		for _, a := range []record.Alternative{
			{ID: "serve", Value: "10s", LostSeconds: record.Range{Median: 8 * sec}}, {ID: "connect-timeout", Value: "1s", LostSeconds: record.Range{Median: 9 * sec}},
			{ID: repeatedSYN, Value: "stays with its target", LostSeconds: record.Range{Median: x.syn}},
			{ID: "lb.propagation", Value: "9s (" + scenario.Unmeasured + ")", LostSeconds: record.Range{Median: x.guess}},
		} {
			if a.Verdict, a.Effect = record.Drops, record.SizeEffect; a.LostSeconds.Median == sec {
				a.Effect = record.NoEffect
			}
			c.Alternatives = append(c.Alternatives, a)
		}
		if got := unless(c); !slices.Equal(got[:2], x.want) {
			t.Errorf("%d and %d: %q, want %q", x.syn, x.guess, got, x.want)
		}
	}
}

// What changes most, many times as much or as little, comes first, and of what changes as much what the Why names; what hardly any app does is
// left out, where nothing is known of it.
func TestUnlessNamesWhatChangesMost(t *testing.T) {
	t.Parallel()
	const sec = int64(engine.Second)
	c := &record.Case{
		Workload: "shop/web", Verdict: record.Drops, LostSeconds: record.Range{Min: sec, Median: sec, Max: sec},
		Causes: []record.Cause{{Blame: ledger.Blame{Cause: ledger.StaleRules, Actor: ledger.ProxyWait}}},
		Assumptions: []world.Assumption{
			{ID: "sigterm", Value: "web: closes-and-finishes (assumed)", Settle: "--profile"}, {ID: "timeout", Value: "10s", Settle: "--timeout"},
			{ID: "start", Value: "2s"}, {ID: "proxy", Value: "kube-proxy 1.36, iptables, minSyncPeriod 1s", Settle: "--env, or more"},
		},
	}
	for _, a := range []struct {
		id, value string
		lost      int64
		effect    record.Effect
	}{
		{"sigterm", "ignores: listener stays", 0, record.VerdictEffect}, {"timeout", "5s", sec / 2, record.SizeEffect}, {"timeout", "none", 28 * sec, record.SizeEffect},
		{"start", "20s", 3 * sec, record.SizeEffect}, {"proxy", "minSyncPeriod 10s", 5 * sec, record.SizeEffect},
	} {
		c.Alternatives = append(c.Alternatives, record.Alternative{ID: a.id, Value: a.value, Verdict: record.Drops, LostSeconds: record.Range{Median: a.lost}, Effect: a.effect})
	}
	want := []string{"a client gives up after 5 s without an answer: 0.5 s lost; without a limit: 28 s lost (--timeout)", "minSyncPeriod is 10 s: 5 s lost (--env)"}
	if got := unless(c); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	c.Alternatives[2].LostSeconds.Median = 5 * sec
	want = []string{want[1], "a client gives up after 5 s without an answer: 0.5 s lost; without a limit: 5 s lost (--timeout)"}
	if got := unless(c); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	c.Assumptions[0].Value, c.Assumptions[0].Basis = "web: npm-start (inferred from its command npm start)", "inferred"
	want = []string{"web ignores SIGTERM: nothing lost (assumed: it does at SIGTERM what the profile npm-start says; --profile)", want[0]}
	if got := unless(c); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	c.Assumptions[0].Value, c.Assumptions[0].Basis = "web: closes-and-finishes (assumed)", "assumed"
	c.Alternatives[0].Value = "exits-at-once: listener closes"
	c.Alternatives = c.Alternatives[:1]
	want = []string{"web exits at once at SIGTERM: nothing lost (assumed: it closes its port at SIGTERM and finishes; --profile)"}
	if got := unless(c); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// What is only reported of a load balancer is said to be, with what settles it, where the Why blames it, after two that change more.
func TestUnlessSaysWhatIsOnlyReportedAsAThird(t *testing.T) {
	t.Parallel()
	const sec = int64(engine.Second)
	c := &record.Case{
		Workload: "shop/web", Verdict: record.Outage, LostSeconds: record.Range{Min: 8 * sec, Median: 8 * sec, Max: 8 * sec},
		Causes:      []record.Cause{{Blame: ledger.Blame{Cause: ledger.StaleLB, Actor: ledger.LBPropagation}}},
		Assumptions: []world.Assumption{{ID: "lb.healthPropagation", Value: "aws-nlb-instance: 30-40s, reported 30-40s", Settle: "--set loadBalancer.healthPropagation="}},
		Alternatives: []record.Alternative{
			{ID: "nodes", Value: "2", Verdict: record.Holds, Effect: record.VerdictEffect},
			{ID: "timeout", Value: "none", Verdict: record.Drops, LostSeconds: record.Range{Median: sec / 8}, Effect: record.SizeEffect},
			{ID: "connect-timeout", Value: "1s", Verdict: record.Outage, LostSeconds: record.Range{Median: 19 * sec}, Effect: record.SizeEffect},
			{ID: "lb.healthPropagation", Value: "30s (reported 30-40s)", Verdict: record.Drops, LostSeconds: record.Range{Median: 2 * sec}, Effect: record.SizeEffect},
		},
	}
	const want = "the load balancer follows its health checks after 30 s: 2 s lost (reported: 30-40s; --set loadBalancer.healthPropagation=)"
	if got := unless(c); len(got) != 3 || got[2] != want {
		t.Errorf("%q", got)
	}
	c.Causes[0].Actor = ledger.ProxyWait
	if got := unless(c); slices.Contains(got, want) {
		t.Errorf("%q", got)
	}
}

// Which load balancer it is, where it was concluded, comes before figures that change more, and has a line more where there are two before it.
func TestUnlessSaysWhichLoadBalancerItMightBe(t *testing.T) {
	t.Parallel()
	const sec = int64(engine.Second)
	c := &record.Case{Workload: "shop/web", Verdict: record.Drops, LostSeconds: record.Range{Min: sec, Median: sec, Max: sec}, Assumptions: []world.Assumption{
		{ID: "lb", What: "load balancer", Value: "aws-nlb-instance (status hostname)", Basis: "inferred", Settle: "--lb"},
	}}
	for _, a := range []struct {
		id, value string
		lost      int64
		effect    record.Effect
	}{
		{"serve", "10s", 12 * sec, record.SizeEffect}, {"lb", "aws-nlb-ip", 4 * sec, record.SizeEffect},
		{"start", "500ms", 0, record.VerdictEffect}, {"nodes", "2", 0, record.VerdictEffect}, {"proxy", "minSyncPeriod 10s", 5 * sec, record.SizeEffect},
	} {
		c.Alternatives = append(c.Alternatives, record.Alternative{ID: a.id, Value: a.value, Verdict: record.Drops, LostSeconds: record.Range{Median: a.lost}, Effect: a.effect})
	}
	for i := 2; i < 4; i++ {
		c.Alternatives[i].Verdict = record.Holds
	}
	want := []string{"containers listen after 500 ms: nothing lost", "the number of nodes is 2: nothing lost", "load balancer is aws-nlb-ip: 4 s lost (--lb)"}
	if got := unless(c); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// How long a hook takes, which its author knows, is told first where it decides, and also of a case that depends on the load balancer.
func TestUnlessBeginsWithTheUnknownHook(t *testing.T) {
	t.Parallel()
	const sec = int64(engine.Second)
	lost := func(n int64) record.Range { return record.Range{Min: n * sec, Median: n * sec, Max: n * sec} }
	c := &record.Case{
		Workload: "shop/web", Verdict: record.Depends, Central: record.Drops, LostSeconds: lost(3),
		Families:    []record.Family{{Name: "one"}, {Name: "other"}},
		Assumptions: []world.Assumption{{ID: "prestop", Value: "web: 0s-5s (httpGet /drain)", Settle: "--set prestop.NAME="}, {ID: "start", Value: "2s", Settle: "--set start="}},
		Alternatives: []record.Alternative{
			{ID: "start", Value: "20s", Verdict: record.Drops, LostSeconds: lost(20), Effect: record.SizeEffect},
			{ID: "prestop", Value: "30s", Verdict: record.Holds, Effect: record.VerdictEffect},
		},
	}
	want := []string{"the httpGet of the preStop hook takes 30 s: nothing lost (--set prestop.web=)", "containers listen after 20 s: 20 s lost (--set start=)"}
	if got := unless(c); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	c.Alternatives[1] = record.Alternative{ID: "prestop", Value: "30s", Verdict: record.Drops, LostSeconds: lost(1), Effect: record.SizeEffect} // decides nothing
	if got := unless(c); len(got) != 2 || !strings.HasPrefix(got[1], "the httpGet of the preStop hook") {
		t.Errorf("%q", got)
	}
}

// A loss that a flag allows says which one it is.
func TestWhatIsAllowedSaysByWhat(t *testing.T) {
	t.Parallel()
	c := &example().Cases[1]
	for _, tt := range []struct {
		limits record.Limits
		want   string
	}{
		{record.Limits{}, ""}, {record.Limits{MaxLost: 5 * engine.Second}, "--max-lost 5s"}, {record.Limits{MaxLost: engine.Millisecond}, ""},
		{record.Limits{FailOn: record.Outage}, "--fail-on outage"},
	} {
		if got := allowed(c, tt.limits, flags()); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.limits, got, tt.want)
		}
	}
}

// A case that fails all the same is named: the exit code is about that one.
func TestWhatIsAllowedNamesWhatIsNot(t *testing.T) {
	t.Parallel()
	s := example()
	c := s.Cases[1]
	c.ID, c.Workload, c.LostSeconds, c.Headline = "shop/queue/rollout/queue:80", "shop/queue", record.Range{Max: 1}, false
	c.Runs = slices.Clone(c.Runs)
	c.Verdict = record.Outage
	s.Cases = append(s.Cases, c)
	got := flow(compose(s, TextOptions{Limits: record.Limits{FailOn: record.Outage}}))
	if !strings.Contains(got, "Allowed by --fail-on outage; not so shop/queue: rolling restart, outside :80, which is outage.") {
		t.Error(got)
	}
}

// A workload of strategy Recreate is not restarted pod by pod.
func TestARecreateIsARestart(t *testing.T) {
	t.Parallel()
	s := example()
	s.Cases[1].Recreates = true
	if text := flow(compose(s, TextOptions{})); !strings.Contains(text, "shop/web loses 0.98 s of traffic in every restart.") || !strings.Contains(text, " RESTART IN shop OF") {
		t.Error(text)
	}
	c := &s.Cases[0] // holds
	c.Recreates = true
	if got := sentence(c, scenario.Wording{}); !strings.Contains(got, " in 2 of 2 restarts (") {
		t.Error(got)
	}
}

// A database whose only pod is replaced may come back empty, whatever its clients are taken for.
func TestADatabaseMayComeBackEmpty(t *testing.T) {
	t.Parallel()
	s := example()
	c := &s.Cases[1]
	c.Usable.Of, c.Class = 1, "inside"
	const said = "does not have the data that the old one kept"
	if text := compose(s, TextOptions{}); strings.Contains(flow(text), said) {
		t.Error(text)
	}
	c.Assumptions = append(c.Assumptions, world.Assumption{ID: "sigterm", Value: "search: database (inferred from its image elasticsearch:8)", Basis: "inferred"})
	if text := compose(s, TextOptions{}); !strings.Contains(flow(text), said) {
		t.Error(text)
	}
}

// A number of nodes that was concluded from the input is named where another one changes the verdict, however little room there is for what is assumed.
func TestNodesThatDecideAreNamed(t *testing.T) {
	t.Parallel()
	for effect, want := range map[record.Effect]bool{record.VerdictEffect: true, record.SizeEffect: false, record.NoEffect: false} {
		s := example()
		c := &s.Cases[0]
		c.Assumptions = append(c.Assumptions, world.Assumption{ID: "nodes", What: "nodes", Value: "4: the anti-affinity of web keeps its pods apart", Basis: "inferred"})
		c.Alternatives = append(c.Alternatives, record.Alternative{ID: "nodes", Value: "3, one per pod", Effect: effect, Verdict: record.Holds})
		w := newText(s, TextOptions{}, everything)
		w.taken([]*record.Case{c}, nil)
		if got := strings.Contains(flow(w.String()), "nodes: 4: the anti-affinity of web keeps its pods apart"); got != want {
			t.Errorf("%s: %v\n%s", effect, got, w.String())
		}
		w = newText(s, TextOptions{}, everything)
		w.taken([]*record.Case{c}, []string{"nodes"})
		if strings.Contains(w.String(), "anti-affinity") {
			t.Error("it has been said")
		}
	}
}

// Clients that a case is not about are named, without a direction in which reality differs.
func TestClientsInsideAreNotJudged(t *testing.T) {
	t.Parallel()
	s := example()
	s.Cases[1].NotModelled = []world.NotModelled{{ID: world.InsideClients, What: "clients inside the cluster", Direction: "unknown"}}
	if text := compose(s, TextOptions{}); !strings.Contains(text, "\n  Not judged: clients inside the cluster.\n") {
		t.Error(text)
	}
}

// Where there is little room, several things that are not judged are named without more.
func TestWhatIsNotJudgedInFewWords(t *testing.T) {
	t.Parallel()
	inside := NotModelled{ID: record.InsideClients, What: "clients inside the cluster, who ask the Service and not its load balancer"}
	drain := NotModelled{ID: record.NoDrain, What: "a node drain: kubectl drain leaves the pods of a DaemonSet where they are"}
	another := inside
	another.What = "clients inside the cluster, who ask the Service and not its Ingress"
	for _, c := range []struct {
		brief bool
		list  []NotModelled
		want  string
	}{
		{true, []NotModelled{inside, drain, another}, "Not judged: clients inside the cluster; a node drain."},
		{true, []NotModelled{inside}, "Not judged: " + inside.What + "."},
		{false, []NotModelled{inside, drain}, "Not judged: " + inside.What + "; " + drain.What + "."},
	} {
		w := newText(&record.Simulation{}, TextOptions{}, room{brief: c.brief})
		w.notModelled(c.list)
		if got := strings.TrimSpace(flow(w.String())); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// A flag and its value are pasted from one line.
func TestAFlagAndItsValueStayTogether(t *testing.T) {
	t.Parallel()
	w := newText(&record.Simulation{}, TextOptions{Width: 40}, everything)
	w.command("Again: ", "lameduck sim -f web.yaml --show shop/web/rollout/web:80 --seed 1 --runs 1")
	for _, line := range strings.Split(w.String(), "\n") {
		line = strings.TrimSuffix(line, " \\")
		if last := line[strings.LastIndexByte(line, ' ')+1:]; strings.HasPrefix(last, "-") || strings.Contains(line, joint) {
			t.Errorf("%q ends with a flag", line)
		}
	}
}

// The only pod's successor has none of its data; workloads that one change helps are named with their places.
func TestDataAndPlacesAreTold(t *testing.T) {
	t.Parallel()
	s := example()
	sessions(s)
	s.Cases[1].Usable.Of = 1
	s.Fixes[0].Others = []string{"shop/api"}
	s.Cases[0].Source = "api.yaml:7:3"
	text := flow(compose(s, TextOptions{}))
	for _, want := range []string{"a new pod does not have the data that the old one kept in its memory", "The same helps 1 more workload: shop/api (api.yaml:7)."} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// The whole digest of an image says no more than its beginning.
func TestADigestIsShort(t *testing.T) {
	t.Parallel()
	const digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	got := inWords("sigterm", "", "web: nginx (inferred from its image nginx:1.29@sha256:"+digest+"); api: nginx (inferred from its image nginx@sha256:abc)")
	if want := "profile at SIGTERM: web: nginx (by its image nginx:1.29@sha256:0123456789ab); api: nginx (by its image nginx@sha256:abc)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// What fails for two kinds of clients for one reason is one line: that of the clients who lose most by it.
func TestWhatFailsBeforeOnOtherNodesIsOneLine(t *testing.T) {
	t.Parallel()
	c := &record.Case{Before: []record.Before{
		{What: "2 nodes never answer: no pod of web is there", Client: "keep-alive", Lost: 2000},
		{What: "node-3 and node-4 never answer: no pod of web is there", Client: "new connections", Lost: 500_000},
		{What: "pods of web crash", Client: "keep-alive"},
	}}
	want := []string{"before anything happens: node-3 and node-4 never answer: no pod of web is there (50 % of requests, no part of what is lost)", "before anything happens: pods of web crash"}
	if got := befores(c); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Where no pod was ready from the beginning, nobody speaks of an old pod and a new one.
func TestAServiceWithoutPodsLosesNoOldPod(t *testing.T) {
	t.Parallel()
	c := &example().Cases[1]
	c.Causes = []record.Cause{{Blame: ledger.Blame{Cause: ledger.NoEndpoint}}}
	some := &text{sim: &record.Simulation{}}
	if got := some.whys(c)[0]; !strings.HasPrefix(got, "for a time no pod is ready, old or new") {
		t.Errorf("%q", got)
	}
	for i := range c.Runs {
		st := &c.Runs[i].Streams[0]
		c.Runs[i].Streams, st.Failed, st.OK = c.Runs[i].Streams[:1], st.Total, 0
	}
	if got := some.whys(c)[0]; !strings.HasPrefix(got, "no pod is ready behind the Service, at any time") {
		t.Errorf("%q", got)
	}
}

// A pod on a node that crashed counts as there until it has tolerated that: what is lost waits for it.
func TestAPodOnASilentNodeIsGivenUpLate(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		action, kind string
		cause        ledger.Cause
		want         bool
	}{
		{"node crash", "Deployment", ledger.NoEndpoint, true},
		{"node drain", "Deployment", ledger.NoEndpoint, false},
		{"node crash", "StatefulSet", ledger.NoEndpoint, false},
		{"node crash", "Deployment", ledger.NodeGone, false},
	} {
		c := &example().Cases[1]
		c.Action, c.Kind, c.Causes = of.action, of.kind, []record.Cause{{Blame: ledger.Blame{Cause: of.cause}}}
		some := &text{sim: &record.Simulation{}}
		if got := some.whys(c)[0]; strings.Contains(got, "tolerationSeconds") != of.want {
			t.Errorf("%+v: %q", of, got)
		}
	}
}

// What cannot end either way is no other verdict: nothing hangs on it, and what it loses until somebody acts is told beside it.
func TestWhatCannotEndEitherWayIsNoOtherVerdict(t *testing.T) {
	t.Parallel()
	late := record.Alternative{ID: "proxy", Value: "minSyncPeriod 10s", Verdict: record.Stalled, LostSeconds: record.Range{Median: int64(5 * engine.Second)}, Effect: record.SizeEffect}
	c := &record.Case{Workload: "shop/web", Verdict: record.Stalled, Alternatives: []record.Alternative{late}}
	if got := unless(c); got != nil {
		t.Errorf("%q", got)
	}
	if got := resultWords(c, &late); got != "stuck, 5 s lost" {
		t.Errorf("%q", got)
	}
}

// The field behind a pod that finds no node is why, and not where a node is written.
func TestANodeMoreIsNoFieldOfTheWorkload(t *testing.T) {
	t.Parallel()
	for what, want := range map[string]string{
		"one node more": "one node more (for what :10 asks)", "2 nodes more": "2 nodes more (for what :10 asks)",
		"a node with cpu 2 left": "a node with cpu 2 left (for what :10 asks)", "no readinessGates": "no readinessGates (:10)",
	} {
		c := record.Case{Kind: "Deployment", Workload: "shop/web", Source: "web.yaml:1", Verdict: record.Stalled, Stuck: &record.Stuck{What: what, File: "web.yaml", Line: 10}}
		x := text{sim: &record.Simulation{Cases: []record.Case{c}}}
		if got := strings.Join(x.todo(&c), "; "); strings.ReplaceAll(got, "web.yaml", "") != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Of a figure that is only reported of a load balancer the range counts, also where what was assumed is in the middle of it.
func TestUnlessSaysWhatIsOnlyReported(t *testing.T) {
	t.Parallel()
	const sec = int64(engine.Second)
	c := &record.Case{Workload: "shop/web", Verdict: record.Outage, LostSeconds: record.Range{Median: 44 * sec}}
	for _, a := range []struct {
		id, value string
		lost      int64
		effect    record.Effect
	}{
		{"lb.registration", "5s (reported)", 35, record.SizeEffect}, {"lb.registration", "40s (reported)", 68, record.SizeEffect},
		{"lb.propagation", "5s (reported)", 32, record.SizeEffect}, {"lb.propagation", "40s (reported)", 44, record.NoEffect},
		{"start", "5s", 35, record.SizeEffect}, {"start", "40s", 68, record.SizeEffect},
	} {
		c.Alternatives = append(c.Alternatives, record.Alternative{ID: a.id, Value: a.value, Verdict: record.Outage, LostSeconds: record.Range{Median: a.lost * sec}, Effect: a.effect})
	}
	want := []string{"the load balancer checks a new target after 5 s: 35 s lost; 40 s: 68 s lost"}
	if got := unless(c); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// There are more assumptions where some are listed.
func TestAssumptionsAreMoreWhereSomeAreListed(t *testing.T) {
	t.Parallel()
	for others, want := range map[bool]string{true: "  4 more assumptions change what is lost, 2 make no difference (-v lists them).", false: "  4 assumptions change what is lost, 2 make no difference (-v lists them)."} {
		x := newText(&record.Simulation{}, TextOptions{}, everything)
		x.counts(4, 2, 0, others, true)
		if got := strings.TrimRight(x.String(), "\n"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Another value of an assumption is a clause of its own; one without words of its own has those of the assumption, or its name.
func TestAConditionIsAClause(t *testing.T) {
	t.Parallel()
	c := &record.Case{Workload: "shop/web", Assumptions: []world.Assumption{{ID: "other", What: "something else"}, {ID: "more", What: "something more"}}}
	for want, a := range map[string]record.Alternative{ // order: each by itself
		"nodes first pull the image, for 20 s":                      {ID: "image", Value: "pull 20s"},
		"minSyncPeriod is 10 s":                                     {ID: "proxy", Value: "minSyncPeriod 10s"},
		"2 of its pods are on node-1":                               {ID: "places", Value: "2 on node-1"},
		"the program of the preStop hook is not there in the image": {ID: "prestop-program", Value: "not there"},
		"web exits at once at SIGTERM":                              {ID: "sigterm", Value: "exits-at-once"},
		"web closes its port at SIGTERM and finishes":               {ID: "sigterm", Value: "closes-and-finishes"},
		"web ignores SIGTERM":                                       {ID: "sigterm", Value: "ignores"},
		"web does at SIGTERM what the profile java says":            {ID: "sigterm", Value: "java"},
		"containers listen after 20 s":                              {ID: "start", Value: "20s"},
		"a client waits without a limit for an answer":              {ID: "timeout", Value: "none"},
		"something else is 7":                                       {ID: "other", Value: "7"},
		"something more is 7":                                       {ID: "more", Value: "7"},
		"unknown is 7":                                              {ID: "unknown", Value: "7"},
	} {
		if got := condition(c, &a); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for workload, want := range map[string]string{"": "the app", "shop/web": "web", "shop/web, shop/api": "each app"} { // order: each by itself
		if got := appOf(&record.Case{Workload: workload}); got != want {
			t.Errorf("%q: %q, want %q", workload, got, want)
		}
	}
}

// What pods have to be fast enough for is told by how few of them stay in the case in which most are missing; where none is, or all are, there is
// nothing to be told.
func TestHowManyPodsGetAllConnections(t *testing.T) {
	t.Parallel()
	of := func(object string, staying, of int) record.Case {
		return record.Case{Verdict: record.Holds, Usable: record.Usable{Of: of, Staying: staying}, NotModelled: []world.NotModelled{{ID: world.Capacity, What: "pods are fast enough", Object: object}}}
	}
	for name, c := range map[string]struct {
		cases []record.Case
		want  string
	}{
		"the fewest, by their part":   {[]record.Case{of("web", 8, 10), of("web", 5, 10), of("web", 6, 11), of("db", 1, 3)}, "pods are fast enough: at the worst moment 5 of 10 pods get all new connections"},
		"of another workload":         {[]record.Case{of("db", 1, 3), of("web", 10, 10)}, "pods are fast enough"},
		"something is lost":           {[]record.Case{of("web", 1, 3), {Verdict: record.Drops, NotModelled: of("web", 1, 3).NotModelled}}, "pods are fast enough"},
		"none is missing":             {[]record.Case{of("web", 3, 3)}, "pods are fast enough"},
		"all are":                     {[]record.Case{of("web", 0, 1)}, "pods are fast enough"},
		"more by number, less of all": {[]record.Case{of("web", 2, 8), of("web", 1, 3)}, "pods are fast enough: at the worst moment 2 of 8 pods get all new connections"},
	} {
		out := newText(&record.Simulation{Cases: c.cases}, TextOptions{}, everything)
		out.notModelled([]NotModelled{{ID: world.Capacity, What: "pods are fast enough", Object: "web", Direction: "more"}})
		if got, want := strings.TrimSpace(flow(out.String())), "Not modelled: "+c.want+" (reality loses more)."; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
