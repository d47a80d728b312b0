package backendtest

import (
	"reflect"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

func probes(c Case) []probe {
	var out []probe
	for _, st := range c.row.steps {
		if p, ok := st.(probe); ok {
			out = append(out, p)
		}
	}
	return out
}

func TestEveryDialectDifferenceHasARow(t *testing.T) {
	t.Parallel()
	met := map[difference]bool{}
	for _, c := range Cases() {
		for _, p := range probes(c) {
			if p.difference == "" {
				if !reflect.DeepEqual(p.inIPTables, outcome{}) {
					t.Errorf("%s: a probe says what iptables mode does, but not which difference it is", c.Name())
				}
				continue
			}
			met[p.difference] = true
			if p.want.verdict == p.inIPTables.verdict && reflect.DeepEqual(p.want.in(c.Family), p.inIPTables.in(c.Family)) {
				t.Errorf("%s: both dialects do the same, so it is no difference: %s", c.Name(), p.difference)
			}
			if c.row.dialects != nil {
				t.Errorf("%s: a row with a difference has to run in both dialects", c.Name())
			}
		}
	}
	for _, d := range differences() {
		if !met[d] {
			t.Errorf("no row shows: %s", d)
		}
	}
	if len(met) != len(differences()) {
		t.Errorf("rows show %d differences, %d are listed", len(met), len(differences()))
	}
}

func TestCasesAreWellFormed(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	protocols := map[packet.Protocol]bool{}
	for _, c := range Cases() {
		if names[c.Name()] {
			t.Errorf("two cases are named %q", c.Name())
		}
		names[c.Name()] = true
		protocols[c.Protocol] = true
		if c.Reference() == "" || len(c.row.steps) == 0 || len(c.row.cluster) == 0 {
			t.Errorf("%s: a row needs a reference, a cluster and steps", c.Name())
		}
		if strings.HasSuffix(c.row.name, ".") {
			t.Errorf("%s: row names have no full stop", c.Name())
		}
		if n := c.Node(); n.Dialect != c.Dialect || n.Name != NodeName {
			t.Errorf("%s: the row changed the node's name or dialect", c.Name())
		}
	}
	if len(protocols) != 3 {
		t.Errorf("rows run with %d protocols, want TCP, UDP and SCTP", len(protocols))
	}
}

func TestPlacesHaveAddressesOfTheirOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]Place{}
	for _, p := range Places() {
		for _, f := range endpoints.Families() {
			a := p.Addr(f)
			if endpoints.FamilyOf(a) != f {
				t.Errorf("%s: %s is no %s address", p, a, f)
			}
			if other, taken := seen[a.String()]; taken {
				t.Errorf("%s and %s are both %s", p, other, a)
			}
			seen[a.String()] = p
		}
	}
	for _, p := range []Place{PodA, PodB, PodC, RemoteA, RemoteB} {
		for f, cidr := range clusterCIDRs() {
			if !cidr.Contains(p.Addr(endpoints.Families()[f])) {
				t.Errorf("%s is not in the cluster CIDR %s", p, cidr)
			}
		}
	}
}

func TestNeedsFollowFromProtocolAndSteps(t *testing.T) {
	t.Parallel()
	r := row{steps: []step{spread{between: []step{wait(stay)}}}}
	got := Case{&r, plan.NFTables, endpoints.IPv4, packet.SCTP}.Needs()
	if want := []Need{NeedSCTP, NeedClock}; !reflect.DeepEqual(got, want) {
		t.Errorf("needs %q, want %q", got, want)
	}
}

func TestEveryNeedIsAskedForByARow(t *testing.T) {
	t.Parallel()
	lacks := map[Need]string{}
	for _, c := range Cases() {
		for _, need := range c.Needs() {
			lacks[need] = "it cannot"
		}
	}
	if len(lacks) != 5 {
		t.Errorf("rows have needs %v, want one row at least for each of the five", lacks)
	}
}
