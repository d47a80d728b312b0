package lab

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// Worker is one more thread in a site's namespace, for what has to go on while flows do: a Lab
// does one thing at a time. It is on no particular processor.
type Worker struct{ work chan func() }

// Worker starts one. Close it before the Lab, or after.
func (l *Lab) Worker(name string) (*Worker, error) {
	ns := -1
	err := l.Do(name, func() (err error) {
		ns, err = unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("lab: open the network namespace of %s: %w", name, err)
	}
	w := &Worker{work: make(chan func())}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends here
		started <- unix.Setns(ns, unix.CLONE_NEWNET)
		for f := range w.work {
			f()
		}
	}()
	err = <-started
	if err != nil {
		close(w.work)
		err = fmt.Errorf("lab: enter %s: %w", name, err)
	}
	if failed := unix.Close(ns); err == nil && failed != nil {
		err = fmt.Errorf("lab: %w", failed)
	}
	return w, err
}

// Do calls f on the worker's thread. Programs that f starts are in its namespace, too.
func (w *Worker) Do(f func() error) error {
	done := make(chan error)
	w.work <- func() { done <- f() }
	return <-done
}

// Close ends the thread.
func (w *Worker) Close() { close(w.work) }
