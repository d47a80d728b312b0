package report

import (
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/story"
	"github.com/lameduck-proxy/lameduck/sim/timeline"
)

// Result is the JSON contract of sim. Totals are over all runs and cases; times are seconds
// from a run's start, durations are in seconds.
type Result struct {
	APIVersion     string           `json:"apiVersion"`
	Kind           string           `json:"kind"` // "SimulationResult"
	Version        string           `json:"version"`
	Seed           uint64           `json:"seed"`
	ScenarioDigest string           `json:"scenarioDigest"`
	Interrupted    bool             `json:"interrupted"`
	Verdict        WorstVerdict     `json:"verdict"`
	Cases          []Case           `json:"cases"`
	Runs           []Run            `json:"runs"`
	Requests       Requests         `json:"requests"`
	Attempts       Attempts         `json:"attempts"`
	Outcomes       map[string]int64 `json:"outcomes"`
	Causes         []Cause          `json:"causes"`
	Fixes          []Fix            `json:"fixes"`
	NoHelp         []NoHelp         `json:"noHelp"` // changes that were tried and did not help
	Assumptions    []Assumption     `json:"assumptions"`
	NotModelled    []NotModelled    `json:"notModelled"`
	LeftOut        []LeftOut        `json:"leftOut"` // objects that the API server refuses: what they are for is not judged
	Drains         []Drain          `json:"drains"`  // of nodes by their names: what is there, and what becomes of each
}

// WorstVerdict is that of the case which somebody has to act on first: the text begins with it.
type WorstVerdict struct {
	Worst string `json:"worst"`
	Case  string `json:"case"`
}

// Seconds is a range of durations over runs.
type Seconds struct {
	Min    engine.Time `json:"min"`
	Median engine.Time `json:"median"`
	Max    engine.Time `json:"max"`
}

// Counts is a range of numbers over runs.
type Counts struct {
	Min    int64 `json:"min"`
	Median int64 `json:"median"`
	Max    int64 `json:"max"`
}

// RunCounts says in how many runs something was lost.
type RunCounts struct {
	Total    int `json:"total"`
	WithLoss int `json:"withLoss"`
	// LossBound95 is null when something was lost, or nothing was judged.
	LossBound95 *engine.Time `json:"lossBound95"`
}

// Case is one action on one workload seen through one traffic entry.
type Case struct {
	ID                   string  `json:"id"`
	Action               string  `json:"action"`
	Workload             string  `json:"workload"`
	Traffic              string  `json:"traffic"`
	Class                string  `json:"class"`
	Source               string  `json:"source"`
	Verdict              string  `json:"verdict"`
	Reason               string  `json:"reason"`
	LostSeconds          Seconds `json:"lostSeconds"`
	RequestsLost         Counts  `json:"requestsLost"`
	LongestOutageSeconds Seconds `json:"longestOutageSeconds"`
	// WithoutServer says that what is lost is the time in which sessions have no server, the mean of all of them: more than the
	// requests that fail come to, for most wait meanwhile and are answered late.
	WithoutServer bool `json:"withoutServer"`
	// ConnectionsCut counts, by run, connections of clients whose requests share one: those that
	// ended with their server or were cut by a load balancer.
	ConnectionsCut Counts           `json:"connectionsCut"`
	UsablePods     *UsablePods      `json:"usablePods"` // null when no run was done
	Dark           *Dark            `json:"dark"`       // null but for cases that are run though they are not judged
	Gaps           []Gaps           `json:"gaps"`       // of the StatefulSets whose pods went
	Runs           RunCounts        `json:"runs"`
	WorstSeed      uint64           `json:"worstSeed"`
	Requests       Requests         `json:"requests"`
	Outcomes       map[string]int64 `json:"outcomes"`
	Clients        []Client         `json:"clients"`
	Causes         []Cause          `json:"causes"`
	LostRequest    *LostRequest     `json:"lostRequest"` // an example, null when nothing was lost
	Unmet          []string         `json:"unmet"`       // what a Scenario expected and did not get
	Before         []Before         `json:"before"`      // what fails without the action, too
	Stuck          *Stuck           `json:"stuck"`       // null when what was begun came to its end
	Overruled      []Overruled      `json:"overruled"`   // nodes whose pods are deleted in the end, whatever their budgets say
	Headline       bool             `json:"headline"`    // what becomes of it is of interest to the workload's users
	// Families are the load balancers that it might be, where the input does not say which one it is. The figures of the case
	// are those of the one behind which it loses most.
	Families []Family `json:"families"`
	// TriedWith is the case whose runs with other values of what is assumed stand for this one's, too: its workload is the same
	// but for names. "" where they are the case's own.
	TriedWith string `json:"triedWith"`
	// Timeline is the run of worstSeed, or the first one, as lanes; only where it was asked for.
	Timeline *timeline.Timeline `json:"timeline,omitempty"`
}

