package placement

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Why is what keeps a pod off a node, in the order in which the scheduler looks (Kubernetes 1.36
// pkg/scheduler/apis/config/v1/default_plugins.go; verified).
type Why uint8

// What keeps a pod off a node.
const (
	Free         Why = iota
	Absent           // the node is none of the pod's: it has not joined, or is of another pool
	Leaves           // the node is going away
	Cordoned         // kubectl cordon, and the pod does not tolerate that
	Tainted          // a taint that the pod does not tolerate
	Unlike           // the pod's nodeSelector or node affinity asks for another node
	PortTaken        // a pod on the node has one of its host ports
	TooManyPods      // the node has as many pods as it takes
	Insufficient     // the requests of the pods leave too little of a resource
	Unlabelled       // the node lacks the label of a topology spread constraint
	Skewed           // it has too many of the pods that a topology spread constraint counts
	Alone            // no pod is there that required affinity asks for
	Repels           // required anti-affinity of the pod to one that is there
	Repelled         // required anti-affinity of one that is there to the pod
	numWhys
)

// Obstacle is one thing that keeps a pod off a node.
type Obstacle struct {
	Why      Why
	Resource corev1.ResourceName // Insufficient
	Path     string              // the field of the manifest behind it, of a port, a request or a constraint
	Amount   int64               // Insufficient: what the pod asks for
	Key      string              // the topologyKey of anti-affinity or of a constraint
	Port     world.HostPort      // PortTaken
}

// Cycle is one attempt to find a node for a pod.
type Cycle struct {
	c *Cluster
	k *Kind

	spread   []domains         // by hard constraint
	near     []map[string]bool // by term of required affinity: the domains that have such pods
	fresh    bool              // there are none anywhere, and the pod is one itself
	repels   []map[string]bool // by term of required anti-affinity
	repelled []keptOff         // for anti-affinity of pods that are there
}

// Try looks at the cluster as it is for a pod of a Kind.
func (c *Cluster) Try(k *Kind) *Cycle {
	t := &Cycle{c: c, k: k}
	if len(k.hard) > 0 {
		t.spread = c.domainsOf(k, k.hard)
	}
	for i := range k.near {
		t.near = append(t.near, c.where(k.near[i].key, func(other *Kind) bool { return ofAll(k.near, other, c.known) }))
	}
	if len(k.near) > 0 {
		t.fresh = ofAll(k.near, k, c.known)
		for i := range t.near {
			t.fresh = t.fresh && len(t.near[i]) == 0
		}
	}
	for i := range k.apart {
		t.repels = append(t.repels, c.where(k.apart[i].key, func(other *Kind) bool { return k.apart[i].of(other, c.known) }))
	}
	for _, other := range c.kinds {
		for i := range other.apart {
			if own := &other.apart[i]; own.of(k, c.known) {
				t.keepOff(own.key, other)
			}
		}
	}
	return t
}

// where lists the domains that have pods of some Kinds.
func (c *Cluster) where(key string, kinds func(*Kind) bool) map[string]bool {
	out := map[string]bool{}
	for _, other := range c.kinds {
		if kinds(other) {
			c.mark(out, key, other)
		}
	}
	return out
}

// mark adds the domains that have pods of a Kind.
func (c *Cluster) mark(to map[string]bool, key string, k *Kind) {
	for n, pods := range k.on {
		if pods == 0 {
			continue
		}
		if value, ok := c.nodes[n].Label(key); ok {
			to[value] = true
		}
	}
}

// keptOff are the domains of a topologyKey that have pods which keep others off.
type keptOff struct {
	key     string
	domains map[string]bool
}

func (t *Cycle) keepOff(key string, other *Kind) {
	i := slices.IndexFunc(t.repelled, func(p keptOff) bool { return p.key == key })
	if i < 0 {
		i, t.repelled = len(t.repelled), append(t.repelled, keptOff{key, map[string]bool{}})
	}
	t.c.mark(t.repelled[i].domains, key, other)
}

// Fits says whether nothing keeps the pod off a node.
func (t *Cycle) Fits(n int) bool { return t.first(n) == Free }

// first is what the scheduler finds first.
func (t *Cycle) first(n int) Why {
	if why := t.node(n); why != Free {
		return why
	}
	switch at := &t.c.nodes[n]; {
	case t.clash(at) >= 0:
		return PortTaken
	case at.most != unlimited && at.pods >= at.most:
		return TooManyPods
	case t.lacks(at):
		return Insufficient
	}
	if len(t.k.hard) > 0 {
		if broken, labelled := t.skewed(n); !labelled {
			return Unlabelled
		} else if broken >= 0 {
			return Skewed
		}
	}
	why, _ := t.pods(n)
	return why
}

// node looks at what a node itself is.
func (t *Cycle) node(n int) Why {
	at, tolerations := &t.c.nodes[n], t.k.spec.Tolerations
	switch {
	case at.absent:
		return Absent
	case at.left, at.marked:
		return Leaves
	case at.cordoned && !world.Tolerates(tolerations, unschedulable[:]):
		return Cordoned
	case len(at.taints) > 0 && !world.Tolerates(tolerations, at.taints), len(at.lapse) > 0 && !world.Tolerates(tolerations, at.lapse):
		return Tainted
	case t.k.unlike[n]:
		return Unlike
	default:
		return Free
	}
}

// pods looks at the pods near a node; key is the topologyKey that decides.
func (t *Cycle) pods(n int) (why Why, key string) {
	if len(t.k.near) > 0 && !t.meets(n) {
		return Alone, ""
	}
	for i := range t.k.apart {
		if value, ok := t.c.nodes[n].Label(t.k.apart[i].key); ok && t.repels[i][value] {
			return Repels, t.k.apart[i].key
		}
	}
	for _, p := range t.repelled {
		if value, ok := t.c.nodes[n].Label(p.key); ok && p.domains[value] {
			return Repelled, p.key
		}
	}
	return Free, ""
}

// meets says whether a node has the pods near it that required affinity asks for. The first pod of those that want to be together
// has nobody to go to: any node with the labels will do.
func (t *Cycle) meets(n int) bool {
	all := true
	for i := range t.k.near {
		value, ok := t.c.nodes[n].Label(t.k.near[i].key)
		if !ok {
			return false
		}
		all = all && t.near[i][value]
	}
	return all || t.fresh
}

// clash is the first of the pod's host ports that is taken on a node, -1 for none.
func (t *Cycle) clash(at *node) int {
	for i, port := range t.k.ports {
		for other := range at.ports { // order: any one decides
			if port.Clashes(other) {
				return i
			}
		}
	}
	return -1
}

// lacks says whether a node has too little of anything that the pod asks for.
func (t *Cycle) lacks(at *node) bool {
	for i := range t.k.requests {
		if at.short(&t.k.requests[i]) {
			return true
		}
	}
	return false
}

// short says whether a node has less left than is asked for.
func (n *node) short(r *request) bool {
	return r.Amount > 0 && n.room[r.resource] != unlimited && r.Amount > n.room[r.resource]-n.used[r.resource]
}

// Obstacles are what keeps the pod off a node, as far as the scheduler says it: what it finds first, and of resources all.
func (t *Cycle) Obstacles(n int) []Obstacle {
	at := &t.c.nodes[n]
	switch why := t.first(n); why {
	case Free:
		return nil
	case PortTaken:
		i := t.clash(at)
		return []Obstacle{{Why: why, Port: t.k.ports[i], Path: t.k.paths[i]}}
	case TooManyPods, Insufficient:
		return t.shortages(at)
	case Skewed, Unlabelled:
		broken, _ := t.skewed(n)
		return []Obstacle{{Why: why, Path: constraintPath(t.k.hard[broken].index), Key: t.k.hard[broken].key}}
	case Repels, Repelled:
		_, key := t.pods(n)
		return []Obstacle{{Why: why, Key: key}}
	default:
		return []Obstacle{{Why: why}}
	}
}

// shortages are what a node has too little of.
func (t *Cycle) shortages(at *node) []Obstacle {
	var out []Obstacle
	if at.most != unlimited && at.pods >= at.most {
		out = append(out, Obstacle{Why: TooManyPods})
	}
	for i := range t.k.requests {
		if r := &t.k.requests[i]; at.short(r) {
			out = append(out, Obstacle{Why: Insufficient, Resource: r.Name, Amount: r.Amount, Path: r.Path})
		}
	}
	return out
}
