package scenario

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/sorted"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// actions reads what is done. Without any, the only Deployment is restarted, or the only workload of another kind.
func (b *builder) actions(c cursor) {
	warmup := b.out.Warmup
	if !c.present() {
		b.defaultAction(c)
		return
	}
	for _, a := range c.items() {
		if !a.isMapping() {
			continue
		}
		if action, ok := b.action(a, warmup); ok {
			b.out.Actions = append(b.out.Actions, action)
		}
	}
	sorted.StableBy(b.out.Actions, func(x, y world.Action) int {
		switch {
		case x.At < y.At:
			return -1
		case x.At > y.At:
			return 1
		}
		return 0
	})
	b.vacate()
	b.shutsDown()
	b.stops()
	b.muster()
	b.creations()
	b.numbered()
	b.refuseVoid()
	b.out.Warmup = warmupOf(b.out.Actions, warmup)
	for _, a := range b.out.Actions {
		if a.At >= b.out.Until {
			b.doc.report(manifest.Error, a.Pos, "spec.actions", "%s at %s comes after the end of the run at %s, which spec.until says", a.Verb(), a.At.Duration(), b.out.Until.Duration())
		}
	}
}

func (b *builder) defaultAction(c cursor) {
	of := b.restartable()
	if len(of) != 1 {
		if len(b.doc.problems) == 0 {
			b.doc.report(manifest.Warning, b.doc.keyPosition("spec"), c.at, "there are no actions, and %d workloads of which one could be restarted: nothing happens", len(of))
		}
		return
	}
	b.out.Actions = []world.Action{{At: b.out.Warmup, Operation: world.RolloutRestart{Workload: of[0].ID()}, Pos: b.doc.keyPosition("spec")}}
	b.assume("action", "rolloutRestart of "+of[0].ID())
}

// restartable lists the workloads that a Scenario without actions might mean: the Deployments, where there are none those of other
// kinds.
func (b *builder) restartable() []workload {
	var deployments, others []workload
	for _, x := range b.world.workloads {
		switch {
		case world.KindOf(x.Value) == world.Deployment:
			deployments = append(deployments, x)
		case world.RollsOut(x.Value):
			others = append(others, x)
		}
	}
	if len(deployments) > 0 {
		return deployments
	}
	return others
}

// action reads one entry: exactly one verb.
func (b *builder) action(c cursor, warmup engine.Time) (world.Action, bool) {
	a := world.Action{At: c.get("at").span(warmup), For: c.get("for").span(0), Pos: c.d.keyPosition(c.at)}
	var names, present []string
	var known verb
	for _, v := range verbs() {
		names = append(names, v.name)
		if c.get(v.name).present() {
			present, known = append(present, v.name), v
		}
	}
	switch {
	case len(present) == 0:
		c.fail("expected an action: one of %s", orList(names))
		return a, false
	case len(present) > 1:
		c.fail("expected one action, got %s: write one item each", strings.Join(present, " and "))
		return a, false
	}
	v := c.get(present[0])
	a.Pos = c.d.keyPosition(v.at)
	operation, ok := known.read(b, v, c.get("namespace").text(""))
	if !ok {
		return a, false
	}
	a.Operation = operation
	if _, ok := operation.(world.ScaleDownNode); ok && !atLeastDeleteDelay(c, &a) {
		return a, false
	}
	if a.For > 0 && !world.Ends(a.Operation) {
		c.get("for").fail("%s does not end by itself: for has no meaning here", a.Verb())
	}
	if a.For == 0 && c.get("for").present() {
		c.get("for").fail("expected more than 0")
	}
	return a, true
}

func (b *builder) scale(v cursor, namespace string) (world.Operation, bool) {
	n := v.get("replicas")
	if !n.present() {
		v.fail("say to how many: scale: {of: deployment/NAME, replicas: N}")
		return nil, false
	}
	replicas := n.whole(0)
	id, ok := b.workloadTarget(v.get("of"), namespace, "scale")
	return world.Scale{Workload: id, Replicas: replicas}, ok
}

