package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"time"
)

// untilSignalled returns a context that ends with the first SIGINT or SIGTERM, and which one that was, nil for none yet. A
// second signal has its usual effect: it ends the program at once.
func untilSignalled() (ctx context.Context, stopped func() os.Signal, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	var first atomic.Pointer[os.Signal]
	go func() {
		select {
		case s := <-signals:
			first.Store(&s)
			signal.Stop(signals)
			cancel()
		case <-ctx.Done():
		}
	}()
	stopped = func() os.Signal {
		if s := first.Load(); s != nil {
			return *s
		}
		return nil
	}
	return ctx, stopped, func() { signal.Stop(signals); cancel() }
}

// lastWait is how long the work is waited for after the first signal, so that all is over within a second of it.
const lastWait = 800 * time.Millisecond

// inTime does some work. Where it goes on for long after ctx has ended, it is left alone, and ended is false.
func inTime[T any](ctx context.Context, wait time.Duration, work func() (T, error)) (result T, ended bool, err error) {
	type outcome struct {
		result T
		err    error
		fault  any // what it panicked with
	}
	done := make(chan outcome, 1)
	go func() {
		var out outcome
		defer func() {
			if r := recover(); r != nil {
				out.fault = fmt.Sprintf("%v\n%s", r, debug.Stack())
			}
			done <- out
		}()
		out.result, out.err = work()
	}()
	var out outcome
	select {
	case out = <-done:
	case <-ctx.Done():
		select {
		case out = <-done:
		case <-time.After(wait):
			return result, false, nil
		}
	}
	if out.fault != nil {
		panic(out.fault)
	}
	return out.result, true, out.err
}

// interruptedBy is the error of work that a signal has ended.
func interruptedBy(s os.Signal) error {
	if s == syscall.SIGTERM {
		return errTerminated
	}
	return errInterrupted
}
