package control

import (
	"cmp"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// One sync of a StatefulSet as arithmetic: what it creates and deletes, and the status that it writes (Kubernetes 1.36
// pkg/controller/statefulset/stateful_set_control.go, updateStatefulSet; verified).

// statefulInput is what a sync of a StatefulSet sees.
type statefulInput struct {
	replicas, start int
	parallel        bool // podManagementPolicy
	onDelete        bool // updateStrategy.type
	rolling         bool // updateStrategy.rollingUpdate is there; the API server makes it where no type is said
	partition       int
	unavailable     int // maxUnavailable where it is heeded, 0 where its feature gate is off
	minReady        engine.Time

	revision int // of the template
	current  int // status.currentRevision
	ofThat   int // status.currentReplicas

	pods []*api.Pod
	now  engine.Time
}

// statefulStatus is status of a StatefulSet.
type statefulStatus struct {
	of                               world.Resource // the spec that it is of
	asked                            int            // its replicas
	pods, ready, available           int
	current, updated                 int // replicas of the two revisions
	currentRevision, updatedRevision int
}

// deed is one request of a sync: a pod that is deleted, or one of an ordinal and revision that is made.
type deed struct {
	pod               *api.Pod // nil: it is made
	ordinal, revision int
	undo              bool // the pod of the ordinal that the sync has just made is deleted
}

// statefulPlan is what a sync of a StatefulSet does: batches, each after the answers to the one before, then the status.
type statefulPlan struct {
	batches [][]deed
	status  statefulStatus
	// replaced is how many of the deletions are the update's.
	replaced int
	// next is when another pod will have been ready for minReadySeconds.
	next engine.Time
}

// slot is one ordinal of a StatefulSet with its pod, nil for none.
type slot struct {
	ordinal int
	pod     *api.Pod
}

// statefulSync is a sync under way.
type statefulSync struct {
	*statefulInput
	replicas  []slot     // ascending
	condemned []*api.Pod // beyond the replicas, descending
	unhealthy *api.Pod   // the first one that is not available
	plan      statefulPlan
}

// planStateful works out one sync.
func planStateful(in *statefulInput) statefulPlan {
	s := &statefulSync{statefulInput: in}
	s.sort()
	if s.parallel {
		s.burst()
	} else {
		s.oneByOne()
	}
	s.count()
	return s.plan
}

// sort gives each ordinal its pod.
func (s *statefulSync) sort() {
	for i := range s.statefulInput.replicas {
		s.replicas = append(s.replicas, slot{ordinal: s.start + i})
	}
	for _, p := range s.pods {
		if i := p.Ordinal - s.start; i >= 0 && i < len(s.replicas) {
			s.replicas[i].pod = p
		} else {
			s.condemned = append(s.condemned, p)
		}
	}
	sorted.ShortBy(s.condemned, func(a, b *api.Pod) int { return cmp.Compare(b.Ordinal, a.Ordinal) })
	for _, p := range slices.Backward(s.condemned) {
		if s.isUnavailable(p) {
			s.unhealthy = p
			break
		}
	}
	for _, r := range s.replicas {
		if s.isUnavailable(r.pod) {
			s.unhealthy = r.pod // nil for one that is yet to be made: then no condemned pod is the first
			return
		}
	}
}

// isUnavailable says that a pod is not available, or is on its way out.
func (s *statefulSync) isUnavailable(p *api.Pod) bool {
	return p == nil || !s.isAvailable(p) || p.Deleting()
}

func (s *statefulSync) isAvailable(p *api.Pod) bool {
	return p.Ready && availableAt(p.ReadySince, s.minReady) <= s.now
}

// revisionOf is the revision that a new pod of an ordinal has: below the partition it is the one before.
func (s *statefulSync) revisionOf(ordinal int) int {
	switch {
	case s.rolling && ordinal < s.start+s.partition:
		return s.current
	case !s.rolling && !s.onDelete && ordinal < s.start+s.ofThat:
		return s.current
	default:
		return s.revision
	}
}

func (s *statefulSync) create(ordinal int) deed {
	return deed{ordinal: ordinal, revision: s.revisionOf(ordinal)}
}

// oneByOne is policy OrderedReady: the first thing that is to be done is done, and nothing after it before that is over.
func (s *statefulSync) oneByOne() {
	for _, r := range s.replicas {
		switch {
		case r.pod == nil:
			s.do(s.create(r.ordinal))
			return
		case r.pod.Phase.Terminal():
			if !r.pod.Deleting() {
				s.do(deed{pod: r.pod})
			}
			return
		case s.isUnavailable(r.pod):
			return
		}
	}
	if len(s.condemned) > 0 {
		p := s.condemned[0]
		if !p.Deleting() && (s.isAvailable(p) || p == s.unhealthy) {
			s.do(deed{pod: p})
		}
		return
	}
	s.update()
}

// burst is policy Parallel: whatever is missing is made, and whatever is too much deleted, by slow start. An update goes on one by
// one.
func (s *statefulSync) burst() {
	s.slowly(len(s.replicas), func(i int) (deed, bool) {
		r := s.replicas[i]
		if r.pod == nil {
			return s.create(r.ordinal), true
		}
		return deed{pod: r.pod}, r.pod.Phase.Terminal() && !r.pod.Deleting()
	})
	s.slowly(len(s.condemned), func(i int) (deed, bool) { return deed{pod: s.condemned[i]}, !s.condemned[i].Deleting() })
	s.update()
}

// slowly looks at one of n things, then at two, four, eight ... at once, and does what there is to do about them.
func (s *statefulSync) slowly(n int, about func(int) (deed, bool)) {
	for i, size := 0, 1; i < n; size = min(2*size, burstReplicas) {
		var batch []deed
		for end := min(i+size, n); i < end; i++ {
			if d, ok := about(i); ok {
				batch = append(batch, d)
			}
		}
		if batch != nil {
			s.plan.batches = append(s.plan.batches, batch)
		}
	}
}

func (s *statefulSync) do(d deed) { s.plan.batches = append(s.plan.batches, []deed{d}) }

// update deletes pods of another revision, the highest ordinal first.
func (s *statefulSync) update() {
	switch {
	case s.onDelete:
	case s.unavailable > 0:
		s.updateSeveral()
	default:
		s.updateOne()
	}
}

// updateOne deletes the highest one that is old, unless one above it is not available.
func (s *statefulSync) updateOne() {
	for i := len(s.replicas) - 1; i >= s.partition; i-- {
		r := s.replicas[i]
		switch {
		case s.isOld(r):
			s.replace(r)
			return
		case s.isUnavailable(r.pod):
			return
		}
	}
}

// updateSeveral deletes as many as may be unavailable, those that are so already counted in (feature gate
// MaxUnavailableStatefulSet).
func (s *statefulSync) updateSeveral() {
	left := s.unavailable
	for _, r := range s.replicas {
		if s.isUnavailable(r.pod) {
			left--
		}
	}
	for i := len(s.replicas) - 1; i >= s.partition && left > 0; i-- {
		if r := s.replicas[i]; s.isOld(r) {
			s.replace(r)
			left--
		}
	}
}

func (s *statefulSync) replace(r slot) {
	s.do(deed{pod: r.pod, ordinal: r.ordinal, undo: r.pod == nil})
	s.plan.replaced++
}

// isOld says that a pod is to be replaced, and is not being so. With Parallel that may be one that this sync has made.
func (s *statefulSync) isOld(r slot) bool {
	if r.pod == nil {
		return s.revisionOf(r.ordinal) != s.revision
	}
	return r.pod.Revision != s.revision && !r.pod.Deleting()
}

// count works out the status: of the pods as they were, but for those that the update deletes.
func (s *statefulSync) count() {
	st := &s.plan.status
	st.currentRevision, st.updatedRevision = s.current, s.revision
	s.plan.next = api.Never
	for _, p := range s.pods {
		st.pods++
		if p.Phase == api.PhaseRunning && p.Ready {
			st.ready++
			if at := availableAt(p.ReadySince, s.minReady); at <= s.now {
				st.available++
			} else if s.plan.next == api.Never || at < s.plan.next {
				s.plan.next = at
			}
		}
		if p.Deleting() {
			continue
		}
		if p.Revision == s.current {
			st.current++
		}
		if p.Revision == s.revision {
			st.updated++
		}
	}
	st.current -= s.plan.replaced
	if !s.onDelete && st.updated == len(s.replicas) && st.ready == len(s.replicas) && st.pods == len(s.replicas) {
		st.current, st.currentRevision = st.updated, s.revision
	}
}