// Family is a case behind one of the load balancers that it might be.
type Family struct {
	Preset               string    `json:"preset"`
	Name                 string    `json:"name"`
	Verdict              string    `json:"verdict"`
	Reason               string    `json:"reason"`
	LostSeconds          Seconds   `json:"lostSeconds"`
	LongestOutageSeconds Seconds   `json:"longestOutageSeconds"`
	RequestsLost         Counts    `json:"requestsLost"`
	Runs                 RunCounts `json:"runs"`
	WorstSeed            uint64    `json:"worstSeed"`
	Causes               []Cause   `json:"causes"`
	Fix                  *Fix      `json:"fix"` // what helps there, null when nothing was found
	// Shown says that the figures of the case, its causes and its timeline are those behind this one.
	Shown bool `json:"shown"`
}

// Client is one stream of requests of a case.
type Client struct {
	Name                 string   `json:"name"`
	Rate                 string   `json:"rate"` // "100/s", "" for clients that wait for each answer
	Requests             Requests `json:"requests"`
	LostSeconds          Seconds  `json:"lostSeconds"`
	LongestOutageSeconds Seconds  `json:"longestOutageSeconds"`
	WithoutServer        bool     `json:"withoutServer"`  // as that of its Case
	ConnectionsCut       Counts   `json:"connectionsCut"` // as those of its Case
}

// Run is one run of a case.
type Run struct {
	Seed       uint64      `json:"seed"`
	Case       string      `json:"case"`
	TraceHash  string      `json:"traceHash"`
	Settled    bool        `json:"settled"`
	Unrest     string      `json:"unrest"` // what had not settled at the end, "" when all had
	EndSeconds engine.Time `json:"endSeconds"`
	Requests   Requests    `json:"requests"`
}

// Requests counts requests; ok, failed and failedBefore add up to total.
type Requests struct {
	Total uint64 `json:"total"`
	OK    uint64 `json:"ok"`
	// Failed are those that the action is to blame for: causes add up to them. FailedBefore are those that fail without it, too.
	Failed       uint64 `json:"failed"`
	FailedBefore uint64 `json:"failedBefore"`
	Rescued      uint64 `json:"rescued"`
	Slow         uint64 `json:"slow"`
}

// Before is something that fails before anything is done, and goes on failing.
type Before struct {
	What   string      `json:"what"`
	Client string      `json:"client"`
	Part   engine.Time `json:"part"` // of that client's requests, from 0 to 1
}

// Stuck says why what was begun cannot end.
type Stuck struct {
	Workload string `json:"workload"`
	Why      string `json:"why"`
	What     string `json:"what"` // would let it go on
	// TakenToListen is after how long the server is taken to listen, such as "15 s", where nothing goes on because of that assumption; empty otherwise.
	TakenToListen string  `json:"takenToListen"`
	Source        *Source `json:"source"`
}

// Overruled is a node whose pods somebody deletes in the end, although a budget refuses their evictions: GKE after an hour.
type Overruled struct {
	Workload     string      `json:"workload"` // of the pod whose eviction is refused first
	Node         string      `json:"node"`
	By           string      `json:"by"`
	Why          string      `json:"why"`
	LimitSeconds engine.Time `json:"limitSeconds"` // how long the evictions are asked for
	GraceLeft    bool        `json:"graceLeft"`    // the pods get what is left of their grace periods; otherwise none
	Source       *Source     `json:"source"`       // where the budget says so
	Runs         int         `json:"runs"`         // in how many of the case's
}

// Attempts counts tries of requests.
type Attempts struct {
	Total  uint64 `json:"total"`
	Failed uint64 `json:"failed"`
}

