package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/proxier/source"
)

// inputFlags are where the objects come from.
type inputFlags struct {
	files     []string
	namespace string
	verbose   int
}

func (f *inputFlags) register(flags *pflag.FlagSet) {
	flags.StringArrayVarP(&f.files, "filename", "f", nil, "`FILE`, directory or - (stdin) with YAML or JSON objects; repeatable")
	flags.StringVarP(&f.namespace, "namespace", "n", "", "namespace of names given without one")
	flags.CountVarP(&f.verbose, "verbose", "v", "say more on stderr, such as what was skipped")
}

// load reads the input and reports its problems on stderr. Documents that cannot be read
// are an error, after all of them were reported; what else is wrong is a warning.
func (f *inputFlags) load(std Streams) (*manifest.Objects, error) {
	if len(f.files) == 0 {
		return nil, fmt.Errorf("no input: give -f FILE, -f DIR or -f -, such as kubectl get services,endpointslices,nodes -A -o yaml | lameduck ... -f -")
	}
	files, err := source.Read(f.files, std.In)
	if err != nil {
		return nil, err
	}
	objects, problems := manifest.Load(files, manifest.Options{Namespace: f.namespace})
	bad := 0
	for _, p := range problems {
		if p.Severity == manifest.Error {
			bad++
			fmt.Fprintln(std.Err, p) // file:line:column first, as editors want it
			continue
		}
		fmt.Fprintf(std.Err, "warning: %v\n", p)
	}
	if bad > 0 {
		return nil, inputError{bad}
	}
	if f.verbose > 0 {
		for _, s := range objects.Skipped {
			fmt.Fprintf(std.Err, "skipped: %d %s %s\n", s.Count, s.APIVersion, s.Kind)
		}
	}
	return objects, nil
}

// snapshot feeds the objects to the selection core. What the core cannot use was already
// reported when the manifests were read, unless they let it through.
func snapshot(objects *manifest.Objects, o endpoints.Options, std Streams) *endpoints.Snapshot {
	cache := endpoints.NewCache(o)
	for _, s := range objects.Services {
		report(s.Object, cache.SetService(s.Value), std)
	}
	for _, s := range objects.EndpointSlices {
		report(s.Object, cache.SetSlice(s.Value), std)
	}
	return cache.Snapshot()
}

func report(o *manifest.Object, problems []endpoints.Problem, std Streams) {
	for _, p := range problems {
		fmt.Fprintf(std.Err, "warning: %v\n", o.Problem(manifest.Warning, p.Field, p.Message))
	}
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
