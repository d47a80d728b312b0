package swarm

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// part resolves a number or a percentage of n, in integers.
func part(v intstr.IntOrString, n int, up bool) int {
	if v.Type == intstr.Int {
		return v.IntValue()
	}
	percent := 0
	for _, digit := range v.StrVal {
		if digit >= '0' && digit <= '9' {
			percent = percent*10 + int(digit-'0')
		}
	}
	if up {
		return (percent*n + 99) / 100
	}
	return percent * n / 100
}

// fences are the most pods and the fewest available ones of the rollout
// (docs/model/controllers.md 2).
func (j *judge) fences() (most, fewest int) {
	d := j.plain.Deployment()
	n := int(*d.Spec.Replicas)
	surge, unavailable := part(*d.Spec.Strategy.RollingUpdate.MaxSurge, n, true), part(*d.Spec.Strategy.RollingUpdate.MaxUnavailable, n, false)
	if surge == 0 && unavailable == 0 {
		unavailable = 1
	}
	return n + surge, max(0, n-unavailable)
}

// hearPodWrite looks at the pods of a workload whenever one of them changes.
func (j *judge) hearPodWrite(at engine.Time, before, now *api.Pod) {
	if before != nil && !before.Deleting() && now.Deleting() && now.Ready {
		j.deletedReady(at, now)
	}
	j.hearSize(at, now)
	j.hearBound(at, before, now)
	j.boundToCordoned(at, before, now)
	j.evicted(at, before, now)
	j.inTurn(at, before, now)
	j.hearKind(at, before, now)
	j.boundToLost(at, before, now)
	j.drivenAway(at, before, now)
	switch {
	case j.plain == nil || j.workload(now) != j.plain:
	case recreates(j.plain.Deployment()):
		j.recreated(at, before, now)
	default:
		j.hearAvailable(at)
	}
}

// A ReplicaSet never has more pods than it was ever asked for.
func (j *judge) hearSize(at engine.Time, now *api.Pod) {
	if j.sets[api.ReplicaSetID{Workload: now.Workload, Revision: now.Revision}] == nil {
		return // no ReplicaSet makes them
	}
	id, active := api.ReplicaSetID{Workload: now.Workload, Revision: now.Revision}, 0
	for _, other := range j.order {
		if p := j.pods[other].api; p.Workload == now.Workload && p.Revision == now.Revision && p.Active() {
			active++
		}
	}
	if active > j.peak[id] {
		j.fail("pods", "revision %d of %s has %d pods at %s s, and was asked for %d at most", id.Revision, j.workload(now).Name(), active, at.Seconds(), j.peak[id])
	}
}

// During a rollout fewer pods than replicas less maxUnavailable are never available.
func (j *judge) hearAvailable(at engine.Time) {
	available := 0
	wait := engine.Time(j.plain.Deployment().Spec.MinReadySeconds) * sec
	for _, id := range j.order {
		p := j.pods[id].api
		if j.workload(p) != j.plain {
			continue
		}
		if p.Deleting() || p.Gone || p.Phase == api.PhaseSucceeded || p.Phase == api.PhaseFailed {
			continue
		}
		if p.Ready && p.ReadySince.TruncateToSecond()+wait <= at {
			available++
		}
	}
	_, fewest := j.fences()
	if available < fewest {
		j.fail("unavailable", "%d pods are available at %s s, of at least %d", available, at.Seconds(), fewest)
	}
}

// The sizes of a rollout's ReplicaSets never add up to more than replicas and maxSurge.
func (j *judge) hearSetWrite(at engine.Time, rs *api.ReplicaSet) {
	j.sets[rs.ID] = rs
	j.peak[rs.ID] = max(j.peak[rs.ID], rs.Replicas)
	if j.plain == nil || &j.w.Workloads[rs.ID.Workload] != j.plain || recreates(j.plain.Deployment()) {
		return
	}
	total := 0
	for id, set := range j.sets {
		if id.Workload == rs.ID.Workload {
			total += set.Replicas
		}
	}
	if most, _ := j.fences(); total > most {
		j.fail("surge", "the ReplicaSets ask for %d pods at %s s, of at most %d", total, at.Seconds(), most)
	}
}

// Recreate makes no new pod while an old one is not done.
func (j *judge) recreated(at engine.Time, before, now *api.Pod) {
	if before != nil || now.Revision == 0 {
		return
	}
	done := 0
	for _, id := range j.order {
		p := j.pods[id].api
		if j.workload(p) == j.plain && p.Revision == 0 && (p.Gone || p.Phase == api.PhaseSucceeded || p.Phase == api.PhaseFailed) {
			done++
		}
	}
	if all := int(*j.plain.Deployment().Spec.Replicas); done < all {
		j.fail("recreate", "%s is made at %s s, when %d of %d old pods are done", now.Name, at.Seconds(), done, all)
	}
}

// A ReplicaSet that shrinks deletes pods that are not ready before those that are
// (docs/model/controllers.md 3.3). What it knows of them is older than its watch is late.
func (j *judge) deletedReady(at engine.Time, victim *api.Pod) {
	if j.w.goes || j.does("delete") || j.does("apiserver") || j.does("component") || j.closes() || j.does("crashPod") || j.does("drain") || j.does("evict") {
		return
	}
	late := j.w.Latency.Watch.Max() + j.w.Latency.APIWrite.Max() + j.w.Latency.Controller.Max() + 2*sec
	if at < j.pods[victim.ID].readied+late {
		return // it was not ready when it was chosen
	}
	for _, id := range j.order {
		p := j.pods[id].api
		if p.Workload == victim.Workload && p.Revision == victim.Revision && p.Active() && !p.Ready && j.pods[id].changed+late < at {
			j.requests.later(at+late, func(at engine.Time) {
				if q := j.pods[id]; q.api.Active() && !q.api.Ready {
					j.fail("ranking", "%s was deleted, ready; %s was not ready, and stands at %s s", victim.Name, q.api.Name, at.Seconds())
				}
			})
		}
	}
}

// becameAvailable looks at a status that counts more available pods. minReadySeconds count from
// the whole second in which a pod became ready (docs/model/measured.md 1): in a world where nothing
// takes time, the status follows within the same moment.
func (j *judge) becameAvailable(at engine.Time, rs *api.ReplicaSet) {
	d := j.w.Workloads[rs.ID.Workload].Deployment()
	if d == nil || d.Spec.MinReadySeconds == 0 || !j.instant() || j.applied {
		return
	}
	var due []engine.Time
	for _, id := range j.order {
		p := j.pods[id]
		if p.api.Workload == rs.ID.Workload && p.api.Revision == rs.ID.Revision && p.api.Active() && p.api.Ready {
			due = append(due, max(p.readied, p.api.ReadySince.TruncateToSecond()+engine.Time(d.Spec.MinReadySeconds)*sec))
		}
	}
	slices.Sort(due)
	if n := len(due); n > 0 && rs.ID.Revision > 0 && rs.Available <= n {
		if latest := due[rs.Available-1]; at > latest+200*ms {
			j.fail("minReadySeconds", "%d pods are available at %s s, that was due at %s s", rs.Available, at.Seconds(), latest.Seconds())
		}
	}
}
