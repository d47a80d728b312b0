package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/units"
	"github.com/lameduck-proxy/lameduck/sim/world"
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
	// Headline says that users may notice, Users how near they are: reports begin with those, judged or not.
	Headline bool
	Users    Users
	// FailurePolicy is "Fail" or "Ignore" where the API server itself is the client.
	FailurePolicy string
	// Scenario is what is run. A case that is not judged has the Verdict "not-judged", a Reason,
	// and no Scenario, or one without traffic: what becomes of the pods is reported. Otherwise
	// both are "".
	Scenario        *world.Scenario
	Verdict, Reason string
	// Families are the load balancers that it might be, where the input does not say which one it is; nil where it does, or
	// where there is none. Scenario is then that of the first.
	Families []world.Family
	// Object is the Service's, for its position.
	Object *manifest.Object
	// Drain is what is on the nodes, of a Case of Kind KindNode; else nil.
	Drain *DrainPlan
}

// NotJudged is the verdict of a case of which nothing is claimed.
const NotJudged = "not-judged"

// Infer makes the cases of manifests that were not written for lameduck: for each workload
// behind a Service, one per traffic entry, in the order of namespace, workload, Service and
// port. Ports of one Service that lead to the same container and are of the same class are
// one entry. Objects that are Refused are none of them. Documents of kind Scenario are none of its business. Cases are given also where
// there are Errors among the problems, but without Scenarios then.
func Infer(objects *manifest.Objects, opts Options) ([]Case, []manifest.Problem) {
	b := newBuilder(nil, &opts)
	b.useWorld(b.refusedSleeps(objects.All), objects.Unusable)
	b.refuse(objects.Unusable)
	b.checkFlags()
	b.checkInferred()
	b.checkActions()
	if slices.Contains(b.opts.Actions, "karpenter") {
		for _, p := range b.world.nodePools {
			b.impossible(p)
		}
		b.heedless("karpenter.sh/do-not-disrupt", "true")
	}
	if slices.Contains(b.opts.Actions, "autoscaler") {
		b.heedless("cluster-autoscaler.kubernetes.io/safe-to-evict", "true", "false")
	}
	b.checkBalancer()
	base := b.base()
	var cases []Case
	for i, o := range b.census.owners {
		if !b.targeted(o) || b.census.repeats(i) {
			continue
		}
		before := len(cases)
		if o.simulated() && base.Workloads[i].App.NotAServer {
			cases = append(cases, noServers(b.cases(base, i), base.Workloads[i].App.Profile)...)
		} else {
			cases = append(cases, b.hostPorts(i)...)
			cases = append(cases, b.cases(base, i)...)
		}
		if !slices.ContainsFunc(cases[before:], func(c Case) bool { return c.Scenario != nil }) {
			cases = append(cases, b.unserved(base, i)...)
		}
	}
	for _, d := range b.nodeDrains(base) {
		cases = append(cases, b.nodeCases(base, &d)...)
	}
	for i := range cases {
		if cases[i].Scenario != nil && !b.fewRequests(cases[i].Scenario) {
			break // once is enough
		}
	}
	b.checkTarget()
	b.idle(cases)
	b.idleBudgets()
	b.guests()
	b.unusedBalancer(cases...)
	b.unusedDial(cases)
	problems := b.doc.sorted()
	if manifest.HasErrors(problems) {
		for i := range cases {
			cases[i].Scenario, cases[i].Families = nil, nil
		}
	}
	return cases, problems
}

// noServers are cases of a workload whose program answers nobody: its Service has no server.
func noServers(cases []Case, profile string) []Case {
	for i := range cases {
		c := &cases[i]
		c.Scenario, c.Families, c.Verdict = nil, nil, NotJudged
		c.Reason = cmp.Or(c.Reason, "its program is taken for no server (profile "+profile+"), so that nobody would be answered")
	}
	return cases
}

