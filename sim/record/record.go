package record

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/story"
	"github.com/lameduck-proxy/lameduck/sim/timeline"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// DrawnCases is of how many cases the worst run is drawn where timelines are asked for.
const DrawnCases = 12

// Simulation is what became of all cases of an input.
type Simulation struct {
	Version string // of lameduck
	Seed    uint64 // the first one
	Runs    int    // of each case, or of the one with the most, where nobody said how many
	// Digest names the scenarios that were run.
	Digest string
	Cases  []Case // in order of the input
	// Fixes are changes to the manifests that were tried, by workload, the best first; NoHelp
	// are those that changed nothing.
	Fixes  []Fix
	NoHelp []NoHelp
	// LeftOut are objects of the input that are no part of what was run.
	LeftOut []LeftOut
	// Nowhere are Services of the input that lead to nothing which it has.
	Nowhere []LeftOut
	// Misspelled are fields of the input that are most likely others, misspelled.
	Misspelled []Misspelled
	// Unserved are workloads of the input whose pods no Service selects: nothing is said of them.
	Unserved []LeftOut
	// Interrupted says that not all runs were done.
	Interrupted bool
	// Replay is the command that shows a case again without --seed and --show, "" when unknown.
	Replay string
	// Wording is for what a reader can set.
	Wording scenario.Wording
}

// LeftOut is an object of the input that the API server refuses: no cluster has it, and nothing is said of it.
type LeftOut struct {
	Kind, Name string // "Deployment", "shop/web"
	Why        string // "spec.selector: does not match ..."
	// HostPorts are ports of nodes over which a workload without a Service may have clients: "8125, 8126", "" for none.
	HostPorts string
	// SetLater is the label that makes the difference where a Service leads to nothing unless somebody labels pods that run, "" elsewhere.
	SetLater string
	// Source is "file:line:column" of what is refused; File and Line are parts of it.
	Source, File string
	Line         int
}

// Misspelled is a field that no object of its kind has, and that is nearly one that it has: kubectl apply refuses it, and the API server does
// nothing with it.
type Misspelled struct {
	Object string // "Deployment shop/web"
	Field  string // "spec.template.spec.containers[0].readynessProbe"
	Meant  string // "readinessProbe"
	// Source is "file:line:column" of it; File and Line are parts of it.
	Source, File string
	Line         int
}

// Case is one action on one workload seen through one traffic entry, over all of its runs.
type Case struct {
	ID, Action, Workload, Traffic, Kind, Class string
	// Source is "file:line:column" of what the case is about, "" when it has none.
	Source  string
	Verdict Verdict
	Reason  string // of not-judged, and of a verdict that could as well be another: "on the border between drops and rare"
	// Headline says that what becomes of it is of interest to the workload's users.
	Headline bool
	// Users is how near the case's requests are to users. A headline with UsersEntry that is not judged is where users enter:
	// what is reported of other cases is behind it.
	Users scenario.Users

	Clients []Client // one per stream of requests
	Nodes   []string // the names of Request.Node and Group.Nodes
	Runs    []Run    // in order of their seeds

	// Expectation is what the Scenario claims, nil when nothing; Unmet says what of it did not
	// come true.
	Expectation *world.Expect
	Unmet       []string

	// What the verdict takes for granted, and what it leaves out.
	Assumptions []world.Assumption
	NotModelled []world.NotModelled

	// What follows is computed by Close.
	LostSeconds   Range    // per run: of the client that loses most; where none loses in most runs, of whichever does
	LongestOutage Range    // per run: of the client with the longest; where none has one in most runs, of whichever has
	RequestsLost  Range    // per run: of all clients
	Cuts          Range    // per run: connections that ended with their server or were cut by a load balancer, of clients whose requests share one
	Usable        Usable   // of the run with the fewest, and of those with the longest time
	Dark          *Dark    // of a case that is run though it is not judged, else nil
	Gaps          []Gaps   // of the StatefulSets whose pods went
	WithLoss      int      // runs
	Bound         Fraction // with 95 % confidence at most that part of runs lose anything; 0 when some did
	WorstSeed     uint64
	Causes        []Cause // most requests first

	// Alternatives are the other values of assumptions that were tried, in the order of
	// Assumptions. They never change the verdict: what is assumed is better founded than they are. Central is the verdict, too.
	Alternatives []Alternative
	Central      Verdict
	// TriedWith is the ID of the case that Alternatives are of, where its world is the same but for names and other values were
	// tried with it alone; "" where they are the case's own.
	TriedWith string

	// Families are the load balancers that it might be, where the input does not say which one it is: each is judged by
	// itself, with the same care. The Case's own runs, figures and causes are then those of the family that loses most.
	Families []Family
	// Recreates says that the workload ends all of its pods before it makes new ones: a restart that is none of pod by pod.
	Recreates bool
	// Sudden says that pods end with their machine in what is done: no hook runs and no grace period counts, so that other changes help.
	Sudden bool
	// Unevictable says why none of the workload's pods can be evicted even when all are well, "" where one can.
	Unevictable string
	// Silence is how long a kubelet may be silent before the control plane takes its node for one that is gone.
	Silence engine.Time
	// Before says what fails without the action, too. It is never part of what the action loses.
	Before []Before
	// Stuck says why what was begun cannot end, in more than 5 % of the runs; nil when it ends in more.
	Stuck *Stuck
	// Drain is what is on the nodes of a drain, of a case of kind scenario.KindNode; else nil.
	Drain *scenario.DrainPlan
	// Kept is how a run of a case that holds went; nil for other cases.
	Kept *Kept
	// Timeline is the worst run as lanes; nil where it was not asked for.
	Timeline *timeline.Timeline
}

