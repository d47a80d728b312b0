package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/units"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Options are what the user says beside the input; it wins over what the input says. The
// zero value is the usual case. Mistakes in them are reported as Problems whose position is
// the flag.
type Options struct {
	KubernetesVersion string          // "" for 1.36
	FeatureGates      map[string]bool // of kube-proxy, and MaxUnavailableStatefulSet
	Nodes             int             // 0 for as many as docs/model/simulator.md 5.3 says
	Rate              string          // such as "200/s", of every stream
	Timeout           string          // a duration or none, of every client but UDP, webhook and DNS clients
	ConnectTimeout    string          // the same, for a connection alone
	Profile           string          // of every app
	LB                string          // a load balancer's preset
	Env               string          // of the table Environments
	Actions           []string        // for Infer: what is done to each workload, of Actions(); nil for rollouts
	Target            string          // for Infer: part of "ns/name" of a workload
	Until             string          // a duration
	Set               []string        // PATH=VALUE of a Scenario's spec, in order
	// Wording is for these settings in problems, and in the assumptions that they settle.
	Wording Wording
	// Files is what stands under each Reference's Path.
	Files map[string]Content
}

// Defaults of a run.
const (
	defaultWarmup = 5 * engine.Second
	defaultUntil  = engine.Hour
	longestRun    = 7 * 24 * engine.Hour // of which each second has its requests
	// mostRequests is how many requests a run may have that goes on to its end: some 30 million are counted a second.
	mostRequests = 10_000_000_000
)

// defaultChurn is how often the EndpointSlices of other Services change, where the world is not a
// Scenario's: no cluster is idle (assumed; docs/model/simulator.md 9).
const defaultChurn = units.RateUnit / 5

// Parse reads every document of kind Scenario, in input order. A Scenario's objects are those
// in files without any Scenario, those of its spec.manifests and those in its own file; of
// several of one kind and name the last counts, in this order. (Load has already dropped all
// but the last of what it read together: files with Scenarios of their own are best loaded
// one by one.) All problems are returned at once; a Scenario with an Error among its problems
// is not in the list.
func Parse(objects *manifest.Objects, opts Options) ([]*world.Scenario, []manifest.Problem) {
	var out []*world.Scenario
	var problems []manifest.Problem
	for _, o := range objects.Scenarios {
		b := newBuilder(o, &opts)
		b.load(objects)
		b.checkFlags()
		s := b.scenario()
		found := b.doc.sorted()
		problems = append(problems, found...)
		if !manifest.HasErrors(found) {
			s.Families = b.families(s, func() *world.Scenario {
				again := newBuilder(o, &opts)
				again.family = b.family
				again.load(objects)
				return again.scenario()
			})
			out = append(out, s)
		}
	}
	return out, problems
}

// builder makes one Scenario.
type builder struct {
	doc    *document
	opts   *Options
	world  *inventory
	census *census // of the world
	// refused are workloads that are left out for the version of Kubernetes.
	refused []world.Resource
	out     *world.Scenario
	// assumed are the ids of the assumptions made so far, with their values.
	assumed []world.Assumption
	// family is the load balancer to take where the input does not say which one it is, "" for the
	// first that it might be.
	family string
	// grown is how many replicas the workload of a case has more than otherwise.
	grown int32
	// with are the workloads of the census that are drained beside that of a case, nil for a case of another kind.
	with []int
	// entrance is by which of several the default clients of a case come; nil where there is but one.
	entrance *entrance
}

func newBuilder(o *manifest.Object, opts *Options) *builder {
	b := &builder{doc: newDocument(o, opts), opts: opts, out: &world.Scenario{}}
	root := documentShape()
	b.doc.check(&root, "", b.doc.value)
	b.doc.misshapen = len(b.doc.problems)
	return b
}

// load gathers the objects the Scenario is about.
func (b *builder) load(objects *manifest.Objects) {
	o := b.doc.object
	others := map[string]bool{} // files that belong to other Scenarios
	for _, s := range objects.Scenarios {
		if s.File != o.File {
			others[s.File] = true
		}
	}
	var beside, own, unusable []*manifest.Object
	for _, x := range objects.All {
		switch {
		case x.File == o.File:
			own = append(own, x)
		case !others[x.File]:
			beside = append(beside, x)
		}
	}
	for _, x := range objects.Unusable {
		if x.File == o.File || !others[x.File] {
			unusable = append(unusable, x)
		}
	}
	for _, c := range b.doc.spec().get("manifests").items() {
		if loaded := b.loadFile(c); loaded != nil {
			beside, unusable = append(beside, loaded.All...), append(unusable, loaded.Unusable...)
		}
	}
	b.useWorld(append(beside, own...), unusable)
}

