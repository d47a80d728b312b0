package facts

const (
	nodesInAPI = "sim/cluster/node.go"
	nodesGone  = "sim/traffic/node.go"
)

// What becomes of nodes, and of what leads through them.
var nodeMutants = []mutant{
	{"the proxy does not look at its Node", []string{"kube-proxy 5.2 /healthz", "controllers 8 Effect on LBs"}, cluster, "TestHealthzOfANodeThatLeaves", []edit{
		{"sim/cluster/outside.go", "a.OK = a.OK && w.Proxies[node].Eligible()", "a.OK = a.OK && (a.Late || !a.Late)"},
	}},
	{"it has always looked at it", []string{"kube-proxy 5.2 /healthz"}, cluster, "TestHealthzOfANodeThatLeaves", []edit{
		{"sim/nodeproxy/node.go", "return !p.planNode.Options.NodeEligibility || p.nodeState.Eligible()", "return p.nodeState.Eligible()"},
	}},
	{"health ports look at it, too", []string{"controllers 8 Effect on LBs", "kube-proxy 5.1 Not included"}, cluster, "TestTheTaintLeavesHealthPortsAlone", []edit{
		{"sim/cluster/outside.go", "a := w.keepsUp(node) // the", "a := w.ProbeProxy(node) // the"},
	}},
	{"a node that is scaled down takes further pods", []string{"controllers 8 First action"}, "sim/cluster", "TestATaintedNodeTakesNoPods", []edit{
		{nodesInAPI, "\tw.sched.Leaves(node) // the autoscaler cordons it, too\n", ""},
	}},
	{"the object of a node that was scaled down stays", []string{"controllers 8 Then"}, cluster, "TestHealthzOfANodeThatLeaves", []edit{
		{nodesInAPI, "func(n *api.Node) { n.Gone = true })", "func(n *api.Node) { n.Tainted = true })"},
	}},
	{"Cluster Autoscaler deletes after 4 s", []string{"controllers 8 Wait after taint"}, scenario, "TestGolden", []edit{
		{"sim/scenario/nodes.go", "const deleteDelay = 5 * engine.Second", "const deleteDelay = 4 * engine.Second"},
	}},
	{"a workload is not restarted, but scaled to nothing", []string{"simulator 5.4"}, scenario, "TestGolden", []edit{
		{"sim/scenario/case_action.go", `world.RolloutRestart{Workload: o.id()}`, `world.Scale{Workload: o.id()}`},
	}},
	{"the service controller reacts to the taint", []string{"load-balancers 2 Service controller"}, "sim", "TestWhenALoadBalancerLeavesANode", []edit{
		{nodesGo, "return n.Gone || n.Excluded || n.Joined\n", "return n.Gone || n.Excluded || n.Joined || n.Tainted\n"},
	}},
	{"nobody leaves a node that is not ready", []string{"load-balancers 2 lbc, instance targets"}, "sim", "TestWhenALoadBalancerLeavesANode", []edit{
		{nodesGo, "(n.NotReady || n.Disrupted) && spec.NodesLeave == world.NodesNotReady", "n.Disrupted && spec.NodesLeave == world.NodesNotReady"},
	}},
	{"all leave a node that is not ready", []string{"load-balancers 2 Service controller"}, "sim", "TestWhenALoadBalancerLeavesANode", []edit{
		{nodesGo, "(n.NotReady || n.Disrupted) && spec.NodesLeave == world.NodesNotReady", "n.NotReady"},
		{nodesGo, "return n.Gone || n.Excluded || n.Joined\n", "return n.Gone || n.Excluded || n.Joined || n.NotReady\n"},
	}},
	{"a NEG waits for the node's end", []string{"load-balancers 2 GKE subsetting Cluster"}, "sim", "TestWhenALoadBalancerLeavesANode", []edit{
		{nodesGo, "return n.Gone || n.Tainted || n.Excluded || n.Joined\n", "return n.Gone || n.Excluded || n.Joined\n"},
	}},
	{"routers notice a crash at once", []string{"simulator 1"}, "sim", "TestWhenALoadBalancerLeavesANode", []edit{
		{nodesGo, "shortestHold = 60 * engine.Second\n\tlongestHold  = 90 * engine.Second", "shortestHold = 6 * engine.Second\n\tlongestHold  = 9 * engine.Second"},
	}},
	{"a request under way is answered through a dead node", []string{"simulator 2"}, "sim/traffic", "TestConnectionsThroughANodeThatIsGone", []edit{
		{nodesGone, "through := lost(s.attempt.node, s.attempt.target)", "through := lost(s.attempt.node, s.attempt.target) && node < 0"},
	}},
	{"a pool's connections outlive their node", []string{"simulator 2"}, "sim", "TestWhatStandsThroughANodeDiesWithIt", []edit{
		{nodesGone, "c.connected() && lost(c.node, c.target)", "c.connected() && lost(c.node, c.target) && node < 0"},
	}},
	{"shared connections outlive their node", []string{"simulator 2"}, "sim", "TestWhatStandsThroughANodeDiesWithIt", []edit{
		{nodesGone, "if l.state == linkUp && lost(l.dial.node, l.to) {", "if l.state == linkUp && lost(l.dial.node, l.to) && node < 0 {"},
	}},
	{"a new connection to a dead node is judged as one that stood", []string{"simulator 2"}, "sim", "TestPairsOfNodesThatAreGone", []edit{
		{"sim/ledger/fault.go", "FaultNoTarget503, FaultNodeDead,\n\t\tFaultUnreachable:", "FaultNoTarget503,\n\t\tFaultUnreachable:"},
	}},
	{"a flow that stood through a dead node is judged as a new one", []string{"simulator 2"}, "sim", "TestPairsOfNodesThatGo", []edit{
		{"sim/traffic/udp.go", "\t\tfault = ledger.FaultNodeGone\n", "\t\tfault = ledger.FaultNodeDead\n"},
	}},
	{"pods tolerate every taint", []string{"simulator 1"}, "sim", "TestPodsKeepOffATaintedNode", []edit{
		{obstacles, "case len(at.taints) > 0 && !world.Tolerates(", "case len(at.taints) > 1000 && !world.Tolerates("},
	}},
}
