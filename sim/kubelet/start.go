package kubelet

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/event"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// initialization is how far a pod has come with its init containers: one by one, the next when the
// kubelet sees that an ordinary one has ended, or that a sidecar is started, which one with a startup
// probe is when that has succeeded (docs/model/pod-lifecycle.md 4.2; Kubernetes 1.36 pkg/kubelet/
// kuberuntime/kuberuntime_container.go, computeInitContainerActions; recalled).
type initialization struct {
	at    int  // in spec.initContainers: what is started, or was last; past the end the containers
	ended bool // the ordinary init container at that place has
	timer engine.Handle
}

// start begins the start sequence of a pod: sandbox, init containers, then containers.
func (k *Kubelet) start(p *api.Pod) { k.newWorker(p).startUp(p) }

// startUp begins the start sequence from the beginning, when the pod has its volumes.
func (wk *Worker) startUp(p *api.Pod) {
	if wk.k.d.Volumes == nil {
		wk.makeSandbox(p)
		return
	}
	wk.busy++
	wk.k.d.Volumes.Mount(p, wk.k.whileRunning(func() {
		if !wk.terminating {
			wk.busy--
			wk.makeSandbox(p)
		}
	}))
}

func (wk *Worker) makeSandbox(p *api.Pod) {
	k := wk.k
	sandbox := k.d.Latencies.Sandbox.Sample(k.d.Engine.Stream(wk.name, "sandbox").Draw(wk.made))
	k.after(sandbox, "sandbox ready", func() {
		if wk.terminating {
			return
		}
		again := wk.Instance.IP.IsValid()
		wk.Instance.IP = AddressOf(p, wk.spec)
		wk.Instance.Sandbox = true
		k.d.Instances.add(wk.Instance)
		if again {
			k.d.Observer.SandboxBack(wk.Instance)
		}
	})
	wk.startNext(sandbox)
}

// startNext starts the init container whose turn it is, or the containers after the last one, in a
// sync that has so much to do before. Nobody knows beforehand that an init container would fail: each
// of them is taken to succeed.
func (wk *Worker) startNext(before engine.Time) {
	wk.busy++
	wk.init.ended, wk.init.timer = false, engine.Handle{}
	d := wk.k.d
	if inits := wk.spec.InitContainers; wk.init.at < len(inits) {
		spec := &inits[wk.init.at]
		before += wk.k.pulls(before, *spec)
		begin := d.Latencies.ContainerStart.Sample(d.Engine.Stream(wk.name+"/"+spec.Name, "container start").Draw(wk.made))
		wk.k.after(before+begin, "init container started", func() {
			if wk.terminating {
				return
			}
			wk.beginInit(spec)
		})
		return
	}
	before += wk.k.pulls(before, wk.spec.Containers...)
	begin := d.Latencies.ContainerStart.Sample(d.Engine.Stream(wk.name, "container start").Draw(wk.made))
	wk.k.after(before+begin, "containers started", func() {
		if !wk.terminating {
			wk.beginFrom(0)
		}
	})
}

// pulls is how long it takes, after so much else, until the node has the images of some containers: what it does not have is pulled once, and one
// image after another, as the kubelet does unless its configuration says otherwise (docs/model/pod-lifecycle.md 4.2 Image pulls).
func (k *Kubelet) pulls(before engine.Time, containers ...corev1.Container) engine.Time {
	pull := k.d.Latencies.ImagePull
	if pull == nil {
		return 0
	}
	begin := k.d.Engine.Now() + before
	ready := begin
	for i := range containers {
		image := containers[i].Image
		at, known := k.images[image]
		if !known {
			at = max(begin, k.pulled) + pull.Sample(k.d.Engine.Stream(fmt.Sprintf("kubelet of node %d/%s", k.node, image), "image pull").Draw(0))
			if k.images == nil {
				k.images = map[string]engine.Time{}
			}
			k.images[image], k.pulled = at, at
		}
		ready = max(ready, at)
	}
	return ready - begin
}

// beginFrom starts the containers from a place on, one after another: the next when the postStart hook of the one before has ended.
func (wk *Worker) beginFrom(at int) {
	for ; at < len(wk.All); at++ {
		if c := wk.All[at]; !c.sidecar {
			c.begin()
			if c.hook.After.Why != "" {
				c.posted(func() { wk.beginFrom(at + 1) })
				return
			}
		}
	}
	wk.syncDone()
}

// posted goes on when the container's postStart hook has ended, which the pod's worker waits for.
func (c *Container) posted(then func()) {
	d := c.wk.k.d
	span := c.hook.After.Duration.Sample(d.Engine.Stream(c.String(), "postStart").Draw(c.number()))
	c.wk.k.after(span, "postStart ended", func() {
		switch {
		case c.wk.terminating:
		case c.hook.After.Fails && c.Running:
			c.stop(world.GraceOf(c.wk.spec), event.Crashed, then)
		default:
			then()
		}
	})
}

// stop has the kubelet kill a container, and goes on when it has ended.
func (c *Container) stop(grace engine.Time, how event.Ending, then func()) {
	c.stopped = func() {
		if !c.wk.terminating {
			then()
		}
	}
	c.runHook(grace, func(left engine.Time) {
		if c.Running && !c.wk.terminating {
			c.signal(max(minimumGrace, left), how)
		}
	})
}

// beginAlone starts one container in a sync of its own.
func (c *Container) beginAlone() {
	c.begin()
	if c.hook.After.Why != "" {
		c.posted(c.wk.syncDone)
		return
	}
	c.wk.syncDone()
}

// beginInit starts the process of an init container. An ordinary one ends by itself, and the kubelet
// sees that at the next relist.
func (wk *Worker) beginInit(spec *corev1.Container) {
	if c := wk.sidecar(spec); c != nil {
		c.beginAlone()
		return
	}
	wk.init.ended = false
	span := wk.Instance.App.Init.Sample(wk.k.d.Engine.Stream(wk.name+"/"+spec.Name, "init").Draw(wk.made))
	wk.init.timer = wk.k.inPod(span, "init container ended", func() {
		wk.init.ended = true
		wk.noticed()
	})
	wk.syncDone()
}

// initialize goes on to the next init container, or to the containers, if the one before has come
// as far as it has to.
func (wk *Worker) initialize() {
	inits := wk.spec.InitContainers
	if wk.init.at >= len(inits) || wk.busy > 0 {
		return
	}
	c := wk.sidecar(&inits[wk.init.at])
	if c != nil && c.shown.started || c == nil && wk.init.ended {
		wk.init.at++
		wk.startNext(0)
	}
}

// initialized says that the containers have been started: until then the pod is Pending, also where the server is a sidecar that runs.
func (wk *Worker) initialized() bool { return wk.All[0].Generation > 0 }

// sidecar returns the container of an init container that goes on beside the others, nil for an
// ordinary one.
func (wk *Worker) sidecar(spec *corev1.Container) *Container {
	if !world.Sidecar(spec) {
		return nil
	}
	for _, c := range wk.All {
		if c.spec == spec {
			return c
		}
	}
	return nil
}
