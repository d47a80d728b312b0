package scenario

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Who takes the nodes of manifests away: what the input says of them, and what is taken for granted.

// replaced is Karpenter replacing the node with most pods of a workload, by what the NodePool of the input says of which it is.
func (b *builder) replaced(o *owner) doing {
	p, g := b.nodePool(o)
	if g.foreign() {
		return doing{why: "nothing to replace: none of its pods is, or may be, on a node of a NodePool of the input"}
	}
	op := world.Consolidate{Fullest: o.id(), Pool: g.nodes, Replacements: 1, Provision: Provisioning, Budget: world.KarpenterBudget()}
	if p != nil {
		if n, said := poolBudget(p); said {
			op.Budget = n
		}
		op.Grace = poolGrace(p)
		if op.Budget.Number == 0 {
			return doing{why: fmt.Sprintf("nothing to replace: the disruption budget of NodePool %s lets no node go%s", p.Name, place(p, "spec.disruption.budgets", o.object.File))}
		}
	}
	return doing{operation: op}
}

// drift says for which reason a node of a NodePool with a terminationGracePeriod is replaced, where another one would end otherwise
// (docs/model/controllers.md 8.1 Drift).
func (b *builder) drift() {
	for _, a := range b.out.Actions {
		if op, ok := a.Operation.(world.Consolidate); ok && op.Grace > 0 && !op.Drifted {
			b.notModelled(world.Drift, fmt.Sprintf("the reason is taken to be consolidation (%s), which heeds do-not-disrupt and disruption budgets of pods. After drift, as by a new image of nodes, "+
				"Karpenter drains such a node, too, and ends what is left after terminationGracePeriod, %s", consolidation, op.Grace.Duration()), "NodePool", "more")
		}
	}
}

// heedless warns of an annotation by which pods keep their node, or not, that stands where nobody reads it, or has a value that does nothing.
func (b *builder) heedless(name string, values ...string) {
	for i := range b.census.owners {
		o := &b.census.owners[i]
		if o.object == nil || !b.targeted(*o) {
			continue
		}
		words := strings.Join(values, " or ")
		path, templated := "metadata.annotations", o.kind != world.Pod
		if v, ok := o.template.Annotations[name]; ok && !slices.Contains(values, v) {
			if templated {
				path = "spec.template." + path
			}
			b.doc.problems = append(b.doc.problems, o.object.Problem(manifest.Warning, path, fmt.Sprintf("%s: %q does nothing: say %s", name, v, words)))
			continue
		}
		r, ok := o.object.Value.(world.Resource)
		if _, there := o.template.Annotations[name]; !ok || !templated || there {
			continue
		}
		if _, misplaced := r.GetAnnotations()[name]; misplaced {
			b.doc.problems = append(b.doc.problems, o.object.Problem(manifest.Warning, path, fmt.Sprintf("%s does nothing here: it is read of pods, and belongs in spec.template.metadata", name)))
		}
	}
}

// upgraded is the upgrade of the pool that a workload is on: that of all nodes where these do not say of which they are.
func (b *builder) upgraded(o *owner) doing {
	g := b.groupFor(o, func(n *corev1.Node) string { name, _, _ := managedPool(n); return name })
	if g.foreign() {
		return doing{why: "nothing to upgrade: none of its pods is, or may be, on a node of a managed pool of the input"}
	}
	provider, _ := b.poolProvider(g.nodes)
	return doing{operation: world.UpgradePool{Provider: provider, Nodes: g.nodes, Surge: world.AllOfThem, Unavailable: world.AllOfThem, Provision: Provisioning}}
}

// poolProvider is whose pool some nodes are, and what says so, "" for nothing: these nodes before others.
func (b *builder) poolProvider(nodes []string) (provider, why string) {
	providers := map[string]string{"gce": world.PoolGKE, "aws": world.PoolEKS, "azure": world.PoolAKS}
	if env, ok := environmentNamed(b.opts.Env); ok && providers[env.Provider] != "" {
		return providers[env.Provider], "the kind of cluster (" + env.ID + ")"
	}
	list := slices.DeleteFunc(slices.Clone(b.world.nodes), func(n manifest.Typed[*corev1.Node]) bool { return !slices.Contains(nodes, n.Name) })
	list = append(list, b.world.nodes...)
	for _, n := range list {
		name, _, _ := strings.Cut(n.Value.Spec.ProviderID, "://")
		if providers[name] != "" {
			return providers[name], "providerID " + name + " of Node " + n.Name
		}
	}
	for _, n := range list {
		if _, label, provider := managedPool(n.Value); provider != "" {
			return provider, label + " of Node " + n.Name
		}
	}
	return b.poolAskedFor()
}

