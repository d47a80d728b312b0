package placement

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

func all(c *Cluster) []int {
	var out []int
	for n := range c.nodes {
		out = append(out, n)
	}
	return out
}

// LeastAllocated and the balance of CPU and memory are what the scheduler makes of them in floating point. Reference: Kubernetes 1.36
// pkg/scheduler/framework/plugins/noderesources (leastResourceScorer, balancedResourceScorer).
func TestScoresOfRequests(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 2))
		cpu, memory := 500+r.Int64N(8000), (256+r.Int64N(16000))<<20
		asksCPU, asksMemory := r.Int64N(900), r.Int64N(900)<<20
		if r.IntN(4) == 0 {
			asksMemory = 0
		}
		c := New(nodesOf(fmt.Sprintf("a cpu=%dm memory=%d", cpu, memory)), nil)
		words := fmt.Sprintf("cpu=%dm", asksCPU)
		if asksMemory > 0 {
			words += fmt.Sprintf(" memory=%d", asksMemory)
		}
		k := c.Add(podOf(words, nil))
		there := r.IntN(4)
		for range there {
			c.Count(k, 0, false, 1)
		}
		try := c.Try(k)
		scored := [2]int64{asksCPU, asksMemory}
		if asksMemory == 0 {
			scored[1] = 200 << 20
		}
		least := func(used, room int64) int64 {
			if used > room {
				return 0
			}
			return (room - used) * 100 / room
		}
		pods := int64(there + 1)
		want := (least(pods*scored[0], cpu) + least(pods*scored[1], memory)) / 2
		if got := try.byFit([]int{0})[0]; got != want {
			t.Fatalf("seed %d: fit %d, want %d", seed, got, want)
		}
		balanced := func(pods int64) int64 {
			a, b := math.Min(1, float64(pods*asksCPU)/float64(cpu)), math.Min(1, float64(pods*asksMemory)/float64(memory))
			return int64((1 - math.Abs(a-b)/2) * 100)
		}
		wantBalance := 50 + (50+balanced(pods)-balanced(pods-1))/2
		if asksCPU+asksMemory == 0 {
			wantBalance = 0
		}
		if got := try.byBalance([]int{0})[0]; got < wantBalance-1 || got > wantBalance+1 { // by floating point just below a whole number
			t.Fatalf("seed %d: balance %d, want %d", seed, got, wantBalance)
		}
	}
}

// A constraint that only counts weighs a domain's pods by the logarithm of how many domains there are. Reference: Kubernetes 1.36
// pkg/scheduler/framework/plugins/podtopologyspread/scoring.go.
func TestScoresOfSpread(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 3))
		var words []string
		for range 2 + r.IntN(5) {
			words = append(words, []string{"a", "b", "c"}[r.IntN(3)])
		}
		c := New(nodesOf(words...), nil)
		skews := []int{1 + r.IntN(3), 1 + r.IntN(5)}
		keys := []string{corev1.LabelHostname, corev1.LabelTopologyZone}
		pod := podOf("", nil)
		pod.Owner = labels.SelectorFromSet(labels.Set{"app": "web"})
		own := r.IntN(2) == 0
		if own {
			for i := range keys {
				spread(keys[i], func(t *corev1.TopologySpreadConstraint) {
					t.MaxSkew, t.WhenUnsatisfiable = int32(skews[i]), corev1.ScheduleAnyway
				})(pod.Spec)
			}
		} else {
			skews = []int{3, 5} // the defaults
		}
		k := c.Add(pod)
		pods, zones := make([]int, len(words)), map[string]int{}
		for n := range words {
			for range r.IntN(4) {
				c.Count(k, n, false, 1)
				pods[n]++
			}
			zones[words[n]] += pods[n]
		}
		c.Count(k, 0, true, 1) // it terminates, and does not count
		var want []int64
		for n := range words {
			sum := float64(pods[n])*math.Log(float64(len(words)+2)) + float64(skews[0]-1) + float64(zones[words[n]])*math.Log(float64(len(zones)+2)) + float64(skews[1]-1)
			want = append(want, int64(math.Round(sum)))
		}
		low, high := slices.Min(want), slices.Max(want)
		for n := range want {
			if high == 0 {
				want[n] = 100
			} else {
				want[n] = 100 * (high + low - want[n]) / high
			}
		}
		if got := c.Try(k).bySpread(all(c)); !slices.Equal(got, want) {
			t.Fatalf("seed %d: %v, want %v", seed, got, want)
		}
	}
}

// preferring is a pod with a preferred term about pods of an app, of anti-affinity where the weight is less than 0.
func preferring(key, app string, weight int32) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) {
		term := corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}}
		if weight < 0 {
			s.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: -weight, PodAffinityTerm: term}}}}
		} else {
			s.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: weight, PodAffinityTerm: term}}}}
		}
	}
}

