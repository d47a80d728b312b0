package sweep

import (
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/fix"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// A change shortens the time without a pod where it does so in every run that it was tried on, by a second and by a tenth.
func TestWhatShortensATimeWithoutAPod(t *testing.T) {
	t.Parallel()
	const sec = engine.Second
	for name, c := range map[string]struct {
		gaps          []gap
		lost          uint64
		before, after engine.Time
		asMuch        bool
	}{
		"in all, and as much is lost":  {[]gap{{9 * sec, 5 * sec}, {8 * sec, 4 * sec}, {10 * sec, 6 * sec}}, 95, 9 * sec, 5 * sec, true},
		"in all, and less is lost":     {[]gap{{9 * sec, 5 * sec}, {8 * sec, 4 * sec}, {10 * sec, 6 * sec}}, 60, 9 * sec, 5 * sec, false},
		"not in one of them":           {[]gap{{9 * sec, 5 * sec}, {8 * sec, 8 * sec}}, 95, 0, 0, false},
		"by half a second":             {[]gap{{2 * sec, 3 * sec / 2}}, 95, 0, 0, false},
		"by a twentieth":               {[]gap{{40 * sec, 38 * sec}}, 95, 0, 0, false},
		"a pod was there all the time": {[]gap{{0, 0}}, 95, 0, 0, false},
		"it was not tried":             {nil, 95, 0, 0, false},
	} {
		s := &search{before: 100, singles: []*attempt{
			{changes: []fix.Change{{Title: "another"}}, ran: true},
			{changes: []fix.Change{{Title: "sooner"}}, ran: true, gaps: c.gaps, lost: c.lost},
		}}
		if before, after, asMuch := s.shortens("sooner"); before != c.before || after != c.after || asMuch != c.asMuch {
			t.Errorf("%s: %s -> %s, as much %v", name, before.Seconds(), after.Seconds(), asMuch)
		}
	}
}

// What has to hear of a pod that goes is what stands on the way to it: no node where a load balancer sends to pods.
func TestTheHopsOnTheWay(t *testing.T) {
	t.Parallel()
	pods, nodes, proxy := &world.LoadBalancer{Target: world.TargetPods}, &world.LoadBalancer{}, &world.LoadBalancer{Target: world.TargetPods, Layer7: &world.Layer7{}}
	for _, c := range []struct {
		ways []*world.LoadBalancer
		want []string
	}{
		{[]*world.LoadBalancer{nil}, []string{"nodes"}}, {[]*world.LoadBalancer{pods}, []string{"the load balancer"}}, {[]*world.LoadBalancer{nodes}, []string{"nodes", "the load balancer"}},
		{[]*world.LoadBalancer{proxy}, []string{"the proxy"}}, {[]*world.LoadBalancer{nil, proxy}, []string{"nodes", "the proxy"}},
	} {
		s := &search{}
		for _, lb := range c.ways {
			s.units = append(s.units, &unit{sc: &world.Scenario{Traffic: []world.Traffic{{LB: lb}}}})
		}
		if got := s.hops(); !slices.Equal(got, c.want) {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
}