// checkTarget refuses a --target that no workload's name contains.
func (b *builder) checkTarget() {
	if slices.ContainsFunc(b.census.owners, b.targeted) {
		return
	}
	var ids, names []string
	for _, o := range b.census.owners {
		ids, names = append(ids, o.id()), append(names, o.name)
	}
	switch near := nearest(b.opts.Target, append(slices.Clone(ids), names...)); {
	case b.opts.Target == "":
	case len(ids) == 0:
		b.doc.settingError(b.opts.Wording.Option("target", b.opts.Target), "there are no workloads in the input")
	default:
		const most = 20
		ids = distinct(ids)
		words := strings.Join(ids[:min(len(ids), most)], ", ")
		if len(ids) > most {
			words += fmt.Sprintf(" and %d more", len(ids)-most)
		}
		if near != "" {
			words += ". Did you mean " + near + "?"
		}
		b.doc.settingError(b.opts.Wording.Option("target", b.opts.Target), "no workload's NS/NAME contains %q; there are: %s", b.opts.Target, words)
	}
}

// targeted says whether the target is the workload.
func (b *builder) targeted(o owner) bool {
	return b.opts.Target == "" || strings.Contains(o.id(), b.opts.Target)
}

// base is the part that all cases share: everything but who asks and what is done.
func (b *builder) base() *world.Scenario {
	s := b.out
	s.Set = b.doc.set
	if !b.doc.spec().get("churn").present() {
		s.Churn = defaultChurn
		b.assume("churn", units.RateText(defaultChurn))
	}
	for _, f := range printed(specFields()) {
		if !slices.Contains(onlyOfScenarios(), f.name) {
			b.readSpec(f)
		}
	}
	return s
}

// checkInferred refuses --set of what only a Scenario has.
func (b *builder) checkInferred() {
	spec := b.doc.spec()
	for _, name := range onlyOfScenarios() {
		if c := spec.get(name); c.present() {
			c.fail("manifests have no %s: write a Scenario", name)
		}
	}
	if c := spec.get("until"); c.present() && c.span(defaultUntil) == 0 {
		c.fail("a run that ends at 0s has nothing in it: want more")
	}
}

// cases makes those of one workload of the census: for each entry one of each action. Where nothing is judged whatever is done, one
// case says so.
func (b *builder) cases(base *world.Scenario, index int) []Case {
	return b.casesOf(base, index, b.actionsOf(&b.census.owners[index]))
}

// casesOf makes those of some actions.
func (b *builder) casesOf(base *world.Scenario, index int, actions []caseAction) []Case {
	o := b.census.owners[index]
	var entries []entry
	for _, s := range b.world.services {
		if o.behind(s) && s.Value.Spec.Type != corev1.ServiceTypeExternalName && (!o.ends() || len(b.census.behind[s.ID()]) <= 1) {
			entries = append(entries, b.entries(s, o.template)...)
		}
	}
	silent := func(e entry) bool { return classNamed(e.class).NotJudged != "" || b.unjudged(index, &e) != "" }
	alone := !slices.ContainsFunc(entries, func(e entry) bool { return !silent(e) })
	var out []Case
	for i := range entries {
		e := &entries[i]
		for k := range actions {
			if k == 0 || !silent(*e) || alone && b.unheard(index, e, &actions[k]) {
				out = append(out, b.caseFor(base, index, e, &actions[k]))
			}
		}
	}
	return out
}

// unheard says that a case is run though what its clients notice is not judged: of a workload that has no others, whatever is asked for, and
// otherwise what a disruption budget may keep from its end.
func (b *builder) unheard(index int, e *entry, a *caseAction) bool {
	o := &b.census.owners[index]
	if e.class != ClassDNS || b.unjudged(index, e) != "" {
		return false
	}
	return len(b.opts.Actions) > 0 || b.kept(o) && evicts(a.doing(b, o).operation)
}

// caseFor makes the case of one workload, one entry and one action.
func (b *builder) caseFor(base *world.Scenario, index int, e *entry, a *caseAction) Case {
	o := b.census.owners[index]
	c := b.caseOf(o, *e, a)
	runs := c.Reason == "" || e.class == ClassDNS
	does := a.doing(b, &o)
	if why := cmp.Or(b.unjudged(index, e), does.why); why != "" {
		c.Reason, runs = cmp.Or(c.Reason, why), false
	}
	if runs {
		derive := func() *world.Scenario { return b.derive(base, index, e, a, does) }
		c.Scenario = derive()
		c.Scenario.Name = c.ID
		c.Families = b.families(c.Scenario, derive)
		if why := addressed(c.Scenario); why != "" && c.Reason == "" {
			c.Reason, c.Scenario, c.Families = why, nil, nil
		}
	}
	if c.Reason != "" {
		c.Verdict = NotJudged
	}
	return c
}

