package kubelet

import (
	"context"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/lameduck-proxy/lameduck/test/e2e/network"
	"github.com/lameduck-proxy/lameduck/test/lab"
)

func TestMain(m *testing.M) {
	if os.Getenv("LAMEDUCK_E2E") != "" {
		if code, ran := lab.InUserNamespace(); ran {
			os.Exit(code)
		}
	}
	os.Exit(m.Run())
}

// web is a pod as the API server has it once it is bound.
func web() *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-1", Namespace: "default", UID: "1"}}
	p.Spec.NodeName = "node-1"
	p.Spec.Containers = []corev1.Container{{
		Name: "app", Env: []corev1.EnvVar{{Name: "ON_SIGTERM", Value: "1s"}},
		ReadinessProbe: &corev1.Probe{
			PeriodSeconds: 1, TimeoutSeconds: 1, SuccessThreshold: 1, FailureThreshold: 1,
			ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/ready", Port: intstr.FromInt32(8080)}},
		},
		Lifecycle: &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 1}}},
	}}
	return p
}

// state is what a test looks at.
func state(p *corev1.Pod) string {
	ready := "no condition"
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			ready = string(c.Status)
		}
	}
	return string(p.Status.Phase) + " " + ready
}

func TestAPodsLife(t *testing.T) {
	t.Parallel()
	if os.Getenv("LAMEDUCK_E2E") == "" {
		t.Skip("needs network namespaces: LAMEDUCK_E2E=1, as make e2e does")
	}
	n, err := network.New()
	if err != nil {
		t.Fatal(err)
	}
	node, err := n.Node("node-1")
	if err != nil {
		t.Fatal(err)
	}
	client := fake.NewClientset()
	k, err := Start(t.Context(), Options{Node: node, Client: client, Log: testr.New(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		k.Close()
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	pods := client.CoreV1().Pods("default")
	events, err := pods.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	if _, err := pods.Create(t.Context(), web(), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	pod := follow(t, events, "Running True")
	addr := netip.AddrPortFrom(netip.MustParseAddr(pod.Status.PodIPs[1].IP), 8080).String()
	answers(t, node.Place, addr)

	now, seconds := metav1.Now(), int64(30)
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &now, &seconds
	from := time.Now()
	if _, err := pods.Update(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	answers(t, node.Place, addr) // its hook sleeps
	follow(t, events, "Succeeded False")
	if took := time.Since(from); took < 2*time.Second {
		t.Errorf("it ended after %s, its hook and its app take a second each", took)
	}
	for e := range events.ResultChan() {
		if e.Type == watch.Deleted {
			break
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if c, err := node.Dial(ctx, "tcp", addr); err == nil {
		_ = c.Close()
		t.Error("it still answers")
	}
}

// follow waits for a state.
func follow(t *testing.T, w watch.Interface, want string) *corev1.Pod {
	t.Helper()
	for e := range w.ResultChan() {
		if p, ok := e.Object.(*corev1.Pod); ok {
			t.Log(e.Type, state(p))
			if state(p) == want {
				return p.DeepCopy()
			}
		}
	}
	t.Fatalf("no more events, want %s", want)
	return nil
}

func answers(t *testing.T, from *network.Place, addr string) {
	t.Helper()
	c, err := from.Dial(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
}

func TestAPodThatAsksForWhatThisKubeletLacksIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := read(web()); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*corev1.Pod){
		"a second container": func(p *corev1.Pod) { p.Spec.Containers = append(p.Spec.Containers, corev1.Container{}) },
		"the host's network": func(p *corev1.Pod) { p.Spec.HostNetwork = true },
		"a liveness probe":   func(p *corev1.Pod) { p.Spec.Containers[0].LivenessProbe = &corev1.Probe{} },
		"a probe by command": func(p *corev1.Pod) {
			p.Spec.Containers[0].ReadinessProbe.ProbeHandler = corev1.ProbeHandler{Exec: &corev1.ExecAction{}}
		},
		"a probe of no port": func(p *corev1.Pod) {
			p.Spec.Containers[0].ReadinessProbe.HTTPGet.Port = intstr.FromString("http")
		},
		"a hook by command": func(p *corev1.Pod) {
			p.Spec.Containers[0].Lifecycle.PreStop = &corev1.LifecycleHandler{Exec: &corev1.ExecAction{}}
		},
		"an unknown variable": func(p *corev1.Pod) { p.Spec.Containers[0].Env[0].Name = "ON_SIGHUP" },
	} {
		p := web()
		change(p)
		if _, err := read(p); err == nil {
			t.Errorf("%s is not refused", name)
		}
	}
}
