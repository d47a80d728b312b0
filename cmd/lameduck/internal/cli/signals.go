package cli

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
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
