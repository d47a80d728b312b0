package scenario

import (
	"github.com/lameduck-proxy/lameduck/sim/units"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Assumptions lists everything that a run takes for granted unless the input says it:
// docs/model/simulator.md 5 as a table. A Scenario's own list has the rows that it uses, with the
// values it uses. The words are for how each is settled.
func Assumptions(words Wording) []world.Assumption {
	option := func(name string) string { return words.Option(name, "") }
	field := words.Field
	rows := []world.Assumption{
		row("kubernetes", "Kubernetes version", "1.36", "1.33, the last with kube-proxy's earlier runner", "assumed", "the version whose code was read; docs/model/kube-proxy.md 6", option("kubernetes-version")+", from 1.19 on"),
		row("proxy", "service proxy", "kube-proxy 1.36, iptables, minSyncPeriod 1s", "minSyncPeriod 0s, 10s", "assumed", "docs/model/kube-proxy.md 6 and 10", field("nodes.proxy.minSyncPeriod", "")+", "+option("env")+", or a KubeProxyConfiguration in the input"),
		row("nodes", "nodes", "max(3, largest required-spread replicas + max(surge, 1)), two a zone where pods need each zone; with policy Local twice as many as pods, at most 100", "one, two or three per pod", "assumed", "docs/model/simulator.md 5.3 and 9", option("nodes")+", or Node objects in the input"),
		row(Places, "where pods are that leave their node", "spread over the nodes, where the input has none of them", "as many on one node as find room there", "assumed", "docs/model/simulator.md 5.4", "Pod objects in the input"),
		row("kubelet", "how a kubelet ends its pods when its machine shuts down", "shutdownGracePeriod 0s, its default: not at all; spot machines of GKE 30s", "0s, 30s", "assumed", "docs/model/pod-lifecycle.md 5; managed nodes may say otherwise", field("nodes.kubelet.shutdownGracePeriod", "")+", or a KubeletConfiguration in the input"),
		row("zones", "zones", "a, b, c", "", "assumed", "docs/model/simulator.md 5.3", "Node objects in the input"),
		row("replicas", "replicas", "max(spec.replicas, HPA minReplicas)", "", "inferred", "docs/model/simulator.md 5.3", "spec.replicas"),
		row("action", "action", "rolling restart", "", "assumed", "docs/model/simulator.md 5.4", option("action")+", or spec.actions of a Scenario"),
		row("pool", "how a node pool is run", "by provider; GKE when unknown", "the other providers", "assumed", "docs/model/controllers.md 8.1 and 8.2", option("env")+", Node objects or a NodePool in the input"),
		row("provision", "from the request for a node until it has joined", "1m30s", "30s, 5m", "assumed", "docs/model/controllers.md 8.3", "karpenter and upgradePool of a Scenario"),
		row("machine-stop", "from the cloud's call to end a machine until it is off", "0s", "30s, 90s", "assumed", "docs/model/controllers.md 8 Then", field("machineStop", "")),
		row("spot-handler", "who reacts to a spot notice", "nobody; Karpenter where the input has a NodePool, and its interruption queue is not known to be missing", "the others", "assumed", "docs/model/pod-lifecycle.md 5 Spot handlers", "spotNotice.handler of a Scenario, or who does it in the input"),
		row("reboot", "how long a machine that crashes is away", "2m", "30s, 10m", "assumed", "docs/model/pod-lifecycle.md 6 Reboot", field("reboot", "")+", or crashNode with for, of a Scenario"),
		row("clients", "clients", "100/s on new connections; 100/s on 20 connections that are kept open, idle 60s", "", "assumed", "docs/model/simulator.md 5.1", option("rate")),
		row("timeout", "how long a client waits for an answer", "30s from outside, 10s inside", "5s, none", "assumed", "docs/model/simulator.md 9", option("timeout")),
		row("connect-timeout", "how long a client waits for a connection", "as the whole request", "1s, 3s", "assumed", "docs/model/simulator.md 9", option("connect-timeout")),
		row("dial-timeout", "how long a gRPC client tries to connect", "20s", "1s, 5s", "assumed", "docs/model/simulator.md 9; MIN_CONNECT_TIMEOUT of gRPC's connection back-off document", field("clients.dialTimeout", "")),
		row("keepalive-repeat", "a client whose reused connection is closed before any answer", "asks again over another connection", "does not ask again", "assumed",
			"docs/model/simulator.md 9; Go's net/http/transport.go, shouldRetryRequest", field("clients.repeatReused", "false")),
		row("udp-repeat", "a client over UDP that has no answer", asksTwice+"; to ports without answers, such as syslog's: "+asksOnce, "the other of these; from one port", "assumed",
			"docs/model/simulator.md 5.1 Datagrams", field("clients."+udpRetries, "")),
		row("methods", "requests through a proxy", "GETs, which it may send again; POSTs where that is only recalled", "the other of these", "assumed", "docs/model/load-balancers.md 4 Methods", field("loadBalancer.retries", "")),
		row("syn-repeats", "when a client's kernel repeats a SYN without an answer", "after 1, 3, 7 and 15 s, as Linux before 6.5", "each second up to 5 s, then after 7 and 11 s, as Linux since 6.5", "assumed",
			"docs/model/kube-proxy.md 3 Repeated SYN", field("clients."+linearSYNs, "4")),
		row("dead-address", "what the address of a pod answers that is gone", "silent", "ICMP unreachable at once, after 3s", "assumed",
			"docs/model/simulator.md 9; docs/model/kube-proxy.md 7", field("deadAddress", "")),
		row("lb", "load balancer", "by evidence in the input; each family by itself when unknown", "one preset of each family", "assumed", "docs/model/simulator.md 5.2, the presets", option("lb")),
		row("lb.registration", "until a load balancer checks a new target", "by preset, where there are only reports of it", "least and most that was reported", "assumed", "docs/model/load-balancers.md 4, the presets", field("loadBalancer.registration", "")),
		row("lb.propagation", "until a load balancer leaves a target that was removed", "by preset, where there are only reports of it", "least and most that was reported", "assumed", "docs/model/load-balancers.md 4, the presets", field("loadBalancer.propagation", "")),
		row("lb.healthPropagation", "until a load balancer follows its health checks", "by preset, where there are only reports of it, or not even that", "least and most that was reported; 1 s and 3 s where nobody has measured it", "assumed", "docs/model/load-balancers.md 4, the presets", field("loadBalancer.healthPropagation", "")),
		row("lb."+repeatedSYN, "where a load balancer sends a SYN that had no answer", "by preset, where no maker says it: stays with AWS NLB, afresh with Azure", "the other one", "assumed",
			"docs/model/load-balancers.md 4 Repeated SYN", field("loadBalancer."+repeatedSYN, "")),
		row("ingress", "ingress or gateway", "by the class of the Ingress or Gateway; each family by itself when unknown", "ingress-nginx, envoy-gateway, aws-alb-ip, gke-l7-neg", "assumed", "docs/model/simulator.md 5.2, the presets", option("lb")),
		row("gate", "readiness gate of the AWS Load Balancer Controller", "by the label of the Namespace; none where the input does not have it", "injected", "assumed", "docs/model/load-balancers.md 2 lbc readiness gate", "the Namespace in the input"),
		row("keeper", "readiness gates that nothing in the input sets", "set "+keeping().String()+" after the pod's containers are ready, by something not in the input", "set after 1m; set by nothing", "assumed",
			"docs/model/simulator.md 5.3 Keeper", field("readinessGates", "")),
		row("serve", "time to answer a request", "lognormal median 20ms p99 300ms", "1s, 10s", "assumed", "docs/model/simulator.md 5.1", field("apps.NAME.serve", "")),
		row("start", "container start to listening", "2s; 15s on a JVM", "500ms, 20s; 5s, 40s on a JVM", "assumed", "docs/model/simulator.md 5.3", field("start", "")),
		row("init", "init containers", "5s each", "0s, 60s", "assumed", "docs/model/simulator.md 9", field("init", "")),
		row(readinessAsks, "what an exec readinessProbe of an unknown program asks", "passes when the app listens", "at once, without asking the server", "assumed", "docs/model/pod-lifecycle.md 3.3 exec readiness", field("apps.NAME.readinessAsks", "")),
		row("image", "image", "present on every node", "pull 10s", "assumed", "docs/model/simulator.md 5.3", field("latency.imagePull", "")),
		row("sigterm", "what the app does at SIGTERM", "by image and command; closes-and-finishes when unknown", "exits-at-once, ignores", "inferred", "docs/model/simulator.md 5.5, the profiles", option("profile")),
		row("prestop-program", "what an exec preStop hook runs", "is in the image, unless that is known to have no shell", "missing: the hook fails at once", "assumed", "docs/model/pod-lifecycle.md 2.1", field("prestop.NAME", "")+", or the sleep action of Kubernetes 1.30 and later"),
		row("prestop", "preStop of an unknown program", "0s-5s, listener untouched", "0s, 30s", "assumed", "docs/model/simulator.md 5.3", field("prestop.NAME", "")),
		row("poststart", "postStart of an unknown program", "0s-5s", "0s, 30s", "assumed", "docs/model/pod-lifecycle.md 4.2 postStart", "a postStart hook that sleeps"),
		row("volume-access", "who may have a volume at a time whose claim is not in the input", "ReadWriteOnce: the pods of one node; ReadWriteMany where several pods have it", "ReadWriteMany", "assumed",
			"docs/model/pod-lifecycle.md 8", "the PersistentVolumeClaim in the input, or "+field("volumes.access", "")),
		row("volume-move", "from the end of the last pod that has a volume until another node has it", moving().String(), "3s, 1m", "assumed", "docs/model/pod-lifecycle.md 8", field("volumes.move", "")),
		row("churn", "changes of other Services' EndpointSlices, for which every kube-proxy syncs, too", units.RateText(defaultChurn), "0/s, 2/s", "assumed", "docs/model/simulator.md 9; of a Scenario: none", field("churn", "")),
	}
	return append(rows, LatencyTable(words)...)
}

// LatencyTable lists the delays of the control plane and the nodes, with their defaults.
func LatencyTable(words Wording) []world.Assumption {
	l := DefaultLatencies()
	about := []struct{ name, what, tried, source string }{
		{"apiWrite", "a write to the API server", "", "docs/model/propagation.md 1.1"},
		{"watch", "a watch event, each watcher", "up to 500ms", "docs/model/propagation.md 1.2 and 1.4"},
		{"controller", "a controller's reaction without its write", "", "docs/model/measured.md 2"},
		{"sliceController", "the EndpointSlice controller's reaction without its write", "", "docs/model/propagation.md 1.3b; docs/model/measured.md 2"},
		{"statusWrite", "a kubelet's status write", "", "docs/model/propagation.md 1"},
		{"proxySync", "one sync of a service proxy", "1s-5s", "docs/model/propagation.md 1.6"},
		{"schedule", "the scheduler", "", "docs/model/measured.md 2"},
		{"sandbox", "pod sandbox", "", "docs/model/simulator.md 5.3"},
		{"containerStart", "container start, image present", "", "docs/model/simulator.md 5.3"},
	}
	var rows []world.Assumption
	for _, a := range about {
		for _, f := range latencyFields() {
			if f.name == a.name {
				rows = append(rows, row("latency."+a.name, a.what, f.in(&l).String(), a.tried, "assumed", a.source, words.Field("latency."+a.name, "")))
			}
		}
	}
	return rows
}

// row is one row of the table.
func row(id, what, value, span, basis, source, settle string) world.Assumption {
	return world.Assumption{ID: id, What: what, Value: value, Range: span, Basis: basis, Source: source, Settle: settle}
}
