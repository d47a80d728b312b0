package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/proxier/page"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// completionTimeout is how long a shell that completes a word waits for a cluster.
const completionTimeout = "3s"

// completes has a flag's values offered to the shell: names of the input's objects.
func (f *inputFlags) completes(cmd *cobra.Command, flag string, names func(*manifest.Objects) []string) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if f.cluster != nil && len(f.files) == 0 {
			f.cluster.timeout = completionTimeout
		}
		quiet := Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}
		in, err := f.read(quiet)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		objects, _ := in.parse(in.files)
		return names(objects), cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(err) // there is no such flag
	}
}

func serviceNames(objects *manifest.Objects) []string {
	var names []string
	for _, s := range objects.Services {
		names = append(names, s.ID())
	}
	return sortedSet(names)
}

func allNodeNames(objects *manifest.Objects) []string {
	nodes, mentioned := nodeNames(objects)
	return sortedSet(append(nodes, mentioned...))
}

// workloadNames are those of what sim may look at.
func workloadNames(objects *manifest.Objects) []string {
	var names []string
	for _, o := range objects.All {
		switch o.Kind {
		case "Deployment", "StatefulSet", "DaemonSet":
			names = append(names, o.ID())
		}
	}
	return sortedSet(names)
}

// setPaths are what --set may change, each up to its value.
func setPaths() []string {
	paths := []string{"start=", "prestop."}
	for _, f := range scenario.Fields() {
		if path, ok := strings.CutPrefix(f.Path, "spec."); ok {
			path, _, named := strings.Cut(strings.ReplaceAll(path, "[]", "[0]"), "NAME")
			if !named {
				path += "="
			}
			paths = append(paths, path)
		}
	}
	return sortedSet(paths)
}

func sortedSet(names []string) []string {
	slices.Sort(names)
	unseen := func(name string) bool { return name != page.Shown(name) } // no word of a shell
	return slices.DeleteFunc(slices.Compact(names), unseen)
}
