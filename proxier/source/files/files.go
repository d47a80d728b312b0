package files

import (
	"context"
	"slices"
	"time"

	"github.com/go-logr/logr"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/proxier/source"
)

const (
	// quiet is how long nothing has to change before the input is read: whoever writes a file does so in several steps.
	quiet = 100 * time.Millisecond
	// patience is how long somebody who never stops writing can hold that up.
	patience = time.Second
	// lookInterval is how often the input is looked at without a word from the watcher, and a watcher that failed opened anew.
	lookInterval = 30 * time.Second
)

// Options of a Source.
type Options struct {
	// Paths are files and directories, as source.Read takes them, but standard input.
	Paths []string
	// Namespace is given to objects that have none; "" is "default".
	Namespace string
	// Node names the node that the proxy runs on.
	Node string
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

// Source delivers what files say.
type Source struct {
	opts    Options
	deliver *delivery

	watcher Watcher // nil while there is none
	last    []manifest.File
	read    bool // last is all there was
	said    said
}

// New returns a Source. It reads nothing before Run.
func New(o Options, sink source.Sink) *Source {
	if o.Watch == nil {
		o.Watch = watchFiles
	}
	return &Source{opts: o, deliver: newDelivery(sink, o), said: said{log: o.Log}}
}

// Run delivers until the context ends. The Sink is told that it is Synced when the input has been good for the first time.
func (s *Source) Run(ctx context.Context) {
	defer s.close()
	look := time.NewTimer(0)
	defer look.Stop()
	var first time.Time // of the changes that have not been looked at; zero for none
	for {
		select {
		case <-ctx.Done():
			return
		case _, ok := <-s.changed():
			if !ok {
				s.close()
				look.Reset(quiet)
				continue
			}
			now := time.Now()
			if first.IsZero() {
				first = now
			}
			look.Reset(min(quiet, patience-now.Sub(first)))
		case <-look.C:
			first = time.Time{}
			s.look()
			look.Reset(lookInterval)
		}
	}
}

// changed is the watcher's word; never without one.
func (s *Source) changed() <-chan struct{} {
	if s.watcher == nil {
		return nil
	}
	return s.watcher.Changed()
}

func (s *Source) close() {
	if s.watcher == nil {
		return
	}
	if err := s.watcher.Close(); err != nil {
		s.opts.Log.Error(err, "Closing the watch of files")
	}
	s.watcher = nil
}

// look reads the input, and again if there turned out to be directories that nobody watched meanwhile.
func (s *Source) look() {
	const rounds = 3 // somebody who moves directories about will be heard of
	dirs := directories(s.opts.Paths)
	for range rounds {
		s.follow(dirs)
		s.load()
		next := directories(s.opts.Paths)
		if slices.Equal(dirs, next) {
			return
		}
		dirs = next
	}
}

// follow watches directories. Without a watcher the input is looked at now and then.
func (s *Source) follow(dirs []string) {
	var err error
	if s.watcher == nil {
		if s.watcher, err = s.opts.Watch(); err != nil {
			s.watcher = nil
			s.said.trouble("open", err)
			return
		}
		s.said.trouble("open", nil)
	}
	s.said.trouble("watch", s.watcher.Follow(dirs))
}

// load reads the input and delivers it if it is good.
func (s *Source) load() {
	read, err := source.Read(s.opts.Paths, nil)
	if s.read && err == nil && slices.EqualFunc(read, s.last, sameFile) {
		return // as last time
	}
	s.last, s.read = read, err == nil
	errs := append(flatten(err), halfWritten(read)...)
	objects, problems := manifest.Load(read, manifest.Options{Namespace: s.opts.Namespace})
	var warnings []error
	for _, p := range problems {
		if p.Severity == manifest.Error {
			errs = append(errs, p)
		} else {
			warnings = append(warnings, p)
		}
	}
	for _, c := range objects.KubeProxyConfigurations {
		warnings = append(warnings, c.Problem(manifest.Warning, "", "is not followed here: give it as --config"))
	}
	s.said.errors(errs)
	if len(errs) > 0 {
		return
	}
	s.said.warnings(warnings)
	s.deliver.all(objects)
}

func sameFile(a, b manifest.File) bool {
	return a.Name == b.Name && string(a.Data) == string(b.Data)
}
