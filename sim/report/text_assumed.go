package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
)

// assumptions lists what was taken for granted in the shown cases and changes something, with
// what other values come to. What changes nothing is a number.
func (t *text) assumptions(shown []*record.Case) {
	r := &Result{}
	for _, c := range t.assumedWith(shown) {
		r.assume(c)
	}
	if slices.ContainsFunc(shown, func(c *record.Case) bool { return len(c.Families) > 0 }) {
		r.Assumptions = slices.DeleteFunc(r.Assumptions, func(a Assumption) bool { return a.ID == "lb" || a.ID == "ingress" }) // the table has them
	}
	if len(r.Assumptions)+len(r.NotModelled) == 0 {
		return
	}
	if judged := func(c *record.Case) bool { return c.Verdict != record.NotJudged }; !t.opts.Verbose && !slices.ContainsFunc(shown, judged) {
		t.taken(shown, nil)
		t.notModelled(r.NotModelled)
		return
	}
	order := byImpact(shown[0])
	sorted.StableBy(r.Assumptions, func(a, b Assumption) int {
		return cmp.Or(cmp.Compare(weight(&a), weight(&b)), -cmp.Compare(ownToSay(shown[0], a.ID), ownToSay(shown[0], b.ID)), order(a.ID, b.ID))
	})
	tried := slices.ContainsFunc(r.Assumptions, func(a Assumption) bool { return a.Effect != nil })
	heading := "ASSUMED, and what if it is otherwise"
	if !tried {
		heading = "ASSUMED"
	}
	var rows [][]string
	var listed []string // the IDs of those that have a row
	nothing, untried, more := 0, 0, 0
	for i := range r.Assumptions {
		a := &r.Assumptions[i]
		switch {
		case t.opts.Verbose, !tried && !strings.HasPrefix(a.ID, "latency."), a.Effect != nil && *a.Effect != string(record.NoEffect):
			if len(rows) == t.room.assumed {
				if tried {
					more++
				} else {
					untried++
				}
				continue
			}
			rows, listed = append(rows, []string{inWords(a.ID, a.What, a.Value), t.effects(a, shown[0]), t.way(a.Settle)}), append(listed, a.ID)
		case a.Effect != nil && tried && slices.ContainsFunc(a.Alternatives, func(alt Alternative) bool { return alt.ofClient }):
			more++
		case a.Effect != nil:
			nothing++
		default:
			untried++
		}
	}
	if len(rows) > 0 {
		t.Text("", heading)
		t.Table(2, rows)
	}
	t.counts(more, nothing, untried, len(rows) > 0, !shown[0].Sporadic())
	if tried {
		t.taken(shown, listed)
	}
	t.notModelled(append(r.NotModelled, dataLost(shown)...))
}

// dataLost says of a database, or of sessions, with one pod, that the pod that answers next may not know what the old pod knew.
func dataLost(shown []*record.Case) []NotModelled {
	for _, c := range shown {
		if keepsData(c) {
			return []NotModelled{{What: "a new pod does not have the data that the old one kept in its memory, or in a directory without a volume", Direction: "more"}}
		}
	}
	return nil
}

// keepsData says of a case that it is about the one pod of a database, or of sessions.
func keepsData(c *record.Case) bool {
	return (c.Class == "session" || profileOf(c) == "database") && c.Usable.Of == 1
}

// profileOf is what a case's app was taken for, "" where the input says it.
func profileOf(c *record.Case) string {
	for i := range c.Assumptions {
		if a := &c.Assumptions[i]; a.ID == "sigterm" {
			_, profile, _ := strings.Cut(a.Value, ": ")
			profile, _, _ = strings.Cut(profile, " (")
			return profile
		}
	}
	return ""
}

// option is something that a reader can set, as a user writes it.
func (t *text) option(name, value string) string { return t.sim.Wording.Option(name, value) }

// way is what says an assumption: in short the first of several ways.
func (t *text) way(settle string) string {
	if t.opts.Verbose {
		return settle
	}
	first, _, _ := strings.Cut(settle, ",")
	return first
}

