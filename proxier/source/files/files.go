package files

import (
	"context"
	"slices"

	"github.com/go-logr/logr"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/proxier/source"
	"github.com/lameduck-proxy/lameduck/proxier/source/filewatch"
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
	Watch func() (filewatch.Watcher, error)
	Log   logr.Logger
}

// Source delivers what files say.
type Source struct {
	opts    Options
	deliver *delivery

	last []manifest.File
	read bool // last is all there was
	said said
}

// New returns a Source. It reads nothing before Run.
func New(o Options, sink source.Sink) *Source {
	return &Source{opts: o, deliver: newDelivery(sink, o), said: said{log: o.Log}}
}

// Run delivers until the context ends. The Sink is told that it is Synced when the input has been good for the first time.
func (s *Source) Run(ctx context.Context) {
	filewatch.Run(ctx, filewatch.Options{Paths: s.opts.Paths, Look: s.load, Watch: s.opts.Watch, Log: s.opts.Log})
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
