package fix

import (
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// daemon is web as a DaemonSet with a strategy, and with more of a port.
func daemon(strategy, port string) string {
	text := strings.Replace(fill(nil), "kind: Deployment", "kind: DaemonSet", 1)
	text = strings.Replace(text, "  replicas: 2\n", strategy, 1)
	return strings.Replace(text, "{containerPort: 8080}", "{containerPort: 8080"+port+"}", 1)
}

// A DaemonSet is offered a surge where nothing forbids it, as wide as what was to be unavailable; one that waits for ever is offered
// the way back. Both bounds are changed at once: exactly one of them may be anything but 0.
func TestTheBoundsOfADaemonSet(t *testing.T) {
	t.Parallel()
	const path = "spec.updateStrategy.rollingUpdate"
	for name, c := range map[string]struct { // order: each for itself
		strategy, port string
		surge, inPlace string // what is offered, "" for nothing
		edits          string // of either
	}{
		"nothing said":           {"", "", "maxSurge: 1, maxUnavailable: 0", "", path + " {maxUnavailable: 0, maxSurge: 1}"},
		"a percentage":           {"  updateStrategy: {rollingUpdate: {maxUnavailable: 10%}}\n", "", "maxSurge: 10%, maxUnavailable: 0", "", path + ".maxUnavailable 0, " + path + ".maxSurge 10%"},
		"a host port":            {"", ", hostPort: 9000", "", "", ""},
		"a surge":                {"  updateStrategy: {rollingUpdate: {maxUnavailable: 0, maxSurge: 2}}\n", "", "", "maxSurge: 0, maxUnavailable: 2", path + ".maxUnavailable 2, " + path + ".maxSurge 0"},
		"a surge, and host port": {"  updateStrategy: {rollingUpdate: {maxUnavailable: 0, maxSurge: 2}}\n", ", hostPort: 9000", "", "maxSurge: 0, maxUnavailable: 2", path + ".maxUnavailable 2, " + path + ".maxSurge 0"},
	} {
		sc, w := worldOf(t, daemon(c.strategy, c.port), scenario.Options{})
		var surge, inPlace, edits string
		for _, x := range append(Changes(sc, w, 0), Unblock(sc, w)...) {
			switch x.ID {
			case "maxSurge":
				surge = x.Title
			case "inPlace":
				inPlace = x.Title
			case "maxUnavailable", "nodes", "replicas":
				t.Errorf("%s: %s is nothing for a DaemonSet", name, x.Title)
			default:
				continue
			}
			var parts []string
			for _, e := range x.Edits {
				parts = append(parts, e.Path+" "+e.To.YAML)
			}
			edits = strings.Join(parts, ", ")
			changed := Apply(sc, w.Name(), []Change{x})
			s, u := changed.Workload(w.Name()).Fenceposts()
			if (s > 0) == (u > 0) || (s > 0) != (x.ID == "maxSurge") {
				t.Errorf("%s: after %s it is maxSurge %d, maxUnavailable %d", name, x.Title, s, u)
			}
		}
		if surge != c.surge || inPlace != c.inPlace || edits != c.edits {
			t.Errorf("%s: surge %q, in place %q, %s", name, surge, inPlace, edits)
		}
	}
}

// The other changes of a manifest are there for a DaemonSet as for a Deployment.
func TestWhatElseADaemonSetIsOffered(t *testing.T) {
	t.Parallel()
	sc, w := worldOf(t, daemon("", ", hostPort: 9000"), scenario.Options{})
	ids := map[string]bool{}
	for _, x := range Changes(sc, w, 0) {
		ids[x.ID] = true
		for _, e := range x.Edits {
			if e.Kind != world.DaemonSet {
				t.Errorf("%s edits a %s", x.ID, e.Kind)
			}
		}
	}
	for _, id := range []string{"preStop", "minReadySeconds", "readinessProbe", "terminationGracePeriodSeconds"} {
		if !ids[id] {
			t.Errorf("%s is not offered: %v", id, ids)
		}
	}
}

// A DaemonSet that takes several pods away at a time is offered to take one, with and without room for a surge, and never together with that.
func TestADaemonSetIsUpdatedOneByOne(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct { // order: each for itself
		strategy, port string
		offered        bool
	}{
		"all at once, a host port": {"  updateStrategy: {rollingUpdate: {maxUnavailable: 100%}}\n", ", hostPort: 9000", true},
		"all at once":              {"  updateStrategy: {rollingUpdate: {maxUnavailable: 100%}}\n", "", true},
		"one":                      {"  updateStrategy: {rollingUpdate: {maxUnavailable: 1}}\n", "", false},
		"a surge":                  {"  updateStrategy: {rollingUpdate: {maxUnavailable: 0, maxSurge: 2}}\n", "", false},
	} {
		sc, w := worldOf(t, daemon(c.strategy, c.port), scenario.Options{})
		offered := false
		for _, x := range Changes(sc, w, 0) {
			if x.ID == "maxSurge" && !slices.Contains(x.Has, "oneByOne") {
				t.Errorf("%s: a surge is tried together with one by one", name)
			}
			if x.ID != "oneByOne" {
				continue
			}
			offered = true
			if s, u := Apply(sc, w.Name(), []Change{x}).Workload(w.Name()).Fenceposts(); s != 0 || u != 1 {
				t.Errorf("%s: maxSurge %d, maxUnavailable %d", name, s, u)
			}
		}
		if offered != c.offered {
			t.Errorf("%s: offered %t", name, offered)
		}
	}
}
