package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/go-logr/logr"

	"github.com/lameduck-proxy/lameduck/proxier/pace"
)

// Settings are what of a proxy can change while it runs.
type Settings struct {
	Node NodeBuilder
	Pace pace.Policy
}

// Reload has a proxy follow the file that its settings come from.
type Reload struct {
	Path string
	// Take is given what is in the file, at first and when that is another, and returns the settings that follow; false
	// if they are as before, or what is there cannot be used, of which it has told somebody. One goroutine calls it.
	Take func(data []byte) (Settings, bool)
}

const (
	// settleTime passes between the first word of a change and a look: editors and kubelets write in several steps.
	settleTime = 200 * time.Millisecond
	// lookInterval passes between looks that nobody asked for: a network file system tells of nothing.
	lookInterval = 30 * time.Second
)

// follower follows one file.
type follower struct {
	reload *Reload
	read   func() ([]byte, error)
	take   func(Settings)
	log    logr.Logger

	last    []byte // nil before the first look
	trouble string // what was said last of a file that cannot be read
}

// reloads follows the file of o until the context ends.
func reloads(ctx context.Context, o *Reload, f *feed, log logr.Logger) {
	w := &fileWatch{path: o.Path, log: log}
	defer w.close()
	r := &follower{
		reload: o, take: f.setSettings, log: log,
		read: func() ([]byte, error) {
			w.follow() // before it is read: what changes afterwards is told
			return os.ReadFile(o.Path)
		},
	}
	r.run(ctx, w.open())
}

// run looks at the file when it begins, soon after each word of a change, and now and then.
func (f *follower) run(ctx context.Context, changed <-chan struct{}) {
	look := time.NewTimer(0)
	defer look.Stop()
	settling := false
	for {
		select {
		case <-ctx.Done():
			return
		case _, ok := <-changed:
			if !ok {
				changed = nil // looks now and then are left
				continue
			}
			if !settling { // later words do not put it off
				settling = true
				look.Reset(settleTime)
			}
		case <-look.C:
			settling = false
			f.look()
			look.Reset(lookInterval)
		}
	}
}

// look takes what is in the file, if it is another than last time.
func (f *follower) look() {
	data, err := f.read()
	if err != nil {
		if err.Error() != f.trouble { // once, not every half minute
			f.trouble = err.Error()
			f.log.Error(err, "The configuration cannot be read, the last one stays in use")
		}
		return
	}
	f.trouble = ""
	if f.last != nil && bytes.Equal(f.last, data) {
		return
	}
	f.last = append([]byte{}, data...)
	if s, ok := f.reload.Take(data); ok {
		f.take(s)
	}
}

// fileWatch tells that something may have happened to a file: in its directory, and in those of the symbolic links that
// lead to it, since a ConfigMap's volume is changed by exchanging one.
type fileWatch struct {
	path string
	fs   *fsnotify.Watcher // nil if there is none
	log  logr.Logger
}

// open returns the channel on which it tells; nil if it cannot.
func (w *fileWatch) open() <-chan struct{} {
	var err error
	if w.fs, err = fsnotify.NewWatcher(); err != nil {
		w.fs = nil
		w.log.Error(err, "Changes of the configuration are noticed late", "within", lookInterval)
		return nil
	}
	changed := make(chan struct{}, 1)
	go w.tell(changed)
	return changed
}

// tell makes one word of all events: which file it was does not matter. It ends when the watch is closed.
func (w *fileWatch) tell(changed chan<- struct{}) {
	defer close(changed)
	for {
		var ok bool
		select {
		case _, ok = <-w.fs.Events:
		case _, ok = <-w.fs.Errors: // that events were lost is as good as one
		}
		if !ok {
			return
		}
		select {
		case changed <- struct{}{}:
		default: // it is said already
		}
	}
}

// follow watches the directories that matter now, and no others.
func (w *fileWatch) follow() {
	if w.fs == nil {
		return
	}
	dirs := directories(w.path)
	for _, old := range w.fs.WatchList() {
		if !slices.Contains(dirs, old) {
			if err := w.fs.Remove(old); err != nil && !errors.Is(err, fsnotify.ErrNonExistentWatch) {
				w.log.V(4).Info("Still watched", "directory", old, "reason", err.Error())
			}
		}
	}
	for _, dir := range dirs {
		if err := w.fs.Add(dir); err != nil {
			w.log.V(2).Info("Changes of the configuration are noticed late", "within", lookInterval, "reason", fmt.Sprintf("watch %s: %v", dir, err))
		}
	}
}

func (w *fileWatch) close() {
	if w.fs != nil {
		_ = w.fs.Close() // nothing is done with it any more
	}
}

// maxLinks is how many symbolic links are followed; the kernel's limit is the same.
const maxLinks = 40

// directories are the file's and those of the symbolic links that lead to it from one directory to the next.
func directories(path string) []string {
	dirs := []string{filepath.Dir(path)}
	for range maxLinks {
		target, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
		dirs = append(dirs, filepath.Dir(path))
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}
