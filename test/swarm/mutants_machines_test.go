package swarm

// machineMutants are mistakes about workloads that are no Deployments, and about machines that end.
var machineMutants = []mutant{
	{"a StatefulSet does not wait for its pods", []string{"controllers 4 OrderedReady create"}, []edit{
		{"control/statefulstep.go", "\t\tcase s.isUnavailable(r.pod):\n\t\t\treturn\n\t\t}\n\t}\n\tif len(s.condemned)", "\t\tcase s.isUnavailable(r.pod) && r.ordinal < 0:\n\t\t\treturn\n\t\t}\n\t}\n\tif len(s.condemned)"},
	}},
	{"an update begins with the lowest ordinal", []string{"controllers 4 Rolling update"}, []edit{
		{"control/statefulstep.go", "\tfor i := len(s.replicas) - 1; i >= s.partition; i-- {\n", "\tfor i := s.partition; i < len(s.replicas); i++ {\n"},
	}},
	{"a StatefulSet knows no partition", []string{"controllers 4 Partition"}, []edit{
		{"control/statefulset.go", "in.partition = int(*u.Partition)", "in.partition = 0 * int(*u.Partition)"},
	}},
	{"a StatefulSet knows no OnDelete", []string{"controllers 4 OnDelete"}, []edit{
		{"control/statefulstep.go", "\tcase s.onDelete:\n\tcase", "\tcase"},
	}},
	{"a StatefulSet forgets what it has created", []string{"controllers 4 Same-name replacement"}, []edit{
		{"control/statefulset.go", "\tcase len(w.unseen) > 0:\n", "\tcase len(w.unseen) > 1000:\n"},
	}},
	{"a sync of a StatefulSet loses pods", []string{"controllers 4 History"}, []edit{
		{"control/statefulset.go", "\t\tif c.d.counts(p) {\n\t\t\tin.pods = append(in.pods, p)\n\t\t}\n", "\t\tin.pods = w.pods\n\t\t_ = p\n"},
	}},
	{"a DaemonSet does not come back for its new pod", []string{"controllers 5 minReadySeconds"}, []edit{
		{"control/daemonset.go", "minReady > 0 && was != nil && !was.Ready", "minReady < 0 && was != nil && !was.Ready"},
	}},
	{"a proxy has the answer of a machine that is off", []string{"simulator 2"}, []edit{
		{"traffic/node.go", "\t\tst.asks(limit + 1)\n", "\t\t_ = st\n"},
	}},
}
