package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/proxier/source"
	"github.com/lameduck-proxy/lameduck/proxier/source/live"
)

// inputFlags are where the objects come from.
type inputFlags struct {
	files     []string
	kustomize []string
	recursive bool
	namespace string
	verbose   int
	cluster   *clusterFlags // nil for a verb that reads none
}

func (f *inputFlags) register(flags *pflag.FlagSet) {
	flags.StringArrayVarP(&f.files, "filename", "f", nil, "`FILE`, directory or - (stdin) with YAML or JSON objects; repeatable")
	f.recursive = true
	flags.StringVarP(&f.namespace, "namespace", "n", "", "namespace of names given without one")
	flags.CountVarP(&f.verbose, "verbose", "v", "say more on stderr, such as what was skipped")
}

// readsCluster makes the verb read clusters, too.
func (f *inputFlags) readsCluster(cmd *cobra.Command, purpose live.Purpose) {
	f.cluster = &clusterFlags{}
	f.cluster.register(cmd, purpose)
	flags := cmd.Flags()
	flags.StringArrayVarP(&f.kustomize, "kustomize", "k", nil, "`DIR` with a kustomization, built by the machine's kustomize or kubectl; repeatable")
	flags.BoolVarP(&f.recursive, "recursive", "R", true, "read what lies below the directories of -f, too (kubectl's default is false)")
	flags.Lookup("namespace").Usage = "namespace to read from a cluster (default: that of the files' objects, or the context's), and of names given without one"
}

// input is what was read: files, and objects of a cluster as files.
type input struct {
	files     []manifest.File
	namespace string        // of names given without one
	cluster   *clusterInput // nil if none was read
}

// read reads files and cluster. A verb that reads clusters does so where there are no files, or where both are named.
func (f *inputFlags) read(std Streams) (*input, error) {
	in := &input{namespace: f.namespace}
	given := len(f.files)+len(f.kustomize) > 0
	if !given && f.cluster == nil {
		return nil, fmt.Errorf("no input: give -f FILE, -f DIR or -f -, such as kubectl get services,endpointslices,nodes -A -o yaml | lameduck ... -f -")
	}
	if f.cluster != nil {
		if err := f.cluster.check(f.namespace, given); err != nil {
			return nil, err
		}
	}
	var err error
	if in.files, err = f.readFiles(std); err != nil {
		return nil, err
	}
	if f.cluster != nil && (!given || f.cluster.named()) {
		if in.cluster, err = f.cluster.read(f, in.files, std); err != nil {
			return nil, err
		}
		in.files = append(in.cluster.manifests(), in.files...)
		in.namespace = in.cluster.cluster.Namespace
	}
	return in, nil
}

