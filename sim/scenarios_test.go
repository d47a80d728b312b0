package sim_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/story"
	"github.com/lameduck-proxy/lameduck/sim/sweep"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

const stories = "../examples/scenarios/"

// otherwise says for each story which one value makes another story of it: then what it expects
// must not come true. The story itself says so in its comment, under "Try".
func otherwise() map[string]string {
	return map[string]string{
		"all-terminating-readiness":           "actions[3].for=5s",
		"all-terminating-still-served":        "kubernetes.version=1.25",
		"all-unhealthy-fail-closed":           "loadBalancer.allUnhealthy=open",
		"all-unhealthy-fail-open":             "loadBalancer.allUnhealthy=closed",
		"autoscaler-before-kep-3836":          "kubernetes.featureGates.KubeProxyDrainingTerminatingNodes=true",
		"autoscaler-scales-down":              "kubernetes.version=1.29",
		"autoscaler-stopped-by-a-budget":      "apps.web.start=60s",
		"karpenter-default-budget":            "apps.web.ignoresSIGTERM=true",
		"karpenter-two-nodes":                 "apps.web.ignoresSIGTERM=true",
		"karpenter-with-a-pdb":                "actions[0].karpenter.terminationGracePeriod=31s",
		"pool-upgrade":                        "apps.web.ignoresSIGTERM=true",
		"pool-upgrade-grace-too-long":         "actions[0].upgradePool.force=true",
		"scale-down-doubled-up":               "actions[0].scale.replicas=9",
		"apiserver-outage":                    "actions[1].for=30s",
		"cluster-policy-before-kep-3836":      "kubernetes.featureGates.KubeProxyDrainingTerminatingNodes=true",
		"cluster-policy-node-crashed":         "loadBalancer.interval=1s",
		"cluster-policy-node-scaled-down":     "kubernetes.version=1.27",
		"gke-local-no-prestop":                "apps.web.ignoresSIGTERM=true",
		"gke-local-sleep-10":                  "prestop.web=2s",
		"metallb-bgp":                         "loadBalancer.announce=l2",
		"metallb-l2":                          "prestop.web=0s",
		"lb-controller-paused":                "actions[0].for=60s",
		"nlb-ip-no-readiness-gate":            "loadBalancer.gateInjection=always",
		"nlb-ip-readiness-gate":               "loadBalancer.gateInjection=never",
		"nlb-ip-prestop-130":                  "prestop.web=40s",
		"nlb-ip-prestop-40":                   "prestop.web=130s",
		"grace-too-short":                     "apps.web.serve=1s",
		"grpc-back-off":                       "apps.web.ignoresSIGTERM=true",
		"grpc-exit":                           "apps.web.inFlight=finish",
		"grpc-goaway":                         "apps.web.goAway=false",
		"headless-stale-dns":                  "prestop.web=40s",
		"internal-traffic-policy-local":       "traffic[0].nodes=[node-2]",
		"envoy-gateway-rollout":               "loadBalancer.interval=1s",
		"field-aws-1064":                      "prestop.web=25s",
		"field-aws-2106":                      "prestop.web=0s",
		"field-aws-2366":                      "prestop.web=130s",
		"field-ingress-gce-769":               "loadBalancer.retries=0",
		"field-ingress-nginx-12157":           "loadBalancer.preset=aws-nlb-instance",
		"field-quay-6871":                     "prestop.envoy=45s",
		"field-agic-75":                       "prestop.web=60s",
		"field-aws-1124":                      "loadBalancer.gateInjection=always",
		"field-deis-1254":                     "prestop.web=5s",
		"daemonset-ingress":                   "prestop.envoy=2s",
		"daemonset-ingress-surge":             "prestop.envoy=0s",
		"daemonset-on-delete":                 "actions[2].at=60s",
		"drain":                               "apps.web.ignoresSIGTERM=true",
		"node-crash":                          "actions[0].for=20s",
		"node-crash-local":                    "loadBalancer.interval=20s",
		"node-crash-cluster":                  "actions[0].for=10s",
		"node-comes-back":                     "actions[0].for=10m",
		"node-shutdown":                       "nodes.kubelet.shutdownGracePeriod=60s",
		"node-shutdown-kubelet":               "nodes.kubelet.shutdownGracePeriod=10s",
		"spot-notice-too-short":               "prestop.web=5s",
		"spot-notice-drained":                 "actions[0].spotNotice.handler=none",
		"node-deleted":                        "actions[0].deleteNode.machine=true",
		"node-joins":                          "nodes.count=2",
		"kubelet-restarted":                   "actions[1].component.name=kube-proxy/node-1",
		"drain-against-anti-affinity":         "nodes.count=5",
		"drain-against-topology-spread":       "nodes.count=4",
		"drain-blocked-by-a-budget":           "actions[0].drain.disableEviction=true",
		"drain-budget-loosened":               "actions[1].setBudget.maxUnavailable=0",
		"drain-single-replica":                "apps.single.ignoresSIGTERM=true",
		"drain-single-replica-prestop-15":     "start=20s",
		"drain-three-nodes":                   "actions[0].drain.nodes=[node-1]",
		"drain-with-a-budget":                 "actions[0].drain.disableEviction=true",
		"field-dingyu":                        "prestop.web=40s",
		"field-edge-endpoint-374":             "prestop.web=10s",
		"field-govuk-2202":                    "prestop.web=60s",
		"field-ingress-gce-1389":              "loadBalancer.readinessGate=none",
		"field-ingress-gce-1718":              "loadBalancer.readinessGate=cloud.google.com/load-balancer-neg-ready",
		"field-ingress-gce-2222":              "loadBalancer.drain=60s",
		"field-ingress-nginx-322":             "prestop.web=10s",
		"field-ingress-nginx-7097":            "ingress.retries=2",
		"field-jac-7895":                      "loadBalancer.gateInjection=always",
		"field-kubernetes-123116":             "prestop.web=0s",
		"field-kubernetes-43576":              "prestop.web=0s",
		"field-kubernetes-66800":              "ingress.retries=0",
		"field-kubernetes-73362":              "loadBalancer.interval=10s",
		"field-open-vsx-12422":                "prestop.web=45s",
		"field-samson-2269":                   "prestop.web=0s",
		"field-wikimedia-httpbb":              "prestop.web=10s",
		"pod-created":                         "start=0s",
		"pod-relabelled":                      "actions[0].relabelPod.labels.app=web",
		"daemonset-pod-relabelled":            "actions[0].relabelPod.remove[0]=tier",
		"statefulset-pod-relabelled":          "actions[0].relabelPod.remove[0]=tier",
		"service-recreated":                   "actions[0].deleteService=service/other",
		"service-target-port":                 "actions[0].setPort.targetPort=8080",
		"service-selector-switched":           "actions[1].at=40s",
		"gpu-pool":                            "actions[0].rolloutRestart=deployment/front",
		"gke-local-drain-ends":                "loadBalancer.drain=never",
		"gke-local-sessions-cut":              "loadBalancer.drain=never",
		"ingress-controller-app-no-retries":   "ingress.retries=2",
		"ingress-controller-app-rollout":      "ingress.retries=0",
		"ingress-controller-rollout":          "loadBalancer.preset=aws-nlb-instance",
		"ingress-controller-rollout-sleep-10": "prestop.controller=1s",
		"ingress-nginx-as-shipped":            "apps.ingress-nginx-controller.start=40s",
		"ingress-nginx-grace-60":              "loadBalancer.preset=gke-l4",
		"ingress-nginx-grace-60-gke":          "loadBalancer.preset=aws-nlb-instance",
		"ingress-nginx-grace-60-one-replica":  "start=2s",
		"ingress-nginx-sleep-10":              "prestop.controller=2s",
		"ingress-nginx-stays-ready":           "prestop.controller=10s",
		"ingress-nginx-stays-ready-in-vain":   "prestop.controller=10s",
		"nlb-ip-no-prestop":                   "loadBalancer.propagation=0s",
		"ingress-nginx-no-retries":            "loadBalancer.retries=2",
		"ingress-nginx-retries":               "loadBalancer.retries=0",
		"keep-alive-resets":                   "traffic[0].repeatReused=true",
		"keep-alive-resets-repeated":          "traffic[0].repeatReused=false",
		"last-local-endpoint":                 "kubernetes.featureGates.ProxyTerminatingEndpoints=false",
		"last-local-endpoint-before-kep-1669": "kubernetes.featureGates.ProxyTerminatingEndpoints=true",
		"liveness-follows-a-dependency":       "apps.web.livenessFollows=false",
		"max-unavailable-of-one":              "apps.web.ignoresSIGTERM=true",
		"min-ready-outlasts-the-hold":         "nodes.proxy.minSyncPeriod=10s",
		"min-sync-period-hold":                "nodes.proxy.minSyncPeriod=1s",
		"new-revision-answers-500":            "apps.web.revisions.new.errors=0",
		"no-prestop":                          "apps.web.ignoresSIGTERM=true",
		"no-readiness-probe":                  "start=0s",
		"prestop-15s":                         "prestop.web=0s",
		"prestop-without-a-shell":             "prestop.web=15s",
		"publish-not-ready":                   "start=0s",
		"ready-then-crash":                    "apps.web.revisions.new.crashAfter=1h",
		"ready-then-crash-min-ready-30":       "apps.web.revisions.new.crashAfter=1h",
		"statefulset-drain":                   "actions[0].drain.disableEviction=true",
		"statefulset-forced-rollback":         "actions[2].delete.pod=1",
		"statefulset-roll":                    "prestop.store=0s",
		"statefulset-stuck":                   "apps.store.revisions.new.start=2s",
		"surge-without-room":                  "nodes.allocatable.cpu=4",
		"sessions-cut":                        "traffic[0].retries.count=1",
		"slow-start-killed-by-liveness":       "apps.web.revisions.new.start=2s",
		"slow-start-with-startup-probe":       "prestop.web=0s",
		"udp-pinned-flow":                     "traffic[0].sourcePorts=ephemeral",
		"zone-hints":                          "apps.web.ignoresSIGTERM=true",
		"zone-hints-prestop":                  "prestop.web=0s",
	}
}

