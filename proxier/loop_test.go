package proxier

import (
	"errors"
	"testing"
	"time"

	"github.com/lameduck-proxy/lameduck/proxier/pace"
)

// Reference: docs/model/kube-proxy.md 6.
func TestNothingIsProgrammedBeforeAllIsDelivered(t *testing.T) {
	run(t, nil, func(r *rig) {
		r.SetService(service("web", "10.96.0.1"))
		r.at(10 * s)
		r.SetSlice(slice("web", "10.0.0.1"))
		r.at(20 * s)
		r.want()
		r.Synced()
		r.want("20s resync ok: web=10.0.0.1")
	})
}

// A source that says again that all is delivered, as after it has connected anew, brings no change.
func TestThatAllIsDeliveredIsNewOnce(t *testing.T) {
	run(t, nil, func(r *rig) {
		r.fill()
		r.at(10 * s)
		r.Synced()
		r.at(20 * s)
		r.want("0s resync ok: web=10.0.0.1")
	})
}

func TestNothingIsProgrammedBeforeTheNodeIsKnown(t *testing.T) {
	run(t, func(_ *rig, o *Options) { o.Node = nil }, func(r *rig) {
		r.fill()
		r.at(10 * s)
		r.want()
		r.SetNode(node())
		r.want("10s resync ok: web=10.0.0.1")
	})
}

func TestAClusterWithoutServicesIsProgrammedToo(t *testing.T) {
	run(t, nil, func(r *rig) {
		r.Synced()
		r.want("0s resync ok: ")
	})
}

// Reference: docs/model/kube-proxy.md 6: at once when idle; minSyncPeriod after the previous sync
// completed; changes meanwhile are coalesced.
func TestChangesAreCoalesced(t *testing.T) {
	run(t, func(r *rig, _ *Options) { r.backend.takes = 200 * ms }, func(r *rig) {
		r.fill()
		r.at(10 * s)
		r.SetSlice(slice("web", "10.0.0.2"))
		r.at(10*s + 100*ms) // while the sync is under way
		r.SetSlice(slice("web", "10.0.0.3"))
		r.at(10*s + 300*ms) // and after it
		r.SetSlice(slice("web", "10.0.0.4"))
		r.SetService(service("api", "10.96.0.2"))
		r.SetSlice(slice("api", "10.0.1.1"))
		r.at(11*s + 199*ms)
		r.SetSlice(slice("web", "10.0.0.5"))
		r.at(20 * s)
		r.want(
			"200ms resync ok: web=10.0.0.1",
			"10.2s apply ok: web=10.0.0.2",
			"11.4s apply ok: api=10.0.1.1 web=10.0.0.5", // starts a second after the end of the one before
		)
		last := r.lastSync()
		if last.Full || last.SliceWrites != 4 || last.ServiceWrites != 1 || len(last.Services) != 2 || last.End.Sub(last.Start) != 200*ms {
			t.Errorf("reported as %+v", last)
		}
	})
}

// The pace can change at any time, also while a change waits for it.
func TestAnotherPace(t *testing.T) {
	run(t, func(_ *rig, o *Options) { o.Pace = pace.Policy{MinInterval: 10 * s} }, func(r *rig) {
		r.fill()
		r.at(s)
		r.SetSlice(slice("web", "10.0.0.2"))
		r.at(2 * s)
		r.SetPace(pace.Policy{MinInterval: 3 * s})
		r.at(4 * s)
		r.SetSlice(slice("web", "10.0.0.3"))
		r.at(10 * s)
		r.SetPace(pace.Policy{MinInterval: 20 * s, CheckInterval: 30 * s})
		r.SetSlice(slice("web", "10.0.0.4"))
		r.at(60 * s)
		r.want(
			"0s resync ok: web=10.0.0.1",
			"3s apply ok: web=10.0.0.2",
			"6s apply ok: web=10.0.0.3",
			"26s apply ok: web=10.0.0.4",
			"56s apply ok: web=10.0.0.4", // a look
		)
	})
}

func TestWhatChangesNothingWakesNobody(t *testing.T) {
	run(t, nil, func(r *rig) {
		r.fill()
		r.at(10 * s)
		r.SetService(service("web", "10.96.0.1"))
		r.SetSlice(slice("web", "10.0.0.1"))
		r.SetNode(node())
		r.at(20 * s)
		r.want("0s resync ok: web=10.0.0.1")
	})
}

