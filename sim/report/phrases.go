package report

import (
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// phrase is a cause in words.
type phrase struct {
	// name says what is wrong, for a table: "a node's rules are out of date".
	name string
	// story says the same as a sentence about a rollout, without an end: what was late follows.
	story string
	// signature is what it looks like from outside.
	signature string
	// of says it for an actor of which late does not; "" in it says that nothing follows.
	of map[ledger.Actor]string
}

// late says what an actor had not done yet; an actor without a row has nothing to do with it.
var late = map[ledger.Actor]string{
	ledger.Kubelet:         "the kubelet has not reported it yet",
	ledger.KubeletProbe:    "a readiness probe has not noticed it yet",
	ledger.SliceController: "the EndpointSlice is not updated yet",
	ledger.Watch:           "the change is on its way to the node",
	ledger.ProxyWait:       "kube-proxy waits for minSyncPeriod",
	ledger.ProxySync:       "kube-proxy is writing its rules",
	ledger.LBController:    "its controller has not changed it yet",
	ledger.LBProbe:         "its health checks have not noticed it yet",
	ledger.LBPropagation:   "the change is spreading inside it",
	ledger.Ingress:         "it has not heard of the change yet",
	ledger.DNSCache:        "a DNS cache still has the old answer",
	ledger.Scheduler:       "the new pod has no node yet",
	ledger.NodeLifecycle:   "the control plane has not noticed it yet",
	ledger.VolumeAttach:    "the new pod waits for its volume",
}

var phrases = map[ledger.Cause]phrase{
	ledger.StaleDNS: {
		"a name leads only to addresses that are gone", "clients connect to addresses of pods that are gone",
		"curl: could not resolve host, or timeouts to an old address", nil,
	},
	ledger.NodeGone: {
		"the node behind the connection is gone", "connections lead to a node that is gone, or through it",
		"timeouts; established connections hang", map[ledger.Actor]string{ledger.Spec: ""},
	},
	ledger.DrainCut: {
		"the load balancer cuts open connections", "the load balancer cuts open connections",
		"connection reset by peer", map[ledger.Actor]string{
			ledger.LBController: "the draining time of their target is over",
			ledger.LBProbe:      "their target fails its health checks, and it resets those",
			ledger.Spec:         "they come to another node than before",
		},
	},
	ledger.KilledInFlight: {
		"a request was still running when the grace period ended (SIGKILL)", "requests are still running when the grace period ends, and SIGKILL cuts them",
		"connection reset or EOF; container exit code 137", nil,
	},
	ledger.ExitInFlight: {
		"the server exited before it had answered", "the server exits after SIGTERM before it has answered",
		"connection reset or EOF; nginx 502", nil,
	},
	ledger.LivenessRestart: {
		"the liveness probe had the container restarted", "the liveness probe has the container restarted",
		"connection reset or refused; the pod's restart count rises", map[ledger.Actor]string{ledger.KubeletProbe: ""},
	},
	ledger.Crashed: {
		"the process crashed", "the process crashes",
		"connection reset or refused; the pod's restart count rises", nil,
	},
	ledger.KeepaliveRace: {
		"a request met a connection that was being closed", "a client sends a request on an idle connection just as it is closed",
		"Go: EOF, or server closed idle connection; nginx 502; rare single errors",
		map[ledger.Actor]string{ledger.Spec: "the load balancer forgets idle ones first"},
	},
	ledger.FlowPinned: {
		"an open flow stays with a pod that is gone", "flows that are open (UDP, or TCP without answers) stay with a pod that is gone",
		"UDP or silent TCP without answers, though new flows work", nil,
	},
	ledger.NoHealthyTarget: {
		either + " has no target that answers", either + " has no target that answers",
		"HTTP 503; ALB: HTTPCode_ELB_5XX",
		map[ledger.Actor]string{
			ledger.LBController: "its controller has not added the new one yet", ledger.LBProbe: "the new one has not passed its health checks yet",
			ledger.LBPropagation: "the new one is still being registered",
		},
	},
	ledger.StaleLB: {
		either + " still sends to dead targets", either + " goes on sending new connections to dead targets",
		"timeouts or 502 for some clients, until its probe or controller catches up", nil,
	},
	ledger.StaleRules: {
		"a node's rules are out of date", "after a pod is told to stop, nodes go on sending it new connections",
		"curl: connection refused or timeouts, for about minSyncPeriod after each pod", nil,
	},
	ledger.NoLocalEndpoint: {
		"the node has no pod to send to, and the policy is Local", "a node without a usable pod of its own drops connections, because the traffic policy is Local",
		"timeouts; kube-proxy: sync_proxy_rules_no_local_endpoints_total",
		map[ledger.Actor]string{
			ledger.KubeletProbe: "a pod's readiness probe has not passed yet", ledger.LBController: "the new pod's readiness gate is not open yet",
			ledger.App: "its pod fails its readiness probe, and still accepts",
		},
	},
	ledger.NoEndpoint: {
		"no pod is ready, on any node", forATime,
		"curl: connection refused, from every node",
		map[ledger.Actor]string{ledger.KubeletProbe: "a pod's readiness probe has not passed yet", ledger.LBController: "the new pod's readiness gate is not open yet"},
	},
	ledger.NotListeningYet: {
		"a pod got traffic before its server listened", "new pods get traffic before their server listens",
		"connection refused just after a pod's start; no readiness probe", nil,
	},
	ledger.ListenerClosed: {
		"a pod got traffic after its server had closed its port", "pods get traffic after their server has closed its port",
		"connection refused just after SIGTERM; no preStop delay", nil,
	},
	ledger.Overloaded: {
		"the pods that are left are overloaded", "the pods that are left cannot answer all requests in time",
		"HTTP 503 or client timeouts under load", nil,
	},
	ledger.AppError: {
		"the app answered with an error", "the app answers with an error, as the Scenario asks",
		"HTTP 5xx from the app itself, while its pod is ready", nil,
	},
	ledger.ServiceChanged: {
		"the Service was deleted, has other ports, or selects no pod",
		"the Service was deleted, selects no pod, or leads to ports that nobody asks or listens on",
		"connection refused or timeouts at once, while all pods are well", nil,
	},
}

// lateness is what was late with a cause, "" when nobody was.
func lateness(b ledger.Blame) string {
	if words, own := phrases[b.Cause].of[b.Actor]; own {
		return words
	}
	return late[b.Actor]
}

func withLateness(words string, b ledger.Blame) string {
	if l := lateness(b); l != "" {
		return words + ": " + l
	}
	return words
}

// leftAlone is the phrase of a proxy that runs on when what it passes requests on to has ended: nobody else answers with errors that are not asked for.
var leftAlone = phrase{
	name:  "the proxy in a pod answered with errors, for the app behind it had stopped",
	story: "the app in a pod stops before the proxy in front of it, which goes on taking requests and answers them with errors",
}

// phraseOf is what there is to say of a cause and of whose it is.
func phraseOf(b ledger.Blame) phrase {
	if b.Cause == ledger.AppError && b.Actor == ledger.Spec {
		return leftAlone
	}
	return phrases[b.Cause]
}

// causeName is a cause and the component that was late in words that fit into a table.
func causeName(b ledger.Blame) string { return withLateness(phraseOf(b).name, b) }

// causeStory is the same as a sentence, without an end.
func causeStory(b ledger.Blame) string { return withLateness(phraseOf(b).story, b) }

// either is what a cause calls that which stands before the nodes or pods, where nobody knows what it is.
const either = "the load balancer or proxy"

// forATime is what is said of a workload without a ready pod that has one again.
const forATime = "for a time no pod is ready, old or new"

// inFront names what stands there in a case: one of both, as its assumptions say. What is for good is not for a time.
func inFront(c *record.Case, words string) string {
	if words == forATime && c.ForGood() {
		return "no pod is ready any more"
	}
	how := changedService(c)
	if promotes(c) {
		how = "the Service selects no pod: the label by which it did went with the old pod"
	}
	if how != "" {
		for _, all := range []string{phrases[ledger.ServiceChanged].name, phrases[ledger.ServiceChanged].story} {
			words = strings.Replace(words, all, how, 1)
		}
	}
	for i := range c.Assumptions {
		if a := &c.Assumptions[i]; a.ID == "lb" || a.ID == "ingress" {
			return strings.Replace(words, either, frontName(a.ID, firstWord(a.Value), len(c.Families) > 1), 1)
		}
	}
	return words
}

// firstWord is a value without what says so.
func firstWord(value string) string {
	id, _, _ := strings.Cut(value, " ")
	return id
}

// frontName is what stands before the nodes or pods, as its users call it: "the AWS ALB"; what it is where there is no such name, or it is not
// known which one it is.
func frontName(assumption, id string, unknown bool) string {
	presets := scenario.Presets()
	at := slices.IndexFunc(presets, func(p scenario.Preset) bool { return p.ID == id || p.Family == id })
	if unknown || at < 0 || scenario.Nameless(presets[at].ID) {
		return map[string]string{"lb": "the load balancer", "ingress": "the proxy"}[assumption]
	}
	switch name, _, _ := strings.Cut(presets[at].Short, ","); {
	case slices.Contains([]string{"GKE", "Azure", "kind"}, name):
		return name + "'s load balancer"
	case strings.HasPrefix(name, "AWS "):
		return "the " + name
	default:
		return name
	}
}

// promotes says that an operator labels the pods of a case, which is not simulated.
func promotes(c *record.Case) bool {
	for i := range c.NotModelled {
		if c.NotModelled[i].ID == record.Promotion {
			return true
		}
	}
	return false
}

// changedService says what a Scenario does to its Service, "" where it does nothing to it, or more than one thing.
func changedService(c *record.Case) string {
	out := ""
	for _, verb := range strings.Split(c.Action, ", ") {
		how := map[string]string{
			"deleteService": "the Service was deleted",
			"setPort":       "the Service leads to ports that nobody asks or listens on",
			"setSelector":   "the Service selects no pod",
			"relabelPod":    "the Service selects no pod",
		}[verb]
		switch {
		case how == "" || how == out:
		case out != "":
			return ""
		default:
			out = how
		}
	}
	return out
}

// CauseRow is one row of the table of causes.
type CauseRow struct {
	Cause, What, Signature string
}

// Causes lists what a cause is and what it looks like from outside.
func Causes() []CauseRow {
	var rows []CauseRow
	for c := ledger.NoCause + 1; c < ledger.NumCauses; c++ {
		rows = append(rows, CauseRow{c.String(), phrases[c].name, phrases[c].signature})
	}
	return rows
}

// clientNames say for people who the clients of a stream are.
var clientNames = map[string]string{
	"new connections": "new connections",
	"keep-alive":      "connections kept open",
	"gRPC calls":      "gRPC and HTTP/2 clients",
	"sessions":        "clients with long sessions",
	"API server":      "the API server, which calls this webhook",
}

func clientName(c *record.Case, i int) string { return clientWord(c.Clients[i].Name) }

func clientWord(name string) string {
	if words := clientNames[name]; words != "" {
		return words
	}
	return name
}

// whence is where the clients of a case are, "" where its class does not say.
func whence(c *record.Case) string {
	return map[string]string{"outside": " from outside the cluster", "inside": " inside the cluster"}[c.Class]
}

// seenAs says what a client sees of an outcome, in a word.
func seenAs(o ledger.Outcome) string {
	if words := map[ledger.Outcome]string{ledger.Timeout: "timeout", ledger.HTTP5xx: "HTTP 5xx", ledger.Unresolved: "name not found", ledger.Unreachable: "no route to host"}[o]; words != "" {
		return words
	}
	return o.String()
}
