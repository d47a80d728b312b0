package fix

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// agent is a DaemonSet to whose pods nodes send what comes to them, with an image and more of its container.
func agent(image, container string) string {
	text := strings.ReplaceAll(daemon("", ""), "image: nginx", "image: "+image+"\n"+container)
	return strings.Replace(text, "  selector: {app: web}\n  ports: [{p", "  internalTrafficPolicy: Local\n  selector: {app: web}\n  ports: [{p", 1)
}

// A DaemonSet has one pod on each node, and with policy Local a node sends to no other one: how soon readiness is seen decides.
func TestANodeThatMayUseItsOwnPodOnlyIsToldSooner(t *testing.T) {
	t.Parallel()
	const asks = "        readinessProbe: {httpGet: {path: /, port: 8080}}\n"
	for name, c := range map[string]struct { // order: each for itself
		text string
		want bool
	}{
		"policy Local":               {agent("example.com/agent", asks), true},
		"any node's pods":            {strings.Replace(agent("example.com/agent", asks), "internalTrafficPolicy: Local", "internalTrafficPolicy: Cluster", 1), false},
		"asked each second":          {agent("example.com/agent", strings.Replace(asks, "}}", "}, periodSeconds: 1}", 1)), false},
		"a Deployment, other pods":   {strings.Replace(agent("example.com/agent", asks), "kind: DaemonSet", "kind: Deployment", 1), false},
		"it leaves by its readiness": {strings.Replace(agent("registry.k8s.io/ingress-nginx/controller:v1.11.2", asks), "kind: DaemonSet", "kind: Deployment", 1), true},
	} {
		s, w := worldOf(t, c.text, scenario.Options{})
		got := false
		for _, x := range Changes(s, w, engine.Second) {
			got = got || x.ID == "readinessPeriod"
		}
		if got != c.want {
			t.Errorf("%s: offered %v", name, got)
		}
	}
}

// A controller of ingress-nginx that closes its port before failureThreshold probes have failed is offered to wait for them.
func TestAServerIsToGoOnAcceptingUntilItsReadinessHasFailed(t *testing.T) {
	t.Parallel()
	const controller = "registry.k8s.io/ingress-nginx/controller:v1.11.2"
	const asks = "        readinessProbe: {httpGet: {path: /healthz, port: 10254}, periodSeconds: 10, failureThreshold: 3}\n"
	for name, c := range map[string]struct { // order: each for itself
		image, container string
		want, edit       string
	}{
		"too soon": {
			controller, asks + "        args: [/nginx-ingress-controller, --shutdown-grace-period=20]\n",
			"--shutdown-grace-period=40, terminationGracePeriodSeconds: 280", "args[1]: --shutdown-grace-period=20 -> --shutdown-grace-period=40",
		},
		"at once": {
			controller, asks + "        args: [/nginx-ingress-controller]\n",
			"--shutdown-grace-period=40, terminationGracePeriodSeconds: 280", "args:  -> --shutdown-grace-period=40, behind those that are there",
		},
		"late enough":     {controller, asks + "        args: [/nginx-ingress-controller, --shutdown-grace-period=40]\n", "", ""},
		"in two words":    {controller, asks + "        args: [/nginx-ingress-controller, --shutdown-grace-period, '20']\n", "", ""},
		"another program": {"example.com/agent", asks + "        args: [--shutdown-grace-period=20]\n", "", ""},
	} {
		s, w := worldOf(t, agent(c.image, c.container), scenario.Options{})
		title, edited := "", ""
		for _, x := range Changes(s, w, engine.Second) {
			if x.ID != "accepts" {
				continue
			}
			title = x.Title
			e := x.Edits[0]
			_, field, _ := strings.Cut(e.Path, "containers[0].")
			edited = field + ": " + e.From.String() + " -> " + e.To.String()
			after := Apply(s, "shop/web", []Change{x}).Workload("shop/web")
			if app := after.App; app.Listener != world.ListenerDrains || app.DrainFor != 40*engine.Second || after.Template().Spec.Containers[0].Args[len(after.Template().Spec.Containers[0].Args)-1] != "--shutdown-grace-period=40" {
				t.Errorf("%s: %+v", name, app)
			}
		}
		if title != c.want || edited != c.edit {
			t.Errorf("%s: %q, %q", name, title, edited)
		}
	}
}
