package endpoints

import "slices"

// zoneSets holds the zone hints of a port's endpoints as sets of bits, so that Select
// compares no strings. It is empty where nothing is hinted and where the hints name more
// zones than a set has bits; then the hints themselves are read.
type zoneSets struct {
	names []string // the zone that each bit stands for
	of    []uint64 // by position in Endpoints; 0 is no hint
}

const maxZones = 64

// zoneSetsOf reads the hints of all endpoints.
func zoneSetsOf(list []Endpoint) zoneSets {
	z := zoneSets{of: make([]uint64, len(list))}
	for i := range list {
		for _, zone := range list[i].Meta.ForZones {
			bit := z.bit(zone)
			if bit == 0 {
				if len(z.names) == maxZones {
					return zoneSets{}
				}
				z.names = append(z.names, zone)
				bit = z.bit(zone)
			}
			z.of[i] |= bit
		}
	}
	return z
}

// bit returns the bit of a zone, 0 when no hint names it.
func (z *zoneSets) bit(zone string) uint64 {
	if i := slices.Index(z.names, zone); i >= 0 {
		return 1 << i
	}
	return 0
}

// viewer is a node with what it looks for in the zone hints of one port.
type viewer struct {
	NodeInfo
	sets []uint64 // zoneSets.of
	bit  uint64   // its zone's
}

func view(node NodeInfo, sp *ServicePort) viewer {
	return viewer{node, sp.zones.of, sp.zones.bit(node.Zone)}
}

// inZone says whether the endpoint at position i is hinted for the node's zone, and whether
// it has zone hints at all.
func (v *viewer) inZone(i int, m *Meta) (mine, hinted bool) {
	if v.sets != nil {
		return v.sets[i]&v.bit != 0, v.sets[i] != 0
	}
	return slices.Contains(m.ForZones, v.Zone), len(m.ForZones) > 0
}
