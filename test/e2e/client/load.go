package client

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// Target is what a load asks.
type Target struct {
	Name string // for reports
	Dial Dial
	To   netip.AddrPort
}

// Record is what became of a request.
type Record struct {
	At      time.Time // its start
	Took    time.Duration
	Target  int // its number
	Pod     string
	Failure error
}

// Load asks targets in turn, each request over a connection of its own, until it is stopped.
type Load struct {
	targets []Target
	stop    context.CancelFunc
	done    chan struct{}

	mu      sync.Mutex
	records []Record
}

// Limit is how long a request may take. Two first packets that get lost are within it: a client that
// wants none to get lost looks at Slowest.
const Limit = 5 * time.Second

// Start starts a load with a pause between requests; without any, it is as fast as it goes.
func Start(ctx context.Context, pause time.Duration, targets ...Target) *Load {
	ctx, stop := context.WithCancel(ctx)
	l := &Load{targets: targets, stop: stop, done: make(chan struct{})}
	go func() {
		defer close(l.done)
		for i := 0; ctx.Err() == nil; i = (i + 1) % len(targets) {
			l.one(ctx, i, Limit)
			if pause > 0 {
				select {
				case <-ctx.Done():
				case <-time.After(pause):
				}
			}
		}
	}()
	return l
}

// one makes a request. One that has begun is let finish when the load is stopped.
func (l *Load) one(ctx context.Context, i int, limit time.Duration) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	r := Record{At: time.Now(), Target: i}
	a, err := Get(ctx, l.targets[i].Dial, l.targets[i].To)
	r.Took, r.Pod, r.Failure = time.Since(r.At), a.Pod, err
	l.mu.Lock()
	l.records = append(l.records, r)
	l.mu.Unlock()
}

// Count is how many requests there were so far.
func (l *Load) Count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.records)
}

// Stop ends the load, and returns what became of all requests.
func (l *Load) Stop() Report {
	l.stop()
	<-l.done
	return Report{Targets: l.targets, Records: l.records}
}

// Report is what became of a load.
type Report struct {
	Targets []Target
	Records []Record
}

// Failures are the requests that failed.
func (r Report) Failures() []Record {
	return slices.DeleteFunc(slices.Clone(r.Records), func(x Record) bool { return x.Failure == nil })
}

// Slowest is how long the slowest request took.
func (r Report) Slowest() time.Duration {
	var most time.Duration
	for _, x := range r.Records {
		most = max(most, x.Took)
	}
	return most
}

// Pods counts the answers of each pod since a moment.
func (r Report) Pods(since time.Time) map[string]int {
	out := map[string]int{}
	for _, x := range r.Records {
		if x.Failure == nil && !x.At.Before(since) {
			out[x.Pod]++
		}
	}
	return out
}

// String says how many requests there were, and what became of the first that failed.
func (r Report) String() string {
	var b strings.Builder
	failed := r.Failures()
	fmt.Fprintf(&b, "%d requests, %d failed, the slowest took %s, answers %v", len(r.Records), len(failed), r.Slowest().Round(time.Millisecond), r.Pods(time.Time{}))
	for i, x := range failed {
		if i == 5 {
			fmt.Fprintf(&b, "\n  ...")
			break
		}
		fmt.Fprintf(&b, "\n  %s %s: after %s: %v", x.At.Format("15:04:05.000"), r.Targets[x.Target].Name, x.Took.Round(time.Millisecond), x.Failure)
	}
	return b.String()
}
