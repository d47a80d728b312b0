package scenario

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// Case is one action on one workload, seen through one traffic entry.
type Case struct {
	// ID names the case for --show: "shop/web/rollout/web:80".
	ID       string
	Action   string // "rolling restart"
	Kind     string // of the workload: "Deployment"
	Workload string // "ns/name"
	Traffic  string // "outside :80 :443"
	Service  string // "ns/name"
	Class    string // of the table Classes
	Headline bool
	// FailurePolicy is "Fail" or "Ignore" where the API server itself is the client.
	FailurePolicy string
	// Scenario is what is run. A case that is not judged has the Verdict "not-judged", a Reason,
	// and no Scenario, or one without traffic: what becomes of the pods is reported. Otherwise
	// both are "".
	Scenario        *Scenario
	Verdict, Reason string
	// Families are the load balancers that it might be, where the input does not say which one it is; nil where it does, or
	// where there is none. Scenario is then that of the first.
	Families []Family
	// Object is the Service's, for its position.
	Object *manifest.Object
}

// Family is a case behind one of the load balancers that it might be.
type Family struct {
	Preset string // such as "aws-nlb-ip"
	Name   string // for people: "AWS NLB, ip targets"
	// Scenario is that of the case, through this load balancer.
	Scenario *Scenario
}

// NotJudged is the verdict of a case of which nothing is claimed.
const NotJudged = "not-judged"

// ActionRollout is the action of the cases that Infer makes.
const ActionRollout = "rolling restart"

// Infer makes the cases of manifests that were not written for lameduck: for each workload
// behind a Service, one per traffic entry, in the order of namespace, workload, Service and
// port. Ports of one Service that lead to the same container and are of the same class are
// one entry. Documents of kind Scenario are none of its business. Cases are given also where
// there are Errors among the problems, but without Scenarios then.
func Infer(objects *manifest.Objects, opts Options) ([]Case, []manifest.Problem) {
	b := newBuilder(nil, &opts)
	b.useWorld(objects.All)
	b.checkFlags()
	b.checkInferred()
	b.checkBalancer()
	base := b.base()
	var cases []Case
	for i, o := range b.owners() {
		index := -1
		if i < len(base.Workloads) { // the Deployments come first
			index = i
		}
		if b.targeted(o) && (index < 0 || !base.Workloads[i].App.NotAServer) {
			cases = append(cases, b.cases(base, index, o)...)
		}
	}
	b.idle()
	b.unusedBalancer()
	problems := b.doc.sorted()
	if manifest.HasErrors(problems) {
		for i := range cases {
			cases[i].Scenario = nil
		}
	}
	return cases, problems
}

// owner is a workload of any kind.
type owner struct {
	kind, namespace, name string
	template              *corev1.PodTemplateSpec
}

func (o owner) id() string { return o.namespace + "/" + o.name }

// behind says whether a Service selects the workload's pods, or one of them: pods of a
// StatefulSet have labels that their template has not.
func (o owner) behind(s manifest.Typed[*corev1.Service]) bool {
	labels := o.template.Labels
	if o.kind == "StatefulSet" {
		labels = withPodName(labels, s.Value.Spec.Selector)
	}
	return o.namespace == s.Namespace && selects(s.Value, labels)
}

// targeted says whether --target wants the workload.
func (b *builder) targeted(o owner) bool {
	return b.opts.Target == "" || strings.Contains(o.id(), b.opts.Target)
}

// base is the part that all cases share: everything but who asks and what is done.
func (b *builder) base() *Scenario {
	spec := b.doc.spec()
	s := b.out
	s.Set = b.doc.set
	s.Kubernetes = b.kubernetes(spec.get("kubernetes"))
	s.Latency = b.latency(spec.get("latency"))
	s.Nodes = b.nodes(spec.get("nodes"))
	b.workloads(spec.get("apps"))
	s.Warmup = spec.get("warmup").span(defaultWarmup)
	s.Until = spec.get("until").span(defaultUntil)
	b.assume("action", ActionRollout)
	return s
}

