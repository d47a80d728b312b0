package observe

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/healthcheck"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// Change is all that a node decides differently about one Service.
type Change struct {
	Service   endpoints.ServiceName
	Endpoints []Endpoint // by port, family, endpoint and list
	Routes    []Route    // by frontend and source
	Health    []Health   // by family
}

// empty says whether the node decides as before.
func (c *Change) empty() bool { return len(c.Endpoints)+len(c.Routes)+len(c.Health) == 0 }

// Endpoint is what one list now makes of an endpoint.
type Endpoint struct {
	Port   endpoints.ServicePortName
	Family endpoints.IPFamily
	Addr   netip.AddrPort
	Slice  string // the EndpointSlice that lists it, or last did
	List   endpoints.ListKind
	// Was and Is are the reasons, zero where there is no such endpoint.
	Was, Is endpoints.Reason
}

// Absent is what Code says of an endpoint that no EndpointSlice of the port lists.
const Absent = "absent"

// Code is a Reason's code, Absent for none.
func Code(r endpoints.Reason) string {
	if r == 0 {
		return Absent
	}
	return r.String()
}

// Sentence says in words what the list makes of the endpoint.
func (e *Endpoint) Sentence() string {
	if e.Is == 0 {
		return "no EndpointSlice lists it for this port any more"
	}
	return e.Is.Sentence(e.List)
}

// Route is what now becomes of new connections from one source to a frontend that swallows or refuses them, or did before.
type Route struct {
	Key    plan.Key
	Kind   plan.Kind
	Port   endpoints.ServicePortName
	Source plan.Source
	// Was and Is differ. Where there is no frontend it counts as Forward.
	Was, Is plan.Action
	Why     plan.Why // of Is
	// Fresh says that there was no such frontend, Gone that there is none any more.
	Fresh, Gone bool
}

// Health is what a health-check node port now stands for.
type Health struct {
	Family endpoints.IPFamily
	// Was and Is have port 0 where there is no such port.
	Was, Is healthcheck.Service
}

// Names returns the Services that Diff has to look at where it is not known what changed, in order. A Plan of
// another node may decide everything differently. before may be nil: then there was nothing.
func Names(before, after *plan.Plan) []endpoints.ServiceName {
	same := before != nil && before.Node() == after.Node()
	var names []endpoints.ServiceName
	for s := range after.Services() {
		if same {
			if old := before.Service(s.Name); old != nil && old.Source() == s.Source() {
				continue
			}
		}
		names = append(names, s.Name)
	}
	if before != nil {
		for s := range before.Services() {
			if after.Service(s.Name) == nil {
				names = append(names, s.Name)
			}
		}
	}
	slices.SortFunc(names, endpoints.ServiceName.Compare)
	return names
}

// Diff returns what a node decides differently about the named Services, in the order of the names, without those about which it
// decides as before. before may be nil: then everything is new.
func Diff(before, after *plan.Plan, names []endpoints.ServiceName) []Change {
	var out []Change
	seen := map[plan.Key]bool{}
	for _, name := range names {
		d := differ{before: before, after: after, seen: seen}
		if before != nil {
			d.old = before.Service(name)
		}
		d.new = after.Service(name)
		c := Change{Service: name, Endpoints: d.endpoints(), Routes: d.routes(), Health: d.health()}
		if !c.empty() {
			out = append(out, c)
		}
	}
	return out
}

// differ compares one Service of two Plans. old, new and before may be nil.
type differ struct {
	before, after *plan.Plan
	old, new      *plan.Service
	// seen are the addresses that were looked at: that of one Service may fall to another that changed as well.
	seen map[plan.Key]bool
}

// entry is an endpoint in one list. Slices may list an address twice, which is why their name is a part of it.
type entry struct {
	port   endpoints.ServicePortName
	family endpoints.IPFamily
	addr   netip.AddrPort
	slice  string
	list   endpoints.ListKind
}

func (e entry) compare(o entry) int {
	return cmp.Or(e.port.Compare(o.port), cmp.Compare(e.family, o.family), e.addr.Compare(o.addr), cmp.Compare(e.slice, o.slice), cmp.Compare(e.list, o.list))
}

