package report

import (
	"cmp"
	"fmt"
	"math/bits"
	"regexp"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
)

// suspects are the assumptions that decide how late an actor is.
var suspects = map[ledger.Actor][]string{
	ledger.KubeletProbe:    {"start", "image"},
	ledger.SliceController: {"latency.sliceController"},
	ledger.Watch:           {"latency.watch"},
	ledger.ProxyWait:       {"proxy"},
	ledger.ProxySync:       {"latency.proxySync"},
	ledger.LBController:    {"lb.registration"},
	ledger.LBProbe:         {"lb.healthPropagation"},
	ledger.LBPropagation:   {"lb.propagation", "lb.healthPropagation"},
	ledger.Ingress:         {"ingress"},
}

// impact is by how much other values of an assumption change what is lost, at most; 0 when none that was tried does.
func impact(c *record.Case, id string) engine.Time {
	var most engine.Time
	for i := range c.Alternatives {
		if a := &c.Alternatives[i]; a.ID == id && a.Effect != record.NoEffect {
			most = max(most, distance(c, a))
		}
	}
	return most
}

// distance is the difference between the median loss with another value and that of the case.
func distance(c *record.Case, a *record.Alternative) engine.Time {
	d := a.LostSeconds.Median - c.LostSeconds.Median
	return engine.Time(max(d, -d))
}

// named says that the Why of a case names whatever an assumption is about.
func named(c *record.Case, id string) bool {
	return len(c.Causes) > 0 && slices.Contains(suspects[c.Causes[0].Actor], id)
}

// byImpact orders assumptions for a reader: those with another value of which the verdict is another one, then which load balancer or proxy it is,
// then what nobody has measured, and that doubles or halves what is lost, then by how many times as much is lost, or as little, and of those that
// do about as much, twice or half of it, first what the Why names.
func byImpact(c *record.Case) func(a, b string) int {
	class := func(id string) int {
		switch effect, _ := c.EffectOf(id); {
		case effect == record.VerdictEffect && impactful(c, id):
			return 0
		case (id == "lb" || id == "ingress") && times(c, id) >= 2*unit:
			return 1
		default:
			return 2
		}
	}
	blamed := func(id string) int {
		if named(c, id) && impact(c, id) > 0 {
			return 0
		}
		return 1
	}
	guess := func(id string) int { // what is measured may be said or looked up; of this nobody knows better
		if guessed(c, id) && times(c, id) >= 2*unit {
			return 0
		}
		return 1
	}
	return func(a, b string) int {
		return cmp.Or(cmp.Compare(class(a), class(b)), cmp.Compare(guess(a), guess(b)), cmp.Compare(doublings(c, b), doublings(c, a)), cmp.Compare(blamed(a), blamed(b)), cmp.Compare(times(c, b), times(c, a)),
			cmp.Compare(impact(c, b), impact(c, a)), cmp.Compare(first(a), first(b)))
	}
}

// guessed says that what is assumed is a conclusion of which nobody has measured, or no maker says, whether it is so.
func guessed(c *record.Case, id string) bool {
	value, _, _ := assumed(c, id)
	return id == repeatedSYN || strings.HasSuffix(value, scenario.Unmeasured)
}

// repeatedSYN is where a SYN goes that had no answer, which some makers do not say.
const repeatedSYN = "lb.repeatedSYN"

// doublings is how often what is lost doubles with another value of an assumption, or halves, at most, and one more.
func doublings(c *record.Case, id string) int { return bits.Len64(uint64(times(c, id) / unit)) } //nolint:gosec // it is not negative

// impactful says that a value with which the verdict is another one is one that a reader may well have.
func impactful(c *record.Case, id string) bool {
	return slices.ContainsFunc(c.Alternatives, func(a record.Alternative) bool {
		return a.ID == id && a.Effect == record.VerdictEffect && decides(c, &a)
	})
}

// unit is once as much, of times.
const unit = 100

