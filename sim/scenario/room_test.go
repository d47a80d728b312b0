package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// A Scenario with three pods on the default cluster of three nodes: as many as pods is what it
// has, and twice and three times as many are tried.
func TestTheNumberOfMadeUpNodesIsVaried(t *testing.T) {
	t.Parallel()
	const web = altWeb // two pods, policy Cluster
	for _, tt := range []struct {
		what, scenario, want string
	}{
		{"by default there are three", "", "2, one per pod; 4, two per pod; 6, three per pod"},
		{"a number that is given is not varied", "nodes: {count: 4}", ""},
		{"a node that something is done to stays", "actions: [{at: 10s, crashNode: node-3}]", "4, two per pod; 6, three per pod"},
		{"a kubelet that is paused stays", "actions: [{at: 10s, for: 5s, component: {name: kubelet/node-3, pause: true}}]", "4, two per pod; 6, three per pod"},
		{"a node where clients run stays", "traffic: [{from: pods, to: shop/web:80, nodes: [node-3]}]", "4, two per pod; 6, three per pod"},
		{"a node that is slower than others stays", "nodes: {overrides: [{node: node-3, latency: {watch: 8s}}]}", "4, two per pod; 6, three per pod"},
	} {
		text := "apiVersion: lameduck/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec:\n  " + tt.scenario + "\n"
		objects, _ := manifest.Load([]manifest.File{{Name: "s.yaml", Data: []byte(text)}, {Name: "web.yaml", Data: []byte(web)}}, manifest.Options{})
		scenarios, problems := parseKept(t, objects, Options{})
		if len(scenarios) != 1 {
			t.Fatalf("%s: %v", tt.what, problems)
		}
		before := Normal(scenarios[0])
		var got []string
		for _, a := range Alternatives(scenarios[0]) {
			if a.ID != "nodes" {
				continue
			}
			got = append(got, a.Value)
			names := world.NodeNames(a.Scenario.Nodes)
			for i := range a.Scenario.Traffic {
				for _, n := range a.Scenario.Traffic[i].Nodes {
					if !nearestExact(n, names) {
						t.Errorf("%s: clients on %s, of %v", tt.what, n, names)
					}
				}
			}
			if zone := a.Scenario.Nodes[1].Zone; zone != "b" {
				t.Errorf("%s: node-2 is in zone %q", tt.what, zone)
			}
		}
		if strings.Join(got, "; ") != tt.want {
			t.Errorf("%s: %q, want %q", tt.what, strings.Join(got, "; "), tt.want)
		}
		if Normal(scenarios[0]) != before {
			t.Errorf("%s: the Scenario itself was changed", tt.what)
		}
	}
}

// keptApart is a Deployment whose pods may not share a node, by a host port "80/TCP" or by anti-affinity to
// the pods of an app.
func keptApart(name, app string, replicas int, port, repels string) string {
	ports, affinity := "", ""
	if port != "" {
		number, protocol, _ := strings.Cut(port, "/")
		ports = ", ports: [{containerPort: 8080, hostPort: " + number + ", protocol: " + protocol + "}]"
	}
	if repels != "" {
		affinity = "      affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: " + repels + "}}}]}}\n"
	}
	return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + name + "}\nspec:\n  replicas: " + strconv.Itoa(replicas) +
		"\n  selector: {matchLabels: {app: " + app + ", of: " + name + "}}\n  template:\n    metadata: {labels: {app: " + app + ", of: " + name + "}}\n    spec:\n" + affinity +
		"      containers: [{name: app, image: example.com/web" + ports + "}]\n---\n"
}