// podNumber reads which pod of a workload is meant, counted from 0, the oldest first; all says whether every pod is meant
// where that is not said, else the first is.
func podNumber(c cursor, all bool) int {
	if all && !c.present() {
		return world.AllPods
	}
	return c.whole(0)
}

// workloadTarget reads "KIND/NAME" of a workload that a verb can be done to. The namespace is the action's, else that of the only one
// of the name.
func (b *builder) workloadTarget(c cursor, namespace, verb string) (id string, ok bool) {
	ref := c.text("")
	word, name, _ := strings.Cut(ref, "/")
	row, known := targetKind(word)
	switch {
	case !known || name == "":
		c.fail("%q is no workload: want %s", ref, targets(verb))
		return "", false
	case refusal(verb, row.kind) != "":
		c.fail("no %s of a %s: %s", verb, row.kind, refusal(verb, row.kind))
		return "", false
	}
	var found, kinds []string
	for _, x := range b.world.workloads {
		switch {
		case x.Name != name || namespace != "" && namespace != x.Namespace:
		case world.KindOf(x.Value) == row.kind:
			found = append(found, x.ID())
		default:
			kinds = append(kinds, strings.ToLower(world.KindOf(x.Value))+"/"+name)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], true
	case len(found) > 1:
		c.fail("there are several: %s; say which with namespace", strings.Join(found, ", "))
	case len(kinds) > 0:
		c.fail("there is no %s %s; do you mean %s?", row.kind, name, orList(kinds))
	case slices.Contains(b.workloadNames(), name):
		c.fail("there is no %s %s in namespace %s", row.kind, name, namespace)
	default:
		c.fail("there is no %s %s in the manifests; %s", row.kind, name, didYouMean(name, b.workloadNames()))
	}
	return "", false
}

// refusal says why kubectl cannot do something to workloads of a kind, or why it would change nothing; "" where it does.
func refusal(verb, kind string) string {
	switch verb {
	case "createPod":
		if kind != world.Pod {
			return "it is there from the beginning; only a bare Pod is created during a run"
		}
	case "rolloutRestart", "rollback", "setImage", "apply":
		switch kind {
		case world.ReplicaSet:
			return "no controller rolls out a bare ReplicaSet"
		case world.Pod:
			return "no controller rolls out a bare Pod"
		}
	case "pause", "resume":
		if kind != world.Deployment {
			return "kubectl does that to Deployments alone"
		}
	case "scale":
		switch kind {
		case world.DaemonSet:
			return "it has one pod on each node, and no number of replicas"
		case world.Pod:
			return "it is one"
		}
	}
	return ""
}

func (b *builder) setImage(v cursor, namespace string) (world.Operation, bool) {
	id, ok := b.workloadTarget(v.get("of"), namespace, "setImage")
	if !ok {
		return nil, false
	}
	image, name := v.get("image").text(""), v.get("container").text("")
	d, _ := b.world.workload(id)
	var names []string
	for _, c := range world.TemplateOf(d.Value).Spec.Containers {
		names = append(names, c.Name)
	}
	switch {
	case image == "":
		v.fail("say which image: setImage: {of: deployment/NAME, image: IMAGE}")
	case name == "" && len(names) != 1:
		v.fail("say which container: %s", orList(names))
	case name != "" && !slices.Contains(names, name):
		v.get("container").fail("there is no container %s; %s", name, didYouMean(name, names))
	default:
		if name == "" {
			name = names[0]
		}
		b.newImage(id, name, image)
		return world.SetImage{Workload: id, Container: name, Image: image}, true
	}
	return nil, false
}

// dependency needs an app that depends on it, or it would change nothing.
func (b *builder) dependency(v cursor) (world.Operation, bool) {
	name := v.get("name").text("")
	var names []string
	for _, w := range b.out.Workloads {
		names = append(names, w.App.DependsOn...)
	}
	if slices.Contains(names, name) {
		return world.Dependency{Name: name, Down: v.get("state").text("down") == "down"}, true
	}
	if len(names) == 0 {
		v.get("name").fail("no app depends on %q: say so with apps.NAME.dependsOn", name)
	} else {
		v.get("name").fail("no app depends on %q; %s", name, didYouMean(name, names))
	}
	return nil, false
}

