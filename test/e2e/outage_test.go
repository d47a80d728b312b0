package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/test/e2e/client"
	"github.com/lameduck-proxy/lameduck/test/e2e/network"
	"github.com/lameduck-proxy/lameduck/test/e2e/node"
)

// TestAProxyIsKilledAndStartedAgain has the rules of a node without the proxy that made them: they
// stay, and what has changed in between comes in force with the next one.
func TestAProxyIsKilledAndStartedAgain(t *testing.T) {
	for _, mode := range modes() {
		t.Run(mode, func(t *testing.T) {
			c := useCluster(t)
			namespace, nodes := c.namespace(t), c.nodes[mode]
			c.deploy(t, namespace, workload, 2, template(workload, spread(mode, workload)))
			s := c.service(t, namespace, workload, corev1.ServiceTypeLoadBalancer)
			inside := c.pod(t, namespace, "client", "client", nodes[0])
			ways := c.someWays(s, mode, inside)
			allReach(t, ways, c.podsOf(t, namespace, workload, 2))
			x := c.startTraffic(t, ways, c.outside.Place, inside.Place)
			x.another(t, 100)

			nodes[0].proxy.Kill()
			t.Cleanup(func() { c.proxyRuns(t, nodes[0]) })
			x.another(t, 100)
			later := c.service(t, namespace, "later", corev1.ServiceTypeClusterIP, func(s *corev1.ServiceSpec) { s.Selector = map[string]string{appLabel: workload} })
			scale(t, c, namespace, workload, 4)
			pods := c.podsOf(t, namespace, workload, 4)
			known := way{"node with a proxy", corev1.ProtocolTCP, nodes[1].Dial, clusterIPs(later)[0]}
			unknown := way{"node without a proxy", corev1.ProtocolTCP, nodes[0].Dial, clusterIPs(later)[0]}
			allReach(t, []way{known}, pods)
			if err := unknown.drops(t.Context()); err != nil {
				t.Error(err)
			}
			x.another(t, 100)
			x.keptAnswer(t)

			c.proxyRuns(t, nodes[0])
			allReach(t, append(ways, known, unknown), pods)
			x.another(t, 100)
			x.keptAnswer(t)
			x.unscathed(t)
		})
	}
}

// proxyRuns starts a node's proxy unless it runs.
func (c *cluster) proxyRuns(t *testing.T, m *member) {
	t.Helper()
	if m.proxy.Running() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	defer cancel()
	if err := m.proxy.Start(ctx); err != nil {
		t.Fatal(err)
	}
}

func scale(t *testing.T, c *cluster, namespace, name string, replicas int) {
	t.Helper()
	patch := fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas)
	if _, err := c.admin.AppsV1().Deployments(namespace).Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// roll has a Deployment replace its pods.
func roll(t *testing.T, c *cluster, namespace, name string) {
	t.Helper()
	patch := fmt.Sprintf(`{"spec":{"template":{"metadata":{"annotations":{"rolled":%q}}}}}`, time.Now().Format(time.RFC3339Nano))
	if _, err := c.admin.AppsV1().Deployments(namespace).Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// oneByOne replaces a pod only when its successor is ready, and has been for two seconds.
func oneByOne(d *appsv1.Deployment) {
	d.Spec.MinReadySeconds = 2
	none, one := intstr.FromInt32(0), intstr.FromInt32(1)
	d.Spec.Strategy.RollingUpdate = &appsv1.RollingUpdateDeployment{MaxUnavailable: &none, MaxSurge: &one}
}

// TestTheAPIServerIsRestartedMidRollout has nodes go on with what they know while nobody can tell
// them anything, and find back by themselves. Old pods serve longer than the API server is away:
// some of them end without any proxy having heard of it otherwise, as on any cluster.
func TestTheAPIServerIsRestartedMidRollout(t *testing.T) {
	c := useCluster(t)
	namespace := c.namespace(t)
	all, ways, inside := map[string]*traffic{}, map[string][]way{}, map[string]*network.Pod{}
	for _, mode := range modes() {
		name := workload + "-" + mode
		c.deploy(t, namespace, name, 4, template(name, spread(mode, name), preStop(20), env("ON_SIGTERM", "1s"), grace(40)), oneByOne)
		s := c.service(t, namespace, name, corev1.ServiceTypeLoadBalancer)
		inside[mode] = c.pod(t, namespace, "client", "client-"+mode, c.nodes[mode][0])
		ways[mode] = c.someWays(s, mode, inside[mode])
		allReach(t, ways[mode], c.podsOf(t, namespace, name, 4))
	}
	for _, mode := range modes() {
		all[mode] = c.startTraffic(t, ways[mode], c.outside.Place, inside[mode].Place)
		roll(t, c, namespace, workload+"-"+mode)
	}
	for _, mode := range modes() {
		c.midRollout(t, namespace, workload+"-"+mode)
	}
	c.control.KillAPIServer()
	for _, mode := range modes() {
		all[mode].another(t, 300)
		for _, m := range c.nodes[mode] {
			c.healthy(t, m)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := c.control.StartAPIServer(ctx); err != nil {
		t.Fatal(err)
	}
	for _, mode := range modes() {
		name := workload + "-" + mode
		c.rolledOut(t, namespace, name)
		allReach(t, ways[mode], c.podsOf(t, namespace, name, 4))
		all[mode].another(t, 100)
		all[mode].unscathed(t)
	}
}

// midRollout waits until a new pod is in use, while others are still to come.
func (c *cluster) midRollout(t *testing.T, namespace, name string) {
	t.Helper()
	until(t, "Deployment "+name+" is half-way", func(ctx context.Context) error {
		d, err := c.admin.AppsV1().Deployments(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		switch n := d.Status.UpdatedReplicas; {
		case d.Status.ObservedGeneration < d.Generation:
			return errors.New("its status is of before the rollout") // and counts the old pods
		case n < 2:
			return fmt.Errorf("%d new pods", n)
		case n == *d.Spec.Replicas:
			t.Fatalf("Deployment %s has all of its new pods already", name)
		}
		return nil
	})
}

// healthy wants a proxy to be well.
func (c *cluster) healthy(t *testing.T, m *member) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), client.Limit)
	defer cancel()
	code, body, err := m.proxy.Get(ctx, fmt.Sprintf("http://127.0.0.1:%d/healthz", node.HealthzPort))
	if err != nil || code != http.StatusOK {
		t.Errorf("%s: status %d, %s, %v", m.Name, code, body, err)
	}
}