// readScenario parses a scenario file with the manifests it names. What it is warned of has to be in
// the comment at its head, as far as the warning's first colon.
func readScenario(t *testing.T, path string, set ...string) *world.Scenario {
	t.Helper()
	read := func(path string) manifest.File {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return manifest.File{Name: path, Data: data}
	}
	file := read(path)
	objects, problems := manifest.Load([]manifest.File{file}, manifest.Options{})
	opts := scenario.Options{Files: map[string]scenario.Content{}, Set: set}
	for _, s := range objects.Scenarios {
		for _, ref := range scenario.References(s, opts) {
			opts.Files[ref.Path] = scenario.Content{Files: []manifest.File{read(ref.Path)}}
		}
	}
	list, more := scenario.Parse(objects, opts)
	for _, p := range append(problems, more...) {
		about, _, _ := strings.Cut(p.Message, ":")
		if p.Severity == manifest.Error || len(set) == 0 && !strings.Contains(comment(file.Data), about) {
			t.Error(p)
		}
	}
	if len(list) != 1 {
		t.Fatalf("%s: %d scenarios", path, len(list))
	}
	return list[0]
}

// comment is what a file says before it begins, on one line.
func comment(data []byte) string {
	var words []string
	for line := range strings.Lines(string(data)) {
		text, ok := strings.CutPrefix(line, "#")
		if !ok {
			break
		}
		words = append(words, strings.TrimSpace(text))
	}
	return strings.Join(words, " ")
}

