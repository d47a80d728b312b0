package scenario

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/proxier/kubeproxy"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// DefaultProxy is kube-proxy's configuration without a configuration file, on Linux
// (docs/model/kube-proxy.md 6 and 10).
func DefaultProxy() world.Proxy {
	return world.Proxy{Mode: "iptables", MinSyncPeriod: engine.Second, SyncPeriod: 30 * engine.Second}
}

// nodes makes the cluster's nodes: those of the input, or made-up ones.
func (b *builder) nodes(c cursor) []world.Node {
	proxy := b.clusterProxy(c.get("proxy"))
	var nodes []world.Node
	given := c.get("count").present() || c.get("zones").present() || c.get("allocatable").present()
	named := b.world.podNodes()
	switch {
	case len(b.world.nodes) > 0 && b.opts.Nodes == 0:
		if given {
			c.fail("the input has %d Node objects: leave out count, zones and allocatable, or the objects", len(b.world.nodes))
		}
		nodes = b.realNodes(proxy)
	case len(named) > 0 && b.opts.Nodes == 0 && !given:
		nodes = b.namedNodes(named, proxy)
	default:
		nodes = b.madeUpNodes(c, proxy)
	}
	b.kubelet(c.get("kubelet"))
	for _, o := range c.get("overrides").items() {
		b.overrideNode(o, nodes)
	}
	return nodes
}

func (b *builder) realNodes(proxy world.Proxy) []world.Node {
	var nodes []world.Node
	for _, n := range b.world.nodes {
		nodes = append(nodes, world.Node{Name: n.Name, Zone: zoneOf(n.Value), Proxy: proxy, Object: n.Value})
	}
	return nodes
}

// madeUpNodes are those of a cluster of which the input has none. What the policies of Services
// want is added case by case where there are cases.
func (b *builder) madeUpNodes(c cursor, proxy world.Proxy) []world.Node {
	zones := c.get("zones").texts()
	if !c.get("zones").present() {
		zones = []string{"a", "b", "c"}
		b.assume("zones", "a, b, c")
	}
	need := b.world.nodesNeeded().wider(b.world.zoneRoom(len(zones)))
	if b.doc.object != nil {
		need = need.wider(b.world.nodesLocal(b.world.services))
	}
	count := need.nodes
	if n := c.get("count"); n.present() {
		if count = n.whole(1); count < 1 || count > maxNodes {
			n.fail("expected 1 to %d nodes, got %d", maxNodes, count)
			count = 1
		}
	} else {
		b.assumeAs("nodes", need.words(), need.basis)
	}
	b.out.Spare = &world.MadeUp{Zones: zones, Proxy: proxy, Has: allocatable(c.get("allocatable"))}
	var nodes []world.Node
	for i := range count {
		nodes = append(nodes, b.out.Spare.Node(i))
	}
	return nodes
}

// allocatable reads what each made-up node has; nil where that is not said.
func allocatable(c cursor) map[corev1.ResourceName]int64 {
	var out map[corev1.ResourceName]int64
	for _, key := range c.keys() {
		if q, err := asQuantity(c.get(key).v); err == nil { // check tells of the others
			if out == nil {
				out = map[corev1.ResourceName]int64{}
			}
			out[corev1.ResourceName(key)] = world.Amount(corev1.ResourceName(key), q)
		}
	}
	return out
}

func (b *builder) overrideNode(o cursor, nodes []world.Node) {
	i := nodeNamed(o.get("node"), nodes)
	if i < 0 {
		return
	}
	n := &nodes[i]
	n.Zone = o.get("zone").text(n.Zone)
	n.Proxy = b.readProxy(o.get("proxy"), n.Proxy)
	l := o.get("latency")
	if v := l.get("watch"); v.present() {
		if isHistogram(v) {
			v.fail("no metric of kube-proxy measures watch")
		}
		d := v.dist(engine.Dist{}, "")
		n.Watch = &d
	}
	if v := l.get("proxySync"); v.present() {
		d := v.dist(engine.Dist{}, syncMetric)
		n.ProxySync = &d
	}
}

