package world

// FromOutside says whether the requests come from outside of the cluster, on whatever way.
func (t *Traffic) FromOutside() bool { return t.External || t.Bypass != "" || t.Ingress != nil }

// Counted says whether it matters how many clients there are, beside those of a pool.
func (t *Traffic) Counted() bool { return t.Shared() || t.FixedPorts || t.Named }