// loadFile reads manifests that the document names. Scenarios in them are none of its
// business, so there are no cycles.
func (b *builder) loadFile(c cursor) *manifest.Objects {
	name := c.text("")
	if name == "" {
		if _, ok := c.v.(string); ok {
			c.fail("expected the name of a file")
		}
		return nil
	}
	files := b.doc.content(c.at, name)
	if files == nil {
		return nil
	}
	loaded, problems := manifest.Load(files, manifest.Options{})
	b.doc.problems = append(b.doc.problems, problems...)
	return loaded
}

func (b *builder) useWorld(objects, unusable []*manifest.Object) {
	b.world = newInventory(objects)
	b.world.unusable = unusable
	if b.doc.object == nil { // no Scenario, which says itself who asks whom
		b.world.head()
	}
	b.out.Namespaces = b.world.namespaces
	b.census = newCensus(b.world)
	b.doc.problems = append(b.doc.problems, b.world.allocate()...)
}

// scenario builds the normalised form. What has been complained about has its default, so
// that everything else is looked at, too.
func (b *builder) scenario() *world.Scenario {
	spec := b.doc.spec()
	b.checkBalancer()
	b.out.Set = b.doc.set
	b.out.Name = b.name()
	for _, f := range printed(specFields()) {
		b.readSpec(f)
	}
	if b.out.Until <= b.out.Warmup {
		spec.get("until").fail("the run ends at %s, before anything is done to it at %s", b.out.Until.Duration(), b.out.Warmup.Duration())
	}
	b.fewRequests(b.out)
	b.finish()
	return b.out
}

// readSpec reads a field of spec.
func (b *builder) readSpec(f fieldOf[making]) {
	if f.read != nil {
		f.read(b.doc.spec().get(f.name), &making{b, b.out})
	}
}

// fewRequests refuses a run whose clients ask more often until its end than anybody waits for, and says whether it is none.
func (b *builder) fewRequests(s *world.Scenario) bool {
	var rate engine.Time // in thousandths a second
	for i := range s.Traffic {
		rate += engine.Time(s.Traffic[i].Rate)
	}
	const thousand = 1000
	most := engine.Time(mostRequests * thousand)
	if rate == 0 || s.Until/engine.Second <= most/rate || s.Until > longestRun { // until tells of that
		return true
	}
	b.doc.spec().get("until").fail("all clients together ask %s, and would until %s: more than %d requests; at most %s at that rate",
		units.RateText(int(rate)), s.Until.Duration(), int64(mostRequests), (most / rate * engine.Second).Duration())
	return false
}

// name is metadata.name, else the file's without its ending.
func (b *builder) name() string {
	if b.doc.object == nil {
		return ""
	}
	if b.doc.object.Name != "" {
		return b.doc.object.Name
	}
	name := servers.Base(b.doc.object.File)
	name, _, _ = strings.Cut(name, ".")
	return cmp.Or(name, "scenario")
}

func (b *builder) kubernetes(c cursor) endpoints.Profile {
	version, err := endpoints.ParseVersion(c.get("version").text(endpoints.CurrentVersion().String()))
	if err != nil {
		c.get("version").fail("%v", err)
		version = endpoints.CurrentVersion()
	}
	if err == nil && endpoints.CurrentVersion().Before(version) {
		at := c.get("version")
		b.doc.report(manifest.Warning, b.doc.position(at.at), at.at, "%s", version.AheadWords())
	}
	if !c.get("version").present() {
		b.assume("kubernetes", version.String())
	}
	gates := b.configuredGates()
	g := c.get("featureGates")
	for _, name := range g.keys() {
		gate := g.get(name)
		if name == world.GateMaxUnavailable {
			b.out.Several = gate.flag(false)
			continue
		}
		if _, err := endpoints.ProfileFor(version, map[string]bool{name: gate.flag(false)}); err != nil {
			gate.fail("%v", err)
			continue
		}
		gates[name] = gate.flag(false)
	}
	b.out.Gates = gates
	p, err := endpoints.ProfileFor(version, gates)
	if err != nil {
		c.fail("%v", err)
	}
	return p
}

