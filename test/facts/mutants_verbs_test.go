package facts

const (
	services     = "sim/cluster/service.go"
	statefulsets = "sim/control/statefulset.go"
)

// What Scenarios do to the cluster beside roll-outs and drains: nodes and pods that somebody adds, Services that change.
var verbMutants = []mutant{
	{"a node that somebody adds never joins", []string{"controllers 8.3 By itself"}, cluster, "TestANodeThatIsAdded", []edit{
		{"sim/cluster/action.go", "\t\tw.join(w.numberOf(o.Node), func() {})\n", ""},
	}},
	{"a node that somebody adds is in the zone of the other", []string{"controllers 8.3 By itself"}, cluster, "TestANodeThatIsAdded", []edit{
		{"sim/world/joining.go", "n.Zone = cmp.Or(o.Zone, n.Zone)", "n.Zone = cmp.Or(n.Zone, o.Zone)"},
	}},
	{"a Pod is there before somebody creates it", []string{"controllers 3 Created"}, cluster, "TestAPodThatIsCreated$", []edit{
		{"sim/cluster/begin.go", "\tif w.sc.Workloads[i].Created {\n\t\treturn\n\t}\n", ""},
	}},
	{"a Pod that says its node is scheduled", []string{"controllers 3 Created"}, cluster, "TestAPodThatIsCreatedForANode", []edit{
		{"sim/cluster/creating.go", "\t\t\tp.Node = w.numberOf(node)\n", ""},
	}},
	{"nobody waits for a Pod that is created", []string{"controllers 3 Created"}, cluster, "TestAPodThatIsCreatedForANode", []edit{
		{"sim/cluster/creating.go", "w.bare[i], w.begun[i] = p.ID, true", "w.bare[i], w.begun[i] = p.ID, false"},
	}},
	{"a Deployment adopts any Pod", []string{"controllers 3 Bare Pods"}, "sim/scenario", "TestGolden", []edit{
		{"sim/world/creating.go", "\t\treturn has\n", "\t\treturn has || !has\n"},
	}},
	{"a StatefulSet adopts Pods of any name", []string{"controllers 3 Bare Pods"}, "sim/scenario", "TestGolden", []edit{
		{"sim/world/creating.go", "\t\treturn named && err == nil\n", "\t\treturn named || err == nil\n"},
	}},
	{"kubectl drain evicts mirror pods", []string{"controllers 7 Mirror pods"}, cluster, "TestFlagsOfKubectlDrain", []edit{
		{"sim/control/drain.go", "!r.selects(p) || r.d.mirrors(p) || r.skips(p)", "!r.selects(p) || r.skips(p)"},
	}},
	{"who takes nodes away evicts mirror pods", []string{"controllers 7 Mirror pods"}, cluster, "TestMirrorPodsStay", []edit{
		{"sim/control/takers.go", "\tif t.d.mirrors(p) {\n\t\treturn false\n\t}\n", ""},
	}},
	{"a DaemonSet keeps a pod whatever its labels", []string{"controllers 5 Claims"}, cluster, "TestADaemonsPodThatIsRelabelled", []edit{
		{"sim/control/daemonset.go", "!(p.Phase.Terminal() && p.Deleting()) && c.d.counts(p) {", "!(p.Phase.Terminal() && p.Deleting()) {"},
	}},
	{"a DaemonSet takes no pod back", []string{"controllers 5 Claims"}, cluster, "TestADaemonsPodThatIsRelabelled", []edit{
		{"sim/control/claim.go", "return d.claims(p) && (!p.Released || p.Active())", "return d.claims(p) && !p.Released"},
	}},
	{"a DaemonSet releases nothing", []string{"controllers 5 Claims"}, cluster, "TestADaemonsPodThatIsRelabelled", []edit{
		{"sim/control/claim.go", "\t\t\tnext.Released = !p.Released\n", ""},
	}},
	{"a StatefulSet keeps a pod whatever its labels", []string{"controllers 4 Claims"}, cluster, "TestAPodOfAStatefulSetThatIsRelabelled", []edit{
		{statefulsets, "\t\tif c.d.counts(p) {\n\t\t\tin.pods", "\t\tif p.ID >= 0 {\n\t\t\tin.pods"},
	}},
	{"a StatefulSet makes a second pod of a name", []string{"controllers 4 Claims"}, cluster, "TestAPodOfAStatefulSetThatIsRelabelled", []edit{
		{statefulsets, "\t\treturn ok && !cur.Gone\n", "\t\treturn ok && cur.Gone\n"},
	}},
	{"a StatefulSet goes on after a pod that it could not make", []string{"controllers 4 Claims"}, cluster, "TestAPodOfAStatefulSetThatIsRelabelled", []edit{
		{statefulsets, "if len(batches) == 0 || w.taken {", "if len(batches) == 0 {"},
	}},
	{"a StatefulSet hears that a pod is gone which it has released", []string{"controllers 4 Claims"}, cluster, "TestAReleasedPodOfAStatefulSetIsDeleted", []edit{
		{statefulsets, "return !p.Released || old == nil", "return !p.Released || p.Gone || old == nil"},
	}},
	{"a StatefulSet tries again as often as ever", []string{"controllers 4 Claims"}, cluster, "TestAReleasedPodOfAStatefulSetIsDeleted", []edit{
		{statefulsets, "\tw.failures++\n", "\tw.failures = 10\n"},
	}},
	{"nobody's selector matches a bare Pod", []string{"controllers 9.1 Removing the label"}, cluster, "TestABarePodThatIsRelabelled", []edit{
		{"sim/world/label.go", "\t\treturn true\n\t}\n\t_, changed", "\t\treturn false\n\t}\n\t_, changed"},
	}},
	{"the rules of a deleted Service stay", []string{"controllers 9.5 Proxies"}, cluster, "TestAServiceIsDeleted", []edit{
		{services, "\t\tw.cache.DeleteService(name)\n", ""},
	}},
	{"the slices of a deleted Service stay", []string{"controllers 9.5 Deletion"}, cluster, "TestAServiceIsDeleted", []edit{
		{services, "\t\tw.dropSlices(s.Number)\n", ""},
	}},
	{"a Service that is made again is as one that nobody deleted", []string{"controllers 9.5 Deletion"}, cluster, "TestAServiceIsDeleted", []edit{
		{"sim/endpointslice/controller.go", "\t\t\tc.written[o.Number] = nil\n", ""},
	}},
	{"nothing answers at a node port without rules", []string{"controllers 9.5 Proxies"}, cluster, "TestAServiceIsDeleted", []edit{
		{"sim/cluster/entry.go", "\t\t\td.Verdict = packet.Reject\n", "\t\t\td.Verdict = packet.None\n"},
	}},
	{"who asks a deleted Service was failed by somebody late", []string{"controllers 9.5 Proxies"}, cluster, "TestAServiceIsDeleted", []edit{
		{"sim/cluster/blame.go", "\t\treturn ledger.ServiceChanged, late\n", "\t\treturn ledger.StaleRules, late\n"},
	}},
	{"no proxy hears of another port", []string{"controllers 9.5 Proxies"}, cluster, "TestAPortOfAServiceChanges", []edit{
		{services, "if next.Ports != before.Ports || next.Gone != before.Gone {", "if next.Gone != before.Gone {"},
	}},
	{"a port leads on under its number of before", []string{"controllers 9.5 Proxies"}, cluster, "TestAPortOfAServiceChanges", []edit{
		{"sim/world/service.go", "\t\t\t\tp.Port = int32(o.To)\n", ""},
	}},
	{"a target port by name is that of before", []string{"controllers 9.5 Ports"}, cluster, "TestATargetPortChanges", []edit{
		{"sim/world/service.go", "p.TargetPort = intstr.FromString(o.TargetName)", "p.TargetPort = intstr.FromInt32(p.Port)"},
	}},
	{"slices keep their ports", []string{"controllers 9.5 Ports"}, cluster, "TestATargetPortChanges", []edit{
		{"sim/endpointslice/controller.go", "\t\ttouched = all(want, touched)\n", ""},
	}},
	{"pods listen wherever a Service leads", []string{"controllers 9.5 Ports"}, cluster, "TestATargetPortChanges", []edit{
		{services, "if !w.repoints {", "if !w.repoints || i != nil {"},
	}},
}
