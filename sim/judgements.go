package sim

import (
	"net/netip"

	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/traffic"
)

// failure is all that a judgement depends on, beside the world.
type failure struct {
	node, member int
	heard        uint64 // what the node's proxy knows
	leg          traffic.Leg
	fault        ledger.Fault
	target       netip.AddrPort
}

// is compares two failures, first what differs most often.
func (f *failure) is(o *failure) bool {
	return f.node == o.node && f.member == o.member && f.heard == o.heard && f.fault == o.fault && f.leg == o.leg && f.target == o.target
}

// judgements are those since an event of the world. Mostly they are few, and looked through; the zero
// judgements are none.
type judgements struct {
	event uint64
	few   []judgement
	last  [fewJudgements]uint8     // by stream: which of few it was last time; streams share a place where they are more
	many  map[failure]ledger.Blame // those beyond fewJudgements
}

type judgement struct {
	failure failure
	blame   ledger.Blame
}

const fewJudgements = 8

// since forgets those from before an event.
func (j *judgements) since(event uint64) {
	if j.event != event {
		j.event, j.few, j.many = event, j.few[:0], nil
	}
}

// of returns the judgement of a failure.
func (j *judgements) of(f *failure) (blame ledger.Blame, known bool) {
	last := &j.last[f.leg.Stream%fewJudgements]
	if i := int(*last); i < len(j.few) && j.few[i].failure.is(f) {
		return j.few[i].blame, true
	}
	for i := range j.few {
		if j.few[i].failure.is(f) {
			*last = uint8(i) //nolint:gosec // they are few
			return j.few[i].blame, true
		}
	}
	blame, known = j.many[*f]
	return blame, known
}

func (j *judgements) add(f failure, blame ledger.Blame) {
	if len(j.few) < fewJudgements {
		j.few = append(j.few, judgement{f, blame})
		return
	}
	if j.many == nil {
		j.many = map[failure]ledger.Blame{}
	}
	j.many[f] = blame
}