// A node has room for one pod of all the workloads that exclude each other: there are as many nodes as they
// have pods together, and those that a rollout adds.
func TestWorkloadsThatExcludeEachOtherHaveANodeForEachOfTheirPods(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ what, manifests, want string }{
		{"one host port", keptApart("web", "web", 4, "80/TCP", "") + keptApart("canary", "web", 2, "80/TCP", ""),
			"7: the host port 80 of canary keeps its pods apart, 2, 4 of web and 1 more during a rollout"},
		{"two host ports", keptApart("web", "web", 4, "80/TCP", "") + keptApart("canary", "web", 2, "81/TCP", ""),
			"5: the host port 80 of web keeps its pods apart, 4 and 1 more during a rollout"},
		{"two protocols", keptApart("web", "web", 4, "80/TCP", "") + keptApart("canary", "web", 2, "80/UDP", ""),
			"5: the host port 80 of web keeps its pods apart, 4 and 1 more during a rollout"},
		{"no pods of the other", keptApart("web", "web", 4, "80/TCP", "") + keptApart("canary", "web", 0, "80/TCP", ""),
			"5: the host port 80 of web keeps its pods apart, 4 and 1 more during a rollout"},
		{"anti-affinity of both to all pods of the app", keptApart("web", "web", 4, "", "web") + keptApart("canary", "web", 2, "", "web"),
			"7: the anti-affinity of canary keeps its pods apart, 2, 4 of web and 1 more during a rollout"},
		{"anti-affinity, each to its own", keptApart("web", "web", 4, "", "web") + keptApart("db", "db", 3, "", "db"),
			"5: the anti-affinity of web keeps its pods apart, 4 and 1 more during a rollout"},
	} {
		text := tt.manifests + "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}\n"
		objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
		cases, problems := inferKept(t, objects, Options{Actions: []string{"rollout"}})
		if manifest.HasErrors(problems) || len(cases) == 0 {
			t.Fatalf("%s: %v", tt.what, problems)
		}
		for _, c := range cases {
			if c.Scenario == nil {
				continue
			}
			if got := assumedValue(c.Scenario, "nodes"); got != tt.want {
				t.Errorf("%s: %s: %q, want %q", tt.what, c.ID, got, tt.want)
			}
		}
	}
}

// spreadEvenly is a Deployment with a required topology spread constraint over nodes.
func spreadEvenly(replicas int, more string) string {
	return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: " + strconv.Itoa(replicas) +
		"\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec:\n" +
		"      topologySpreadConstraints: [{maxSkew: 2, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}" + more + "}]\n" +
		"      containers: [{name: app, image: example.com/web}]\n---\n"
}

// spreadOverZones is one with a required constraint over zones.
func spreadOverZones(replicas int) string {
	return strings.Replace(spreadEvenly(replicas, ""), "kubernetes.io/hostname", "topology.kubernetes.io/zone", 1)
}

// Pods that need each zone have two nodes in each, so that one can be drained: its zone stays a domain, and others take no more than maxSkew pods.
func TestAZoneThatPodsNeedHasTwoNodes(t *testing.T) {
	t.Parallel()
	two := func(zones int) string {
		return fmt.Sprintf("%d: the topology spread of web needs a node in each zone while one is drained, two in each of %d zones", 2*zones, zones)
	}
	for _, tt := range []struct{ what, manifests, zones, want string }{
		{"more pods than two zones take", spreadOverZones(5), "", two(3)},
		{"as many as two zones take", spreadOverZones(4), "", "3"},
		{"two zones", spreadOverZones(3), "[a, b]", two(2)},
		{"if possible", strings.Replace(spreadOverZones(5), "DoNotSchedule", "ScheduleAnyway", 1), "", "3"},
		{"taints honored", strings.Replace(spreadOverZones(5), "DoNotSchedule", "DoNotSchedule, nodeTaintsPolicy: Honor", 1), "", "3"},
	} {
		text := tt.manifests + "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}\n"
		objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
		opts := Options{Actions: []string{"drain"}}
		if tt.zones != "" {
			opts.Set = []string{"nodes.zones=" + tt.zones}
		}
		cases, problems := inferKept(t, objects, opts)
		if manifest.HasErrors(problems) || len(cases) != 1 || cases[0].Scenario == nil {
			t.Fatalf("%s: %v, %d cases", tt.what, problems, len(cases))
		}
		if got := assumedValue(cases[0].Scenario, "nodes"); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.what, got, tt.want)
		}
	}
}

// There are nodes enough for the pods of one that is drained, which stays a domain of topology spread constraints; and it is said with
// how many there would not be.
func TestThereIsRoomForWhatIsDrained(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ what, manifests, nodes, room string }{
		{"spread evenly", spreadEvenly(7, ""), "5: the topology spread of web has at most 2 pods a node while one is drained, 4 nodes and 1 more",
			"with exactly 4 nodes the pods that are drained would find no other node: the topology spread constraint keeps them off"},
		{"few enough for three nodes", spreadEvenly(3, ""), "3", "with exactly 2 nodes the pods that are drained would find no other node: the topology spread constraint keeps them off"},
		{"taints honored", spreadEvenly(7, ", nodeTaintsPolicy: Honor"), "3", ""},
		{"spread if possible", strings.Replace(spreadEvenly(7, ""), "DoNotSchedule", "ScheduleAnyway", 1), "3", ""},
		{"of other pods", strings.Replace(spreadEvenly(7, ""), "matchLabels: {app: web}}}]", "matchLabels: {app: other}}}]", 1), "3", ""},
		{"anti-affinity", keptApart("web", "web", 4, "", "web"), "5: the anti-affinity of web keeps its pods apart, 4 and 1 more during a rollout",
			"with exactly 4 nodes the pods that are drained would find no other node: the anti-affinity keeps them off"},
		{"nothing", keptApart("web", "web", 4, "", ""), "3", ""},
	} {
		text := tt.manifests + "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}\n"
		objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
		cases, problems := inferKept(t, objects, Options{Actions: []string{"drain"}})
		if manifest.HasErrors(problems) || len(cases) != 1 || cases[0].Scenario == nil {
			t.Fatalf("%s: %v, %d cases", tt.what, problems, len(cases))
		}
		s, room := cases[0].Scenario, ""
		for _, n := range s.NotModelled {
			if n.ID == "room" {
				room = n.What
			}
		}
		if got := assumedValue(s, "nodes"); got != tt.nodes || room != tt.room {
			t.Errorf("%s:\n got %q, %q\nwant %q, %q", tt.what, got, room, tt.nodes, tt.room)
		}
	}
}

