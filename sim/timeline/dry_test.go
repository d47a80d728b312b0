package timeline

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// A load balancer without any target has a lane that says when, and one that fails open is told from one that has healthy targets.
func TestALoadBalancerWithoutAHealthyTarget(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.sc = s.sc.Clone()
	s.sc.Traffic = append([]world.Traffic{}, s.sc.Traffic...)
	s.sc.Traffic[0].LB = &world.LoadBalancer{Preset: "aws-nlb-ip", Target: world.TargetPods}
	sends := func(at engine.Time, opens bool, members ...int) {
		s.at(at, event.Event{Kind: event.Sends, Proxy: -1, Member: -1, Members: members, Fallback: opens})
	}
	sends(0, false, 0)
	sends(3*sec, true, 0)
	sends(5*sec, false)
	sends(6*sec, false)
	sends(8*sec, false, 0)
	tl := s.Build(1, 10*sec, refs)
	if want := []DryLane{{Balancer: "aws-nlb-ip", Proxy: -1, Clients: []int{0}, Spans: []Span{{5 * sec, 8 * sec, NoTarget}}}}; !cmp.Equal(tl.Dry, want) {
		t.Errorf("without a target: %s", cmp.Diff(want, tl.Dry))
	}
	if want := []Span{{0, 3 * sec, "new connections"}, {3 * sec, 5 * sec, FailsOpen}, {8 * sec, 10 * sec, "new connections"}}; !cmp.Equal(tl.Targets[0].Gets, want) {
		t.Errorf("sent to: %s", cmp.Diff(want, tl.Targets[0].Gets))
	}
}

// One that always has a target has no such lane.
func TestALoadBalancerThatAlwaysHasATarget(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.sc = s.sc.Clone()
	s.sc.Traffic = append([]world.Traffic{}, s.sc.Traffic...)
	s.sc.Traffic[0].LB = &world.LoadBalancer{Preset: "aws-nlb-ip", Target: world.TargetPods}
	s.at(0, event.Event{Kind: event.Sends, Proxy: -1, Member: -1, Members: []int{0}})
	s.at(sec, event.Event{Kind: event.Sends, Proxy: -1, Member: -1, Members: []int{1}})
	if dry := s.Build(1, 10*sec, refs).Dry; dry == nil || len(dry) > 0 {
		t.Errorf("got %+v, want an empty list", dry)
	}
}

// A node that is not counted as ready any more is not marked as one that is.
func TestMarksOfWhetherANodeIsReady(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.at(sec, event.Event{Kind: event.NodeReady, Pod: -1, Node: 0, Stream: -1, OK: false, Refusal: "it reports nothing"})
	s.at(2*sec, event.Event{Kind: event.NodeReady, Pod: -1, Node: 0, Stream: -1, OK: true})
	var got []string
	for _, m := range s.Build(1, 10*sec, refs).Nodes[0].Marks {
		got = append(got, m.Kind)
	}
	if want := []string{"not-ready", "ready"}; !cmp.Equal(got, want) {
		t.Errorf("marks %q, want %q", got, want)
	}
}

// Of more failures than can be marked one of each client and cause is, however few they are.
func TestARareFailureIsMarked(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	for i := range uint64(3000) {
		q := ledger.Request{Number: i, Arrival: engine.Time(i) * ms, End: engine.Time(i) * ms, Outcome: ledger.Refused, Node: 0}
		switch i {
		case 1001:
			q.Stream = 1
		case 1003:
			q.Blame.Cause = ledger.StaleRules
		}
		s.Fail(&q)
	}
	tl := s.Build(1, 20*sec, refs)
	rare := map[uint64]bool{}
	for i := range tl.Failures {
		if f := &tl.Failures[i]; f.Number%2 != 0 {
			rare[f.Number] = true
		}
		if i > 0 && tl.Failures[i].At < tl.Failures[i-1].At {
			t.Errorf("failure %d is before the one before it", i)
		}
	}
	if want := map[uint64]bool{1001: true, 1003: true}; !cmp.Equal(rare, want) {
		t.Errorf("besides every second %v are marked, want %v", rare, want)
	}
	if want := "1002 of 3000 failed requests are marked, and all are counted"; !slices.Contains(tl.LeftOut, want) {
		t.Errorf("says %q", tl.LeftOut)
	}
}