// Cause is lost requests that are alike.
type Cause struct {
	Cause     string           `json:"cause"`
	Actor     string           `json:"actor"`
	Elsewhere bool             `json:"elsewhere"`
	Outcome   map[string]int64 `json:"outcome"`
	Count     uint64           `json:"count"`
	Case      string           `json:"case"`
	Workload  string           `json:"workload"`
	Action    string           `json:"action"`
	First     engine.Time      `json:"first"`
	Last      engine.Time      `json:"last"`
	Nodes     []string         `json:"nodes"`
	Pods      []string         `json:"pods"`
	Story     []StoryLine      `json:"story"`
	// Culprit is the line of the manifests behind the cause, null when there is none.
	Culprit *Culprit `json:"culprit"`
}

// StoryLine is one line of the story of an example of a cause.
type StoryLine struct {
	At     engine.Time `json:"at"`
	Event  string      `json:"event"`
	Object string      `json:"object"`
	Source *Source     `json:"source"` // null when no line of a manifest is behind it
}

// Source is a line of a manifest.
type Source struct {
	File string `json:"file"`
	Line int    `json:"line"`
}

// Culprit is what in a manifest is behind a cause.
type Culprit struct {
	What   string  `json:"what"`
	Object string  `json:"object"`
	Source *Source `json:"source"`
}

// UsablePods says how few pods could serve, in the worst run.
type UsablePods struct {
	Min        int         `json:"min"`
	Of         int         `json:"of"`
	ForSeconds engine.Time `json:"forSeconds"` // how long there were only so few
	Staying    int         `json:"staying"`    // the fewest that were ready and not about to go: new connections go to these while there is one
}

// Dark says what a client would see that knows all pods of a workload, where clients choose the
// pod by themselves: how long each pod that went was dark until another took its place, over all
// pods of all runs; how many were dark at once, and how long the rollout took, by run.
type Dark struct {
	PodSeconds     Seconds  `json:"podSeconds"`
	Order          []string `json:"order"` // the names of the pods as they went, where they keep their names and all runs agree
	MostPods       Counts   `json:"mostPods"`
	RolloutSeconds Seconds  `json:"rolloutSeconds"` // 0 where nothing was rolled out
}

// Gaps say how long each pod of a StatefulSet that went was gone, until another of its name could serve in its place, over all runs; and
// how many were gone at once, by run.
type Gaps struct {
	Workload string   `json:"workload"`
	Pods     []PodGap `json:"pods"` // in the order in which they went in the first run
	MostPods Counts   `json:"mostPods"`
}

// PodGap is how long one pod of a StatefulSet was gone.
type PodGap struct {
	Pod     string  `json:"pod"`
	Seconds Seconds `json:"seconds"` // of the gaps that ended; 0 without one
	NotBack int     `json:"notBack"` // runs at whose end none had come in its place
}

// LostRequest is one request that was lost.
type LostRequest struct {
	Seed      uint64      `json:"seed"`
	Client    string      `json:"client"`
	Number    uint64      `json:"number"`
	At        engine.Time `json:"at"`
	End       engine.Time `json:"end"`
	Outcome   string      `json:"outcome"`
	Cause     string      `json:"cause"`
	Actor     string      `json:"actor"`
	Elsewhere bool        `json:"elsewhere"`
	Node      string      `json:"node"`
	Pod       string      `json:"pod"`
	Attempts  int         `json:"attempts"`
	Story     []StoryLine `json:"story"`
}

// Assumption is a default that the input did not say.
type Assumption struct {
	ID     string   `json:"id"`
	What   string   `json:"what"`
	Value  string   `json:"value"`
	Range  string   `json:"range"`
	Basis  string   `json:"basis"`
	Source string   `json:"source"`
	Cases  []string `json:"cases"`
	// Effect is the greatest on any of the cases: "none", "size" or "verdict"; null when no
	// other value was tried.
	Effect       *string       `json:"effect"`
	Alternatives []Alternative `json:"alternatives"`
	Settle       string        `json:"settle"`
}

