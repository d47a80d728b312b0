package scenario

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Ways to the pods of a case that are not simulated, though the input has them: a reader takes the figures for all users otherwise.

// mostWays is how many of them one sentence names.
const mostWays = 4

// otherWays names what else leads to the pods of an entry: headless Services, and what is not read.
func (b *builder) otherWays(index int, e *entry) {
	if e.class != ClassDNS {
		b.waysBeside(index, e)
	}
	b.podWays(index)
	unread := b.world.unread
	if e.class == ClassSession || e.class == ClassDatagram { // through no proxy of HTTP requests
		unread = append(slices.Clone(unread), b.world.bindings...)
	}
	for _, o := range unread {
		if named := named(o); slices.ContainsFunc(named, func(n backend) bool { return n.is(e.service) }) {
			b.notModelled(world.UnreadRoute, fmt.Sprintf("%s %s (%s) is not read: who comes through it is not judged", o.Kind, o.Name, where(o, "kind")), o.String(), "unknown")
		}
	}
}

// waysBeside names headless Services and routes that are read, beside those of the entry.
func (b *builder) waysBeside(index int, e *entry) {
	for _, s := range b.world.services {
		if (s.Value.Spec.ClusterIP == corev1.ClusterIPNone || b.world.headed[s.ID()]) && b.census.owners[index].behind(s) {
			b.notModelled(world.Headless, fmt.Sprintf("headless Service %s (%s): its clients%s choose the pod, and are not judged", s.Name, where(s.Object, "spec.clusterIP"), b.world.besideRoute(s.ID())), "Service "+s.ID(), "unknown")
		}
	}
	var words, objects []string
	for _, r := range b.waysLeftOut(e) {
		o := r.Object
		words, objects = append(words, fmt.Sprintf("%s %s (%s)", o.Kind, o.Name, where(o, "kind"))), append(objects, o.String())
	}
	if n := len(words); n > 0 {
		lead := map[bool]string{true: "leads to Service %s, too: who comes through it is not judged", false: "lead to Service %s, too: who comes through them is not judged"}[n == 1]
		b.notModelled(world.UnreadRoute, Listed(words, mostWays)+" "+fmt.Sprintf(lead, e.service.Name), strings.Join(objects, ", "), "unknown")
	}
}

// podWays names the Services that lead from outside to a single pod of a StatefulSet each, such as to a broker: its clients know it by its address,
// and no other pod stands in for it.
func (b *builder) podWays(index int) {
	o := &b.census.owners[index]
	var words, pods, objects []string
	for _, s := range b.world.services {
		if !o.picks(s) {
			continue
		}
		outside := slices.IndexFunc(s.Value.Spec.Ports, func(p corev1.ServicePort) bool {
			return b.world.fromOutside(&subject{service: s, port: &p, template: o.template})
		})
		if outside >= 0 {
			words = append(words, fmt.Sprintf("%s (%s)", s.Name, where(s.Object, "spec.selector")))
			pods, objects = append(pods, o.podNamed(s.Value.Spec.Selector)), append(objects, "Service "+s.ID())
		}
	}
	switch len(pods) {
	case 0:
	case 1:
		b.notModelled(world.OnePod, fmt.Sprintf("Service %s leads from outside to one pod alone, %s: nobody answers there while that pod is gone, and its clients are not judged", words[0], pods[0]), objects[0], "more")
	default:
		b.notModelled(world.OnePod, fmt.Sprintf("Services %s lead from outside to one pod each: nobody answers there while that pod is gone, and their clients are not judged", Listed(words, mostWays)), strings.Join(objects, ", "), "more")
	}
}

// backend is a Service that an object of any maker leads requests to.
type backend struct{ namespace, name string }

func (n backend) is(s manifest.Typed[*corev1.Service]) bool {
	host, _, _ := strings.Cut(n.name, ":")        // "web:80"
	short, domain, long := strings.Cut(host, ".") // "web.shop.svc.cluster.local"
	if long {
		n.namespace, _, _ = strings.Cut(domain, ".")
	}
	return short == s.Name && n.namespace == s.Namespace
}

