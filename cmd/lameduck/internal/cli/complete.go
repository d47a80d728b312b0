package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/proxier/page"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// completionTimeout is how long a shell that completes a word waits for a cluster.
const completionTimeout = "3s"

// completes has a flag's values offered to the shell: names of the input's objects.
func (f *inputFlags) completes(cmd *cobra.Command, flag string, names func(*manifest.Objects) []string) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if objects := f.glance(); objects != nil {
			return names(objects), cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(err) // there is no such flag
	}
}

// glance reads the input for a shell that completes a word; nil where it cannot be read.
func (f *inputFlags) glance() *manifest.Objects {
	if f.cluster != nil && len(f.files) == 0 {
		f.cluster.timeout = completionTimeout
	}
	quiet := Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}
	in, err := f.read(quiet)
	if err != nil {
		return nil
	}
	objects, _ := in.parse(in.files)
	return objects
}

// drainWord begins an action of sim that is about nodes.
const drainWord = "drain="

// completesActions offers what --action takes: the actions, and after drain= the names of the input's nodes. Several are written with
// commas.
func (c *simCommand) completesActions(_ *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	before := word[:strings.LastIndexAny(word, ",=")+1]
	words := append(scenario.Actions(), drainWord)
	directive := cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	if strings.Contains(before, drainWord) {
		objects := c.input.glance()
		if objects == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		words = drainable(objects)
	}
	var out []cobra.Completion
	for _, w := range words {
		out = append(out, before+w)
	}
	return out, directive
}

// drainable are the nodes that the input knows: Node objects, and what endpoints and Pods are on.
func drainable(objects *manifest.Objects) []string {
	names := allNodeNames(objects)
	for _, o := range objects.All {
		if p, ok := o.Value.(*corev1.Pod); ok && p.Spec.NodeName != "" {
			names = append(names, p.Spec.NodeName)
		}
	}
	return sortedSet(names)
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
