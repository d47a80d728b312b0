package explain

import (
	"fmt"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// why words the decisions of one service port.
type why struct {
	sp        *endpoints.ServicePort
	nodeName  string
	topology  endpoints.TopologyMode
	external  bool               // traffic from outside exists
	outside   endpoints.ListKind // the list of traffic from outside
	cluster   endpoints.ListKind // the list of traffic from the cluster
	ready     int                // ready endpoints anywhere
	readyHere int
}

func newWhy(sp *endpoints.ServicePort, nodeName string, topology endpoints.TopologyMode) *why {
	w := &why{
		sp: sp, nodeName: nodeName, topology: topology,
		external: sp.ExternallyAccessible(),
		outside:  endpoints.ListKind(sp.ExternalPolicy),
		cluster:  endpoints.ListKind(sp.InternalPolicy),
	}
	for i := range sp.Endpoints {
		if e := &sp.Endpoints[i]; e.Conditions.Ready() {
			w.ready++
			if e.IsLocal(nodeName) {
				w.readyHere++
			}
		}
	}
	return w
}

func (w *why) decision(i int, d endpoints.Decision) Decision {
	e := &w.sp.Endpoints[i]
	return Decision{
		Endpoint: e.Addr.String(), Node: e.NodeName, IsLocal: e.IsLocal(w.nodeName),
		Zone: e.Meta.Zone, Pod: e.Meta.Pod, Slice: e.Meta.Slice,
		Conditions: Conditions{e.Conditions.Ready(), e.Conditions.Serving(), e.Conditions.Terminating()},
		Cluster:    reasoned(d.Cluster, endpoints.ClusterList),
		Local:      reasoned(d.Local, endpoints.LocalList),
		Why:        w.sentence(e, d),
	}
}

func reasoned(r endpoints.Reason, list endpoints.ListKind) Reasoned {
	return Reasoned{Used: r.Used(), Reason: r.String(), Sentence: r.Sentence(list)}
}

// sentence says what both kinds of traffic make of an endpoint. Where they agree, or only
// one exists, it is the reason's own sentence.
func (w *why) sentence(e *endpoints.Endpoint, d endpoints.Decision) string {
	cluster := d.Of(w.cluster)
	outside := d.Of(w.outside)
	if !w.external || w.outside == w.cluster {
		return w.alone(e, cluster, w.cluster)
	}
	if outside == cluster && outside != endpoints.ReasonFallback {
		return w.alone(e, cluster, w.cluster)
	}
	if !outside.Used() && !cluster.Used() {
		if outside == endpoints.ReasonRemote {
			return w.alone(e, cluster, w.cluster)
		}
		return w.alone(e, outside, w.outside)
	}
	return fmt.Sprintf("%s; outside %s; the cluster %s", state(e.Conditions), w.clause(e, outside, w.outside), w.clause(e, cluster, w.cluster))
}

func (w *why) alone(e *endpoints.Endpoint, r endpoints.Reason, list endpoints.ListKind) string {
	switch r {
	case endpoints.ReasonReadyPreferred:
		return "terminating; " + w.readyCount(list)
	case endpoints.ReasonOtherZone:
		return fmt.Sprintf("ready, but hinted for zone %s, and this node's zone has its own", strings.Join(e.Meta.ForZones, ", "))
	case endpoints.ReasonOtherNode:
		return fmt.Sprintf("ready, but hinted for node %s, and this node has its own", strings.Join(e.Meta.ForNodes, ", "))
	case endpoints.ReasonReady:
		return w.readySentence(list)
	case endpoints.ReasonRemote:
		return fmt.Sprintf("%s; not on this node, so not for policy Local", state(e.Conditions))
	default:
		return r.Sentence(list)
	}
}

// readySentence adds what narrowed the list.
func (w *why) readySentence(list endpoints.ListKind) string {
	if list == endpoints.ClusterList && w.topology != endpoints.TopologyNone {
		return "ready, and hinted for this node's " + map[endpoints.TopologyMode]string{
			endpoints.PreferSameZone: "zone", endpoints.PreferSameNode: "own use",
		}[w.topology]
	}
	return "ready"
}

func state(c endpoints.Conditions) string {
	switch {
	case c.Ready():
		return "ready"
	case c.Draining():
		return "terminating"
	case c.Terminating():
		return "terminating and not serving"
	case c.Serving():
		return "serving but not ready"
	default:
		return "not ready"
	}
}

// clause continues "outside ..." or "the cluster ...".
func (w *why) clause(e *endpoints.Endpoint, r endpoints.Reason, list endpoints.ListKind) string {
	scope := "anywhere"
	if list == endpoints.LocalList {
		scope = "on this node"
	}
	switch r {
	case endpoints.ReasonReady:
		return "uses it"
	case endpoints.ReasonFallback:
		return "uses it because nothing ready is " + scope
	case endpoints.ReasonRemote:
		return "does not: it is not on this node"
	case endpoints.ReasonReadyPreferred:
		return "does not: " + w.readyCount(list)
	case endpoints.ReasonFallbackOff:
		return "does not: there is no KEP-1669 here"
	case endpoints.ReasonOtherZone, endpoints.ReasonOtherNode:
		return "does not: " + strings.TrimPrefix(w.alone(e, r, list), "ready, but ")
	default:
		return "does not: " + r.Sentence(list)
	}
}

func (w *why) readyCount(list endpoints.ListKind) string {
	n, where := w.ready, ""
	if list == endpoints.LocalList {
		n, where = w.readyHere, " on this node"
	}
	if n == 1 {
		return "one ready endpoint exists" + where
	}
	return fmt.Sprintf("%d ready endpoints exist%s", n, where)
}
