package report

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/story"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// What is less than a hundredth of the loss has no row of its own but for those who ask for everything.
func TestSmallCausesShareARow(t *testing.T) {
	t.Parallel()
	c := &record.Case{Runs: []record.Run{{Streams: []record.Stream{{Totals: ledger.Totals{Total: 2000, Failed: 1000}}}}}, Causes: []record.Cause{
		{Blame: ledger.Blame{Cause: ledger.NodeGone}, Count: 986}, {Blame: ledger.Blame{Cause: ledger.StaleRules}, Count: 10},
		{Blame: ledger.Blame{Cause: ledger.Crashed}, Count: 3}, {Blame: ledger.Blame{Cause: ledger.NoEndpoint}, Count: 1},
	}}
	for verbose, want := range map[bool]string{
		false: "99 % the node behind the connection is gone node-gone 1 % a node's rules are out of date stale-rules <1 % 2 more causes, each less than 1 % (-v) ",
		true: "99 % the node behind the connection is gone node-gone 1 % a node's rules are out of date stale-rules <1 % the process crashed crashed " +
			"<1 % no pod is ready, on any node no-endpoint ",
	} {
		text := newText(&record.Simulation{}, TextOptions{Verbose: verbose}, everything)
		text.causes(c)
		if got := flow(text.String()); got != " "+want && got != want {
			t.Errorf("verbose %v: %q, want %q", verbose, got, want)
		}
	}
}

// Where nothing was answered though pods could, both are said so that they agree.
func TestPodsThatNobodyWasLedTo(t *testing.T) {
	t.Parallel()
	const led = ": pods were there all the time, also while nothing was answered"
	for _, tt := range []struct {
		usable record.Usable
		outage engine.Time
		want   string
	}{
		{record.Usable{Of: 3, Min: 2, For: engine.Second}, 0, "At the worst moment 2 of 3 pods could answer, for 1 s in the worst run."},
		{record.Usable{Of: 3, Min: 2, For: engine.Second}, engine.Second, "At the worst moment 2 of 3 pods could answer, for 1 s in the worst run" + led + "."},
		{record.Usable{Of: 3, For: engine.Second}, engine.Second, "At the worst moment 0 of 3 pods could answer, for 1 s in the worst run."},
		{record.Usable{Of: 3, Min: 3, For: engine.Second}, engine.Second, ""},
	} {
		if got := fewestWords(&record.Case{Usable: tt.usable, LongestOutage: record.Range{Median: int64(tt.outage)}}); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.usable, got, tt.want)
		}
	}
}

