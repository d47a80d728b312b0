package healthcheck

import (
	"iter"
	"slices"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// Table is what all health-check node ports of one node answer, from one Snapshot. It is
// immutable. A node publishes a new one at the end of a rule sync, after the rules are in
// force, so that no probe knows of a change before the packets do.
type Table struct {
	nodeName string
	snapshot *endpoints.Snapshot
	// pages hold the ports, 256 to a page, IPv4's pages first; nil where there is none.
	// Tables share the pages in which they do not differ.
	pages [2 * pagesPerFamily]*page
}

const pagesPerFamily = 256

// page lists, by the low byte of the port, the Services that claim it, in name order.
// More than one never happens where an API server allocates the ports.
type page [256][]Service

// NewTable reads all Services of a Snapshot for the named node, under the Snapshot's
// Options.
func NewTable(s *endpoints.Snapshot, nodeName string) *Table {
	e := editor{table: &Table{nodeName: nodeName, snapshot: s}}
	for svc := range s.Services() {
		for _, f := range endpoints.Families() {
			if hc, ok := ServiceOf(svc, f, nodeName, s.Options()); ok {
				e.add(hc)
			}
		}
	}
	return e.table
}

// Next is NewTable for a later Snapshot of the same Cache, at the cost of the Services that
// changed, whatever the number of the others. Snapshots in between may have been skipped:
// then everything is read again.
func (t *Table) Next(s *endpoints.Snapshot) *Table {
	if s.Version() != t.snapshot.Version()+1 {
		return NewTable(s, t.nodeName)
	}
	e := editor{table: &Table{nodeName: t.nodeName, snapshot: s, pages: t.pages}}
	for _, name := range s.Changed() {
		before, after := t.snapshot.Service(name), s.Service(name)
		for _, f := range endpoints.Families() {
			old, had := ServiceOf(before, f, t.nodeName, s.Options())
			hc, has := ServiceOf(after, f, t.nodeName, s.Options())
			if old == hc {
				continue
			}
			if had {
				e.remove(old)
			}
			if has {
				e.add(hc)
			}
		}
	}
	return e.table
}

// editor changes a Table that nobody else has seen yet. It copies a page before its first
// change to it, and never changes the list of a port.
type editor struct {
	table *Table
	owned [2 * pagesPerFamily]bool
}

func (e *editor) claims(s Service) *[]Service {
	i, j := slot(s.Family, s.Port)
	if !e.owned[i] {
		fresh := page{}
		if old := e.table.pages[i]; old != nil {
			fresh = *old
		}
		e.table.pages[i], e.owned[i] = &fresh, true
	}
	return &e.table.pages[i][j]
}

func (e *editor) add(s Service) {
	list := e.claims(s)
	*list = append(slices.Clip(*list), s)
	slices.SortFunc(*list, func(a, b Service) int { return a.Name.Compare(b.Name) })
}

func (e *editor) remove(s Service) {
	list := e.claims(s)
	*list = slices.DeleteFunc(slices.Clone(*list), func(o Service) bool { return o.Name == s.Name })
}

func slot(f endpoints.IPFamily, port uint16) (pageIndex, portIndex int) {
	return int(f)*pagesPerFamily + int(port>>8), int(port & 0xff)
}

// Services walks the ports to listen on, each once: IPv4 before IPv6, then by port. Where
// two Services claim the same port, which the API server does not let happen, the first in
// name order has it; upstream gives it to whichever comes first and leaves it there.
func (t *Table) Services() iter.Seq[Service] {
	return func(yield func(Service) bool) {
		t.walk(func(claims []Service) bool { return len(claims) == 0 || yield(claims[0]) })
	}
}

// Refused lists the Services whose port another one has (see Services), in order of port
// and name. Nothing answers for them. It is nil when there is none.
func (t *Table) Refused() []Service {
	var out []Service
	t.walk(func(claims []Service) bool {
		if len(claims) > 1 {
			out = append(out, claims[1:]...)
		}
		return true
	})
	return out
}

func (t *Table) walk(visit func(claims []Service) bool) {
	for _, p := range t.pages {
		if p == nil {
			continue
		}
		for _, claims := range p {
			if !visit(claims) {
				return
			}
		}
	}
}

// Lookup returns the Service that a port of a family answers for, false when none does.
func (t *Table) Lookup(family endpoints.IPFamily, port uint16) (Service, bool) {
	i, j := slot(family, port)
	if t.pages[i] == nil || len(t.pages[i][j]) == 0 {
		return Service{}, false
	}
	return t.pages[i][j][0], true
}

// Answer returns what a port of a family answers while the proxy is healthy or not.
//
// A port that no Service has any more still gets an answer while its listener closes: 503,
// with no name and no endpoints. Upstream's handler returns without writing there, which
// the HTTP server turns into an empty 200: one passing probe for a Service that is gone.
func (t *Table) Answer(family endpoints.IPFamily, port uint16, proxyHealthy bool) Answer {
	s, ok := t.Lookup(family, port)
	if !ok {
		s = Service{Family: family, Port: port}
	}
	return ServiceAnswer(s, proxyHealthy, t.snapshot.Options())
}