// poolAskedFor is whose pool it is by the labels of nodes that pods ask for or tolerate, and by objects that one cloud reads. Whether pods
// have nodes by any other way is not looked at.
func (b *builder) poolAskedFor() (provider, why string) {
	for i := range b.census.owners {
		o := &b.census.owners[i]
		for _, key := range asksOfNodes(&o.template.Spec) {
			domain, _, _ := strings.Cut(key, "/")
			if provider := nodeDomains()[domain]; provider != "" {
				return provider, fmt.Sprintf("%s, which %s %s asks of its nodes", key, o.kind, o.name)
			}
		}
	}
	for _, o := range slices.Concat(b.world.backendConfigs, b.world.backendPolicies) {
		return world.PoolGKE, o.Kind + " " + o.Name
	}
	return world.PoolGKE, ""
}

// nodeDomains are those of the labels and taints that clouds, and Karpenter on them, put on nodes (the providers' pages on node labels; recalled).
func nodeDomains() map[string]string {
	return map[string]string{
		"cloud.google.com": world.PoolGKE, "eks.amazonaws.com": world.PoolEKS, "karpenter.k8s.aws": world.PoolEKS,
		"kubernetes.azure.com": world.PoolAKS, "karpenter.azure.com": world.PoolAKS,
	}
}

// asksOfNodes are the keys of labels and taints by which a pod says which nodes it wants, sorted.
func asksOfNodes(pod *corev1.PodSpec) []string {
	keys := sortedKeys(pod.NodeSelector)
	if a := pod.Affinity; a != nil && a.NodeAffinity != nil {
		if required := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
			for _, term := range required.NodeSelectorTerms {
				for _, x := range term.MatchExpressions {
					keys = append(keys, x.Key)
				}
			}
		}
		for _, preferred := range a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
			for _, x := range preferred.Preference.MatchExpressions {
				keys = append(keys, x.Key)
			}
		}
	}
	for _, t := range pod.Tolerations {
		keys = append(keys, t.Key)
	}
	slices.Sort(keys)
	return keys
}

// empties says whether an operation has all pods of a node leave.
func empties(o world.Operation) bool {
	switch o.(type) {
	case world.Drain, world.ScaleDownNode, world.Consolidate, world.UpgradePool:
		return true
	default:
		return false
	}
}

// evicts says whether an operation asks for evictions, which budgets may refuse.
func evicts(o world.Operation) bool { return empties(o) || world.Disrupts(o) }

// taken has the nodes of a case join and leave, and says what that takes for granted.
func (b *builder) taken() {
	a := &b.out.Actions[0]
	switch o := a.Operation.(type) {
	case world.ScaleDownNode:
		a.For = deleteDelay
	case world.Consolidate:
		words, basis := b.disruptionWords(&o)
		b.assumeAs("pool", "Karpenter: "+words, basis)
		b.assume("provision", Provisioning.Duration().String())
	case world.UpgradePool:
		provider, why := b.poolProvider(o.Nodes)
		if behind := poolBehind(b.out.Traffic); why == "" && behind != "" {
			provider, why = behind, "the load balancer"
		}
		o.Provider = provider
		a.Operation = o
		words, basis := poolWords(o.Provider), ""
		if o.Nodes != nil {
			words += "; " + b.poolNamed(o.Nodes[0])
		}
		if why != "" {
			words, basis = words+", by "+why, inferred
		}
		b.assumeAs("pool", words, basis)
		b.assume("provision", Provisioning.Duration().String())
	case world.SpotNotice:
		if !o.Karpenter {
			return
		}
		b.assume("provision", Provisioning.Duration().String())
	default:
		return
	}
	b.out.Muster()
	b.patience()
}

// disruptionWords say by what Karpenter disrupts a node, and basis whether the input says so.
func (b *builder) disruptionWords(o *world.Consolidate) (words, basis string) {
	i := slices.IndexFunc(b.census.owners, func(x owner) bool { return x.id() == o.Fullest })
	p, g := b.nodePool(&b.census.owners[i])
	switch {
	case p != nil:
		return fmt.Sprintf("budget %s%s, %s, by NodePool %s", o.Budget, otherTimes(p), graceWords(o.Grace), p.Name), inferred
	case g.name != "":
		return fmt.Sprintf("budget %s of the nodes of NodePool %s, which the input does not have; no terminationGracePeriod", o.Budget, g.name), ""
	default:
		return fmt.Sprintf("budget %s of the nodes, no terminationGracePeriod", o.Budget), ""
	}
}

// poolNamed names the managed pool of a node of the input.
func (b *builder) poolNamed(node string) string {
	i := slices.IndexFunc(b.world.nodes, func(n manifest.Typed[*corev1.Node]) bool { return n.Name == node })
	name, _, _ := managedPool(b.world.nodes[i].Value)
	return "pool " + name
}