func (b *builder) latency(c cursor) world.Latencies {
	l := DefaultLatencies()
	for _, f := range latencyFields() {
		v := c.get(f.name)
		switch {
		case !v.present() && f.in != nil:
			b.assume("latency."+f.name, f.in(&l).String())
		case !v.present() && f.name == "imagePull":
			b.assume("image", "present on every node")
		case !v.present():
		case f.metric == "" && isHistogram(v):
			v.fail("no metric of kube-proxy measures %s: a histogram fills proxySync (%s) and readyToRules (%s, which counts from a pod's Ready transition only and so says nothing about removals)",
				f.name, syncMetric, programmingMetric)
		case f.in != nil:
			to := f.in(&l)
			*to = v.dist(*to, f.metric)
		default:
			d := v.dist(engine.Dist{}, f.metric)
			*f.optional(&l) = &d
		}
	}
	return l
}

func isHistogram(c cursor) bool {
	m, _ := c.v.(map[string]any)
	return m["histogram"] != nil
}

// workloads makes one of each workload of the input.
func (b *builder) workloads(apps cursor) {
	used := map[string]bool{}
	for i := range b.world.workloads {
		d := b.world.workloads[i]
		w := world.Workload{Resource: d.Value, Object: d.Object}
		b.dropSleeps(&w)
		template := w.Template()
		server := servers.ServerOf(template, 0, "")
		if target, ok := b.world.targetOf(d.Namespace, template.Labels); ok {
			server = servers.ServerOf(template, target.IntVal, target.StrVal)
		}
		b.describe(&w, server)
		readInitTime(&w.App, b.doc.spec().get("init"))
		w.Hooks = hooksOf(&template.Spec, b.doc.set.For(d.Name))
		b.checkHooks(d.Object, &template.Spec)
		b.checkDeadline(d.Object, &template.Spec)
		b.checkPrograms(d.Object, &template.Spec)
		b.checkSpread(d.Object, &template.Spec)
		b.checkStateful(&w)
		for _, key := range []string{d.Name, d.ID()} {
			if c := apps.get(key); c.present() && apps.keys() != nil {
				used[key] = true
				b.app(&w, c)
			}
		}
		b.out.Workloads = append(b.out.Workloads, w)
	}
	for _, key := range apps.keys() {
		if !used[key] {
			apps.get(key).fail("there is no workload %s; %s", key, didYouMean(key, b.workloadNames()))
		}
	}
	b.checkSet()
	b.place()
	b.claims()
	b.budgets()
}

// budgets keeps the disruption budgets that cover pods of a workload.
func (b *builder) budgets() {
	for _, budget := range b.world.budgets {
		if slices.ContainsFunc(b.out.Workloads, func(w world.Workload) bool {
			return w.CoveredBy(&budget)
		}) {
			b.out.Budgets = append(b.out.Budgets, budget)
		}
	}
}

// hooksOf reads the preStop hooks of a pod's containers, of the sidecars among its init
// containers, too.
func hooksOf(pod *corev1.PodSpec, set world.Overrides) map[string]world.Hook {
	var hooks map[string]world.Hook
	for _, containers := range [][]corev1.Container{pod.Containers, pod.InitContainers} {
		for i := range containers {
			h := servers.HookOf(&containers[i], set)
			if h.Kind == servers.HookNone && h.After.Why == "" {
				continue
			}
			if hooks == nil {
				hooks = map[string]world.Hook{}
			}
			hooks[containers[i].Name] = h
		}
	}
	return hooks
}

func (b *builder) workloadNames() []string {
	var names []string
	for _, d := range b.world.workloads {
		names = append(names, d.Name)
	}
	return names
}

// describe fills in a workload's app by its serving container.
func (b *builder) describe(w *world.Workload, server int) {
	template := w.Template()
	if server < 0 {
		w.App = servers.UnknownApp()
		return
	}
	c := world.Serving(&template.Spec)[server]
	w.Server = c.Name
	w.App = servers.ContainerApp(c, template.Labels, b.doc.set.For(w.ObjectName()))
	b.readCorefile(w, c)
	b.readCaddyfile(w, c)
	b.readFPM(w, c, &w.App)
	b.readProxyConfig(w, c)
	b.passesTo(w)
}

