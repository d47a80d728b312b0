package record

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
)

// failing is what fails without the action, for one client and one cause.
type failing struct {
	stream int
	cause  ledger.Cause
	count  uint64
	nodes  []map[int]bool // by run: where
}

// before says what fails without the action, by client, the most first.
func (c *Case) before() []Before {
	if len(c.Clients) == 0 { // there are no clients, or only figures are compared
		return nil
	}
	var list []failing
	asked := make([]uint64, len(c.Clients))
	for i := range c.Runs {
		r := &c.Runs[i]
		streams := r.Without
		if streams == nil {
			streams = r.Streams
		}
		for k := range streams {
			asked[k] += streams[k].Total
		}
		seen := map[int]bool{} // of list, in this run
		for _, g := range r.WithoutGroups {
			at := slices.IndexFunc(list, func(f failing) bool { return f.stream == g.Stream && f.cause == g.Blame.Cause })
			if at < 0 {
				at = len(list)
				list = append(list, failing{stream: g.Stream, cause: g.Blame.Cause})
			}
			f := &list[at]
			if !seen[at] {
				seen[at] = true
				f.nodes = append(f.nodes, map[int]bool{})
			}
			f.count += g.Count
			maps.Copy(f.nodes[len(f.nodes)-1], nodeSet(g.Nodes))
		}
	}
	sorted.StableBy(list, func(a, b failing) int {
		return cmp.Or(cmp.Compare(a.stream, b.stream), cmp.Compare(b.count, a.count), cmp.Compare(a.cause, b.cause))
	})
	out := []Before{}
	for i := range list {
		f := &list[i]
		out = append(out, Before{What: c.sentence(f), Client: c.Clients[f.stream].Name, Lost: Fraction(f.count * 1_000_000 / max(asked[f.stream], 1))})
	}
	return out
}

func nodeSet(counts map[int]uint64) map[int]bool {
	out := map[int]bool{}
	for n := range counts { // order: a set
		out[n] = true
	}
	return out
}

// sentence says what does not work, and why.
func (c *Case) sentence(f *failing) string {
	name := c.Workload[strings.LastIndex(c.Workload, "/")+1:]
	switch f.cause {
	case ledger.NoLocalEndpoint:
		policy := "internalTrafficPolicy"
		if c.Clients[f.stream].External {
			policy = "externalTrafficPolicy"
		}
		if service := c.Clients[f.stream].Shared; service != "" {
			name = "Service " + service
		}
		return fmt.Sprintf("%s: no pod of %s is there and %s is Local", c.whichNodes(f), name, policy)
	case ledger.NoEndpoint:
		return fmt.Sprintf("nothing answers: %s has no pod that is ready", name)
	case ledger.NoHealthyTarget:
		return fmt.Sprintf("nothing answers: the load balancer has no healthy pod or node of %s", name)
	case ledger.NotListeningYet, ledger.ListenerClosed:
		return fmt.Sprintf("pods of %s do not listen on this port", name)
	case ledger.LivenessRestart:
		return fmt.Sprintf("pods of %s are restarted by their liveness probe", name)
	case ledger.Crashed:
		return fmt.Sprintf("pods of %s crash", name)
	case ledger.Overloaded:
		if pool := c.Clients[f.stream].Pool; pool > 0 {
			return fmt.Sprintf("the %d connections of the clients are too few for what they ask: an answer of %s keeps one of them busy for too long", pool, name)
		}
		return fmt.Sprintf("pods of %s have too much to do", name)
	case ledger.AppError:
		return fmt.Sprintf("pods of %s answer with errors", name)
	case ledger.KeepaliveRace:
		return fmt.Sprintf("pods of %s close idle connections before their clients do, and requests on their way are lost: "+
			"a longer keep-alive timeout of the server mends it", name)
	default:
		return fmt.Sprintf("requests to %s fail: %s", name, f.cause)
	}
}

// whichNodes names the nodes that never answer, where they are the same in all runs.
func (c *Case) whichNodes(f *failing) string {
	first := f.nodes[0]
	same := !slices.ContainsFunc(f.nodes, func(m map[int]bool) bool { return !maps.Equal(m, first) })
	var names []string
	for _, n := range slices.Sorted(maps.Keys(first)) {
		if n >= 0 && n < len(c.Nodes) {
			names = append(names, c.Nodes[n])
		}
	}
	const most = 3 // names that fit into a sentence
	switch {
	case same && len(names) == 1:
		return names[0] + " never answers"
	case same && len(names) > 1 && len(names) <= most:
		return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1] + " never answer"
	case len(first) == 1:
		return "1 node never answers"
	default:
		return fmt.Sprintf("%d nodes never answer", len(first))
	}
}