// Alternative is what another value of an assumption does to a case.
type Alternative struct {
	Case        string  `json:"case"`
	Value       string  `json:"value"`
	Verdict     string  `json:"verdict"`
	LostSeconds Seconds `json:"lostSeconds"`
	// ForGood says that its outage does not end: LostSeconds are what a run of some length loses.
	ForGood  bool   `json:"forGood"`
	Effect   string `json:"effect"`
	Runs     int    `json:"runs"` // how many were tried
	WithLoss int    `json:"withLoss"`
	words    string // what it comes to, for people
	ofClient bool   // it changes what one client loses, and not what the case does
}

// NotModelled is something the model leaves out.
type NotModelled struct {
	ID        string `json:"id"`
	What      string `json:"what"`
	Object    string `json:"object"`
	Direction string `json:"direction"`
	Remedy    string `json:"remedy,omitempty"`
}

// LeftOut is an object of the input that the API server refuses.
type LeftOut struct {
	Object string `json:"object"`
	Source string `json:"source"`
	Reason string `json:"reason"`
}

// Build makes the record that JSON and YAML print. Every list is there even if it is empty.
func Build(s *record.Simulation) *Result {
	sum := s.Totals()
	r := &Result{
		APIVersion: "lameduck/v1", Kind: "SimulationResult", Version: s.Version, Seed: s.Seed, ScenarioDigest: s.Digest,
		Interrupted: s.Interrupted, Verdict: WorstVerdict{Worst: string(record.NotJudged)},
		Cases: []Case{}, Runs: []Run{}, Requests: requestsOf(&sum), Attempts: Attempts{sum.Attempts, sum.FailedAttempts},
		Outcomes: outcomesOf(sum.Outcomes, true), Causes: []Cause{}, Fixes: fixesOf(s), NoHelp: []NoHelp{}, Assumptions: []Assumption{}, NotModelled: []NotModelled{}, LeftOut: []LeftOut{},
		Drains: drainsOf(s),
	}
	if worst := s.First(); worst != nil {
		r.Verdict = WorstVerdict{string(worst.Verdict), worst.ID}
	}
	for i := range s.Cases {
		c := &s.Cases[i]
		r.Cases = append(r.Cases, caseOf(c))
		r.Causes = append(r.Causes, causesOf(c)...)
		for j := range c.Runs {
			run := &c.Runs[j]
			r.Runs = append(r.Runs, Run{run.Seed, c.ID, run.TraceHash, run.Settled, run.Unrest, run.End, requestsOf(run.Sum())})
		}
		r.assume(c)
	}
	for _, o := range s.Nowhere {
		object := strings.TrimSpace(o.Kind + " " + o.Name)
		r.NotModelled = append(r.NotModelled, NotModelled{ID: "leads-nowhere", What: object + ": " + o.Why + " (" + o.Source + ")", Object: object, Direction: "more"})
	}
	for _, m := range s.Misspelled {
		r.NotModelled = append(r.NotModelled, NotModelled{ID: "misspelled-field", What: m.Object + ": " + m.Field + " is no field (" + m.Source + "); " + m.Meant + " is", Object: m.Object, Direction: "unknown"})
	}
	for _, o := range s.Unserved {
		object := o.Kind + " " + o.Name
		r.NotModelled = append(r.NotModelled, NotModelled{ID: "no-service", What: object + ": " + o.Why + " (" + o.Source + ")", Object: object, Direction: "more"})
	}
	for _, n := range s.NoHelp {
		r.NoHelp = append(r.NoHelp, NoHelp(n))
	}
	for _, o := range s.LeftOut {
		r.LeftOut = append(r.LeftOut, LeftOut{strings.TrimSpace(o.Kind + " " + o.Name), o.Source, o.Why})
	}
	return r
}