// times is how many times as much is lost with another value of an assumption, or how many times as little, at most, in hundredths. What
// is less than a twentieth of a second counts as that.
func times(c *record.Case, id string) int64 {
	const least = int64(50 * engine.Millisecond)
	was, most := max(c.LostSeconds.Median, least), int64(unit)
	for i := range c.Alternatives {
		if a := &c.Alternatives[i]; a.ID == id && a.Effect != record.NoEffect && likely(c, a) {
			is := max(a.LostSeconds.Median, least)
			most = max(most, is*unit/was, was*unit/is)
		}
	}
	return most
}

// unless says which other values of an assumption would change the verdict, or most of what is lost; of a case of which nothing says the
// load balancer, beside that, and with the one that it is told with.
func unless(c *record.Case) []string {
	if c.Verdict == record.Holds {
		return nil
	}
	var ids []string
	for i := range c.Alternatives {
		if a := &c.Alternatives[i]; decides(c, a) && (a.ID != "nodes" || !noNode(c)) { // madeUp says it
			ids = distinct(ids, a.ID)
		}
	}
	order := byImpact(c)
	sorted.StableBy(ids, func(a, b string) int {
		return cmp.Or(-cmp.Compare(ownToSay(c, a), ownToSay(c, b)), -cmp.Compare(endsFor(c, a), endsFor(c, b)), order(a, b))
	})
	var out []string
	for _, id := range ids[:mostUnless(c, ids)] {
		var parts []string
		for i := range c.Alternatives {
			if a := &c.Alternatives[i]; a.ID == id && decides(c, a) {
				when := condition(c, a)
				if len(parts) > 0 && conditions[id] != "" { // the clause is said once
					when = spaced(otherValue(a))
				}
				if id == "timeout" && a.ForGood { // who has no limit waits for TCP
					parts = append(parts, when+": it hangs on dead connections until TCP gives up, after 15 minutes or so")
					continue
				}
				parts = append(parts, when+": "+resultWords(c, a)+waitsFor(a))
			}
		}
		words := strings.Join(parts, "; ")
		for i := range c.Assumptions {
			if a := &c.Assumptions[i]; a.ID == id {
				words += settled(id, a.Value, a.Settle)
				break
			}
		}
		out = append(out, words)
	}
	return out
}

// mostUnless is how many of these assumptions are told: two, and a third that changes the verdict, or is which load balancer it is, or what is
// only reported of it where the Why blames it.
func mostUnless(c *record.Case, ids []string) int {
	const most = 2
	if len(ids) > most && (impactful(c, ids[most]) || ids[most] == "lb" || ids[most] == "ingress" || strings.HasPrefix(ids[most], "lb.") && named(c, ids[most])) {
		return most + 1
	}
	return min(most, len(ids))
}

// unless is unless with what there is room for: the table of the load balancers has taken much of the page.
func (t *text) unless(c *record.Case) []string {
	words := unless(c)
	if beside := t.outagesBeside(c); len(beside) > 0 {
		words = append(words[:min(1, len(words))], beside...)
	}
	if len(c.Families) > 0 && t.room.brief {
		words = words[:min(1, len(words))]
	}
	return words
}

// ownToSay is 1 for how long the program of a preStop hook takes, and for what sets a readiness gate, where that alone decides the
// verdict: who wrote the manifest knows, and need not ask anybody. It is 0 for other assumptions.
func ownToSay(c *record.Case, id string) int {
	if effect, _ := c.EffectOf(id); (id == "prestop" || id == "keeper") && effect == record.VerdictEffect {
		return 1
	}
	return 0
}

// settled is the first of the ways to say an assumption, and of an app, which the clause names, what was assumed.
func settled(id, value, settle string) string {
	var parts []string
	if _, profile, ok := strings.Cut(value, ": "); ok && id == "sigterm" {
		profile, _, _ = strings.Cut(profile, " (")
		parts = append(parts, "assumed: it "+atSIGTERM(profile))
	}
	if _, span, ok := strings.Cut(value, ", reported "); ok && strings.HasPrefix(id, "lb.") {
		parts = append(parts, "reported: "+span)
	}
	if id == repeatedSYN {
		parts = append(parts, "no maker says it")
	}
	if flag, _, _ := strings.Cut(settle, ","); flag != "" {
		if name, _, ok := strings.Cut(value, ": "); ok && !strings.Contains(name, " ") && (id == "prestop" || id == "readinessAsks") { // whose hook it is
			flag = strings.Replace(flag, "NAME", name, 1)
		}
		parts = append(parts, flag)
	}
	return inBrackets(strings.Join(parts, "; "))
}