// weight orders assumptions: those that change something first, those that were not varied last.
func weight(a *Assumption) int {
	switch {
	case a.Effect == nil:
		return 2
	case *a.Effect != string(record.NoEffect):
		return 0
	default:
		return 1
	}
}

// first orders assumptions that matter equally: what readers know to be different with them comes first.
func first(id string) int {
	known := []string{"lb", "ingress", "spot-handler", "reboot", "replicas", "proxy", "start", "sigterm", "prestop", "nodes"}
	if at := slices.Index(known, id); at >= 0 {
		return at
	}
	return len(known)
}

// counts sums up the assumptions that are not listed, where others are and where none is, and where it is clear that they make no difference.
func (t *text) counts(more, nothing, untried int, others, clearly bool) {
	var parts []string
	none := "no difference"
	if !clearly {
		none = unclear
	}
	for _, p := range []struct {
		n         int
		one, many string
	}{
		{more, "changes what is lost", "change what is lost"}, {nothing, "makes " + none, "make " + none}, {untried, "was not varied", "were not varied"},
	} {
		switch {
		case p.n == 0:
		case len(parts) > 0:
			parts = append(parts, count(p.n, p.one, p.many))
		case more > 0 && others:
			parts = append(parts, count(p.n, "more assumption "+p.one, "more assumptions "+p.many))
		default:
			parts = append(parts, count(p.n, "assumption "+p.one, "assumptions "+p.many))
		}
	}
	if len(parts) > 0 {
		t.Text("  ", strings.Join(parts, ", ")+" (-v lists them).")
	}
}

// inOneClause say an assumption with its value where that is shorter than what it is about, a colon and the value.
var inOneClause = map[string]string{
	"kubernetes":        "Kubernetes %s",
	"proxy":             "%s",
	"timeout":           "clients wait %s for an answer",
	"dial-timeout":      "gRPC clients try to connect for %s",
	"start":             "containers listen %s after their start",
	"kubelet":           "kubelets have %s",
	"keeper":            "readiness gate %s",
	"init":              "init containers take %s",
	"readinessAsks":     "readinessProbe of %s",
	"places":            "pods are %s",
	"serve":             "an answer takes %s",
	"latency.watch":     "a watch event takes %s",
	"latency.proxySync": "a sync of kube-proxy takes %s",
	"syn-repeats":       "clients repeat a SYN %s",
	repeatedSYN:         "repeated SYN, %s",
	"dead-address":      "the address of a pod that is gone: %s",
	"volume-move":       "a volume takes %s to another node",
	"volume-access":     "volume claim %s",
	"machine-stop":      "machines are off %s after the cloud's call",
	"spot-handler":      "at a spot notice %s",
	"reboot":            "a machine that crashes is back after %s",
	"churn":             "changes of other Services' slices: %s",
	"keepalive-repeat":  "a client whose reused connection is closed %s",
	"udp-repeat":        "a client over UDP without an answer %s",
	"connect-timeout":   "clients wait for a connection: %s",
	"sigterm":           "profile at SIGTERM: %s",
	"methods":           "requests are %s",
}

// inWords is an assumption and its value.
func inWords(id, what, value string) string {
	value = shortDigest(spaced(strings.NewReplacer("uniform ", "", "iptables, ", "", "inferred from its ", "by its ").Replace(value))) // iptables is the default
	if inOneClause[id] == "" {
		return what + ": " + value
	}
	return fmt.Sprintf(inOneClause[id], value)
}

