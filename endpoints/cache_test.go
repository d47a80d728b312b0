package endpoints

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
)

// contents is everything a Snapshot says, for reflect.DeepEqual: endpoints, groups and
// traits included.
func contents(s *Snapshot) []*Service { return slices.Collect(s.Services()) }

func wantSameContents(t *testing.T, what string, want, got *Snapshot) {
	t.Helper()
	if reflect.DeepEqual(contents(want), contents(got)) {
		return
	}
	t.Fatalf("%s (-want +got):\n%s", what, cmp.Diff(brief(want), brief(got)))
}

// brief is contents for a reader.
func brief(s *Snapshot) map[string][]string {
	out := map[string][]string{}
	for svc := range s.Services() {
		out[svc.Name.String()] = nil
		for i := range svc.Ports {
			sp := &svc.Ports[i]
			key := fmt.Sprintf("%s %s %s", sp.Name, sp.Family, sp)
			out[key] = append(out[key], addrs(sp)...)
		}
	}
	return out
}

// tiny is a universe of few objects, so that events meet one another: the API objects as
// they stand, beside the Cache that was told of each change.
type tiny struct {
	cache    *Cache
	services map[string]*corev1.Service
	slices   map[string]*discoveryv1.EndpointSlice
}

func newTiny() *tiny {
	return &tiny{currentCache(), map[string]*corev1.Service{}, map[string]*discoveryv1.EndpointSlice{}}
}

// draw returns a number below n: the only thing an event depends on.
type draw func(n int) int

var tinyNames = []string{"ant", "bee", "cat"}

// event changes one object and tells the Cache. It returns the Services that may differ
// now: those it names and those the slice belonged to.
func (w *tiny) event(d draw) (touched []string) {
	name := tinyNames[d(len(tinyNames))]
	sliceName := []string{"s1", "s2", "s3", "s4"}[d(4)]
	if old := w.slices[sliceName]; old != nil {
		touched = append(touched, old.Labels[discoveryv1.LabelServiceName])
	}
	switch d(8) {
	case 0:
		delete(w.services, name)
		w.cache.DeleteService(shop(name))
		return []string{name}
	case 1, 2:
		w.services[name] = tinyService(name, d)
		w.cache.SetService(w.services[name])
		return []string{name}
	case 3:
		delete(w.slices, sliceName)
		w.cache.DeleteSlice("shop", sliceName)
		return touched
	default:
		w.slices[sliceName] = tinySlice(name, sliceName, d)
		w.cache.SetSlice(w.slices[sliceName])
		return append(touched, name)
	}
}

func tinyService(name string, d draw) *corev1.Service {
	return apiService(name, func(s *corev1.Service) {
		switch d(8) {
		case 0:
			s.Spec.ClusterIP = corev1.ClusterIPNone
		case 1:
			s.Spec.Type = corev1.ServiceTypeExternalName
		case 2:
			s.Labels = map[string]string{ServiceProxyNameLabel: "other"}
		case 3:
			dualStack(s)
		case 4:
			full(s)
		}
		switch d(4) {
		case 0:
			s.Spec.Ports[0].Name = ""
		case 1:
			s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: "metrics", Port: 9090})
		case 2:
			s.Spec.Ports[0].Port = int32(d(2)) // 0 is no port
		}
	})
}

func tinySlice(service, name string, d draw) *discoveryv1.EndpointSlice {
	s := apiSlice(service, name)
	for range d(4) {
		e := ep{n: 1 + d(3), cond: allConditions[d(8)], node: anywhere[d(3)], zones: hinted[d(len(hinted))].zones}
		s.Endpoints = append(s.Endpoints, e.api())
	}
	switch d(8) {
	case 0:
		s.Labels[corev1.IsHeadlessService] = ""
	case 1:
		s.AddressType = discoveryv1.AddressTypeIPv6
		for i := range s.Endpoints {
			s.Endpoints[i].Addresses[0] = fmt.Sprintf("fd00::%d", 1+d(3))
		}
	case 2:
		s.Ports = append(s.Ports, discoveryv1.EndpointPort{Name: ptr("metrics"), Port: ptr(int32(9090 + d(2)))})
	case 3:
		s.Ports[0].Name = ptr("")
	case 4:
		s.Ports[0].Port = ptr(int32(8080 + d(2)))
	case 5:
		s.AddressType = "IPv5"
	}
	return s
}