// What a preference of the input decides; without one the emptiest node is taken, the first of several. A pod of another kind, of app db, is on
// the first node. Reference: docs/model/controllers.md 5 Scores.
func TestWhichNodeIsChosen(t *testing.T) {
	t.Parallel()
	ssd := func(s *corev1.PodSpec) {
		s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{
			Weight: 1, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "disk", Operator: corev1.NodeSelectorOpIn, Values: []string{"ssd"}}}},
		}}}}
	}
	none := func(*corev1.PodSpec) {}
	for _, c := range []struct {
		name  string
		nodes []string
		pod   func(*corev1.PodSpec)
		db    func(*corev1.PodSpec)
		asks  string
		want  []int // chance decides among these
	}{
		{"nothing is preferred", []string{"a", "b", "c"}, none, none, "", []int{1}},
		{"near the database", []string{"a", "b", "c"}, preferring(corev1.LabelHostname, "db", 10), none, "", []int{0}},
		{"in the zone of the database, on the emptier node", []string{"a", "a", "b"}, preferring(corev1.LabelTopologyZone, "db", 10), none, "", []int{1}},
		{"far from the database", []string{"a", "a", "b", "c"}, preferring(corev1.LabelTopologyZone, "db", -10), none, "", []int{2, 3}},
		{"the database wants it near", []string{"a", "b", "c"}, none, preferring(corev1.LabelHostname, "web", 10), "", []int{0}},
		{"the database needed it near", []string{"a", "b", "c"}, none, near(corev1.LabelHostname, "web"), "", []int{0}},
		{"a disk", []string{"a x:y", "b disk:ssd", "c x:y"}, ssd, none, "", []int{1}},
		{"a taint that only counts", []string{"a x:y", "b soft", "c soft"}, none, none, "", []int{0}},
		{"a taint that keeps it off another node", []string{"a x:y", "b taint", "c x:y", "d x:y"}, none, none, "", []int{2}},
		{"the node with most CPU left, of those with a device", []string{"a cpu=8", "b cpu=4 nvidia.com/gpu=1", "c cpu=6 nvidia.com/gpu=1"}, none, none, "cpu=1 nvidia.com/gpu=1", []int{2}},
		{"the node with most CPU left", []string{"a cpu=2", "b cpu=4", "c cpu=8"}, none, none, "cpu=1", []int{2}},
		{"requests on nodes that do not say what they have", []string{"a", "b", "c"}, none, none, "cpu=1", []int{1}},
	} {
		cluster := New(nodesOf(c.nodes...), nil)
		db := podOf("", c.db)
		db.Labels, db.Group = map[string]string{"app": "db"}, 1
		cluster.Count(cluster.Add(db), 0, false, 1)
		k := cluster.Add(podOf(c.asks, c.pod))
		seen := map[int]bool{}
		for i := range 6 {
			seen[cluster.Choose(k, func(n int) int { return i % n })] = true
		}
		for _, n := range c.want {
			if !seen[n] {
				t.Errorf("%s: node %d is never chosen", c.name, n)
			}
		}
		if len(seen) != len(c.want) {
			t.Errorf("%s: %v, want %v", c.name, seen, c.want)
		}
	}
}

// Pods without spread constraints are spread by the selectors of what made them; an empty one matches all pods, and is none. Reference:
// docs/model/controllers.md 5 Scores; Kubernetes 1.36 pkg/scheduler/framework/plugins/podtopologyspread, buildDefaultConstraints.
func TestDefaultSpreadConstraints(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct { // order: each for itself
		selector labels.Selector
		want     int
	}{
		"of nobody": {nil, 0}, "of everything": {labels.Everything(), 0}, "of web": {labels.SelectorFromSet(labels.Set{"app": "web"}), 2},
	} {
		if got := defaultConstraints(c.selector); len(got) != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Where nothing tells nodes apart the first of the emptiest is taken, or, for a pod whose node matters, any of them by chance.
func TestWhatIsDrawnWhereNothingTellsNodesApart(t *testing.T) {
	t.Parallel()
	for drawn, want := range map[bool][]int{false: {1}, true: {1, 2}} {
		cluster := New(nodesOf("a", "b", "c"), nil)
		other := podOf("", nil)
		other.Group = 1
		cluster.Count(cluster.Add(other), 0, false, 1)
		web := podOf("", nil)
		web.Drawn = drawn
		k, seen := cluster.Add(web), map[int]bool{}
		for i := range 6 {
			seen[cluster.Choose(k, func(n int) int { return i % n })] = true
		}
		for n := range 3 {
			if seen[n] != slices.Contains(want, n) {
				t.Errorf("drawn %v: %v, want %v", drawn, seen, want)
			}
		}
	}
}
