package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/proxier/explain"
	"github.com/lameduck-proxy/lameduck/proxier/source/live"
)

type explainCommand struct {
	input      inputFlags
	node       nodeFlags
	output     format
	service    string
	selector   selectorFlag
	truthTable bool
	flags      *pflag.FlagSet
	std        Streams
}

func newExplain(std Streams) *cobra.Command {
	c := &explainCommand{output: formatText, std: std}
	cmd := &cobra.Command{
		Use:   "explain [-f FILE] [--service NS/NAME] [--node NODE]",
		Short: "Which endpoints a node uses for a Service, and the reason for each",
		Long: `Explain shows, for each Service port and IP family, the endpoints that kube-proxy on
a node uses for traffic from outside and from the cluster, the reason for each endpoint
that is used or not, what the health-check node port answers, and what would change it.

The input needs Services and EndpointSlices; Node objects give zones and addresses.

` + clusterHelp + `Services, EndpointSlices, Nodes, ServiceCIDRs and the KubeProxyConfiguration in kube-system.`,
		Example: `  lameduck explain --service shop/web --node node-1
  kubectl get services,endpointslices,nodes -A -o yaml | lameduck explain -f - --node node-1
  lameduck explain -f objects.yaml --service shop/web --node node-1 --terminating-fallback=false
  lameduck explain -f objects.yaml --kubernetes-version 1.25 -o json
  lameduck explain --truth-table`,
		Args: noWords,
		RunE: verb(c.run),
	}
	c.flags = cmd.Flags()
	c.input.register(cmd.Flags())
	c.input.readsCluster(cmd, live.Explain)
	c.node.register(cmd.Flags())
	cmd.Flags().StringVar(&c.service, "service", "", "explain only this `NS/NAME` (default: every Service of the input)")
	c.selector.register(cmd.Flags(), "Services")
	cmd.MarkFlagsMutuallyExclusive("service", "selector")
	cmd.Flags().BoolVar(&c.truthTable, "truth-table", false, "print what ready, serving and terminating amount to, from the code; needs no input")
	cmd.Flags().VarP(&c.output, "output", "o", "output format")
	c.input.completes(cmd, "service", serviceNames)
	c.input.completes(cmd, "node", allNodeNames)
	return cmd
}

func (c *explainCommand) run() error {
	profile, err := c.node.profile()
	if err != nil {
		return err
	}
	if c.truthTable {
		if err := besides(c.flags, "truth-table", "output", "verbose", "kubernetes-version", "feature-gates", "terminating-fallback"); err != nil {
			return err
		}
		t := explain.BuildTruthTable(profile)
		return c.output.write(c.std.Out, t, func(w io.Writer) error { return t.WriteText(w, explain.TextOptions{Width: columns(w)}) })
	}
	if ns, _, ok := strings.Cut(c.service, "/"); ok {
		c.input.cluster.namespace = ns
	}
	in, err := c.input.read(c.std)
	if err != nil {
		return err
	}
	if profile, err = c.node.profileOf(in, c.std); err != nil {
		return err
	}
	objects, err := c.input.objects(in, c.std)
	if err != nil {
		return err
	}
	c.input.namespace = in.namespace
	keep, err := c.filter(objects)
	if err != nil {
		return err
	}
	node, err := c.node.resolve(objects, profile, c.std)
	if err != nil {
		return err
	}
	x := explain.Build(snapshot(objects, profile.Options, c.std), node, profile, keep)
	x.NotProxied = append(x.NotProxied, notProxied(objects, keep)...)
	c.hint(in, objects)
	if c.std.Explained != nil {
		c.std.Explained(x)
	}
	return c.output.write(c.std.Out, x, func(w io.Writer) error {
		return x.WriteText(w, explain.TextOptions{Style: colours(w), Width: columns(w)})
	})
}

// filter turns --service into a predicate; nil keeps everything.
func (c *explainCommand) filter(objects *manifest.Objects) (func(endpoints.ServiceName) bool, error) {
	if c.service == "" {
		return c.selector.services(objects)
	}
	want := endpoints.ServiceName{Namespace: c.input.namespace, Name: c.service}
	if ns, name, ok := strings.Cut(c.service, "/"); ok {
		want = endpoints.ServiceName{Namespace: ns, Name: name}
	}
	if want.Namespace == "" {
		want.Namespace = "default"
	}
	var known []string
	for _, s := range objects.Services {
		if s.Namespace == want.Namespace && s.Name == want.Name {
			return func(n endpoints.ServiceName) bool { return n == want }, nil
		}
		known = append(known, s.ID())
	}
	if len(known) == 0 {
		return nil, fmt.Errorf("service %s: the input has no Service at all", want)
	}
	return nil, fmt.Errorf("service %s: not in the input, which has %s", want, strings.Join(few(known), ", "))
}

func notProxied(objects *manifest.Objects, keep func(endpoints.ServiceName) bool) []explain.NotProxied {
	var out []explain.NotProxied
	for _, s := range objects.Services {
		name := endpoints.ServiceName{Namespace: s.Namespace, Name: s.Name}
		if why := endpoints.Unproxied(s.Value); why != "" && (keep == nil || keep(name)) {
			out = append(out, explain.NotProxied{Service: s.ID(), Why: why})
		}
	}
	return out
}

// hint helps where the input cannot give an answer.
func (c *explainCommand) hint(in *input, objects *manifest.Objects) {
	switch {
	case len(objects.Services) == 0 && in.cluster != nil:
		c.std.say("hint: there is no Service; -n NAMESPACE reads another namespace, -A all of them")
	default:
		hintLacking(in, objects, c.std)
	}
	if c.input.verbose > 0 {
		for _, p := range manifest.Unmatched(objects) {
			c.std.say("note: %v", p)
		}
	}
}

// hintLacking helps where a file lacks what every answer about Services hangs on: it looks like one about a cluster that has none. A cluster has all
// that it is asked for.
func hintLacking(in *input, objects *manifest.Objects, std Streams) {
	switch {
	case in.cluster != nil:
	case len(objects.Services) == 0:
		std.say("hint: the input has no Service; try kubectl get services,endpointslices,nodes -A -o yaml")
	case len(objects.EndpointSlices) == 0:
		std.say("hint: the input has no EndpointSlice, so no Service has endpoints; try kubectl get services,endpointslices,nodes -A -o yaml")
	}
}
