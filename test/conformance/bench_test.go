//go:build linux

package conformance

import (
	"net/netip"
	"testing"

	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
	"github.com/lameduck-proxy/lameduck/test/lab"
)

// BenchmarkLab is what a case costs before its first packet: ten namespaces, wired.
func BenchmarkLab(b *testing.B) {
	for b.Loop() {
		l, err := lab.New(layout())
		if err != nil {
			b.Skipf("needs network namespaces: %v", err)
		}
		if err := l.SetNodeAddresses([]netip.Addr{netip.MustParseAddr("192.168.10.1"), netip.MustParseAddr("fd00:168:10::1")}); err != nil {
			b.Fatal(err)
		}
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFlow is what a draw costs: a flow opened, its request answered or given up, closed.
func BenchmarkFlow(b *testing.B) {
	l, err := lab.New(layout())
	if err != nil {
		b.Skipf("needs network namespaces: %v", err)
	}
	defer l.Close() //nolint:errcheck // a benchmark's end
	for name, d := range map[string]lab.Dial{
		"TCP":  {From: backendtest.Client.String(), Protocol: lab.TCP, Src: netip.MustParseAddrPort("203.0.113.7:40000"), Dst: netip.MustParseAddrPort("10.244.1.11:80")},
		"UDP":  {From: backendtest.Client.String(), Protocol: lab.UDP, Src: netip.MustParseAddrPort("203.0.113.7:40000"), Dst: netip.MustParseAddrPort("10.244.1.11:80")},
		"Lost": {From: backendtest.Client.String(), Protocol: lab.TCP, Src: netip.MustParseAddrPort("203.0.113.7:40000"), Dst: netip.MustParseAddrPort("192.0.2.99:80")},
	} {
		b.Run(name, func(b *testing.B) {
			if err := l.Listen(d.Protocol, false, d.Dst.Port()); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				f, r, err := l.Open(d)
				if err != nil || (r.Fate == lab.Lost) != (name == "Lost") {
					b.Fatalf("%s: %s, error %v", d, r.Fate, err)
				}
				if f != nil {
					if err := f.Close(); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
