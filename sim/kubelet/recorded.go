package kubelet

import (
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// Where the delays of pods are those of a recording, the kubelet writes what the API was told then, when it was
// told: that a pod is Running, that it is Ready, and its last phase. What the containers would do does not matter,
// and nobody probes.

// repeat has a pod do what was recorded of such a pod.
func (k *Kubelet) repeat(wk *Worker, p *api.Pod) {
	if wk == nil {
		wk = k.newWorker(p)
		k.startRecorded(wk, p)
	}
	if p.Deleting() && !wk.terminating {
		k.stopRecorded(wk, p)
	}
}

// startRecorded has a pod be Running, and Ready.
func (k *Kubelet) startRecorded(wk *Worker, p *api.Pod) {
	times := k.d.Recorded.Times(wk.Instance.Workload, wk.Instance.Revision)
	k.after(times.Start, "recorded: running", func() {
		if wk.terminating {
			return
		}
		wk.Instance.IP, wk.Instance.Sandbox = AddressOf(p, wk.spec), true
		k.d.Instances.add(wk.Instance)
		wk.Main.Running, wk.Main.Generation, wk.Instance.Running = true, 1, true
		k.d.setListening(wk.Instance, true, NotClosed)
		k.setStatus(wk, podStatus{phase: api.PhaseRunning, containersReady: times.Ready == 0, ready: times.Ready == 0, ip: wk.Instance.IP})
		if times.Ready <= 0 {
			return
		}
		k.after(times.Ready, "recorded: ready", func() {
			if wk.terminating {
				return
			}
			s := wk.status
			s.containersReady, s.ready = true, true
			k.setStatus(wk, s)
		})
	})
}

// stopRecorded has a pod come to its last phase. One that does not run yet is there at once.
func (k *Kubelet) stopRecorded(wk *Worker, p *api.Pod) {
	wk.terminating = true
	var stop engine.Time
	if wk.Instance.Running {
		stop = min(k.d.Recorded.Times(wk.Instance.Workload, wk.Instance.Revision).Stop, max(p.Grace, engine.Second))
	}
	k.after(stop, "recorded: stopped", func() {
		wk.Main.Running, wk.Instance.Running = false, false
		if wk.Instance.Sandbox {
			k.d.setListening(wk.Instance, false, ClosedOnTerm)
			k.d.sandboxGone(wk.Instance)
		}
		s := wk.status
		s.phase, s.containersReady, s.ready = api.PhaseSucceeded, false, false
		wk.cleanedUp = k.d.Engine.Now()
		k.setStatus(wk, s)
	})
}