// Kept is a run in which nothing was lost.
type Kept struct {
	Seed  uint64
	Story []story.Line
	// Fallback is how long, in all, some node sent the case's connections to pods that were terminating, because none was
	// ready in scope (KEP-1669). Without is what is lost without that, seconds of traffic in the same run.
	Fallback, Without engine.Time
}

// Family is a case behind one of the load balancers that it might be.
type Family struct {
	Preset string // its preset, such as "aws-nlb-ip"
	Name   string // for people, such as "AWS NLB, ip targets"
	Case   Case
	// Fix is what helps there, nil when nothing was found.
	Fix *Fix
}

// InsideClients is the ID, in Case.NotModelled, of clients that a case is not about because another way in was judged.
const InsideClients = world.InsideClients

// Foremost says whether what is left out under an ID, in Case.NotModelled, belongs to the first lines of a report.
func Foremost(id string) bool { return world.Foremost(id) }

// OtherProxy says that the nodes of a case have another service proxy than kube-proxy, which stands in for it.
func (c *Case) OtherProxy() bool {
	return slices.ContainsFunc(c.NotModelled, func(n world.NotModelled) bool { return n.ID == world.OtherProxy })
}

// StandIn is the ID, in Case.NotModelled, of a load balancer or proxy that is not simulated, and for which another one stands in.
const StandIn = world.StandIn

// Unfollowed is the ID, in Case.NotModelled, of an annotation of a load balancer that is not followed.
const Unfollowed = world.Unfollowed

// Promotion is the ID, in Case.NotModelled, of an operator that labels pods while they run.
const Promotion = world.Promotion

// NoDrain is the ID, in Case.NotModelled, of the drain that is no case of a DaemonSet.
const NoDrain = world.NoDrain

// Capacity is the ID, in Case.NotModelled, of how fast the pods that are left are taken to be.
const Capacity = world.Capacity

// DrainFlags is the ID, in Case.NotModelled, of what kubectl drain has to be told, and is taken to be.
const DrainFlags = world.DrainFlags

// Before is something that fails before anything is done, and goes on failing.
type Before struct {
	// What says it in a sentence: "node-3 never answers: no pod of web is there and externalTrafficPolicy is Local".
	What   string
	Client string   // of Case.Clients
	Lost   Fraction // of that client's requests
}

// Stuck is a rollout or a drain that cannot go on.
type Stuck struct {
	Workload string // "ns/name"; of a drain that of a pod which is refused
	Drain    bool   // it is a drain
	// Why says what it waits for, and What would let it go on.
	Why, What string
	// TakenToListen is after how long the server is taken to listen, such as "15 s", where nothing goes on because of that assumption; "" otherwise.
	TakenToListen string
	File          string // of the field behind it, "" when there is none
	Line          int
}

