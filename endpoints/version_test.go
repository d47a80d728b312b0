package endpoints

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseVersion(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"1.36": "1.36", "v1.36": "1.36", "1.36.3": "1.36", "v1.36.3+k3s1": "1.36", "v1.28.5-gke.1217000": "1.28",
		"1.28+": "1.28", "1.19": "1.19", "1.37": "1.37", "1.40": "1.40",
		"": "", "1": "", "v1": "", "1.": "", "1.x": "", "2.0": "", "0.36": "", "1.18": "", "1.-1": "", "1.300": "",
		"vv1.36": "", " 1.36": "", "1.36 ": "", "latest": "", "1.41": "", "1.99": "", "0.5": "", "36": "", "1.+": "", "-1.36": "",
	} {
		v, err := ParseVersion(in)
		if want == "" {
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", in)) || !strings.Contains(err.Error(), "from 1.19 to 1.40") {
				t.Errorf("ParseVersion(%q) = %v, %v, want an error that names it and what would be valid", in, v, err)
			}
		} else if err != nil || v.String() != want {
			t.Errorf("ParseVersion(%q) = %v, %v, want %s", in, v, err, want)
		}
	}
}

func TestVersionsAreOrderedByNumber(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b Version
		want bool
	}{
		{Version{1, 9}, Version{1, 36}, true}, {Version{1, 36}, Version{1, 9}, false}, {Version{1, 36}, Version{1, 36}, false},
		{Version{1, 36}, Version{2, 0}, true}, {Version{2, 0}, Version{1, 36}, false},
	} {
		if got := tt.a.Before(tt.b); got != tt.want {
			t.Errorf("%v before %v: %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
}

// behaviour writes Options as the letters of what is on, in the order of the columns below.
func behaviour(o Options) string {
	b := []byte("--" + "---------")
	b[0] = map[FallbackScope]byte{FallbackNone: '-', FallbackExternalLocal: 'l', FallbackAll: 'F'}[o.TerminatingFallback]
	b[1] = map[DuplicateRule]byte{DuplicatesPreferLocal: '-', DuplicatesPreferNonTerminating: 'D'}[o.Duplicates]
	for i, on := range []bool{
		o.TerminatingInSlices, o.InternalTrafficPolicy, o.ZoneHints, o.ServiceHealthInfo,
		o.NodeEligibility, o.LoadBalancerIPMode, o.EndpointWeight, o.NodeHints, o.HoldAfterSync,
	} {
		if on {
			b[2+i] = "TIZHEMWNR"[i]
		}
	}
	return string(b)
}

// Reference: docs/model/kube-proxy.md 11, one column for each fact there.
//
//	F fallback (KEP-1669)        1.26    D duplicate rule            1.36 (recalled)
//	T terminating in slices      1.22    I internalTrafficPolicy     1.22
//	Z zone hints                 1.24    H serviceProxyHealthy       1.27 (recalled)
//	E node eligibility           1.30    M load balancer ipMode      1.30
//	W endpoint weight            1.31    N node hints                1.34
//	R a hold after every sync    1.34
func TestDefaultsOfEachVersion(t *testing.T) {
	t.Parallel()
	for minor, want := range map[int]string{
		19: "-----------", 20: "-----------", 21: "-----------",
		22: "--TI-------", 23: "--TI-------",
		24: "--TIZ------", 25: "--TIZ------",
		26: "F-TIZ------",
		27: "F-TIZH-----", 28: "F-TIZH-----", 29: "F-TIZH-----",
		30: "F-TIZHEM---",
		31: "F-TIZHEMW--", 32: "F-TIZHEMW--", 33: "F-TIZHEMW--",
		34: "F-TIZHEMWNR", 35: "F-TIZHEMWNR",
		36: "FDTIZHEMWNR", 37: "FDTIZHEMWNR",
	} {
		p, err := ProfileFor(Version{1, minor}, nil)
		if err != nil {
			t.Errorf("1.%d: %v", minor, err)
		}
		if got := behaviour(p.Options); got != want || p.Version != (Version{1, minor}) || p.WhatIf != nil {
			t.Errorf("1.%d is %s, want %s; version %v, what-if %v", minor, got, want, p.Version, p.WhatIf)
		}
	}
	if got := behaviour(CurrentOptions()); got != "FDTIZHEMWNR" {
		t.Errorf("CurrentOptions is %s", got)
	}
}

// Reference: docs/model/kube-proxy.md 11: a gate exists from its alpha on and is locked at GA.
func TestGates(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		minor  int
		gate   string
		set    bool
		want   string
		whatIf bool
	}{
		"the alpha of KEP-1669 reaches external Local only": {22, "ProxyTerminatingEndpoints", true, "l-TI-------", false},
		"and still in 1.23":                {23, "ProxyTerminatingEndpoints", true, "l-TI-------", false},
		"both lists in 1.24":               {24, "ProxyTerminatingEndpoints", true, "F-TIZ------", false},
		"and in 1.25":                      {25, "ProxyTerminatingEndpoints", true, "F-TIZ------", false},
		"its beta can be turned off":       {26, "ProxyTerminatingEndpoints", false, "--TIZ------", false},
		"and off in 1.27":                  {27, "ProxyTerminatingEndpoints", false, "--TIZH-----", false},
		"not once it is GA":                {28, "ProxyTerminatingEndpoints", false, "--TIZH-----", true},
		"nor in 1.36":                      {36, "ProxyTerminatingEndpoints", false, "-DTIZHEMWNR", true},
		"saying the default is no what-if": {36, "ProxyTerminatingEndpoints", true, "FDTIZHEMWNR", false},
		"saying the default before the gate exists is none": {21, "ProxyTerminatingEndpoints", false, "-----------", false},
		"before its alpha it is what-if, in full":           {21, "ProxyTerminatingEndpoints", true, "F----------", true},
		"terminating conditions, alpha":                     {20, "EndpointSliceTerminatingCondition", true, "--T--------", false},
		"terminating conditions, before the alpha":          {19, "EndpointSliceTerminatingCondition", true, "--T--------", true},
		"terminating conditions off, beta":                  {25, "EndpointSliceTerminatingCondition", false, "---IZ------", false},
		"terminating conditions off, GA":                    {26, "EndpointSliceTerminatingCondition", false, "F--IZ------", true},
		"internalTrafficPolicy, alpha":                      {21, "ServiceInternalTrafficPolicy", true, "---I-------", false},
		"internalTrafficPolicy off, beta":                   {22, "ServiceInternalTrafficPolicy", false, "--T--------", false},
		"internalTrafficPolicy off, GA":                     {26, "ServiceInternalTrafficPolicy", false, "F-T-Z------", true},
		"zone hints, alpha":                                 {21, "TopologyAwareHints", true, "----Z------", false},
		"zone hints, beta but off by default":               {23, "TopologyAwareHints", true, "--TIZ------", false},
		"zone hints off, beta":                              {32, "TopologyAwareHints", false, "F-TI-HEMW--", false},
		"zone hints off, GA":                                {33, "TopologyAwareHints", false, "F-TI-HEMW--", true},
		"node eligibility, alpha":                           {28, "KubeProxyDrainingTerminatingNodes", true, "F-TIZHE----", false},
		"node eligibility off, beta":                        {30, "KubeProxyDrainingTerminatingNodes", false, "F-TIZH-M---", false},
		"node eligibility off, GA":                          {31, "KubeProxyDrainingTerminatingNodes", false, "F-TIZH-MW--", true},
		"ipMode, alpha":                                     {29, "LoadBalancerIPMode", true, "F-TIZH-M---", false},
		"ipMode off, beta":                                  {31, "LoadBalancerIPMode", false, "F-TIZHE-W--", false},
		"ipMode off, GA":                                    {32, "LoadBalancerIPMode", false, "F-TIZHE-W--", true},
		"node hints, alpha":                                 {33, "PreferSameTrafficDistribution", true, "F-TIZHEMWN-", false},
		"node hints, before the alpha":                      {32, "PreferSameTrafficDistribution", true, "F-TIZHEMWN-", true},
		"node hints off, beta":                              {34, "PreferSameTrafficDistribution", false, "F-TIZHEMW-R", false},
		"node hints off, GA":                                {35, "PreferSameTrafficDistribution", false, "F-TIZHEMW-R", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := ProfileFor(Version{1, tt.minor}, map[string]bool{tt.gate: tt.set})
			if err != nil {
				t.Fatal(err)
			}
			if got := behaviour(p.Options); got != tt.want {
				t.Errorf("1.%d with %s=%v is %s, want %s", tt.minor, tt.gate, tt.set, got, tt.want)
			}
			if got := slices.Equal(p.WhatIf, []string{tt.gate}); got != tt.whatIf || len(p.WhatIf) > 1 {
				t.Errorf("what-if: %v, want %v", p.WhatIf, tt.whatIf)
			}
		})
	}
}

