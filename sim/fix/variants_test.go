package fix

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/test/golden"
)

// varied is an input whose words in capitals are filled in: see plainly.
const varied = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: REPLICAS
  strategy: {STRATEGY}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web, "team": "1"}}
    spec:
      terminationGracePeriodSeconds: GRACE
      POD
      containers:
      - name: web
        image: IMAGE
        ports: [PORTS]
        lifecycle: {PRESTOP}
        PROBES
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}], SERVICE}
MORE`

// plainly is what a variant leaves as it is.
var plainly = map[string]string{
	"REPLICAS": "3", "STRATEGY": "", "GRACE": "30", "POD": "", "IMAGE": "example.com/web:1", "PORTS": "{containerPort: 8080}", "PRESTOP": "",
	"PROBES": "readinessProbe: {httpGet: {path: /ready, port: 8080}}", "SERVICE": "type: ClusterIP", "MORE": "",
}

// pdb is a disruption budget with a selector.
func pdb(name, namespace, spec string) string {
	return fmt.Sprintf("---\n{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: %s, namespace: %s}, spec: {%s}}\n", name, namespace, spec)
}

const (
	ofWeb  = "selector: {matchLabels: {app: web}}"
	ofTeam = `selector: {matchLabels: {"team": "1"}}`
	listed = `selector: {matchLabels: {"team": "1"}, matchExpressions: [{key: app, operator: In, values: [web, "2"]}, {key: gone, operator: DoesNotExist}]}`
	beside = "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: api, namespace: shop}, spec: {replicas: 2, selector: {matchLabels: {app: api}}, template: {metadata: {labels: {app: api, \"team\": \"1\"}}," +
		" spec: {containers: [{name: api, image: \"example.com/api:1\", ports: [{containerPort: 8080}]}]}}}}\n"
	canary = "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: web-canary, namespace: shop}, spec: {replicas: 1, selector: {matchLabels: {app: web, track: canary}}, template: {metadata: {labels: {app: web, track: canary}}," +
		" spec: {containers: [{name: web, image: \"example.com/web:2\", ports: [{containerPort: 8080}]}]}}}}\n"
)

// placedPods are Pods of the Deployment on nodes, ready or not.
func placedPods(nodes string, ready string) string {
	out := ""
	for i, node := range strings.Fields(nodes) {
		out += fmt.Sprintf("---\n{apiVersion: v1, kind: Pod, metadata: {name: web-%d, namespace: shop, labels: {app: web, \"team\": \"1\"}, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: '1', controller: true}]},"+
			" spec: {nodeName: %s, containers: [{name: web, image: \"example.com/web:1\"}]}, status: {phase: Running, conditions: [{type: Ready, status: '%s'}]}}\n", i, node, ready)
	}
	return out
}

// script is a preStop hook that runs one in a shell.
func script(text string) string {
	return fmt.Sprintf("preStop: {exec: {command: [/bin/sh, -c, %q]}}", text)
}

var variants = []struct {
	name string
	set  []string // words of varied, each with its value after it
}{
	{"plain", nil},
	{"one pod", []string{"REPLICAS", "1"}},
	{"two pods", []string{"REPLICAS", "2"}},
	{"one pod, Recreate", []string{"REPLICAS", "1", "STRATEGY", "type: Recreate"}},
	{"one pod, a budget", []string{"REPLICAS", "1", "MORE", pdb("web", "shop", "minAvailable: 1, "+ofWeb)}},
	{"one pod, a budget that never blocks", []string{"REPLICAS", "1", "MORE", pdb("web", "shop", "maxUnavailable: 1, "+ofWeb)}},
	{"one pod, a budget with a long selector", []string{"REPLICAS", "1", "MORE", pdb("other", "shop", "maxUnavailable: 0, unhealthyPodEvictionPolicy: IfHealthyBudget, "+listed)}},
	{"one pod, budgets of the same name", []string{"REPLICAS", "1", "MORE", pdb("web", "shop", "maxUnavailable: 1, selector: {matchLabels: {app: nobody}}") + pdb("web-pdb", "other", "maxUnavailable: 1, "+ofWeb)}},
	{"one pod of a database", []string{"REPLICAS", "1", "IMAGE", "postgres:16", "PORTS", "{containerPort: 5432}"}},
	{"one pod with the port of a database", []string{"REPLICAS", "1", "PORTS", "{containerPort: 5432}"}},
	{"one pod, scaled", []string{"REPLICAS", "1", "MORE", "---\n{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web, namespace: shop}, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 1, maxReplicas: 1}}\n"}},
	{"one pod, and a canary", []string{"REPLICAS", "1", "MORE", canary}},
	{"one pod, and another workload", []string{"REPLICAS", "1", "MORE", beside}},
	{"a budget that lets none go", []string{"MORE", pdb("web", "shop", "minAvailable: 3, "+ofWeb)}},
	{"a budget of a share", []string{"MORE", pdb("web", "shop", `minAvailable: "100%", `+ofWeb)}},
	{"a budget of two workloads", []string{"MORE", beside + pdb("team", "shop", "minAvailable: 4, "+ofTeam)}},
	{"a budget of two workloads that lets none go", []string{"MORE", beside + pdb("team", "shop", "minAvailable: 5, "+ofTeam)}},
	{"two budgets", []string{"MORE", pdb("a", "shop", "maxUnavailable: 1, "+ofWeb) + pdb("b", "shop", "maxUnavailable: 1, "+ofTeam)}},
	{"two budgets, one of which lets none go", []string{"MORE", pdb("a", "shop", "maxUnavailable: 1, "+ofWeb) + pdb("b", "shop", "maxUnavailable: 0, "+ofTeam)}},
	{"two budgets that let none go", []string{"MORE", pdb("a", "shop", "maxUnavailable: 0, "+ofWeb) + pdb("b", "shop", "maxUnavailable: 0, "+ofTeam)}},
	{"two budgets, one of another workload, too", []string{"MORE", beside + pdb("a", "shop", "maxUnavailable: 1, "+ofWeb) + pdb("b", "shop", "maxUnavailable: 1, "+ofTeam)}},
	{"two budgets, both of another workload, too", []string{"MORE", beside + pdb("a", "shop", "maxUnavailable: 1, "+ofTeam) + pdb("b", "shop", "maxUnavailable: 1, "+ofTeam)}},
	{"two budgets over one pod", []string{"REPLICAS", "1", "MORE", pdb("a", "shop", "minAvailable: 1, "+ofWeb) + pdb("b", "shop", "minAvailable: 1, "+ofTeam)}},
	{"pods that are not ready", []string{"MORE", placedPods("node-1 node-2 node-3", "False") + pdb("web", "shop", "minAvailable: 2, "+ofWeb)}},
	{"pods that are not ready, which may go", []string{"MORE", placedPods("node-1 node-2 node-3", "False") + pdb("web", "shop", "minAvailable: 2, unhealthyPodEvictionPolicy: AlwaysAllow, "+ofWeb)}},
	{"pods that are not ready, without a budget", []string{"MORE", placedPods("node-1 node-2 node-3", "False")}},
	{"pods that share a node", []string{"MORE", placedPods("node-1 node-1 node-2", "True")}},
	{"pods that share no node", []string{"MORE", placedPods("node-1 node-2 node-3", "True")}},
	{"pods that share a node though spread", []string{"POD", "topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: web}}}]", "MORE", placedPods("node-1 node-1 node-2", "True")}},
	{"a hook that sleeps", []string{"PRESTOP", "preStop: {exec: {command: [sleep, '5']}}"}},
	{"a hook that sleeps as long as the grace period", []string{"PRESTOP", "preStop: {exec: {command: [sleep, '30']}}"}},
	{"a hook that sleeps an hour", []string{"PRESTOP", "preStop: {exec: {command: [sleep, '3600']}}"}},
	{"a hook that sleeps five minutes", []string{"PRESTOP", "preStop: {exec: {command: [sleep, '300']}}"}},
	{"the sleep action", []string{"PRESTOP", "preStop: {sleep: {seconds: 4}}"}},
	{"a script that sleeps", []string{"PRESTOP", script("sleep 5")}},
	{"a script that sleeps, then does more", []string{"PRESTOP", script("sleep 5; /app/drain")}},
	{"a script that sleeps twice", []string{"PRESTOP", script("sleep 5; /app/drain; sleep 2")}},
	{"a script that sleeps at its end", []string{"PRESTOP", script("/app/drain; sleep 2")}},
	{"a script that sleeps for nobody knows how long", []string{"PRESTOP", script("sleep $WAIT; /app/drain")}},
	{"a script that stops the server", []string{"PRESTOP", script("nginx -s quit"), "IMAGE", "nginx:1.29"}},
	{"a script with something behind it", []string{"PRESTOP", script("/app/drain &")}},
	{"a script that ends", []string{"PRESTOP", script("/app/drain; exit 0")}},
	{"a script of two lines", []string{"PRESTOP", script("/app/drain\n/app/more")}},
	{"a program with words that a shell looks at", []string{"PRESTOP", `preStop: {exec: {command: [/app/drain, "it's", "a b", "$X"]}}`}},
	{"a program where there is no shell", []string{"PRESTOP", "preStop: {exec: {command: [/app/drain]}}", "IMAGE", "gcr.io/distroless/static:1"}},
	{"a request", []string{"PRESTOP", "preStop: {httpGet: {path: /drain, port: 8080}}"}},
	{"a request to a port by its name", []string{"PRESTOP", "preStop: {httpGet: {path: drain, port: admin}}", "PORTS", "{containerPort: 8080, name: http}, {containerPort: 9000, name: admin}, {containerPort: 9001, name: more}"}},
	{"a request to a port that nobody names", []string{"PRESTOP", "preStop: {httpGet: {path: /drain, port: admin}}"}},
	{"a request by TLS to a host", []string{"PRESTOP", "preStop: {httpGet: {path: '/a b', port: 8443, scheme: HTTPS, host: example.com}}"}},
	{"a request with headers", []string{"PRESTOP", "preStop: {httpGet: {path: /drain, port: 8080, httpHeaders: [{name: A, value: b}]}}"}},
	{"a script on Windows", []string{"PRESTOP", script("/app/drain"), "POD", "nodeSelector: {kubernetes.io/os: windows}"}},
	{"no probe", []string{"PROBES", ""}},
	{"no probe, and no port", []string{"PROBES", "", "PORTS", ""}},
	{"a slow probe", []string{"PROBES", "readinessProbe: {initialDelaySeconds: 20, periodSeconds: 30, httpGet: {path: /, port: 8080}}", "REPLICAS", "1"}},
	{"a probe that is asked at once", []string{"PROBES", "readinessProbe: {periodSeconds: 30, httpGet: {path: /, port: 8080}}", "REPLICAS", "1"}},
	{"a probe that waits", []string{"PROBES", "readinessProbe: {initialDelaySeconds: 20, periodSeconds: 1, httpGet: {path: /, port: 8080}}", "REPLICAS", "1"}},
	{"a fast probe", []string{"PROBES", "readinessProbe: {periodSeconds: 1, httpGet: {path: /, port: 8080}}", "REPLICAS", "1"}},
	{"a startup probe", []string{"PROBES", "startupProbe: {periodSeconds: 10, failureThreshold: 6, httpGet: {path: /, port: 8080}}", "REPLICAS", "1"}},
	{"a startup probe that waits", []string{"PROBES", "startupProbe: {initialDelaySeconds: 7, periodSeconds: 10, failureThreshold: 6, httpGet: {path: /, port: 8080}}", "REPLICAS", "1"}},
	{"a probe of its life with all that a request may have", []string{"PROBES", "livenessProbe: {initialDelaySeconds: 1, periodSeconds: 1, failureThreshold: 1, httpGet: {path: /live, port: 8080, scheme: HTTPS, host: a.example, httpHeaders: [{name: A, value: b}]}}"}},
	{"a probe of its life by TCP", []string{"PROBES", "livenessProbe: {periodSeconds: 1, failureThreshold: 1, tcpSocket: {port: 8080, host: 127.0.0.1}}"}},
	{"a probe of its life by gRPC", []string{"PROBES", "livenessProbe: {periodSeconds: 1, failureThreshold: 1, grpc: {port: 8080, service: a}}"}},
	{"a probe of its life by a program", []string{"PROBES", "livenessProbe: {periodSeconds: 1, failureThreshold: 1, exec: {command: [/app/live, 'a b']}}"}},
	{"a grace period of 1 s", []string{"GRACE", "1"}},
	{"a long grace period", []string{"GRACE", "600"}},
	{"some pods may be missing", []string{"STRATEGY", "rollingUpdate: {maxUnavailable: 1}"}},
	{"all pods may be missing", []string{"STRATEGY", "rollingUpdate: {maxUnavailable: '100%', maxSurge: 0}"}},
	{"from outside, to pods of the node", []string{"SERVICE", "type: LoadBalancer, externalTrafficPolicy: Local"}},
	{"inside, to pods of the node", []string{"SERVICE", "internalTrafficPolicy: Local"}},
	{"to pods of the node in another namespace", []string{"MORE", "---\n{apiVersion: v1, kind: Service, metadata: {name: web, namespace: other}, spec: {selector: {app: web}, ports: [{port: 80}], internalTrafficPolicy: Local}}\n"}},
	{"publishes what is not ready", []string{"SERVICE", "publishNotReadyAddresses: true"}},
	{"a Service's port by its number", []string{"SERVICE", "sessionAffinity: None", "PORTS", "{containerPort: 80}, {containerPort: 8080}", "PROBES", ""}},
	{"a sidecar that another Service leads to", []string{"POD", "initContainers: [{name: side, image: 'example.com/side:1', restartPolicy: Always, ports: [{containerPort: 9000}]}]"}},
	{"a volume of one node", []string{"REPLICAS", "1", "POD", "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]"}},
}

// variedActions are what is done to each variant, and where.
var variedActions = []scenario.Options{
	{Actions: []string{"rollout"}}, {Actions: []string{"drain"}}, {Actions: []string{"pool-upgrade"}, Env: "gke"}, {Actions: []string{"karpenter"}, Env: "eks"},
	{Actions: []string{"spot"}, Env: "gke"}, {Actions: []string{"crash"}}, {Actions: []string{"drain"}, KubernetesVersion: "1.28"},
}

// What can be changed in inputs that differ from a plain one in one way is kept: all that is said of it, and a sum of the Scenario with it. Of
// a variant stands what the plain input has not.
func TestChangesOfVariants(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	plain := make([][]string, len(variedActions))
	for _, v := range variants {
		fmt.Fprintf(&out, "%s\n", v.name)
		fill := make([]string, 0, 2*len(plainly))
		fill = append(fill, v.set...)
		for word, value := range plainly { // order: each is another word, and those that are set come first
			if !slices.Contains(v.set, word) {
				fill = append(fill, word, value)
			}
		}
		text := strings.NewReplacer(fill...).Replace(varied)
		for i, opts := range variedActions {
			lines, sum := changesOf(text, opts)
			if plain[i] == nil {
				plain[i] = lines
			}
			fmt.Fprintf(&out, "  %s %s%s: %d, %s\n", opts.Actions[0], opts.Env, opts.KubernetesVersion, len(lines), sum)
			for _, line := range lines {
				if v.name == "plain" || !slices.Contains(plain[i], line) {
					fmt.Fprintf(&out, "    %s\n", line)
				}
			}
		}
	}
	golden.Compare(t, "testdata/variants.txt", out.String(), *update)
}

// changesOf are the changes of the first workload of an input's first case, in lines.
func changesOf(text string, opts scenario.Options) (lines []string, sum string) {
	objects, problems := manifest.Load([]manifest.File{{Name: "in.yaml", Data: []byte(text)}}, manifest.Options{})
	cases, more := scenario.Infer(objects, opts)
	if manifest.HasErrors(problems) || len(cases) == 0 || cases[0].Scenario == nil {
		return []string{fmt.Sprint("refused: ", problems, more)}, ""
	}
	s := cases[0].Scenario
	w := s.Workload("shop/web")
	title, why := Untried(s, w)
	lines = []string{"unevictable: " + Unevictable(s, w), "untried: " + title + ", " + why}
	add := func(kind string, changes []Change) {
		for i := range changes {
			c := &changes[i]
			line := fmt.Sprintf("%s %s: %s, costs %q, breaks %q, %q", kind, c.ID, c.Title, c.Cost, c.Destructive, c.Makeshift)
			for _, e := range c.Edits {
				line += "; " + strings.Join(strings.Fields(strings.Join(e.YAML(), " ")), " ")
			}
			lines = append(lines, line)
			sum = sumOf(sum + fmt.Sprint(c.Edits) + scenario.Normal(Apply(s, w.Name(), changes[i:i+1])))
		}
	}
	add("change", Changes(s, w, 3*engine.Second))
	add("unblock", Unblock(s, w))
	return lines, sum
}