// judge runs a scenario over five seeds.
func judge(t *testing.T, sc *world.Scenario) *record.Case {
	t.Helper()
	return judgeOn(t, sc, 5)
}

func judgeOn(t *testing.T, sc *world.Scenario, runs int) *record.Case {
	t.Helper()
	result, err := sweep.Run(context.Background(), sweep.Scenarios([]*world.Scenario{sc}), sweep.Options{Runs: runs, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	return &result.Cases[0]
}

// asMany is how many runs a story has that somebody plays.
func asMany() int {
	if testing.Short() {
		return 5
	}
	return 20
}

// Every story of examples/scenarios comes out as it says, and would not if one thing in it
// were different.
func TestExampleScenariosTellTheirStory(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(stories + "*.yaml")
	if err != nil || len(files) < 23 {
		t.Fatalf("%d scenarios: %v", len(files), err)
	}
	known := otherwise()
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		set := known[name]
		delete(known, name)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc := readScenario(t, file)
			if sc.Expect == nil || sc.Name != name {
				t.Fatalf("it is named %s, and expects %v", sc.Name, sc.Expect)
			}
			if c := judgeOn(t, sc, asMany()); c.Unmet != nil {
				t.Errorf("%q", c.Unmet)
			}
			if set == "" {
				t.Fatal("nothing is known that would make another story of it")
			}
			if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "--set "+set) {
				t.Errorf("its comment does not say to try --set %s", set)
			}
			c := judge(t, readScenario(t, file, set))
			if c.Unmet == nil {
				t.Errorf("with %s it is still as expected", set)
			}
			t.Logf("with %s: %s, %q", set, c.Verdict, c.Unmet)
		})
	}
	for name := range known { // order: each for itself
		t.Errorf("there is no story %s", name)
	}
}

