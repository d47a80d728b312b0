package scenario

import (
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Normal writes the normalised form as YAML, for people and for tests: every default filled
// in, always in the same order. It is no Scenario document.
func Normal(s *world.Scenario) string {
	w := &printer{}
	w.line("name", s.Name)
	printRows(w, specFields(), &making{Scenario: s})
	w.list("assumptions", len(s.Assumptions), func(i int) { w.line(s.Assumptions[i].ID, s.Assumptions[i].Value) })
	w.list("notModelled", len(s.NotModelled), func(i int) {
		n := s.NotModelled[i]
		w.line("id", n.ID)
		w.line("what", n.What)
		w.line("object", n.Object)
		w.line("direction", n.Direction)
	})
	return w.b.String()
}

// update prints how a new version of a workload takes the place of the old one.
func (w *printer) update(x *world.Workload) {
	d := x.Deployment()
	if d != nil {
		w.line("strategy", string(d.Spec.Strategy.Type))
	}
	if x.Kind() == world.DaemonSet && world.OnDelete(x.Resource) {
		w.line("updateStrategy", "OnDelete")
	}
	if surge, unavailable := world.RollingOf(x.Resource); surge != nil && unavailable != nil {
		w.raw("maxSurge", surge.String())
		w.raw("maxUnavailable", unavailable.String())
	}
	if s := x.MinReadySeconds(); s != 0 {
		w.number("minReadySeconds", int(s))
	}
	if s := x.StatefulSet(); s != nil {
		w.stateful(&s.Spec)
	}
	if d == nil {
		return
	}
	if p := d.Spec.ProgressDeadlineSeconds; p != nil && *p != 600 {
		w.number("progressDeadlineSeconds", int(*p))
	}
}

// stateful prints what a StatefulSet says of its pods' order.
func (w *printer) stateful(s *appsv1.StatefulSetSpec) {
	w.line("podManagementPolicy", string(s.PodManagementPolicy))
	w.line("updateStrategy", string(s.UpdateStrategy.Type))
	if u := s.UpdateStrategy.RollingUpdate; u != nil && u.Partition != nil && *u.Partition != 0 {
		w.number("partition", int(*u.Partition))
	}
	if u := s.UpdateStrategy.RollingUpdate; u != nil && u.MaxUnavailable != nil {
		w.raw("maxUnavailable", u.MaxUnavailable.String())
	}
	if s.Ordinals != nil && s.Ordinals.Start != 0 {
		w.number("firstOrdinal", int(s.Ordinals.Start))
	}
}

func (w *printer) workload(x *world.Workload) {
	pod := &x.Template().Spec
	w.line("name", x.Name())
	if kind := x.Kind(); kind != world.Deployment {
		w.line("kind", kind)
	}
	w.number("replicas", x.Replicas())
	w.flag("created", x.Created)
	w.placed(x.Placed)
	w.update(x)
	var gates []string
	for _, g := range pod.ReadinessGates {
		gates = append(gates, string(g.ConditionType))
	}
	w.texts("readinessGates", gates)
	if g := pod.TerminationGracePeriodSeconds; g != nil {
		w.raw("terminationGracePeriodSeconds", strconv.FormatInt(*g, 10))
	}
	w.line("server", x.Server)
	w.texts("behind", x.Behind)
	var claims []string
	for _, c := range x.Claims {
		claims = append(claims, c.Name+" "+c.Access.String())
	}
	w.texts("claims", claims)
	inits := initContainers(pod)
	if inits > 0 {
		w.number("initContainers", inits)
	}
	w.nested("app", func() { w.app(&x.App, inits > 0) })
	for _, name := range []string{"old", "new"} {
		if app, ok := x.Revisions[name]; ok {
			w.nested(name, func() { w.app(&app, inits > 0) })
		}
	}
	for i := range pod.Containers {
		c := &pod.Containers[i]
		h := x.Hooks[c.Name]
		if h.Kind != servers.HookNone {
			w.nested("preStop of "+c.Name, func() { w.hook(&h) })
		}
		if h.After.Why != "" {
			w.nested("postStart of "+c.Name, func() { w.postStart(&h.After) })
		}
	}
}

func (w *printer) hook(h *world.Hook) {
	w.line("kind", h.Kind)
	w.dist("duration", h.Duration)
	w.flag("closesListener", h.ClosesListener)
	w.flag("signalsServer", h.SignalsServer)
	w.flag("failsReadiness", h.FailsReadiness)
	if h.ActsAfter.Max() > 0 {
		w.dist("actsAfter", h.ActsAfter)
	}
	w.flag("waitsForRequests", h.WaitsForRequests)
	w.flag("undetermined", h.Undetermined)
	w.line("why", h.Why)
}

func (w *printer) postStart(h *world.PostStart) {
	w.dist("duration", h.Duration)
	w.flag("fails", h.Fails)
	w.flag("undetermined", h.Undetermined)
	w.line("why", h.Why)
}

func (w *printer) service(s *corev1.Service) {
	w.line("name", s.Namespace+"/"+s.Name)
	w.line("type", string(s.Spec.Type))
	w.texts("clusterIPs", s.Spec.ClusterIPs)
	w.line("externalTrafficPolicy", string(s.Spec.ExternalTrafficPolicy))
	if s.Spec.HealthCheckNodePort != 0 {
		w.number("healthCheckNodePort", int(s.Spec.HealthCheckNodePort))
	}
	w.list("ports", len(s.Spec.Ports), func(i int) {
		p := &s.Spec.Ports[i]
		w.line("name", p.Name)
		w.number("port", int(p.Port))
		if p.Protocol != corev1.ProtocolTCP {
			w.line("protocol", string(p.Protocol))
		}
		w.line("targetPort", p.TargetPort.String())
		if p.NodePort != 0 {
			w.number("nodePort", int(p.NodePort))
		}
	})
}

func (w *printer) budget(b *world.Budget) {
	w.line("name", b.Value.Namespace+"/"+b.Value.Name)
	if v, path := b.Bound(); v != nil {
		w.raw(strings.TrimPrefix(path, "spec."), v.String())
	}
	if p := b.Value.Spec.UnhealthyPodEvictionPolicy; p != nil {
		w.line("unhealthyPodEvictionPolicy", string(*p))
	}
}
