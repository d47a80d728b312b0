package ledger

import "testing"

// What a client sees of each fault: a refusal is a packet that comes back, a timeout is none, an answer comes from who
// has accepted, and whatever ends a connection that stood is a reset.
func TestWhatAClientSeesOfAFault(t *testing.T) {
	t.Parallel()
	want := map[Outcome][]Fault{
		Refused:     {FaultRejected, FaultNoListener, FaultNoTargetRefused, FaultPinnedShut},
		Timeout:     {FaultDropped, FaultNoAnswer, FaultLate, FaultFiltered, FaultNoTarget, FaultPinned, FaultNodeGone, FaultNodeDead},
		Unresolved:  {FaultUnresolved},
		Unreachable: {FaultUnreachable},
		HTTP5xx:     {FaultTurnedAway, FaultErred, FaultNoTarget503},
		OK:          {FaultElsewhere},
		Reset:       {FaultKilled, FaultExited, FaultLiveness, FaultCrashed, FaultIdleRace, FaultDrainCut, FaultForgotten},
	}
	seen := 0
	for outcome, faults := range want {
		for _, f := range faults {
			seen++
			if got := f.Outcome(); got != outcome {
				t.Errorf("fault %d is %s to the client, want %s", f, got, outcome)
			}
		}
	}
	if seen != int(FaultElsewhere)+1 {
		t.Errorf("%d faults of %d", seen, FaultElsewhere+1)
	}
}

// A fault is of a new connection if none came about: then nothing was cut.
func TestFaultsOfNewConnections(t *testing.T) {
	t.Parallel()
	fresh := map[Fault]bool{
		FaultRejected: true, FaultDropped: true, FaultNoListener: true, FaultNoAnswer: true, FaultFiltered: true, FaultNoTarget: true,
		FaultNoTargetRefused: true, FaultNoTarget503: true, FaultNodeDead: true, FaultUnreachable: true,
	}
	for f := range FaultElsewhere + 1 {
		if f.NewConnection() != fresh[f] {
			t.Errorf("fault %d: %t", f, f.NewConnection())
		}
	}
}
