package kubelet

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/test/e2e/app"
	"github.com/lameduck-proxy/lameduck/test/e2e/network"
)

// worker runs one pod, from when it was bound to when its object is deleted.
type worker struct {
	*Kubelet
	pod    *corev1.Pod // as first seen
	place  atomic.Pointer[network.Pod]
	status *status

	once    sync.Once
	deleted chan struct{} // closed when the pod is to end
	grace   time.Duration // from then on
}

func newWorker(k *Kubelet, pod *corev1.Pod) *worker {
	return &worker{Kubelet: k, pod: pod, deleted: make(chan struct{}), status: newStatus(k, pod)}
}

// terminate has the pod end. The first call counts: a kill that has begun is not cut short by a
// second deletion (docs/model/pod-lifecycle.md 2.1; that of a kubelet whose kill has yet to begin
// is).
func (w *worker) terminate(grace time.Duration) {
	w.once.Do(func() {
		w.grace = max(grace, time.Second)
		close(w.deleted)
	})
}

// run is the pod's life. The status is written by the side, and last of all the object deleted.
func (w *worker) run() {
	defer w.forget(w)
	written := make(chan struct{})
	go func() {
		defer close(written)
		w.status.run(w.ctx)
	}()
	w.live()
	w.status.end()
	<-written
	if w.ctx.Err() == nil {
		w.status.remove(w.ctx)
	}
}

// live runs the pod until its sandbox is gone and its last status known.
func (w *worker) live() {
	s, err := read(w.pod)
	if err != nil {
		w.status.failed(err)
		w.wait()
		return
	}
	place, err := w.Node.Pod(w.pod.Namespace + "/" + w.pod.Name)
	if err != nil {
		w.status.failed(err)
		w.wait()
		return
	}
	w.place.Store(place)
	code, err := w.container(s, place)
	if err != nil {
		w.Log.Error(err, "A pod's app failed", "pod", w.pod.Name)
	}
	if err := place.Close(); err != nil {
		w.Log.Error(err, "A pod's network was not removed", "pod", w.pod.Name)
	}
	w.status.ended(code)
	w.wait()
}

// wait waits for the pod's deletion.
func (w *worker) wait() {
	select {
	case <-w.deleted:
	case <-w.ctx.Done():
	}
}

// container runs the app, and returns its exit code.
func (w *worker) container(s *spec, place *network.Pod) (int, error) {
	select {
	case <-time.After(w.ContainerStart):
	case <-w.deleted:
		return app.ExitKilled, nil // nothing runs yet
	case <-w.ctx.Done():
		return app.ExitKilled, nil
	}
	a := app.Start(w.pod.Name, s.app, place)
	w.status.running(place.Addrs, s.readiness == nil)
	ctx, stop := context.WithCancel(w.ctx)
	var probing sync.WaitGroup
	if s.readiness != nil {
		probing.Go(func() { w.probe(ctx, s.readiness, place.Addrs[0]) })
	}
	// Readiness is probed until the container has stopped (docs/model/pod-lifecycle.md 3.4).
	defer probing.Wait()
	defer stop()
	select {
	case <-w.deleted:
		w.kill(s, a)
	case <-a.Ended():
		code, err := a.Exit()
		return code, fmt.Errorf("it ended by itself, and this kubelet restarts none: %w", err)
	case <-w.ctx.Done():
		a.Kill()
	}
	<-a.Ended()
	return a.Exit()
}

// minimumGrace is what any kill leaves a container after preStop (docs/model/pod-lifecycle.md 2.1).
const minimumGrace = 2 * time.Second

// kill is preStop, SIGTERM and, when the grace period is over, SIGKILL.
func (w *worker) kill(s *spec, a *app.App) {
	from := time.Now()
	if s.preStop > 0 {
		w.sleep(min(s.preStop, w.grace), a)
	}
	a.Terminate()
	left := max(w.grace-time.Since(from).Truncate(time.Second), minimumGrace)
	w.sleep(left, a)
	select {
	case <-a.Ended():
	default:
		a.Kill()
	}
}

// sleep returns when the time is over, or the app or the kubelet ends.
func (w *worker) sleep(d time.Duration, a *app.App) {
	select {
	case <-time.After(d):
	case <-a.Ended():
	case <-w.ctx.Done():
	}
}
