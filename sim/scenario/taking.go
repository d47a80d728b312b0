package scenario

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Provisioning is how long a new node takes from the request until it is ready (assumed: Karpenter's documents and providers give one to
// several minutes).
const Provisioning = 90 * engine.Second

// karpenterShape is Karpenter disrupting nodes: the name of one, or several with what their NodePool says.
func karpenterShape() shape {
	return fieldsOf(
		field{"nodes", list(of(text)).doc("", "Karpenter takes nodes away, for consolidation or drift, as many at a time as the budget lets; karpenter: NODE is short for one")},
		field{"replacements", of(whole).doc("0", "so many nodes join before")},
		field{"provision", of(duration).doc("90s", "how long they take from the request until they are ready")},
		field{"budget", of(text).doc("10%", "of the NodePool (spec.disruption.budgets): so many nodes at a time, or per cent of the cluster, rounded up")},
		field{"reason", word("Underutilized", "Drifted").doc("Underutilized", "why: consolidation heeds do-not-disrupt and disruption budgets of pods; drift does not where terminationGracePeriod is set")},
		field{"terminationGracePeriod", of(duration).doc("none", "of the NodePool: how long a node may take to be emptied")},
	).orShort("nodes")
}

// upgradeShape is the upgrade of a managed pool.
func upgradeShape() shape {
	return fieldsOf(
		field{"provider", word(world.PoolGKE, world.PoolEKS, world.PoolAKS).doc("", "a managed pool is upgraded, as this provider does it: each node is replaced by one that joins; upgradePool: gke is short")},
		field{"nodes", list(of(text)).doc("all nodes", "the nodes of the pool, in the order in which they go")},
		field{"maxSurge", of(whole).doc("1 of GKE, a tenth of the pool of AKS", "so many nodes join before as many go")},
		field{"maxUnavailable", of(whole).doc("1 of EKS, else 0", "so many nodes go before others join; of EKS how many go at a time")},
		field{"provision", of(duration).doc("90s", "how long a node takes from the request until it is ready")},
		field{"drainLimit", of(duration).doc("1h of GKE, 15m of EKS, 30m of AKS", "how long the pods of a node may take to leave")},
		field{"force", of(boolean).doc("true of GKE, else false", "pods that are there after that are deleted; else the upgrade fails; AKS has no such setting")},
		field{"undrainableNodeBehavior", word("Schedule", "Cordon").doc("Schedule", "of AKS, what becomes of a node that is not empty in time: it takes pods again and the upgrade has failed, or it stays cordoned and the next one follows")},
	).orShort("provider")
}

// nodeNames reads the names of nodes, each once.
func (b *builder) nodeNames(v cursor) (names []string, ok bool) {
	ok = true
	list := v.get("nodes").items()
	if _, short := v.v.(string); short {
		list = []cursor{v}
	}
	for _, n := range list {
		name := n.text("")
		if slices.Contains(names, name) {
			n.fail("%s is named twice", name)
			ok = false
		}
		ok = nodeNamed(n, b.out.Nodes) >= 0 && ok
		names = append(names, name)
	}
	return names, ok
}

func (b *builder) karpenter(v cursor) (world.Operation, bool) {
	names, ok := b.nodeNames(v)
	if len(names) == 0 {
		v.fail("say which nodes: karpenter: NODE, or karpenter: {nodes: [NODE, NODE]}")
		return nil, false
	}
	o := world.Consolidate{
		Nodes: names, Replacements: v.get("replacements").whole(0), Provision: v.get("provision").span(Provisioning), Budget: world.KarpenterBudget(),
		Grace: v.get("terminationGracePeriod").span(0), Drifted: v.get("reason").text("") == "Drifted",
	}
	if c := v.get("budget"); c.present() {
		var read bool
		if o.Budget, read = budgetOf(c.text("")); !read {
			c.fail("expected a number of nodes or per cent of them, such as \"2\" or \"20%%\"")
			return nil, false
		}
	}
	if o.Replacements > len(names) {
		v.get("replacements").fail("%d nodes for %d: Karpenter replaces nodes by fewer or as many", o.Replacements, len(names))
		return nil, false
	}
	const patience = 10 * engine.Minute
	if o.Replacements > 0 && o.Provision >= patience {
		v.get("provision").fail("Karpenter waits less than %s for a new node, and goes on as if nothing had been", patience.Duration())
		return nil, false
	}
	return o, ok
}

// budgetOf reads the nodes of a NodePool's disruption budget.
func budgetOf(words string) (world.NodeBudget, bool) {
	digits, perCent := strings.CutSuffix(words, "%")
	n, err := strconv.Atoi(digits)
	return world.NodeBudget{Number: n, PerCent: perCent}, err == nil && n >= 0 && n <= maxNodes && (!perCent || n <= 100)
}

func (b *builder) upgradePool(v cursor) (world.Operation, bool) {
	o := world.UpgradePool{
		Provider: v.get("provider").text(""), Surge: world.AllOfThem, Unavailable: world.AllOfThem,
		Provision: v.get("provision").span(Provisioning), Limit: v.get("drainLimit").span(0), Force: v.get("force").flag(false),
		Quarantine: v.get("undrainableNodeBehavior").text("Schedule") == "Cordon",
	}
	if text, short := v.v.(string); short {
		o.Provider = text
	}
	ok := true
	if v.get("nodes").present() {
		o.Nodes, ok = b.nodeNames(v)
	}
	if c := v.get("maxSurge"); c.present() {
		o.Surge = c.whole(0)
	}
	if c := v.get("maxUnavailable"); c.present() {
		o.Unavailable = c.whole(0)
	}
	switch {
	case !slices.Contains([]string{world.PoolGKE, world.PoolEKS, world.PoolAKS}, o.Provider):
		v.fail("say whose pool it is: upgradePool: gke, eks or aks")
		return nil, false
	case o.Provider == world.PoolEKS && o.Surge != world.AllOfThem:
		v.get("maxSurge").fail("EKS has no such setting: as many nodes join as the pool has zones, twice at most")
		return nil, false
	case o.Surge == 0 && o.Unavailable == 0:
		v.get("maxUnavailable").fail("with maxSurge 0 and maxUnavailable 0 no node could be replaced: one of them has to be more")
		return nil, false
	case o.Provider == world.PoolAKS && o.Force:
		v.get("force").fail("AKS deletes no pods that stay; undrainableNodeBehavior says what becomes of their node")
		return nil, false
	case o.Provider != world.PoolAKS && v.get("undrainableNodeBehavior").present():
		v.get("undrainableNodeBehavior").fail("this is a setting of AKS")
		return nil, false
	case o.Provider == world.PoolGKE && v.get("force").present() && !o.Force:
		v.get("force").fail("GKE deletes what is left when the time is over")
		return nil, false
	}
	return o, ok
}

// muster gives the cluster the nodes that its actions have join. Clients that address nodes would lose all of them where a pool is replaced.
func (b *builder) muster() {
	joining := 0
	for i := range b.out.Actions {
		a := &b.out.Actions[i]
		t, ok := b.out.TakingOf(a)
		if ok && len(t.Joins) > 0 {
			joining++
		}
		if joining > 1 {
			b.doc.report(manifest.Error, a.Pos, "spec.actions", "not yet simulated: nodes that join by two actions of one run")
			return
		}
		if o, upgrade := a.Operation.(world.UpgradePool); upgrade && o.Nodes == nil {
			b.refuseDirect(a)
		}
	}
	b.out.Muster()
	b.namesOfJoining()
	b.patience()
}

// namesOfJoining refuses a node that joins under a name that another has.
func (b *builder) namesOfJoining() {
	for i := range b.out.Actions {
		o, ok := b.out.Actions[i].Operation.(world.CreateNode)
		if !ok {
			continue
		}
		called := slices.DeleteFunc(world.NodeNames(b.out.Nodes), func(name string) bool { return name != o.Node })
		if len(called) > 1 {
			b.doc.report(manifest.Error, b.out.Actions[i].Pos, "spec.actions", "there is a node %s besides, at the beginning or by another action: give it another name", o.Node)
		}
	}
}

// patience gives a run the time that nodes may take that are replaced, where nobody says when it ends.
func (b *builder) patience() {
	if b.doc.spec().get("until").present() {
		return
	}
	for i := range b.out.Actions {
		if world.Disrupts(b.out.Actions[i].Operation) {
			b.out.Until += b.out.LongestTaking(&b.out.Actions[i])
		}
		if b.out.Until > longestRun {
			b.doc.report(manifest.Error, b.out.Actions[i].Pos, "spec.actions", "it may take too long to be simulated: a run is %s at most; spec.until says when it ends", longestRun.Duration())
			return
		}
	}
}

// refuseDirect refuses clients that go to nodes themselves, of which none stays.
func (b *builder) refuseDirect(a *world.Action) {
	for i := range b.out.Traffic {
		if t := &b.out.Traffic[i]; t.External && t.LB == nil {
			b.doc.report(manifest.Error, a.Pos, "spec.actions", "every node is replaced, and clients of traffic %s go to nodes themselves: name the nodes of the pool, or a load balancer", t.Name)
		}
	}
}
