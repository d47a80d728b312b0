package control

import (
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// counts are the pods that a ReplicaSet is to have, and those that are available.
type counts struct{ size, available int }

// smallSets lists all counts of ReplicaSets of up to so many pods.
func smallSets(most int) []counts {
	var out []counts
	for size := range most + 1 {
		for available := range size + 1 {
			out = append(out, counts{size, available})
		}
	}
	return out
}

// smallRollout is a rolling update at one moment.
type smallRollout struct {
	replicas, surge, unavailable int
	to                           counts
	from                         []counts // oldest first
}

func (s *smallRollout) input() rolloutInput {
	in := rolloutInput{replicas: s.replicas, surge: s.surge, unavailable: s.unavailable, rolling: true, newRS: set(len(s.from), s.to.size, s.to.available)}
	for i, c := range s.from {
		in.oldRSs = append(in.oldRSs, set(i, c.size, c.available))
	}
	return in
}

// grown is the largest size of the new ReplicaSet with which there are neither more new pods than replicas, nor more in all than
// replicas and surge; what it has where none is larger.
func (s *smallRollout) grown() int {
	old := 0
	for _, c := range s.from {
		old += c.size
	}
	size := s.to.size
	for n := size + 1; n <= s.replicas && n+old <= s.replicas+s.surge; n++ {
		size = n
	}
	return size
}

// allowed says whether so many pods may go, of each old ReplicaSet: its unavailable ones go first. After it so many pods are available as
// have to be, or none goes that is; and with those new pods that are not available left out, so many are left.
func (s *smallRollout) allowed(take []int) bool {
	available, left, harmed := s.to.available, s.to.available, false
	for i, c := range s.from {
		rest := c.size - take[i]
		left += rest
		available += min(c.available, rest)
		harmed = harmed || rest < c.available
	}
	least := s.replicas - s.unavailable
	return left >= least && (available >= least || !harmed)
}

// most tries all ways to take old pods away, and returns how many may go at most.
func (s *smallRollout) most() int {
	most, take := 0, make([]int, len(s.from))
	var try func(i, sum int)
	try = func(i, sum int) {
		if i == len(s.from) {
			if sum > most && s.allowed(take) {
				most = sum
			}
			return
		}
		for take[i] = range s.from[i].size + 1 {
			try(i+1, sum+take[i])
		}
		take[i] = 0
	}
	try(0, 0)
	return most
}

// check compares one sync with all the steps that there are.
func (s *smallRollout) check(t *testing.T) {
	t.Helper()
	in := s.input()
	scales := rollingUpdate(in)
	want := min(s.grown(), s.replicas) // more new pods than replicas are too many
	if want != s.to.size {
		if len(scales) != 1 || scales[0].rs != in.newRS || scales[0].size != want {
			t.Fatalf("%+v: %q, expected %d new pods", s, sizes(scales), want)
		}
		return
	}
	take, sum := make([]int, len(s.from)), 0
	for _, c := range scales {
		if c.rs == in.newRS || c.size >= c.rs.Replicas || c.size < 0 {
			t.Fatalf("%+v: %q, expected only old pods to go", s, sizes(scales))
		}
		take[c.rs.ID.Revision] = c.rs.Replicas - c.size
		sum += take[c.rs.ID.Revision]
	}
	if most := s.most(); sum != most || sum > 0 && !s.allowed(take) {
		t.Fatalf("%+v: %q, expected %d old pods to go", s, sizes(scales), most)
	}
}

// Every small state of a rolling update, against all steps that there are: of those that keep the promise of maxSurge and maxUnavailable
// a sync takes one of the largest, and first the new ReplicaSet grows.
// Reference: Kubernetes 1.36 pkg/controller/deployment/rolling.go; docs/model/controllers.md 2.1, 2.2, 2.3.
func TestARollingUpdateTakesTheLargestStepAllowed(t *testing.T) {
	t.Parallel()
	rollouts := func(most int, do func(smallRollout)) {
		for replicas := 1; replicas <= most; replicas++ {
			for surge := range replicas + 1 {
				for unavailable := range replicas + 1 {
					if surge+unavailable > 0 {
						do(smallRollout{replicas: replicas, surge: surge, unavailable: unavailable})
					}
				}
			}
		}
	}
	rollouts(5, func(s smallRollout) {
		for _, s.to = range smallSets(s.replicas + 1) {
			for _, old := range smallSets(s.replicas + s.surge + 1) {
				s.from = []counts{old}
				s.check(t)
			}
		}
	})
	rollouts(3, func(s smallRollout) {
		for _, s.to = range smallSets(s.replicas) {
			for _, older := range smallSets(s.replicas + 1) {
				for _, old := range smallSets(s.replicas + 1) {
					s.from = []counts{older, old}
					s.check(t)
				}
			}
		}
	})
}

// Whole rolling updates of 1 to 12 replicas with every surge and every number that may be unavailable, however many of the new pods
// become available before the next sync: it ends, with the bounds kept on the way.
func TestEveryRollingUpdateEnds(t *testing.T) {
	t.Parallel()
	for replicas := 1; replicas <= 12; replicas++ {
		for surge := range replicas + 1 {
			for unavailable := range replicas + 1 {
				for pace := 1; surge+unavailable > 0 && pace <= replicas; pace++ {
					s := smallRollout{replicas: replicas, surge: surge, unavailable: unavailable, from: []counts{{replicas, replicas}}}
					s.play(t, pace)
				}
			}
		}
	}
}

// play does an update of which so many pods become available between two syncs.
func (s *smallRollout) play(t *testing.T, pace int) {
	t.Helper()
	for range 4 * s.replicas * s.replicas {
		if s.to == (counts{s.replicas, s.replicas}) && s.from[0].size == 0 {
			return
		}
		in := s.input()
		for _, c := range rollingUpdate(in) {
			if c.rs == in.newRS {
				s.to.size = c.size
			} else {
				s.from[0] = counts{c.size, min(c.size, s.from[0].available)}
			}
		}
		if total, available := s.to.size+s.from[0].size, s.to.available+s.from[0].available; total > s.replicas+s.surge || available < s.replicas-s.unavailable {
			t.Fatalf("%+v: %d pods, %d available", s, total, available)
		}
		s.to.available = min(s.to.size, s.to.available+pace)
	}
	t.Fatalf("%+v: no end", s)
}

// smallScale is a Deployment whose replicas have changed in the middle of a rollout.
type smallScale struct {
	replicas, surge int
	before          int   // replicas and surge when the ReplicaSets were last written
	sizes           []int // oldest first; the last one is of the template
}

func (s *smallScale) input() rolloutInput {
	in := rolloutInput{replicas: s.replicas, surge: s.surge, rolling: true}
	for i, size := range s.sizes {
		in.oldRSs = append(in.oldRSs, &api.ReplicaSet{ID: api.ReplicaSetID{Revision: i}, Created: engine.Time(i) * sec, Replicas: size, MaxReplicas: s.before})
	}
	in.newRS, in.oldRSs = in.oldRSs[len(s.sizes)-1], in.oldRSs[:len(s.sizes)-1]
	return in
}

// shared says what each ReplicaSet gets, by the words of the documents: one after another, the largest first (of equal ones the newer
// where pods come, the older where they go), gets its part, but no more than is left; what is left in the end is the first one's.
func (s *smallScale) shared() []int {
	allowed, total := s.replicas+s.surge, 0
	if s.replicas == 0 {
		allowed = 0
	}
	for _, size := range s.sizes {
		total += size
	}
	out, left := slices.Clone(s.sizes), allowed-total
	if left == 0 {
		return out
	}
	grows, order := left > 0, s.order(left > 0)
	for _, i := range order {
		change := nearest(s.sizes[i]*allowed, s.before) - s.sizes[i]
		if grows && change > left || !grows && change < left {
			change = left
		}
		out[i] += change
		left -= change
	}
	out[order[0]] = max(0, out[order[0]]+left)
	return out
}

// order lists the ReplicaSets that have pods, the one first that gets its part first.
func (s *smallScale) order(grows bool) []int {
	var out []int
	for size := 100; size > 0; size-- {
		for i := range s.sizes {
			if grows {
				i = len(s.sizes) - 1 - i
			}
			if s.sizes[i] == size {
				out = append(out, i)
			}
		}
	}
	return out
}

// nearest is the whole number that is nearest to a/b, the larger one of two.
func nearest(a, b int) int {
	best := 0
	for n := range a + 1 {
		if off(n*b, a) <= off(best*b, a) {
			best = n
		}
	}
	return best
}

func off(a, b int) int { return max(a-b, b-a) }

// Every small Deployment whose size changes in the middle of a rollout, against the words of the documents; in the end there are as many
// pods as replicas and surge. Reference: Kubernetes 1.36 pkg/controller/deployment/sync.go, scale; docs/model/controllers.md 2 Scaling
// during rollout.
func TestRescaleOfAllSmallDeployments(t *testing.T) {
	t.Parallel()
	for replicas := range 13 {
		for surge := range 4 {
			for before := 1; before <= 12; before++ {
				for a := range 6 {
					for b := range 6 {
						for c := range 6 {
							s := smallScale{replicas: replicas, surge: surge, before: before, sizes: []int{a, b, c}}
							s.check(t)
						}
					}
				}
			}
		}
	}
}

func (s *smallScale) check(t *testing.T) {
	t.Helper()
	got, want := slices.Clone(s.sizes), make([]int, len(s.sizes))
	switch order := s.order(false); len(order) {
	case 0: // the newest gets all
		want[len(want)-1] = s.replicas
	case 1: // the one that there is
		want[order[0]] = s.replicas
	default:
		want = s.shared()
	}
	for _, c := range rescale(s.input()) {
		got[c.rs.ID.Revision] = c.size
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%+v: %v, want %v", s, got, want)
	}
}
