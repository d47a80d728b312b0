package input

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Unserved lists the workloads whose pods no Service selects, and of which no case is: nobody's requests end with them. left are those that
// are no part of what is run. Those with clients of their own, at ports of nodes, come first. An input of Scenarios says itself what it is about,
// and so does who asks for a part of the workloads.
func Unserved(objects *manifest.Objects, cases []scenario.Case, left []record.LeftOut, opts *scenario.Options) []record.LeftOut {
	if len(objects.Scenarios) > 0 || opts.Target != "" {
		return nil
	}
	var out []record.LeftOut
	add := func(o *manifest.Object, r world.Resource) {
		served := false
		for i := range objects.Services {
			svc := &objects.Services[i]
			served = served || svc.Namespace == o.Namespace && world.Selects(svc.Value, world.TemplateOf(r).Labels)
		}
		isLeft := slices.ContainsFunc(left, func(x record.LeftOut) bool { return x.Kind == o.Kind && x.Name == o.ID() })
		if served || isLeft || slices.ContainsFunc(cases, func(c scenario.Case) bool { return c.Workload == o.ID() && c.Kind == o.Kind }) {
			return
		}
		ports, why := strings.Join(scenario.HostPorts(world.TemplateOf(r)), ", "), "no Service selects its pods"
		if ports != "" {
			why += ", and clients of host port " + ports + " are not judged"
		}
		out = append(out, record.LeftOut{
			Kind: o.Kind, Name: o.ID(), Why: why, HostPorts: ports, Source: o.Position.String(), File: o.File, Line: o.Line,
		})
	}
	for _, o := range objects.Deployments {
		add(o.Object, o.Value)
	}
	for _, o := range objects.StatefulSets {
		add(o.Object, o.Value)
	}
	for _, o := range objects.DaemonSets {
		add(o.Object, o.Value)
	}
	sorted.StableBy(out, func(x, y record.LeftOut) int { return cmp.Compare(min(1, len(y.HostPorts)), min(1, len(x.HostPorts))) })
	return out
}