// effects says what other values of an assumption come to; those that make no difference beside others that do are for readers
// who ask for everything.
func (t *text) effects(a *Assumption, told *record.Case) string {
	if len(a.Alternatives) == 0 {
		return a.Basis
	}
	var values, results []string
	matters := slices.ContainsFunc(a.Alternatives, func(alt Alternative) bool { return alt.Effect != string(record.NoEffect) })
	for i := range a.Alternatives {
		alt := &a.Alternatives[i]
		if alt.Effect == string(record.NoEffect) && matters && !t.opts.Verbose {
			continue
		}
		words := t.ofWhich(alt, told) + alt.words
		if at := slices.Index(results, words); at >= 0 {
			values[at] += " or " + otherInWords(alt.Value)
			continue
		}
		values, results = append(values, otherInWords(alt.Value)), append(results, words)
	}
	for i := range values {
		values[i] = strings.TrimPrefix(values[i], "minSyncPeriod ") + ": " + results[i] // what was assumed says what it is
	}
	return strings.Join(values, "; ")
}

// effectWords are what one other value comes to, with its verdict where that is another one. That it makes no difference is said where
// all runs say so: where few of them lose anything, or they lose more or less by chance, it is of how many runs.
func effectWords(c *record.Case, a *record.Alternative) string {
	switch {
	case a.Effect == record.VerdictEffect && a.Verdict == record.Outage && !a.ForGood:
		return "outage, " + resultWords(c, a)
	case a.Client != "" && a.Effect == record.NoEffect:
		return fmt.Sprintf("no difference to %s, but %s: %s lost in place of %s", clientName(c, worstClient(c)), clientWord(a.Client), spanOr0(engine.Time(a.Is)), spanOr0(engine.Time(a.Was)))
	case a.Effect != record.NoEffect, c.WithLoss == 0 && a.WithLoss > 0:
		return resultWords(c, a)
	case a.Runs > 0 && a.Runs == len(c.Runs) && max(a.Shift, -a.Shift) >= apparent && !c.Verdict.Endless(): // the medians are alike, and it is no chance
		return allTogether(a)
	case a.Runs > 0 && (c.Sporadic() || max(a.Shift, -a.Shift) >= apparent && !c.Verdict.Endless()):
		return fmt.Sprintf("%s in %s", unclear, count(a.Runs, "run", "runs"))
	default:
		return "no difference"
	}
}

// allTogether says by how much more or less all runs lose with another value.
func allTogether(a *record.Alternative) string {
	if a.Shift < 0 {
		return fmt.Sprintf("all runs together lose %d %% less", -a.Shift)
	}
	return fmt.Sprintf("all runs together lose %d %% more", a.Shift)
}

const (
	unclear  = "no clear difference"
	apparent = 25 // per cent
)

// shortValue is a value without its explanation.
func shortValue(v string) string {
	head, _, _ := strings.Cut(v, ":")
	return head
}

// otherInWords is another value for people: without its explanation, and without where it was reported, which the value that was
// assumed says.
func otherInWords(v string) string {
	return spaced(strings.TrimPrefix(withoutReport(shortValue(v)), "uniform "))
}

// withoutReport is a value of a load balancer without where it was reported, or that it was not.
func withoutReport(value string) string {
	head, _, _ := strings.Cut(value, " (reported")
	head, _, _ = strings.Cut(head, " ("+scenario.Unmeasured)
	return head
}

// decisive are what is concluded from the input and stands behind every figure: it is said however little room there is, and also where
// other values were tried.
var decisive = []string{"lb", "ingress", "sigterm", "replicas"}

// taken says what was read out of the input or concluded from it, and decides about the shown
// cases: nobody has to guess why there are two pods. What stands behind every figure comes first. said are the
// IDs of what has been said already.
func (t *text) taken(shown []*record.Case, said []string) {
	var first, parts []string
	for _, c := range shown {
		for i := range c.Assumptions {
			a := &c.Assumptions[i]
			if (a.ID == "lb" || a.ID == "ingress") && t.oneOfSeveral(c) {
				continue // the input says at most of which kind it is, and the table which they are
			}
			if a.Basis != "inferred" && a.Basis != "preset" && a.Basis != "manifest" || strings.HasSuffix(a.Value, " (assumed)") || slices.Contains(said, a.ID) {
				continue
			}
			effect, tried := c.EffectOf(a.ID)
			switch {
			case slices.Contains(decisive, a.ID), a.ID == "nodes" && effect == record.VerdictEffect:
				first = distinct(first, inWords(a.ID, a.What, a.Value))
			case !tried && !t.room.terse:
				parts = distinct(parts, inWords(a.ID, a.What, a.Value))
			}
		}
	}
	if parts = append(first, parts...); len(parts) > 0 {
		t.Text("  ", "Taken from the input: "+strings.Join(parts, "; ")+".")
	}
}

