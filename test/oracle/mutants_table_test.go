package oracle

import "github.com/lameduck-proxy/lameduck/test/mutate"

// mutant is a mistake somebody could make in the core.
type mutant struct {
	name  string
	edits []edit
}

// edit replaces a text that occurs exactly once in a file of the core.
type edit = mutate.Edit

func mutants() []mutant {
	var all []mutant
	for _, table := range [][]mutant{conditionMutants, fallbackMutants, topologyMutants, listMutants, sliceMutants, eventMutants, serviceMutants, healthMutants} {
		all = append(all, table...)
	}
	return all
}

var conditionMutants = []mutant{
	{"ready and serving swapped", []edit{
		{"slice.go", "*c.Ready {\n\t\tout |= Ready", "*c.Ready {\n\t\tout |= Serving"},
		{"slice.go", "*c.Serving {\n\t\tout |= Serving", "*c.Serving {\n\t\tout |= Ready"},
	}},
	{"nil ready is false", []edit{{"slice.go", "c.Ready == nil || *c.Ready", "c.Ready != nil && *c.Ready"}}},
	{"nil serving is ready", []edit{
		{"slice.go", "c.Serving == nil || *c.Serving", "c.Serving == nil && out.Ready() || c.Serving != nil && *c.Serving"},
	}},
	{"nil terminating is true", []edit{{"slice.go", "c.Terminating != nil && *c.Terminating", "c.Terminating == nil || *c.Terminating"}}},
	{"ready ignored when terminating", []edit{{"types.go", "return c&Ready != 0", "return c&Ready != 0 && c&Terminating == 0"}}},
}

var fallbackMutants = []mutant{
	{"terminating ignored in fallback", []edit{
		{"types.go", "c&(Ready|servingTerminating) == servingTerminating", "c&(Ready|Serving) == Serving"},
	}},
	{"serving ignored in fallback", []edit{
		{"types.go", "c&(Ready|servingTerminating) == servingTerminating", "c&(Ready|Terminating) == Terminating"},
	}},
	{"no fallback for Cluster", []edit{{"selection.go", "s.Cluster.Fallback = s.Cluster.Used &&", "s.Cluster.Fallback = false &&"}}},
	{"no fallback for Local", []edit{{"selection.go", "s.Local.Fallback = s.Local.Used &&", "s.Local.Fallback = false &&"}}},
	{"Local falls back only when nothing is ready anywhere", []edit{
		{"selection.go", "localFallback && t.localReady.n == 0", "localFallback && t.ready.n == 0"},
	}},
	{"Local falls back across nodes", []edit{
		{"selection.go", "if local && e.IsLocal(node.Name) {\n\t\t\t\tt.localDraining.add(i)", "if local {\n\t\t\t\tt.localDraining.add(i)"},
		{"selection.go", "e.usable(s.Local.Fallback) && e.IsLocal(node.Name)", "e.usable(s.Local.Fallback) && (s.Local.Fallback || e.IsLocal(node.Name))"},
	}},
	{"fallback follows hints", []edit{
		{"selection.go", "\tcase t.ready.n == 0:\n\t\treturn TopologyNone\n", ""},
		{"selection.go", "\t\t\tt.draining.add(i)\n", "\t\t\tt.draining.add(i)\n\t\t\tif hints {\n\t\t\t\tt.countHints(i, e.Meta, node)\n\t\t\t}\n"},
	}},
	{"has-any forgets the draining", []edit{{"selection.go", "t.ready.n > 0 || t.draining.n > 0 &&", "t.ready.n > 0 &&"}}},
}

var topologyMutants = []mutant{
	{"hints on Local", []edit{
		{"selection.go", "e.usable(s.Local.Fallback) &&", "e.usable(s.Local.Fallback) && (s.Topology != PreferSameZone || slices.Contains(e.Meta.ForZones, node.Zone)) &&"},
		{"selection.go", "local.within(sp.all)", "local.within(nil)"},
	}},
	{"a missing node hint disables nothing", []edit{{"selection.go", "\t\tt.noNodeHint = true\n", ""}}},
	{"a missing zone hint disables nothing", []edit{{"selection.go", "\t\tt.noZoneHint = true\n", ""}}},
	{"zone before node", []edit{
		{"selection.go", "!t.noNodeHint && t.forThisNode.n > 0", "!t.noNodeHint && t.forThisNode.n > 0 && (t.noZoneHint || t.forThisZone.n == 0)"},
	}},
	{"same zone though none is hinted for it", []edit{{"selection.go", "!t.noZoneHint && t.forThisZone.n > 0", "!t.noZoneHint"}}},
	{"only the first zone of a hint counts", []edit{{"selection.go", "slices.Contains(m.ForZones, node.Zone) {", "m.ForZones[0] == node.Zone {"}}},
	{"hints of endpoints that are not ready count", []edit{
		{"selection.go", "\t\t\tt.draining.add(i)\n", "\t\t\tt.draining.add(i)\n\t\t\tif hints {\n\t\t\t\tt.countHints(i, e.Meta, node)\n\t\t\t}\n"},
	}},
}

