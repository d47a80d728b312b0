package cluster

import (
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Dark is what a client would see of a run that resolved the name of a headless Service and knows
// every pod. A pod goes dark when it is usable no more (see Usable): its listener has closed, or
// it is not Ready. It is dark until another takes its place: that of the same name where pods keep
// their names, as those of a StatefulSet. The pods of a Deployment do so in no particular order: the
// first to become usable stands in for the one that has been dark the longest. A pod whose successor
// was there before it went is dark for no time.
type Dark struct {
	// Pods has the time of each pod that went, in the order of going; of those that nobody has
	// replaced it is the time until now.
	Pods []engine.Time
	// Order has their names where pods keep them, else it is nil.
	Order   []string
	Most    int         // dark at one moment
	Rollout engine.Time // from the first new template to the last pod that came or went; 0 without one
}

// darkPods keeps account of one workload's dark pods.
type darkPods struct {
	gone  []darkPod
	spare int // usable pods that came before the pod they replace went
	now   int // that are dark
	most  int
	begun engine.Time // of the first rollout, never before it
	last  engine.Time // when a pod last came or went
}

// darkPod is one that went; until is when it was replaced.
type darkPod struct {
	name        string // "" where names are not kept
	from, until engine.Time
	back        bool
}

// change hears that a pod became usable or ceased to be; name is "" where names are not kept.
func (d *darkPods) change(now engine.Time, name string, usable bool) {
	d.last = now
	if usable {
		d.came(now, name)
		return
	}
	p := darkPod{name: name, from: now, until: now}
	if d.spare > 0 {
		d.spare--
		p.back = true
	} else {
		d.now++
	}
	d.gone = append(d.gone, p)
	d.most = max(d.most, d.now)
}

func (d *darkPods) came(now engine.Time, name string) {
	for i := range d.gone {
		if p := &d.gone[i]; !p.back && p.name == name {
			p.until, p.back = now, true
			d.now--
			return
		}
	}
	if name == "" {
		d.spare++
	}
}

// rollOut hears that a workload has a new template.
func (d *darkPods) rollOut(now engine.Time) {
	if d.begun == api.Never {
		d.begun = now
	}
}

// Dark returns the figures of a workload until now. They take its size for constant: a pod that
// scaling down took is dark as if it were to come back.
func (w *World) Dark(workload int) Dark {
	d := &w.usable[workload].dark
	out := Dark{Most: d.most}
	for _, p := range d.gone {
		if !p.back {
			p.until = w.eng.Now()
		}
		out.Pods = append(out.Pods, p.until-p.from)
		if p.name != "" {
			out.Order = append(out.Order, p.name)
		}
	}
	if d.begun != api.Never {
		out.Rollout = max(0, d.last-d.begun)
	}
	return out
}

// Gap is a time in which a pod that keeps its name was gone: until another of its name could serve in its place.
type Gap struct {
	Pod  string
	For  engine.Time
	Back bool // another came; else For is the time until now
}

// Gaps returns those of a workload whose pods keep their names, in the order in which the pods went, and how many were gone at one moment;
// none of others.
func (w *World) Gaps(workload int) (gaps []Gap, most int) {
	if w.sc.Workloads[workload].Kind() != world.StatefulSet {
		return nil, 0
	}
	d := &w.usable[workload].dark
	for _, p := range d.gone {
		if !p.back {
			p.until = w.eng.Now()
		}
		gaps = append(gaps, Gap{Pod: p.name, For: p.until - p.from, Back: p.back})
	}
	return gaps, d.most
}
