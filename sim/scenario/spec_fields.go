package scenario

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/units"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// making is a Scenario while it is made. Normal, which only prints it, has no builder.
type making struct {
	b *builder
	*world.Scenario
}

// allSpecFields is made once: to make it takes as long as to read a document with it. Nobody changes it.
var allSpecFields = slices.Concat(specWorld(), specClients(), specRun())

// specFields are those of spec. They are read in the order in which they are printed: what is done comes after the world.
func specFields() []fieldOf[making] { return allSpecFields }

// onlyOfScenarios names the fields that manifests alone have not: who asks, and what is done, is inferred case by case.
func onlyOfScenarios() []string {
	return []string{"traffic", "ingress", "actions", "expect", "manifests"}
}

// specWorld is what there is.
func specWorld() []fieldOf[making] {
	return []fieldOf[making]{
		{field: field{"description", of(text).doc("", "for readers of the file")}},
		{
			field: field{"kubernetes", fieldsOf(
				field{"version", of(text).doc("1.36", "the cluster's version, from 1.19 on: kube-proxy, the API server and the controllers behave like it")},
				field{"featureGates", mapping(of(boolean).doc("as in that version", "a feature gate of kube-proxy, such as ProxyTerminatingEndpoints, or MaxUnavailableStatefulSet"))},
			)},
			read:  func(c cursor, s *making) { s.Kubernetes = s.b.kubernetes(c) },
			write: printKubernetes,
		},
		{field: field{"manifests", list(file()).doc("",
			"files with the objects of the world, relative to this file; documents beside this one count, too, and so do all other inputs")}}, // builder.load reads them
		{
			field: field{"nodes", nodesShape()},
			read:  func(c cursor, s *making) { s.Nodes = s.b.nodes(c) },
			write: func(w *printer, s *making) {
				w.list("nodes", len(s.Nodes), func(i int) { w.node(&s.Nodes[i]) })
				w.shutdown(s.Shutdown)
			},
		},
		{
			field: field{"machineStop", of(duration).doc("0s: at once", "how long a machine runs on after the cloud was told to end it, by Cluster Autoscaler, Karpenter or an upgrade: what is sent through it arrives")},
			read:  func(c cursor, s *making) { s.MachineStop, s.StopSaid = c.span(0), c.present() },
			write: func(w *printer, s *making) { w.time("machineStop", s.MachineStop) },
		},
		specReboot(),
		specVolumes(),
		specKeeper(),
		{
			field: field{"churn", of(changes).doc("0/s, and 0.2/s for manifests",
				"changes of other Services' EndpointSlices: every kube-proxy syncs for each, and what changes next waits for minSyncPeriod")},
			read: func(c cursor, s *making) {
				if c.present() {
					s.Churn = c.changes()
				}
			},
			write: func(w *printer, s *making) {
				if s.Churn > 0 {
					w.raw("churn", units.RateText(s.Churn))
				}
			},
		},
		{
			field: field{"latency", latencyShape()},
			read:  func(c cursor, s *making) { s.Latency = s.b.latency(c) },
			write: func(w *printer, s *making) { w.nested("latency", func() { w.latency(s.Latency) }) },
		},
		{field: field{"init", of(dist).doc("5s", // read with each workload
			"how long each init container runs, one after another, where its app does not say it; a sidecar (restartPolicy Always) only has to be started")}},
		{
			field: field{"apps", mapping(appShape(true))},
			read:  func(c cursor, s *making) { s.b.workloads(c) },
			write: func(w *printer, s *making) {
				w.list("workloads", len(s.Workloads), func(i int) { w.workload(&s.Workloads[i]) })
				w.list("services", len(s.Services), func(i int) { w.service(s.Services[i].Service) })
				w.list("budgets", len(s.Budgets), func(i int) { w.budget(&s.Budgets[i]) })
			},
		},
	}
}