// unjudged says why the rollout of a workload of the census cannot be run as it would be, "" when
// it can.
func (b *builder) unjudged(index int, e *entry) string {
	o := &b.census.owners[index]
	switch {
	case o.replicas == 0:
		return "nothing to restart or drain: replicas is 0" + place(o.object, "spec.replicas", e.service.File)
	case !o.simulated():
		return o.notSimulated(e.service.Name)
	default:
		return cmp.Or(b.throughMesh(e), b.census.picked(e.service), b.census.missing(index, e), b.parked(e), e.unheard())
	}
}

// entry is one traffic entry: the ports of a Service that lead to the same container.
type entry struct {
	subject
	class  string
	routed string // the kind of what names them, Ingress or HTTPRoute; "" for neither
	aside  bool   // they are not for users, whatever the class
	ports  []string
}

// idPort names the ports in the ID of a case: with their protocol where another one has the same number, as DNS has TCP and UDP, and with their
// entrance where they have several.
func (e *entry) idPort() string {
	protocol := func(p corev1.ServicePort) corev1.Protocol { return cmp.Or(p.Protocol, corev1.ProtocolTCP) }
	own := protocol(*e.port)
	id := e.ports[0]
	if slices.ContainsFunc(e.service.Value.Spec.Ports, func(p corev1.ServicePort) bool { return p.Port == e.port.Port && protocol(p) != own }) {
		id += "-" + strings.ToLower(string(own))
	}
	if e.through != nil {
		id += "-" + e.through.id()
	}
	return id
}

// entries groups the ports of a Service.
func (b *builder) entries(s manifest.Typed[*corev1.Service], t *corev1.PodTemplateSpec) []entry {
	var out []entry
	for i := range s.Value.Spec.Ports {
		port := subjectOf(s, i, t)
		if b.world.headed[s.ID()] && b.world.routedBy(&port) == "" {
			continue // by the Service's name alone: see otherWays
		}
		if _, ok := world.TargetPort(port.port.TargetPort, t); !ok {
			b.unported(&port, i)
			continue
		}
		if classNamed(b.world.classify(&port)).NotJudged == "" {
			b.undeclared(&port, i)
		}
		kinds, _ := b.entrances(&port)
		for _, sub := range kinds {
			out = b.withEntry(out, &sub)
		}
	}
	return out
}

// unported warns of a port of a Service whose name pods behind it do not have: nobody gets there where none has it, and otherwise these pods
// get nothing.
func (b *builder) unported(s *subject, port int) {
	lacking, name := b.census.lacking(s), s.port.TargetPort.StrVal
	p := s.service.Problem(manifest.Warning, fmt.Sprintf("spec.ports[%d].targetPort", port),
		fmt.Sprintf("no container of the pods it selects has a port named %s: the port has no endpoints", name))
	if p.Nowhere = len(lacking) == len(b.census.behind[s.service.ID()]); !p.Nowhere {
		var words []string
		for _, i := range lacking {
			o := &b.census.owners[i]
			words = append(words, fmt.Sprintf("%s %s (%s)", o.kind, o.name, portNames(o.template)))
		}
		p.Message = fmt.Sprintf("pods of %s have no port named %s: they are no endpoints of this port, and get no traffic by it", Listed(words, mostWays), name)
	}
	if !slices.Contains(b.doc.problems, p) {
		b.doc.problems = append(b.doc.problems, p)
	}
}

// portNames says which names the ports of pods have.
func portNames(t *corev1.PodTemplateSpec) string {
	var names []string
	for _, c := range world.Serving(&t.Spec) {
		for _, p := range c.Ports {
			if p.Name != "" {
				names = append(names, p.Name)
			}
		}
	}
	if names == nil {
		return "no port of theirs has a name"
	}
	return "theirs: " + strings.Join(distinct(names), ", ")
}

