package control

import (
	"cmp"
	"iter"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
)

// The arithmetic of a Deployment's rolling update, as functions of values (Kubernetes 1.36
// pkg/controller/deployment: rolling.go, sync.go, util/deployment_util.go; verified).

// scale is one ReplicaSet's new size.
type scale struct {
	rs   *api.ReplicaSet
	size int
	// annotate writes the size annotations even if the size stays.
	annotate bool
}

// rolloutInput is what one sync of the Deployment controller sees.
type rolloutInput struct {
	replicas           int // spec.replicas
	surge, unavailable int
	rolling            bool              // the strategy is RollingUpdate
	newRS              *api.ReplicaSet   // of the current template, nil when there is none yet
	oldRSs             []*api.ReplicaSet // oldest first
}

// all lists the ReplicaSets, old ones first.
func (in *rolloutInput) all() iter.Seq[*api.ReplicaSet] {
	return func(yield func(*api.ReplicaSet) bool) {
		for _, rs := range in.oldRSs {
			if !yield(rs) {
				return
			}
		}
		if in.newRS != nil {
			yield(in.newRS)
		}
	}
}

// active lists the ReplicaSets that are to have pods.
func (in *rolloutInput) active() []*api.ReplicaSet {
	var out []*api.ReplicaSet
	for rs := range in.all() {
		if rs.Replicas != 0 {
			out = append(out, rs)
		}
	}
	return out
}

func (in *rolloutInput) total() int {
	n := 0
	for rs := range in.all() {
		n += rs.Replicas
	}
	return n
}

func (in *rolloutInput) available() int {
	n := 0
	for rs := range in.all() {
		if rs.Replicas != 0 {
			n += rs.Available
		}
	}
	return n
}

// rollingUpdate returns the scalings of one sync: at most one direction, and none when there
// is nothing to do now.
func rollingUpdate(in rolloutInput) []scale {
	if size := newSize(in); size != in.newRS.Replicas {
		return []scale{{rs: in.newRS, size: size}}
	}
	return scaleDownOld(in)
}

// newSize is the new ReplicaSet's next size: up as far as replicas and surge allow, down to
// replicas.
func newSize(in rolloutInput) int {
	if in.newRS.Replicas >= in.replicas {
		return in.replicas
	}
	room := max(0, in.replicas+in.surge-in.total())
	return in.newRS.Replicas + min(room, in.replicas-in.newRS.Replicas)
}

// scaleDownOld takes old pods away: first the unavailable ones, whatever is available at the
// moment, then as many as availability allows. Both read status as the informer has it; the
// second does not see what the first did to availability.
//
// A ReplicaSet that was just scaled down has more available pods in its status than it is to
// have: the controller calls that an invalid request, and does nothing more until the status
// has followed (cleanupUnhealthyReplicas; verified).
func scaleDownOld(in rolloutInput) []scale {
	minAvailable := in.replicas - in.unavailable
	budget := in.total() - minAvailable - (in.newRS.Replicas - in.newRS.Available)
	if budget <= 0 {
		return nil
	}
	old := slices.DeleteFunc(slices.Clone(in.oldRSs), func(rs *api.ReplicaSet) bool { return rs.Replicas == 0 })
	size := make([]int, len(old))
	for i, rs := range old {
		size[i] = rs.Replicas
	}
	if !cleanUp(old, size, budget) {
		return resized(old, size)
	}
	allowed := in.available() - minAvailable
	for i := range old {
		take := min(size[i], max(0, allowed))
		size[i] -= take
		allowed -= take
	}
	return resized(old, size)
}

// cleanUp takes unavailable pods off the sizes. It returns false when a status is behind.
func cleanUp(old []*api.ReplicaSet, size []int, budget int) bool {
	for i, rs := range old {
		if budget <= 0 {
			break
		}
		take := min(budget, rs.Replicas-rs.Available)
		if take < 0 {
			return false
		}
		size[i] -= take
		budget -= take
	}
	return true
}

func resized(sets []*api.ReplicaSet, size []int) []scale {
	var out []scale
	for i, rs := range sets {
		if size[i] != rs.Replicas {
			out = append(out, scale{rs: rs, size: size[i]})
		}
	}
	return out
}

// rescale follows a change of spec.replicas, and is all that happens while a Deployment is
// paused: the only active ReplicaSet, or the newest, gets the whole size; several share it.
func rescale(in rolloutInput) []scale {
	active := in.active()
	if len(active) < 2 {
		only := in.newRS
		if len(active) == 1 {
			only = active[0]
		} else if only == nil && len(in.oldRSs) > 0 {
			only = in.oldRSs[len(in.oldRSs)-1]
		}
		if only == nil || only.Replicas == in.replicas {
			return nil
		}
		return []scale{{rs: only, size: in.replicas}}
	}
	if n := in.newRS; n != nil && n.Replicas == in.replicas && n.Desired == in.replicas && n.Available == in.replicas {
		old := slices.DeleteFunc(active, func(rs *api.ReplicaSet) bool { return rs == n })
		return resized(old, make([]int, len(old))) // saturated: the old ones go
	}
	if !in.rolling {
		return nil
	}
	return proportional(in, active)
}

// proportional shares a change of spec.replicas among the active ReplicaSets of a rollout in
// progress: each in proportion to its size, the largest first, what rounding leaves to the
// largest. All of them get new annotations.
func proportional(in rolloutInput, active []*api.ReplicaSet) []scale {
	allowed := in.replicas + in.surge
	if in.replicas == 0 {
		allowed = 0
	}
	left := allowed - in.total()
	grow := left > 0
	sorted.ShortStableBy(active, func(a, b *api.ReplicaSet) int {
		switch {
		case left == 0:
			return 0
		case a.Replicas != b.Replicas:
			return b.Replicas - a.Replicas
		case grow: // equal sizes: the newer grows first, the older shrinks first
			return compareSetAges(b, a)
		default:
			return compareSetAges(a, b)
		}
	})
	out := make([]scale, len(active))
	for i, rs := range active {
		share := 0
		switch {
		case left > 0:
			share = min(fraction(rs, in.replicas, allowed), left)
		case left < 0:
			share = max(fraction(rs, in.replicas, allowed), left)
		}
		out[i] = scale{rs: rs, size: rs.Replicas + share, annotate: true}
		left -= share
	}
	out[0].size = max(0, out[0].size+left)
	return out
}

// fraction is what a ReplicaSet's size changes by if it keeps its part of the whole.
func fraction(rs *api.ReplicaSet, replicas, allowed int) int {
	if replicas == 0 {
		return -rs.Replicas
	}
	if rs.MaxReplicas == 0 {
		return 0
	}
	return roundDiv(rs.Replicas*allowed, rs.MaxReplicas) - rs.Replicas
}

func compareSetAges(a, b *api.ReplicaSet) int {
	if n := cmp.Compare(a.Created, b.Created); n != 0 {
		return n
	}
	return cmp.Compare(a.ID.Revision, b.ID.Revision)
}

// roundDiv divides rounding half away from zero; a and b are not negative.
func roundDiv(a, b int) int { return (2*a + b) / (2 * b) }

// availableAt says from when a ready pod counts as available: its Ready transition, which the
// API keeps to the second, plus minReadySeconds.
func availableAt(readySince engine.Time, minReady engine.Time) engine.Time {
	if minReady == 0 {
		return 0
	}
	return readySince.TruncateToSecond() + minReady
}
