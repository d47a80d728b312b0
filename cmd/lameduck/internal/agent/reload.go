package agent

import (
	"bytes"
	"context"
	"os"

	"github.com/go-logr/logr"

	"github.com/lameduck-proxy/lameduck/proxier/pace"
	"github.com/lameduck-proxy/lameduck/proxier/source/filewatch"
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
	// if they are as before, or what is there cannot be used, which it has reported. One goroutine calls it.
	Take func(data []byte) (Settings, bool)
}

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
	r := &follower{reload: o, take: f.setSettings, log: log, read: func() ([]byte, error) { return os.ReadFile(o.Path) }}
	filewatch.Run(ctx, filewatch.Options{Paths: []string{o.Path}, Look: r.look, Log: log})
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