// app puts what apps.NAME says over the table's profile.
func (b *builder) app(w *world.Workload, c cursor) {
	w.App = b.changeApp(w, w.App, c)
	for _, name := range []string{"old", "new"} {
		if r := c.get("revisions").get(name); r.present() {
			if w.Revisions == nil {
				w.Revisions = map[string]world.App{}
			}
			w.Revisions[name] = b.changeApp(w, w.App, r)
		}
	}
}

func (b *builder) changeApp(w *world.Workload, app world.App, c cursor) world.App {
	if p := c.get("profile").text(""); p != "" && b.doc.set.Profile == "" {
		if i := servers.ServerOf(w.Template(), 0, w.Server); i >= 0 {
			before := app
			app = servers.AppFor(servers.EvidenceOf(w.Container(), w.Template().Labels), p)
			app.Start, app.Serve, app.Init, app.InitSaid = before.Start, before.Serve, before.Init, before.InitSaid
		}
	}
	before := app
	readRows(c, appFields(), &app)
	if _, given := world.Lookup(b.doc.set.For(w.ObjectName()).Start, w.Server); given {
		app.Start, app.StartSaid = before.Start, before.StartSaid
	}
	return app
}

// checkSet finds --set start.NAME and prestop.NAME that name nothing.
func (b *builder) checkSet() {
	var names, hooked []string
	for _, d := range b.world.workloads {
		names = append(names, d.Name)
		has := false
		containers := world.TemplateOf(d.Value).Spec.Containers
		for i := range containers {
			c := &containers[i]
			names = append(names, c.Name)
			if servers.HookOf(c, world.Overrides{}).Kind != servers.HookNone {
				hooked, has = append(hooked, c.Name), true
			}
		}
		if has {
			hooked = append(hooked, d.Name)
		}
	}
	for _, n := range b.doc.set.Start {
		if n.Name != "" && !slices.Contains(names, n.Name) {
			b.doc.settingError(b.opts.Wording.Option("set", "start."+n.Name), "there is no workload or container of that name; %s", didYouMean(n.Name, distinct(names)))
		}
	}
	for _, n := range b.doc.set.PreStop {
		switch {
		case !slices.Contains(names, n.Name):
			b.doc.settingError(b.opts.Wording.Option("set", "prestop."+n.Name), "there is no workload or container of that name; %s", didYouMean(n.Name, distinct(names)))
		case !slices.Contains(hooked, n.Name):
			b.doc.settingError(b.opts.Wording.Option("set", "prestop."+n.Name), "it has no preStop hook whose duration could be given")
		}
	}
}

// until reads when a run ends at the latest.
func until(c cursor) engine.Time {
	t := c.span(defaultUntil)
	if t > longestRun {
		c.fail("a run of %s is too long to be simulated: at most %s", t.Duration(), longestRun.Duration())
	}
	return t
}

// services keeps the Services that have a workload, at some time, and something for a proxy to do.
func (b *builder) services() {
	for _, s := range b.world.services {
		if endpoints.Unproxied(s.Value) != "" {
			continue
		}
		if b.behind(s) != nil {
			b.out.Services = append(b.out.Services, world.Service{Service: s.Value, Object: s.Object})
		}
	}
}

func (b *builder) assume(id, value string) {
	b.assumed = append(b.assumed, world.Assumption{ID: id, Value: value})
}

// assumeAs is an assumption whose basis is not always that of the table.
func (b *builder) assumeAs(id, value, basis string) {
	b.assumed = append(b.assumed, world.Assumption{ID: id, Value: value, Basis: basis})
}

func (b *builder) notModelled(id, what, object, direction string) {
	b.out.NotModelled = append(b.out.NotModelled, world.NotModelled{ID: id, What: what, Object: object, Direction: direction})
}

// finish lists the assumptions in the order of the table, several values of one joined.
func (b *builder) finish() {
	b.out.CountDaemons()
	b.vetoes()
	for i := range b.out.Workloads {
		switch {
		case b.out.Workloads[i].Bystander:
		case b.out.Workloads[i].Aside:
			b.assumeAside(&b.out.Workloads[i])
		default:
			b.assumeWorkload(&b.out.Workloads[i])
		}
	}
	b.assumeReports()
	b.assumeRepeatedSYNs()
	b.assumeGates()
	b.assumeClients()
	b.assumeLabels()
	b.leftOut()
	for _, row := range Assumptions(b.opts.Wording) {
		var values []string
		basis := "" // the weakest, where it is not the table's
		for _, a := range b.assumed {
			if a.ID == row.ID && !slices.Contains(values, a.Value) {
				values = append(values, a.Value)
				if basis == "" || a.Basis == "assumed" {
					basis = a.Basis
				}
			}
		}
		if values != nil {
			row.Value, row.Basis = strings.Join(values, "; "), cmp.Or(basis, row.Basis)
			b.out.Assumptions = append(b.out.Assumptions, row)
		}
	}
}

