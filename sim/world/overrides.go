package world

import "github.com/lameduck-proxy/lameduck/sim/engine"

// Overrides are values given beside the input, which win over it: --profile, --set start,
// --set start.NAME, --set prestop.NAME. The zero value overrides nothing.
type Overrides struct {
	Profile string // of every app, "" for what the table says
	// Start and PreStop are by name of a workload or container; "" is every one. The last of
	// several that match counts.
	Start, PreStop []Named
}

// Named is a distribution for what has a name.
type Named struct {
	Name string
	Dist engine.Dist
}

// For returns the overrides as they apply to the containers of one workload: what names the
// workload becomes what counts for each of its containers.
func (o Overrides) For(workload string) Overrides {
	out := o
	out.Start, out.PreStop = forWorkload(o.Start, workload), forWorkload(o.PreStop, workload)
	return out
}

func forWorkload(all []Named, workload string) []Named {
	var out []Named
	for _, n := range all {
		if n.Name == workload {
			n.Name = ""
		}
		out = append(out, n)
	}
	return out
}

// Lookup returns what the last of the values says for a name, ok false where none does.
func Lookup(all []Named, name string) (d engine.Dist, ok bool) {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Name == "" || all[i].Name == name {
			return all[i].Dist, true
		}
	}
	return engine.Dist{}, false
}