// clusterProxy is the proxy of every node: what the Scenario says, over what a
// KubeProxyConfiguration says, over kube-proxy's defaults.
func (b *builder) clusterProxy(c cursor) world.Proxy {
	p := DefaultProxy()
	env, named := environmentNamed(b.opts.Env)
	if named {
		p = env.Proxy
	}
	if configs := b.world.proxyConfigs; len(configs) > 0 {
		from, problems := ProxyOf(configs[len(configs)-1])
		b.doc.problems = append(b.doc.problems, problems...)
		p = from
	} else if !c.present() && !named {
		b.assume("proxy", fmt.Sprintf("kube-proxy %s, %s, minSyncPeriod %s", b.out.Kubernetes.Version, p.Mode, p.MinSyncPeriod.Duration()))
	}
	return b.readProxy(c, p)
}

// proxyFields are those of a node's proxy.
func proxyFields() []fieldOf[world.Proxy] {
	least := spanRow("minSyncPeriod", of(duration).doc("1s", "kube-proxy's minSyncPeriod: between the end of a sync and the next one (up to 1.33: by a token bucket)"),
		func(p *world.Proxy) *engine.Time { return &p.MinSyncPeriod })
	least.write = func(w *printer, p *world.Proxy) { w.raw(least.name, p.MinSyncPeriod.Duration().String()) } // 0, too
	return []fieldOf[world.Proxy]{
		textRow("mode", word("nftables", "iptables").doc("iptables", "kube-proxy's mode"), func(p *world.Proxy) *string { return &p.Mode }),
		least,
		spanRow("syncPeriod", of(duration).doc("30s", "kube-proxy's syncPeriod: until a failed sync is tried again"), func(p *world.Proxy) *engine.Time { return &p.SyncPeriod }),
		flagRow("masqueradeAll", of(boolean).doc("false", "kube-proxy's masqueradeAll"), func(p *world.Proxy) *bool { return &p.MasqueradeAll }),
	}
}

func (b *builder) readProxy(c cursor, p world.Proxy) world.Proxy {
	readRows(c, proxyFields(), &p)
	if p.SyncPeriod < p.MinSyncPeriod || p.SyncPeriod == 0 {
		c.fail("syncPeriod %s has to be more than 0 and no less than minSyncPeriod %s", p.SyncPeriod.Duration(), p.MinSyncPeriod.Duration())
	}
	return p
}

// ProxyOf reads a KubeProxyConfiguration as lameduck's own service proxy does, with the same errors. What only matters on
// real machines, such as address ranges and limits of connection tracking, is passed over. With errors the proxy is
// kube-proxy's without a configuration.
func ProxyOf(o *manifest.Object) (world.Proxy, []manifest.Problem) {
	c, problems := kubeproxy.Read(o)
	problems = slices.DeleteFunc(problems, func(p manifest.Problem) bool { return p.Severity != manifest.Error })
	if len(problems) > 0 {
		return DefaultProxy(), problems
	}
	return followed(c), nil
}

// followed is the part of a configuration that the model follows on each node.
func followed(c *kubeproxy.Config) world.Proxy {
	rules := c.Rules(c.Mode)
	return world.Proxy{
		Mode: string(c.Mode), MasqueradeAll: rules.MasqueradeAll,
		MinSyncPeriod: engine.FromDuration(rules.MinSyncPeriod), SyncPeriod: engine.FromDuration(rules.SyncPeriod),
	}
}

// configuredGates are the feature gates of the input's KubeProxyConfiguration.
func (b *builder) configuredGates() map[string]bool {
	configs := b.world.proxyConfigs
	if len(configs) == 0 {
		return map[string]bool{}
	}
	c, problems := kubeproxy.Read(configs[len(configs)-1])
	if manifest.HasErrors(problems) { // clusterProxy tells of them
		return map[string]bool{}
	}
	return c.Gates()
}

