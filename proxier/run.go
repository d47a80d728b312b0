package proxier

import (
	"context"
	"errors"
	"time"
)

// errRunning is what a second Run gets.
var errRunning = errors.New("proxier: it is running already")

// Run syncs until the context ends, and then leaves the rules as they are, those of a sync under
// way included: it waits for that. It returns nil, or an error if the Proxier is running already.
func (p *Proxier) Run(ctx context.Context) error {
	if !p.running.CompareAndSwap(false, true) {
		return errRunning
	}
	defer p.running.Store(false)
	p.owner.start(time.Now())
	l := loop{Proxier: p, results: make(chan outcome, 1), timer: time.NewTimer(0)}
	defer l.timer.Stop()
	l.watcher, _ = p.owner.opts.Backend.(Watcher)
	for l.turn(ctx) {
		continue
	}
	return nil
}

// loop is one Run.
type loop struct {
	*Proxier
	results   chan outcome
	busy      bool // work is under way, and its result will be in results
	timer     *time.Timer
	watcher   Watcher // nil once it was asked
	disturbed <-chan struct{}
}

// watch has a Backend that can tell of strangers begin to, when its rules are in force for the first time: a
// kernel that tells of everything writes a message for each element of the first load.
func (l *loop) watch(ctx context.Context) {
	if l.watcher == nil {
		return
	}
	var err error
	l.disturbed, err = l.watcher.Watch(ctx)
	within := l.owner.opts.Pace.CheckInterval // the periodic check notices, too
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		l.owner.opts.Log.Info("Foreign changes of the rules are noticed by looking for them only", "reason", err.Error(), "noticedWithin", within)
	case err != nil:
		l.owner.opts.Log.Error(err, "foreign changes of the rules are not noticed at once", "noticedWithin", within)
	}
	l.watcher = nil
}

// turn starts what is due and waits for the next thing to happen. It returns false at the end.
func (l *loop) turn(ctx context.Context) bool {
	l.startWork()
	select {
	case <-ctx.Done():
		if l.busy {
			l.owner.finish(<-l.results)
		}
		return false
	case <-l.inbox.wake:
		l.owner.take(l.inbox.take(), time.Now())
	case r := <-l.results:
		l.busy = false
		l.owner.finish(r)
		if r.err == nil {
			l.watch(ctx)
		}
	case _, ok := <-l.disturbed:
		if !ok {
			l.disturbed = nil
			break
		}
		l.owner.disturbed(time.Now())
	case <-l.timer.C:
	}
	return true
}

// startWork starts what is due, or sets the timer to when something is.
func (l *loop) startWork() {
	l.timer.Stop()
	if l.busy {
		return
	}
	work, wait := l.owner.next(time.Now())
	switch {
	case work != nil:
		l.busy = true
		go func() { l.results <- work() }()
	case wait > 0:
		l.timer.Reset(wait)
	}
}

// Once programs all that has been delivered, whether or not it is all there is, and cleans up
// after it. It is for a proxy that is to do no more than that; the error says what failed.
func (p *Proxier) Once() error {
	if !p.running.CompareAndSwap(false, true) {
		return errRunning
	}
	defer p.running.Store(false)
	o := p.owner
	o.start(time.Now())
	b := p.inbox.take()
	b.synced = true
	o.take(b, time.Now())
	if o.node == nil {
		return errors.New("proxier: the node is not known")
	}
	r := o.sync(time.Now(), true)()
	o.finish(r)
	if r.err != nil || !o.cleaning {
		return r.err
	}
	r = o.clean(r.end)()
	o.finish(r)
	return r.err
}
