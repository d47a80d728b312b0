package facts

const volumes = "sim/volume/volume.go"

// Who has a volume, and when the next one may have it.
var volumeMutants = []mutant{
	{"everybody may have every volume", []string{"pod-lifecycle 8 Who may have a volume"}, cluster, "TestARolloutWaitsForAVolume", []edit{
		{volumes, "return v.node == node\n", "return true\n"},
	}},
	{"a pod of the same node waits, too", []string{"pod-lifecycle 8 Who may have a volume"}, "sim/volume", "TestWhoHasAVolumeWhen", []edit{
		{volumes, "return v.node == node\n", "return false\n"},
	}},
	{"a claim without access modes is for one node", []string{"pod-lifecycle 8 Who may have a volume"}, "sim/scenario", "TestWhoMayHaveAVolume", []edit{
		{"sim/scenario/volumes.go", "case len(modes) == 0, has(", "case has("},
	}},
	{"a volume of one pod is for all of its node", []string{"pod-lifecycle 8 ReadWriteOncePod"}, "sim/volume", "TestWhoHasAVolumeWhen", []edit{
		{volumes, "case v.access == world.ReadWriteOncePod:", "case v.access == world.ReadWriteMany:"},
	}},
	{"the sandbox does not wait for volumes", []string{"pod-lifecycle 8 A pod is not started without its volumes"}, cluster, "TestTheNextPodWaitsForTheVolumeOfADrainedNode", []edit{
		{"sim/kubelet/start.go", "if wk.k.d.Volumes == nil {", "if wk.k.d.Volumes != nil {"},
	}},
	{"a volume takes no time to the next node", []string{"pod-lifecycle 8 How a volume goes to the next node"}, "sim/volume", "TestWhoHasAVolumeWhen", []edit{
		{volumes, "return v.node == node || v.node < 0 || now >= v.free", "return true"},
	}},
	{"a volume comes late to its own node, too", []string{"pod-lifecycle 8 How a volume goes to the next node"}, "sim/volume", "TestWhoHasAVolumeWhen", []edit{
		{volumes, "return v.node == node || v.node < 0 || now >= v.free", "return v.node < 0 || now >= v.free"},
	}},
	{"a pod that has ended keeps its volume until its object is gone", []string{"pod-lifecycle 8 How a volume goes to the next node"}, cluster, "TestAVolumeOfANodeThatCrashed", []edit{
		{"sim/cluster/volumes.go", "case p.Gone || p.Phase.Terminal():", "case p.Gone:"},
	}},
	{"volumes take no time of their own", []string{"pod-lifecycle 8 How long that takes"}, "sim/scenario", "TestOtherVolumes", []edit{
		{"sim/scenario/volumes.go", "{\"3s\", moved(3 * engine.Second)}, {\"1m\", moved(engine.Minute)}", "{\"3s\", moved(3 * engine.Second)}"},
	}},
	{"nobody waits for a node that is silent", []string{"pod-lifecycle 8 Forced detachment"}, cluster, "TestAVolumeOfANodeThatCrashed", []edit{
		{volumes, "if t.set.Silent(v.node) {", "if !t.set.Silent(v.node) {"},
	}},
}
