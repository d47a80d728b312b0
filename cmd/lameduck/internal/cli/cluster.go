package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/proxier/source/live"
)

// clusterFlags say which cluster is read, with kubectl's names and meaning. A cluster is read where there is no -f, and
// beside -f where --context or --kubeconfig names it: then what stands in the files counts.
type clusterFlags struct {
	options       live.Options
	timeout       string
	allNamespaces bool
	namespace     string // of what is asked about; that of -n and -A count before it
	everybody     bool   // what is asked about concerns all namespaces, unless -n names one
	purpose       live.Purpose
}

// clusterHelp is what the help of every verb says that reads clusters; the verb goes on with what it reads.
const clusterHelp = `Without -f the current kubeconfig context is read, as kubectl would; with -f a cluster is read
as well if --context or --kubeconfig names it, and what stands in the files takes the place
of its objects of the same name. Nothing is written there. What is read:
`

// defaultTimeout of one request: kubectl waits for ever, and a tool that only reads need not.
const defaultTimeout = "30s"

// register makes a verb read clusters, too.
func (f *clusterFlags) register(cmd *cobra.Command, purpose live.Purpose) {
	f.purpose = purpose
	flags := cmd.Flags()
	flags.StringVar(&f.options.Context, "context", "", "`NAME` of the kubeconfig context to read from, together with -f if given (default without -f: the current one)")
	flags.StringVar(&f.options.Kubeconfig, "kubeconfig", "", "kubeconfig `FILE` (default: $KUBECONFIG, ~/.kube/config, in a pod its service account)")
	flags.StringVar(&f.options.Cluster, "cluster", "", "`NAME` of the kubeconfig cluster, in place of the context's")
	flags.StringVar(&f.options.User, "user", "", "`NAME` of the kubeconfig user, in place of the context's")
	flags.BoolVarP(&f.allNamespaces, "all-namespaces", "A", false, "read the objects of all namespaces of the cluster")
	flags.StringVar(&f.timeout, "request-timeout", defaultTimeout, "`TIME` to wait for one answer of the API server; 0 for any")
	err := cmd.RegisterFlagCompletionFunc("context", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return sortedSet(live.Contexts(f.options.Kubeconfig)), cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(err) // there is no such flag
	}
}

// named says whether the user chose a cluster.
func (f *clusterFlags) named() bool {
	o := f.options
	return o.Context != "" || o.Kubeconfig != "" || o.Cluster != "" || o.User != ""
}

// check refuses flags that mean nothing together.
func (f *clusterFlags) check(namespace string, files bool) error {
	if _, err := parseTimeout(f.timeout); err != nil {
		return err
	}
	switch {
	case f.allNamespaces && namespace != "":
		return errors.New("-n and --all-namespaces: want one of them")
	case f.allNamespaces && files && !f.named():
		return errors.New("--all-namespaces is of a cluster, and with -f alone none is read: name it by --context as well, or leave one of them out")
	}
	return nil
}

// clusterInput is what a cluster said.
type clusterInput struct {
	cluster    *live.Cluster
	namespaces []string // that were read, nil for all
	objects    []live.Object
	version    string                 // of the API server, "" if not known
	files      map[string]live.Object // the objects, by the names of their files
}

// read reads the cluster; own are the files of -f. What they hold takes the place of the cluster's.
func (f *clusterFlags) read(in *inputFlags, own []manifest.File, std Streams) (*clusterInput, error) {
	cluster, err := f.connect(in)
	if err != nil {
		return nil, err
	}
	objects, _ := manifest.Load(own, manifest.Options{Namespace: cluster.Namespace})
	namespaces := f.namespaces(in, cluster, objects)
	std.say("reading %s", where(cluster, namespaces))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	read, err := cluster.Read(ctx, f.purpose, namespaces)
	switch {
	case ctx.Err() != nil:
		return nil, errors.New("interrupted while reading the cluster")
	case err != nil:
		return nil, err
	}
	for _, w := range read.Warnings {
		std.say("warning: %s", w)
	}
	out := &clusterInput{cluster: cluster, namespaces: namespaces, version: read.Version, files: map[string]live.Object{}}
	for _, o := range read.Objects {
		if replaced(o, objects) {
			continue
		}
		out.objects = append(out.objects, o)
		out.files[o.File.Name] = o
	}
	return out, nil
}

func (f *clusterFlags) connect(in *inputFlags) (*live.Cluster, error) {
	var err error
	if f.options.Timeout, err = parseTimeout(f.timeout); err != nil {
		return nil, err
	}
	f.options.Namespace, f.options.StdinTaken = in.namespace, slices.Contains(in.files, "-")
	cluster, err := live.Connect(f.options)
	if errors.Is(err, live.ErrNoCluster) {
		return nil, fmt.Errorf("no input: give -f FILE, -f DIR or -f -, or a cluster by --context, --kubeconfig or KUBECONFIG: %w", err)
	}
	return cluster, err
}

