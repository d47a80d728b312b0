package control

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/placement"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Stuck is a rollout, or a drain, that was begun and cannot end.
type Stuck struct {
	Workload int           // of the scenario
	Drain    bool          // it is a drain
	Budget   *world.Budget // whose field Path is; nil: it is the workload's
	// Why says what it waits for, and What would let it go on, in words.
	Why, What string
	// Path is the field of the manifest behind it, "" when there is none.
	Path string
	// TakenToListen is after how long the server is taken to listen, such as "15 s", where it is for that assumption that nothing goes on; "" otherwise.
	TakenToListen string
}

// Step is how a rolling update goes on: rolling says that one is under way.
type Step struct {
	Rolling            bool
	Surge, Unavailable int
}

// waits says that an update makes a new pod before it takes an old one away.
func (s Step) waits() bool { return s.Rolling && s.Unavailable == 0 && s.Surge > 0 }

// Unschedulable says why pods find no node, nil where the first of them is about to be bound.
func (s *Scheduler) Unschedulable(d *api.Workload, pods []*api.Pod, of Step) *Stuck {
	if pods[0].Only > 0 {
		return s.noRoomOnOwn(pods, of)
	}
	k := s.kindOf(pods[0])
	f, failed := s.nodes.Try(k).Failure()
	if !failed {
		return nil
	}
	who := "the new pod finds no node: "
	if len(pods) > 1 {
		who = fmt.Sprintf("%d new pods find no node: ", len(pods))
	}
	r := relief{s: s, k: k, f: &f, d: d, of: of, wait: len(pods)}
	what, field := r.find()
	return &Stuck{Why: who + f.Words, What: what, Path: field}
}

// relief finds what would let a pod be scheduled.
type relief struct {
	s    *Scheduler
	k    *placement.Kind
	f    *placement.Failure
	d    *api.Workload
	of   Step
	wait int // pods of the workload that wait
}

// find says what would let the pod be scheduled, by the obstacle that a change of the workload can do most about, and which field
// is behind it.
func (r *relief) find() (what, field string) {
	const template = "spec.template.spec."
	count := &r.f.Count
	switch {
	case count[placement.PortTaken] > 0:
		return r.room(corev1.LabelHostname), r.f.Path[placement.PortTaken]
	case count[placement.Repels]+count[placement.Repelled] > 0:
		return r.room(r.f.Key), template + "affinity.podAntiAffinity"
	case count[placement.Insufficient]+count[placement.TooManyPods] > 0:
		return r.orInPlace(r.capacity()), r.f.Path[placement.Insufficient]
	case count[placement.Skewed] > 0:
		return r.spread(), r.f.Path[placement.Skewed]
	case count[placement.Alone] > 0:
		return "a pod near a node that its podAffinity asks for", template + "affinity.podAffinity"
	case count[placement.Unlabelled] > 0:
		return "the label " + r.f.Key + " on the nodes", r.f.Path[placement.Unlabelled]
	case count[placement.Cordoned] > 0:
		return "kubectl uncordon, or one node more" + r.ofItsKind(), ""
	case count[placement.Tainted] > 0:
		return "a toleration of the taints, or a node without them", template + "tolerations"
	case count[placement.Unlike] > 0:
		return "a node with the labels that it asks for", template + "nodeSelector"
	default:
		return "a node that stays", ""
	}
}

// ofItsKind says what a node more has to be like, where nodes that are there are not like that.
func (r *relief) ofItsKind() string {
	words := ""
	if r.f.Count[placement.Unlike] > 0 {
		words = " with the labels that it asks for"
	}
	if r.f.Count[placement.Tainted] > 0 {
		if words != "" {
			words += ","
		}
		words += " without a taint that it does not tolerate"
	}
	return words
}

// inPlace is an update that takes an old pod away before it makes a new one.
const inPlace = "maxSurge 0 and maxUnavailable 1, or "

// orInPlace puts an update in place before another change where it would do, too.
func (r *relief) orInPlace(what string) string {
	if r.of.waits() && r.wait == 1 && r.s.nodes.Relieves(r.k, placement.OneFewer) {
		return inPlace + what
	}
	return what
}

// room says how many nodes more pods need that may not be near each other.
func (r *relief) room(key string) string {
	if key != corev1.LabelHostname {
		return r.orInPlace("a node of a " + key + " without one of these pods")
	}
	usable := 0 // nodes that have a pod of the workload and may keep it
	for n := range r.s.d.Nodes {
		if pods, open := r.s.nodes.Has(r.d.Workload, n); open && pods > 0 {
			usable++
		}
	}
	missing := r.d.Replicas - usable
	if r.of.waits() {
		if missing <= 0 {
			return inPlace + "one node more"
		}
		missing++ // for the surge
	}
	if missing <= 1 {
		return "one node more"
	}
	return fmt.Sprintf("%d nodes more", missing)
}

// capacity says what nodes would have to have left.
func (r *relief) capacity() string {
	var parts []string
	for i := range r.f.Short {
		o := &r.f.Short[i]
		parts = append(parts, fmt.Sprintf("%s %s", o.Resource, quantity(o.Resource, o.Amount)))
	}
	if len(parts) == 0 {
		return "one node more"
	}
	if r.wait > 1 && !r.of.Rolling { // an update may need no more than one
		return fmt.Sprintf("room for %d pods more, with %s left for each", r.wait, strings.Join(parts, " and "))
	}
	return "a node with " + strings.Join(parts, " and ") + " left"
}

// quantity writes an amount of a resource as manifests do.
func quantity(name corev1.ResourceName, amount int64) string {
	switch name {
	case corev1.ResourceCPU:
		return resource.NewMilliQuantity(amount, resource.DecimalSI).String()
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return resource.NewQuantity(amount, resource.BinarySI).String()
	default:
		return resource.NewQuantity(amount, resource.DecimalSI).String()
	}
}

// spread says what lets topology spread constraints be met.
func (r *relief) spread() string {
	const anyway = "whenUnsatisfiable ScheduleAnyway"
	more := ""
	for _, c := range []struct {
		relief placement.Relief
		what   string
	}{
		{placement.HonorTaints, "nodeTaintsPolicy Honor, with which nodes that are cordoned or tainted are no domains, or "},
		{placement.ByRevision, "matchLabelKeys [pod-template-hash], with which old pods do not count, or "},
	} {
		if r.s.nodes.Relieves(r.k, c.relief) && (c.relief != placement.HonorTaints || !r.s.d.NoInclusion) {
			more = cmp.Or(more, c.what)
		}
	}
	if r.s.nodes.Relieves(r.k, placement.Anyway) {
		more += anyway
	}
	return cmp.Or(more, "nodes in the domains with the fewest pods")
}
