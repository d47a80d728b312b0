package facts

// Files where load balancers are modelled.
const (
	gkePreset     = "sim/presets/gke.yaml"
	awsPreset     = "sim/presets/aws.yaml"
	azurePreset   = "sim/presets/azure.yaml"
	metallbPreset = "sim/presets/metallb.yaml"
	kindPreset    = "sim/presets/kind.yaml"
	ingressPreset = "sim/presets/ingress.yaml"
	balancer      = "sim/balancer/balancer.go"
	nodesGo       = "sim/balancer/nodes.go"
	checks        = "sim/balancer/check.go"
	picks         = "sim/balancer/pick.go"
)

const (
	presets    = "TestPresets$"
	balancers  = "sim/balancer"
	proxying   = "sim/traffic/proxying.go"
	ofPresets  = "TestDetectionOfEveryPreset"
	ofDraining = "TestDrainingOfEveryPreset|TestComingBack"
)

// What load balancers are made of.
var presetMutants = []mutant{
	{"GKE L4 Local fails once", []string{"load-balancers 1 GKE L4 (subsetting), Local"}, scenario, presets, []edit{
		{gkePreset, "interval: 3s, timeout: 1s, healthy: 1, unhealthy: 2", "interval: 3s, timeout: 1s, healthy: 1, unhealthy: 1"},
	}},
	{"the cloud provider takes every attribute", []string{"load-balancers 2 AWS in-tree NLB, attributes of target groups"}, scenario, "TestAttributesThatTheCloudProviderRefuses", []edit{
		{"sim/scenario/lb_annotations.go", "strings.HasPrefix(lb.Preset, nlbInTree) && len(refused) > 0", "false && len(refused) > 0"},
	}},
	{"an annotation is advised that the cloud provider refuses", []string{"load-balancers 2 AWS in-tree NLB, attributes of target groups"}, "sim/fix", "TestNoAnnotationIsAdvised", []edit{
		{"sim/scenario/remedy_service.go", "inTree = false, strings.HasPrefix(lb.Preset, nlbInTree)", "inTree = false, false"},
	}},
	{"AWS makes an NLB to pods of a Service that asks for nothing", []string{"load-balancers 2 What AWS makes of a Service that asks for nothing"}, scenario, "TestACaseIsMadeForEachLoadBalancerThatItMightBe", []edit{
		{"sim/scenario/lb_evidence.go", "return name == nlbToPods })", "return false })"},
	}},
	{"GKE L4 Cluster asks the node port", []string{"load-balancers 1 GKE L4 (subsetting), Cluster"}, scenario, presets, []edit{
		{gkePreset, "probe: proxy-health, interval: 8s", "probe: node-port, interval: 8s"},
	}},
	{"GKE legacy asks each second", []string{"load-balancers 1 GKE legacy external", "load-balancers 1 GKE legacy internal"}, scenario, presets, []edit{
		{gkePreset, "GKE legacy external: cloud-provider-gcp providers/gce\"\n    loadBalancer: {target: nodes, members: all-nodes, nodesLeave: deleted, interval: 8s", "GKE legacy external: cloud-provider-gcp providers/gce\"\n    loadBalancer: {target: nodes, members: all-nodes, nodesLeave: deleted, interval: 1s"},
	}},
	{"a NEG's proxies ask each 5 s", []string{"load-balancers 1 GKE L7 container-native NEG"}, scenario, presets, []edit{
		{gkePreset, "interval: 15s, timeout: 15s", "interval: 5s, timeout: 15s"},
	}},
	{"an instance group fails after three checks", []string{"load-balancers 1 GKE L7 instance group"}, scenario, presets, []edit{
		{gkePreset, "unhealthy: 10", "unhealthy: 3"},
	}},
	{"an ALB's target fails after three checks", []string{"load-balancers 1 AWS ALB"}, scenario, presets, []edit{
		{awsPreset, "probe: pod, interval: 15s, timeout: 5s, healthy: 2, unhealthy: 2", "probe: pod, interval: 15s, timeout: 5s, healthy: 2, unhealthy: 3"},
	}},
	{"Google's operations take a second", []string{"load-balancers 2 gce controller"}, scenario, presets, []edit{
		{gkePreset, "registration: {uniform: [5s, 20s]}, propagation: {uniform: [5s, 20s]}}\n  - status: recalled", "registration: {uniform: [1s, 2s]}, propagation: {uniform: [5s, 20s]}}\n  - status: recalled"},
	}},
	{"Google's proxies close connections where no target is healthy", []string{"load-balancers 3 GCP L7"}, scenario, presets, []edit{
		{gkePreset, "allUnhealthy: closed, noTarget: \"503\"}\n  - status: recalled\n    source: \"not in docs/model: requests in turn\"\n    loadBalancer: {hash: round-robin}\n  - status: verified", "allUnhealthy: closed, noTarget: refused}\n  - status: recalled\n    source: \"not in docs/model: requests in turn\"\n    loadBalancer: {hash: round-robin}\n  - status: verified"},
	}},
	{"NLB ip sends to nodes", []string{"load-balancers 1 AWS NLB ip target"}, scenario, presets, []edit{
		{awsPreset, "{target: pods, probe: pod, interval: 10s", "{target: nodes, probe: pod, interval: 10s"},
	}},
	{"NLB instance asks each 30 s", []string{"load-balancers 1 AWS NLB instance, Cluster"}, scenario, presets, []edit{
		{awsPreset, "probe: node-port, interval: 10s", "probe: node-port, interval: 30s"},
	}},
	{"NLB instance Local fails three times", []string{"load-balancers 1 AWS NLB instance, Local"}, scenario, presets, []edit{
		{awsPreset, "timeout: 6s, healthy: 2, unhealthy: 2", "timeout: 6s, healthy: 2, unhealthy: 3"},
	}},
	{"a classic ELB fails twice", []string{"load-balancers 1 AWS classic ELB"}, scenario, presets, []edit{
		{awsPreset, "unhealthy: 6", "unhealthy: 2"},
	}},
	{"an in-tree NLB asks each 10 s", []string{"load-balancers 1 AWS in-tree NLB, Cluster"}, scenario, presets, []edit{
		{awsPreset, "interval: 30s, timeout: 10s", "interval: 10s, timeout: 10s"},
	}},
	{"an in-tree NLB Local has a timeout of 6 s", []string{"load-balancers 1 AWS in-tree NLB, Local"}, scenario, presets, []edit{
		{awsPreset, "timeout: 10s, healthy: 2, unhealthy: 2", "timeout: 6s, healthy: 2, unhealthy: 2"},
	}},
	{"Azure Local asks the node port", []string{"load-balancers 1 Azure Standard LB, Local"}, scenario, presets, []edit{
		{azurePreset, "probe: health-port", "probe: node-port"},
	}},
	{"Azure asks each 10 s", []string{"load-balancers 1 Azure Standard LB, Cluster"}, scenario, presets, []edit{
		{azurePreset, "probe: node-port, interval: 5s", "probe: node-port, interval: 10s"},
	}},
	{"MetalLB Local asks nobody who serves", []string{"load-balancers 1 MetalLB"}, scenario, presets, []edit{
		{metallbPreset, "serving-nodes}\n    Cluster:\n    - status: verified\n      source: \"docs/model/load-balancers.md 2 MetalLB: speaker, internal/k8s/epslices; announced while an endpoint is ready or serving\"\n      loadBalancer: {members: all-nodes}\n\n- name: metallb-bgp", "all-nodes}\n    Cluster:\n    - status: verified\n      source: \"docs/model/load-balancers.md 2 MetalLB: speaker, internal/k8s/epslices; announced while an endpoint is ready or serving\"\n      loadBalancer: {members: all-nodes}\n\n- name: metallb-bgp"},
	}},
	{"kind fails three times, and hashes", []string{"load-balancers 1 cloud-provider-kind", "load-balancers 4 cloud-provider-kind"}, scenario, presets, []edit{
		{kindPreset, "hash: random", "hash: flow"},
	}},
	{"an NLB checks at once", []string{"load-balancers 4 AWS NLB registration"}, scenario, presets, []edit{
		{awsPreset, "registration: {uniform: [90s, 180s]}, propagation: {uniform: [115s, 145s]}}\n  - status: inferred\n    source: \"docs/model/load-balancers.md 2 lbc, ip targets: deregistered at once\"", "registration: {uniform: [90s, 91s]}, propagation: {uniform: [115s, 145s]}}\n  - status: inferred\n    source: \"docs/model/load-balancers.md 2 lbc, ip targets: deregistered at once\""},
	}},
	{"an NLB deregisters at once", []string{"load-balancers 4 AWS NLB measured"}, scenario, presets, []edit{
		{awsPreset, "propagation: {uniform: [115s, 145s]}}\n  - status: inferred\n    source: \"docs/model/load-balancers.md 2 lbc, ip targets: deregistered at once\"", "propagation: {uniform: [110s, 111s]}}\n  - status: inferred\n    source: \"docs/model/load-balancers.md 2 lbc, ip targets: deregistered at once\""},
	}},
	{"a POST is sent again wherever a GET is", []string{"load-balancers 4 Methods"}, scenario, "TestWhatAProxySendsAgainHangsOnTheMethod", []edit{
		{"sim/world/balancer.go", "\t\tl.RetryOn = RetryConnect\n", "\t\tl.RetryOn = RetryReset\n"},
	}},
	{"what was reported at most is not tried", []string{"load-balancers 4 AWS NLB measured", "load-balancers 4 AWS ALB"}, scenario, "TestWhatIsOnlyReported", []edit{
		{"sim/scenario/preset_reported.go", "\t\t\t\tend = r.Most\n", "\t\t\t\tend = r.Least\n"},
	}},
}

