package balancer

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Analytic tests of every preset: what its fields amount to is derived in the comments, and one
// of them 10 % larger has to be noticed.

// seeds is how many load balancers are asked each time.
const seeds = 2000

// sample is what was measured in many runs, in seconds.
type sample struct {
	n            int
	sum, squares float64
	least, most  float64
}

func (s *sample) add(d engine.Time) {
	x := float64(d) / float64(sec)
	if s.n == 0 || x < s.least {
		s.least = x
	}
	if s.n == 0 || x > s.most {
		s.most = x
	}
	s.n++
	s.sum, s.squares = s.sum+x, s.squares+x*x
}

// length is a time in seconds: the least, the mean and the most.
type length struct{ least, mean, most float64 }

func seconds(d engine.Time) float64 { return float64(d) / float64(sec) }

func of(d engine.Dist) length { return length{seconds(d.Min()), seconds(d.Mean()), seconds(d.Max())} }

func (l length) plus(d engine.Time) length {
	return length{l.least + seconds(d), l.mean + seconds(d), l.most + seconds(d)}
}

func (l length) and(o length) length {
	return length{l.least + o.least, l.mean + o.mean, l.most + o.most}
}

// phase is a moment within an interval.
func phase(interval engine.Time) length {
	return length{0, seconds(interval) / 2, seconds(interval)}
}

// against says what is wrong with a sample: a mean that is off by more than 4 standard errors, or
// a value out of bounds.
func (s *sample) against(want length) error {
	mean := s.sum / float64(s.n)
	se := math.Sqrt(max(0, s.squares/float64(s.n)-mean*mean) / float64(s.n))
	const tiny = 1e-6
	switch {
	case s.least < want.least-tiny || s.most > want.most+tiny:
		return fmt.Errorf("between %.3f and %.3f s, want %.3f to %.3f", s.least, s.most, want.least, want.most)
	case math.Abs(mean-want.mean) > 4*se+tiny:
		return fmt.Errorf("%.3f s in the mean, give or take %.3f, want %.3f", mean, se, want.mean)
	default:
		return nil
	}
}

// detect measures how long it takes, from the change of one of three members, until it gets no
// new connections any more, and until it gets some again. late says that nobody answers instead
// of somebody refusing. Its connections are cut when it is left, where that is so.
func detect(t *testing.T, lb world.LoadBalancer, late bool) (gone, again sample) {
	t.Helper()
	const down, up = 1000 * sec, 3000 * sec
	for seed := range uint64(seeds) {
		f, b := buildSeed(t, lb, seed+1)
		f.late = late
		b.actives()
		f.run(down)
		f.ok[1] = false
		b.Wake()
		f.run(up)
		f.ok[1] = true
		b.Wake()
		f.run(up + 2000*sec)
		if len(f.sends) != 2 || len(f.sends[0].members) != 2 || len(f.sends[1].members) != 3 {
			t.Fatalf("seed %d: %v", seed+1, f.sends)
		}
		if cuts := slices.Contains(f.cut, cut{f.sends[0].at, 1}); cuts != lb.CutUnhealthy || len(f.cut) > 1 {
			t.Fatalf("seed %d: cut %+v, left at %s s", seed+1, f.cut, f.sends[0].at.Seconds())
		}
		gone.add(f.sends[0].at - down)
		again.add(f.sends[1].at - up)
	}
	return gone, again
}

// windows are how long detection takes: a member that changes between two probes is asked after
// the rest of an interval, which is as likely to be short as long, and so often again that the
// threshold is reached, an interval later each time. A probe that nobody answers is known to have
// failed when its timeout is over. What is found out follows the health propagation later.
func windows(lb *world.LoadBalancer, late bool) (gone, again length) {
	c := lb.Check
	gone = phase(c.Interval).plus(engine.Time(c.Unhealthy-1) * c.Interval).and(of(lb.HealthPropagation))
	if late {
		gone = gone.plus(c.Timeout)
	}
	return gone, phase(c.Interval).plus(engine.Time(c.Healthy-1) * c.Interval).and(of(lb.HealthPropagation))
}

