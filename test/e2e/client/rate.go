package client

import (
	"context"
	"sync"
	"time"
)

// StartAtRate starts a load that makes a request each interval, whether or not others are under
// way: what is lost is a share of the traffic that there was to be, as a simulator counts it. next
// says which target is asked, and limit how long a request may take.
func StartAtRate(ctx context.Context, interval, limit time.Duration, next func() int, targets ...Target) *Load {
	ctx, stop := context.WithCancel(ctx)
	l := &Load{targets: targets, stop: stop, done: make(chan struct{})}
	go func() {
		defer close(l.done)
		var group sync.WaitGroup
		defer group.Wait()
		begin := time.Now()
		for n := time.Duration(1); ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Until(begin.Add(n * interval))): // one that is late is made up for
			}
			i := next()
			group.Go(func() { l.one(ctx, i, limit) })
		}
	}()
	return l
}
