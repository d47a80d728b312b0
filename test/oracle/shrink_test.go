package oracle

import "slices"

// maxShrinkRuns bounds the work on one finding.
const maxShrinkRuns = 3000

// shrink returns a world that still shows a difference of the same kind and from which no single event,
// node, endpoint, port or hint can be taken. Removal is greedy: the result is small, not
// smallest.
func shrink(w world) (world, error) {
	_, _, err := run(w)
	kind := kindOf(err)
	for runs := 0; runs < maxShrinkRuns; {
		smaller := false
		for _, c := range candidates(w) {
			runs++
			if _, _, e := run(c); e != nil && kindOf(e) == kind {
				w, err, smaller = c, e, true
				break
			}
		}
		if !smaller {
			break
		}
	}
	return w, err
}

// candidates lists the worlds that are one step smaller, the largest steps first.
func candidates(w world) []world {
	var out []world
	for i := len(w.events) - 1; i >= 0; i-- {
		out = append(out, w.withEvents(slices.Delete(slices.Clone(w.events), i, i+1)))
	}
	for i := range w.nodes {
		if len(w.nodes) > 1 {
			c := w
			c.nodes = slices.Delete(slices.Clone(w.nodes), i, i+1)
			out = append(out, c)
		}
	}
	for i, e := range w.events {
		for _, smaller := range smallerEvents(e) {
			events := slices.Clone(w.events)
			events[i] = smaller
			out = append(out, w.withEvents(events))
		}
	}
	return out
}

func (w world) withEvents(events []event) world {
	w.events = events
	return w
}

func smallerEvents(e event) []event {
	var out []event
	if e.slice != nil {
		for i := range e.slice.Endpoints {
			s := e.slice.DeepCopy()
			s.Endpoints = slices.Delete(s.Endpoints, i, i+1)
			out = append(out, event{kind: e.kind, slice: s})
			if e.slice.Endpoints[i].Hints != nil {
				s := e.slice.DeepCopy()
				s.Endpoints[i].Hints = nil
				out = append(out, event{kind: e.kind, slice: s})
			}
		}
		for i := range e.slice.Ports {
			s := e.slice.DeepCopy()
			s.Ports = slices.Delete(s.Ports, i, i+1)
			out = append(out, event{kind: e.kind, slice: s})
		}
	}
	if e.service != nil {
		for i := range e.service.Spec.Ports {
			s := e.service.DeepCopy()
			s.Spec.Ports = slices.Delete(s.Spec.Ports, i, i+1)
			out = append(out, event{kind: e.kind, service: s})
		}
		for i := range e.service.Spec.LoadBalancerSourceRanges {
			s := e.service.DeepCopy()
			s.Spec.LoadBalancerSourceRanges = slices.Delete(s.Spec.LoadBalancerSourceRanges, i, i+1)
			out = append(out, event{kind: e.kind, service: s})
		}
	}
	return out
}
