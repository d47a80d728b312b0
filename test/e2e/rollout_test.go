package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/test/e2e/client"
	"github.com/lameduck-proxy/lameduck/test/e2e/node"
)

// The nodes of these cases sync every few seconds at most, as those of large clusters do: what a
// bad manifest loses is then seconds of traffic, beside which it matters little how long this
// machine takes for anything.
const (
	slowLabel     = "slow"
	minSyncPeriod = 4 * time.Second
	perRequest    = 10 * time.Millisecond
	// below a second, after which TCP repeats what was lost
	requestLimit  = 900 * time.Millisecond
	mostRepeated  = 2 // requests of a good rollout, see TestAGoodRolloutLosesNothing
	checkInterval = time.Second
	checkLimit    = 500 * time.Millisecond
	unhealthy     = 2 // checks that fail in a row
)

// rollout is a workload and what becomes of its clients when its pods are replaced. Both the API
// server and the simulator get its manifest.
type rollout struct {
	policy, strategy string
	replicas         int
	pod              string        // of the pod's and the container's specification
	app              string        // the same, in the simulator's words
	balanced         bool          // clients are behind a load balancer that asks health-check node ports
	limit            time.Duration // of a request
	// perRevision spreads the new pods over the nodes, whatever nodes the old ones are on: without
	// it, all new ones may end up on one node, and policy Local leaves the other with none.
	perRevision bool
}

const (
	goodPod = `      containers:
      - name: app
        image: app
        env: [{name: ON_SIGTERM, value: 1s}]
        lifecycle: {preStop: {sleep: {seconds: 12}}}
        readinessProbe: {httpGet: {path: /ready, port: 8080}, periodSeconds: 1, failureThreshold: 1}
`
	badPod = `      containers:
      - name: app
        image: app
        env: [{name: ON_SIGTERM, value: exit}]
        readinessProbe: {httpGet: {path: /ready, port: 8080}, periodSeconds: 1, failureThreshold: 1}
`
	goodApp  = "listener: drains, drainFor: 1s, inFlight: finish"
	badApp   = "listener: closes, inFlight: cut"
	oneMore  = "{maxSurge: 1, maxUnavailable: 0}"
	oneLess  = "{maxSurge: 0, maxUnavailable: 1}"
	rolloutN = "rollout"
)

// TestAGoodRolloutLosesNothing replaces pods that wait before they stop, longer than news take. Other
// tests wait for it: what they load the machine with would fail requests of a second, too.
//
// No request is lost, and first packets are not sent again, but for one or two: a machine like this
// loses a packet once in some ten thousand requests, whatever the rules are. Rules that lead to a pod which
// is gone are told from that, as TCP does not mend them: the connection keeps its pod. Rules that lead
// nowhere for a moment lose more than two of a hundred requests a second.
func TestAGoodRolloutLosesNothing(t *testing.T) {
	for name, r := range map[string]rollout{
		"Cluster": {policy: "Cluster", strategy: oneMore, replicas: 3, pod: goodPod, app: goodApp, limit: client.Limit},
		"Local":   {policy: "Local", strategy: oneMore, replicas: 2, pod: goodPod, app: goodApp, limit: client.Limit, balanced: true, perRevision: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := useSlowNodes(t)
			if p := r.predict(t, c); p.most > 0 {
				t.Errorf("the simulator loses %.2f s to %.2f s of traffic with this manifest: %v", p.least, p.most, p.causes)
			}
			w := r.deploy(t, c)
			w.roll(t)
			failed, repeated := w.stop(t)
			if len(failed) > 0 || len(repeated) > mostRepeated {
				t.Errorf("%d requests failed, and of %d the first packet was sent again\n%s\n%s", len(failed), len(repeated),
					w.timeline(slices.Concat(failed, repeated)), w.halfOpen(t))
			}
		})
	}
}