func caseOf(c *record.Case) Case {
	sum := c.Totals()
	out := Case{
		ID: c.ID, Action: c.Action, Workload: c.Workload, Traffic: c.Traffic, Class: c.Class, Source: c.Source,
		Verdict: string(c.Verdict), Reason: c.Reason, LostSeconds: secondsOf(c.LostSeconds), RequestsLost: Counts(c.RequestsLost),
		LongestOutageSeconds: secondsOf(c.LongestOutage), WithoutServer: withoutServer(c), Runs: runCounts(c),
		WorstSeed: c.WorstSeed, Requests: requestsOf(&sum), Outcomes: outcomesOf(sum.Outcomes, true),
		ConnectionsCut: Counts(c.Cuts), Clients: []Client{}, Gaps: []Gaps{}, Causes: causesOf(c), LostRequest: lostRequest(c), Unmet: append([]string{}, c.Unmet...),
		Before: beforeOf(c), Stuck: stuckOf(c.Stuck), Overruled: overruledOf(c), Headline: c.Headline, Families: familiesOf(c), TriedWith: c.TriedWith,
		Timeline: c.Timeline,
	}
	if len(c.Runs) > 0 {
		out.UsablePods = &UsablePods{c.Usable.Min, c.Usable.Of, c.Usable.For, c.Usable.Staying}
	}
	if d := c.Dark; d != nil {
		out.Dark = &Dark{secondsOf(d.Pods), append([]string{}, d.Order...), Counts(d.Most), secondsOf(d.Rollout)}
	}
	for _, g := range c.Gaps {
		gaps := Gaps{Workload: g.Workload, MostPods: Counts(g.Most)}
		for _, p := range g.Pods {
			gaps.Pods = append(gaps.Pods, PodGap{p.Pod, secondsOf(p.For), p.NotBack})
		}
		out.Gaps = append(out.Gaps, gaps)
	}
	for i, client := range c.Clients {
		lost, longest, sum := c.Client(i)
		out.Clients = append(out.Clients, Client{client.Name, rateWords(client.Rate), requestsOf(&sum), secondsOf(lost), secondsOf(longest), c.WithoutServer(i), Counts(c.ClientCuts(i))})
	}
	return out
}

func runCounts(c *record.Case) RunCounts {
	out := RunCounts{Total: len(c.Runs), WithLoss: c.WithLoss}
	if c.Bound > 0 {
		bound := engine.Time(c.Bound) * engine.Microsecond // a number with 6 decimals, as times are
		out.LossBound95 = &bound
	}
	return out
}

func familiesOf(c *record.Case) []Family {
	out := []Family{}
	for i := range c.Families {
		f := &c.Families[i]
		x := Family{
			Preset: f.Preset, Name: f.Name, Verdict: string(f.Case.Verdict), Reason: f.Case.Reason, LostSeconds: secondsOf(f.Case.LostSeconds),
			LongestOutageSeconds: secondsOf(f.Case.LongestOutage), RequestsLost: Counts(f.Case.RequestsLost),
			Runs: runCounts(&f.Case), WorstSeed: f.Case.WorstSeed, Causes: causesOf(&f.Case), Shown: f == shownFamily(c),
		}
		if f.Fix != nil {
			x.Fix = new(fixOf(f.Fix))
			for k := range x.Fix.Cases {
				x.Fix.Cases[k].Timeline = nil // it is among the fixes of the result
			}
		}
		out = append(out, x)
	}
	return out
}

func causesOf(c *record.Case) []Cause {
	out := []Cause{}
	for i := range c.Causes {
		x := &c.Causes[i]
		cause := Cause{
			Cause: x.Cause.String(), Actor: x.Actor.String(), Elsewhere: x.Elsewhere, Outcome: outcomesOf(x.Outcomes, false),
			Count: x.Count, Case: c.ID, Workload: c.Workload, Action: c.Action, First: x.First, Last: x.Last,
			Nodes: x.Nodes, Pods: x.Pods, Story: storyOf(x.Story),
		}
		if x.Culprit.What != "" {
			cause.Culprit = &Culprit{x.Culprit.What, x.Culprit.Object, sourceOf(x.Culprit.File, x.Culprit.Line)}
		}
		out = append(out, cause)
	}
	return out
}

func storyOf(lines []story.Line) []StoryLine {
	out := []StoryLine{}
	for _, l := range lines {
		out = append(out, StoryLine{l.At, l.Words(), l.Object, sourceOf(l.File, l.Line)})
	}
	return out
}

func sourceOf(file string, line int) *Source {
	if file == "" {
		return nil
	}
	return &Source{file, line}
}

// worstRun is the run of the worst seed; nil when there is none.
func worstRun(c *record.Case) *record.Run {
	for i := range c.Runs {
		if c.Runs[i].Seed == c.WorstSeed {
			return &c.Runs[i]
		}
	}
	return nil
}

// exampleCause is the cause whose example is shown: the largest one that the worst run has.
func exampleCause(c *record.Case) *record.Cause {
	for i := range c.Causes {
		if c.Causes[i].Example.Seed == c.WorstSeed {
			return &c.Causes[i]
		}
	}
	return nil
}

