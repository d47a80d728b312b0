package swarm

import "github.com/lameduck-proxy/lameduck/test/mutate"

// mutant is a mistake somebody could make in the simulator.
type mutant struct {
	name string
	// facts are the rows that its behaviour stands for: file and section of the facts.
	facts []string
	edits []edit
}

// edit replaces a text that occurs exactly once in a file below sim.
type edit = mutate.Edit

// mutants lists them, topic by topic: pods on their way out, probes, controllers, slices,
// proxies and watches, clients, the ledger.
var mutants = []mutant{
	{"no 2 s after SIGTERM", []string{"pod-lifecycle 2.1"}, []edit{
		{"kubelet/terminate.go", "c.signal(max(minimumGrace, left), event.Killed)", "c.signal(max(0, left), event.Killed)"},
	}},
	{"the hook's time is not cut to seconds", []string{"pod-lifecycle 2.1"}, []edit{
		{"kubelet/terminate.go", "done(grace - (now - begun).TruncateToSecond())", "done(grace - (now - begun))"},
	}},
	{"the hook costs no grace", []string{"pod-lifecycle 2.1"}, []edit{
		{"kubelet/terminate.go", "done(grace - (now - begun).TruncateToSecond())", "done(grace)"},
	}},
	{"hooks are not waited for", []string{"pod-lifecycle 2", "pod-lifecycle 2.2"}, []edit{
		{"kubelet/terminate.go", "k.after(min(c.hook.Duration.Sample(draws.Draw(n)), grace), \"preStop over\", over)", "k.after(min(c.hook.Duration.Sample(draws.Draw(n)), grace)/2, \"preStop over\", over)"},
	}},
	{"a hook may overrun the grace period", []string{"pod-lifecycle 2.1"}, []edit{
		{"kubelet/terminate.go", "k.after(min(c.hook.Duration.Sample(draws.Draw(n)), grace), \"preStop over\", over)", "k.after(c.hook.Duration.Sample(draws.Draw(n)), \"preStop over\", over)"},
	}},
	{"sidecars go with the others", []string{"pod-lifecycle 2.4"}, []edit{
		{"kubelet/terminate.go", "case c.sidecar && left > 0 && !t.turn(c):", "case c.sidecar && left > 0 && !t.turn(c) && t.wk == nil:"},
	}},
	{"readiness probes stop at termination", []string{"pod-lifecycle 2", "pod-lifecycle 3.4"}, []edit{
		{"kubelet/terminate.go", "[]*Prober{c.Liveness, c.startup}", "[]*Prober{c.Liveness, c.startup, c.Readiness}"},
	}},
	{"liveness probes go on at termination", []string{"pod-lifecycle 2", "pod-lifecycle 3.4"}, []edit{
		{"kubelet/terminate.go", "[]*Prober{c.Liveness, c.startup}", "[]*Prober{c.startup}"},
	}},
	{"a pod without an end", []string{"pod-lifecycle 2"}, []edit{
		{"kubelet/terminate.go", "\twk.k.setStatus(wk, s)\n\tif gone", "\t_ = s\n\tif gone"},
	}},
	{"init containers take half their time", []string{"pod-lifecycle 4.2"}, []edit{
		{"kubelet/start.go", "wk.init.timer = wk.k.inPod(span,", "wk.init.timer = wk.k.inPod(span/2,"},
	}},
	{"no crash-loop back-off", []string{"pod-lifecycle 4.1"}, []edit{
		{"kubelet/restart.go", "firstBackoff   = 10 * engine.Second", "firstBackoff   = engine.Second"},
	}},

	{"the startup probe does not matter", []string{"pod-lifecycle 3.2"}, []edit{
		{"kubelet/kubelet.go", "s.started = c.Running && (c.startup == nil || c.startup.generation == c.Generation && c.startup.result)", "s.started = c.Running"},
	}},
	{"a threshold of one more", []string{"pod-lifecycle 3.2"}, []edit{
		{"kubelet/probe.go", "if p.row >= max(1, int(threshold)) {", "if p.row > max(1, int(threshold)) {"},
	}},
	{"the thresholds are swapped", []string{"pod-lifecycle 3.2"}, []edit{
		{"kubelet/probe.go", "\tif answer {\n\t\tthreshold = p.spec.SuccessThreshold", "\tif !answer {\n\t\tthreshold = p.spec.SuccessThreshold"},
	}},
	{"an answer of the other kind does not begin a new row", []string{"pod-lifecycle 3.2"}, []edit{
		{"kubelet/probe.go", "if p.row > 0 && answer == p.last {\n\t\tp.row++", "if p.row > 0 {\n\t\tp.last = answer\n\t\tp.row++"},
	}},
	{"initialDelaySeconds are not waited for", []string{"pod-lifecycle 3.2"}, []edit{
		{"kubelet/probe.go", "case p.waiting() || s.started == (p.kind == startupProbe) || p.unasked:", "case s.started == (p.kind == startupProbe):"},
	}},

	{"surge is rounded down", []string{"controllers 2"}, []edit{
		{"world/rollout.go", "surge = scaled(maxSurge, replicas, true)", "surge = scaled(maxSurge, replicas, false)"},
	}},
	{"unavailable is rounded up", []string{"controllers 2"}, []edit{
		{"world/rollout.go", "unavailable = scaled(maxUnavailable, replicas, false)", "unavailable = scaled(maxUnavailable, replicas, true)"},
	}},
	{"one pod above replicas and surge", []string{"controllers 2"}, []edit{
		{"control/rollout.go", "room := max(0, in.replicas+in.surge-in.total())", "room := max(0, in.replicas+in.surge+1-in.total())"},
	}},
	{"ready is available", []string{"controllers 2"}, []edit{
		{"control/rollout.go", "return readySince.TruncateToSecond() + minReady", "return readySince"},
	}},
	{"minReadySeconds count from the moment, not its second", []string{"controllers 2", "measured 1"}, []edit{
		{"control/rollout.go", "return readySince.TruncateToSecond() + minReady", "return readySince + minReady"},
	}},
	{"the ranking does not look at ready", []string{"controllers 3"}, []edit{
		{"control/ranking.go", "\t\tboolFirst(!x.Ready, !y.Ready),\n", ""},
	}},
	{"a ReplicaSet forgets what it has created", []string{"controllers 3"}, []edit{
		{"control/replicaset.go", "case !e.met() || diff == 0:", "case diff == 0:"},
	}},
	{"two pods have one host port", []string{"simulator 9"}, []edit{
		{"placement/cycle.go", "case t.clash(at) >= 0:", "case t.clash(at) >= 1000:"},
	}},
	{"a pod without a node is not tried again", []string{"simulator 9"}, []edit{
		{"control/scheduler.go", "\t\ts.forget(p.ID)\n\t\ts.retry()\n", "\t\ts.forget(p.ID)\n"},
	}},
	{"what is stuck has settled", []string{"simulator 9"}, []edit{
		{"run.go", "stuck := next > stop && (r.cluster.Overdue() || r.cluster.CannotEnd() != nil)", "stuck := next > stop && r.cluster.Overdue()"},
	}},
	{"Recreate does not wait", []string{"controllers 2"}, []edit{
		{"control/deployment.go", "case c.oldPodsRunning(d, in):", "case c.oldPodsRunning(d, in) && d == nil:"},
	}},

	{"slices keep pods that are done", []string{"controllers 9.1", "pod-lifecycle 2"}, []edit{
		{"endpointslice/endpoint.go", "if p == nil || p.Gone || !p.IP.IsValid() || p.Phase.Terminal() {", "if p == nil || p.Gone || !p.IP.IsValid() {"},
	}},
	{"a pod that terminates does not serve", []string{"controllers 9.1"}, []edit{
		{"endpointslice/endpoint.go", "\tif p.Ready {\n\t\tc |= endpoints.Serving", "\tif p.Ready && !p.Deleting() {\n\t\tc |= endpoints.Serving"},
	}},
	{"a pod that terminates stays ready", []string{"controllers 9.1"}, []edit{
		{"endpointslice/endpoint.go", "if publishNotReady || p.Ready && !p.Deleting() {", "if publishNotReady || p.Ready {"},
	}},
	{"publishNotReadyAddresses does nothing", []string{"controllers 9.1"}, []edit{
		{"endpointslice/endpoint.go", "if publishNotReady || p.Ready && !p.Deleting() {", "if p.Ready && !p.Deleting() {"},
	}},

	{"no minSyncPeriod", []string{"kube-proxy 6"}, []edit{
		{"nodeproxy/proxy.go", "MinInterval: spec.MinSyncPeriod.Duration(), Retry", "MinInterval: 0 * spec.MinSyncPeriod.Duration(), Retry"},
	}},
	{"no token bucket up to 1.33", []string{"kube-proxy 6"}, []edit{
		{"nodeproxy/proxy.go", "Burst: pace.BurstOf(s.Options.HoldAfterSync),", "Burst: pace.BurstOf(true),"},
	}},
	{"a token bucket from 1.34 on", []string{"kube-proxy 6"}, []edit{
		{"nodeproxy/proxy.go", "Burst: pace.BurstOf(s.Options.HoldAfterSync),", "Burst: pace.BurstOf(false),"},
	}},
	{"nothing holds after a sync for other Services", []string{"kube-proxy 6"}, []edit{
		{"nodeproxy/churn.go", "\tp.state.End(at.Duration(), true, false)\n", "\tat0 := p.state.LastEnd\n\tp.state.End(at.Duration(), true, false)\n\tp.state.LastEnd = at0\n"},
	}},
	{"syncs for other Services take no token", []string{"kube-proxy 6"}, []edit{
		{"nodeproxy/churn.go", "p.state.Begin(p.Pace, at.Duration())", "p.state.Begin(pace.Policy{}, at.Duration())"},
		{"nodeproxy/churn.go", "\t\"github.com/lameduck-proxy/lameduck/sim/engine\"\n", "\t\"github.com/lameduck-proxy/lameduck/proxier/pace\"\n\t\"github.com/lameduck-proxy/lameduck/sim/engine\"\n"},
	}},
	{"a paused proxy syncs for other Services", []string{"kube-proxy 6"}, []edit{
		{"nodeproxy/proxy.go", "\tp.Hear(p.eng.Now() - 1)\n\tp.others.clock = p.eng.Now()\n", "\tp.Hear(p.eng.Now() - 1)\n"},
	}},
	{"a bucket of three tokens", []string{"kube-proxy 6"}, []edit{
		{"nodeproxy/proxy.go", "\tp.others = newOthers(d.Engine, name)\n", "\tp.others = newOthers(d.Engine, name)\n\tp.Pace.Burst += p.Pace.Burst / 2\n"},
	}},
	{"minSyncPeriod counts from the beginning of a sync", []string{"kube-proxy 6"}, []edit{
		{"nodeproxy/proxy.go", "p.count++\n\tp.log.SyncBegan(", "p.count++\n\tp.state.LastEnd = p.eng.Now().Duration()\n\tp.log.SyncBegan("},
		{"nodeproxy/proxy.go", "\tp.state.End(p.eng.Now().Duration(), true, false)\n\tp.health", "\tbegan := p.state.LastEnd\n\tp.state.End(p.eng.Now().Duration(), true, false)\n\tp.state.LastEnd = began\n\tp.health"},
	}},
	{"a proxy always waits for minSyncPeriod", []string{"kube-proxy 6"}, []edit{
		{"nodeproxy/proxy.go", "if engine.FromDuration(at) <= p.eng.Now() {", "if at = max(at, p.eng.Now().Duration()+p.Pace.MinInterval); p.Pace.MinInterval == 0 {"},
	}},
	{"a sync programs what is known at its end", []string{"kube-proxy 6"}, []edit{
		{"nodeproxy/proxy.go", "p.installed, p.syncing = p.syncing, nil", "p.installed, p.syncing = p.received, nil"},
	}},
	{"a watch does not keep the order", []string{"propagation"}, []edit{
		{"api/store.go", "	o := w.coming.pop()\n", "	q := &w.coming\n	q.list[q.first], q.list[len(q.list)-1] = q.list[len(q.list)-1], q.list[q.first]\n	o := q.pop()\n"},
	}},
	{"clients go by rules of before", []string{"kube-proxy 6"}, []edit{
		{"network.go", "if w := &r.ways[node]; w.view != p.Installed() {", "if w := &r.ways[node]; w.view == nil {"},
		{"network.go", "\t\t\tways[node] = installedWay{}\n", "\t\t\t_ = ways\n"},
	}},

	{"twice the retries", []string{"simulator 2"}, []edit{
		{"traffic/traffic.go", "if int(r.attempts) <= s.spec.Retries {", "if int(r.attempts) <= 2*s.spec.Retries {"},
	}},
	{"a server's end leaves its connections", []string{"kube-proxy 7"}, []edit{
		{"traffic/pool.go", "if c.connected() && c.target.Server.ID() == server && c.closed == engine.Never {", "if c == nil {"},
	}},
	{"a connection that was closed is used again", []string{"kube-proxy 7"}, []edit{
		{"traffic/pool.go", "\tif c.racing(now) {\n\t\tt.failed(", "\tif c.closed < 0 {\n\t\tt.failed("},
		{"traffic/pool.go", "if c.closed != engine.Never && now >= c.closed+c.rtt()/2 ||", "if"},
	}},
	{"a SYN that is repeated goes elsewhere", []string{"kube-proxy 7"}, []edit{
		{"traffic/traffic.go", "if a.target == nil {", "if a.target == nil || a.tries > 0 {"},
	}},
	{"clients wait for ever", []string{"simulator 2"}, []edit{
		{"traffic/traffic.go", "if s.spec.Timeout > 0 && end > a.began+s.spec.Timeout {", "if s.spec.Timeout < 0 && end > a.began+s.spec.Timeout {"},
	}},
	{"a killed process answers what it was doing", []string{"pod-lifecycle 2.3"}, []edit{
		{"network.go", "\to.traffic.Cut(uint64(i.Pod), o.eng.Now(), fault)\n", "\t_ = fault\n"},
	}},

	{"GOAWAY is ignored", []string{"propagation 5 gRPC servers"}, []edit{
		{"network.go", "o.traffic.GoAway(uint64(i.Pod), o.eng.Now())", "_ = o.eng.Now()"},
	}},
	{"a client that has heard GOAWAY stays", []string{"propagation 5 gRPC servers"}, []edit{
		{"traffic/link.go", "if l.epoch == epoch && l.state == linkUp {", "if l.epoch == epoch && l.state == linkUp && l.closed {"},
	}},
	{"the back-off does not grow", []string{"propagation 5 gRPC servers"}, []edit{
		{"traffic/link.go", "d = min(d*8/5, longestBackoff)", "d = firstBackoff"},
	}},
	{"a connection whose server is gone serves", []string{"kube-proxy 7 Process exits"}, []edit{
		{"traffic/link.go", "\tif l.closed {\n", "\tif l.closed && now < 0 {\n"},
	}},
	{"flows over UDP are not cleaned up", []string{"kube-proxy 7 UDP: after"}, []edit{
		{"traffic/udp.go", "\t\t\t*f = flow{}\n", ""},
	}},
	{"flows over UDP are not pinned", []string{"kube-proxy 7 NAT decision", "kube-proxy 7 UDP flows"}, []edit{
		{"traffic/udp.go", "pinned := f != nil && f.target != nil && now < f.until", "pinned := f != nil && f.target != nil && now < 0"},
	}},
	{"clients keep an answer of DNS for ever", []string{"propagation 1.10"}, []edit{
		{"traffic/dns.go", "if now >= r.until {", "if now >= r.until && len(r.targets) == 0 {"},
	}},
	{"an address that has gone stays in DNS", []string{"propagation 1.10"}, []edit{
		{"cluster/dns.go", "\t\t\td.records[s.Service] = s.Records\n", "\t\t\td.records[s.Service] = append(d.records[s.Service], s.Records...)\n"},
	}},
	{"the clean-up asks who is ready, not who serves", []string{"kube-proxy 7 UDP flows"}, []edit{
		{"cluster/entry.go", "\t\tif ep.Conditions.Serving() {", "\t\tif ep.Conditions.Ready() {"},
	}},

	{"an answer that did not come is not revoked", []string{"simulator 2"}, []edit{
		{"traffic/pending.go", "\t\tt.led.Revoke(stream.index, s.attempt.req.number, s.attempt.req.from(), s.late)\n", ""},
	}},
	{"a rescue that did not come is not revoked", []string{"simulator 2"}, []edit{
		{"ledger/ledger.go", "\t\tl.rescued[*escaped]--\n", ""},
	}},
	{"a pod that listens could have answered, Ready or not", []string{"simulator 9"}, []edit{
		{"cluster/blame.go", "published || w.usable[wl].pods[i.Pod] && ok", "published || ok"},
	}},
	{"nobody else could ever have answered", []string{"simulator 9"}, []edit{
		{"cluster/blame.go", "if i.IP == target.Addr() || !i.Accepts() ||", "if i.IP == target.Addr() || published || i.Accepts() ||"},
	}},
	{"failed requests are counted once a stream and cause", []string{"simulator 2"}, []edit{
		{"ledger/grouped.go", "\tg.Count++\n", "\tg.Count = 1\n"},
	}},

	{"gates do not matter", []string{"pod-lifecycle 4"}, []edit{
		{"kubelet/kubelet.go", "ready := containers && wk.gatesOpen()", "ready := containers"},
	}},
	{"an open gate is not seen", []string{"pod-lifecycle 4"}, []edit{
		{"kubelet/gates.go", "\twk.open = p.Open\n\twk.RequestSync()\n", "\twk.open = p.Open\n"},
	}},
	{"the rules of a paused proxy change", []string{"simulator 6"}, []edit{
		{"nodeproxy/proxy.go", "p.api.AwakeWith(p.Owner, run, at)", "run(at)"},
	}},
	{"a component that is paused hears all the same", []string{"simulator 6"}, []edit{
		{"api/store.go", "s.AwakeWith(s.all[number].Owner, s.hand, number)", "s.AwakeWith(s.owner, s.hand, number)"},
	}},
	{"a member is left after one failure more", []string{"load-balancers 1"}, []edit{
		{"balancer/check.go", "if m.row < max(1, threshold) {", "if m.row <= max(1, threshold) {"},
	}},
	{"a member is left after its first failure", []string{"load-balancers 1"}, []edit{
		{"balancer/check.go", "if m.row < max(1, threshold) {", "if m.row < min(1, threshold) {"},
	}},
	{"the thresholds of a load balancer are swapped", []string{"load-balancers 1"}, []edit{
		{"balancer/check.go", "\tif ok {\n\t\tthreshold = b.spec.Check.Healthy", "\tif !ok {\n\t\tthreshold = b.spec.Check.Healthy"},
	}},
	{"a probe that times out says nothing", []string{"load-balancers 1"}, []edit{
		{"balancer/check.go", "b.answered(m, tick, false) })", "b.answered(m, tick, m.healthy) })"},
	}},
	{"a new member is healthy before it is asked", []string{"load-balancers 1"}, []edit{
		{"balancer/balancer.go", "m := &member{id: id, healthy: b.spec.Check.Probe == world.ProbeNone}", "m := &member{id: id, healthy: true}"},
	}},
	{"what checks find takes twice as long to be known", []string{"load-balancers 4"}, []edit{
		{"balancer/check.go", "delay := b.spec.HealthPropagation.Sample(b.draw(m.id, \"health propagation\", m.flips))", "delay := 2 * b.spec.HealthPropagation.Sample(b.draw(m.id, \"health propagation\", m.flips))"},
	}},
	{"a load balancer fails open that fails closed", []string{"load-balancers 3"}, []edit{
		{"balancer/pick.go", "if len(healthy) == 0 && b.spec.FailOpen {", "if len(healthy) == 0 {"},
	}},
	{"a load balancer fails closed that fails open", []string{"load-balancers 3"}, []edit{
		{"balancer/pick.go", "if len(healthy) == 0 && b.spec.FailOpen {", "if len(present) == 0 && b.spec.FailOpen {"},
	}},
	{"pods that terminate stay members", []string{"load-balancers 2"}, []edit{
		{"balancer/balancer.go", "world.MembersLocalNodes: !e.Terminating, world.MembersReadyPods: (e.Ready || e.Gated && e.ContainersReady) && !e.Terminating,\n\t\t\tworld.MembersLivePods: !e.Terminating,", "world.MembersLocalNodes: true, world.MembersReadyPods: (e.Ready || e.Gated && e.ContainersReady) && !e.Terminating,\n\t\t\tworld.MembersLivePods: true,"},
	}},
	{"MetalLB asks who is ready", []string{"load-balancers 2"}, []edit{
		{"balancer/balancer.go", "world.MembersServing: e.Ready || e.Serving,", "world.MembersServing: e.Ready,"},
	}},
	{"a removal takes its propagation twice", []string{"load-balancers 4"}, []edit{
		{"balancer/balancer.go", "m.leaving = b.eng.At(at,", "m.leaving = b.eng.At(2*at-b.eng.Now(),"},
	}},
	{"a member that is back is cut with the drain it began", []string{"load-balancers 4"}, []edit{
		{"balancer/balancer.go", "\t\t\tb.eng.Cancel(m.drained)\n", ""},
	}},
	{"draining has no end", []string{"load-balancers 4"}, []edit{
		{"balancer/balancer.go", "\t\t\tb.drop(m)\n\t\t\tb.observer.Cut(id)\n", "\t\t\tb.drop(m)\n"},
	}},
	{"draining is half as long", []string{"load-balancers 4"}, []edit{
		{"balancer/balancer.go", "b.eng.After(b.spec.Drain, engine.ClassTimer", "b.eng.After(b.spec.Drain/2, engine.ClassTimer"},
	}},
	{"the connections of all other members are cut", []string{"load-balancers 4"}, []edit{
		{"forwarders.go", "f.cut(func(_ uint64, m int) bool { return m == member })", "f.cut(func(_ uint64, m int) bool { return m != member })"},
	}},
	{"shared connections outlive the drain", []string{"load-balancers 4"}, []edit{
		{"traffic/cut.go", "if l.state == linkUp && !l.closed && gone(l.dial.flow, l.dial.member) {", "if l.state == linkUp && !l.closed && now < 0 {"},
	}},
	{"idle connections outlive the drain", []string{"load-balancers 4"}, []edit{
		{"traffic/cut.go", "\t\t\tc.closed, c.cut = now, true\n", ""},
	}},
	{"the health port answers before the rules are in force", []string{"load-balancers 1"}, []edit{
		{"cluster/outside.go", "return w.healthyIn(w.Proxies[node].Installed(), e, node, proxy)", "return w.healthyIn(w.views.Last, e, node, proxy)"},
	}},
	{"a load balancer's controller hears of the first change only", []string{"load-balancers 2"}, []edit{
		{"balancer/balancer.go", "\t\tb.waiting, b.acted = false, at\n", "\t\tb.acted = at\n"},
	}},
	{"the controller is blamed for what propagates", []string{"simulator 2"}, []edit{
		{"balancer/pick.go", "\t\t\treturn ledger.LBController\n\t\t}\n\t\treturn ledger.LBPropagation\n", "\t\t\treturn ledger.LBController\n\t\t}\n\t\treturn ledger.LBController\n"},
	}},
	{"an ingress is blamed as a provider's load balancer", []string{"simulator 2"}, []edit{
		{"balancer/pick.go", "if b.spec.Layer7 != nil && b.spec.Layer7.Ingress && actor != ledger.Spec && actor != ledger.VolumeAttach {", "if b.spec.Layer7 != nil && !b.spec.Layer7.Ingress && actor != ledger.Spec && actor != ledger.VolumeAttach {"},
	}},
	{"DNS says twice the TTL", []string{"propagation 1.10"}, []edit{
		{"cluster/dns.go", "func (w *World) TTL() engine.Time { return dnsTTL }", "func (w *World) TTL() engine.Time { return 2 * dnsTTL }"},
	}},
	{"DNS lists pods that are not ready", []string{"propagation 1.10"}, []edit{
		{"cluster/dns.go", "\t\tif list[i].Conditions.Ready() {\n", "\t\tif i >= 0 {\n"},
	}},

	{"a controller's end leaves its requests alive", []string{"pod-lifecycle 2.3", "load-balancers 5.1 On SIGTERM"}, []edit{
		{"traffic/proxying.go", "\tcase s.attempt.proxy == nil: // the proxy itself\n\t\tst.state = proxyOver\n", "\tcase s.attempt.proxy == nil: // the proxy itself\n"},
	}},
	{"a controller does not know that it is answered", []string{"load-balancers 5.1 On SIGTERM"}, []edit{
		{"traffic/proxying.go", "\tst.state = proxyAnswering\n", ""},
	}},
	{"what has left a controller goes on", []string{"simulator 2"}, []edit{
		{"traffic/traffic.go", "case p.attempt.proxy != nil && p.attempt.proxying.left():", "case p.attempt.proxy != nil && p.at < 0:"},
	}},
	{"a client's retry goes with what its controller has left", []string{"simulator 2"}, []edit{
		{"traffic/traffic.go", "\tcase p.retry: // by the client, whatever became of its attempt before\n\t\tt.start(&p.attempt, p.at)\n\tcase p.attempt.proxy != nil && p.attempt.proxying.left(): // nobody waits for it any more\n", "\tcase p.attempt.proxy != nil && p.attempt.proxying.left(): // nobody waits for it any more\n\tcase p.retry: // by the client, whatever became of its attempt before\n\t\tt.start(&p.attempt, p.at)\n"},
	}},
	{"a controller started during the run never hears", []string{"load-balancers 5.1 Upstream selection", "load-balancers 5.2 Backend endpoints"}, []edit{
		{"controllers.go", "\t\tc.pods[pod] = f\n", "\t\tif c.pods[pod] = f; c.run.traffic != nil {\n\t\t\tf.b.Pause()\n\t\t}\n"},
	}},
	{"all pods of a controller are the first", []string{"load-balancers 5.1 Upstream selection"}, []edit{
		{"traffic/proxying.go", "a.req.stream.proxyIn(int(server.ID()))", "a.req.stream.proxyIn(0)"},
	}},
	{"what a controller failed is told of as the app's", []string{"simulator 2"}, []edit{
		{"traffic/traffic.go", "\t\tingress = a.proxying.client.target.Server.Name()\n", "\t\t_ = ingress\n"},
	}},
	{"what goes wrong behind a controller is seen as it is", []string{"simulator 2"}, []edit{
		{"traffic/proxy.go", "\tcase a.proxy == nil:\n\t\treturn", "\tcase a.proxy == nil || a.proxying != nil:\n\t\treturn"},
	}},
	{"a connection that a controller has dropped keeps its place", []string{"simulator 1"}, []edit{
		{"traffic/proxy.go", "\tc.place = -1\n", ""},
	}},

	{"an eviction takes nothing of the budget", []string{"controllers 6.2 disruptionsAllowed > 0"}, []edit{
		{"control/eviction.go", "\t\tnext.Allowed--\n", ""},
	}},
	{"an eviction asks no budget", []string{"controllers 6.2 disruptionsAllowed == 0"}, []edit{
		{"control/eviction.go", "\tcase base.Allowed == 0:\n", "\tcase base.Allowed < 0:\n"},
	}},
	{"the first of two budgets counts", []string{"controllers 6.2 > 1 PDB"}, []edit{
		{"control/eviction.go", "case len(budgets) > 1:", "case len(budgets) > 2:"},
	}},
	{"what is not ready takes what is ready with it", []string{"controllers 6.2 AlwaysAllow"}, []edit{
		{"control/eviction.go", "case !p.Ready && e.free(budgets[0]):", "case e.free(budgets[0]):"},
	}},
	{"a pod that is being deleted is healthy", []string{"controllers 6.1 currentHealthy"}, []edit{
		{"control/disruption.go", "\t\t\tif p.Deleting() {\n\t\t\t\tcontinue\n\t\t\t}\n", ""},
	}},
	{"pods that are not ready are healthy", []string{"controllers 6.1 currentHealthy"}, []edit{
		{"control/disruption.go", "} else if p.Ready {", "} else if p.Ready || p.IP.IsValid() {"},
	}},
	{"one more may go than are healthy", []string{"controllers 6.1 disruptionsAllowed"}, []edit{
		{"control/disruption.go", "max(0, s.Healthy-s.Desired)", "max(0, s.Healthy-s.Desired+1)"},
	}},
	{"maxUnavailable rounds down", []string{"controllers 6.1 maxUnavailable"}, []edit{
		{"world/budget.go", "scale-scaled(*spec.MaxUnavailable, scale, true)", "scale-scaled(*spec.MaxUnavailable, scale, false)"},
	}},
	{"minAvailable in per cent rounds down", []string{"controllers 6.1 minAvailable %"}, []edit{
		{"world/budget.go", "return scale, scaled(*spec.MinAvailable, scale, true)", "return scale, scaled(*spec.MinAvailable, scale, false)"},
	}},
	{"kubectl asks again after a second", []string{"controllers 7 Retry"}, []edit{
		{"control/drain.go", "evictAgain = 5 * engine.Second", "evictAgain = engine.Second"},
	}},
	{"kubectl does not wait until pods are gone", []string{"controllers 7 Wait"}, []edit{
		{"control/drain.go", "\tcase !there, r.skips(p):", "\tcase !there, r.skips(p), p.Deleting():"},
	}},
	{"kubectl drains the second node first", []string{"controllers 7 Order"}, []edit{
		{"control/drain.go", "r.d.Specs.PodsOn(r.nodes[r.at])", "r.d.Specs.PodsOn(r.nodes[len(r.nodes)-1-r.at])"},
	}},
	{"kubectl leaves nodes schedulable", []string{"controllers 7 Cordon effect"}, []edit{
		{"placement/cycle.go", "case at.cordoned && !world.Tolerates(tolerations, unschedulable[:]):", "case at.cordoned && at.left && !world.Tolerates(tolerations, unschedulable[:]):"},
	}},
	{"an uncordon is not heard of", []string{"controllers 7 Cordon effect"}, []edit{
		{"control/scheduler.go", "\t\treturn ok && s.everMarked\n", "\t\treturn marked\n"},
	}},
	{"pods are not tried again on a node that is open again", []string{"controllers 7 Cordon effect"}, []edit{
		{"control/scheduler.go", "\tif !n.Cordoned && !leaving && taints == nil && !n.Gone {\n\t\ts.retry()\n\t}\n", ""},
	}},
	{"what a drain waits for has settled", []string{"controllers 7 Retry"}, []edit{
		{"cluster/drain.go", "\t\tif s != nil && !slices.Contains(out, *s) {", "\t\tif s != nil && b.GivenUp && !slices.Contains(out, *s) {"},
	}},
}
