package endpoints

import "slices"

// NodeInfo is what selection knows of the node it decides for.
type NodeInfo struct {
	Name string // metadata.name; "" has no local endpoints
	Zone string // label topology.kubernetes.io/zone; "" matches no zone hint
}

// TopologyMode is the traffic-distribution level in force for a port on a node.
type TopologyMode uint8

// The modes, weakest first.
const (
	TopologyNone TopologyMode = iota
	PreferSameZone
	PreferSameNode
)

// String returns the API's word for the mode, "" for none.
func (m TopologyMode) String() string {
	switch m {
	case PreferSameZone:
		return "PreferSameZone"
	case PreferSameNode:
		return "PreferSameNode"
	default:
		return ""
	}
}

// List is what one traffic policy may use on one node.
type List struct {
	// Used says whether the port sends any traffic by this policy. An unused list is
	// something else than an empty one: nothing asks for it.
	Used bool
	// Fallback says that nothing ready was in scope and the list holds the serving
	// terminating endpoints instead (KEP-1669).
	Fallback bool
	// Index holds positions in ServicePort.Endpoints, ascending. Nil when unused or empty.
	// It may be shared with other Selections: read it, never write to it.
	Index []int32
}

// Selection is which endpoints of a port one node uses. It refers to the ServicePort it
// was made from by position and owns nothing else.
type Selection struct {
	Cluster, Local List
	// Reachable is the union of both lists in endpoint order: all that this node may
	// ever pick. It may share memory with either list, and is as read-only as they are.
	Reachable []int32
	// HasAny says whether any endpoint anywhere in the cluster could be used. It decides
	// between the answers of an empty list: reject when false, drop when true.
	HasAny   bool
	Topology TopologyMode
}

// tally is what one pass over the endpoints learns.
type tally struct {
	ready, localReady       run // conditions ready
	draining, localDraining run // not ready, serving and terminating
	inMode                  run // ready and available in the topology mode taken

	noNodeHint, noZoneHint   bool // some ready endpoint lacks the hint
	forThisNode, forThisZone run
}

// run is some of a port's endpoints: how many, and where the first and last of them are.
// When nothing else lies between these, the run is a list without being written down.
type run struct {
	n, first, last int32
}

func (r *run) add(i int) {
	if r.n == 0 {
		r.first = int32(i)
	}
	r.last = int32(i)
	r.n++
}

// within returns the run as a part of all, nil when it is empty or has gaps.
func (r *run) within(all []int32) []int32 {
	if r.n == 0 || r.last-r.first+1 != r.n || int(r.last) >= len(all) {
		return nil
	}
	return all[r.first : r.last+1 : r.last+1]
}

// Select decides which endpoints of sp the node uses, exactly as kube-proxy 1.36 does
// with CurrentOptions (topology.go, CategorizeEndpoints; verified):
//
//   - Cluster: all ready endpoints, narrowed by topology hints; when none is ready
//     anywhere, all serving terminating ones, whatever their hints.
//   - Local: the ready endpoints on this node, hints ignored; when none is, the serving
//     terminating ones on this node; never a remote one.
//
// The fallback is decided for each list and each node by itself. Nothing is allocated
// but the result, and a list without gaps not even that.
func Select(sp *ServicePort, node NodeInfo, o Options) (s Selection) {
	s.choose(sp, &node, o, exclusions(sp, node.Name, o))
	return s
}

// choose is Select once it is known which entries count; skip is nil when all do. The
// tally it returns is what Decide needs beside the lists.
func (s *Selection) choose(sp *ServicePort, node *NodeInfo, o Options, skip []Reason) (t tally) {
	s.Cluster.Used, s.Local.Used = sp.UsesCluster(), sp.UsesLocal()
	t.count(sp, node, o, skip, s.Local.Used)
	s.Topology = topologyMode(&t, o)
	switch s.Topology {
	case PreferSameNode:
		t.inMode = t.forThisNode
	case PreferSameZone:
		t.inMode = t.forThisZone
	default:
		t.inMode = t.ready
	}
	s.settle(sp, &t, o)
	s.fill(sp, node, &t, skip)
	return t
}

// count walks the endpoints once, or not at all where their traits already say it. The
// local counts stay 0 unless asked for.
func (t *tally) count(sp *ServicePort, node *NodeInfo, o Options, skip []Reason, local bool) {
	t.noNodeHint = !o.NodeHints || sp.traits&hasNodeHints == 0
	t.noZoneHint = !o.ZoneHints || sp.traits&hasZoneHints == 0
	hints := !t.noNodeHint || !t.noZoneHint
	if skip == nil && !hints && !local && sp.traits&onlyReady != 0 {
		n := int32(len(sp.Endpoints))
		t.ready = run{n: n, last: n - 1}
		return
	}
	for i := range sp.Endpoints {
		if !counts(skip, i) {
			continue
		}
		e := &sp.Endpoints[i]
		switch {
		case e.Conditions.Ready():
			t.ready.add(i)
			if local && e.IsLocal(node.Name) {
				t.localReady.add(i)
			}
			if hints {
				t.countHints(i, e.Meta, node)
			}
		case e.Conditions.Draining():
			t.draining.add(i)
			if local && e.IsLocal(node.Name) {
				t.localDraining.add(i)
			}
		}
	}
}

