package filewatch

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// notifier is a Watcher of the operating system's notifications.
type notifier struct {
	fs      *fsnotify.Watcher
	changed chan struct{}
	running sync.WaitGroup
}

func notifications() (Watcher, error) {
	fs, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch files: %w", err)
	}
	n := &notifier{fs: fs, changed: make(chan struct{}, 1)}
	n.running.Go(n.run)
	return n, nil
}

// run makes one word of all events: which file it was does not matter, nor what happened to it. An error says that events were
// lost, which is as good as one.
func (n *notifier) run() {
	defer close(n.changed)
	for {
		select {
		case _, ok := <-n.fs.Events:
			if !ok {
				return
			}
		case _, ok := <-n.fs.Errors:
			if !ok {
				return
			}
		}
		select {
		case n.changed <- struct{}{}:
		default:
		}
	}
}

// Follow watches these directories and no others. One that another has taken the place of is watched again.
func (n *notifier) Follow(dirs []string) error {
	var errs []error
	for _, old := range n.fs.WatchList() {
		if !slices.Contains(dirs, old) {
			if err := n.fs.Remove(old); err != nil && !errors.Is(err, fsnotify.ErrNonExistentWatch) {
				errs = append(errs, err)
			}
		}
	}
	for _, dir := range dirs {
		if err := n.fs.Add(dir); err != nil {
			errs = append(errs, fmt.Errorf("watch %s: %w", dir, err))
		}
	}
	return errors.Join(errs...)
}

// Changed receives when something may have changed.
func (n *notifier) Changed() <-chan struct{} { return n.changed }

// Close ends it.
func (n *notifier) Close() error {
	err := n.fs.Close()
	n.running.Wait()
	return err
}
