package observe

import (
	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// Summary counts what a node decides.
type Summary struct {
	Services, Ports int // a port counts once for each IP family
	Endpoints       int // that EndpointSlices list for them, ready or not
	// Fallbacks counts the ports of which a list holds serving terminating endpoints (KEP-1669).
	Fallbacks int
	// Dropping and Rejecting count the frontends that swallow or refuse new connections from somewhere.
	Dropping, Rejecting  int
	HealthCheckNodePorts int // once for each IP family
}

// Summarize counts what a Plan's node decides.
func Summarize(p *plan.Plan) Summary {
	s := Summary{Services: p.Len()}
	for svc := range p.Services() {
		s.Ports += len(svc.Ports)
		for i := range svc.Ports {
			if l := svc.Ports[i].Lists; l.ClusterFallback || l.LocalFallback {
				s.Fallbacks++
			}
		}
		for i := range svc.Source().Ports {
			s.Endpoints += len(svc.Source().Ports[i].Endpoints)
		}
		for _, f := range endpoints.Families() {
			if svc.HealthCheckNodePorts[f] != 0 {
				s.HealthCheckNodePorts++
			}
		}
	}
	for f := range p.Frontends() {
		drops, rejects := refusals(f, p.Node())
		if drops {
			s.Dropping++
		}
		if rejects {
			s.Rejecting++
		}
	}
	return s
}

func refusals(f *plan.Frontend, node *plan.Node) (drops, rejects bool) {
	for source, r := range f.Routes {
		if plan.Source(source) == plan.FromPod && !node.Detector.Implemented(f.Family()) {
			continue // as in routesOf
		}
		drops = drops || r.Action == plan.Drop
		rejects = rejects || r.Action == plan.Reject
	}
	return drops, rejects
}