// Alternative is a case with one assumption at another value, on the first seeds of the case.
type Alternative struct {
	ID          string // of the assumption
	Value       string
	Verdict     Verdict
	LostSeconds Range
	ForGood     bool     // its outage does not end: LostSeconds are what a run of some length loses
	Lasting     Fraction // as of Case.Lasting
	Effect      Effect
	Runs        int   // how many were tried
	WithLoss    int   // of these
	Shift       int64 // by how many per cent more is lost in all of them than in as many of the case
	// Client is one whose loss in the median run is Was on the seeds that were tried, and clearly another one, Is, with this value, where that of the
	// case is not; of several the one that it changes most, "" for none.
	Client  string
	Was, Is int64
	Stuck   *Stuck // what it waits for that does not end with this value alone; nil where it ends, or does not as assumed either
}

// Effect is what another value of an assumption changes.
type Effect string

// The effects, from none on.
const (
	NoEffect      Effect = "none"
	SizeEffect    Effect = "size"    // more or less is lost
	VerdictEffect Effect = "verdict" // it is lost or not
)

// Client is one stream of requests of a case.
type Client struct {
	Name     string
	Rate     int    // requests a second in 1/1000, 0 for a closed loop
	External bool   // it asks from outside of the cluster
	Shared   string // the name of its Service, where that leads to pods of other workloads, too; else ""
	Connects bool   // it opens a connection to a pod for each request
	Pool     int    // connections that it keeps to a server that serves as many requests at once as there are, 0 for others
	BacksOff bool   // after a refusal it waits before it connects again, up to two minutes, as gRPC does, and sessions are taken to
}

// Run is what became of one seed.
type Run struct {
	Seed      uint64
	TraceHash string
	Events    uint64 // how many the run had
	Settled   bool
	Unrest    string // what had not settled, "" when all had
	End       engine.Time
	CutOff    bool     // it ended because its time was over, and not because nothing happened any more
	Streams   []Stream // in order of Case.Clients
	Groups    []ledger.Group
	Usable    Usable // of the workload that had the fewest of what it should have
	Dark      DarkRun
	Gaps      []SetGaps // of the StatefulSets whose pods went
	// Out is what of an expected order of events did not happen, "" when all did.
	Out string
	// Without is the same seed without the action, for as long: what fails there is not the action's doing, and was taken out of
	// Streams and Groups (Pair). In order of Case.Clients; nil when it was not run, as when nothing failed with the action.
	// WithoutGroups are its failures.
	Without       []Stream
	WithoutGroups []ledger.Group
	Stuck         *Stuck // nil when the rollout came to its end
	// Drained are the nodes that a drain was through with, in order, Blocked is what of it cannot end.
	Drained []Drained
	Blocked []Stuck
	// Overruled are the nodes whose pods were deleted in the end, although a budget refused their evictions.
	Overruled []Overruled
}

// Overruled is a node whose pods somebody deleted who had waited for a budget for long enough.
type Overruled struct {
	Workload, Node string
	By             string      // "GKE"
	Why            string      // of the first refusal
	Limit          engine.Time // how long it has asked
	Left           bool        // the pods have what is left of their grace periods; else none
	File           string      // where the budget says it, "" for nowhere
	Line           int
}

// Drained is a node that kubectl drain was through with.
type Drained struct {
	Node         string
	Began, Ended engine.Time
	Why          string // it was given up for that, "" when it is empty
}

// Stream is what became of one stream of requests in one run: what the action did to it, where it is known what fails without.
type Stream struct {
	ledger.Totals
	// Before counts the requests that failed and would have without the action. They are not among Failed:
	// OK, Failed and Before add up to Total.
	Before                     uint64
	Outcomes                   [ledger.NumOutcomes]uint64
	LostSeconds, LongestOutage engine.Time
	LongestWait                engine.Time // in which no server took a request within a second; none where the run without the action has such a time
	Cuts                       uint64      // connections that ended with their server or were cut by a load balancer: of clients whose requests share one
	// DarkSeconds is how long a client was without a server, the mean over the clients, and LongestDark
	// the longest that one was at a time: of clients whose requests share one connection. A session's
	// LostSeconds are never less than DarkSeconds.
	DarkSeconds, LongestDark engine.Time
	// SlowSeconds are requests answered more than a second later than they would have been, and
	// RescuedSeconds those that succeeded after a failed attempt, as seconds of this traffic.
	SlowSeconds, RescuedSeconds engine.Time
}