// withEntry has one more port among entries: with those that it is like.
func (b *builder) withEntry(entries []entry, s *subject) []entry {
	own := entry{
		subject: *s, class: b.world.classify(s), routed: b.world.routedBy(s), aside: b.world.setAside(s),
		ports: []string{fmt.Sprintf(":%d", s.port.Port)},
	}
	for i := range entries {
		e := &entries[i]
		if e.class == own.class && e.routed == own.routed && e.aside == own.aside && e.container == own.container && e.port.Protocol == own.port.Protocol && b.kindOf(&e.subject) == b.kindOf(s) &&
			slices.Equal(b.census.lacking(&e.subject), b.census.lacking(s)) {
			e.ports = append(e.ports, own.ports...)
			if e.through == nil {
				e.through = own.through
			}
			return entries
		}
	}
	return append(entries, own)
}

// undeclared warns of a target port that is a number and stands in no container of the pods, where others do: whether anybody listens there,
// and which container does, cannot be known.
func (b *builder) undeclared(s *subject, port int) {
	if !s.undeclared() {
		return
	}
	field, said := fmt.Sprintf("spec.ports[%d].targetPort", port), fmt.Sprintf("no container of the pods it selects declares port %d", s.port.TargetPort.IntVal)
	if !s.service.Has(field) {
		field, said = fmt.Sprintf("spec.ports[%d].port", port), said+", which is the port's own, for it has no targetPort"
	}
	p := s.service.Problem(manifest.Warning, field, said+": container "+s.container.Name+" is taken to listen there")
	if !slices.Contains(b.doc.problems, p) {
		b.doc.problems = append(b.doc.problems, p)
	}
}

func (b *builder) caseOf(o owner, e entry, a *caseAction) Case {
	class := classNamed(e.class)
	policy := ""
	if e.class == ClassWebhook {
		policy = b.world.failurePolicy(&e.subject)
	}
	return Case{
		ID:       fmt.Sprintf("%s/%s/%s%s", o.id(), a.word, e.service.Name, e.idPort()),
		Action:   a.name,
		Kind:     o.kind,
		Workload: o.id(),
		Traffic:  trafficWords(&e),
		Service:  e.service.ID(),
		Class:    e.class,
		Headline: class.Headline && !e.aside && b.parked(&e) == "" && !o.picks(e.service), // which is left out of the others
		Users:    b.usersOf(&e),
		Reason:   class.NotJudged,
		Object:   e.service.Object,

		FailurePolicy: policy,
	}
}

// idleBudgets warns of disruption budgets that protect nothing: often a selector with a slip.
func (b *builder) idleBudgets() {
	for i := range b.world.budgets {
		x := &b.world.budgets[i]
		covers := func(namespace string, labels map[string]string) bool { return x.Covers(namespace, labels) }
		drains, _ := NodesDrained(b.opts.Actions)
		why := "it covers no pod of the input"
		switch {
		case x.Object == nil,
			slices.ContainsFunc(b.census.owners, func(o owner) bool { return o.covered(x) }),
			len(drains) > 0 && b.labelledLater(covers):
			continue
		case b.labelledLater(covers):
			why = "it covers pods by labels that are not in their template" + setLater + ": nothing that is done here asks it"
			if len(b.world.nodes) > 0 {
				why += "; " + b.opts.Wording.Option("action", "drain=NODE") + " does"
			}
		case slices.ContainsFunc(b.world.pods, func(p homed) bool { return covers(p.Namespace, p.Value.Labels) }), b.ofRefused(covers):
			continue
		case x.Value.Spec.Selector == nil:
			why = "it has no selector, and covers no pod"
		}
		field := ""
		if x.Object.Has("spec.selector") {
			field = "spec.selector"
		}
		b.doc.problems = append(b.doc.problems, x.Object.Problem(manifest.Warning, field, why))
	}
}

// refuse takes note of workloads that the input has and a cluster would not.
func (b *builder) refuse(objects []*manifest.Object) {
	for _, o := range objects {
		if resource, ok := o.Value.(world.Resource); ok && world.TemplateOf(resource) != nil {
			b.refused = append(b.refused, resource)
		}
	}
}

