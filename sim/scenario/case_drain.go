package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// KindNode is the Case.Kind of a drain of nodes as such, of whomever they have pods: whether it comes to its end, and when.
const KindNode = "Node"

// drainOf begins a word of Options.Actions that drains nodes by their names: "drain=node-7"; a node after it is drained after it.
const drainOf = "drain="

// nodeDrain is kubectl drain of some nodes.
type nodeDrain struct {
	nodes []string
	force bool // there may be bare Pods on them, which kubectl drain refuses without
}

func (d *nodeDrain) word() string { return drainOf + strings.Join(d.nodes, ",") }

// NodesDrained are the nodes that some Options.Actions drain by their names, a list for each drain, and the other words.
func NodesDrained(actions []string) (drains [][]string, others []string) {
	known := Actions()
	begun := false
	for _, word := range actions {
		name, drain := strings.CutPrefix(word, drainOf)
		switch {
		case drain:
			drains, begun = append(drains, []string{name}), true
		case begun && !slices.Contains(known, word):
			last := len(drains) - 1
			drains[last] = append(drains[last], word)
		default:
			others, begun = append(others, word), false
		}
	}
	return drains, others
}

// nodeDrains are those that were asked for. A node that there is not is an error.
func (b *builder) nodeDrains(base *world.Scenario) []nodeDrain {
	drains, _ := NodesDrained(b.opts.Actions)
	names := world.NodeNames(base.Nodes)
	var out []nodeDrain
	for _, nodes := range drains {
		d := nodeDrain{nodes: distinct(nodes)}
		known := true
		for _, name := range d.nodes {
			if slices.Contains(names, name) {
				continue
			}
			known = false
			what := fmt.Sprintf("there is no node %q", name)
			if name == "" {
				what = "say which node, such as drain=" + names[0]
			}
			b.doc.settingError(b.opts.Wording.Option("action", d.word()), "%s; there are %s", what, someNames(names))
		}
		if known {
			out = append(out, d)
		}
	}
	return out
}