// storyOf are the lines that tell of a cause of a story of examples/scenarios.
func storyOf(t *testing.T, name string, cause ledger.Cause) []story.Line {
	t.Helper()
	c := judge(t, readScenario(t, stories+name+".yaml"))
	for i := range c.Causes {
		r := &c.Causes[i].Example.Request
		if c.Causes[i].Cause == cause && (cause != ledger.NoHealthyTarget || r.Node < 0 && r.Pod == "") {
			return c.Causes[i].Story
		}
	}
	t.Fatalf("%s loses nothing to %s", name, cause)
	return nil
}

// Two containers of a pod have a hook each: a story says where each stands.
func TestAHookStandsInItsContainer(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(stories + "envoy-gateway-rollout.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var stand, told []int
	for i, line := range strings.Split(string(text), "\n") {
		if strings.HasSuffix(line, "preStop:") {
			stand = append(stand, i+1)
		}
	}
	for _, l := range storyOf(t, "envoy-gateway-rollout", ledger.NoLocalEndpoint) {
		if strings.HasPrefix(l.Words(), "preStop of old pod") {
			told = append(told, l.Line)
		}
	}
	if len(stand) != 2 || !slices.Equal(told, stand) {
		t.Errorf("hooks in lines %d, told of lines %d", stand, told)
	}
}

// A load balancer that has nobody left has left somebody before.
func TestAStoryOfNoTargetTellsWhomTheLoadBalancerLeft(t *testing.T) {
	t.Parallel()
	lines := storyOf(t, "ingress-nginx-as-shipped", ledger.NoHealthyTarget)
	left := slices.IndexFunc(lines, func(l story.Line) bool {
		return strings.HasPrefix(l.Words(), "load balancer sends nothing new to node-")
	})
	own := slices.IndexFunc(lines, func(l story.Line) bool { return l.Lost != nil })
	if left < 0 || left > own {
		t.Errorf("%+v", lines)
	}
}

// examples/README.md lists every story once, with a sentence.
func TestExamplesAreListed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../examples/README.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^\| \[[a-z0-9-]+\]\((\S+)\) \| \S.{20,} \|$`).FindAllStringSubmatch(string(text), -1) {
		listed[m[1]]++
	}
	files, err := filepath.Glob("../examples/*.yaml")
	more, err2 := filepath.Glob(stories + "*.yaml")
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	for _, file := range append(files, more...) {
		name := strings.TrimPrefix(filepath.ToSlash(file), "../examples/")
		if listed[name] != 1 {
			t.Errorf("%s is listed %d times", name, listed[name])
		}
		delete(listed, name)
	}
	for name := range listed { // order: each for itself
		t.Errorf("%s is listed, and is not there", name)
	}
}