// rebuilt is the Snapshot of a new Cache that is given the objects as they stand, in the
// order of perm over all of them.
func (w *tiny) rebuilt(r *rand.Rand) *Snapshot {
	c := currentCache()
	var give []func()
	for _, name := range tinyNames {
		if s := w.services[name]; s != nil {
			give = append(give, func() { c.SetService(s) })
		}
	}
	for _, name := range []string{"s1", "s2", "s3", "s4"} {
		if s := w.slices[name]; s != nil {
			give = append(give, func() { c.SetSlice(s) })
		}
	}
	r.Shuffle(len(give), func(i, j int) { give[i], give[j] = give[j], give[i] })
	for _, g := range give {
		g()
	}
	return c.Snapshot()
}

// checkStep takes a Snapshot after some events and compares it with the one before and with
// one that was built from nothing, in another order.
func (w *tiny) checkStep(t *testing.T, before *Snapshot, touched []string, r *rand.Rand) *Snapshot {
	t.Helper()
	after := w.cache.Snapshot()
	wantSameContents(t, "incremental differs from rebuilt", w.rebuilt(r), after)
	if after.Version() != before.Version()+1 {
		t.Fatalf("version %d follows %d", after.Version(), before.Version())
	}
	changed := after.Changed()
	if !slices.IsSortedFunc(changed, ServiceName.Compare) || len(slices.Compact(slices.Clone(changed))) != len(changed) {
		t.Fatalf("Changed is not in order, or names one twice: %v", changed)
	}
	for _, name := range tinyNames {
		a, b := before.Service(shop(name)), after.Service(shop(name))
		said := slices.Contains(changed, shop(name))
		switch {
		case a == nil && b == nil && said:
			t.Fatalf("Changed names %s, which was not there and is not", name)
		case said && !slices.Contains(touched, name):
			t.Fatalf("Changed names %s, which no event touched", name)
		case !said && a != b:
			t.Fatalf("%s is another one, but Changed names only %v", name, changed)
		case said && a == b:
			t.Fatalf("Changed names %s, which is the same value", name)
		}
	}
	return after
}

func TestIncrementalEqualsRebuilt(t *testing.T) {
	t.Parallel()
	for seed := range uint64(16) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 1669))
			w := newTiny()
			s := w.cache.Snapshot()
			for range 250 {
				var touched []string
				for range 1 + r.IntN(3) {
					touched = append(touched, w.event(r.IntN)...)
				}
				s = w.checkStep(t, s, touched, r)
			}
		})
	}
}

func TestAnOldSnapshotStaysAsItWas(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1669, 0))
	w := newTiny()
	for i, name := range tinyNames {
		mustTake(t, w.cache, apiService(name, full), apiSlice(name, fmt.Sprintf("s%d", i+1), ready(1, "a").api(), draining(2, "b").api(), draining(2, "a").api()))
	}
	old := w.cache.Snapshot()
	choose := func() (out []string) {
		for svc := range old.Services() {
			for i := range svc.Ports {
				s, d := Decide(&svc.Ports[i], nodeA, old.Options(), nil)
				out = append(out, fmt.Sprintf("%s %s %+v %v", svc.Ports[i].Name, svc.Ports[i].Family, s, d))
			}
		}
		return out
	}
	text, selections := brief(old), choose()
	if len(selections) != 12 {
		t.Fatalf("%d selections to compare, want 12", len(selections))
	}
	for i := range 1000 {
		w.event(r.IntN)
		if i%10 == 0 {
			w.cache.Snapshot()
		}
	}
	if diff := cmp.Diff(text, brief(old)); diff != "" {
		t.Errorf("the snapshot changed (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(selections, choose()); diff != "" {
		t.Errorf("its selections changed (-before +after):\n%s", diff)
	}
}

// pointers maps each Service to the address of its value.
func pointers(s *Snapshot) map[ServiceName]*Service {
	out := map[ServiceName]*Service{}
	for svc := range s.Services() {
		out[svc.Name] = svc
	}
	return out
}

func TestASliceEventRebuildsOneService(t *testing.T) {
	t.Parallel()
	c := currentCache()
	for i := range 50 {
		name := fmt.Sprintf("s%02d", i)
		mustTake(t, c, apiService(name), apiSlice(name, name+"-1", ready(1, "a").api()))
	}
	before := c.Snapshot()
	mustTake(t, c, apiSlice("s07", "s07-1", ready(1, "a").api(), ready(2, "b").api()))
	after := c.Snapshot()
	if diff := cmp.Diff([]ServiceName{shop("s07")}, after.Changed()); diff != "" {
		t.Errorf("Changed (-want +got):\n%s", diff)
	}
	was, is := pointers(before), pointers(after)
	for name := range was {
		if same := was[name] == is[name]; same != (name != shop("s07")) {
			t.Errorf("%s is the same value: %v", name, same)
		}
	}
	if len(was) != 50 || len(is) != 50 || before.Len() != 50 {
		t.Errorf("%d and %d Services, want 50", len(was), len(is))
	}
}

