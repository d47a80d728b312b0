package oracle

import (
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kubernetes/pkg/proxy"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// harness feeds both sides the same objects and compares them at each sync.
type harness struct {
	world   world
	theirs  *kubeProxy
	ours    *endpoints.Cache
	options endpoints.Options
	last    *endpoints.Snapshot
	first   *endpoints.Snapshot // and what it said when it was published
	said    string
	journal *journal

	cases  int
	counts histogram
}

// run plays a world to its end or to the first difference, and returns the number of
// cases compared. A panic of either side is a difference too.
func run(w world) (cases int, counts histogram, err error) {
	o := endpoints.CurrentOptions()
	h := &harness{
		world: w, theirs: newKubeProxy(w.nodes), ours: endpoints.NewCache(o), options: o,
		journal: newJournal(), counts: histogram{},
	}
	defer func() {
		if p := recover(); p != nil {
			cases, counts, err = h.cases, h.counts, &difference{kind: "panic", where: "see the stack", ours: fmt.Sprintf("%v\n%s", p, debug.Stack())}
		}
	}()
	for i, e := range w.events {
		if err := h.apply(e); err != nil {
			return h.cases, h.counts, fmt.Errorf("seed %d, event %d: %w", w.seed, i+1, err)
		}
	}
	if h.first != nil {
		err = compareText("published snapshot", h.said, h.describe(h.first), "seed %d: a snapshot changed after it was published", w.seed)
	}
	return h.cases, h.counts, err
}

// describe renders all that a snapshot says to the first node.
func (h *harness) describe(snap *endpoints.Snapshot) string {
	var b strings.Builder
	n := h.world.nodes[0]
	for svc := range snap.Services() {
		for i := range svc.Ports {
			sp := &svc.Ports[i]
			fmt.Fprintf(&b, "%s %s\n%+v\n", sp.Name, ourPort(sp), endpoints.Select(sp, n, h.options))
			for j := range sp.Endpoints {
				fmt.Fprintf(&b, "%+v %+v\n", sp.Endpoints[j], *sp.Endpoints[j].Meta)
			}
		}
	}
	return b.String()
}

func (h *harness) apply(e event) error {
	for _, class := range h.journal.record(e) {
		h.counts[class]++
	}
	switch e.kind {
	case setService:
		h.theirs.setService(e.service)
		return checkProblems(h.ours.SetService(e.service), serviceProblems(e.service))
	case deleteService:
		h.theirs.deleteService(e.name)
		h.ours.DeleteService(endpoints.ServiceName{Namespace: e.name.Namespace, Name: e.name.Name})
	case setSlice:
		h.theirs.setSlice(e.slice)
		return checkProblems(h.ours.SetSlice(e.slice), sliceProblems(h.theirs, e.slice))
	case deleteSlice:
		h.theirs.deleteSlice(e.name)
		h.ours.DeleteSlice(e.name.Namespace, e.name.Name)
	case syncNow:
		return h.sync()
	}
	return nil
}

// sync lets both sides publish and compares every service port, family and node.
func (h *harness) sync() error {
	h.theirs.sync()
	snap := h.ours.Snapshot()
	if err := checkChanged(h.last, snap); err != nil {
		return err
	}
	if h.last == nil {
		h.first, h.said = snap, h.describe(snap)
	}
	h.last = snap
	for i, family := range endpoints.Families() {
		f := h.theirs.families[i]
		if err := comparePorts(f, family, snap); err != nil {
			return err
		}
		seen := h.theirs.look(f)
		for j := range h.world.nodes {
			if err := h.compareNode(f, family, j, snap, seen); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkChanged checks what a Snapshot promises of Services it does not name as changed:
// they are the same ones as in the snapshot before.
func checkChanged(last, snap *endpoints.Snapshot) error {
	if last == nil {
		return nil
	}
	changed := sets.New(snap.Changed()...)
	for svc := range last.Services() {
		if !changed.Has(svc.Name) && snap.Service(svc.Name) != svc {
			return &difference{kind: "Changed", where: fmt.Sprintf("service %s was replaced and is not in Changed", svc.Name)}
		}
	}
	for svc := range snap.Services() {
		if !changed.Has(svc.Name) && last.Service(svc.Name) != svc {
			return &difference{kind: "Changed", where: fmt.Sprintf("service %s is new and not in Changed", svc.Name)}
		}
	}
	return nil
}

// comparePorts compares what the Services say: which ports there are, and their fields.
func comparePorts(f *familyProxy, family endpoints.IPFamily, snap *endpoints.Snapshot) error {
	healthCheck := f.serviceMap.HealthCheckNodePorts()
	ours := 0
	for svc := range snap.Services() {
		name := types.NamespacedName{Namespace: svc.Name.Namespace, Name: svc.Name.Name}
		if got, want := svc.HealthCheckNodePort(family), healthCheck[name]; got != want {
			return compareText("health-check node port", fmt.Sprint(want), fmt.Sprint(got), "%s (%s)", svc.Name, family)
		}
		for i := range svc.Ports {
			sp := &svc.Ports[i]
			if sp.Family != family {
				continue
			}
			ours++
			theirs, ok := f.serviceMap[upstreamName(sp.Name)]
			if !ok {
				return compareText("service ports", "no such port", ourPort(sp), "%s (%s)", sp.Name, family)
			}
			if err := compareText("service port", theirPort(theirs), ourPort(sp), "%s (%s)", sp.Name, family); err != nil {
				return err
			}
		}
	}
	if ours != len(f.serviceMap) {
		return compareText("service ports", fmt.Sprint(f.serviceMap), fmt.Sprintf("%d ports", ours), "%s", family)
	}
	return nil
}

// compareNode compares all cases of one family on one node.
func (h *harness) compareNode(f *familyProxy, family endpoints.IPFamily, node int, snap *endpoints.Snapshot, seen map[types.NamespacedName]*sight) error {
	n := h.world.nodes[node]
	m, dropped := f.usable(f.maps[node])
	m, undefined, err := h.theirs.settleDuplicates(f, n.Name, m)
	if err != nil {
		return err
	}
	theirReady := m.LocalReadyEndpoints()
	for svc := range snap.Services() {
		name := types.NamespacedName{Namespace: svc.Name.Namespace, Name: svc.Name.Name}
		ourReady := svc.LocalReadyEndpoints(family, n.Name, h.options)
		again := endpoints.NewService(svc.Name, svc.Ports...) // built without a Cache, it must not differ
		for i := range svc.Ports {
			sp := &svc.Ports[i]
			if sp.Family != family {
				continue
			}
			theirSP := f.serviceMap[upstreamName(sp.Name)]
			theirs, err := theirAnswer(m[upstreamName(sp.Name)], theirSP, n, theirReady[name])
			if err != nil {
				return err
			}
			ours, decisions := ourAnswer(sp, n, h.options, ourReady)
			if err := compareText("answer", theirs.String(), ours.String(), "%s (%s) on node %q in zone %q", sp.Name, family, n.Name, n.Zone); err != nil {
				return err
			}
			if err := checkDecisions(sp, &again.Ports[i], n, h.options, decisions); err != nil {
				return err
			}
			h.cases++
			h.count(sp, n, ours, decisions)
			h.countObjects(sp, name, seen)
			h.tally(dropped.Has(name), arguedAddress)
			h.tally(undefined.Has(name), arguedDuplicate)
		}
	}
	return nil
}

// checkProblems compares the number of Problems reported with the number of things that
// cannot be used; which they are, the answers show.
func checkProblems(got []endpoints.Problem, want int) error {
	if len(got) == want {
		return nil
	}
	return &difference{kind: "problems", where: "reported", theirs: fmt.Sprintf("%d expected", want), ours: fmt.Sprint(got)}
}

// kindOf returns what a finding is about, "" when it is none: when the harness broke.
func kindOf(err error) string {
	var d *difference
	if errors.As(err, &d) {
		return d.kind
	}
	return ""
}

// journal remembers what the API held, to tell the classes of events apart.
type journal struct {
	services map[types.NamespacedName]*corev1.Service
	slices   map[types.NamespacedName]*discoveryv1.EndpointSlice
	existed  map[string]bool // kind and name of objects there have been

	events int            // since the last sync
	before map[string]any // objects touched since then: what they were
	touch  map[string]int
}

func newJournal() *journal {
	return &journal{
		services: map[types.NamespacedName]*corev1.Service{}, slices: map[types.NamespacedName]*discoveryv1.EndpointSlice{},
		existed: map[string]bool{}, before: map[string]any{}, touch: map[string]int{},
	}
}

// record notes an event and returns its classes.
func (j *journal) record(e event) []string {
	if e.kind == syncNow {
		return j.endOfBatch()
	}
	j.events++
	switch e.kind {
	case setService:
		name := types.NamespacedName{Namespace: e.service.Namespace, Name: e.service.Name}
		old := j.services[name]
		j.touched("service "+name.String(), old)
		j.services[name] = e.service
		return j.serviceClasses(name, old, e.service)
	case deleteService:
		old := j.services[e.name]
		j.touched("service "+e.name.String(), old)
		delete(j.services, e.name)
		return deletionClasses(old != nil, eventServiceDeleted)
	case setSlice:
		name := types.NamespacedName{Namespace: e.slice.Namespace, Name: e.slice.Name}
		old := j.slices[name]
		j.touched("slice "+name.String(), old)
		j.slices[name] = e.slice
		return j.sliceClasses(name, old, e.slice)
	default:
		old := j.slices[e.name]
		j.touched("slice "+e.name.String(), old)
		delete(j.slices, e.name)
		return deletionClasses(old != nil, eventSliceDeleted)
	}
}

func deletionClasses(known bool, class string) []string {
	if !known {
		return []string{eventUnknownDeleted}
	}
	return []string{class}
}

func (j *journal) touched(key string, old any) {
	if j.touch[key] == 0 {
		j.before[key] = old
	}
	j.touch[key]++
}

func (j *journal) endOfBatch() []string {
	var out []string
	if j.events > 1 {
		out = append(out, eventSeveral)
	}
	now := map[string]any{}
	for name, svc := range j.services {
		now["service "+name.String()] = svc
	}
	for name, s := range j.slices {
		now["slice "+name.String()] = s
	}
	for key, n := range j.touch {
		if n > 1 && sameObject(j.before[key], now[key]) {
			out = append(out, eventUndone)
		}
	}
	j.events = 0
	clear(j.before)
	clear(j.touch)
	return out
}

// sameObject compares two objects of which either may be absent.
func sameObject(a, b any) bool {
	absent := func(v any) bool { return v == nil || reflect.ValueOf(v).IsNil() }
	if absent(a) || absent(b) {
		return absent(a) == absent(b)
	}
	return reflect.DeepEqual(a, b)
}

var _ proxy.Endpoint = (*probe)(nil)