// Reference: docs/model/load-balancers.md 1.
func TestDetectionOfEveryPreset(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, p := range scenario.Presets() {
		lb := p.LoadBalancer
		if lb.Check.Probe == world.ProbeNone {
			continue
		}
		checked++
		t.Run(p.ID, func(t *testing.T) {
			t.Parallel()
			lb := onNodes(lb)
			for _, late := range []bool{false, true} {
				wantGone, wantAgain := windows(&lb, late)
				gone, again := detect(t, lb, late)
				if err := gone.against(wantGone); err != nil {
					t.Errorf("gone, late %v: %v", late, err)
				}
				if err := again.against(wantAgain); err != nil {
					t.Errorf("back, late %v: %v", late, err)
				}
			}
			slow := lb
			slow.Check.Interval += lb.Check.Interval / 10
			wantGone, wantAgain := windows(&lb, false)
			gone, again := detect(t, slow, false)
			if gone.against(wantGone) == nil || again.against(wantAgain) == nil {
				t.Error("an interval 10 % longer is not noticed")
			}
		})
	}
	if checked < 15 {
		t.Errorf("only %d presets have health checks", checked)
	}
}

// onNodes has a load balancer's members be those that the fake cluster has, without a member that
// comes or goes by itself: nodes and pods have the same numbers there.
func onNodes(lb world.LoadBalancer) world.LoadBalancer {
	lb.Announce = world.AnnounceNone
	return lb
}

// removals measures when a member that is removed gets no new connections any more, from the news,
// and how long after that its connections are cut; cuts counts them.
func removals(t *testing.T, lb world.LoadBalancer) (left, lived sample, cuts int) {
	t.Helper()
	const at = 1000 * sec
	for seed := range uint64(seeds) {
		f, b := buildSeed(t, lb, seed+1)
		b.actives()
		f.run(at)
		f.endpoints = ready(0, 2)
		b.Hear()
		f.run(at + 3000*sec)
		if len(f.sends) != 1 || len(f.sends[0].members) != 2 {
			t.Fatalf("seed %d: %v", seed+1, f.sends)
		}
		left.add(f.sends[0].at - at)
		for _, c := range f.cut {
			if c.member != 1 {
				t.Fatalf("seed %d: %+v", seed+1, c)
			}
			cuts++
			lived.add(c.at - f.sends[0].at)
		}
	}
	return left, lived, cuts
}

// A member that is removed gets no new connections any more when the controller has heard of it
// and when that is known everywhere; those that it has live on for the drain, and are cut then.
// Without an end to draining they are not. Reference: docs/model/load-balancers.md 1, and 2.
func TestDrainingOfEveryPreset(t *testing.T) {
	t.Parallel()
	finite, endless := 0, 0
	for _, p := range scenario.Presets() {
		lb := onNodes(p.LoadBalancer)
		if lb.Members == world.MembersAllNodes {
			// Nodes come and go as endpoints do elsewhere: what follows is the same.
			lb.Members = world.MembersLocalNodes
		}
		if lb.Drain == engine.Never {
			endless++
		} else {
			finite++
		}
		t.Run(p.ID, func(t *testing.T) {
			t.Parallel()
			want := of(lb.Controller).and(of(lb.Propagation))
			left, lived, cuts := removals(t, lb)
			if err := left.against(want); err != nil {
				t.Errorf("left: %v", err)
			}
			slower := lb
			slower.Propagation = lb.Propagation.Plus(max(sec/10, lb.Propagation.Mean()/10))
			if left, _, _ := removals(t, slower); left.against(want) == nil {
				t.Error("a propagation 10 % longer is not noticed")
			}
			if lb.Drain == engine.Never {
				if cuts > 0 {
					t.Errorf("%d connections cut", cuts)
				}
				return
			}
			drain := length{}.plus(lb.Drain)
			if err := lived.against(drain); err != nil || cuts != seeds {
				t.Errorf("%d cut: %v", cuts, err)
			}
			longer := lb
			longer.Drain += max(sec, lb.Drain/10)
			if _, lived, _ := removals(t, longer); lived.against(drain) == nil {
				t.Error("a drain 10 % longer is not noticed")
			}
		})
	}
	if finite < 3 || endless < 3 {
		t.Errorf("%d presets with an end to draining, %d without", finite, endless)
	}
}