// checkInferred refuses --set of what only a Scenario has.
func (b *builder) checkInferred() {
	spec := b.doc.spec()
	for _, name := range []string{"traffic", "ingress", "actions", "expect", "manifests"} {
		if c := spec.get(name); c.present() {
			c.fail("manifests have no %s: write a Scenario", name)
		}
	}
}

// cases makes those of one workload; index is its place in the base, -1 when its kind is not
// simulated yet.
func (b *builder) cases(base *Scenario, index int, o owner) []Case {
	var out []Case
	for _, s := range b.world.services {
		if !o.behind(s) || s.Value.Spec.Type == corev1.ServiceTypeExternalName {
			continue
		}
		for _, e := range b.entries(s, o.template) {
			c := b.caseOf(o, e)
			runs := c.Reason == "" || e.class == ClassDNS
			switch {
			case runs && index >= 0:
				c.Scenario = b.derive(base, index, &e)
				c.Scenario.Name = c.ID
			case c.Reason == "":
				c.Reason = "rolling updates of a " + o.kind + " are not yet simulated"
			}
			if c.Reason != "" {
				c.Verdict = NotJudged
			}
			out = append(out, c)
		}
	}
	return out
}

// entry is one traffic entry: the ports of a Service that lead to the same container.
type entry struct {
	subject
	class  string
	routed bool // an Ingress or HTTPRoute names them
	ports  []string
}

// entries groups the ports of a Service.
func (b *builder) entries(s manifest.Typed[*corev1.Service], t *corev1.PodTemplateSpec) []entry {
	var out []entry
next:
	for i := range s.Value.Spec.Ports {
		sub := subjectOf(s, i, t)
		class, routed := b.world.classify(&sub), b.world.routed(&sub)
		label := fmt.Sprintf(":%d", sub.port.Port)
		if _, ok := resolvePort(t, sub.port.TargetPort); !ok {
			b.doc.problems = append(b.doc.problems, s.Problem(manifest.Warning, fmt.Sprintf("spec.ports[%d].targetPort", i),
				fmt.Sprintf("no container of the pods it selects has a port named %s: the port has no endpoints", sub.port.TargetPort.StrVal)))
			continue
		}
		for j := range out {
			if out[j].class == class && out[j].routed == routed && out[j].container == sub.container && out[j].port.Protocol == sub.port.Protocol {
				out[j].ports = append(out[j].ports, label)
				continue next
			}
		}
		out = append(out, entry{subject: sub, class: class, routed: routed, ports: []string{label}})
	}
	return out
}

func (b *builder) caseOf(o owner, e entry) Case {
	class := classNamed(e.class)
	policy := ""
	if e.class == ClassWebhook {
		policy = b.world.failurePolicy(&e.subject)
	}
	return Case{
		ID:       fmt.Sprintf("%s/rollout/%s%s", o.id(), e.service.Name, e.ports[0]),
		Action:   ActionRollout,
		Kind:     o.kind,
		Workload: o.id(),
		Traffic:  trafficWords(&e, policy != ""),
		Service:  e.service.ID(),
		Class:    e.class,
		Headline: class.Headline,
		Reason:   class.NotJudged,
		Object:   e.service.Object,

		FailurePolicy: policy,
	}
}

// trafficWords describes an entry: "outside :80 :443".
func trafficWords(e *entry, admission bool) string {
	ports := strings.Join(e.ports, " ")
	switch e.class {
	case ClassDNS:
		return "headless " + e.service.Name + " " + ports
	case ClassWebhook:
		if admission {
			return "admission webhook " + ports
		}
		return "webhook " + ports
	case ClassOutside, ClassH2:
		if e.routed && e.service.Value.Spec.Type != corev1.ServiceTypeLoadBalancer {
			return e.class + ", through an ingress " + ports
		}
	}
	return e.class + " " + ports
}