// decides says that another value changes the verdict, or what is lost to half or twice as much, and is one that a reader may
// well have: hardly any app ignores SIGTERM of which nothing is known. Of what is only reported of a load balancer the range counts. What cannot end either way loses more or less until somebody acts, and is no other verdict.
func decides(c *record.Case, a *record.Alternative) bool {
	if a.ID == "nodes" && c.Usable.Of == 1 && leading(a.Value) == "1" { // the drain of a cluster's only node
		return false
	}
	if !likely(c, a) || a.Verdict.Endless() && c.Verdict.Endless() && !endless(a) {
		return false
	}
	was, is := c.LostSeconds.Median, a.LostSeconds.Median
	size := a.Effect == record.SizeEffect && distance(c, a) >= worthWords
	return a.Effect == record.VerdictEffect || size && (2*is <= was || is >= 2*was || strings.HasPrefix(a.ID, "lb.") && apart(c, a.ID))
}

// likely says that a reader may well have another value.
func likely(c *record.Case, a *record.Alternative) bool {
	return a.ID != "sigterm" || shortValue(a.Value) != "ignores" || concluded(c, a.ID)
}

// concluded says that what was assumed was concluded from the input: its other values are what it might be instead.
func concluded(c *record.Case, id string) bool {
	for i := range c.Assumptions {
		if a := &c.Assumptions[i]; a.ID == id {
			return a.Basis == "inferred" || a.Basis == "preset"
		}
	}
	return false
}

// apart says that with one of the values of an assumption half as much again is lost, or more, as with another one; that which was assumed is
// one of them.
func apart(c *record.Case, id string) bool {
	least, most := c.LostSeconds.Median, c.LostSeconds.Median
	for i := range c.Alternatives {
		if a := &c.Alternatives[i]; a.ID == id {
			least, most = min(least, a.LostSeconds.Median), max(most, a.LostSeconds.Median)
		}
	}
	return 2*most >= 3*least
}

// conditions say in a clause that an assumption has another value.
var conditions = map[string]string{
	"kubernetes":           "Kubernetes is %s",
	"serve":                "an answer takes %s",
	"timeout":              "a client gives up after %s without an answer",
	"connect-timeout":      "a client waits %s for a connection",
	"dial-timeout":         "a gRPC client tries to connect for %s",
	"keepalive-repeat":     "a client whose reused connection is closed %s",
	"udp-repeat":           "a client without an answer %s",
	"methods":              "requests are %s",
	"syn-repeats":          "clients repeat a SYN %s",
	"dead-address":         "the address of a pod that is gone answers %s",
	"start":                "containers listen after %s",
	"kubelet":              "kubelets have %s",
	"init":                 "init containers take %s",
	"readinessAsks":        "the readinessProbe passes %s",
	"keeper":               "the readiness gate is %s",
	"gate":                 "readiness gates are %s",
	"poststart":            "the program of the postStart hook takes %s",
	"prestop":              "the program of the preStop hook takes %s",
	"churn":                "other Services change %s",
	repeatedSYN:            "a SYN without an answer %s",
	"lb.registration":      "the load balancer checks a new target after %s",
	"lb.propagation":       "the load balancer leaves a removed target after %s",
	"lb.healthPropagation": "the load balancer follows its health checks after %s",
	"volume-move":          "a volume takes %s to another node",
	"volume-access":        "the volume is %s",
	"machine-stop":         "a machine runs on for %s after the cloud's call",
	"spot-handler":         "%s at the notice",
	"reboot":               "the machine is back after %s",
	"pool":                 "the node pool is run by %s",
	"nodes":                "the number of nodes is %s",
	"latency.watch":        "a watch event takes %s",
	"latency.proxySync":    "a sync of kube-proxy takes %s",
}

