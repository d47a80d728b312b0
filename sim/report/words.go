package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/check"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// span writes a duration for people: "13.6 s", "0.98 s", "none".
func span(t engine.Time) string {
	if t == 0 {
		return "none"
	}
	return figure(t) + " s"
}

// figure rounds a duration to what a reader needs: two decimals below ten seconds, else one.
func figure(t engine.Time) string {
	switch {
	case t == 0:
		return "0"
	case t < 10*engine.Millisecond:
		return "<0.01"
	case t < 10*engine.Second:
		return ((t + 5*engine.Millisecond) / (10 * engine.Millisecond) * (10 * engine.Millisecond)).Seconds()
	default:
		return ((t + 50*engine.Millisecond) / (100 * engine.Millisecond) * (100 * engine.Millisecond)).Seconds()
	}
}

// moment writes a time of a run to the millisecond: "2.108", "6".
func moment(t engine.Time) string { return (t - t%engine.Millisecond).Seconds() }

// spread writes the median with the range over runs: "13.6 s (12-16)".
func spread(r check.Range) string {
	low, middle, high := engine.Time(r.Min), engine.Time(r.Median), engine.Time(r.Max)
	if high == 0 {
		return "none"
	}
	if low == high {
		return span(middle)
	}
	return fmt.Sprintf("%s (%s-%s)", span(middle), figure(low), figure(high))
}

// percent writes a bound, rounded up: "14 %", "1.5 %", "1 %".
func percent(f check.Fraction) string {
	const tenth = 1000 // of a percent, in millionths
	tenths := (int64(f) + tenth - 1) / tenth
	if tenths >= 100 {
		return fmt.Sprintf("%d %%", (int64(f)+10*tenth-1)/(10*tenth))
	}
	return strings.TrimSuffix(fmt.Sprintf("%d.%d", tenths/10, tenths%10), ".0") + " %"
}

// share writes a part of a whole: "91 %", "<1 %".
func share(n, of uint64) string {
	p := (200*n + of) / (2 * of)
	if p == 0 && n > 0 {
		return "<1 %"
	}
	return fmt.Sprintf("%d %%", p)
}

// rateWords writes thousandths of a request a second: "100/s".
func rateWords(milli int) string {
	if milli == 0 {
		return ""
	}
	return (engine.Time(milli) * engine.Millisecond).Seconds() + "/s"
}

// thousands groups digits: "1,490".
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// lateWords says whose lateness a cause was. At the end of draining nobody is late: the load balancer
// does what it is there for. Neither is anybody when a node goes, and no manifest asked for that.
func lateWords(x *check.Cause) string {
	switch x.Cause {
	case ledger.DrainCut:
		return "the load balancer itself"
	case ledger.NodeGone:
		return "the node itself"
	default:
		return actorWords(x.Actor)
	}
}

// actorWords says whose lateness it was.
func actorWords(a ledger.Actor) string {
	return map[ledger.Actor]string{
		ledger.Spec:            "the manifest asks for it",
		ledger.Kubelet:         "late: kubelet",
		ledger.KubeletProbe:    "by the kubelet's probe",
		ledger.SliceController: "late: EndpointSlice controller",
		ledger.Watch:           "late: watch events on their way",
		ledger.ProxyWait:       "late: service proxy, waiting for its minSyncPeriod",
		ledger.ProxySync:       "late: service proxy, syncing its rules",
		ledger.LBController:    "late: load balancer's controller",
		ledger.LBProbe:         "late: load balancer's health probe",
		ledger.LBPropagation:   "late: load balancer, spreading its targets",
		ledger.Ingress:         "late: ingress proxy",
		ledger.DNSCache:        "late: a DNS cache",
		ledger.App:             "the app itself",
		ledger.Scheduler:       "late: scheduler",
	}[a]
}

// elsewhereWords tells the race part from the outage part.
func elsewhereWords(elsewhere bool) string {
	if elsewhere {
		return "another pod could have answered"
	}
	return "no other pod could answer"
}

// CauseRow is one row of the table of causes.
type CauseRow struct {
	Cause, What, Signature string
}

// Causes lists what a cause is and what it looks like from outside.
func Causes() []CauseRow {
	what := map[ledger.Cause][2]string{
		ledger.StaleDNS:        {"the name did not resolve, or only to addresses that are gone", "curl: could not resolve host, or timeouts to an old address"},
		ledger.NodeGone:        {"the node the connection led to is dead", "timeouts; established connections hang"},
		ledger.DrainCut:        {"the load balancer or L7 proxy cut the connection at the end of its draining, or with its target", "connection reset by peer"},
		ledger.KilledInFlight:  {"an answer was outstanding at SIGKILL, after the grace period", "connection reset or EOF; container exit code 137"},
		ledger.ExitInFlight:    {"an answer was outstanding when the process exited after SIGTERM", "connection reset or EOF; nginx 502"},
		ledger.LivenessRestart: {"the liveness probe had the container restarted", "connection reset or refused; the pod's restart count rises"},
		ledger.Crashed:         {"the process crashed", "connection reset or refused; the pod's restart count rises"},
		ledger.KeepaliveRace:   {"a request was written while the server was closing the idle connection", "Go: EOF, or server closed idle connection; nginx 502; rare single errors"},
		ledger.FlowPinned:      {"a flow stays with an endpoint that is gone", "UDP or silent TCP without answers, though new flows work"},
		ledger.NoHealthyTarget: {"the load balancer or L7 proxy had no target", "HTTP 503; ALB: HTTPCode_ELB_5XX"},
		ledger.StaleLB:         {"the targets of the load balancer or L7 proxy were out of date, others would have helped", "timeouts or 502 for some clients, until its probe or controller catches up"},
		ledger.StaleRules:      {"a node's rules were out of date, others would have helped", "curl: connection refused or timeouts, for about minSyncPeriod after each pod"},
		ledger.NoLocalEndpoint: {"policy Local, and the node has no usable endpoint though others have", "timeouts; kube-proxy: sync_proxy_rules_no_local_endpoints_total"},
		ledger.NoEndpoint:      {"no usable endpoint anywhere", "curl: connection refused, from every node"},
		ledger.NotListeningYet: {"the pod got traffic before its server listened", "connection refused just after a pod's start; no readiness probe"},
		ledger.ListenerClosed:  {"the pod got traffic after its server had stopped listening", "connection refused just after SIGTERM; no preStop delay"},
		ledger.Overloaded:      {"accepted, and answered too late or turned away for lack of capacity", "HTTP 503 or client timeouts under load"},
		ledger.AppError:        {"an error the scenario asked of the app", "HTTP 5xx from the app itself, while its pod is ready"},
	}
	var rows []CauseRow
	for c := ledger.NoCause + 1; c < ledger.NumCauses; c++ {
		rows = append(rows, CauseRow{c.String(), what[c][0], what[c][1]})
	}
	return rows
}