func TestAFailureIsRetriedInFullWithBackOff(t *testing.T) {
	failure := errors.New("no")
	run(t, func(r *rig, o *Options) {
		o.Pace = pace.Policy{MinInterval: 100 * ms, RetryInterval: 5 * s, FirstRetry: s}
		r.backend.fail = []error{nil, failure, failure, failure, failure, failure, nil, failure}
	}, func(r *rig) {
		r.fill()
		r.at(10 * s)
		r.SetSlice(slice("web", "10.0.0.2"))
		r.at(30 * s)
		r.SetSlice(slice("web", "10.0.0.3"))
		r.at(60 * s)
		r.want(
			"0s resync ok: web=10.0.0.1",
			"10s apply fails: web=10.0.0.2",
			"11s resync fails: web=10.0.0.2",
			"13s resync fails: web=10.0.0.2",
			"17s resync fails: web=10.0.0.2",
			"22s resync fails: web=10.0.0.2", // no more than RetryInterval
			"27s resync ok: web=10.0.0.2",
			"30s apply fails: web=10.0.0.3",
			"31s resync ok: web=10.0.0.3", // from the start
		)
		if last := r.lastSync(); !last.Full || last.Err != nil || !last.Delta.Empty() {
			t.Errorf("reported as %+v", last)
		}
	})
}

func TestAChangeHurriesTheRetry(t *testing.T) {
	run(t, func(r *rig, o *Options) {
		o.Pace = pace.Policy{MinInterval: 100 * ms, RetryInterval: 30 * s, FirstRetry: s}
		r.backend.fail = []error{nil, errors.New("no"), errors.New("no"), errors.New("no")}
	}, func(r *rig) {
		r.fill()
		r.at(10 * s)
		r.SetSlice(slice("web", "10.0.0.2"))
		r.at(13*s + 500*ms) // two retries have failed, the next is due at 17 s
		r.SetSlice(slice("web", "10.0.0.3"))
		r.at(13*s + 600*ms)
		r.SetSlice(slice("web", "10.0.0.4"))
		r.at(30 * s)
		r.want(
			"0s resync ok: web=10.0.0.1",
			"10s apply fails: web=10.0.0.2",
			"11s resync fails: web=10.0.0.2",
			"13s resync fails: web=10.0.0.2",
			"14s resync ok: web=10.0.0.4", // FirstRetry after the failure, however much changes
		)
	})
}

func TestTheRulesAreLookedAtAndWrittenInFullNowAndThen(t *testing.T) {
	run(t, func(_ *rig, o *Options) {
		o.Pace = pace.Policy{MinInterval: s, RetryInterval: 30 * s, CheckInterval: 30 * s, FullInterval: 100 * s}
	}, func(r *rig) {
		r.fill()
		r.at(50 * s)
		if last := r.lastSync(); !last.Check() {
			t.Errorf("reported as %+v", last)
		}
		r.SetSlice(slice("web", "10.0.0.2"))
		r.at(115 * s)
		r.want(
			"0s resync ok: web=10.0.0.1",
			"30s apply ok: web=10.0.0.1",
			"50s apply ok: web=10.0.0.2",
			"1m20s apply ok: web=10.0.0.2",
			"1m40s resync ok: web=10.0.0.2",
		)
	})
}

func TestASlowLookIsSeldom(t *testing.T) {
	run(t, func(r *rig, o *Options) {
		o.Pace = pace.Policy{MinInterval: s, RetryInterval: 30 * s, CheckInterval: 30 * s}
		r.backend.takes = 2 * s
	}, func(r *rig) {
		r.fill()
		r.at(250 * s)
		r.want("2s resync ok: web=10.0.0.1", "1m44s apply ok: web=10.0.0.1", "3m26s apply ok: web=10.0.0.1")
	})
}

func TestAnotherNodeMeansOtherRules(t *testing.T) {
	run(t, nil, func(r *rig) {
		r.fill()
		r.at(10 * s)
		other := node()
		other.Zone = "b"
		r.SetNode(other)
		r.at(20 * s)
		r.want("0s resync ok: web=10.0.0.1", "10s resync ok: web=10.0.0.1")
		if got := r.lastSync().Plan.Node(); got.Zone != "b" {
			t.Errorf("the Plan is of %+v", got)
		}
	})
}

func TestEndingLeavesTheRules(t *testing.T) {
	run(t, func(r *rig, _ *Options) { r.backend.takes = 5 * s }, func(r *rig) {
		r.fill()
		r.at(2 * s) // a sync is under way
		if err := r.stop(); err != nil {
			t.Errorf("Run returned %v", err)
		}
		if at := time.Since(r.began); at != 5*s {
			t.Errorf("Run returned at %v, while the Backend was at work", at)
		}
		r.SetSlice(slice("web", "10.0.0.2"))
		r.at(60 * s)
		r.want("5s resync ok: web=10.0.0.1")
	})
}