// named lists the Services that an object names in its spec, by the fields in which the makers of routes have them: services and
// backendRefs (Contour, Traefik, the Gateway API, Zalando's Skipper), destination.host (Istio), service (NGINX, Emissary), serviceName
// (APISIX), to (OpenShift), serviceRef (AWS).
func named(o *manifest.Object) []backend {
	var out []backend
	var walk func(v any, under string)
	walk = func(v any, under string) {
		switch x := v.(type) {
		case []any:
			for _, e := range x {
				walk(e, under)
			}
		case map[string]any:
			for _, key := range sortedKeys(x) {
				name, text := x[key].(string)
				switch holder := slices.Contains([]string{"services", "backendRefs", "backends", "to", "serviceRef", "service"}, under); {
				case !text:
					walk(x[key], key)
				case key == "name" && holder, key == "host" && under == "destination", key == "service", key == "serviceName":
					namespace := o.Namespace
					if said, ok := x["namespace"].(string); ok {
						namespace = said
					}
					out = append(out, backend{namespace, name})
				}
			}
		}
	}
	walk(rawAt(o.Value, "spec"), "")
	return out
}

// weighed says which part of an HTTPRoute's or GRPCRoute's requests goes to a Service, where others get the rest: as weights say, 1 where they do not
// (Gateway API, BackendRef.weight; verified). It returns whether there is something to say.
func (b *builder) weighed(t *world.Traffic, svc *corev1.Service) bool {
	r := t.Route
	if r != nil && r.Main != "" && throughNginx(t) {
		b.notModelled(world.Weight, fmt.Sprintf("%s (%s) sends %s to Service %s: the loss is of those alone. While it has no endpoint, ingress-nginx sends them to Service %s, which is taken to answer",
			r.Object, where(r.Object, annotationPath(nginxPrefix+"canary")), canaryPart(r), svc.Name, r.Main), r.Object.String(), "fewer")
		return true
	}
	if r == nil || r.Object.Kind != "HTTPRoute" && r.Object.Kind != kindGRPCRoute {
		return false
	}
	var own, all int64 // of the rule that sends it the greatest part
	for _, rule := range rawList(r.Object.Value, "spec", "rules") {
		var part, sum int64
		for _, ref := range rawList(rule, "backendRefs") {
			weight := int64(1)
			if n, ok := rawAt(ref, "weight").(int64); ok && n >= 0 && n <= maxWhole {
				weight = n
			}
			sum += weight
			if rawText(ref, "name") == svc.Name {
				part += weight
			}
		}
		if part > 0 && (own == 0 || part*all > own*sum) {
			own, all = part, sum
		}
	}
	part := own > 0 && own < all
	if part {
		b.notModelled(world.Weight, fmt.Sprintf("%s (%s) sends %s of its requests to Service %s (weight %d of %d): the loss is of those alone",
			r.Object, where(r.Object, "spec.rules"), percent(own, all), svc.Name, own, all), r.Object.String(), "fewer")
	}
	return part
}

