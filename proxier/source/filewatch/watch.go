// Package filewatch has files looked at when what paths stand for may be another than before: after a file was written, or
// replaced by another as editors do, after a symbolic link was exchanged on the way to it as a kubelet does with a
// mounted ConfigMap, and now and then, since network file systems tell of nothing.
//
//	notifications of directories -> Run -> Look, which reads
//
// It reads no file itself: its caller looks, and knows what it saw last.
package filewatch

import (
	"context"
	"slices"
	"time"

	"github.com/go-logr/logr"
)

const (
	// Quiet is how long nothing has to change before files are looked at: a program writes a file in several steps.
	Quiet = 100 * time.Millisecond
	// Patience is how long a program that never stops writing can hold that up.
	Patience = time.Second
	// Interval is how often files are looked at without a word from the Watcher, and a Watcher that failed opened again.
	Interval = 30 * time.Second
)

// Options say what is looked at.
type Options struct {
	// Paths are files and directories; a directory stands for all below it, but for hidden ones.
	Paths []string
	// Look is called at first and whenever something may have changed, by the goroutine that calls Run.
	Look func()
	// Watch opens what tells of changes; nil is fsnotify.
	Watch func() (Watcher, error)
	Log   logr.Logger
}

// Watcher tells that something in directories may have changed. Changed is read by one goroutine, which makes the
// other calls as well.
type Watcher interface {
	// Follow watches these directories, as they are now, and no others. The error names those that cannot be; the
	// others are watched.
	Follow(dirs []string) error
	// Changed receives when something may have changed. It is closed when the Watcher can tell no more.
	Changed() <-chan struct{}
	Close() error
}

// Run has files looked at until the context ends. Without a Watcher they are looked at now and then.
func Run(ctx context.Context, o Options) {
	if o.Watch == nil {
		o.Watch = notifications
	}
	r := runner{opts: o, troubles: map[string]string{}}
	r.run(ctx)
}

// runner is one Run.
type runner struct {
	opts     Options
	watcher  Watcher           // nil while there is none
	troubles map[string]string // what was said last of what does not work
}

func (r *runner) run(ctx context.Context) {
	defer r.close()
	look := time.NewTimer(0)
	defer look.Stop()
	var first time.Time // of the changes that have not been looked at; zero for none
	for {
		select {
		case <-ctx.Done():
			return
		case _, ok := <-r.changed():
			if !ok {
				r.close()
				look.Reset(Quiet)
				continue
			}
			now := time.Now()
			if first.IsZero() {
				first = now
			}
			look.Reset(min(Quiet, Patience-now.Sub(first)))
		case <-look.C:
			first = time.Time{}
			r.look()
			look.Reset(Interval)
		}
	}
}

// changed is the Watcher's word; never without one.
func (r *runner) changed() <-chan struct{} {
	if r.watcher == nil {
		return nil
	}
	return r.watcher.Changed()
}

func (r *runner) close() {
	if r.watcher == nil {
		return
	}
	if err := r.watcher.Close(); err != nil {
		r.opts.Log.Error(err, "Closing the watch of files")
	}
	r.watcher = nil
}

// look has files looked at, and again if there turned out to be directories that nobody watched meanwhile.
func (r *runner) look() {
	const rounds = 3 // a program that moves directories about will be heard of
	dirs := directories(r.opts.Paths)
	for range rounds {
		r.follow(dirs)
		r.opts.Look()
		next := directories(r.opts.Paths)
		if slices.Equal(dirs, next) {
			return
		}
		dirs = next
	}
}

// follow watches directories.
func (r *runner) follow(dirs []string) {
	if r.watcher == nil {
		w, err := r.opts.Watch()
		r.trouble("open", err)
		if err != nil {
			return
		}
		r.watcher = w
	}
	r.trouble("watch", r.watcher.Follow(dirs))
}

// trouble says that changes are not noticed at once, nil that they are; once as long as it stays the same.
func (r *runner) trouble(what string, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != "" && text != r.troubles[what] {
		r.opts.Log.Error(err, "Changes of files are not noticed at once", "paths", r.opts.Paths, "lookedAtEvery", Interval)
	}
	r.troubles[what] = text
}