// TestABadRolloutLosesWhatTheSimulatorPredicts replaces pods that stop at once. Nothing else may
// change meanwhile: a node holds back its news of all Services alike.
//
// If the simulator is right, the measurement is one more draw from the distribution that its runs
// are drawn from, and lies outside of the range of 400 of them twice in 401 times; the range is
// widened by a quarter on both sides for what the latencies given to it are only estimates of.
func TestABadRolloutLosesWhatTheSimulatorPredicts(t *testing.T) {
	for name, r := range map[string]rollout{
		"Cluster": {policy: "Cluster", strategy: oneMore, replicas: 3, pod: badPod, app: badApp, limit: requestLimit},
		"Local":   {policy: "Local", strategy: oneLess, replicas: 2, pod: badPod, app: badApp, limit: requestLimit, balanced: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := useSlowNodes(t)
			p := r.predict(t, c)
			w := r.deploy(t, c)
			w.quiet(t)
			w.roll(t)
			failed, _ := w.stop(t)
			lost := float64(len(failed)) * perRequest.Seconds()
			causes := w.causes(failed)
			t.Cleanup(func() {
				if t.Failed() {
					t.Log(w.timeline(failed))
				}
			})
			t.Logf("lost %.2f s of traffic, %v; the simulator says %.2f s to %.2f s, %v", lost, causes, p.least, p.most, p.causes)
			if low, high := p.least*3/4, p.most*5/4; lost < low || lost > high || low <= 0 {
				t.Errorf("lost %.2f s of traffic, want %.2f s to %.2f s", lost, low, high)
			}
			for cause, share := range p.causes { // order: each is looked at by itself
				if named := causes[cause]; share > 0.1 && named == 0 {
					t.Errorf("the simulator puts %.0f %% of the failures down to %s, and here none was: %v", share*100, cause, causes)
				}
			}
			if p.causes[staleRules] > 0.5 && causes[staleRules] < 0.4 {
				t.Errorf("%s is the cause of most failures to the simulator, and here of %.0f %%", staleRules, causes[staleRules]*100)
			}
		})
	}
}

var slowNodes sync.Once

// useSlowNodes adds one node of each mode to the cluster.
func useSlowNodes(t *testing.T) *cluster {
	t.Helper()
	c := useCluster(t)
	slowNodes.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		for i, mode := range modes() {
			o := node.Options{Mode: mode, Program: c.nodes[mode][0].proxy.Program, MinSyncPeriod: minSyncPeriod}
			if err := c.join(ctx, fmt.Sprintf("%s-%d", slowLabel, i+1), slowLabel, o); err != nil {
				t.Fatal(err)
			}
		}
	})
	return c
}

// manifest is the workload, as somebody would write it.
func (r rollout) manifest() string {
	keys := ""
	if r.perRevision {
		keys = "matchLabelKeys: [pod-template-hash], "
	}
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: rollout}
spec:
  replicas: %d
  strategy: {rollingUpdate: %s}
  selector: {matchLabels: {app: rollout}}
  template:
    metadata: {labels: {app: rollout}}
    spec:
      nodeSelector: {proxy-mode: slow}
      topologySpreadConstraints:
      - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, %slabelSelector: {matchLabels: {app: rollout}}}
      terminationGracePeriodSeconds: 30
%s---
apiVersion: v1
kind: Service
metadata: {name: rollout}
spec:
  type: LoadBalancer
  externalTrafficPolicy: %s
  selector: {app: rollout}
  ports: [{port: 80, targetPort: 8080}]
`, r.replicas, r.strategy, keys, r.pod, r.policy)
}

// scenario is what the world here is, to the simulator: delays between those of an idle machine
// and those of a busy one, and the load balancer that watchNodes is.
func (r rollout) scenario() string {
	traffic, balancer := "nodes: [slow-1, slow-2]", ""
	if r.balanced {
		traffic = "via: [lb]"
		balancer = fmt.Sprintf("  loadBalancer: {preset: gke-l4-local, members: all-nodes, interval: %s, timeout: %s, healthy: 1, unhealthy: %d, "+
			"registration: 0s, propagation: 0s, controller: 0s, hash: random, icmpFiltered: false, allUnhealthy: open}\n", checkInterval, checkLimit, unhealthy)
	}
	return fmt.Sprintf(`apiVersion: lameduck/v1alpha1