// parseTimeout reads a number of seconds or a duration, as kubectl does.
func parseTimeout(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil {
		d, err = time.ParseDuration(s + "s")
	}
	if err != nil || d < 0 {
		return 0, fmt.Errorf("--request-timeout %q: want a duration such as 30s, 2m or 0", s)
	}
	return d, nil
}

// namespaces are those that are read: those of -n or -A, else that of what is asked about, else those that the files'
// objects are in, else the context's; nil for all. A packet may meet any Service, so a trace reads all, and so does the drain of a node,
// which has pods of anybody.
func (f *clusterFlags) namespaces(in *inputFlags, cluster *live.Cluster, objects *manifest.Objects) []string {
	if f.allNamespaces || f.purpose == live.Trace || f.everybody && in.namespace == "" {
		return nil
	}
	if in.namespace == "" && f.namespace != "" {
		return []string{f.namespace}
	}
	var names []string
	if in.namespace == "" {
		for _, o := range objects.All {
			if o.Namespace != "" && !slices.Contains(names, o.Namespace) {
				names = append(names, o.Namespace)
			}
		}
	}
	if len(names) == 0 {
		names = []string{cluster.Namespace}
	}
	slices.Sort(names)
	return names
}

// where is the cluster in words: "context kind-kind (https://127.0.0.1:6443), namespace shop".
func where(cluster *live.Cluster, namespaces []string) string {
	words := "all namespaces"
	if len(namespaces) > 0 {
		words = "namespace " + strings.Join(namespaces, ", ")
	}
	name := "cluster " + cluster.Name
	if cluster.Context != "" {
		name = "context " + cluster.Context
	}
	return fmt.Sprintf("%s (%s), %s", name, cluster.Server, words)
}

// replaced says whether the files hold an object of that name, or, for the one kind without names, any. What stands in a
// Scenario's file is that Scenario's alone.
func replaced(o live.Object, files *manifest.Objects) bool {
	return slices.ContainsFunc(files.All, func(have *manifest.Object) bool {
		own := slices.ContainsFunc(files.Scenarios, func(s *manifest.Object) bool { return s.File == have.File })
		return live.KindOf(have.APIVersion, have.Kind) == o.Kind && have.Namespace == o.Namespace && have.Name == o.Name && !own
	})
}

// manifests are the objects as files.
func (c *clusterInput) manifests() []manifest.File {
	var out []manifest.File
	for _, o := range c.objects {
		out = append(out, o.File)
	}
	return out
}

// profileOf is the behaviour to answer for, now that the input is known: a cluster's version is the default of
// --kubernetes-version.
func (f *nodeFlags) profileOf(in *input, std Streams) (endpoints.Profile, error) {
	if in.cluster != nil && !f.set("kubernetes-version") {
		f.version = cmp.Or(in.cluster.behaviour(std), f.version)
	}
	profile, err := f.profile()
	if err == nil {
		std.ahead(profile.Version)
	}
	return profile, err
}

// ahead says of a version that is newer than what was read what it is given.
func (s Streams) ahead(v endpoints.Version) {
	if words := v.AheadWords(); words != "" {
		s.say("warning: %s", words)
	}
}

// behaviour is the --kubernetes-version that the cluster stands for, "" when it has no say: it does not tell, or its
// version is not one that lameduck knows how to be.
func (c *clusterInput) behaviour(std Streams) string {
	v, err := endpoints.ParseVersion(c.version)
	if err != nil {
		if c.version != "" {
			std.say("warning: %s: %v; %s is used", c.cluster.Name, err, endpoints.CurrentVersion())
		}
		return ""
	}
	std.say("its API server is %s: --kubernetes-version %s", c.version, v)
	return v.String()
}

// replay are the flags that name the same cluster and namespaces, whichever context is current then.
func (in *input) replay(f *clusterFlags) []string {
	var words []string
	if in.cluster != nil && in.cluster.cluster.Context != "" {
		words = append(words, "--context", quoted(in.cluster.cluster.Context))
	}
	switch {
	case f.allNamespaces:
		words = append(words, "--all-namespaces")
	case in.cluster != nil && len(in.cluster.namespaces) == 0: // as it was without -n
	case in.cluster != nil && len(in.cluster.namespaces) > 1: // the files' own, which they will name again
	case in.cluster != nil:
		words = append(words, "--namespace", in.cluster.namespaces[0])
	case in.namespace != "":
		words = append(words, "--namespace", quoted(in.namespace))
	}
	return words
}
