package objects

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// TestClusterIsWhatItsSizeSays feeds lameduck's own cache, which knows what is wrong with objects.
func TestClusterIsWhatItsSizeSays(t *testing.T) {
	t.Parallel()
	size := Size{Services: 700, Endpoints: 7}
	cache, seen := endpoints.NewCache(endpoints.CurrentOptions()), map[string]bool{}
	for i := range size.Services {
		problems := append(cache.SetService(Service(i)), cache.SetSlice(size.Slice(i))...)
		for _, p := range problems {
			t.Error(p)
		}
	}
	for svc := range cache.Snapshot().Services() {
		for _, e := range svc.Ports[0].Endpoints {
			seen[e.Addr.String()] = true
		}
	}
	if want := size.Services * size.Endpoints; len(seen) != want {
		t.Errorf("%d different endpoints, want %d", len(seen), want)
	}
}

// TestRangesAreLargeEnough keeps the largest cluster's addresses in the ranges that are routed.
func TestRangesAreLargeEnough(t *testing.T) {
	t.Parallel()
	size := Size{maxTotal / maxEndpoints, maxEndpoints}
	for _, c := range []struct {
		address netip.Addr
		within  string
	}{
		{ClusterIP(maxServices + 1000), ServiceCIDR}, {Later(1_000_000), PodCIDR}, {Later(1_000_000), "10.192.0.0/11"},
	} {
		if !netip.MustParsePrefix(c.within).Contains(c.address) {
			t.Errorf("%s is not in %s", c.address, c.within)
		}
	}
	if got := size.Endpoint(size.Services-1, size.Endpoints-1); !netip.MustParsePrefix("10.128.0.0/10").Contains(got) {
		t.Errorf("the last endpoint %s is not in 10.128.0.0/10", got)
	}
}

func TestSizes(t *testing.T) {
	t.Parallel()
	got, err := ParseSize("10000x5")
	if err != nil || got != (Size{10000, 5}) || got.String() != "10000x5" {
		t.Errorf("got %v, %v", got, err)
	}
	for _, wrong := range []string{"", "5", "x", "1x5", "10x1", "10x101", fmt.Sprintf("%dx5", maxServices+1), "100000x100", "-1x5", "10 x 5"} {
		if got, err := ParseSize(wrong); err == nil {
			t.Errorf("%q is %v", wrong, got)
		}
	}
}