var listMutants = []mutant{
	{"union loses Local", []edit{{"selection.go", "case len(b) == 0 ||", "case true ||"}}},
	{"external access ignored in uses Cluster", []edit{
		{"types.go", "sp.InternalPolicy == PolicyCluster || sp.ExternallyAccessible()", "sp.InternalPolicy == PolicyCluster"},
	}},
	{"uses Local without external access", []edit{
		{"types.go", "sp.ExternalPolicy == PolicyLocal && sp.ExternallyAccessible()", "sp.ExternalPolicy == PolicyLocal"},
	}},
	{"the nameless node has local endpoints", []edit{{"types.go", "nodeName != \"\" && e.NodeName", "e.NodeName"}}},
	{"last duplicate wins", []edit{{"decision.go", "replaces := !e.Conditions.Terminating()", "replaces := true"}}},
	{"first duplicate wins", []edit{{"decision.go", "replaces := !e.Conditions.Terminating()", "replaces := false"}}},
	{"duplicates all count", []edit{{"decision.go", "sp.traits&hasDuplicates == 0 && !unlisted", "!unlisted"}}},
	{"a list with gaps taken for a run", []edit{{"selection.go", "r.n == 0 || r.last-r.first+1 != r.n ||", "r.n == 0 ||"}}},
	{"all endpoints thought ready", []edit{{"slice.go", "{onlyReady, c.unready == 0}", "{onlyReady, c.unready >= 0}"}}},
	{"a reason is wrong", []edit{{"decision.go", "return ReasonServingNotReady\n", "return ReasonNotReady\n"}}},
}

var sliceMutants = []mutant{
	{"headless slice used", []edit{{"slice.go", "|| hasLabel(s.Labels, corev1.IsHeadlessService)", "|| false && hasLabel(s.Labels, corev1.IsHeadlessService)"}}},
	{"unnamed slice port skipped", []edit{{"slice.go", "if port.Name == nil ||", "if port.Name == nil || *port.Name == \"\" ||"}}},
	{"protocol ignored in matching ports", []edit{
		{"cache.go", "return g.key.compare(k) }", "k.protocol = g.key.protocol; return g.key.compare(k) }"},
	}},
	{"IPv4-mapped address kept", []edit{{"address.go", "return a.Unmap(), nil", "return a, nil"}}},
	{"last address read", []edit{{"slice.go", "parseAddr(e.Addresses[0])", "parseAddr(e.Addresses[len(e.Addresses)-1])"}}},
}

var eventMutants = []mutant{
	{"slice deletion ignored", []edit{{"cache.go", "delete(c.byService[s.service], s.name)", ""}}},
	{"slice deletion wakes nobody", []edit{{"cache.go", "c.dirty[s.service] = mark{whole: true}", ""}}},
	{"Service re-added without its slices", []edit{{"cache.go", "delete(c.services, name)\n", "delete(c.services, name)\n\t\tdelete(c.byService, name)\n"}}},
	{"changed conditions taken for no change", []edit{{"slice.go", "e.Conditions == o.Conditions &&", ""}}},
	{"changed policy taken for no change", []edit{{"cache.go", "a.InternalPolicy == b.InternalPolicy &&", ""}}},
}

var serviceMutants = []mutant{
	{"zero source range restricts", []edit{{"service.go", "return r.Bits() == 0", "return false && r.Bits() == 0"}}},
	{"source ranges of the other family kept", []edit{{"service.go", "case FamilyOf(prefix.Addr()) == family:", "default:"}}},
	{"ipMode Proxy captured", []edit{{"service.go", "*ing.IPMode != corev1.LoadBalancerIPModeVIP", "*ing.IPMode == \"\""}}},
	{"health-check node port for every type", []edit{{"service.go", "svc.Spec.Type == corev1.ServiceTypeLoadBalancer {", "svc.Spec.Type != \"\" {"}}},
}

var healthMutants = []mutant{
	{"health count includes the draining", []edit{{"snapshot.go", "if e.Conditions.Ready() &&", "if (e.Conditions.Ready() || e.Conditions.Draining()) &&"}}},
	{"health count counts ports", []edit{
		{"snapshot.go", "ips := map[netip.Addr]bool{}", "ips := map[netip.AddrPort]bool{}"}, {"snapshot.go", "ips[e.Addr.Addr()] = true", "ips[e.Addr] = true"},
	}},
	{"health count only of matched ports", []edit{
		{"snapshot.go", "if g.key.family != family {", "if g.key.family != family || !slices.ContainsFunc(s.Ports, func(p ServicePort) bool { return p.Name.Port == g.key.name }) {"},
	}},
	{"health count of all nodes", []edit{{"snapshot.go", "e.IsLocal(nodeName) &&", "true &&"}}},
}