func lostRequest(c *record.Case) *LostRequest {
	cause := exampleCause(c)
	if cause == nil {
		return nil
	}
	x := &cause.Example.Request
	out := &LostRequest{
		Seed: cause.Example.Seed, Number: x.Number, At: x.Arrival, End: x.End, Outcome: x.Outcome.String(), Cause: x.Blame.Cause.String(),
		Actor: x.Blame.Actor.String(), Elsewhere: x.Blame.Elsewhere, Pod: x.Pod, Attempts: x.Attempts, Story: storyOf(cause.Story),
	}
	if x.Stream < len(c.Clients) {
		out.Client = c.Clients[x.Stream].Name
	}
	if x.Node >= 0 && x.Node < len(c.Nodes) {
		out.Node = c.Nodes[x.Node]
	}
	return out
}

// assume adds a case's assumptions: one row for cases that assume the same.
func (r *Result) assume(c *record.Case) {
	for _, a := range c.Assumptions {
		row := r.row(Assumption{
			ID: a.ID, What: a.What, Value: a.Value, Range: a.Range, Basis: a.Basis, Source: a.Source,
			Cases: []string{}, Alternatives: []Alternative{}, Settle: a.Settle,
		})
		row.Cases = append(row.Cases, c.ID)
		if e, tried := c.EffectOf(a.ID); tried {
			row.join(e)
		}
		for k := range c.Alternatives {
			if alt := &c.Alternatives[k]; alt.ID == a.ID {
				row.Alternatives = append(row.Alternatives, Alternative{c.ID, alt.Value, string(alt.Verdict), secondsOf(alt.LostSeconds), alt.ForGood, string(alt.Effect), alt.Runs, alt.WithLoss, effectWords(c, alt), alt.Client != ""})
			}
		}
	}
	for _, n := range c.NotModelled {
		if !slices.Contains(r.NotModelled, NotModelled(n)) {
			r.NotModelled = append(r.NotModelled, NotModelled(n))
		}
	}
}

// row finds the row of an assumption, or adds it.
func (r *Result) row(a Assumption) *Assumption {
	for i := range r.Assumptions {
		if b := &r.Assumptions[i]; b.ID == a.ID && b.What == a.What && b.Value == a.Value {
			return b
		}
	}
	r.Assumptions = append(r.Assumptions, a)
	return &r.Assumptions[len(r.Assumptions)-1]
}

// join keeps the greater effect.
func (a *Assumption) join(e record.Effect) {
	if word := string(e); a.Effect == nil || *a.Effect == string(record.NoEffect) || e == record.VerdictEffect {
		a.Effect = &word
	}
}

func requestsOf(s *record.Stream) Requests {
	return Requests{Total: s.Total, OK: s.OK, Failed: s.Failed, FailedBefore: s.Before, Rescued: s.Rescued, Slow: s.Slow}
}

func beforeOf(c *record.Case) []Before {
	out := []Before{}
	for _, b := range c.Before {
		out = append(out, Before{b.What, b.Client, engine.Time(b.Lost) * engine.Microsecond})
	}
	return out
}

func stuckOf(s *record.Stuck) *Stuck {
	if s == nil {
		return nil
	}
	return &Stuck{s.Workload, s.Why, s.What, s.TakenToListen, sourceOf(s.File, s.Line)}
}

func overruledOf(c *record.Case) []Overruled {
	out := []Overruled{}
	nodes, runs := c.OverruledNodes()
	for i := range nodes {
		o := &nodes[i]
		out = append(out, Overruled{o.Workload, o.Node, o.By, o.Why, o.Limit, o.Left, sourceOf(o.File, o.Line), runs[i]})
	}
	return out
}

// outcomesOf names counts; with all, also those that did not occur.
func outcomesOf(counts [ledger.NumOutcomes]uint64, all bool) map[string]int64 {
	out := map[string]int64{}
	for i, n := range counts {
		if n > 0 || all {
			out[ledger.Outcome(i).String()] = int64(n)
		}
	}
	return out
}

func secondsOf(r record.Range) Seconds {
	return Seconds{engine.Time(r.Min), engine.Time(r.Median), engine.Time(r.Max)}
}