// assumeWorkload notes what of a workload was not said.
func (b *builder) assumeWorkload(w *world.Workload) {
	name := w.ObjectName()
	if w.App.Basis != "manifest" {
		b.assumeAs("sigterm", fmt.Sprintf("%s: %s (%s)", name, w.App.Profile, servers.BasisWords(&w.App)), w.App.Basis)
	}
	if _, ok := world.Lookup(b.doc.set.For(name).Start, w.Server); !ok && !w.App.StartSaid {
		words := servers.StartWords(&w.App, w.App.Start.String())
		if by := w.App.JVMBy; by != "" {
			words = strings.Replace(words, "(a JVM)", "(a JVM, by its "+by+")", 1)
		}
		b.assume("start", words)
	}
	if !w.App.InitSaid && initializes(b.out, w) {
		b.assume("init", w.App.Init.String()+" each")
	}
	b.assumeReadiness(w)
	for _, container := range serverFirst(w, sortedKeys(w.Hooks)) {
		if h := w.Hooks[container]; h.Undetermined {
			switch grace := w.EffectiveGrace(); {
			case h.Duration.Min() >= grace:
				b.assumeAs("prestop", fmt.Sprintf("%s: cut after %s by the end of the grace period (%s)", container, grace.Duration(), h.Why), inferred)
			case h.Duration.Max() > grace:
				b.assume("prestop", fmt.Sprintf("%s: %s, cut after %s by the end of the grace period (%s)", container, h.Duration, grace.Duration(), h.Why))
			default:
				b.assume("prestop", fmt.Sprintf("%s: %s (%s)", container, h.Duration, h.Why))
			}
		}
		if h := w.Hooks[container].After; h.Undetermined {
			b.assume("poststart", fmt.Sprintf("%s: %s (%s)", container, h.Duration, h.Why))
		}
		if h := w.Hooks[container]; h.Assumes != "" {
			b.assume("prestop-program", fmt.Sprintf("%s: its image has %s", container, h.Assumes))
		}
	}
	b.assumeAside(w)
}

// serverFirst lists the container that is judged before others: what is said of its hook is what a reader is told to set.
func serverFirst(w *world.Workload, containers []string) []string {
	if at := slices.Index(containers, w.Server); at > 0 {
		return slices.Insert(slices.Delete(containers, at, at+1), 0, w.Server)
	}
	return containers
}

// assumeAside notes what was not said of a workload whose pods only serve.
func (b *builder) assumeAside(w *world.Workload) {
	if !w.App.ServeSaid && len(b.out.Traffic) > 0 {
		b.assume("serve", w.App.Serve.String())
	}
	b.assumeReplicas(w)
	b.assumeVolumes(w)
}

// leftOut lists what of the Scenario the model does not have.
func (b *builder) leftOut() {
	b.otherProxy()
	for i := range b.out.Services {
		s := &b.out.Services[i]
		b.hintsLeftOut(s)
		b.wayLeftOut(s.Service)
	}
	for i := range b.out.Workloads {
		w := &b.out.Workloads[i]
		if w.Bystander {
			continue
		}
		if w.App.Concurrency == 0 && len(b.out.Traffic) > 0 {
			b.notModelled(world.Capacity, "pods are taken to be fast enough while others are missing", w.Kind()+" "+w.Name(), "more")
		}
		b.hostPortsBeside(w)
		b.unkeptGates(w)
		b.meshLeftOut(w)
		b.volumesLeftOut(w)
		b.out.NotModelled = append(b.out.NotModelled, w.Dropped...)
		b.besideServer(w)
		b.unreadFile(w)
		b.execProbes(w)
		for _, sc := range b.world.scalersOf(w.Resource) {
			b.lastPod(&sc)
			b.notModelled("autoscaling", "replicas stay as they are during the run", sc.object.String(), "unknown")
		}
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
