package facts

// What Scenarios do to the cluster beside roll-outs and drains: nodes and pods that somebody adds, Services that change.
var verbMutants = []mutant{
	{"a node that somebody adds never joins", []string{"controllers 8.3 By itself"}, cluster, "TestANodeThatIsAdded", []edit{
		{"sim/cluster/action.go", "\t\tw.join(w.numberOf(o.Node))\n", ""},
	}},
	{"a node that somebody adds is in the zone of the other", []string{"controllers 8.3 By itself"}, cluster, "TestANodeThatIsAdded", []edit{
		{"sim/world/joining.go", "n.Zone = cmp.Or(o.Zone, n.Zone)", "n.Zone = cmp.Or(n.Zone, o.Zone)"},
	}},
}