// poolBehind is whose pool is behind the load balancer of the clients: that of the same provider, "" where that is no provider's.
func poolBehind(traffic []world.Traffic) string {
	for i := range traffic {
		if traffic[i].LB == nil {
			continue
		}
		for prefix, provider := range map[string]string{"gke-": world.PoolGKE, "aws-": world.PoolEKS, "azure-": world.PoolAKS} { // order: one at most
			if strings.HasPrefix(traffic[i].LB.Preset, prefix) {
				return provider
			}
		}
	}
	return ""
}

func graceWords(grace engine.Time) string {
	if grace == 0 {
		return "no terminationGracePeriod"
	}
	return "terminationGracePeriod " + grace.Duration().String()
}

// poolWords say how a provider upgrades its pools.
func poolWords(provider string) string {
	return map[string]string{
		world.PoolGKE: "GKE: one node more, an hour for each, then its pods are deleted",
		world.PoolEKS: "EKS: one node at a time, 15 minutes for each, then the upgrade fails",
		world.PoolAKS: "AKS: a tenth of the nodes more, 30 minutes for each, then the upgrade fails",
	}[provider]
}

// otherPools are the upgrades of other providers.
func otherPools(s *world.Scenario) []Alternative {
	var out []Alternative
	for _, provider := range []string{world.PoolGKE, world.PoolEKS, world.PoolAKS} {
		changed := s.Clone()
		for i := range changed.Actions {
			o, ok := changed.Actions[i].Operation.(world.UpgradePool)
			if !ok || o.Provider == provider {
				continue
			}
			o.Provider = provider
			changed.Actions[i].Operation = o
			changed.Muster()
			out = append(out, Alternative{"pool", poolWords(provider), changed})
		}
	}
	return out
}

// provisioned has nodes join after another time.
func provisioned(t engine.Time) func(*world.Scenario) bool {
	return func(s *world.Scenario) bool {
		for i := range s.Actions {
			switch o := s.Actions[i].Operation.(type) {
			case world.Consolidate:
				o.Provision = t
				s.Actions[i].Operation = o
			case world.UpgradePool:
				o.Provision = t
				s.Actions[i].Operation = o
			case world.SpotNotice:
				if !o.Karpenter {
					continue
				}
				o.Provision = t
				s.Actions[i].Operation = o
			default:
				continue
			}
			return true
		}
		return false
	}
}

// stopping has machines run on for another time after the cloud was told to end them.
func stopping(t engine.Time) func(*world.Scenario) bool {
	return func(s *world.Scenario) bool {
		s.MachineStop = t
		return true
	}
}

// stops says what is assumed of machines that somebody has the cloud end.
func (b *builder) stops() {
	for i := range b.out.Actions {
		if _, ok := b.out.TakingOf(&b.out.Actions[i]); ok && !b.out.StopSaid {
			b.assume("machine-stop", b.out.MachineStop.Duration().String())
			return
		}
	}
}

// emptyForThem says that some clients are sent to a node port whose node drops them when it has no pod, and that nobody tells them so: where
// each node has a pod now, and one less afterwards. Where there are fewer pods than nodes another node has it then.
func emptyForThem(s *world.Scenario, t *world.Traffic) bool {
	if !t.External || t.LB != nil || t.HealthyNodesOnly {
		return false
	}
	return slices.ContainsFunc(s.Services, func(x world.Service) bool {
		if svc := x.Service; svc.Namespace+"/"+svc.Name != t.Service || svc.Spec.ExternalTrafficPolicy != corev1.ServiceExternalTrafficPolicyLocal {
			return false
		}
		pods := 0
		for i := range s.Workloads {
			if w := &s.Workloads[i]; w.SelectedBy(x.Service) {
				pods += w.Replicas()
			}
		}
		return pods >= len(s.Standing())
	})
}

// addressed says why a case is not judged whose clients go to nodes themselves, of which one or all go away: whoever told them of the node
// would have told them otherwise. "" where there are none.
func addressed(s *world.Scenario) string {
	for i := range s.Actions {
		if !world.NodesGo(s.Actions[i].Operation) {
			continue
		}
		for k := range s.Traffic {
			if t := &s.Traffic[k]; t.External && t.LB == nil {
				return "its clients go to nodes themselves, and not all of those stay: what they do then is not said"
			}
			if _, drain := s.Actions[i].Operation.(world.Drain); drain && emptyForThem(s, &s.Traffic[k]) {
				return "its clients go to nodes themselves, also to one that has no pod any more (externalTrafficPolicy Local): what they do then is not said"
			}
		}
	}
	return ""
}
