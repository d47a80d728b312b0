package packet

import (
	"net/netip"
	"testing"
)

func TestProtocolsAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for _, p := range []Protocol{TCP, UDP, SCTP} {
		if got, ok := ParseProtocol(p.String()); !ok || got != p {
			t.Errorf("%s is read as %s, %v", p, got, ok)
		}
	}
	for s, want := range map[string]bool{"TCP": true, "Udp": true, "sctp": true, "icmp": false, "": false, "tcp6": false} {
		if p, ok := ParseProtocol(s); ok != want || !ok && p != 0 {
			t.Errorf("%q is read as %d, %v, want %v", s, p, ok, want)
		}
	}
}

func TestVerdictsHaveStableWords(t *testing.T) {
	t.Parallel()
	for v, want := range map[Verdict]string{None: "none", Endpoints: "endpoints", Reject: "reject", Drop: "drop", Accept: "accept"} {
		if got := v.String(); got != want {
			t.Errorf("verdict %d is %q, want %q", v, got, want)
		}
	}
}

func TestAFlowIsThePacketWithoutItsInterface(t *testing.T) {
	t.Parallel()
	p := Packet{Src: netip.MustParseAddrPort("10.0.0.1:1000"), Dst: netip.MustParseAddrPort("[fd00::1]:80"), Protocol: UDP, InInterface: "eth0"}
	if got, want := p.Flow(), (Flow{p.Src, p.Dst, UDP}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestATraceMasqueradesWhenEveryTargetDoes(t *testing.T) {
	t.Parallel()
	yes, no := Target{Masquerade: true}, Target{}
	for name, c := range map[string]struct {
		targets []Target
		want    bool
	}{
		"no target":          {nil, false},
		"all of them":        {[]Target{yes, yes}, true},
		"a hairpin only":     {[]Target{yes, no}, false},
		"the last one not":   {[]Target{yes, yes, no}, false},
		"none of them":       {[]Target{no}, false},
		"the only one there": {[]Target{yes}, true},
	} {
		if got := (Trace{Targets: c.targets}).Masquerade(); got != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}