// noNodePort says why clients from outside do not reach a Service without a node port.
func noNodePort(t *world.Traffic, s *corev1.Service) string {
	switch {
	case t.LB != nil:
		return fmt.Sprintf("load balancer %s sends to nodes, and it has no node port; use a Service of type NodePort, or a load balancer that sends to pods", t.LB.Preset)
	case s.Spec.Type == corev1.ServiceTypeClusterIP:
		return "it is of type ClusterIP: nothing outside the cluster reaches it; use from: pods, a Service of type NodePort or LoadBalancer, or an Ingress that names it"
	default:
		return "it has no node port"
	}
}

// nodeNamed finds the node that a field names, -1 for none.
func nodeNamed(c cursor, nodes []world.Node) int {
	name := c.text("")
	i := slices.IndexFunc(nodes, func(n world.Node) bool { return n.Name == name })
	if i < 0 {
		c.fail("there is no node %q; %s", name, didYouMean(name, world.NodeNames(nodes[:min(len(nodes), 20)])))
	}
	return i
}

// deleteDelay is how long Cluster Autoscaler waits at least between the taint and the deletion of a
// node: --node-delete-delay-after-taint (docs/model/controllers.md 8; verified).
const deleteDelay = 5 * engine.Second

// atLeastDeleteDelay gives the autoscaler its delay where the Scenario says none, and refuses a shorter one.
func atLeastDeleteDelay(c cursor, a *world.Action) bool {
	if a.For == 0 {
		a.For = deleteDelay
	}
	if a.For < deleteDelay {
		c.get("for").fail("Cluster Autoscaler deletes a node %s after its taint at the earliest", deleteDelay.Duration())
		return false
	}
	return true
}

// vacate takes clients inside of the cluster off nodes that go away during the run: they would end
// with them, and who would still ask is none of the model's business.
func (b *builder) vacate() {
	for i := range b.out.Actions {
		a := &b.out.Actions[i]
		for _, node := range b.leaving(a) {
			for k := range b.out.Traffic {
				b.takeOff(&b.out.Traffic[k], a, node)
			}
		}
		if drain, ok := a.Operation.(world.Drain); ok {
			for k := range b.out.Traffic {
				world.TakeOff(&b.out.Traffic[k], b.out.Nodes, drain.Nodes)
			}
		}
	}
}

// leaving are the nodes that an action takes away, of those that have clients: where a whole pool goes, these are on other nodes.
func (b *builder) leaving(a *world.Action) []string {
	nodes := world.LeavingNodes(a.Operation)
	if _, upgrade := a.Operation.(world.UpgradePool); upgrade && len(nodes) >= len(b.out.Standing()) {
		return nil
	}
	return nodes
}

// takeOff takes the clients of a stream off a node that an action takes away.
func (b *builder) takeOff(t *world.Traffic, a *world.Action, node string) {
	switch {
	case t.External:
		return
	case t.Nodes == nil:
		t.Nodes = world.NodeNames(b.out.Standing())
	case !slices.Contains(t.Nodes, node):
		return
	case !t.Everywhere:
		b.doc.report(manifest.Error, a.Pos, "spec.actions", "not yet simulated: %s of %s, where clients of traffic %s run: leave it out of their nodes", a.Verb(), node, t.Name)
		return
	}
	t.Everywhere = true
	t.Nodes = slices.DeleteFunc(t.Nodes, func(name string) bool { return name == node })
	if len(t.Nodes) == 0 {
		b.doc.report(manifest.Error, a.Pos, "spec.actions", "%s of %s leaves no node for the clients of traffic %s", a.Verb(), node, t.Name)
	}
}

func (w *printer) node(n *world.Node) {
	w.line("name", n.Name)
	w.line("zone", n.Zone)
	w.flag("joins", n.Joins)
	w.flag("apart", n.Apart)
	w.nested("proxy", func() { printRows(w, proxyFields(), &n.Proxy) })
	if n.Has != nil {
		w.line("has", fmt.Sprint(n.Has)) // maps are printed in the order of their keys
	}
	if n.Watch != nil {
		w.dist("watch", *n.Watch)
	}
	if n.ProxySync != nil {
		w.dist("proxySync", *n.ProxySync)
	}
}