// readFiles reads what -f and -k name, in this order. All that is wrong with them is one error.
func (f *inputFlags) readFiles(std Streams) ([]manifest.File, error) {
	files, paths := std.held(f.files)
	var errs []error
	if len(paths) > 0 {
		read := source.Read
		if !f.recursive {
			read = source.ReadFlat
		}
		found, err := read(paths, std.In)
		files, errs = append(files, found...), append(errs, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	for _, dir := range f.kustomize {
		built, err := source.Kustomize(ctx, dir)
		if errs = append(errs, err); err == nil {
			files = append(files, built)
		}
	}
	for i := range files { // names are only printed from here on
		if files[i].Name = strings.ToValidUTF8(files[i].Name, "\ufffd"); files[i].Name == "-" {
			files[i].Name = "<stdin>" // as positions name it
		}
	}
	return files, errors.Join(errs...)
}

// held are the files that are not on the disk, and the other names.
func (s Streams) held(names []string) (files []manifest.File, paths []string) {
	for _, name := range names {
		if text, ok := s.Held[name]; ok {
			files = append(files, manifest.File{Name: name, Data: []byte(text)})
		} else {
			paths = append(paths, name)
		}
	}
	return files, paths
}

// parse makes objects of files of the input. What is wrong with an object that the cluster has accepted is no reason to
// give no answer.
func (in *input) parse(files []manifest.File) (*manifest.Objects, []manifest.Problem) {
	opts := manifest.Options{Namespace: in.namespace}
	if in.cluster != nil {
		opts.MaxBytes = math.MaxInt64 // who read the files and the cluster had a limit
	}
	objects, problems := manifest.Load(files, opts)
	for i := range problems {
		if in.live(problems[i].File) {
			problems[i].Severity = manifest.Warning
		}
	}
	return objects, problems
}

// live says whether a file stands for an object of a cluster.
func (in *input) live(file string) bool {
	if in.cluster == nil {
		return false
	}
	_, ok := in.cluster.files[file]
	return ok
}

// objects makes objects of the input and reports its problems on stderr. Documents that cannot be read
// are an error, after all of them were reported; what else is wrong is a warning.
func (f *inputFlags) objects(in *input, std Streams) (*manifest.Objects, error) {
	objects, problems := in.parse(in.files)
	if err := reportProblems(problems, std); err != nil {
		return nil, err
	}
	f.skipped(objects, std)
	return objects, nil
}

// load reads the input and makes objects of it.
func (f *inputFlags) load(std Streams) (*manifest.Objects, error) {
	in, err := f.read(std)
	if err != nil {
		return nil, err
	}
	return f.objects(in, std)
}

// mostShown is how many problems of a kind are printed: who has more than that reads a count with more use.
const mostShown = 100

// reportProblems prints problems on stderr, so many of each severity, and how many there are besides; errors among them are the end.
func reportProblems(problems []manifest.Problem, std Streams) error {
	found := map[manifest.Severity]int{}
	for _, p := range problems {
		found[p.Severity]++
		switch {
		case found[p.Severity] > mostShown:
		case p.Severity == manifest.Error:
			std.say("%v", p) // file:line:column first, as editors want it
		default:
			std.say("warning: %v", p)
		}
	}
	for _, kind := range []manifest.Severity{manifest.Error, manifest.Warning} {
		if n := found[kind]; n > mostShown {
			std.say("%d %ss in all: the first %d are above", n, kind, mostShown)
		}
	}
	if bad := found[manifest.Error]; bad > 0 {
		return inputError{bad}
	}
	return nil
}

// skipped says what of the input there was no use for.
func (f *inputFlags) skipped(objects *manifest.Objects, std Streams) {
	if f.verbose == 0 {
		return
	}
	for _, s := range objects.Skipped {
		std.say("skipped: %d %s %s", s.Count, s.APIVersion, s.Kind)
	}
}

// snapshot feeds the objects to the selection core. What the core cannot use was already
// reported when the manifests were read, unless they let it through.
func snapshot(objects *manifest.Objects, o endpoints.Options, std Streams) *endpoints.Snapshot {
	cache := endpoints.NewCache(o)
	var found []manifest.Problem
	add := func(o *manifest.Object, problems []endpoints.Problem) {
		for _, p := range problems {
			found = append(found, o.Problem(manifest.Warning, p.Field, p.Message))
		}
	}
	for _, s := range objects.Services {
		add(s.Object, cache.SetService(s.Value))
	}
	for _, s := range objects.EndpointSlices {
		add(s.Object, cache.SetSlice(s.Value))
	}
	_ = reportProblems(found, std) // warnings are no error
	return cache.Snapshot()
}

// nodeNames lists the nodes the input knows, Node objects first, then those that endpoints
// run on, each group sorted.
func nodeNames(objects *manifest.Objects) (nodes, mentioned []string) {
	for _, n := range objects.Nodes {
		nodes = append(nodes, n.Name)
	}
	for _, s := range objects.EndpointSlices {
		for _, e := range s.Value.Endpoints {
			if e.NodeName != nil && !slices.Contains(nodes, *e.NodeName) && !slices.Contains(mentioned, *e.NodeName) {
				mentioned = append(mentioned, *e.NodeName)
			}
		}
	}
	slices.Sort(nodes)
	slices.Sort(mentioned)
	return nodes, mentioned
}