// ofRefused says whether something selects pods of a workload that is left out: it would lead to them.
func (b *builder) ofRefused(selects func(namespace string, labels map[string]string) bool) bool {
	return slices.ContainsFunc(b.refused, func(r world.Resource) bool { return selects(r.GetNamespace(), world.TemplateOf(r).Labels) })
}

// setLater says who sets labels that are in no template.
const setLater = " (an operator sets such labels while pods run, as that of a primary)"

// labelledLater says whether something selects pods of the input by labels that the template of their workload does not have.
func (b *builder) labelledLater(selects func(namespace string, labels map[string]string) bool) bool {
	return slices.ContainsFunc(b.world.pods, func(p homed) bool {
		return selects(p.Namespace, p.Value.Labels) && slices.ContainsFunc(b.census.owners, func(o owner) bool {
			return o.keeps(&p) && !selects(o.namespace, o.template.Labels)
		})
	})
}

// setLater is the label of a Service's selector that is in no template, where all the others are in one: "" where there is nothing of the kind.
func (b *builder) setLater(s *manifest.Typed[*corev1.Service]) string {
	for _, o := range b.census.owners {
		if key := keySetLater(o.template.Labels, s.Value.Spec.Selector); key != "" && o.namespace == s.Namespace {
			return key + "=" + s.Value.Spec.Selector[key]
		}
	}
	return ""
}

// keySetLater is the only key of a selector that some labels do not have. "" where there are several, or none that fits, and where the labels have
// another value, or a key that is nearly the same: that is a mistake, not a label that is set later.
func keySetLater(labels, selector map[string]string) string {
	missing := ""
	for _, key := range sortedKeys(selector) {
		switch have, ok := labels[key]; {
		case ok && have == selector[key]:
		case ok, missing != "", len(selector) == 1, nearest(key, sortedKeys(labels)) != "":
			return ""
		default:
			missing = key
		}
	}
	return missing
}

// slicesOf names the EndpointSlices of the input that are of a Service.
func (w *inventory) slicesOf(s manifest.Typed[*corev1.Service]) []string {
	var out []string
	for _, o := range w.slices {
		if v, ok := o.Value.(*discoveryv1.EndpointSlice); ok && o.Namespace == s.Namespace && v.Labels[discoveryv1.LabelServiceName] == s.Name {
			out = append(out, o.Name)
		}
	}
	return out
}

// idle warns of Services that lead nowhere.
func (b *builder) idle(cases []Case) {
	for _, s := range b.world.services {
		why, nowhere, later := "", false, ""
		switch {
		case s.Value.Spec.Type == corev1.ServiceTypeExternalName:
			why = "type ExternalName is a DNS alias: it has no traffic here"
		case len(s.Value.Spec.Selector) == 0:
			why = "it has no selector: what is behind it is not in the input"
			if names := b.world.slicesOf(s); len(names) > 0 {
				why = "it has no selector: it leads to the addresses of EndpointSlice " + strings.Join(names[:min(3, len(names))], ", ") + ", which are no pods of the input"
			}
		case len(b.census.behind[s.ID()]) == 0:
			if slices.ContainsFunc(cases, func(c Case) bool { return c.Service == s.ID() }) {
				continue
			}
			if b.ofRefused(func(namespace string, labels map[string]string) bool {
				return namespace == s.Namespace && world.Selects(s.Value, labels)
			}) {
				continue // it has been said why
			}
			why, nowhere = "it selects no workload of the input", true
			if b.labelledLater(func(namespace string, labels map[string]string) bool {
				return namespace == s.Namespace && world.Selects(s.Value, labels)
			}) {
				nowhere = false
				why = "it selects pods by labels that are not in their template" + setLater + ": which pods have them later is not simulated"
			} else if later = b.setLater(&s); later != "" {
				why = "no template has its label " + later + ": it leads nowhere unless the app or an operator sets that while pods run, and which pods have it then is not simulated"
			}
		default:
			continue
		}
		field := ""
		if s.Has("spec.selector") {
			field = "spec.selector"
		}
		p := s.Problem(manifest.Warning, field, why+"; no case for it")
		p.Nowhere, p.SetLater = nowhere, later
		b.doc.problems = append(b.doc.problems, p)
	}
}