func (d *differ) endpoints() []Endpoint {
	var was, is map[entry]endpoints.Reason
	if d.old != nil {
		was = decisions(d.old.Source(), d.before.Node())
	}
	if d.new != nil {
		is = decisions(d.new.Source(), d.after.Node())
	}
	var out []Endpoint
	for e, r := range is { // order: sorted below
		if was[e] != r {
			out = append(out, Endpoint{e.port, e.family, e.addr, e.slice, e.list, was[e], r})
		}
	}
	for e, r := range was { // order: sorted below
		if is[e] == 0 {
			out = append(out, Endpoint{e.port, e.family, e.addr, e.slice, e.list, r, 0})
		}
	}
	slices.SortFunc(out, func(a, b Endpoint) int {
		return entry{a.Port, a.Family, a.Addr, a.Slice, a.List}.compare(entry{b.Port, b.Family, b.Addr, b.Slice, b.List})
	})
	return out
}

// decisions are those of a Service's endpoints. What a list that nobody asks makes of them is none.
func decisions(svc *endpoints.Service, node *plan.Node) map[entry]endpoints.Reason {
	out := map[entry]endpoints.Reason{}
	info := endpoints.NodeInfo{Name: node.Name, Zone: node.Zone}
	for i := range svc.Ports {
		sp := &svc.Ports[i]
		_, list := endpoints.Decide(sp, info, node.Options, nil)
		for j, decision := range list {
			e := entry{port: sp.Name, family: sp.Family, addr: sp.Endpoints[j].Addr, slice: sp.Endpoints[j].Meta.Slice}
			for _, e.list = range []endpoints.ListKind{endpoints.ClusterList, endpoints.LocalList} {
				if r := decision.Of(e.list); r != endpoints.ReasonPolicyUnused {
					out[e] = r
				}
			}
		}
	}
	return out
}

// routes compares, under each address that the Service has or had, the frontends in force: another Service may have
// taken its place.
func (d *differ) routes() []Route {
	var out []Route
	for _, key := range d.keys() {
		if d.seen[key] {
			continue
		}
		d.seen[key] = true
		var was *plan.Frontend
		if d.before != nil {
			was = d.before.Frontend(key)
		}
		out = append(out, routesOf(was, d.after.Frontend(key), d.after.Node())...)
	}
	return out
}

// keys are the addresses of both states of the Service, each once, in order.
func (d *differ) keys() []plan.Key {
	var keys []plan.Key
	for _, s := range []*plan.Service{d.old, d.new} {
		if s == nil {
			continue
		}
		for i := range s.Frontends {
			keys = append(keys, s.Frontends[i].Key)
		}
	}
	slices.SortFunc(keys, plan.Key.Compare)
	return slices.Compact(keys)
}

func routesOf(was, is *plan.Frontend, node *plan.Node) []Route {
	var out []Route
	for _, source := range []plan.Source{plan.FromPod, plan.FromNode, plan.FromOutside} {
		var before, now plan.Route
		r := Route{Source: source, Fresh: was == nil, Gone: is == nil}
		if was != nil {
			before = was.Routes[source]
			r.Key, r.Kind, r.Port = was.Key, was.Kind, was.Service
		}
		if is != nil {
			now = is.Routes[source]
			r.Key, r.Kind, r.Port = is.Key, is.Kind, is.Service
		}
		if source == plan.FromPod && !node.Detector.Implemented(endpoints.FamilyOf(r.Key.Addr)) {
			continue // without a detector no packet counts as a pod's
		}
		if r.Was, r.Is, r.Why = before.Action, now.Action, now.Why; r.Was != r.Is {
			out = append(out, r)
		}
	}
	return out
}

func (d *differ) health() []Health {
	var out []Health
	for _, f := range endpoints.Families() {
		h := Health{Family: f}
		if d.old != nil {
			h.Was = healthOf(d.old, f, d.before.Node())
		}
		if d.new != nil {
			h.Is = healthOf(d.new, f, d.after.Node())
		}
		if h.Was.Port != h.Is.Port || h.Was.LocalEndpoints != h.Is.LocalEndpoints {
			out = append(out, h)
		}
	}
	return out
}

// healthOf is what a Service's port stands for, zero for none.
func healthOf(s *plan.Service, f endpoints.IPFamily, node *plan.Node) healthcheck.Service {
	h, _ := healthcheck.ServiceOf(s.Source(), f, node.Name, node.Options)
	return h
}
