package cluster

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/control"
)

// asks has each pod ask for resources, such as "cpu=1 memory=1Gi".
func (b build) asks(words string) build {
	b.container().Resources.Requests = resources(words)
	return b
}

// have has each node say what it has.
func (b build) have(words string) build {
	for n := range b.Nodes {
		b = b.node(n, func(o *corev1.Node) { o.Status.Allocatable = resources(words) })
	}
	return b
}

func resources(words string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for f := range strings.FieldsSeq(words) {
		name, amount, _ := strings.Cut(f, "=")
		out[corev1.ResourceName(name)] = resource.MustParse(amount)
	}
	return out
}

// zones puts the nodes into zones in turn.
func (b build) zones(names ...string) build {
	for n := range b.Nodes {
		b.Nodes[n].Zone = names[n%len(names)]
	}
	return b
}

// spread has the pods spread over the domains of a key, one more at most in one than in another.
func (b build) spread(key string, edit func(*corev1.TopologySpreadConstraint)) build {
	t := corev1.TopologySpreadConstraint{
		MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule,
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
	}
	if edit != nil {
		edit(&t)
	}
	b.d.Spec.Template.Spec.TopologySpreadConstraints = append(b.d.Spec.Template.Spec.TopologySpreadConstraints, t)
	return b
}

// apartBy keeps the pods off the domains of a key that have one of them.
func (b build) apartBy(key string) build {
	b = b.apart()
	b.d.Spec.Template.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].TopologyKey = key
	return b
}

// A rollout whose surge has no room by requests, by zone or by spread cannot go on; one that has it, or needs none, can. Reference:
// docs/model/controllers.md 5 Requests, Anti-affinity by any key, Topology spread.
func TestASurgeWithoutRoom(t *testing.T) {
	t.Parallel()
	const zone, host, template = corev1.LabelTopologyZone, corev1.LabelHostname, "spec.template.spec."
	byRevision := func(t *corev1.TopologySpreadConstraint) { t.MatchLabelKeys = []string{"pod-template-hash"} }
	for _, c := range []struct {
		name string
		b    build
		want *control.Stuck // nil: it comes to its end
	}{
		{"CPU for no more", newBuild(2).nodes(2).have("cpu=1").asks("cpu=600m"),
			&control.Stuck{Why: "the new pod finds no node: 0/2 nodes are available: 2 Insufficient cpu", What: "maxSurge 0 and maxUnavailable 1, or a node with cpu 600m left", Path: template + "containers[0].resources.requests.cpu"}},
		{"CPU for one more", newBuild(2).nodes(2).have("cpu=2").asks("cpu=600m"), nil},
		{"no surge", newBuild(2).nodes(2).have("cpu=1").asks("cpu=600m").strategy("0", "1"), nil},
		{"nodes that do not say", newBuild(2).nodes(2).asks("cpu=600m"), nil},
		{"as many pods as a node takes", newBuild(3).have("pods=3").strategy("1", "0"),
			&control.Stuck{Why: "the new pod finds no node: 0/1 nodes are available: 1 Too many pods", What: "maxSurge 0 and maxUnavailable 1, or one node more"}},
		{"CPU that the pods never had", newBuild(1).have("cpu=1").asks("cpu=4 memory=1Gi"),
			&control.Stuck{Why: "2 new pods find no node: 0/1 nodes are available: 1 Insufficient cpu", What: "a node with cpu 4 left", Path: template + "containers[0].resources.requests.cpu"}},
		{"a zone for each pod", newBuild(3).nodes(6).zones("a", "b", "c").apartBy(zone).strategy("1", "0"),
			&control.Stuck{Why: "the new pod finds no node: 0/6 nodes are available: 6 node(s) didn't match pod anti-affinity rules",
				What: "maxSurge 0 and maxUnavailable 1, or a node of a " + zone + " without one of these pods", Path: template + "affinity.podAntiAffinity"}},
		{"a zone more", newBuild(3).nodes(4).zones("a", "b", "c", "d").apartBy(zone).strategy("1", "0"), nil},
		{"spread, and room on each node", newBuild(3).nodes(3).spread(host, nil).strategy("1", "0"), nil},
		{"spread over zones of which one is full", newBuild(3).nodes(2).zones("a", "b").spread(zone, nil).strategy("1", "0").have("cpu=2").asks("cpu=1").node(1, func(o *corev1.Node) { o.Status.Allocatable = resources("cpu=1") }),
			&control.Stuck{Why: "the new pod finds no node: 0/2 nodes are available: 2 Insufficient cpu", What: "maxSurge 0 and maxUnavailable 1, or a node with cpu 1 left", Path: template + "containers[0].resources.requests.cpu"}},
		{"spread over zones of which one is full, and room in the other", newBuild(3).nodes(2).zones("a", "b").spread(zone, nil).strategy("1", "0").have("cpu=4").asks("cpu=1").node(1, func(o *corev1.Node) { o.Status.Allocatable = resources("cpu=1") }),
			&control.Stuck{Why: "the new pod finds no node: 0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match pod topology spread constraints",
				What: "maxSurge 0 and maxUnavailable 1, or a node with cpu 1 left", Path: template + "containers[0].resources.requests.cpu"}},
		{"old pods that count", newBuild(3).nodes(3).spread(host, nil).strategy("1", "0").node(2, tainted),
			&control.Stuck{Why: "2 new pods find no node: 0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 node(s) didn't match pod topology spread constraints",
				What: "nodeTaintsPolicy Honor, with which nodes that are cordoned or tainted are no domains, or whenUnsatisfiable ScheduleAnyway", Path: template + "topologySpreadConstraints[0]"}},
		{"each revision on its own", newBuild(2).nodes(3).spread(host, byRevision).strategy("1", "0"), nil},
		{"it only counts", newBuild(3).nodes(3).spread(host, func(t *corev1.TopologySpreadConstraint) { t.WhenUnsatisfiable = corev1.ScheduleAnyway }).node(2, tainted), nil},
		{"a label that no node has", newBuild(1).nodes(2).node(0, labelled("ssd")).node(1, labelled("ssd")).spread("rack", nil),
			&control.Stuck{Why: "2 new pods find no node: 0/2 nodes are available: 2 node(s) didn't match pod topology spread constraints (missing required label)", What: "the label rack on the nodes", Path: template + "topologySpreadConstraints[0]"}},
	} {
		w := c.b.start(t, 1)
		w.do(10*sec, "rolloutRestart", "web", "")
		w.run(300 * sec)
		if got := w.StuckRollout(); got == nil != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, got, c.want)
		}
		d := as[*api.Workload](w.store.Get(api.DeploymentKey(0)))
		if census := w.census(d); (census.old == 0 && len(census.sick) == 0) != (c.want == nil) {
			t.Errorf("%s: %+v", c.name, census)
		}
	}
}

