package record

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// Gap is a time in which a pod of a StatefulSet was gone: until another of its name could serve in its place.
type Gap struct {
	Pod  string
	For  engine.Time
	Back bool // another came; else For is the time until the end of the run
}

// SetGaps are the gaps of one StatefulSet in a run, in the order in which its pods went.
type SetGaps struct {
	Workload string // "ns/name"
	Pods     []Gap
	Most     int // pods that were gone at one moment
}

// Gaps are those of one StatefulSet over all runs of a case.
type Gaps struct {
	Workload string
	Pods     []PodGap // in the order in which they went in the first run
	Most     Range    // pods that were gone at one moment, per run; 0 in one in which none went
}

// PodGap is how long one pod was gone.
type PodGap struct {
	Pod string
	// For are nanoseconds, of all its gaps in all runs that came to an end; 0 without one.
	For Range
	// NotBack counts the runs at whose end nobody had come in its place.
	NotBack int
}

// gapsOf puts together what the runs say of each StatefulSet, in the order in which they name them.
func gapsOf(runs []Run) []Gaps {
	var out []Gaps
	for i := range runs {
		for _, g := range runs[i].Gaps {
			if !slices.ContainsFunc(out, func(o Gaps) bool { return o.Workload == g.Workload }) {
				out = append(out, gapsOfOne(runs, g.Workload))
			}
		}
	}
	return out
}

func gapsOfOne(runs []Run, workload string) Gaps {
	out := Gaps{Workload: workload}
	ended := map[string][]int64{}
	most := make([]int64, len(runs))
	for i := range runs {
		for _, g := range runs[i].Gaps {
			if g.Workload != workload {
				continue
			}
			most[i] = int64(g.Most)
			for _, p := range g.Pods {
				at := slices.IndexFunc(out.Pods, func(o PodGap) bool { return o.Pod == p.Pod })
				if at < 0 {
					at = len(out.Pods)
					out.Pods = append(out.Pods, PodGap{Pod: p.Pod})
				}
				if !p.Back {
					out.Pods[at].NotBack++
					continue
				}
				ended[p.Pod] = append(ended[p.Pod], int64(p.For))
			}
		}
	}
	out.Most = rangeOf(most)
	for i := range out.Pods {
		if spans := ended[out.Pods[i].Pod]; len(spans) > 0 {
			out.Pods[i].For = rangeOf(spans)
		}
	}
	return out
}

// gapBounds are the shortest and the longest gap of any pod, ended or not, of a run.
func (r *Run) gapBounds() (least, most engine.Time) {
	least = engine.Never
	for _, g := range r.Gaps {
		for _, p := range g.Pods {
			least, most = min(least, p.For), max(most, p.For)
		}
	}
	return least, most
}

// WithoutPod is for how long no pod of the case's workload could answer, whether or not anybody asked: 0 where one could all the time. What a
// client loses may be longer, since it waits for an answer, or shorter.
func (r *Run) WithoutPod() engine.Time {
	if r.Usable.Of == 0 || r.Usable.Min > 0 {
		return 0
	}
	return r.Usable.For
}