// The probe that a pod has not passed yet stands beside the line that leaves no other pod.
func TestTheWhyNamesTheProbe(t *testing.T) {
	t.Parallel()
	c := story.Culprit{What: "1 replica", File: "web.yaml", Line: 7, Probe: "readinessProbe of periodSeconds 30", ProbeFile: "web.yaml", ProbeLine: 19}
	const want = ". The manifest has 1 replica (web.yaml:7), and a readinessProbe of periodSeconds 30 (:19)"
	if got := newText(&record.Simulation{}, TextOptions{}, everything).culprit(c); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A cause of the same line as the first one, which has a probe besides, does not say that line again.
func TestALineIsSaidOnceWithAProbeOrWithout(t *testing.T) {
	t.Parallel()
	line := story.Culprit{What: "2 replicas", File: "web.yaml", Line: 7}
	probed := line
	probed.Probe = "readinessProbe of periodSeconds 30"
	other := line
	other.Line = 8
	if !line.Same(probed) || !probed.Same(line) || line.Same(other) {
		t.Error("the same line, and not the next one")
	}
	c := &record.Case{Runs: []record.Run{{Streams: []record.Stream{{Totals: ledger.Totals{Failed: 10}}}}}, Causes: []record.Cause{
		{Blame: ledger.Blame{Cause: ledger.NoEndpoint, Actor: ledger.KubeletProbe}, Count: 7, Culprit: probed}, {Blame: ledger.Blame{Cause: ledger.ListenerClosed}, Count: 3, Culprit: line},
	}}
	text := newText(&record.Simulation{}, TextOptions{}, everything)
	text.causes(c)
	if got := flow(text.String()); strings.Contains(got, "2 replicas") {
		t.Error(got)
	}
}

// An outage in which the load balancer sends to dead targets says why it has no others, where some of its runs come to have none at all.
func TestAnOutageBehindDeadTargetsSaysWhyThereAreNoOthers(t *testing.T) {
	t.Parallel()
	const want = "; nobody else answers, for the load balancer or proxy does not send to its new targets yet (without any target: 16 %)"
	for _, x := range []struct {
		verdict, central record.Verdict
		cause            ledger.Cause
		none             uint64
		want             string
	}{
		{record.Outage, "", ledger.StaleLB, 16, want},
		{record.Depends, record.Outage, ledger.StaleLB, 16, want},
		{record.Drops, "", ledger.StaleLB, 16, ""},
		{record.Outage, "", ledger.StaleRules, 16, ""},
		{record.Outage, "", ledger.StaleLB, 9, ""},
	} {
		c := &record.Case{Verdict: x.verdict, Central: x.central, Runs: []record.Run{{Streams: []record.Stream{{Totals: ledger.Totals{Failed: 100}}}}}, Causes: []record.Cause{
			{Blame: ledger.Blame{Cause: x.cause}, Count: 100 - x.none}, {Blame: ledger.Blame{Cause: ledger.NoHealthyTarget}, Count: x.none},
		}}
		if got := unregistered(c); got != x.want {
			t.Errorf("%+v: %q", x, got)
		}
	}
}

// Where the nodes have another proxy than kube-proxy, what kube-proxy is late by is told as what it would be.
func TestAnotherProxyIsNotBlamedForKubeProxy(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		id    string
		cause ledger.Cause
		want  bool
	}{{world.OtherProxy, ledger.StaleRules, true}, {world.OtherProxy, ledger.ListenerClosed, false}, {world.Headless, ledger.StaleRules, false}} {
		c := &record.Case{NotModelled: []world.NotModelled{{ID: x.id}}, Causes: []record.Cause{{Blame: ledger.Blame{Cause: x.cause}}}}
		if got := insteadOf(c) != ""; got != x.want {
			t.Errorf("%+v: %v", x, got)
		}
	}
}

// What stands in front is called as its users call it; what nobody knows is the load balancer, or the proxy.
func TestWhatStandsInFront(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		assumption, id string
		unknown        bool
		want           string
	}{
		{"ingress", "aws-alb-ip", false, "the AWS ALB"},
		{"ingress", "ingress-nginx", false, "ingress-nginx"},
		{"ingress", "gke-l7-neg", false, "GKE's load balancer"},
		{"ingress", "l7-generic", false, "the proxy"},
		{"lb", "aws-nlb-ip", false, "the AWS NLB"},
		{"lb", "aws-nlb-ip", true, "the load balancer"},
		{"lb", "metallb-l2", false, "MetalLB"},
		{"lb", "of-our-own", false, "the load balancer"},
	} {
		c := record.Case{Assumptions: []world.Assumption{{ID: tt.assumption, Value: tt.id + " (by its annotation)"}}}
		if tt.unknown {
			c.Families = make([]record.Family, 2)
		}
		if got, want := inFront(&c, either+" still sends"), tt.want+" still sends"; got != want {
			t.Errorf("%s %s: %s, want %s", tt.assumption, tt.id, got, want)
		}
	}
}

