package endpoints

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

func TestReasonsHaveStableCodes(t *testing.T) {
	t.Parallel()
	want := "ready terminating-fallback policy-unused remote not-ready serving-not-ready terminating-not-serving " +
		"ready-preferred fallback-off other-zone other-node duplicate not-in-slices"
	var got []string
	for _, r := range Reasons() {
		got = append(got, r.String())
		if r.Used() != (r == ReasonReady || r == ReasonFallback) {
			t.Errorf("%v is used: %v", r, r.Used())
		}
	}
	if strings.Join(got, " ") != want {
		t.Errorf("codes are\n%s, want\n%s", strings.Join(got, " "), want)
	}
	if got := fmt.Sprint(Reason(0), Reason(200)); got != "undecided reason(200)" {
		t.Errorf("reasons that are none print as %q", got)
	}
}

func TestEveryReasonHasASentence(t *testing.T) {
	t.Parallel()
	seen := map[string]Reason{}
	for _, r := range Reasons() {
		cluster, local := r.Sentence(ClusterList), r.Sentence(LocalList)
		for _, s := range []string{cluster, local} {
			if s == "" || s == r.String() && r != ReasonReady || regexp.MustCompile(`\.$|^[A-Z]|%`).MatchString(s) {
				t.Errorf("%v has the sentence %q", r, s)
			}
		}
		if other, ok := seen[cluster]; ok {
			t.Errorf("%v and %v share the sentence %q", r, other, cluster)
		}
		seen[cluster] = r
		speaksOfScope := r == ReasonFallback || r == ReasonReadyPreferred || r == ReasonFallbackOff || r == ReasonPolicyUnused
		if (cluster != local) != speaksOfScope {
			t.Errorf("%v says %q of one list and %q of the other", r, cluster, local)
		}
	}
	if got := Reason(200).Sentence(ClusterList); got != "reason(200)" {
		t.Errorf("a reason that is none has the sentence %q", got)
	}
}

func TestDecisionOf(t *testing.T) {
	t.Parallel()
	d := Decision{Cluster: ReasonReady, Local: ReasonRemote}
	if d.Of(ClusterList) != ReasonReady || d.Of(LocalList) != ReasonRemote || !d.Used() {
		t.Errorf("decision %v reads Cluster %v, Local %v, used %v", d, d.Of(ClusterList), d.Of(LocalList), d.Used())
	}
	if (Decision{Cluster: ReasonPolicyUnused, Local: ReasonFallback}).Used() != true || (Decision{ReasonNotReady, ReasonRemote}).Used() {
		t.Error("Used looks at one list only, or at none")
	}
}

func TestWordsOfTheModel(t *testing.T) {
	t.Parallel()
	got := fmt.Sprintln(IPv4, IPv6, TCP, UDP, SCTP, PolicyCluster, PolicyLocal, ClusterList, LocalList,
		TopologyNone, PreferSameZone, PreferSameNode, FallbackNone, ",", FallbackExternalLocal, ",", FallbackAll,
		Conditions(0), Ready|Terminating, ServicePortName{ServiceName{"a", "b"}, "", TCP}, ServicePortName{ServiceName{"a", "b"}, "c", UDP})
	want := "IPv4 IPv6 TCP UDP SCTP Cluster Local Cluster Local  PreferSameZone PreferSameNode off , external Local only , on F/F/F T/F/T a/b a/b:c"
	if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	sp := newPort(ServicePort{Port: 80, ClusterIP: benchPort(0, nil).ClusterIP})
	if sp.String() != "10.96.0.1:80/TCP" {
		t.Errorf("a port prints as %s", sp)
	}
}

func TestServicePortNamesAreInOrder(t *testing.T) {
	t.Parallel()
	order := []ServicePortName{
		{ServiceName{"a", "z"}, "z", UDP}, {ServiceName{"b", "a"}, "z", UDP}, {ServiceName{"b", "b"}, "", UDP},
		{ServiceName{"b", "b"}, "a", TCP}, {ServiceName{"b", "b"}, "a", UDP},
	}
	for i, a := range order {
		for j, b := range order {
			if got := a.Compare(b); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%v compared with %v is %d", a, b, got)
			}
		}
	}
}
