package manifest

import (
	"strings"
	"testing"
)

// k8s.io/apimachinery, pkg/util/validation/validation.go: IsDNS1123Label, IsDNS1123Subdomain, IsValidPortName.
func TestNamesAreReadAsTheAPIServerReadsThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text                   string
		label, subdomain, port bool
	}{
		{"", false, false, false},
		{"a", true, true, true},
		{"0", true, true, false},
		{"z9", true, true, true},
		{"a-b", true, true, true},
		{"a--b", true, true, false},
		{"-a", false, false, false},
		{"a-", false, false, false},
		{"-", false, false, false},
		{"80", true, true, false},
		{"a.b", false, true, false},
		{"a-1.b", false, true, false},
		{".a", false, false, false},
		{"a.", false, false, false},
		{"a..b", false, false, false},
		{"a.-b", false, false, false},
		{"a-.b", false, false, false},
		{"A", false, false, false},
		{"a_b", false, false, false},
		{"a/b", false, false, false},
		{"{", false, false, false},
		{"`", false, false, false},
		{":", false, false, false},
		{strings.Repeat("a", 15), true, true, true},
		{strings.Repeat("a", 16), true, true, false},
		{strings.Repeat("a", 63), true, true, false},
		{strings.Repeat("a", 64), false, true, false},
		{strings.Repeat("a", 253), false, true, false},
		{strings.Repeat("a", 254), false, false, false},
	} {
		if label, subdomain, port := isDNSLabel(c.text), isDNSSubdomain(c.text), isPortName(c.text); label != c.label || subdomain != c.subdomain || port != c.port {
			t.Errorf("%q: label %t, subdomain %t, port name %t, want %t, %t, %t", c.text, label, subdomain, port, c.label, c.subdomain, c.port)
		}
	}
}

// podCIDR is the first of podCIDRs (pkg/apis/core/validation, ValidateNodeSpec; 1.36).
func TestThePodNetworksOfANodeAgree(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ spec, problem string }{
		{"podCIDR: 10.0.0.0/24, podCIDRs: [10.0.0.0/24]", ""},
		{"podCIDR: 10.0.0.0/24, podCIDRs: [10.0.0.0/24, 'fd00::/64']", ""},
		{"podCIDRs: [10.0.0.0/24]", ""},
		{"podCIDR: 10.0.1.0/24, podCIDRs: [10.0.0.0/24]", "10.0.0.0/24 must be the same as podCIDR, 10.0.1.0/24; podCIDRs is used"},
	} {
		objects, problems := Load([]File{{"x", []byte("{apiVersion: v1, kind: Node, metadata: {name: a}, spec: {" + c.spec + "}}")}}, Options{})
		switch {
		case c.problem == "" && len(problems) > 0, c.problem != "" && (len(problems) != 1 || problems[0].Message != c.problem):
			t.Errorf("%s: %v, want %q", c.spec, problems, c.problem)
		case objects.Nodes[0].Value.Spec.PodCIDR != "10.0.0.0/24":
			t.Errorf("%s: read as %s", c.spec, objects.Nodes[0].Value.Spec.PodCIDR)
		}
	}
}

// What separates documents is a line of three that begins it, and nothing directly behind them.
func TestMarkersOfDocuments(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"---": true, "...": true, "--- a": true, "---\ta": true, "---\r\n": true, "---\n": true,
		"": false, "-": false, "--": false, "----": false, "---a": false, "-.-": false, "--.": false, "a--": false, "..": false, "===": false,
	} {
		if got := looksLikeMarker(text); got != want {
			t.Errorf("%q: %t, want %t", text, got, want)
		}
	}
}

// The kind of a document that is not parsed is read from its line alone: as a word, or as one in quotes of either kind.
func TestTheValueOfALine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		" ConfigMap": "ConfigMap", " 'ConfigMap'": "ConfigMap", ` "ConfigMap"`: "ConfigMap", "  v1  # the first": "v1", " apps/v1": "apps/v1", " a.b-9": "a.b-9",
		"ConfigMap": "", "": "", " ": "", " 'ConfigMap\"": "", " '": "", " &a b": "", " {a}": "", " a_b": "",
	} {
		if got, ok := simpleValue(text); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %t, want %q", text, got, ok, want)
		}
	}
}
