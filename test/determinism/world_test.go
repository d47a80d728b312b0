package determinism

import (
	"fmt"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// draws picks from lists, with the engine's own generator.
type draws struct {
	stream engine.Stream
	count  uint64
}

func (d *draws) below(n int) int {
	d.count++
	return engine.Below(d.stream.Draw(d.count), n)
}

func (d *draws) one(of ...string) string { return of[d.below(len(of))] }

// drawWorld writes a Scenario with one workload, chosen by a seed: small, but with anything in it
// that draws, waits or competes.
func drawWorld(seed uint64) string {
	d := &draws{stream: engine.NewStream(seed, "determinism", "world")}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("apiVersion: lameduck/v1alpha1\nkind: Scenario\nmetadata: {name: world-%d}\nspec:", seed)
	line("  nodes: {count: %d, zones: [%s], proxy: {mode: %s, minSyncPeriod: %s}}",
		d.below(5)+1, d.one("a", "a, b", "a, b, c"), d.one("nftables", "iptables"), d.one("1s", "100ms", "10s"))
	line("  latency: {watch: %s, proxySync: %s}", d.one("10ms", "{uniform: [5ms, 300ms]}", "{lognormal: {median: 20ms, p99: 2s}}"),
		d.one("{uniform: [20ms, 200ms]}", "{normal: {mean: 300ms, deviation: 80ms}}"))
	line("  apps:\n    web: {start: %s, serve: %s, %s, inFlight: %s, ignoresSIGTERM: %s, concurrency: %s, queue: 5}",
		d.one("1s", "{uniform: [500ms, 4s]}"), d.one("5ms", "{lognormal: {median: 20ms, p99: 1s}}", "2s"), d.one("listener: closes", "listener: stays", "listener: drains, drainFor: 3s"),
		d.one("finish", "cut"), d.one("false", "false", "true"), d.one("0", "0", "4"))
	line("  traffic:")
	for i, from := range []string{"pods", "external"} {
		line("  - {name: %s, to: \"web:80\", from: %s, rate: %d/s, arrivals: %s, connection: %s, timeout: 3s, retries: {count: %d}}",
			from, from, 20+d.below(80), d.one("poisson", "constant"), d.one("per-request", "keep-alive"), i*d.below(3))
	}
	gated := d.below(3) == 0
	line("  until: 120s\n  actions:")
	if gated { // a while after the pods that the actions bring have come
		line("  - {at: 50s, setGate: {of: deployment/web}}")
	}
	for i := range d.below(4) + 1 {
		line("  - {at: %dms, %s}", 10_000+i*9_000+d.below(9_000), d.one("rolloutRestart: deployment/web", "rolloutRestart: deployment/web",
			"scale: {of: deployment/web, replicas: 5}", "delete: {of: deployment/web, pod: 0}", "crashPod: {of: deployment/web, pod: 1}",
			"apiserver: down, for: 7s", "component: {name: kube-proxy/node-1, pause: true}, for: 7s", "component: {name: kube-proxy/node-1, restart: true}",
			"component: {name: kubelet/node-1, pause: true}, for: 7s"))
	}
	b.WriteString(drawObjects(d, "web", gated))
	return b.String()
}

// drawTwoStages writes a Scenario whose requests go through an ingress controller that is a workload
// of it, chosen by a seed: the app and the controller are both rolled out.
func drawTwoStages(seed uint64) string {
	d := &draws{stream: engine.NewStream(seed, "determinism", "two stages")}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("apiVersion: lameduck/v1alpha1\nkind: Scenario\nmetadata: {name: stages-%d}\nspec:", seed)
	line("  nodes: {count: %d}\n  latency: {watch: {uniform: [5ms, 300ms]}}\n  apps:", d.below(4)+1)
	for _, name := range []string{"web", "ingress"} {
		line("    %s: {start: {uniform: [500ms, 4s]}, serve: {lognormal: {median: 20ms, p99: 1s}}, listener: closes, inFlight: %s}", name, d.one("finish", "cut"))
	}
	line("  ingress: {preset: %s, retries: %d, connectTimeout: %s, controller: {uniform: [100ms, 3s]}}", d.one("ingress-nginx", "envoy-gateway", "l7-generic"), d.below(3), d.one("500ms", "5s"))
	line("  loadBalancer: {preset: %s}\n  traffic:", d.one("gke-l4", "aws-nlb-instance", "azure-standard"))
	for i, way := range []string{"from: pods, via: [\"default/ingress:80\"]", "from: external, via: [lb, \"default/ingress:80\"]"} {
		line("  - {name: stream-%d, to: \"web:80\", %s, rate: %d/s, connection: %s, timeout: 3s, retries: {count: %d}}",
			i, way, 20+d.below(80), d.one("per-request", "keep-alive", "http2"), i*d.below(3))
	}
	line("  until: 60s\n  actions:\n  - {at: 10s, rolloutRestart: deployment/web}\n  - {at: %dms, rolloutRestart: deployment/ingress}", 10_000+d.below(20_000))
	b.WriteString(drawObjects(d, "web", false) + strings.Replace(drawObjects(d, "ingress", false), "type: NodePort", "type: LoadBalancer", 1))
	return b.String()
}

// drawObjects are the Deployment and the Service of a name.
func drawObjects(d *draws, name string, gated bool) string {
	gates := "[]"
	if gated {
		gates = "[{conditionType: example.com/own}]"
	}
	objects := fmt.Sprintf(`---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: %d
  minReadySeconds: %s
  strategy: {rollingUpdate: {maxSurge: %s}}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      readinessGates: %s
      terminationGracePeriodSeconds: %s
      containers:
      - name: web
        image: registry.example/shop/web:1.4
        ports: [{containerPort: 8080}]
        readinessProbe: {httpGet: {path: /ready, port: 8080}, periodSeconds: %d}
        lifecycle: {preStop: {sleep: {seconds: %d}}}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  type: NodePort
  externalTrafficPolicy: %s
  selector: {app: web}
  ports: [{port: 80, targetPort: 8080}]
`, 2+d.below(6), d.one("0", "0", "3"), d.one("1", "25%", "100%"), gates, d.one("30", "5"), 1+d.below(5), d.below(5), d.one("Cluster", "Local"))
	return strings.NewReplacer("name: web", "name: "+name, "app: web", "app: "+name).Replace(objects)
}
