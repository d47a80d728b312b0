//go:build linux

package fault

import (
	"net/netip"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/test/lab"
)

// Five endpoints are where a dataplane that draws from powers of two has the most to put right:
// three of eight numbers are nobody's. With one draw instead of several, and the lower half after
// it, chi-square is about 70 in the mean.
func TestEveryEndpointGetsItsShare(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p plane) {
		r := newRig(t, p, 7)
		s := service{number: 1}
		if err := r.set(s, r.somePods(5)); err != nil {
			t.Fatal(err)
		}
		if err := r.sync(); err != nil {
			t.Fatal(err)
		}
		const flows = 2000
		got := map[netip.AddrPort]int{}
		for i := range flows {
			c := call{caller, endpoints.IPv4, lab.UDP, netip.AddrPortFrom(s.clusterIPs()[0], port)}
			f, result, err := r.Open(r.dial(c, uint16(firstPort+i))) // below 40,000
			if err != nil || result.Fate != lab.Answered {
				t.Fatalf("flow %d: %s, error %v", i, result.Fate, err)
			}
			got[result.Arrival.At]++
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
		square, want := 0.0, float64(flows)/5
		for _, n := range got { // order: a sum does not depend on it
			square += (float64(n) - want) * (float64(n) - want) / want
		}
		// Of four degrees of freedom: more than this is a chance of one in a billion.
		if len(got) != 5 || square > 48 {
			t.Errorf("chi-square %.1f for %v", square, got)
		}
		t.Logf("chi-square %.1f", square)
	})
}
