package scenario

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// verbsOfOutages are those that end the machine of a node, or delete its object.
func verbsOfOutages() []verb {
	return []verb{
		onNode("shutdownNode", "a machine shuts down: its kubelet ends its pods first, as nodes.kubelet says, and then it is off; with for it is back then",
			func(name string) world.Operation { return world.ShutdownNode{Node: name} }),
		{field{"spotNotice", fieldsOf(
			field{"node", of(text).doc("", "the cloud takes a machine back, and deletes its Node when it is gone; spotNotice: NODE is short for it")},
			field{"notice", of(duration).doc("120s", "how long before: 120s on AWS, 30s on GCP and Azure")},
			field{"shutdown", word("at-end", "at-notice").doc("at-end", "when the machine is told to shut down; at-notice: at once, and it is gone when the notice is over (GCP)")},
			field{"handler", word("none", "drain", "karpenter").doc("none", "who reacts: drain is a node termination handler that cordons and drains the node at the notice; karpenter taints and empties it, by its interruption queue, and has another node join")},
			field{"provision", of(duration).doc("90s", "with handler karpenter: how long that node takes from the notice until it is ready")},
		).orShort("node")}, func(b *builder, v cursor, _ string) (world.Operation, bool) { return b.spotNotice(v) }},
		{field{"deleteNode", fieldsOf(
			field{"node", of(text).doc("", "kubectl delete node; deleteNode: NODE is short for it")},
			field{"machine", of(boolean).doc("false", "its machine goes with it; else it runs on")},
		).orShort("node")}, func(b *builder, v cursor, _ string) (world.Operation, bool) { return b.deleteNode(v) }},
		{field{"createNode", fieldsOf(
			field{"node", of(text).doc("", "a node joins, ready and with rules in force from then on; createNode: NODE is short for it")},
			field{"like", of(text).doc("the first", "the node that it is made like")},
			field{"zone", of(text).doc("that of the other", "its zone")},
		).orShort("node")}, func(b *builder, v cursor, _ string) (world.Operation, bool) { return b.createNode(v) }},
	}
}

// nodeOf reads which node is meant, by its name alone or with more.
func (b *builder) nodeOf(v cursor) (c cursor, ok bool) {
	c = v.get("node")
	if _, short := v.v.(string); short {
		c = v
	}
	if !c.present() {
		v.fail("say which node: node: NODE")
		return c, false
	}
	return c, nodeNamed(c, b.out.Nodes) >= 0
}

func (b *builder) spotNotice(v cursor) (world.Operation, bool) {
	node, ok := b.nodeOf(v)
	o := world.SpotNotice{
		Node: node.text(""), Notice: v.get("notice").span(spotNoticeTime),
		Sudden: v.get("shutdown").text("at-end") == "at-notice", Drains: v.get("handler").text("none") == "drain",
		Karpenter: v.get("handler").text("none") == "karpenter",
	}
	switch c := v.get("provision"); {
	case o.Karpenter:
		o.Provision = c.span(Provisioning)
	case c.present():
		c.fail("nobody has a node join at the notice but Karpenter: handler: karpenter")
		return nil, false
	}
	return o, ok
}

func (b *builder) deleteNode(v cursor) (world.Operation, bool) {
	node, ok := b.nodeOf(v)
	return world.DeleteNode{Node: node.text(""), Machine: v.get("machine").flag(false)}, ok
}

// createNode reads a node that joins. Its name is checked when all nodes are known.
func (b *builder) createNode(v cursor) (world.Operation, bool) {
	name := v.get("node").text("")
	if words, short := v.v.(string); short {
		name = words
	}
	if name == "" {
		v.fail("say how it is called: createNode: NAME")
		return nil, false
	}
	o := world.CreateNode{Node: name, Like: v.get("like").text(""), Zone: v.get("zone").text("")}
	return o, o.Like == "" || nodeNamed(v.get("like"), b.out.Nodes) >= 0
}

// kubeletShape is what of a KubeletConfiguration matters here, under its own names.
func kubeletShape() shape {
	return fieldsOf(
		field{"shutdownGracePeriod", of(duration).doc("0s: pods end with their machine", "how long a machine that shuts down waits for its pods")},
		field{"shutdownGracePeriodCriticalPods", of(duration).doc("0s", "the last part of that, for pods of priority 2000000000 and more")},
		field{"shutdownGracePeriodByPodPriority", list(fieldsOf(
			field{"priority", of(priority).doc("0", "pods of this priority and more, up to the next entry's")},
			field{"shutdownGracePeriod", of(duration).doc("0s", "how long it waits for them")},
		))},
	)
}

// kubelet reads how machines shut down (Kubernetes 1.36 pkg/kubelet/nodeshutdown, migrateConfig; verified).
func (b *builder) kubelet(c cursor) {
	whole, critical, by := c.get("shutdownGracePeriod"), c.get("shutdownGracePeriodCriticalPods"), c.get("shutdownGracePeriodByPodPriority")
	b.doc.shutdownSaid = whole.present() || by.present()
	total, last := whole.span(0), critical.span(0)
	switch {
	case by.present() && (whole.present() || critical.present()):
		by.fail("a kubelet takes either this or shutdownGracePeriod and shutdownGracePeriodCriticalPods")
	case last > total:
		critical.fail("shutdownGracePeriodCriticalPods is part of shutdownGracePeriod, and may not be longer")
	case by.present():
		for _, g := range by.items() {
			b.out.Shutdown = append(b.out.Shutdown, world.ShutdownGroup{Priority: g.get("priority").priority(), Grace: g.get("shutdownGracePeriod").span(0)})
		}
		sorted.StableBy(b.out.Shutdown, func(x, y world.ShutdownGroup) int { return int(x.Priority) - int(y.Priority) })
	case total > 0:
		b.out.Shutdown = []world.ShutdownGroup{{Priority: 0, Grace: total - last}, {Priority: world.CriticalPriority, Grace: last}}
	}
	if !c.present() {
		b.configuredKubelet()
	}
}

// shutsDown says what a shutdown assumes of the kubelets, where nothing is said of them, and minds pods of priority classes whose value
// nobody knows.
func (b *builder) shutsDown() {
	i := slices.IndexFunc(b.out.Actions, func(a world.Action) bool {
		switch a.Operation.(type) {
		case world.ShutdownNode, world.SpotNotice:
			return true
		default:
			return false
		}
	})
	if i < 0 {
		return
	}
	if b.doc.shutdownBy != "" {
		b.assumeAs("kubelet", b.doc.shutdownBy, "manifest")
	}
	b.spotKubelets(b.out.Actions[i].Operation)
	if len(b.out.Shutdown) == 0 {
		if !b.doc.shutdownSaid {
			b.assume("kubelet", endsWithMachine)
		}
		return
	}
	for k := range b.out.Workloads {
		spec := &b.out.Workloads[k].Template().Spec
		if _, known := world.PriorityOf(spec); !known {
			b.doc.report(manifest.Error, b.out.Actions[i].Pos, "spec.actions", "%s has priorityClassName %s, whose value is not known: give its pods spec.priority",
				b.out.Workloads[k].Name(), spec.PriorityClassName)
		}
	}
}

func (w *printer) shutdown(groups []world.ShutdownGroup) {
	var out []string
	for _, g := range groups {
		out = append(out, g.String())
	}
	w.texts("shutdown", out)
}