// apply reads a new version of one workload.
func (b *builder) apply(c cursor, namespace string) (world.Operation, bool) {
	objects := b.loadFile(c)
	if objects == nil {
		return nil, false
	}
	var found []*manifest.Object
	for _, o := range objects.All {
		if r := resourceOf(o); r != nil && Simulates(world.KindOf(r)) && refusal("apply", world.KindOf(r)) == "" {
			found = append(found, o)
		} else {
			b.doc.fail(c.at, "not yet simulated: apply of %s", o)
		}
	}
	if len(found) != 1 {
		c.fail("%s has %d workloads, expected one", c.text(""), len(found))
		return nil, false
	}
	o := found[0]
	if namespace != "" && namespace != o.Namespace {
		c.fail("%s is not in namespace %s", o, namespace)
		return nil, false
	}
	if x, ok := b.world.workload(o.ID()); !ok || x.Kind != o.Kind {
		c.fail("%s is not among the manifests: only a workload that is there can be changed", o)
		return nil, false
	}
	return world.Apply{Workload: o.ID(), File: c.text(""), Resource: resourceOf(o)}, true
}

// newImage gives the pods of the new revision the profile of their new image, unless the
// Scenario says what they do.
func (b *builder) newImage(id, container, image string) {
	for i := range b.out.Workloads {
		w := &b.out.Workloads[i]
		if w.Name() != id || w.Server != container {
			continue
		}
		if _, said := w.Revisions["new"]; said || w.App.Basis == "manifest" {
			continue
		}
		c := *w.Container()
		c.Image = image
		app := servers.ContainerApp(&c, w.Template().Labels, b.doc.set.For(w.ObjectName()))
		if app.Profile == w.App.Profile {
			continue
		}
		app.Start, app.ReadyAfter, app.Serve, app.Init, app.DependsOn = w.App.Start, w.App.ReadyAfter, w.App.Serve, w.App.Init, w.App.DependsOn
		if w.Revisions == nil {
			w.Revisions = map[string]world.App{}
		}
		w.Revisions["new"] = app
	}
}

// drain reads kubectl drain: a node, or several with flags.
func (b *builder) drain(v cursor) (world.Operation, bool) {
	o := world.Drain{DrainOptions: world.DrainOptions{
		GracePeriod: v.get("gracePeriod").span(world.OwnGrace), Timeout: v.get("timeout").span(0),
		DisableEviction: v.get("disableEviction").flag(false), KeepEmptyDir: !v.get("deleteEmptyDirData").flag(true),
		Force: v.get("force").flag(false), PodSelector: v.get("podSelector").text(""), SkipDeleted: v.get("skipWaitForDeleteTimeout").span(0),
		MindDaemons: !v.get("ignoreDaemonSets").flag(true),
	}}
	nodes := v.get("nodes").items()
	if _, short := v.v.(string); short {
		nodes = []cursor{v}
	}
	if len(nodes) == 0 {
		v.fail("say which nodes: drain: NODE, or drain: {nodes: [NODE, NODE]}")
		return nil, false
	}
	ok := true
	for _, n := range nodes {
		name := n.text("")
		if slices.Contains(o.Nodes, name) {
			n.fail("%s is named twice", name)
			ok = false
		}
		ok = nodeNamed(n, b.out.Nodes) >= 0 && ok
		o.Nodes = append(o.Nodes, name)
	}
	for _, span := range []struct {
		name  string
		given engine.Time
	}{{"gracePeriod", o.GracePeriod}, {"skipWaitForDeleteTimeout", o.SkipDeleted}} {
		if f := v.get(span.name); f.present() && span.given%engine.Second != 0 {
			f.fail("expected whole seconds, as kubectl does")
		}
	}
	if _, err := labels.Parse(o.PodSelector); err != nil {
		v.get("podSelector").fail("it is no label selector, such as app=web: %v", err)
		return nil, false
	}
	return o, ok
}