// A node that is drained stays a domain of spread constraints, without pods, unless they honor taints: nothing else may then have more
// than maxSkew pods. Reference: docs/model/controllers.md 5 Node inclusion policies.
func TestADrainAgainstTopologySpread(t *testing.T) {
	t.Parallel()
	honor := corev1.NodeInclusionPolicyHonor
	for _, c := range []struct {
		name string
		edit func(*corev1.TopologySpreadConstraint)
		want string // "" where the drain ends
	}{
		{"as it is by default", nil, "nodeTaintsPolicy Honor, with which nodes that are cordoned or tainted are no domains, or whenUnsatisfiable ScheduleAnyway"},
		{"before 1.26", nil, "whenUnsatisfiable ScheduleAnyway"},
		{"nodeTaintsPolicy Honor", func(t *corev1.TopologySpreadConstraint) { t.NodeTaintsPolicy = &honor }, ""},
		{"maxSkew 2", func(t *corev1.TopologySpreadConstraint) { t.MaxSkew = 2 }, ""},
		{"ScheduleAnyway", func(t *corev1.TopologySpreadConstraint) { t.WhenUnsatisfiable = corev1.ScheduleAnyway }, ""},
	} {
		b := newBuild(3).nodes(3).spread(corev1.LabelHostname, c.edit).drained(nil, "node-1")
		if c.name == "before 1.26" {
			b.Kubernetes.Version.Minor = 25
		}
		w := b.acts(t)
		w.run(100 * sec)
		got := w.CannotEnd()
		if (got == nil) != (c.want == "") || got != nil && (got.What != c.want || got.Path != "spec.template.spec.topologySpreadConstraints[0]") {
			t.Errorf("%s: %+v", c.name, got)
		}
		pending := len(w.sched.Pending())
		if (pending == 0) != (c.want == "") {
			t.Errorf("%s: %d pending", c.name, pending)
		}
	}
}

// A pod that wants to be near others waits until one of them has a node. Reference: docs/model/controllers.md 5 Affinity.
func TestAPodWaitsForCompany(t *testing.T) {
	t.Parallel()
	b := newBuild(1).nodes(2).zones("a", "b").another("cache", 0)
	cache := b.Workloads[1].Deployment()
	cache.Spec.Template.Labels = map[string]string{"app": "cache"}
	b.d.Spec.Template.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
		TopologyKey: corev1.LabelTopologyZone, LabelSelector: &metav1.LabelSelector{MatchLabels: cache.Spec.Template.Labels},
	}}}}
	w := b.start(t, 1)
	w.pods()
	w.do(10*sec, "scale", "web", "2")
	w.do(20*sec, "scale", "cache", "1")
	w.at(15*sec, func() {
		if s := w.StuckRollout(); s == nil || !strings.HasSuffix(s.Why, "2 node(s) didn't match pod affinity rules") || s.Path != "spec.template.spec.affinity.podAffinity" {
			t.Errorf("%+v", s)
		}
	})
	w.run(60 * sec)
	if n := len(w.sched.Pending()); n != 0 || w.CannotEnd() != nil {
		t.Errorf("%d pending, %+v", n, w.CannotEnd())
	}
}
