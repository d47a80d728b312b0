package cluster

import (
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// Dark is what a client would see of a run that resolved the name of a headless Service and knows
// every pod. A pod goes dark when it is usable no more (see Usable): its listener has closed, or
// it is not Ready. It is dark until another takes its place, which the pods of a Deployment do in
// no particular order: the first to become usable stands in for the one that has been dark the
// longest. A pod whose successor was there before it went is dark for no time.
type Dark struct {
	// Pods has the time of each pod that went, in the order of going; of those that nobody has
	// replaced it is the time until now.
	Pods    []engine.Time
	Most    int         // dark at one moment
	Rollout engine.Time // from the first new template to the last pod that came or went; 0 without one
}

// darkPods keeps account of one workload's dark pods. Those that were replaced are always the
// first ones of gone: none is spare while another is missing.
type darkPods struct {
	gone     []darkPod
	replaced int
	spare    int // usable pods that came before the pod they replace went
	most     int
	begun    engine.Time // of the first rollout, never before it
	last     engine.Time // when a pod last came or went
}

// darkPod is one that went; until is when it was replaced.
type darkPod struct{ from, until engine.Time }

// change hears that a pod became usable or ceased to be.
func (d *darkPods) change(now engine.Time, usable bool) {
	d.last = now
	if usable {
		d.came(now)
		return
	}
	d.gone = append(d.gone, darkPod{now, now})
	if d.spare > 0 {
		d.spare--
		d.replaced++
	}
	d.most = max(d.most, len(d.gone)-d.replaced)
}

func (d *darkPods) came(now engine.Time) {
	if d.replaced == len(d.gone) {
		d.spare++
		return
	}
	d.gone[d.replaced].until = now
	d.replaced++
}

// rollOut hears that a Deployment has a new template.
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
	for i, p := range d.gone {
		if i >= d.replaced {
			p.until = w.eng.Now()
		}
		out.Pods = append(out.Pods, p.until-p.from)
	}
	if d.begun != api.Never {
		out.Rollout = max(0, d.last-d.begun)
	}
	return out
}
