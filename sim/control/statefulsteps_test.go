package control

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// realSteps is the digest of what Kubernetes' own controller, 1.36.3, does in each of 131,220 states: a line each, as
// test/e2e/statefulsteps prints them.
const realSteps = "adbc2fb8bbcab305a752328ca2edb9a6f05615afa92c54ad25a9107bd3c3440e"

// A sync of each state of a small StatefulSet does what the real controller does, and counts as it does.
func TestEverySyncIsThatOfTheRealController(t *testing.T) {
	t.Parallel()
	digest := sha256.New()
	n := 0
	for _, strategy := range []string{"partition-0", "partition-2", "OnDelete", "type-alone", "maxUnavailable-2"} {
		for _, policy := range []string{"OrderedReady", "Parallel"} {
			for _, size := range []int{2, 3} {
				in := statefulInput{
					replicas: size, parallel: policy == "Parallel", onDelete: strategy == "OnDelete", revision: 1, ofThat: 1, now: 1000 * sec,
					rolling: strategy != "OnDelete" && strategy != "type-alone",
				}
				switch strategy {
				case "partition-2":
					in.partition = 2
				case "maxUnavailable-2":
					in.unavailable = 2
				}
				for words := range podStates(4) {
					in.pods = statefulPods(words, in.now)
					fmt.Fprintf(digest, "%s %s %d [%s]: %s\n", strategy, policy, size, words, stepWords(&in))
					n++
				}
			}
		}
	}
	if got := fmt.Sprintf("%x", digest.Sum(nil)); got != realSteps || n != 131220 {
		t.Errorf("of %d states some are another than the controller's: digest %s; compare with what go run ./statefulsteps prints in test/e2e", n, got)
	}
}

// podStates goes through all states of so many ordinals, that of ordinal 0 changing first.
func podStates(ordinals int) func(yield func(string) bool) {
	states := strings.Fields("- o o! ox of n n! nx nf")
	all := 1
	for range ordinals {
		all *= len(states)
	}
	return func(yield func(string) bool) {
		for n := range all {
			words := make([]string, ordinals)
			for i := range words {
				words[i] = states[n%len(states)]
				n /= len(states)
			}
			if !yield(strings.Join(words, " ")) {
				return
			}
		}
	}
}

// stepWords say what a sync does, in no order, and the status that it writes.
func stepWords(in *statefulInput) string {
	plan := planStateful(in)
	var deeds []string
	for _, batch := range plan.batches {
		for _, d := range batch {
			switch {
			case d.undo:
				deeds = append(deeds, fmt.Sprintf("delete %d", d.ordinal))
			case d.pod == nil:
				deeds = append(deeds, fmt.Sprintf("create %d r%d", d.ordinal, d.revision))
			default:
				deeds = append(deeds, fmt.Sprintf("delete %d", d.pod.Ordinal))
			}
		}
	}
	slices.Sort(deeds)
	s := plan.status
	return fmt.Sprintf("%s | %d %d %d %d r%d %d", strings.Join(deeds, ", "), s.pods, s.ready, s.available, s.current, s.currentRevision, s.updated)
}
