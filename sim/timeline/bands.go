package timeline

import (
	"cmp"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// listedNodes is how many nodes a band lists.
const listedNodes = 40

// bands are those of the pods that went: that were deleted, or accept no connections any more.
func (b *builder) bands(lanes []PodLane) []Band {
	out := []Band{}
	for i := range lanes {
		if p := b.r.pods[lanes[i].ID]; p.deleted != nil || p.closed != nil {
			out = append(out, b.band(&lanes[i], p))
		}
	}
	return out
}

func (b *builder) band(lane *PodLane, p *pod) Band {
	out := Band{Pod: lane.ID, Deleted: p.deleted, Told: p.told, From: p.closed, Lost: b.r.metPods[lane.Name], Nodes: []NodeBand{}}
	var all []NodeBand
	for n := range b.r.nodes {
		if x, ok := b.nodeBand(n, lane); ok && !(x.Gone && *x.LetGo < p.goes()) {
			all = append(all, x)
		}
	}
	all = append(all, b.balancers(lane)...)
	sorted.StableBy(all, func(x, y NodeBand) int { return -cmp.Compare(late(x.LetGo), late(y.LetGo)) })
	if len(all) > 0 {
		out.To, out.Last = all[0].LetGo, all[0].Name
	}
	// Those that lost something are listed whenever they let go.
	sorted.StableBy(all, func(x, y NodeBand) int {
		return cmp.Compare(rankOf(x.Lost == 0), rankOf(y.Lost == 0))
	})
	out.More = max(0, len(all)-listedNodes)
	out.Nodes = append(out.Nodes, all[:len(all)-out.More]...)
	sorted.StableBy(out.Nodes, func(x, y NodeBand) int { return -cmp.Compare(late(x.LetGo), late(y.LetGo)) })
	return out
}

// nodeBand is when a node let go of a pod: with its machine at the latest. It is not ok where its rules never led there.
func (b *builder) nodeBand(n int, lane *PodLane) (NodeBand, bool) {
	x := &b.r.nodes[n]
	at, u, ok := x.letGo(b.placeOf(lane.ID))
	if !ok {
		return NodeBand{}, false
	}
	out := NodeBand{
		Node: n, Proxy: -1, Name: b.r.sc.Nodes[n].Name, LetGo: at, Fallback: x.fellBack(b.placeOf(lane.ID)),
		Lost: b.r.met[metKey{lane.Name, n, anyStream, ""}], Event: u.event,
	}
	if m := x.lost(); m != nil && at == nil {
		out.LetGo, out.Gone, out.Event = &m.At, true, m.Event
	}
	return out, true
}

// goes is when a pod begins to go: it is deleted, or accepts no connections any more, whichever is first.
func (p *pod) goes() engine.Time { return min(late(p.deleted), late(p.closed)) }

// late orders moments; what never comes is last.
func late(at *engine.Time) engine.Time {
	if at == nil {
		return engine.Never
	}
	return *at
}

// nameOf is a pod's name as ledgers have it.
func (r *Recorder) nameOf(id api.PodID) string {
	// order: a pod has one name
	for name, of := range r.named {
		if of == id {
			return name
		}
	}
	return ""
}

// balancers are when load balancers, and the pods of ingress controllers, sent a pod its last new connection.
func (b *builder) balancers(lane *PodLane) []NodeBand {
	var out []NodeBand
	for _, k := range b.r.order {
		if b.r.balancer(k).Target != world.TargetPods || k.member != lane.ID {
			continue
		}
		gets := b.r.targets[k].gets.until(b.end)
		if len(gets) == 0 {
			continue
		}
		name, proxy, ingress := balancerName(b.r.balancer(k)), -1, ""
		if k.proxy >= 0 {
			name, proxy, ingress = b.called(api.PodID(k.proxy)), k.proxy, b.r.nameOf(api.PodID(k.proxy))
		}
		to := &gets[len(gets)-1].To
		if *to == b.end {
			to = nil
		}
		band := NodeBand{Node: -1, Proxy: proxy, Name: name, Clients: b.through(k), LetGo: to}
		for _, client := range band.Clients {
			band.Lost += b.r.met[metKey{lane.Name, -1, client, ingress}]
		}
		out = append(out, band)
	}
	return out
}
