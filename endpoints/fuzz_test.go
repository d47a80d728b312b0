package endpoints

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
)

// bytesDraw answers draws from data, and 0 when it is used up.
func bytesDraw(data []byte) (d draw, left func() int) {
	return func(n int) int {
		if len(data) == 0 {
			return 0
		}
		b := data[0]
		data = data[1:]
		return int(b) % n
	}, func() int { return len(data) }
}

// FuzzCacheEvents reads bytes as events over the tiny universe; after each, the incremental
// Snapshot must be the one built from nothing.
func FuzzCacheEvents(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte("\x00\x00\x01\x07\x03\x00\x00\x04\x03\x00\x00\x00\x00\x07")) // a Service, then its slice
	f.Add([]byte("\x00\x01\x05\x02\x01\x01\x00\x01\x02\x07\x01\x01\x05\x00")) // a slice that moves
	f.Add([]byte("\x00\x00\x01\x03\x03\x00\x00\x01\x00\x03\x00\x00\x00\x00")) // dual stack, headless, deleted
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 1669))
		data := make([]byte, 200)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, left := bytesDraw(data)
		r := rand.New(rand.NewPCG(uint64(len(data)), 1669))
		w := newTiny()
		s := w.cache.Snapshot()
		for steps := 0; left() > 0 && steps < 100; steps++ {
			s = w.checkStep(t, s, w.event(d), r)
		}
	})
}

// FuzzSlice gives the Cache a slice with arbitrary text and numbers in it. Whatever is not
// in the result must have a Problem that names its field, or be left out by rule.
func FuzzSlice(f *testing.F) {
	f.Add("IPv4", "10.0.0.1", "10.0.0.2", "http", "TCP", int32(8080), byte(0xff), byte(0))
	f.Add("IPv6", "fd00::1", "::ffff:10.0.0.1", "http", "UDP", int32(53), byte(0), byte(0x15))
	f.Add("FQDN", "example.com", "", "", "SCTP", int32(0), byte(1), byte(2))
	f.Add("", "10.0.0.01", "fe80::1%eth0", "\x00", "tcp", int32(-1), byte(4), byte(8))
	f.Add("IPv4", "10.0.0.1\n", "10.0.0.256", "http", "", int32(65536), byte(16), byte(32))
	f.Add("IPv4", "010.000.0.1", "1.2.3.4:5", "http", "TCP", int32(1), byte(0x2a), byte(0x3f))
	f.Fuzz(func(t *testing.T, addressType, first, second, port, protocol string, number int32, a, b byte) {
		s := apiSlice("cart", "cart-1", fuzzEndpoint(first, a), fuzzEndpoint(second, b))
		s.AddressType = discoveryv1.AddressType(addressType)
		s.Ports[0] = discoveryv1.EndpointPort{Name: &port, Port: &number, Protocol: ptr(corev1.Protocol(protocol))}
		c := currentCache()
		svc := apiService("cart", dualStack)
		svc.Spec.Ports[0].Name, svc.Spec.Ports[0].Protocol = port, corev1.Protocol(protocol)
		c.SetService(svc)
		found := c.SetSlice(s)
		snapshot := c.Snapshot()
		checkFuzzed(t, s, found, snapshot)
		if again := c.SetSlice(s.DeepCopy()); fmt.Sprint(again) != fmt.Sprint(found) {
			t.Errorf("the same slice has problems %v, then %v", found, again)
		}
		if len(c.Snapshot().Changed()) != 0 {
			t.Error("the same slice changes its Service")
		}
	})
}

// fuzzEndpoint reads conditions, node and hints from bits; an address "" is none at all.
func fuzzEndpoint(addr string, bits byte) discoveryv1.Endpoint {
	e := ep{n: 1, cond: allConditions[bits&7], node: anywhere[int(bits>>3&3)%3], zones: hinted[int(bits>>5)%len(hinted)].zones}.api()
	e.Addresses = nil
	if addr != "" {
		e.Addresses = []string{addr}
	}
	if bits&0x40 != 0 {
		e.Conditions = discoveryv1.EndpointConditions{}
	}
	return e
}

// checkFuzzed accounts for each of the two endpoints: used, or skipped with a Problem, or
// skipped with the whole slice or port.
func checkFuzzed(t *testing.T, s *discoveryv1.EndpointSlice, found []Problem, snapshot *Snapshot) {
	t.Helper()
	for _, p := range found {
		if p.Kind != "EndpointSlice" || p.Namespace != "shop" || p.Name != "cart-1" || p.Message == "" {
			t.Fatalf("a problem that names nothing: %+v", p)
		}
	}
	problem := func(field string) bool {
		return slices.ContainsFunc(found, func(p Problem) bool { return strings.HasPrefix(p.Field, field) })
	}
	whole := s.AddressType == discoveryv1.AddressTypeFQDN || *s.Ports[0].Port == 0 || problem("addressType") || problem("ports[0]")
	svc := snapshot.Service(shop("cart"))
	if svc == nil { // its protocol is none: so is the slice's port's
		if !whole {
			t.Errorf("no Service and no problem with the slice's port: %v", found)
		}
		return
	}
	accounted := 0
	for i := range svc.Ports {
		accounted += len(svc.Ports[i].Endpoints)
		checkFuzzedPort(t, &svc.Ports[i], snapshot.Options())
	}
	for i := range s.Endpoints {
		if whole || problem(fmt.Sprintf("endpoints[%d].", i)) {
			accounted++
		}
	}
	if accounted != len(s.Endpoints) {
		t.Errorf("%d of %d endpoints are used or accounted for: %v", accounted, len(s.Endpoints), found)
	}
}

func checkFuzzedPort(t *testing.T, sp *ServicePort, o Options) {
	t.Helper()
	for _, e := range sp.Endpoints {
		if a := e.Addr.Addr(); e.Addr.Port() == 0 || FamilyOf(a) != sp.Family || a != a.Unmap() || a.Zone() != "" {
			t.Errorf("endpoint %s in family %s", e.Addr, sp.Family)
		}
	}
	s, d := Decide(sp, nodeA, o, nil)
	if len(s.Reachable) > len(d) || len(d) != len(sp.Endpoints) {
		t.Errorf("%d reachable, %d decisions for %d endpoints", len(s.Reachable), len(d), len(sp.Endpoints))
	}
}

// FuzzParseAddr holds the lenient readers to what they promise: whatever they accept is an
// unscoped address that reads back as itself.
func FuzzParseAddr(f *testing.F) {
	for _, s := range []string{"10.0.0.1", "010.0.0.1", "::ffff:10.0.0.1", "fe80::1%eth0", "fd00::1/64", " 10.0.0.0/8 ", "0000010.0.0.0/08"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if a, err := parseAddr(s); err == nil {
			if again, err := parseAddr(a.String()); err != nil || again != a || a.Zone() != "" || a != a.Unmap() {
				t.Errorf("parseAddr(%q) = %v, which reads back as %v, %v", s, a, again, err)
			}
		} else if strict, err := netip.ParseAddr(s); err == nil && strict.Zone() == "" {
			t.Errorf("parseAddr refuses %q, which is an address", s)
		}
		if p, err := parsePrefix(s); err == nil {
			if again, err := parsePrefix(p.String()); err != nil || again != p || p != p.Masked() {
				t.Errorf("parsePrefix(%q) = %v, which reads back as %v, %v", s, p, again, err)
			}
		}
	})
}