kind: Scenario
metadata: {name: rollout}
spec:
  nodes: {proxy: {mode: nftables, minSyncPeriod: %s}}
  latency:
    apiWrite: {uniform: [1ms, 30ms]}
    watch: {uniform: [1ms, 50ms]}
    controller: {uniform: [1ms, 50ms]}
    sliceController: {uniform: [1ms, 100ms]}
    statusWrite: {uniform: [1ms, 50ms]}
    proxySync: {uniform: [5ms, 200ms]}
    schedule: {uniform: [1ms, 100ms]}
    sandbox: {uniform: [20ms, 1s]}
    containerStart: {uniform: [50ms, 150ms]}
  apps: {rollout: {start: 1ms, serve: 1ms, %s}}
%s  traffic:
  - {name: clients, from: external, to: "rollout:80", %s, rate: 100/s, arrivals: constant, connection: per-request, timeout: %s}
  actions:
  - {at: 10s, rolloutRestart: deployment/rollout}
`, minSyncPeriod, r.app, balancer, traffic, requestLimit)
}

// prediction is what many runs of the simulator lose, in seconds of traffic, and the shares of
// the causes in all of it.
type prediction struct {
	least, most float64
	causes      map[string]float64
}

const runs = 400

// predict runs the manifest in the simulator, on the nodes that there are.
func (r rollout) predict(t *testing.T, c *cluster) prediction {
	t.Helper()
	objects, problems := manifest.Load([]manifest.File{
		{Name: "scenario.yaml", Data: []byte(r.scenario() + "---\n" + r.manifest() + c.nodeObjects(t))},
	}, manifest.Options{})
	scenarios, more := scenario.Parse(objects, scenario.Options{})
	for _, p := range append(problems, more...) {
		if p.Severity == manifest.Error {
			t.Fatal(p)
		}
	}
	out := prediction{least: math.Inf(1), causes: map[string]float64{}}
	all := 0.0
	for seed := range uint64(runs) {
		result, err := sim.Run(scenarios[0], seed+1)
		if err != nil {
			t.Fatal(err)
		}
		lost := float64(result.Streams[0].Failed) * perRequest.Seconds()
		out.least, out.most = min(out.least, lost), max(out.most, lost)
		for _, g := range result.Ledger.Groups() {
			out.causes[causeOf(g.Blame.Cause)] += float64(g.Count)
			all += float64(g.Count)
		}
	}
	for cause := range out.causes { // order: each is changed by itself
		out.causes[cause] /= all
	}
	return out
}

// The causes that can be told from outside: rules that lead to a pod which is gone, and a node that
// says it has nobody to whom the load balancer sends nevertheless.
const (
	staleRules = "stale-rules"
	staleLB    = "stale-lb"
)

// causeOf is a cause of the simulator as it is seen here. To the simulator, too, the pod was gone and
// the rules still led to it, whether their node could have known better (stale-rules) or was still
// to be told that there is nobody else (listener-closed).
func causeOf(c ledger.Cause) string {
	switch c {
	case ledger.StaleRules, ledger.ListenerClosed:
		return staleRules
	case ledger.StaleLB, ledger.NoLocalEndpoint:
		return staleLB
	default:
		return c.String()
	}
}

// nodeObjects are the slow nodes as the API server has them, but for what kubelets report.
func (c *cluster) nodeObjects(t *testing.T) string {
	t.Helper()
	out := ""
	for _, m := range c.nodes[slowLabel] {
		n, err := c.admin.CoreV1().Nodes().Get(t.Context(), m.Name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		n.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}
		n.ManagedFields = nil
		text, err := json.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		out += "---\n" + string(text) + "\n"
	}
	return out
}

// rolling is a rollout in the cluster.
type rolling struct {
	rollout
	c          *cluster
	namespace  string
	healthPort uint16
	ways       []way
	load       *client.Load
	still      *client.Load // see stillN
	balancer   *balancer
	old, fresh []corev1.Pod
	glimpses   [][]glimpse // of each node, in order
	watching   sync.WaitGroup
}

// deploy makes the objects of the manifest, and has clients use them.
func (r rollout) deploy(t *testing.T, c *cluster) *rolling {
	t.Helper()
	w := &rolling{rollout: r, c: c, namespace: c.namespace(t), balancer: &balancer{}}
	d, s := &appsv1.Deployment{}, &corev1.Service{}
	documents := yaml.NewYAMLOrJSONDecoder(strings.NewReader(r.manifest()), 4096)
	if err := errors.Join(documents.Decode(d), documents.Decode(s)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.admin.AppsV1().Deployments(w.namespace).Create(t.Context(), d, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s, err := c.admin.CoreV1().Services(w.namespace).Create(t.Context(), s, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: fmt.Sprintf("203.0.113.%d", balancers.Add(1))}}
	if s, err = c.admin.CoreV1().Services(w.namespace).UpdateStatus(t.Context(), s, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.rolledOut(t, w.namespace, rolloutN)
	w.old, w.healthPort = w.pods(t), uint16(s.Spec.HealthCheckNodePort) // a port
	to := netip.AddrPortFrom(netip.MustParseAddr(s.Status.LoadBalancer.Ingress[0].IP), servicePort)
	var targets []client.Target
	for i, m := range c.nodes[slowLabel] {
		x := way{"outside by way of " + m.Name, corev1.ProtocolTCP, client.Via(c.outside, m.Node), to}
		w.ways = append(w.ways, x)
		targets = append(targets, client.Target{Name: x.name, Dial: x.dial, To: to})
		if r.balanced {
			w.balancer.watch(t, c, m, i, w.healthPort)
		}
	}
	w.reachable(t, w.old)
	w.still = w.c.standStill(t)
	c.forgetUntaken(t)
	w.load = client.StartAtRate(t.Context(), perRequest, w.limit, w.balancer.next, targets...)
	return w
}

// pods are those of the workload that are not to go.
func (w *rolling) pods(t *testing.T) []corev1.Pod {
	t.Helper()
	list, err := w.c.admin.CoreV1().Pods(w.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var out []corev1.Pod
	for i := range list.Items {
		if list.Items[i].DeletionTimestamp == nil {
			out = append(out, list.Items[i])
		}
	}
	return out
}

// reachable waits until the rules of every node lead to these pods, and the load balancer knows it.
func (w *rolling) reachable(t *testing.T, pods []corev1.Pod) {
	t.Helper()
	for i, x := range w.ways {
		var names []string
		for _, p := range pods { // policy Local leads to the node's own
			if w.policy == "Cluster" || p.Spec.NodeName == w.c.nodes[slowLabel][i].Name {
				names = append(names, p.Name)
			}
		}
		until(t, "every way leads to each pod", func(ctx context.Context) error { return x.reaches(ctx, names) })
	}
	until(t, "all nodes are healthy", func(context.Context) error { return w.balancer.allHealthy() })
}

// quiet returns when no proxy has synced for so long that the next news is acted on at once, which
// is where the simulator's runs begin.
func (w *rolling) quiet(t *testing.T) {
	t.Helper()
	for _, m := range w.c.nodes[slowLabel] {
		until(t, m.Name+" is idle", func(ctx context.Context) error {
			text, err := m.proxy.Metrics(ctx)
			last := 0.0
			for name, value := range samples(text) { // order: the largest
				if strings.HasPrefix(name, "kubeproxy_sync_proxy_rules_last_timestamp_seconds") {
					last = max(last, value)
				}
			}
			if since := float64(time.Now().UnixMilli())/1000 - last; err == nil && (last == 0 || since < 1.1*minSyncPeriod.Seconds()) {
				err = fmt.Errorf("it synced %.1f s ago", since)
			}
			return err
		})
	}
}

// roll replaces the pods, and returns when all is as it was before, with others.
func (w *rolling) roll(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer w.watching.Wait()
	defer cancel()
	w.glimpses = make([][]glimpse, len(w.c.nodes[slowLabel]))
	for i, m := range w.c.nodes[slowLabel] {
		w.watching.Go(func() { w.glimpses[i] = w.look(ctx, m) })
	}
	patch := []byte(`{"spec":{"template":{"metadata":{"annotations":{"rolled":"once"}}}}}`)
	if _, err := w.c.admin.AppsV1().Deployments(w.namespace).Patch(ctx, rolloutN, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	w.c.rolledOut(t, w.namespace, rolloutN)
	until(t, "the old pods are gone", func(context.Context) error {
		for _, p := range w.old {
			if !w.gone(p) {
				return errors.New(p.Name + " is not")
			}
		}
		return nil
	})
	w.fresh = w.pods(t)
	w.reachable(t, w.fresh)
	until(t, "a second's requests were made", moreThan(w.load, w.load.Count()+int(time.Second/perRequest)))
}

// glimpse is what the rules of a node were like at a time.
type glimpse struct {
	at time.Time
	// stale: they name a pod that is gone. declined: the node's health-check node port said that
	// it has no endpoint.
	stale, declined bool
}

// look takes glimpses of a node until the context ends.
func (w *rolling) look(ctx context.Context, m *member) []glimpse {
	var out []glimpse
	for ctx.Err() == nil {
		g := glimpse{at: time.Now()}
		rules, err := m.rules(ctx)
		if err != nil {
			continue // the context has ended, or the rules are just being replaced
		}
		if w.balanced {
			code, _, err := m.proxy.Get(ctx, fmt.Sprintf("http://%s/", netip.AddrPortFrom(m.Addrs[0], w.healthPort)))
			g.declined = err == nil && code == http.StatusServiceUnavailable
		}
		for _, p := range w.old {
			g.stale = g.stale || rules[p.Status.PodIP] && w.gone(p)
		}
		out = append(out, g)
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
	return out
}

// gone says whether nobody is behind a pod's address any more.
func (w *rolling) gone(p corev1.Pod) bool {
	for _, m := range w.c.nodes[slowLabel] {
		if m.Name == p.Spec.NodeName {
			return m.kubelet.Place(w.namespace, p.Name) == nil
		}
	}
	return false
}

// causes are the shares of causes in all failures, by the last glimpse before each.
func (w *rolling) causes(failed []client.Record) map[string]float64 {
	out := map[string]float64{}
	for _, f := range failed {
		cause := "another"
		for _, g := range w.glimpses[f.Target] {
			if g.at.After(f.At.Add(100 * time.Millisecond)) {
				break
			}
			switch {
			case g.declined: // the balancer's lateness comes first to the simulator, too
				cause = staleLB
			case g.stale:
				cause = staleRules
			default:
				cause = "another"
			}
		}
		out[cause] += 1 / float64(len(failed))
	}
	return out
}

// balancer is a load balancer that asks the nodes' health-check node ports, as clouds' do. Without
// any node to watch it sends to both.
type balancer struct {
	mu     sync.Mutex
	failed map[int]int // in a row, of each node
}

// watch asks a node again and again, until the test ends.
func (b *balancer) watch(t *testing.T, c *cluster, m *member, i int, port uint16) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failed == nil {
		b.failed = map[int]int{}
	}
	b.failed[i] = unhealthy // until it has answered
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	t.Cleanup(group.Wait)
	t.Cleanup(stop)
	group.Go(func() {
		tick := time.NewTicker(checkInterval)
		defer tick.Stop()
		for ctx.Err() == nil {
			b.check(ctx, c, netip.AddrPortFrom(m.Addrs[0], port), i)
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
	})
}

func (b *balancer) check(ctx context.Context, c *cluster, at netip.AddrPort, i int) {
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	code, _, err := node.Get(ctx, c.outside.Place, fmt.Sprintf("http://%s/", at))
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failed[i]++; err == nil && code == http.StatusOK {
		b.failed[i] = 0
	}
}

// next draws one of the healthy nodes, or of all if none is (fail open).
func (b *balancer) next() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	var healthy []int
	for i := range len(modes()) {
		if b.failed[i] < unhealthy {
			healthy = append(healthy, i)
		}
	}
	if len(healthy) == 0 {
		return rand.IntN(len(modes())) // no secret
	}
	return healthy[rand.IntN(len(healthy))] // no secret
}

func (b *balancer) allHealthy() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, n := range b.failed { // order: any of them will do
		if n > 0 {
			return fmt.Errorf("node %d has failed %d checks", i, n)
		}
	}
	return nil
}

// timeline is when requests failed, and what was seen of the nodes.
func (w *rolling) timeline(failed []client.Record) string {
	var b strings.Builder
	for i, glimpses := range w.glimpses {
		last := ""
		for _, g := range glimpses {
			if now := fmt.Sprintf("stale %v declined %v", g.stale, g.declined); now != last {
				fmt.Fprintf(&b, "%s node %d %s\n", g.at.Format("05.000"), i, now)
				last = now
			}
		}
	}
	for _, f := range failed {
		fmt.Fprintf(&b, "%s/%d ", f.At.Format("05.000"), f.Target)
	}
	return b.String()
}
