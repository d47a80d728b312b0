package control

import (
	"cmp"
	"math/bits"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// candidate is a pod that a ReplicaSet may delete, with what the ranking looks at.
type candidate struct {
	pod     *api.Pod
	rank    int // active pods of the Deployment on the pod's node, this one included
	ready   age // since when it is Ready
	created age
}

// age is a moment as the API has it, and how long ago that is by powers of two.
type age struct {
	second engine.Time
	log    int
}

func ageOf(at, now engine.Time) age {
	second := at.TruncateToSecond()
	return age{second, logAge(now - second)}
}

func candidateOf(p *api.Pod, rank int, now engine.Time) candidate {
	return candidate{p, rank, ageOf(p.ReadySince, now), ageOf(p.Created, now)}
}

// compareVictims orders pods by who goes first when a ReplicaSet shrinks (Kubernetes 1.36
// pkg/controller/controller_utils.go, ActivePodsWithRanks; verified).
func compareVictims(a, b *candidate) int {
	x, y := a.pod, b.pod
	if c := compareStates(a, b); c != 0 {
		return c
	}
	if x.Ready && y.Ready {
		if c := compareAges(a.ready, b.ready, x.UID, y.UID); c != 0 {
			return c
		}
	}
	if c := cmp.Compare(y.Restarts, x.Restarts); c != 0 {
		return c
	}
	return compareAges(a.created, b.created, x.UID, y.UID)
}

// compareStates is rules 1 to 5. Mostly nothing tells two pods apart by them.
func compareStates(a, b *candidate) int {
	x, y := a.pod, b.pod
	if x.Phase == y.Phase && x.Ready == y.Ready && x.DeletionCost == y.DeletionCost && a.rank == b.rank && x.Node >= 0 && y.Node >= 0 {
		return 0
	}
	return cmp.Or(
		boolFirst(x.Node < 0, y.Node < 0),
		cmp.Compare(phaseRank(x.Phase), phaseRank(y.Phase)),
		boolFirst(!x.Ready, !y.Ready),
		cmp.Compare(x.DeletionCost, y.DeletionCost),
		cmp.Compare(b.rank, a.rank), // doubled up goes first
	)
}

// compareAges puts the younger first, by powers of two of the age in nanoseconds; within one
// power the UIDs decide, so that the choice among pods of similar age is arbitrary but fair.
func compareAges(a, b age, uidA, uidB uint64) int {
	if a.second == b.second {
		return 0
	}
	if c := cmp.Compare(a.log, b.log); c != 0 {
		return c
	}
	return cmp.Compare(uidA, uidB)
}

// logAge is floor(log2(age)), and less than any for an age of nothing.
func logAge(age engine.Time) int {
	if age <= 0 {
		return -1
	}
	return bits.Len64(uint64(age)) - 1
}

func phaseRank(p api.Phase) int {
	switch p {
	case api.PhasePending:
		return 0
	case api.PhaseUnknown:
		return 1
	default:
		return 2
	}
}

// boolFirst orders true before false.
func boolFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	default:
		return 1
	}
}