// countHints stops looking at a level that is out of force.
func (t *tally) countHints(i int, m *Meta, node *NodeInfo) {
	if !t.noNodeHint {
		if len(m.ForNodes) == 0 {
			t.noNodeHint = true
		} else if slices.Contains(m.ForNodes, node.Name) {
			t.forThisNode.add(i)
		}
	}
	if !t.noZoneHint {
		if len(m.ForZones) == 0 {
			t.noZoneHint = true
		} else if slices.Contains(m.ForZones, node.Zone) {
			t.forThisZone.add(i)
		}
	}
}

// topologyMode follows kube-proxy 1.36 topology.go, topologyModeFromHints (verified):
// hints count only over ready endpoints, one without a hint disables its level for all,
// and a level with nothing for this node or zone is passed over.
func topologyMode(t *tally, o Options) TopologyMode {
	switch {
	case t.ready.n == 0:
		return TopologyNone
	case o.NodeHints && !t.noNodeHint && t.forThisNode.n > 0:
		return PreferSameNode
	case o.ZoneHints && !t.noZoneHint && t.forThisZone.n > 0:
		return PreferSameZone
	default:
		return TopologyNone
	}
}

// settle decides which lists exist, which of them fall back and whether the service has
// any endpoints at all, from the counts alone.
func (s *Selection) settle(sp *ServicePort, t *tally, o Options) {
	clusterFallback, localFallback := fallbacks(sp, o)
	s.Cluster.Fallback = s.Cluster.Used && clusterFallback && t.ready.n == 0 && t.draining.n > 0
	s.Local.Fallback = s.Local.Used && localFallback && t.localReady.n == 0 && t.localDraining.n > 0
	s.HasAny = t.ready.n > 0 || t.draining.n > 0 && (clusterFallback || s.Local.Used && localFallback)
	if !s.Cluster.Used {
		s.Topology = TopologyNone // only the Cluster list looks at hints
	}
}

// fallbacks says which lists of the port KEP-1669 applies to under o. Its first form,
// the alpha of 1.22 and 1.23, knew the Local list of external traffic only.
func fallbacks(sp *ServicePort, o Options) (cluster, local bool) {
	switch o.TerminatingFallback {
	case FallbackAll:
		return true, true
	case FallbackExternalLocal:
		return false, sp.usesExternalLocal()
	default:
		return false, false
	}
}

// fill writes down the lists that are not simply parts of sp.all; the tally already says how
// long each is.
func (s *Selection) fill(sp *ServicePort, node *NodeInfo, t *tally, skip []Reason) {
	cluster, local := s.Cluster.run(&t.inMode, &t.draining), s.Local.run(&t.localReady, &t.localDraining)
	s.Cluster.Index, s.Local.Index = cluster.within(sp.all), local.within(sp.all)
	if int(cluster.n) > len(s.Cluster.Index) {
		s.Cluster.Index = s.fillCluster(sp, node, skip, make([]int32, 0, cluster.n))
	}
	if int(local.n) > len(s.Local.Index) {
		s.Local.Index = s.fillLocal(sp, node, skip, make([]int32, 0, local.n))
	}
	s.Reachable = s.union()
}

func (s *Selection) fillCluster(sp *ServicePort, node *NodeInfo, skip []Reason, list []int32) []int32 {
	for i := range sp.Endpoints {
		e := &sp.Endpoints[i]
		if e.usable(s.Cluster.Fallback) && e.inMode(s.Topology, node) && counts(skip, i) {
			list = append(list, int32(i))
		}
	}
	return list
}

func (s *Selection) fillLocal(sp *ServicePort, node *NodeInfo, skip []Reason, list []int32) []int32 {
	for i := range sp.Endpoints {
		e := &sp.Endpoints[i]
		if e.usable(s.Local.Fallback) && e.IsLocal(node.Name) && counts(skip, i) {
			list = append(list, int32(i))
		}
	}
	return list
}

// counts says whether entry i counts, given what exclusions returned.
func counts(skip []Reason, i int) bool {
	return skip == nil || skip[i] == reasonUndecided
}

// run returns the endpoints in the list.
func (l *List) run(ready, draining *run) run {
	switch {
	case !l.Used:
		return run{}
	case l.Fallback:
		return *draining
	default:
		return *ready
	}
}

// usable says whether the endpoint's conditions fit a list that has fallen back or not.
func (e *Endpoint) usable(fallback bool) bool {
	if fallback {
		return e.Conditions.Draining()
	}
	return e.Conditions.Ready()
}

// inMode says whether the endpoint is available in the topology mode. There is no fallback here:
// that happened when the mode was chosen.
func (e *Endpoint) inMode(m TopologyMode, node *NodeInfo) bool {
	switch m {
	case PreferSameNode:
		return slices.Contains(e.Meta.ForNodes, node.Name)
	case PreferSameZone:
		return slices.Contains(e.Meta.ForZones, node.Zone)
	default:
		return true
	}
}

// union merges the two ascending lists. One of them usually holds the other: then it is
// shared instead of copied.
func (s *Selection) union() []int32 {
	a, b := s.Cluster.Index, s.Local.Index
	switch {
	case len(b) == 0 || s.Topology == TopologyNone && s.Cluster.Used && s.Cluster.Fallback == s.Local.Fallback:
		return a
	case len(a) == 0:
		return b
	}
	out := make([]int32, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			out, a = append(out, a[0]), a[1:]
		case a[0] > b[0]:
			out, b = append(out, b[0]), b[1:]
		default:
			out, a, b = append(out, a[0]), a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}
