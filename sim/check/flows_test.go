package check

import (
	"net/netip"
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
		f.Leads(0, 0, 1, len(c.leads), func(i int) netip.AddrPort { return at(c.leads[i]) })
		if (f.Err() != nil) != c.wrong {
			t.Errorf("rules that lead to %v: %v", c.leads, f.Err())
		}
	}
}
