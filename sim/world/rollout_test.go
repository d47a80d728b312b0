package world

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// bound is a maxSurge or maxUnavailable, and what it comes to by the words of the API.
type bound struct {
	v        intstr.IntOrString
	up, down int // rounded up, and down
}

// bounds lists all counts up to 12 and all per cents up to 100, of so many pods.
func bounds(of int) []bound {
	var out []bound
	for n := range 13 {
		out = append(out, bound{v: intstr.FromInt32(int32(n)), up: n, down: n})
	}
	for percent := range 101 {
		b := bound{v: intstr.FromString(fmt.Sprintf("%d%%", percent))}
		for 100*b.up < percent*of { // the least number that is no less than the part
			b.up++
		}
		for 100*(b.down+1) <= percent*of { // the largest that is no more
			b.down++
		}
		out = append(out, b)
	}
	return out
}

// What maxSurge and maxUnavailable of a Deployment come to, for all counts and per cents on both sides.
// Reference: the API's own words ("Absolute number is calculated from percentage by rounding up", "down"); Kubernetes 1.36
// pkg/controller/deployment/util/deployment_util.go, ResolveFenceposts and MaxUnavailable; docs/model/controllers.md 2.
func TestFencepostsOfAllSmallDeployments(t *testing.T) {
	t.Parallel()
	for replicas := 1; replicas <= 12; replicas++ {
		all := bounds(replicas)
		for _, s := range all {
			for _, u := range all {
				surge, unavailable := s.up, u.down
				if surge == 0 && unavailable == 0 {
					unavailable = 1
				}
				if unavailable > replicas {
					unavailable = replicas
				}
				if gotS, gotU := Fenceposts(replicas, s.v, u.v); gotS != surge || gotU != unavailable {
					t.Fatalf("%d replicas, maxSurge %s, maxUnavailable %s: %d and %d, want %d and %d",
						replicas, s.v.String(), u.v.String(), gotS, gotU, surge, unavailable)
				}
			}
		}
	}
}

// The same of a StatefulSet: rounded down, but one at least. Reference: Kubernetes 1.36 pkg/controller/statefulset/stateful_set_utils.go,
// getStatefulSetMaxUnavailable; docs/model/controllers.md 4 maxUnavailable.
func TestMaxUnavailableOfAllSmallStatefulSets(t *testing.T) {
	t.Parallel()
	for replicas := 1; replicas <= 12; replicas++ {
		for _, u := range bounds(replicas) {
			want := u.down
			if want == 0 {
				want = 1
			}
			if got := StatefulUnavailable(&u.v, replicas); got != want {
				t.Fatalf("%d replicas, maxUnavailable %s: %d, want %d", replicas, u.v.String(), got, want)
			}
		}
	}
}
