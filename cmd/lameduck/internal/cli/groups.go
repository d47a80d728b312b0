package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lameduck-proxy/lameduck/proxier/page"
)

// flagGroup is a part of the help text of a verb with many flags. A name that ends in * stands for all that begin so.
type flagGroup struct {
	title string
	names []string
}

// proxyGroups order the flags of proxy by what they are for. One that is in no group stands at the end.
func proxyGroups() []flagGroup {
	return []flagGroup{
		{"What to do", []string{"once", "dry-run", "cleanup", "init-only", "write-config-to", "filename", "namespace"}},
		{"Configuration and API server", []string{"config", "kubeconfig", "master", "kube-api-*", "feature-gates", "kubernetes-version", "terminating-fallback"}},
		{"The node", []string{"node", "hostname-override", "node-ip", "node-label", "bind-address", "cluster-cidr", "detect-local-mode", "pod-*", "nodeport-addresses"}},
		{"The rules", []string{"mode", "proxy-mode", "masquerade-all", "iptables-*", "take-over"}},
		{"Being asked", []string{"healthz-*", "metrics-*", "sim-*", "bind-address-hard-fail", "profiling"}},
		{"The kernel", []string{"conntrack-*", "oom-score-adj"}},
		{"The log", []string{"verbose", "v", "logging-format", "vmodule"}},
		{"Of kube-proxy, accepted without effect", []string{"ipvs-*", "log-*", "config-sync-period", "show-hidden-metrics-for-version"}},
	}
}

// has says whether a flag belongs to a group.
func (g flagGroup) has(name string) bool {
	return slices.ContainsFunc(g.names, func(n string) bool {
		prefix, many := strings.CutSuffix(n, "*")
		return n == name || many && strings.HasPrefix(name, prefix)
	})
}

// groupedUsage prints a verb's usage with its flags by group: a name by itself wins over a prefix in an earlier group.
func groupedUsage(cmd *cobra.Command) error {
	groups := append(proxyGroups(), flagGroup{title: "Further flags"})
	sets := make([]*pflag.FlagSet, len(groups))
	for i := range sets {
		sets[i] = pflag.NewFlagSet("", pflag.ContinueOnError)
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { sets[groupOf(groups, f.Name)].AddFlag(f) })
	out := cmd.OutOrStderr()
	fmt.Fprintf(out, "Usage:\n  %s\n", cmd.UseLine())
	if cmd.HasExample() {
		fmt.Fprintf(out, "\nExamples:\n%s\n", cmd.Example)
	}
	for i, set := range sets {
		if set.HasAvailableFlags() {
			printGroup(out, groups[i].title, set)
		}
	}
	return nil
}

func printGroup(out io.Writer, title string, set *pflag.FlagSet) {
	fmt.Fprintf(out, "\n%s:\n%s", title, set.FlagUsagesWrapped(page.Widest))
}

// groupOf returns the group of a flag, the last one if it has none.
func groupOf(groups []flagGroup, name string) int {
	if i := slices.IndexFunc(groups, func(g flagGroup) bool { return slices.Contains(g.names, name) }); i >= 0 {
		return i
	}
	if i := slices.IndexFunc(groups, func(g flagGroup) bool { return g.has(name) }); i >= 0 {
		return i
	}
	return len(groups) - 1
}