// oneOfSeveral says that a case is told with one of the load balancers that its Service might be behind.
func (t *text) oneOfSeveral(c *record.Case) bool {
	return slices.ContainsFunc(t.sim.Cases, func(x record.Case) bool { return x.ID == c.ID && len(x.Families) > 1 })
}

// fewestStaying says what the pods of a workload that stay have to be fast enough for, where most are missing: those that go may serve to their
// end, but new connections go to those that do not, as long as there is one. "" where none is missing, or all are, and where something is lost:
// there the causes say it.
func (t *text) fewestStaying(object string) string {
	var fewest record.Usable
	for i := range t.sim.Cases {
		c := &t.sim.Cases[i]
		if !c.Lists(record.Capacity, object) {
			continue
		}
		if c.Verdict != record.Holds {
			return ""
		}
		if u := c.Usable; u.Staying > 0 && u.Staying < u.Of && (fewest.Of == 0 || u.Staying*fewest.Of < fewest.Staying*u.Of) {
			fewest = u
		}
	}
	if fewest.Of == 0 {
		return ""
	}
	return fmt.Sprintf(": at the worst moment %d of %s get all new connections", fewest.Staying, count(fewest.Of, "pod", "pods"))
}

// notModelled says what was left out, and in which direction reality differs.
func (t *text) notModelled(list []NotModelled) {
	var parts, always, unjudged, flags []string
	for i := range list {
		if list[i].ID == record.DrainFlags {
			flags = distinct(flags, list[i].What)
			continue
		}
		if record.Foremost(list[i].ID) {
			continue // the head has it
		}
		if list[i].ID == record.InsideClients || list[i].ID == record.NoDrain {
			unjudged = distinct(unjudged, list[i].What)
			continue
		}
		if list[i].ID == record.Capacity {
			list[i].What += t.fewestStaying(list[i].Object)
		}
		direction := map[string]string{"more": "reality loses more", "fewer": "reality loses less"}[list[i].Direction]
		if direction == "" {
			direction = "reality loses more or less"
		}
		if list[i].ID == record.Unfollowed { // whoever wrote the annotation takes it for followed
			always = distinct(always, list[i].What+" ("+direction+")")
			continue
		}
		parts = distinct(parts, list[i].What+" ("+direction+")")
	}
	if t.room.bare && len(parts) > 1 {
		parts = []string{count(len(parts), "thing", "things") + " (-v says which)"}
	}
	if parts = append(always, parts...); len(parts) > 0 {
		t.Text("  ", "Not modelled: "+strings.Join(parts, "; ")+".")
	}
	if t.room.brief && len(unjudged) > 1 {
		unjudged = unexplained(unjudged)
	}
	if words := t.unserved(); words != "" {
		unjudged = append(unjudged, words)
	}
	if len(unjudged) > 0 {
		t.Text("  ", "Not judged: "+strings.Join(unjudged, "; ")+".")
	}
	if len(flags) > 0 {
		t.Text("  ", "Simulated with "+strings.Join(flags, "; ")+".")
	}
}

// unexplained are things that are not judged without what they do or why.
func unexplained(list []string) (out []string) {
	for _, words := range list {
		words, _, _ = strings.Cut(words, ", who ")
		words, _, _ = strings.Cut(words, ": ")
		out = distinct(out, words)
	}
	return out
}

// unserved names the workloads that no Service selects.
func (t *text) unserved() string {
	const most = 3
	var words []string
	for _, o := range t.sim.Unserved {
		clients := ""
		if o.HostPorts != "" {
			clients = " and clients of its host port " + o.HostPorts
		}
		words = append(words, o.Kind+" "+o.Name+clients+" ("+t.place(o.File, o.Line)+")")
	}
	if len(words) == 0 {
		return ""
	}
	if t.opts.Verbose || t.opts.All {
		return listed(words, len(words)) + ", which no Service selects"
	}
	return listed(words, most) + ", which no Service selects"
}

