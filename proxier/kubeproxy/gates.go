package kubeproxy

import (
	_ "embed"
	"maps"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// gateNames are the feature gates that kube-proxy 1.36 takes, one a line: it knows those of every Kubernetes component,
// since a cluster's programs are commonly all given the same (read in pkg/features, its imports, and component-base,
// 1.36.3; verified).
//
//go:embed gates.txt
var gateNames string

// everything is what sets all gates of a level (component-base/featuregate; verified).
var everything = []string{"AllAlpha", "AllBeta"}

// Gates are those of the feature gates that endpoint selection follows: see endpoints.ProfileFor.
func (c *Config) Gates() map[string]bool {
	gates := map[string]bool{}
	for name, on := range c.FeatureGates { // order: a map is made of it
		if slices.Contains(followed(), name) {
			gates[name] = on
		}
	}
	return gates
}

// followed are the gates that change what lameduck does.
func followed() []string {
	var names []string
	for _, change := range endpoints.Changes() {
		if change.Gate != "" {
			names = append(names, change.Gate)
		}
	}
	return names
}

// checkGates refuses gates that nobody knows, and warns of those that lameduck has no use for.
func (c *Config) checkGates() []manifest.Problem {
	use := followed()
	known := slices.Concat(use, everything, strings.Fields(gateNames))
	slices.Sort(known)
	var problems []manifest.Problem
	for _, name := range slices.Sorted(maps.Keys(c.FeatureGates)) {
		at := "featureGates." + name
		switch {
		case slices.Contains(use, name):
		case slices.Contains(known, name):
			problems = append(problems, c.problem(manifest.Warning, at, "feature gate %s=%t has no effect: lameduck follows %s", name, c.FeatureGates[name], strings.Join(use, ", ")))
		default:
			problems = append(problems, c.problem(manifest.Error, at, "there is no feature gate %s; %s", name, instead(name, known, use)))
		}
	}
	return problems
}

// instead says which gate may have been meant.
func instead(name string, known, use []string) string {
	if near := manifest.Nearest(name, known); near != "" {
		return "did you mean " + near + "?"
	}
	return "lameduck follows " + strings.Join(use, ", ")
}