// derive makes the Scenario of one case: its own workload, the Services that select its pods
// (each of them makes the proxies sync) and the default clients of one entry: none where they
// choose the pod.
func (b *builder) derive(base *Scenario, index int, e *entry) *Scenario {
	s := *base
	w := base.Workloads[index]
	own := &builder{doc: b.doc, opts: b.opts, world: b.world, out: &s, assumed: append([]Assumption(nil), b.assumed...)}
	s.Assumptions, s.NotModelled = nil, nil
	if e.container != nil && e.container.Name != w.Server {
		own.describe(&w, ServerOf(&w.Deployment.Spec.Template, e.port.TargetPort.IntVal, e.port.TargetPort.StrVal))
		if c := b.doc.spec().get("apps").get(w.Deployment.Name); c.present() {
			own.app(&w, c)
		}
	}
	s.Workloads, s.Services, s.Traffic = []Workload{w}, nil, nil
	own.services()
	if e.class == ClassDNS {
		own.headless(e.service)
	}
	for _, t := range clientsOf(e.class, &e.subject) {
		t.Rate = b.rateOf(t.Rate)
		own.balance(&t, e.service.Value, "", cursor{})
		t.ground(e.service.Value)
		s.Traffic = append(s.Traffic, t)
	}
	if len(s.Traffic) > 0 {
		own.assume("clients", clientWords(s.Traffic))
	}
	s.Actions = []Action{{At: s.Warmup, Verb: "rolloutRestart", Target: w.Deployment.Namespace + "/" + w.Deployment.Name, Pos: w.Object.Position}}
	own.finish()
	return &s
}

func clientWords(traffic []Traffic) string {
	var out []string
	for _, t := range traffic {
		out = append(out, fmt.Sprintf("%s %s", t.Name, rateText(t.Rate)))
	}
	return strings.Join(out, ", ")
}

// idle warns of Services that lead nowhere.
func (b *builder) idle() {
	for _, s := range b.world.services {
		why := ""
		switch {
		case s.Value.Spec.Type == corev1.ServiceTypeExternalName:
			why = "type ExternalName is a DNS alias: it has no traffic here"
		case len(s.Value.Spec.Selector) == 0:
			why = "it has no selector: what is behind it is not in the input"
		case !b.selectsAnything(s):
			why = "it selects no workload of the input"
		default:
			continue
		}
		field := ""
		if s.Has("spec.selector") {
			field = "spec.selector"
		}
		b.doc.problems = append(b.doc.problems, s.Problem(manifest.Warning, field, why+"; no case for it"))
	}
}

func (b *builder) selectsAnything(s manifest.Typed[*corev1.Service]) bool {
	return slices.ContainsFunc(b.owners(), func(o owner) bool { return o.behind(s) })
}

// owners lists the workloads of every kind.
func (b *builder) owners() []owner {
	var out []owner
	for _, d := range b.world.deployments {
		out = append(out, owner{"Deployment", d.Namespace, d.Name, &d.Value.Spec.Template})
	}
	for _, s := range b.world.statefulSets {
		out = append(out, owner{"StatefulSet", s.Namespace, s.Name, &s.Value.Spec.Template})
	}
	for _, s := range b.world.daemonSets {
		out = append(out, owner{"DaemonSet", s.Namespace, s.Name, &s.Value.Spec.Template})
	}
	return out
}

// withPodName adds the labels that pods of a StatefulSet have and its template has not.
func withPodName(labels, selector map[string]string) map[string]string {
	out := map[string]string{}
	// order: the copy is the same in any order
	for k, v := range labels {
		out[k] = v
	}
	for _, k := range []string{appsv1.StatefulSetPodNameLabel, appsv1.PodIndexLabel} {
		if v := selector[k]; v != "" {
			out[k] = v
		}
	}
	return out
}