// What they do.
var balancerMutants = []mutant{
	{"probes begin together", []string{"propagation 1.8"}, balancers, ofPresets, []edit{
		{balancer, "b.start(m, -engine.Time(engine.Below(b.draw(id, \"phase\", 0), max(1, int(spec.Check.Interval)))))", "b.start(m, 0)"},
	}},
	{"a probe's timeout is over at once", []string{"propagation 1.8"}, balancers, ofPresets, []edit{
		{checks, "b.eng.After(b.spec.Check.Timeout, engine.ClassTimer", "b.eng.After(0, engine.ClassTimer"},
	}},
	{"a member that is back before it was left is removed", []string{"load-balancers 4"}, balancers, "TestComingBack", []edit{
		{balancer, "\t\tb.eng.Cancel(m.leaving)\n", "\t\t_ = m\n"},
	}},
	{"a late timeout undoes an answer", []string{"propagation 1.8"}, balancers, "TestDetection$", []edit{
		{checks, "\tif tick < m.counted {\n", "\tif tick < m.counted && tick < 1 {\n"},
	}},
	{"detection takes an interval more", []string{"propagation 1.8", "propagation 4 Same, Local policy"}, balancers, ofPresets, []edit{
		{checks, "if m.row < max(1, threshold) {", "if m.row <= max(1, threshold) {"},
	}},
	{"answers of the other kind need not come in a row", []string{"propagation 1.8"}, balancers, "TestThresholdsCountInARow", []edit{
		{checks, "\tif ok == m.healthy {\n\t\tm.row = 0\n", "\tif ok == m.healthy {\n"},
	}},
	{"a proxy's kernel sends a repeated SYN to another target", []string{"load-balancers 4 Repeated SYN"}, balancers, "TestARepeatedSYN$", []edit{
		{picks, "case b.spec.Layer7 != nil:\n\t\treturn true", "case b.spec.Layer7 != nil:\n\t\treturn m != nil"},
	}},
	{"where repeated SYNs of an NLB go is no assumption", []string{"load-balancers 4 Repeated SYN"}, scenario, "TestRepeatedSYNsGoBothWaysWhereNobodySays$", []edit{
		{"sim/scenario/preset_file.go", "f.name == repeatedSYN && (status == inferred || status == recalled)", "f.name == repeatedSYN && status == reported"},
	}},
	{"a flow forgets its member", []string{"load-balancers 4"}, balancers, "TestAFlowStaysWithItsMember", []edit{
		{picks, "slices.Contains(list, last):\n\t\treturn last, true", "slices.Contains(list, last):\n\t\treturn list[engine.Below(flow, len(list))], true"},
	}},
	{"nobody fails open while all settle", []string{"load-balancers 3 AWS NLB"}, balancers, "TestJudge", []edit{
		{picks, "return b.announced(b.open(members, healthy))", "return b.announced(healthy)"},
	}},
	{"every node with an endpoint is a member", []string{"load-balancers 2 GKE subsetting Local"}, balancers, "TestMembership", []edit{
		{balancer, "world.MembersLocalNodes: !e.Terminating,", "world.MembersLocalNodes: true,"},
	}},
	{"nodes without endpoints are no members", []string{"load-balancers 2 Service controller", "load-balancers 2 GKE subsetting Cluster", "load-balancers 2 Azure", "load-balancers 2 cloud-provider-kind"}, balancers, "TestMembership", []edit{
		{balancer, "\t\tfor n := range b.cluster.Nodes() {\n", "\t\tfor n := range endpoints {\n"},
	}},
	{"pods that terminate are targets", []string{"load-balancers 2 lbc, ip targets"}, balancers, "TestMembership", []edit{
		{balancer, "world.MembersReadyPods: (e.Ready || e.Gated && e.ContainersReady) && !e.Terminating,", "world.MembersReadyPods: e.Ready || e.Serving,"},
	}},
	{"announced while ready", []string{"load-balancers 2 MetalLB", "load-balancers 2 MetalLB consequence"}, balancers, "TestMembership", []edit{
		{balancer, "world.MembersServing: e.Ready || e.Serving,", "world.MembersServing: e.Ready,"},
	}},
	{"an ALB fails open to initial targets", []string{"load-balancers 3 AWS ALB"}, balancers, "TestATargetThatIsInitialGetsNothing", []edit{
		{picks, "\t\tif !m.initial {\n", "\t\tif m.failed >= 0 {\n"},
	}},
	{"first checks that fail are never over", []string{"load-balancers 3 AWS ALB"}, balancers, "TestATargetThatIsInitialGetsNothing|TestFirstChecks", []edit{
		{checks, "if m.failed++; ok {", "if ok {"},
	}},
	{"all fail closed", []string{"load-balancers 3 GCP internal passthrough", "load-balancers 3 GCP external passthrough", "load-balancers 3 AWS NLB"}, balancers, "TestWithoutAHealthyMember", []edit{
		{picks, "if len(healthy) == 0 && b.spec.FailOpen {", "if len(present) == 0 {"},
	}},
	{"all fail open", []string{"load-balancers 3 Classic ELB", "load-balancers 3 Azure Standard", "load-balancers 3 cloud-provider-kind"}, balancers, "TestWithoutAHealthyMember", []edit{
		{picks, "if len(healthy) == 0 && b.spec.FailOpen {", "if len(healthy) == 0 {"},
	}},
	{"drains twice as long", []string{"load-balancers 4 GCP passthrough", "load-balancers 4 Classic ELB", "load-balancers 4 Azure Standard"}, balancers, ofDraining, []edit{
		{balancer, "b.eng.After(b.spec.Drain, engine.ClassTimer", "b.eng.After(2*b.spec.Drain+1, engine.ClassTimer"},
	}},
	{"connections to what is unhealthy live on", []string{"load-balancers 4 AWS NLB"}, balancers, ofPresets, []edit{
		{checks, "if !m.serves && b.spec.CutUnhealthy {", "if m.serves && b.spec.CutUnhealthy {"},
	}},
	{"draining of a classic load balancer is nothing to an unhealthy target", []string{"load-balancers 4 Classic ELB"}, scenario, "TestAnnotationsOfALoadBalancer", []edit{
		{"sim/scenario/lb_annotations.go", "l.Drain, l.CutUnhealthy = deregistrationDelay, false", "l.Drain = deregistrationDelay"},
	}},
	{"flows move with the node that answers", []string{"load-balancers 4 MetalLB L2"}, balancers, "TestAnnouncements", []edit{
		{picks, "if b.spec.Announce == world.AnnounceNone ||", "if b.spec.Announce != world.AnnounceBGP ||"},
	}},
	{"routers keep flows where they are", []string{"load-balancers 4 MetalLB BGP"}, balancers, "TestAnnouncements", []edit{
		{picks, "if b.spec.Announce == world.AnnounceNone ||", "if b.spec.Announce != world.AnnounceL2 ||"},
	}},
	{"an address that nobody serves is not withdrawn", []string{"load-balancers 3 MetalLB"}, balancers, "TestAnnouncements", []edit{
		{picks, "return len(after) == 0 || after[", "return len(after) > 0 && after["},
	}},
	{"Envoy Gateway asks pods that terminate", []string{"load-balancers 5.2 Backend endpoints"}, balancers, "TestMembership", []edit{
		{balancer, "world.MembersServingPods: e.Serving && !e.Terminating,", "world.MembersServingPods: e.Serving,"},
	}},
	{"a proxy in the cluster is told of each pod by itself", []string{"load-balancers 5.2 Whole lists"}, balancers, "TestAProxyInTheClusterIsToldWholeLists", []edit{
		{balancer, "if b.spec.Layer7 == nil || !b.spec.Layer7.WholeLists {", "if b.spec.Layer7 == nil || b.spec.Layer7.WholeLists {"},
	}},
	{"all pods of a controller have one watch", []string{"load-balancers 5.1 Upstream selection"}, "sim", "TestARolloutBehindAController", []edit{
		{"sim/controllers.go", "f := c.run.newForwarder(name, c.spec.Proxy, c.entry)", "f := c.run.newForwarder(name, c.spec.Proxy, c.run.routes[c.stream].entry)"},
	}},
	{"a rescue stays with a proxy that ends", []string{"simulator 2"}, "sim/traffic", "TestARescueOfAProxyThatEndsIsTakenBack", []edit{
		{proxying, "\t\t\ts.attempt.req = work.attempt.req // with what it has escaped\n", ""},
	}},
	{"a proxy's connections outlive its process", []string{"kube-proxy 7 Process exits"}, "sim/traffic", "TestAProxyThatIsBackHasNoConnections", []edit{
		{"sim/traffic/proxy.go", "\t\ts.proxies[at] = nil\n", "\t\t_ = s.proxies[at]\n"},
	}},
	{"a client's connection is free while its proxy asks again", []string{"simulator 1"}, "sim/traffic", "TestAClientsConnectionIsBusyDuringRetries", []edit{
		{proxying, "\t\tst.conn.until(limit)\n", "\t\t_ = limit\n"},
	}},
	{"a proxy has the client's connect timeout", []string{"simulator 1"}, "sim/traffic", "TestAProxyHasAConnectTimeoutOfItsOwn", []edit{
		{client, "\t\ttimeout = s.Proxy.ConnectTimeout // the client is connected\n", "\t\ttimeout = min(timeout, s.Proxy.ConnectTimeout)\n"},
	}},
	{"a proxy without a connect timeout has done at once", []string{"simulator 1"}, "sim/traffic", "TestAProxyIsNotDoneDuringRetries", []edit{
		{"sim/traffic/proxy.go", "a.proxying.asks(a.connectLimit() + 1)", "a.proxying.asks(at + p.ConnectTimeout + 1)"},
	}},
	{"a connection that is to close closes before its answer", []string{"simulator 2"}, "sim/traffic", "TestAProxyClosesAConnectionWithItsAnswer", []edit{
		{pool, "\t\tc.closed = at - half\n", "\t\t_ = at\n"},
	}},
	{"a canary without a target has errors", []string{"load-balancers 5.1 Canary"}, scenario, "TestCanariesFallBack", []edit{
		{"sim/scenario/lb_proxies.go", "\t\tlb.NoTarget = world.NoTargetElsewhere\n", "\t\tlb.NoTarget = world.NoTarget503\n"},
	}},
	{"a canary of weight 0 gets all requests", []string{"load-balancers 5.1 Canary of weight 0"}, scenario, "TestNobodyWaitsForAnswers", []edit{
		{"sim/scenario/entrance.go", "\t\tr.Parked = parkedCanary(r)\n", "\t\t_ = parkedCanary(r)\n"},
	}},
	{"a backend of weight 0 gets all requests", []string{"load-balancers 5.2 Weight 0"}, scenario, "TestNobodyWaitsForAnswers", []edit{
		{"sim/scenario/parked.go", "!ok || weight != 0 {", "!ok || weight >= 0 {"},
	}},
	{"a policy of the Gateway goes before one of the route", []string{"load-balancers 5.2 Retries"}, scenario, "TestRetriesOfEnvoyGateway", []edit{
		{"sim/scenario/retry.go", "targets = append(targets, policyTarget{gateway, \"\"})", "targets = append([]policyTarget{{gateway, \"\"}}, targets...)"},
	}},
	{"a policy without triggers is about answers alone", []string{"load-balancers 5.2 Retries"}, scenario, "TestRetriesOfEnvoyGateway", []edit{
		{"sim/scenario/retry.go", "\t\treturn true, false\n", "\t\treturn false, false\n"},
	}},
	{"of two rules the one that asks most often counts", []string{"load-balancers 5.2 Retries"}, scenario, "TestRetriesOfEnvoyGateway", []edit{
		{"sim/scenario/retry.go", "own.Times < retry.Times", "own.Times > retry.Times"},
	}},
	{"a retry that is not followed is not named", []string{"load-balancers 5.2 Retries"}, scenario, "TestRetriesThatAreNotFollowed", []edit{
		{"sim/scenario/retry.go", "case !p.RetriesSaid && r.Times > 0 && r.Connect:", "case p.RetriesSaid && r.Times > 0 && r.Connect:"},
	}},
	{"answers to copies are waited for", []string{"load-balancers 5.2 Mirrors"}, scenario, "TestNobodyWaitsForAnswers", []edit{
		{"sim/scenario/parked.go", "\tif len(refs) == 0 {\n", "\tif len(mirrors) == 0 {\n"},
	}},
	{"syslog is sent twice", []string{"simulator 5.1 Datagrams"}, scenario, "TestClientsOverUDP", []edit{
		{"sim/scenario/clients.go", "case 162, 514,", "case 162,"},
	}},
	{"Start-Sleep counts milliseconds as seconds", []string{"pod-lifecycle 2.2 Windows"}, "sim/servers", "TestHooksOfWindows", []edit{
		{"sim/servers/windows.go", "unit, rest = engine.Millisecond, rest[1:]", "unit, rest = engine.Second, rest[1:]"},
	}},
	{"every node answers ARP", []string{"load-balancers 4 MetalLB L2"}, balancers, "TestAnnouncements", []edit{
		{picks, "if b.spec.Announce != world.AnnounceL2 || len(nodes) < 2 {", "if b.spec.Announce != world.AnnounceL2 || len(nodes) > 1 {"},
	}},
	{"a proxy tries the same target again", []string{"simulator 1"}, "sim", "TestRetriesRescueWhatCombinatoricsSays", []edit{
		{"sim/traffic/proxy.go", "; member != tried || member < 0 {", "; tried < 0 || member >= 0 {"},
	}},
	{"a proxy has a retry more", []string{"simulator 1"}, "sim", "TestRetriesRescueWhatCombinatoricsSays", []edit{
		{"sim/traffic/proxy.go", "int(a.req.proxied) >= p.Retries ||", "int(a.req.proxied) > p.Retries ||"},
	}},
	{"the first back-off is 10 % longer", []string{"simulator 1"}, "sim", "TestBackOffAfterACrash", []edit{
		{"sim/traffic/link.go", "firstBackoff   = engine.Second", "firstBackoff   = engine.Second * 11 / 10"},
	}},
	{"names are kept for 33 s", []string{"propagation 1.10"}, "sim", "TestAnAddressIsKeptForTheRestOfItsTTL", []edit{
		{"sim/cluster/dns.go", "const dnsTTL = 30 * engine.Second", "const dnsTTL = 33 * engine.Second"},
	}},
	{"what is written over a connection that is cut is a race", []string{"simulator 2"}, "sim", "TestPairsOfCuts", []edit{
		{"sim/traffic/pool.go", "\tif cut {\n\t\treturn ledger.FaultDrainCut", "\tif cut && !cut {\n\t\treturn ledger.FaultDrainCut"},
	}},
	{"a flow that stands is judged as a new one", []string{"simulator 2"}, "sim", "TestPairsOfTargets", []edit{
		{"sim/traffic/udp.go", "case pinned && fault == ledger.FaultNoAnswer:", "case pinned && fault == ledger.FaultErred:"},
	}},
	{"the sync is blamed that waits for news", []string{"simulator 2"}, "sim", "TestCauses", []edit{
		{"sim/cluster/pinned.go", "case !cleans(p.Received()):", "case !cleans(p.Syncing()):"},
	}},
}
