package conntrack

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// memory is a table of connections with two flows that are stale once dns has no endpoint.
type memory struct {
	flows  []Flow
	refuse error // to forget
	looked []endpoints.IPFamily
	closed bool
}

func newMemory() *memory {
	m := &memory{}
	for _, f := range []string{"10.96.0.10:53 10.0.0.1:5353", "[fd10::10]:53 [fd00::1]:5353"} {
		to, server, _ := strings.Cut(f, " ")
		m.flows = append(m.flows, Flow{netip.MustParseAddrPort(to), netip.MustParseAddrPort(server)})
	}
	return m
}

func (m *memory) forget(family endpoints.IPFamily, stale func(Flow) bool) (int, error) {
	m.looked = append(m.looked, family)
	if m.refuse != nil && family == endpoints.IPv4 {
		return 0, m.refuse
	}
	before := len(m.flows)
	m.flows = slices.DeleteFunc(m.flows, func(f Flow) bool {
		return endpoints.FamilyOf(f.To.Addr()) == family && stale(f)
	})
	return before - len(m.flows), nil
}

func (m *memory) addresses(endpoints.IPFamily) ([]netip.Addr, error) { return local, nil }

func (m *memory) close() error {
	m.closed = true
	return nil
}

func TestTheFirstLookIsForAllThatHappenedBefore(t *testing.T) {
	t.Parallel()
	m := newMemory()
	c := newCleaner(Options{}, m)
	w := newWorld(t, thisNode())
	empty := w.plan
	if c.Follow(empty, nil) {
		t.Error("worth looking without any port over UDP")
	}
	p, _ := w.next(dns())
	if c = newCleaner(Options{}, m); !c.Follow(p, nil) {
		t.Fatal("not worth looking, though nobody has yet")
	}
	if n, err := c.Clean(); n != [2]int{1, 1} || err != nil || len(m.flows) != 0 {
		t.Errorf("%v forgotten, %d left, error %v", n, len(m.flows), err)
	}
	if c.Follow(p, nil) {
		t.Error("worth looking again, though nothing changed")
	}
	if err := c.Close(); err != nil || !m.closed {
		t.Errorf("closed %t, error %v", m.closed, err)
	}
}

func TestWhatTheKernelRefusedIsDueAgain(t *testing.T) {
	t.Parallel()
	m := newMemory()
	c := newCleaner(Options{}, m)
	w := newWorld(t, thisNode())
	pods := []pod{{"10.0.0.1", ready}, {"fd00::1", ready}}
	c.Follow(w.next(dns(), pods...))
	if n, err := c.Clean(); n != [2]int{} || err != nil {
		t.Fatalf("%v forgotten, error %v", n, err)
	}

	m.refuse = errors.New("busy")
	if !c.Follow(w.next(nil)) { // the Service goes
		t.Fatal("not worth looking")
	}
	n, err := c.Clean()
	if n != [2]int{0, 1} || !errors.Is(err, m.refuse) || err.Error() != "conntrack: clean up IPv4: busy" {
		t.Errorf("%v forgotten, error %v", n, err)
	}
	for range 2 * maxBefore { // syncs that change nothing do not make anyone forget what there was
		if !c.Follow(w.next(nil)) {
			t.Fatal("not worth looking, though one flow is left")
		}
	}
	m.refuse = nil
	if n, err := c.Clean(); n != [2]int{1, 0} || err != nil || len(m.flows) != 0 {
		t.Errorf("%v forgotten, %d left, error %v", n, len(m.flows), err)
	}
	if c.Follow(w.next(nil)) {
		t.Error("worth looking again")
	}
}

func TestWhatIsRememberedIsBounded(t *testing.T) {
	t.Parallel()
	c := newCleaner(Options{}, &memory{refuse: errors.New("busy")})
	w := newWorld(t, thisNode())
	for i := range 3 * maxBefore {
		svc := dns()
		svc.Spec.Ports[0].NodePort = int32(30000 + i)
		c.Follow(w.next(svc))
		if _, err := c.Clean(); err == nil {
			t.Fatal("no error")
		}
	}
	if len(c.before) != maxBefore || c.before[maxBefore-1] == c.last {
		t.Errorf("%d Plans are remembered, want the last %d", len(c.before), maxBefore)
	}
}

func TestFamiliesThatNobodyAskedForAreLeftAlone(t *testing.T) {
	t.Parallel()
	m := newMemory()
	c := newCleaner(Options{Families: []endpoints.IPFamily{endpoints.IPv6}}, m)
	c.Follow(newWorld(t, thisNode()).next(dns()))
	if _, err := c.Clean(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]endpoints.IPFamily{endpoints.IPv6}, m.looked); diff != "" {
		t.Errorf("families looked through (-want +got):\n%s", diff)
	}
}
