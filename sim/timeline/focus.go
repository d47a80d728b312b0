package timeline

import (
	"cmp"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Focus is which pods and nodes of a large world have lanes, the most important first.
type Focus struct {
	Pods  []api.PodID
	Nodes []int // whose events are kept
}

// large says of a world that a first run has to find out what is looked at in a second one.
func large(sc *world.Scenario) bool {
	return sc.Pods() > mostPods/2 || len(sc.Nodes) > mostNodes
}

// Cramped says that the world turned out to have more than can be shown: another run with Focus shows what matters.
func (r *Recorder) Cramped() bool { return r.focus == nil && (r.first || len(r.pods) > mostPods) }

// FirstDeleted is the first pod that was deleted, ok false when none was.
func (r *Recorder) FirstDeleted() (pod api.PodID, ok bool) {
	if len(r.deleted) == 0 {
		return 0, false
	}
	return r.deleted[0], true
}

// Focus is what to look at in another run of the same seed: the pods that failed requests met, those that went, and those that came, each in the
// order of their number or time; and the nodes that failed requests met most.
func (r *Recorder) Focus() *Focus {
	f := &Focus{Nodes: []int{}}
	for _, name := range mostMet(r.metPods) {
		if id, ok := r.named[name]; ok {
			f.add(id)
		}
	}
	for _, list := range [][]api.PodID{r.deleted, r.created} {
		for _, id := range list {
			f.add(id)
		}
	}
	for id := range r.pods {
		f.add(api.PodID(id))
	}
	for _, n := range mostMet(r.metNodes) {
		if len(f.Nodes) < mostNodes && n >= 0 {
			f.Nodes = append(f.Nodes, n)
		}
	}
	return f
}

func (f *Focus) add(id api.PodID) {
	if len(f.Pods) < mostPods && !slices.Contains(f.Pods, id) {
		f.Pods = append(f.Pods, id)
	}
}

// mostMet orders what was met by how often.
func mostMet[K cmp.Ordered](met map[K]uint64) []K {
	var out []K
	for k := range met { // order: sorted below
		out = append(out, k)
	}
	sorted.By(out, func(a, b K) int { return cmp.Or(cmp.Compare(met[b], met[a]), cmp.Compare(a, b)) })
	return out
}
