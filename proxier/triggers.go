package proxier

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// triggers remembers, by EndpointSlice, since when changes have been on their way to the rules: what
// kubeproxy_network_programming_duration_seconds measures from (docs/model/kube-proxy.md 9;
// verified). A slice that is deleted takes its own along, and what changed before the proxy started
// is not the proxy's delay, both as in kube-proxy 1.36 (endpointschangetracker.go).
type triggers map[sliceName]*moments

// moments are those that wait for a sync, and those that the sync under way, or the next after
// one that failed, puts in force.
type moments struct{ waiting, taken []Trigger }

func (t triggers) add(name sliceName, s *discoveryv1.EndpointSlice, epoch time.Time) {
	at, err := time.Parse(time.RFC3339Nano, s.Annotations[corev1.EndpointsLastChangeTriggerTime])
	if err != nil || !at.After(epoch) {
		return
	}
	m := t[name]
	if m == nil {
		m = &moments{}
		t[name] = m
	}
	trigger := Trigger{At: at, Family: endpoints.IPv4}
	if s.AddressType == discoveryv1.AddressTypeIPv6 {
		trigger.Family = endpoints.IPv6
	}
	if !slices.Contains(m.waiting, trigger) {
		m.waiting = append(m.waiting, trigger)
	}
}

func (t triggers) forget(name sliceName) { delete(t, name) }

// take says that a sync begins.
func (t triggers) take() {
	for _, m := range t { // order: each is changed by itself
		m.taken, m.waiting = append(m.taken, m.waiting...), nil
	}
}

// settle says that a sync has put in force what it took, and returns since when that was waited for.
func (t triggers) settle() []Trigger {
	var all []Trigger
	for name, m := range t { // order: sorted below
		all = append(all, m.taken...)
		m.taken = nil
		if len(m.waiting) == 0 {
			delete(t, name)
		}
	}
	slices.SortFunc(all, func(a, b Trigger) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Family, b.Family))
	})
	return all
}