func TestSeveralGatesAtOnce(t *testing.T) {
	t.Parallel()
	p, err := ProfileFor(CurrentVersion(), map[string]bool{"TopologyAwareHints": false, "ProxyTerminatingEndpoints": false})
	if err != nil || behaviour(p.Options) != "-DTI-HEMWNR" {
		t.Errorf("got %s, %v", behaviour(p.Options), err)
	}
	if diff := cmp.Diff([]string{"TopologyAwareHints", "ProxyTerminatingEndpoints"}, p.WhatIf); diff != "" { // in the order of Changes
		t.Errorf("what-if (-want +got):\n%s", diff)
	}
}

func TestAnUnknownGateIsAnErrorThatNamesTheKnownOnes(t *testing.T) {
	t.Parallel()
	for _, gate := range []string{"NFTablesProxyMode", "", "proxyterminatingendpoints"} { // "": some changes have no gate
		p, err := ProfileFor(CurrentVersion(), map[string]bool{gate: true})
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", gate)) || !strings.Contains(err.Error(), "ProxyTerminatingEndpoints") {
			t.Errorf("gate %q: %v, %v", gate, p, err)
		}
	}
}

func TestNotesOfAVersion(t *testing.T) {
	t.Parallel()
	// A recalled boundary is said on both of its sides, where it could be wrong; the version that was read is free of them.
	for minor, want := range map[int][]string{
		22: nil,
		23: {"1.24"}, 24: {"1.24"}, 25: nil,
		26: {"1.27"}, 27: {"1.27"}, 28: nil, 29: nil,
		30: {"1.31"}, 31: {"1.31"}, 32: nil, 34: nil,
		35: {"1.36"}, 36: nil,
		37: {"behaviour of 1.37 is extrapolated from 1.36"},
		40: {"behaviour of 1.40 is extrapolated from 1.36"},
	} {
		p, err := ProfileFor(Version{1, minor}, nil)
		if err != nil || len(p.Notes) != len(want) {
			t.Errorf("1.%d has notes %q, %v, want %d", minor, p.Notes, err, len(want))
			continue
		}
		for i := range want {
			if !strings.Contains(p.Notes[i], want[i]) {
				t.Errorf("1.%d has note %q, want one about %s", minor, p.Notes[i], want[i])
			}
		}
	}
}

func TestChangesAreWellFormed(t *testing.T) {
	t.Parallel()
	ids, gates := map[string]bool{}, map[string]bool{}
	last := 0
	for _, c := range Changes() {
		if c.ID == "" || c.What == "" || c.Source == "" || ids[c.ID] || c.Gate != "" && gates[c.Gate] {
			t.Errorf("change %+v lacks something or is there twice", c)
		}
		ids[c.ID], gates[c.Gate] = true, true
		if (c.Gate == "") != (c.Alpha == 0) || c.Alpha > c.On || c.GA != 0 && c.GA < c.On {
			t.Errorf("%s: alpha 1.%d, on 1.%d, GA 1.%d do not fit together", c.ID, c.Alpha, c.On, c.GA)
		}
		if first := c.Alpha; first != 0 && first < last {
			t.Errorf("%s is out of order: oldest first", c.ID)
		} else if first != 0 {
			last = first
		}
		var o Options
		c.apply(&o, 36)
		if o == (Options{}) {
			t.Errorf("%s changes nothing", c.ID)
		}
	}
	if n := len(slices.Collect(maps.Keys(ids))); n != 11 {
		t.Errorf("%d changes, and the tables above know 11", n)
	}
}
