package plan

import (
	"fmt"
	"slices"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// CheckInvariants says what in a Plan's inside does not fit together.
func (p *Plan) CheckInvariants() error {
	var names []endpoints.ServiceName
	frontends := 0
	for s := range p.Services() {
		if s == nil {
			return fmt.Errorf("a name stands for no Service")
		}
		names = append(names, s.Name)
		frontends += len(s.Frontends)
		for i := range s.Frontends {
			if c, ok := p.claims.Get(s.claim(i)); !ok || p.frontend(c.by) != &s.Frontends[i] {
				return fmt.Errorf("%s: frontend %s has no claim that leads back to it", s.Name, s.Frontends[i].Key)
			}
			if want := p.Frontend(s.Frontends[i].Key) == &s.Frontends[i]; p.inForce(s, i) != want {
				return fmt.Errorf("%s: frontend %s in force: %v, want %v", s.Name, s.Frontends[i].Key, !want, want)
			}
		}
	}
	if !slices.IsSortedFunc(names, endpoints.ServiceName.Compare) || len(names) != p.Len() || p.names.Len() != p.Len() {
		return fmt.Errorf("%d names in order %v, want %d", len(names), names, p.Len())
	}
	inForce := 0
	for range p.Frontends() {
		inForce++
	}
	if p.claims.Len() != frontends || p.lost.Len() != frontends-inForce {
		return fmt.Errorf("%d claims, %d of them lost, for %d frontends, %d of them in force", p.claims.Len(), p.lost.Len(), frontends, inForce)
	}
	return nil
}
