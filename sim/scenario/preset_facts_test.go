package scenario

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/docs/model"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// factRows says which presets each fact of docs/model/load-balancers.md 1 is about.
func factRows() map[string][]string {
	return map[string][]string{
		"GKE L4 (subsetting), Local":   {"gke-l4-local"},
		"GKE L4 (subsetting), Cluster": {"gke-l4-cluster"},
		"GKE legacy external":          {"gke-legacy-external-local", "gke-legacy-external-cluster"},
		"GKE legacy internal":          {"gke-legacy-internal-local", "gke-legacy-internal-cluster"},
		"GKE L7 container-native NEG":  {"gke-l7-neg"},
		"GKE L7 instance group":        {"gke-l7-instance-group"},
		"AWS NLB ip target":            {"aws-nlb-ip"},
		"AWS NLB instance, Cluster":    {"aws-nlb-instance-cluster"},
		"AWS NLB instance, Local":      {"aws-nlb-instance-local"},
		"AWS ALB":                      {"aws-alb-ip", "aws-alb-instance"},
		"AWS classic ELB":              {"aws-classic-local", "aws-classic-cluster"},
		"AWS in-tree NLB, Cluster":     {"aws-nlb-in-tree-cluster"},
		"AWS in-tree NLB, Local":       {"aws-nlb-in-tree-local"},
		"Azure Standard LB, Local":     {"azure-standard-local"},
		"Azure Standard LB, Cluster":   {"azure-standard-cluster"},
		"MetalLB":                      {"metallb-l2-local", "metallb-l2-cluster", "metallb-bgp-local", "metallb-bgp-cluster"},
		"cloud-provider-kind":          {"kind-local", "kind-cluster"},
	}
}

// facts reads docs/model.
func facts(t *testing.T) []model.Fact {
	t.Helper()
	all, err := model.Facts()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The numbers of the presets are those of the facts, and no row of either is missing.
// Reference: docs/model/load-balancers.md 1.
func TestPresetsHaveTheNumbersOfTheFacts(t *testing.T) {
	t.Parallel()
	const inside = 4 // proxies inside of the cluster, docs/model/load-balancers.md 5, and what stands in for any other provider's gateway
	seen := 0
	for _, f := range model.Find(facts(t), "load-balancers 1") {
		ids := factRows()[strings.TrimPrefix(f.ID, "load-balancers 1 ")]
		if len(ids) == 0 {
			t.Errorf("no preset for %s", f.ID)
		}
		for _, id := range ids {
			seen++
			p, _ := presetFor(id, "")
			for _, said := range strings.Split(f.Numbers, ", ") {
				if !hasNumber(&p.LoadBalancer, said) {
					t.Errorf("%s: %+v, drain %s: %s says %s", id, p.LoadBalancer.Check, p.LoadBalancer.Drain.Duration(), f.ID, said)
				}
			}
		}
	}
	if seen+inside != len(Presets()) {
		t.Errorf("the facts speak of %d presets and of %d other proxies, there are %d", seen, inside, len(Presets()))
	}
}

// hasNumber says whether a load balancer has one of the numbers of a fact, such as "interval 3 s". An NLB drains for longer than
// its delay: connections live on (docs/model/load-balancers.md 4 AWS NLB).
func hasNumber(lb *world.LoadBalancer, said string) bool {
	check := lb.Check
	switch said {
	case "no checks":
		return check.Probe == world.ProbeNone
	case "no drain", "drain as configured":
		return lb.Drain == 0
	case "drain 300 s":
		return lb.Drain == 300*engine.Second || lb.Drain == engine.Never
	}
	return strings.Contains(fmt.Sprintf("interval %s s, timeout %s s, healthy %d, unhealthy %d, drain %s s,",
		check.Interval.Seconds(), check.Timeout.Seconds(), check.Healthy, check.Unhealthy, lb.Drain.Seconds()), said+",")
}

// A number that is another one, or is of another kind, is noticed.
func TestHasNumber(t *testing.T) {
	t.Parallel()
	lb, _ := presetFor("gke-l4-local", "")
	for said, want := range map[string]bool{ // order: each for itself
		"interval 3 s": true, "interval 13 s": false, "interval 30 s": false, "timeout 3 s": false, "unhealthy 2": true, "unhealthy 1": false, "healthy 1": true,
		"drain 30 s": true, "no drain": false, "drain 300 s": false, "no checks": false,
	} {
		if got := hasNumber(&lb.LoadBalancer, said); got != want {
			t.Errorf("%s: %t", said, got)
		}
	}
}

// Reference: docs/model/load-balancers.md 5.
func TestProxiesInsideGoByTheEndpointsOfTheFacts(t *testing.T) {
	t.Parallel()
	for id, c := range map[string]struct { // order: each for itself
		fact, says string
		members    world.LBMembers
	}{
		"ingress-nginx": {"load-balancers 5.1 Upstream selection", "only endpoints that are ready", world.MembersReadyPods},
		"envoy-gateway": {"load-balancers 5.2 Backend endpoints", "terminate or do not serve are draining", world.MembersServingPods},
		"l7-generic":    {"simulator 1", "nothing is known uses ready endpoints", world.MembersReadyPods},
	} {
		p, ok := presetFor(id, "")
		if found := model.Find(facts(t), c.fact); !ok || !slices.ContainsFunc(found, func(f model.Fact) bool { return strings.Contains(f.Text, c.says) }) {
			t.Errorf("%s does not say of %s: %s", c.fact, id, c.says)
		}
		if lb := p.LoadBalancer; lb.Target != world.TargetPods || lb.Members != c.members || lb.Check.Probe != world.ProbeNone || !lb.Layer7.Ingress || lb.NoTarget != world.NoTarget503 {
			t.Errorf("%s: %+v", id, lb)
		}
	}
	nginx, _ := presetFor("ingress-nginx", "")
	if lb := nginx.LoadBalancer; lb.Propagation.Max() != engine.Second {
		t.Errorf("a batch of %s", lb.Propagation)
	}
}

// A source is a page that can be opened: a fact of docs/model, or the maker's own. What is only inferred or recalled may say that
// no fact has it, or what it follows from.
func TestSourcesOfPresetsCanBeOpened(t *testing.T) {
	t.Parallel()
	all, cited := facts(t), 0
	for _, p := range Presets() {
		for _, f := range p.Fields {
			page, _, _ := strings.Cut(f.Source, ": ")
			id, ok := strings.CutPrefix(page, "docs/model/")
			switch {
			case ok:
				cited++
				if id = strings.Replace(id, ".md", "", 1); len(model.Find(all, id)) == 0 {
					t.Errorf("%s, %s: there is no fact %q", p.ID, f.Name, id)
				}
			case !strings.HasPrefix(page, "https://") && f.Status != inferred && f.Status != recalled:
				t.Errorf("%s, %s: %s, and the source is %q", p.ID, f.Name, f.Status, f.Source)
			}
		}
	}
	if cited < 500 {
		t.Errorf("only %d sources are facts", cited)
	}
}