// where is the file and the line of a field, or of what would have it.
func where(o *manifest.Object, path string) string {
	p := o.At(path)
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// percent is a part of a whole, rounded, and never 0.
func percent(part, whole int64) string {
	if n := (100*part + whole/2) / whole; n > 0 {
		return fmt.Sprintf("%d %%", n)
	}
	return "less than 1 %"
}

// lastPod says that an autoscaler may leave a workload without any pod.
func (b *builder) lastPod(s *scaler) {
	if s.toZero == "" {
		return
	}
	b.notModelled(world.LastPod, fmt.Sprintf("%s %s may take the last pod (%s, %s): then no request is answered until one is there again",
		s.kind, s.object.Name, s.toZero, where(s.object, "spec."+s.zeroField)), s.object.String(), "more")
}

// besideServer names the containers that are told to stop before the one that serves, and that it may need for its answers: the kubelet
// stops all containers of a pod in parallel (docs/model/pod-lifecycle.md 2.1), and no manifest says who needs whom. Which ones those are:
// other containers, not sidecars, which end last, that listen, or are known to be servers, and that are no observers.
func (b *builder) besideServer(w *world.Workload) {
	if w.Aside || slices.ContainsFunc(b.out.Actions, func(a world.Action) bool { _, crash := a.Operation.(world.CrashNode); return crash }) {
		return
	}
	serves := min(w.Hooks[w.Server].Duration.Min(), w.EffectiveGrace())
	containers := w.Template().Spec.Containers
	for i := range containers {
		c := &containers[i]
		hook := w.Hooks[c.Name]
		before := serves - hook.Duration.Min()
		if c.Name == w.Server || hook.Undetermined || !servers.Needed(c, w.Template().Labels) {
			continue
		}
		app := servers.ContainerApp(c, w.Template().Labels, world.Overrides{})
		b.readFPM(w, c, &app)
		switch passes := slices.Contains(w.Behind, c.Name); {
		case passes && before >= engine.Second: // it is simulated
			b.takenToStop(w, c, &app)
		case passes && app.Profile == servers.PHPFPM && !app.Graceful() && w.App.Graceful() && serves < engine.Second:
			b.cutBehind(w, c)
		case passes && before > -engine.Second:
			b.notModelled("together", fmt.Sprintf("container %s is told to stop together with %s, which passes its requests on to it: what %s is still finishing then may fail (502)", c.Name, w.Server, w.Server),
				w.Kind()+" "+w.Name(), "more")
		case before >= engine.Second && !passes:
			b.stopsBefore(w, c, serves, before)
		}
	}
}

// takenToStop says what is assumed of an app behind a proxy of which nothing is known.
func (b *builder) takenToStop(w *world.Workload, c *corev1.Container, app *world.App) {
	if app.Basis != "manifest" && app.Basis != inferred {
		b.notModelled("behind-proxy", fmt.Sprintf("container %s, behind %s, is taken to take no requests any more as soon as it is told to stop", c.Name, w.Server), w.Kind()+" "+w.Name(), "fewer")
	}
}

// stopsBefore names a container that ends before the server, and is not simulated: one that leads out of the pod is needed for what it leads to, and of
// others nobody knows.
func (b *builder) stopsBefore(w *world.Workload, c *corev1.Container, serves, before engine.Time) {
	when, at := "at once", containerAt(w, c)
	if b.hooked(w, c) && serves-before > 0 {
		when = "after " + (serves - before).Seconds() + " s"
	}
	n := world.NotModelled{
		ID: world.Beside, Object: w.Kind() + " " + w.Name(), Direction: "more",
		What: fmt.Sprintf("as the manifest is, container %s (%s) is told to stop %s, %s s before %s: if %s needs it, what is sent to the pod in that time fails, and is not counted here",
			c.Name, at, when, before.Seconds(), w.Server, w.Server),
		Remedy: b.sameDelay(w, c, serves),
	}
	if servers.LeadsOut(c) {
		n.ID = world.Needed
		n.What = fmt.Sprintf("container %s (%s) is told to stop %s, %s s before %s: what %s is asked then and needs what is behind it for, such as a database, fails, and is not counted here",
			c.Name, at, when, before.Seconds(), w.Server, w.Server)
		n.Remedy += "; or have it be a sidecar, an init container with restartPolicy: Always (Kubernetes 1.29 and later), which ends last"
	}
	b.out.NotModelled = append(b.out.NotModelled, n)
}

func (b *builder) hooked(w *world.Workload, c *corev1.Container) bool {
	return w.Hooks[c.Name].Kind != servers.HookNone
}

// sameDelay is the hook with which a container ends no sooner than the server.
func (b *builder) sameDelay(w *world.Workload, c *corev1.Container, serves engine.Time) string {
	seconds := int64((serves + engine.Second - 1) / engine.Second)
	hook := fmt.Sprintf("{sleep: {seconds: %d}}", seconds)
	if b.out.Kubernetes.Version.Before(sleepAction) {
		hook = fmt.Sprintf("{exec: {command: [sleep, %q]}}", fmt.Sprint(seconds))
	}
	return fmt.Sprintf("the same delay in container %s, too (%s): lifecycle: {preStop: %s}", c.Name, containerAt(w, c), hook)
}

// containerAt says where a container of a workload stands.
func containerAt(w *world.Workload, c *corev1.Container) string {
	i := slices.IndexFunc(w.Template().Spec.Containers, func(x corev1.Container) bool { return x.Name == c.Name })
	return where(w.Object, fmt.Sprintf("spec.template.spec.containers[%d]", i))
}

// cutBehind says that php-fpm behind a web server in one pod cuts what it is answering when the pod is told to end, and the web server does not.
func (b *builder) cutBehind(w *world.Workload, c *corev1.Container) {
	at := containerAt(w, c)
	b.out.NotModelled = append(b.out.NotModelled, world.NotModelled{
		ID: world.Needed, Object: w.Kind() + " " + w.Name(), Direction: "more",
		What: fmt.Sprintf("container %s (%s) cuts what it is answering when it is told to stop, unless %s is set, and %s passes its requests on to it: those fail (502), and are not counted here",
			c.Name, at, fpmTimeout, w.Server),
		Remedy: fmt.Sprintf("%s = 20 under [global] in the configuration of php-fpm in container %s (%s)", fpmTimeout, c.Name, at),
	})
}
