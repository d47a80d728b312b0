package endpoints

import "testing"

// Reference: k8s.io/utils/net, ParseIPSloppy and ParseCIDRSloppy; kube-proxy 1.36 uses both.
func TestParseAddr(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"10.0.0.1":             "10.0.0.1",
		"010.000.00.001":       "10.0.0.1",
		"0.0.0.0":              "0.0.0.0",
		"fd00::1":              "fd00::1",
		"FD00:0:0::1":          "fd00::1",
		"::ffff:10.0.0.1":      "10.0.0.1",
		"::":                   "::",
		"":                     "",
		"10.0.0":               "",
		"10.0.0.1.2":           "",
		"10.0.0.256":           "",
		"10.0..1":              "",
		"10.0.0.1\n":           "",
		"10.0.0.1:80":          "",
		"fe80::1%eth0":         "",
		"::ffff:10.0.0.1%eth0": "",
		"localhost":            "",
		"10.0.0.-1":            "",
		"0x0a.0.0.1":           "",
	} {
		a, err := parseAddr(in)
		if got := a.String(); (err == nil) != (want != "") || err == nil && got != want {
			t.Errorf("parseAddr(%q) = %v, %v, want %q", in, a, err, want)
		}
	}
}

func TestParsePrefix(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"10.0.0.0/8":      "10.0.0.0/8",
		"10.1.2.3/8":      "10.0.0.0/8",
		" 10.0.0.0/8 ":    "10.0.0.0/8",
		"010.0.0.0/8":     "10.0.0.0/8",
		"0.0.0.0/0":       "0.0.0.0/0",
		"fd00::1/64":      "fd00::/64",
		"::/0":            "::/0",
		"10.0.0.1":        "",
		"10.0.0.0/33":     "",
		"10.0.0.0/-1":     "",
		"fe80::1%eth0/64": "",
		"":                "",
		"/8":              "",
		"10.0.0.0/8/8":    "",
		"10.0.0.0/ 8":     "",
	} {
		p, err := parsePrefix(in)
		if got := p.String(); (err == nil) != (want != "") || err == nil && got != want {
			t.Errorf("parsePrefix(%q) = %v, %v, want %q", in, p, err, want)
		}
	}
}