func printKubernetes(w *printer, s *making) {
	w.line("kubernetes", s.Kubernetes.Version.String())
	w.line("terminatingFallback", s.Kubernetes.Options.TerminatingFallback.String())
	w.flag("maxUnavailableOfStatefulSets", s.Several)
	w.texts("whatIf", s.Kubernetes.WhatIf)
	w.texts("notes", s.Kubernetes.Notes)
}

// specClients is who asks, and what is between.
func specClients() []fieldOf[making] {
	return []fieldOf[making]{
		{field: field{"loadBalancer", balancerShape()}}, // it, ingress and clients are read with each stream
		{field: field{"ingress", ingressShape()}},
		{field: field{"clients", fieldsOf(
			field{"timeout", orWord(noTimeout).doc("30s from outside, 10s inside",
				"how long clients wait for the answer to a request, the connection included, where their traffic does not say it; UDP, webhook and DNS clients have timeouts of their own")},
			field{"connectTimeout", orWord(noTimeout).doc("that of the request", "how long they wait for a connection, but those of gRPC")},
			field{"dialTimeout", orWord(noTimeout).doc("20s", "how long gRPC's clients try to connect; the deadlines of the calls that wait do not matter")},
			field{"repeatReused", of(boolean).doc("true",
				"clients of a keep-alive pool ask again over another connection when one that they had used before is closed before any byte of the answer")},
			field{udpRetries, of(whole).doc("1; 0 to ports of syslog, statsd, NetFlow and others without answers",
				"how often clients over UDP ask again that have had no answer within 2s")},
			field{linearSYNs, of(whole).doc("0",
				"net.ipv4.tcp_syn_linear_timeouts of their kernels: how many SYNs without an answer are repeated a second after one another before the pauses double; Linux since 6.5 has 4")},
		)}},
		{
			field: field{"deadAddress", orWord(silent).doc("silent",
				"what the address of a pod answers that is gone: nothing, or ICMP host unreachable so long after the first SYN: 0s where the node has no route to it, 3s where it asks by ARP")},
			read: func(c cursor, s *making) { s.b.deadAddress(c) },
			write: func(w *printer, s *making) {
				if s.Unreachable {
					w.raw("deadAddress", s.UnreachableAfter.Duration().String())
				}
			},
		},
		{
			field: field{"traffic", list(shapeOf(trafficFields()))},
			read: func(c cursor, s *making) {
				s.b.services()
				s.b.traffic(c)
				s.b.unusedBalancer()
				s.b.unusedIngress()
			},
			write: func(w *printer, s *making) {
				w.list("traffic", len(s.Traffic), func(i int) { printRows(w, trafficFields(), &s.Traffic[i]) })
			},
		},
	}
}

// specRun is what is done, and what is expected of it.
func specRun() []fieldOf[making] {
	return []fieldOf[making]{
		{
			field: field{"actions", list(actionShape())},
			read:  func(c cursor, s *making) { s.b.actions(c) },
			write: func(w *printer, s *making) {
				w.list("actions", len(s.Actions), func(i int) { w.action(&s.Actions[i]) })
			},
		},
		{
			field: field{"expect", shapeOf(expectFields())},
			read:  func(c cursor, s *making) { s.Expect = s.b.expect(c) },
			write: func(w *printer, s *making) {
				if s.Expect != nil {
					w.nested("expect", func() { printRows(w, expectFields(), s.Expect) })
				}
			},
		},
		{
			field:  field{"warmup", of(duration).doc("5s", "time of traffic before the first action, where no action has a time of its own")},
			read:   func(c cursor, s *making) { s.Warmup = c.span(defaultWarmup) },
			write:  func(w *printer, s *making) { w.time("warmup", s.Warmup) },
			before: "nodes",
		},
		{
			field:  field{"until", of(duration).doc("1h", "the end of the run, even if not everything has settled")},
			read:   func(c cursor, s *making) { s.Until = until(c) },
			write:  func(w *printer, s *making) { w.time("until", s.Until) },
			before: "nodes",
		},
	}
}