// someNames are as many names as a message has room for.
func someNames(names []string) string {
	const most = 20
	words := strings.Join(names[:min(len(names), most)], ", ")
	if len(names) > most {
		words += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return words
}

// nodeCases makes the cases of a drain of nodes: that of the nodes themselves, and one for each traffic entry of which they have
// pods. All have the same world, in which everything that is on the nodes leaves them in one timeline; each is asked by clients of
// its own entry alone.
func (b *builder) nodeCases(base *world.Scenario, d *nodeDrain) []Case {
	census := b.census
	defer func() { b.with, b.census = nil, census }()
	base = b.labelled(base)
	on := b.onNodes(base, d.nodes)
	b.with = append([]int{}, on...)
	d.force = slices.ContainsFunc(on, func(i int) bool { return b.census.owners[i].kind == world.Pod })
	a := &caseAction{word: d.word(), name: "drain of " + strings.Join(d.nodes, ", "), doing: func(*builder, *owner) doing { return doing{operation: d.operation()} }}
	out := []Case{b.nodeCase(base, d, a, on)}
	seen := map[string]bool{}
	for _, i := range on {
		o := b.census.owners[i]
		if !b.targeted(o) || o.simulated() && base.Workloads[i].App.NotAServer {
			continue
		}
		for _, c := range b.casesOf(base, i, []caseAction{*a}) {
			if o.operated && !b.world.selectsOn(c.Service, &o, d.nodes) {
				continue
			}
			if entry := c.ID[strings.LastIndexByte(c.ID, '/'):]; !seen[c.Service+entry] {
				seen[c.Service+entry] = true
				out = append(out, c)
			}
		}
	}
	return out
}

func (d *nodeDrain) operation() world.Operation {
	return world.Drain{Nodes: d.nodes, DrainOptions: world.DrainOptions{GracePeriod: world.OwnGrace, Force: d.force}}
}

// onNodes are the workloads of the census with pods on some nodes that a drain has leave, and those of whose pods the input says
// nothing.
func (b *builder) onNodes(base *world.Scenario, nodes []string) []int {
	var out []int
	for i := range b.census.owners {
		o := &b.census.owners[i]
		switch {
		case o.kind == world.DaemonSet || o.ends():
		case o.simulated():
			if w := &base.Workloads[i]; w.On(nodes) > 0 || len(w.Placed) == 0 && w.Replicas() > 0 {
				out = append(out, i)
			}
		case slices.ContainsFunc(b.world.pods, func(p homed) bool { return slices.Contains(nodes, p.node()) && !p.over() && o.keeps(&p) }):
			out = append(out, i)
		}
	}
	return out
}

// keeps says whether a pod of the input is one of a workload's.
func (o *owner) keeps(p *homed) bool { return p.owned(o.kind, o.namespace, o.name) }

// nodeCase is the drain itself, which nobody asks anything.
func (b *builder) nodeCase(base *world.Scenario, d *nodeDrain, a *caseAction, on []int) Case {
	c := Case{ID: a.word, Action: a.name, Kind: KindNode, Drain: b.plan(base, d, on)}
	if !slices.ContainsFunc(on, func(i int) bool { return b.census.owners[i].simulated() }) {
		c.Verdict, c.Reason = NotJudged, "no pod there is of a workload that is simulated"
		if waits := c.Drain.waits(); waits != nil {
			c.Reason += "; it waits for " + waits.Words()
		}
		return c
	}
	c.Scenario = b.deriveDrain(base, on, d.operation())
	c.Scenario.Name = c.ID
	return c
}

// deriveDrain makes the Scenario of a drain that nobody asks anything: what is on the nodes, and the Services of that.
func (b *builder) deriveDrain(base *world.Scenario, with []int, does world.Operation) *world.Scenario {
	s := *base
	own := &builder{doc: b.doc, opts: b.opts, world: b.world, census: b.census, out: &s, assumed: append([]world.Assumption(nil), b.assumed...)}
	s.Assumptions, s.NotModelled = nil, nil
	s.Workloads, s.Services, s.Budgets, s.Traffic = nil, nil, nil, nil
	for _, i := range own.drained(nil, with) {
		w := base.Workloads[i]
		w.Aside, w.Bystander = true, true
		s.Workloads = append(s.Workloads, w)
	}
	own.budgets()
	own.uncounted()
	own.unpromoted()
	s.Actions = []world.Action{{At: s.Warmup, Operation: does}}
	own.taken()
	own.finish()
	return &s
}

// drained adds the Services of what is drained, and returns the workloads that belong in the world then, with those that do anyway, near:
// what is behind one of these Services, and what a budget counts together with one of them. Services and workloads are in the same order
// whichever case it is, so that all have the same world.
func (b *builder) drained(near, with []int) []int {
	all := slices.Clone(near)
	for _, i := range with {
		if b.census.owners[i].simulated() {
			b.servicesOf(i)
			all = append(all, i)
		}
	}
	for found := 0; found < len(all); {
		found = len(all)
		all = b.counted(b.census.besideAll(b.out.Services, all))
		for _, i := range all[found:] {
			b.servicesOf(i)
		}
	}
	rank := func(s world.Service) int {
		return slices.IndexFunc(b.world.services, func(x manifest.Typed[*corev1.Service]) bool { return x.Value == s.Service })
	}
	sorted.StableBy(b.out.Services, func(a, b world.Service) int { return cmp.Compare(rank(a), rank(b)) })
	b.out.Services = slices.CompactFunc(b.out.Services, func(a, b world.Service) bool { return a.Service == b.Service })
	slices.Sort(all)
	return slices.Compact(all)
}

// counted adds to some workloads those of which a budget counts the pods together with theirs: how many may go depends on all of them.
func (b *builder) counted(list []int) []int {
	for i := range b.world.budgets {
		covers := func(of int) bool {
			return b.census.owners[of].covered(&b.world.budgets[i])
		}
		if !slices.ContainsFunc(list, covers) {
			continue
		}
		for of := range b.census.owners {
			if o := &b.census.owners[of]; o.simulated() && o.replicas != 0 && covers(of) && !slices.Contains(list, of) {
				list = append(list, of)
			}
		}
	}
	return list
}

// uncounted says of budgets that cover pods of kinds that are not simulated that they count without them, and which of the input are left
// out, for nobody knows what they mean.
func (b *builder) uncounted() {
	for _, o := range b.world.unusable {
		near := slices.ContainsFunc(b.out.Workloads, func(w world.Workload) bool { return w.Namespace() == o.Namespace })
		if o.Kind == "PodDisruptionBudget" && near {
			b.notModelled("budget", fmt.Sprintf("%s%s cannot be understood, and is left out", o, place(o, "spec", "")), o.String(), "unknown")
		}
	}
	for i := range b.out.Budgets {
		x := &b.out.Budgets[i]
		for k := range b.census.owners {
			if o := &b.census.owners[k]; !o.simulated() && !o.ends() && o.replicas != 0 && o.covered(x) {
				b.notModelled("budget", fmt.Sprintf("%s covers pods of %s %s, too, a kind that is not simulated: it counts without them", x.Words(), o.kind, o.name), o.kind+" "+o.id(), "unknown")
			}
		}
	}
}