// One node more is another world only where nodes are made up, and where no other number comes to the same.
func TestOneNodeMore(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		what, scenario string
		replicas       int
		want           string
	}{
		{"three nodes, five pods", "", 5, "4, one more"}, {"three nodes, three pods", "", 3, "4, one more"},
		{"twice as many as pods", "", 2, ""}, {"as many as pods", "", 4, ""},
		{"a number that is given", "nodes: {count: 4}", 7, ""},
	} {
		text := "apiVersion: lameduck/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec:\n  " + tt.scenario + "\n"
		web := strings.Replace(altWeb, "replicas: 2", "replicas: "+strconv.Itoa(tt.replicas), 1)
		objects, _ := manifest.Load([]manifest.File{{Name: "s.yaml", Data: []byte(text)}, {Name: "web.yaml", Data: []byte(web)}}, manifest.Options{})
		scenarios, problems := parseKept(t, objects, Options{})
		if len(scenarios) != 1 || scenarios[0].Pods() != tt.replicas {
			t.Fatalf("%s: %v", tt.what, problems)
		}
		nodes := len(scenarios[0].Nodes)
		got := ""
		for _, a := range OneNodeMore(scenarios[0]) {
			if got += a.Value; a.ID != "nodes" || len(a.Scenario.Nodes) != nodes+1 || len(scenarios[0].Nodes) != nodes {
				t.Errorf("%s: %s has %d nodes of %d", tt.what, a.ID, len(a.Scenario.Nodes), nodes)
			}
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.what, got, tt.want)
		}
	}
}

// Where nodes join before others are emptied, it is not said with how many there would be no room for what leaves: there is one more.
func TestNodesThatJoinAreRoom(t *testing.T) {
	t.Parallel()
	text := spreadEvenly(3, "") + "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}\n"
	objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
	for action, want := range map[string]bool{"drain": true, "pool-upgrade": false} {
		cases, problems := inferKept(t, objects, Options{Actions: []string{action}, Env: "aks"})
		if manifest.HasErrors(problems) || len(cases) != 1 || cases[0].Scenario == nil {
			t.Fatalf("%s: %v, %d cases", action, problems, len(cases))
		}
		if said := slices.ContainsFunc(cases[0].Scenario.NotModelled, func(n world.NotModelled) bool { return n.ID == "room" }); said != want {
			t.Errorf("%s: said %v, want %v", action, said, want)
		}
	}
}

// With policy Local Azure asks the health-check node port whatever an annotation says of its probes: nothing is left out.
func TestAzureAsksTheHealthPortWithPolicyLocal(t *testing.T) {
	t.Parallel()
	for policy, want := range map[string]bool{"Local": false, "Cluster": true} {
		text := spreadEvenly(3, "") + "apiVersion: v1\nkind: Service\nmetadata: {name: web, annotations: {service.beta.kubernetes.io/azure-load-balancer-health-probe-request-path: /healthz}}\n" +
			"spec: {type: LoadBalancer, externalTrafficPolicy: " + policy + ", selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}\n"
		objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(text)}}, manifest.Options{})
		cases, problems := inferKept(t, objects, Options{Actions: []string{"rollout"}})
		if manifest.HasErrors(problems) || len(cases) != 1 || cases[0].Scenario == nil {
			t.Fatalf("%s: %v, %d cases", policy, problems, len(cases))
		}
		if said := slices.ContainsFunc(cases[0].Scenario.NotModelled, func(n world.NotModelled) bool { return n.ID == "load-balancer-probe" }); said != want {
			t.Errorf("%s: said %v, want %v", policy, said, want)
		}
	}
}