func TestWhatASentAgainObjectMeans(t *testing.T) {
	t.Parallel()
	c := currentCache()
	svc, slice := apiService("cart", full), apiSlice("cart", "cart-1", ready(1, "a").zone("x").api())
	mustTake(t, c, svc, slice)
	before := c.Snapshot()

	again, sliceAgain := svc.DeepCopy(), slice.DeepCopy()
	again.Annotations, again.ResourceVersion = map[string]string{"note": "new"}, "2"
	sliceAgain.Annotations, sliceAgain.ResourceVersion = map[string]string{"note": "new"}, "2"
	mustTake(t, c, again, sliceAgain)
	c.DeleteSlice("shop", "never-there")
	c.DeleteSlice("elsewhere", "cart-1")
	c.DeleteService(shop("never-there"))
	if c.Pending() {
		t.Error("nothing that selection reads changed, yet something is pending")
	}
	after := c.Snapshot()
	if len(after.Changed()) != 0 || before.Service(shop("cart")) != after.Service(shop("cart")) {
		t.Errorf("nothing that selection reads changed, yet Changed is %v", after.Changed())
	}

	for name, change := range map[string]func(*discoveryv1.EndpointSlice){
		"a condition": func(s *discoveryv1.EndpointSlice) { s.Endpoints[0].Conditions.Ready = ptr(false) },
		"the node":    func(s *discoveryv1.EndpointSlice) { s.Endpoints[0].NodeName = ptr("b") },
		"the address": func(s *discoveryv1.EndpointSlice) { s.Endpoints[0].Addresses[0] = "10.0.0.9" },
		"the zone":    func(s *discoveryv1.EndpointSlice) { s.Endpoints[0].Zone = ptr("z") },
		"the pod": func(s *discoveryv1.EndpointSlice) {
			s.Endpoints[0].TargetRef = &corev1.ObjectReference{Kind: "Pod", Name: "p"}
		},
		"a zone hint":   func(s *discoveryv1.EndpointSlice) { s.Endpoints[0].Hints.ForZones[0].Name = "y" },
		"a node hint":   func(s *discoveryv1.EndpointSlice) { s.Endpoints[0].Hints.ForNodes = []discoveryv1.ForNode{{Name: "a"}} },
		"an endpoint":   func(s *discoveryv1.EndpointSlice) { s.Endpoints = append(s.Endpoints, ready(2, "b").api()) },
		"no endpoint":   func(s *discoveryv1.EndpointSlice) { s.Endpoints = nil },
		"port number":   func(s *discoveryv1.EndpointSlice) { s.Ports[0].Port = ptr(int32(8081)) },
		"port name":     func(s *discoveryv1.EndpointSlice) { s.Ports[0].Name = ptr("https") },
		"port protocol": func(s *discoveryv1.EndpointSlice) { s.Ports[0].Protocol = ptr(corev1.ProtocolUDP) },
	} {
		other := slice.DeepCopy()
		change(other)
		mustTake(t, c, other)
		if !c.Pending() {
			t.Errorf("a slice that differs in %s: nothing is pending", name)
		}
		if s := c.Snapshot(); len(s.Changed()) != 1 {
			t.Errorf("a slice that differs in %s: Changed is %v", name, s.Changed())
		}
		mustTake(t, c, slice)
		c.Snapshot()
	}
}

func TestSlicesMayArriveBeforeTheirServiceAndOutliveIt(t *testing.T) {
	t.Parallel()
	c := currentCache()
	mustTake(t, c, apiSlice("cart", "cart-1", ready(1, "a").api()))
	if s := c.Snapshot(); s.Len() != 0 || len(s.Changed()) != 0 {
		t.Errorf("a slice alone makes %d Services, Changed %v", s.Len(), s.Changed())
	}
	mustTake(t, c, apiService("cart"))
	wantEndpoints(t, c, "10.0.0.1:8080 T/T/F")
	c.DeleteService(shop("cart"))
	if s := c.Snapshot(); s.Len() != 0 || !slices.Equal(s.Changed(), []ServiceName{shop("cart")}) {
		t.Errorf("after its end there are %d Services, Changed %v", s.Len(), s.Changed())
	}
	mustTake(t, c, apiService("cart"))
	wantEndpoints(t, c, "10.0.0.1:8080 T/T/F")
}