// condition is the clause of another value of an assumption: "containers listen after 20 s".
func condition(c *record.Case, a *record.Alternative) string {
	value := spaced(otherValue(a))
	switch {
	case a.ID == "timeout" && value == noLimit:
		return "a client waits " + value + " for an answer"
	case a.ID == "image":
		return "nodes first pull the image, for " + strings.TrimPrefix(value, "pull ")
	case a.ID == "proxy":
		return strings.Replace(value, "minSyncPeriod ", "minSyncPeriod is ", 1)
	case a.ID == "places":
		return strings.Replace(value, " on", " of its pods are on", 1)
	case a.ID == "prestop-program":
		return "the program of the preStop hook is " + value + " in the image"
	case a.ID == "prestop" && asksByHTTP(c):
		return "the httpGet of the preStop hook takes " + value
	case a.ID == "sigterm":
		return appOf(c) + " " + atSIGTERM(value)
	case conditions[a.ID] != "":
		return fmt.Sprintf(conditions[a.ID], value)
	}
	for i := range c.Assumptions {
		if c.Assumptions[i].ID == a.ID {
			return c.Assumptions[i].What + " is " + value
		}
	}
	return a.ID + " is " + value
}

// asksByHTTP says that every preStop hook of a case of which nothing is known is a request.
func asksByHTTP(c *record.Case) bool {
	found := false
	for i := range c.Assumptions {
		if a := &c.Assumptions[i]; a.ID == "prestop" {
			if found = strings.Contains(a.Value, "(httpGet "); !found {
				return false
			}
		}
	}
	return found
}

// atSIGTERM says what an app with a profile does.
func atSIGTERM(profile string) string {
	if words := map[string]string{
		"exits-at-once": "exits at once at SIGTERM", "closes-and-finishes": "closes its port at SIGTERM and finishes", "ignores": "ignores SIGTERM",
		"shell-pid1": "is behind a shell that stays PID 1 and does not pass SIGTERM on", nodeDefault: "has no SIGTERM handler, and serves until SIGKILL",
	}[profile]; words != "" {
		return words
	}
	return "does at SIGTERM what the profile " + profile + " says"
}

// nodeDefault is the profile of Node.js: what its app does at SIGTERM is the app's own, and nobody sees that from outside.
const nodeDefault = "node-default"

// withoutHandler says of apps with that profile what they are taken for: the name says it to nobody.
func withoutHandler(profiles string) string {
	return strings.ReplaceAll(profiles, nodeDefault+" (", nodeDefault+", no SIGTERM handler (")
}

// otherValue is another value in words: without its explanation.
func otherValue(a *record.Alternative) string {
	value := strings.TrimPrefix(withoutReport(shortValue(a.Value)), "uniform ")
	if a.ID == "timeout" && value == "none" {
		return noLimit
	}
	return value
}

// noLimit is the timeout of clients that never give up.
const noLimit = "without a limit"

// appOf is the name of a case's workload without its namespace.
func appOf(c *record.Case) string {
	switch {
	case c.Workload == "":
		return "the app"
	case strings.Contains(c.Workload, ", "): // a Scenario about several
		return "each app"
	}
	return c.Workload[strings.LastIndexByte(c.Workload, '/')+1:]
}

var (
	shortDuration = regexp.MustCompile(`\b([0-9.]+)(ms|s)\b`)
	shortRange    = regexp.MustCompile(`\b([0-9.]+)(ms|s)-([0-9.]+)(ms|s)\b`)
)

// spaced writes the durations of a flag's value for people: "20 s", "20-200 ms", "0.3-1 s".
func spaced(value string) string {
	value = shortRange.ReplaceAllStringFunc(value, func(s string) string {
		m := shortRange.FindStringSubmatch(s)
		if m[2] == m[4] {
			return m[1] + "-" + m[3] + " " + m[4]
		}
		return s
	})
	return shortDuration.ReplaceAllString(value, "$1 $2")
}