// alternatives joins conditions of which one is enough; of more than most, the rest is a number.
func alternatives(words []string, most int) string {
	if len(words) > most {
		words = append(append([]string{}, words[:most]...), fmt.Sprintf("%d more (-v)", len(words)-most))
	}
	return strings.Join(words, "; or ")
}

// breaking are the other values with which a case that holds loses something: first those of what nobody has measured, which may well be so,
// then those with which most is lost.
func breaking(c *record.Case) (out []string) {
	var others []*record.Alternative
	for i := range c.Alternatives {
		if a := &c.Alternatives[i]; a.Effect != record.NoEffect && a.LostSeconds.Max > 0 {
			others = append(others, a)
		}
	}
	measured := func(a *record.Alternative) int {
		if strings.HasSuffix(a.Value, "("+scenario.Unmeasured+")") {
			return 0
		}
		return 1
	}
	sorted.StableBy(others, func(a, b *record.Alternative) int {
		return cmp.Or(measured(a)-measured(b), cmp.Compare(b.LostSeconds.Median, a.LostSeconds.Median))
	})
	for _, a := range others {
		out = append(out, fmt.Sprintf("%s (%s)", condition(c, a), effectWords(c, a)))
	}
	return out
}

// whyItHolds says under what a case holds, what would break it, and that the fallback to pods
// that terminate has to do with it.
func (t *text) whyItHolds(c *record.Case) []string {
	var out []string
	if k := c.Kept; k != nil && k.Fallback > 0 {
		words := fmt.Sprintf("for %s in all (seed %d) some node had no ready pod to send to, and sent to one that was terminating and still served (KEP-1669)", span(k.Fallback), k.Seed)
		if k.Without > 0 {
			words += "; without that, as by default before Kubernetes 1.26, " + span(k.Without) + " would be lost"
		}
		out = append(out, words)
	}
	if late := whyLate(c); late != "" {
		out = append(out, late)
	}
	var under []string
	seldom := 0
	for i := range c.Assumptions {
		switch a := &c.Assumptions[i]; a.ID {
		case "proxy", "lb", "ingress", "nodes", "places", "replicas", "start", "sigterm", "prestop":
			under = append(under, inWords(a.ID, a.What, withoutHandler(a.Value)))
		default:
			if strings.HasSuffix(a.Value, scenario.Unmeasured) {
				under = append(under, inWords(a.ID, a.What, strings.Replace(a.Value, ", "+scenario.Unmeasured, " ("+scenario.Unmeasured+")", 1)))
			}
		}
	}
	for i := range c.Alternatives {
		if a := &c.Alternatives[i]; a.Effect == record.NoEffect && a.WithLoss > 0 {
			seldom++
		}
	}
	breaks := breaking(c)
	if len(under) > 0 {
		out = append(out, "nothing is lost under these assumptions: "+strings.Join(under, "; "))
	}
	never, _ := neverEnds(c)
	if len(never) > 0 {
		out = append(out, "the "+one(c)+" never ends if "+alternatives(never, 2))
	}
	values, of := count(len(c.Alternatives)-len(never), "other value", "other values"), ""
	if slices.ContainsFunc(t.besideHolds(c), func(x *record.Case) bool { return len(breaking(x)) > 0 }) {
		of = " in this " + one(c) // in another case something is
	}
	switch {
	case len(breaks) > 0:
		out = append(out, "something is lost"+of+" if "+alternatives(breaks, 4))
	case seldom > 0:
		out = append(out, fmt.Sprintf("with %d of the %s that were tried something is lost%s in few runs (-v)", seldom, values, of))
	case len(c.Alternatives) > len(never):
		out = append(out, fmt.Sprintf("nothing is lost%s with any of the %s either that were tried", of, values))
	}
	return out
}