func TestASliceThatMovesLeavesItsOldService(t *testing.T) {
	t.Parallel()
	// Upstream keeps it in both: endpointslicecache.go is keyed by the label, and an update's old label is not looked at.
	c := currentCache()
	slice := apiSlice("ant", "s1", ready(1, "a").api())
	mustTake(t, c, apiService("ant"), apiService("bee"), apiService("cat"), slice)
	before := c.Snapshot()
	mustTake(t, c, apiSlice("bee", "s1", ready(1, "a").api()))
	after := c.Snapshot()
	if diff := cmp.Diff([]ServiceName{shop("ant"), shop("bee")}, after.Changed()); diff != "" {
		t.Errorf("Changed (-want +got):\n%s", diff)
	}
	for name, want := range map[string][2]int{"ant": {1, 0}, "bee": {0, 1}, "cat": {0, 0}} {
		if got := [2]int{len(portOf(t, before, name, 0).Endpoints), len(portOf(t, after, name, 0).Endpoints)}; got != want {
			t.Errorf("%s has %v endpoints before and after, want %v", name, got, want)
		}
	}
}

func TestNamespacesAreApart(t *testing.T) {
	t.Parallel()
	c := currentCache()
	there := apiSlice("cart", "cart-1", ready(2, "a").api())
	there.Namespace = "other"
	mustTake(t, c, apiService("cart"), apiSlice("cart", "cart-1", ready(1, "a").api()), there)
	wantEndpoints(t, c, "10.0.0.1:8080 T/T/F")
	c.DeleteSlice("other", "cart-1")
	wantEndpoints(t, c, "10.0.0.1:8080 T/T/F")
}

func TestServicesAreInNameOrder(t *testing.T) {
	t.Parallel()
	c := currentCache()
	want := []ServiceName{{"a", "z"}, {"b", "a"}, {"b", "b"}}
	for _, i := range []int{2, 0, 1} {
		svc := apiService(want[i].Name)
		svc.Namespace = want[i].Namespace
		mustTake(t, c, svc)
	}
	s := c.Snapshot()
	var got []ServiceName
	for svc := range s.Services() {
		got = append(got, svc.Name)
	}
	if !slices.Equal(got, want) || !slices.Equal(s.Changed(), want) {
		t.Errorf("Services are %v, Changed %v, want %v", got, s.Changed(), want)
	}
	for range s.Services() { // a walk may stop
		break
	}
	if s.Version() != 1 || s.Options() != CurrentOptions() {
		t.Errorf("version %d with options %+v", s.Version(), s.Options())
	}
}

func TestTheCacheKeepsNothingOfTheObjects(t *testing.T) {
	t.Parallel()
	c := currentCache()
	svc, slice := apiService("cart", full), apiSlice("cart", "cart-1", ready(1, "a").zone("x").api())
	mustTake(t, c, svc, slice)
	svc.Spec.ExternalIPs[0], svc.Spec.LoadBalancerSourceRanges[0] = "192.0.2.99", "0.0.0.0/0"
	slice.Endpoints[0].Addresses[0], *slice.Endpoints[0].NodeName, slice.Endpoints[0].Hints.ForZones[0].Name = "10.0.0.99", "z", "z"
	sp := wantEndpoints(t, c, "10.0.0.1:8080 T/T/F")
	if e := &sp.Endpoints[0]; e.NodeName != "a" || e.Meta.ForZones[0] != "x" || sp.ExternalIPs[0].String() != "192.0.2.1" || len(sp.SourceRanges) != 1 {
		t.Errorf("a change to the object after it was given changed the cache: %+v %+v", e, e.Meta)
	}
}

// NewService and the Cache must agree, since others build their cases with the former.
func TestNewServiceIsWhatACacheBuilds(t *testing.T) {
	t.Parallel()
	c := currentCache()
	mustTake(t, c, apiService("cart"), apiSlice("cart", "cart-1", ready(2, "a").zone("x").api(), draining(1, "b").api(), ready(2, "b").zone("y").api()))
	want := c.Snapshot().Service(shop("cart"))
	sp := want.Ports[0]
	sp.Endpoints = []Endpoint{sp.Endpoints[1], sp.Endpoints[0], sp.Endpoints[2]}
	sp.digest = digest{}
	if got := NewService(want.Name, sp); !reflect.DeepEqual(want, got) {
		t.Errorf("NewService makes\n%+v\nthe Cache\n%+v", got, want)
	}
	bare := NewService(want.Name, ServicePort{Endpoints: []Endpoint{{Conditions: Ready}}})
	if bare.Ports[0].Endpoints[0].Meta == nil {
		t.Error("an endpoint without a Meta is left without one")
	}
}