// More pods are no help where each waits for the volume that the old one has.
func TestAPodThatWaitsForAVolumeIsNotOneOfTooFew(t *testing.T) {
	t.Parallel()
	missing, waits := record.Cause{Blame: ledger.Blame{Cause: ledger.NoEndpoint}, Count: 3}, record.Cause{Blame: ledger.Blame{Cause: ledger.NoEndpoint, Actor: ledger.VolumeAttach}, Count: 1}
	for want, causes := range map[string][]record.Cause{ // order: each for itself
		"only more pods, or a new one before the old one goes, help.":               {missing},
		"and on another node none has its volume before the old one has let it go.": {missing, waits},
	} {
		if got := elsewhereWords(causes, 4, false, false); !strings.HasSuffix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A policy that forbids the pods of other nodes is said where they could have answered.
func TestTheTrafficPolicyForbidsOtherPods(t *testing.T) {
	t.Parallel()
	local := record.Cause{Blame: ledger.Blame{Cause: ledger.NoLocalEndpoint, Elsewhere: true}, Count: 3}
	other := record.Cause{Blame: ledger.Blame{Cause: ledger.StaleRules, Elsewhere: true}, Count: 2}
	if got := elsewhereWords([]record.Cause{local, other}, 5, false, false); !strings.Contains(got, "if the traffic policy were not Local") {
		t.Error(got)
	}
	local.Count = 2
	if got := elsewhereWords([]record.Cause{other, local}, 4, false, false); got != "Each time another ready pod could have answered." {
		t.Error(got)
	}
}

// Requests are counted in one run: how many runs there were says nothing of a workload.
func TestRequestsAreLostInARun(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		lost, runs int
		want       string
	}{
		{389541, 100, "3,895 requests lost in each run"}, {150, 100, "2 requests lost in each run"},
		{100, 100, "1 request lost in each run"}, {99, 100, "99 requests lost in 100 runs"},
	} {
		if got := lostRequests(tt.lost, tt.runs); got != tt.want {
			t.Errorf("%d in %d: %s, want %s", tt.lost, tt.runs, got, tt.want)
		}
	}
}

// A connection that comes to another node is cut by whoever chose that: with MetalLB's layer 2 it is no router.
func TestNoRouterChoosesANodeOfLayer2(t *testing.T) {
	t.Parallel()
	b := ledger.Blame{Cause: ledger.DrainCut, Actor: ledger.Spec}
	const want = "the load balancer cuts open connections: they come to another node than before"
	if got := causeStory(b); got != want || causeName(b) != want {
		t.Errorf("%q, %q", got, causeName(b))
	}
}

// However little room there is, it is told how the pod of a lost request ended: in one line, where it has to be.
func TestAStoryKeepsHowThePodEnded(t *testing.T) {
	t.Parallel()
	const ms = engine.Millisecond
	lines := []toldLine{
		{words: "rolling restart"}, {at: 50 * ms, words: "old pod 0 deleted", kept: true, origin: "old pod 0"}, {at: 60 * ms, words: "preStop of old pod 0 begins"},
		{at: 100 * ms, words: "SIGTERM to old pod 0", file: "web.yaml", line: 7, ends: "old pod 0"}, {at: 100 * ms, words: "old pod 0 accepts no connections any more", ends: "old pod 0"},
		{at: 120 * ms, words: "slice: old pod 0 ready=false"}, {at: 300 * ms, words: "old pod 0 exits", ends: "old pod 0"},
		{at: 400 * ms, words: "THIS REQUEST: timeout", kept: true}, {at: 900 * ms, words: "rules on node-1 lead to old pod 1"},
	}
	if got := shortened(lines, len(lines)); len(got) != len(lines) || got[3].words != lines[3].words {
		t.Errorf("%+v", got)
	}
	got := shortened(lines, 4)
	const want = "SIGTERM to old pod 0; it accepts no connections any more; it exits 0.2 s later"
	if len(got) != 5 || got[2].words != want || got[2].at != 100*ms || got[2].line != 7 || lines[3].words != "SIGTERM to old pod 0" {
		t.Errorf("%+v", got)
	}
}

// A page without room for a table of causes has the first two in words all the same.
func TestWhyHasACauseWithoutATable(t *testing.T) {
	t.Parallel()
	c := &example().Cases[1]
	x := c.Causes[0]
	x.Blame, x.Count = ledger.Blame{Cause: ledger.ListenerClosed}, 20
	c.Causes = append(c.Causes, x)
	page := newText(&record.Simulation{Wording: flags()}, TextOptions{}, room{brief: true, causes: 1})
	page.why(c)
	const want = "WHY rolling restart, outside :80: 100 % a node's rules are out of date: kube-proxy waits for minSyncPeriod (stale-rules); 10 % "
	if got := flow(page.String()); !strings.HasPrefix(got, want) || !strings.Contains(got, "(listener-closed). ") {
		t.Error(got)
	}
}

// A story that was not told, for the runs were interrupted, is left out: the request alone would be told as something it was not.
func TestAStoryThatWasNotToldIsLeftOut(t *testing.T) {
	t.Parallel()
	s := example()
	c := &s.Cases[1]
	c.Causes[0].Example.Seed, s.Interrupted = c.WorstSeed, true
	c.Causes[0].Story = nil
	x := newText(s, TextOptions{}, everything)
	if x.story(c); x.String() != "" {
		t.Errorf("%q", x.String())
	}
}