// Totals adds up all streams.
func (r *Run) Totals() ledger.Totals { return r.Sum().Totals }

// Sum adds up the requests of all streams.
func (r *Run) Sum() *Stream {
	var sum Stream
	for i := range r.Streams {
		sum.add(&r.Streams[i])
	}
	return &sum
}

// Cuts adds up all streams.
func (r *Run) Cuts() uint64 {
	var sum uint64
	for i := range r.Streams {
		sum += r.Streams[i].Cuts
	}
	return sum
}

// LostSeconds is that of the client that lost most.
func (r *Run) LostSeconds() engine.Time {
	var most engine.Time
	for i := range r.Streams {
		most = max(most, r.Streams[i].LostSeconds)
	}
	return most
}

// LongestOutage is the longest of any client.
func (r *Run) LongestOutage() engine.Time {
	var most engine.Time
	for i := range r.Streams {
		most = max(most, r.Streams[i].LongestOutage)
	}
	return most
}

// Range is the least, the middle and the greatest value over runs: nanoseconds or requests.
// The middle of an even number of runs is the lower of the two.
type Range struct {
	Min, Median, Max int64
}

// Fraction is a part of one, in millionths.
type Fraction int64

// Cause is lost requests of a case that are alike but for what the client saw.
type Cause struct {
	ledger.Blame
	Count       uint64
	Outcomes    [ledger.NumOutcomes]uint64
	First, Last engine.Time // arrivals, from each run's start
	Nodes, Pods []string    // sorted
	Example     Example     // the first of them in the worst run, or in the first run that has one
	// Story is that of Example, nil when it was not told; Culprit is the line of the manifests
	// behind the cause, with an empty Event when there is none.
	Story   []story.Line
	Culprit story.Culprit
}

// Example is one failed request of one run.
type Example struct {
	Seed    uint64
	Request ledger.Request
}

// Usable says how many pods of a workload could serve.
type Usable struct {
	Of  int         // replicas at the start
	Min int         // the fewest at any moment
	For engine.Time // how long there were only Min, in all
	Now int         // at the end of the run
	// Staying is how few were ready and not about to go, at any moment.
	Staying int
}

// Lists says that something of an object is among what is not modelled of a case.
func (c *Case) Lists(id, object string) bool {
	for i := range c.NotModelled {
		if n := &c.NotModelled[i]; n.ID == id && n.Object == object {
			return true
		}
	}
	return false
}

// Verdict is what is claimed of a case.
type Verdict string

// The verdicts, worst first.
const (
	Outage    Verdict = "outage"     // in most runs at least a second in which no new request could succeed
	Stalled   Verdict = "stuck"      // a rollout, or another change of a workload, that was begun and cannot end in more than 5 % of the runs
	Blocked   Verdict = "blocked"    // a drain of which that is so, for a disruption budget or something else
	Drops     Verdict = "drops"      // loses as assumed
	Depends   Verdict = "depends"    // on an assumption of which no value is better founded than another: the load balancer
	Rare      Verdict = "rare"       // loses something, or cannot end, in at most 5 % of the runs, and less than 0.1 s in each
	Holds     Verdict = "holds"      // lost nothing in any run
	NotJudged Verdict = "not-judged" // with a reason
)

// Endless says that what was begun cannot end.
func (v Verdict) Endless() bool { return v == Stalled || v == Blocked }

// Rank orders verdicts, the worst first.
func (v Verdict) Rank() int {
	switch v {
	case Outage:
		return 0
	case Stalled:
		return 1
	case Blocked:
		return 2
	case Drops:
		return 3
	case Depends:
		return 4
	case Rare:
		return 5
	case Holds:
		return 6
	default:
		return 7
	}
}
