package check

import (
	"net/netip"
	"slices"
	"testing"
)

// Of three endpoints the second is not ready. Rules may lead to the others, in whatever order they name
// them, and to nothing else.
func TestWhereRulesLeadIsCheckedInAnyOrder(t *testing.T) {
	t.Parallel()
	at := func(i byte) netip.AddrPort { return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, i}), 80) }
	look := func(int, int) ([]Endpoint, bool, bool) {
		return []Endpoint{{Addr: at(3), Ready: true, Serving: true}, {Addr: at(2)}, {Addr: at(1), Ready: true, Serving: true}}, false, false
	}
	for _, c := range []struct {
		leads []byte
		wrong bool
	}{
		{nil, false},
		{[]byte{1, 3}, false},
		{[]byte{3, 1}, false},
		{[]byte{1, 1, 3}, false},
		{[]byte{1, 2, 3}, true},
		{[]byte{3, 2}, true},
		{[]byte{0, 1}, true},
		{[]byte{1, 3, 4}, true},
	} {
		f := NewFlows([]bool{false}, 1, look)
		var targets []netip.AddrPort
		for _, n := range c.leads {
			targets = append(targets, at(n))
		}
		f.Leads(0, 0, 1, targets)
		if (f.Err() != nil) != c.wrong {
			t.Errorf("rules that lead to %v: %v", c.leads, f.Err())
		}
	}
}

// KEP-1669: only where no endpoint is ready, those that serve and are told to stop are used. One that serves, is not ready and is not told
// to stop is none of them.
func TestTheFallbackIsToEndpointsThatServeAndTerminate(t *testing.T) {
	t.Parallel()
	at := func(i byte) netip.AddrPort { return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, i}), 80) }
	list := []Endpoint{
		{Addr: at(1), Serving: true},
		{Addr: at(2), Serving: true, Terminating: true},
		{Addr: at(3), Terminating: true},
		{Addr: at(4), Serving: true, Terminating: true, Local: true},
		{Addr: at(5), Serving: true, Local: true},
	}
	ready := append([]Endpoint{{Addr: at(6), Ready: true, Serving: true}}, list...)
	for _, c := range []struct {
		name            string
		of              []Endpoint
		local, fallback bool
		want            []netip.AddrPort
	}{
		{"nothing is ready", list, false, true, []netip.AddrPort{at(2), at(4)}},
		{"nothing is ready on the node", ready, true, true, []netip.AddrPort{at(4)}},
		{"something is ready", ready, false, true, []netip.AddrPort{at(6)}},
		{"a version without the fallback", list, false, false, nil},
	} {
		if got := Allowed(c.of, c.local, c.fallback); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
