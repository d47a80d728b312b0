package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/proxier/kubeproxy"
	"github.com/lameduck-proxy/lameduck/proxier/source"
)

// proxyConfig is what a KubeProxyConfiguration and flags ask for.
type proxyConfig = kubeproxy.Config

// proxyConfig returns the configuration of --config, else one that stands in the input, as flags change it. Its errors are
// on stderr; its warnings are for a proxy that runs, since explanations do not depend on what has no effect.
func (f *nodeFlags) proxyConfig(objects *manifest.Objects, std Streams) (*proxyConfig, []manifest.Problem, error) {
	var object *manifest.Object
	if found := objects.KubeProxyConfigurations; len(found) > 0 {
		object = found[len(found)-1]
	}
	if f.config != "" {
		var err error
		if object, err = f.readConfig(std); err != nil {
			return nil, nil, err
		}
	}
	config, problems := kubeproxy.Read(object, f.overrides(object != nil)...)
	return config, warnings(problems), complain(problems, std)
}

// readConfig reads the file of --config. A proxy is to start as it says or not at all: what cannot be used of it is an
// error.
func (f *nodeFlags) readConfig(std Streams) (*manifest.Object, error) {
	files, err := source.Read([]string{f.config}, std.In)
	if err != nil {
		return nil, err
	}
	objects, problems := manifest.Load(files, manifest.Options{})
	refused(problems)
	if err := complain(problems, std); err != nil {
		return nil, err
	}
	if len(objects.KubeProxyConfigurations) == 0 {
		return nil, fmt.Errorf("--config %s: no KubeProxyConfiguration (%s) in it%s", f.config, kubeproxy.APIVersion, insteadOfConfig(objects))
	}
	return objects.KubeProxyConfigurations[0], nil
}

// refused makes errors of all that is said of a file: nothing of it is used.
func refused(problems []manifest.Problem) {
	said := strings.NewReplacer("; skipped, use", "; use", "; this later one is used", "; want one", "unknown field, ignored", "unknown field")
	for i := range problems {
		problems[i].Severity, problems[i].Message = manifest.Error, said.Replace(problems[i].Message)
	}
}

// insteadOfConfig says what a file has in the place of a configuration.
func insteadOfConfig(objects *manifest.Objects) string {
	var kinds []string
	for _, o := range objects.All {
		kinds = append(kinds, o.Kind)
	}
	for _, s := range objects.Skipped {
		kinds = append(kinds, s.Kind)
	}
	slices.Sort(kinds)
	switch kinds = slices.Compact(kinds); {
	case len(kinds) == 0:
		return ""
	case slices.Contains(kinds, "ConfigMap"):
		return ", but a ConfigMap; kubeadm's has it under data, as config.conf"
	default:
		return ", but " + strings.Join(kinds, ", ")
	}
}

// complain prints errors, as editors want them, and returns one that counts them.
func complain(problems []manifest.Problem, std Streams) error {
	bad := 0
	for _, p := range problems {
		if p.Severity == manifest.Error {
			bad++
			std.say("%v", p)
		}
	}
	switch bad {
	case 0:
		return nil
	case 1:
		return errors.New("the configuration has an error")
	default:
		return fmt.Errorf("the configuration has %d errors", bad)
	}
}

func warnings(problems []manifest.Problem) []manifest.Problem {
	return slices.DeleteFunc(slices.Clone(problems), func(p manifest.Problem) bool { return p.Severity != manifest.Warning })
}

// overrides are the fields that flags of every verb set.
func (f *nodeFlags) overrides(configured bool) []kubeproxy.Override {
	type config = kubeproxy.KubeProxyConfiguration
	var out []kubeproxy.Override
	switch {
	case f.mode != "":
		out = append(out, kubeproxy.Override{Flag: "--mode", Path: "mode", Set: func(c *config) { c.Mode = kubeproxy.ProxyMode(f.mode) }})
	case !configured:
		out = append(out, kubeproxy.Override{Flag: "lameduck's default", Path: "mode", Set: func(c *config) { c.Mode = kubeproxy.NFTables }})
	}
	if f.clusterCIDR != "" {
		out = append(out, kubeproxy.Override{Flag: "--cluster-cidr", Path: "clusterCIDR", Set: func(c *config) {
			c.ClusterCIDR, c.DetectLocalMode = f.clusterCIDR, kubeproxy.ClusterCIDR
		}})
	}
	if f.more != nil {
		out = append(out, f.more()...)
	}
	return append(out, f.gateOverrides()...)
}

// gateOverrides are the gates of --feature-gates.
func (f *nodeFlags) gateOverrides() []kubeproxy.Override {
	var out []kubeproxy.Override
	for _, name := range slices.Sorted(maps.Keys(f.gates)) {
		out = append(out, kubeproxy.Override{Flag: "--feature-gates", Path: "featureGates." + name, Set: func(c *kubeproxy.KubeProxyConfiguration) {
			if c.FeatureGates == nil {
				c.FeatureGates = map[string]bool{}
			}
			c.FeatureGates[name] = f.gates[name] == "true"
		}})
	}
	return out
}
