package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2/textlogger"

	"github.com/lameduck-proxy/lameduck/test/e2e/controlplane"
	"github.com/lameduck-proxy/lameduck/test/e2e/kubelet"
	"github.com/lameduck-proxy/lameduck/test/e2e/network"
	"github.com/lameduck-proxy/lameduck/test/e2e/node"
	"github.com/lameduck-proxy/lameduck/test/e2e/process"
)

// modeLabel is a label of nodes: the mode of their proxy.
const modeLabel = "proxy-mode"

// cluster is a control plane, nodes with proxies, and machines outside.
type cluster struct {
	dir     string
	network *network.Network
	control *controlplane.ControlPlane
	admin   *kubernetes.Clientset
	nodes   map[string][]*member // of each mode, two
	outside *network.Client
	log     *os.File // of kubelets
}

// member is a node with its kubelet and its proxy.
type member struct {
	*network.Node
	kubelet *kubelet.Kubelet
	proxy   *node.Proxy
}

func modes() []string { return []string{node.NFTables, node.IPTables} }

// shared is the cluster of all cases, made when the first one asks.
var shared sharedCluster

type sharedCluster struct {
	once    sync.Once
	cluster *cluster
	err     error
}

func (s *sharedCluster) close() error {
	if s.cluster == nil {
		return nil
	}
	return s.cluster.close()
}

// useCluster returns the cluster, or skips the test.
func useCluster(t *testing.T) *cluster {
	t.Helper()
	if !enabled() {
		t.Skip("a cluster takes rights and time: LAMEDUCK_E2E=1, as make e2e does")
	}
	shared.once.Do(func() {
		from := time.Now()
		if shared.cluster, shared.err = newCluster(); shared.err != nil {
			t.Fatal(shared.err)
		}
		t.Logf("the cluster was ready after %s", time.Since(from).Round(time.Millisecond))
	})
	if shared.err != nil {
		t.Fatal("there is no cluster, as the test that came first says")
	}
	c := shared.cluster
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(c.tails(15))
		}
	})
	return c
}

func newCluster() (*cluster, error) {
	dir, err := os.MkdirTemp("", "lameduck-e2e-")
	if err != nil {
		return nil, err
	}
	c := &cluster{dir: dir, nodes: map[string][]*member{}}
	if err := c.start(); err != nil {
		return nil, errors.Join(err, errors.New(c.tails(15)), c.close())
	}
	return c, nil
}

func (c *cluster) start() (err error) {
	if c.log, err = os.Create(filepath.Join(c.dir, "kubelets.log")); err != nil {
		return err
	}
	program, err := build(c.dir)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	if c.network, err = network.New(); err != nil {
		return err
	}
	machine, err := c.network.Machine("control-plane")
	if err != nil {
		return err
	}
	if c.outside, err = c.network.Client("outside"); err != nil {
		return err
	}
	if c.control, err = controlplane.Start(ctx, machine, c.dir); err != nil {
		return err
	}
	c.admin = c.control.Admin()
	if err := c.grant(ctx); err != nil {
		return err
	}
	for _, mode := range modes() {
		for i := range 2 {
			if err := c.join(ctx, fmt.Sprintf("%s-%d", mode, i+1), mode, node.Options{Mode: mode, Program: program}); err != nil {
				return err
			}
		}
	}
	return nil
}

// startLimit is for a control plane and its nodes on a machine that has other things to do.
const startLimit = 5 * time.Minute

// buildLimit is for a machine without any cache: hundreds of packages are compiled anew.
const buildLimit = 15 * time.Minute

// build makes the program under test, from the sources as they are. What that takes is not the cluster's time.
func build(dir string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), buildLimit)
	defer cancel()
	program := filepath.Join(dir, "lameduck")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", program, "./cmd/lameduck") // no input of others
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build lameduck: %w\n%s", err, out)
	}
	return program, nil
}

// join adds a node with a label, and its proxy.
func (c *cluster) join(ctx context.Context, name, label string, o node.Options) error {
	n, err := c.network.Node(name)
	if err != nil {
		return err
	}
	client, err := c.control.Client(controlplane.NodeUser(name), n.Place)
	if err != nil {
		return err
	}
	m := &member{Node: n}
	c.nodes[label] = append(c.nodes[label], m)
	m.kubelet, err = kubelet.Start(ctx, kubelet.Options{
		Node: n, Client: client, Labels: map[string]string{modeLabel: label}, ContainerStart: 50 * time.Millisecond, Log: c.logger(name),
	})
	if err != nil {
		return err
	}
	o.Node, o.Dir = n, c.dir
	if o.Kubeconfig, err = c.control.Kubeconfig(controlplane.LameduckUser(), name); err != nil {
		return err
	}
	if m.proxy, err = node.New(o); err != nil {
		return err
	}
	return m.proxy.Start(ctx)
}

func (c *cluster) logger(name string) logr.Logger {
	return textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(c.log))).WithName(name)
}

// close ends everything, proxies first.
func (c *cluster) close() error {
	var errs []error
	for _, members := range c.nodes { // order: each is ended by itself
		for _, m := range members {
			if m.proxy != nil && m.proxy.Running() {
				m.proxy.Kill()
			}
			if m.kubelet != nil {
				m.kubelet.Close()
			}
		}
	}
	if c.control != nil {
		errs = append(errs, c.control.Err())
		c.control.Close()
	}
	if c.network != nil {
		errs = append(errs, c.network.Close())
	}
	if c.log != nil {
		errs = append(errs, c.log.Close())
	}
	return errors.Join(append(errs, os.RemoveAll(c.dir))...)
}

// tails are the last lines of all logs.
func (c *cluster) tails(lines int) string {
	files, err := filepath.Glob(filepath.Join(c.dir, "*.log"))
	if err != nil {
		return err.Error()
	}
	out := ""
	for _, f := range files {
		out += fmt.Sprintf("==> %s <==\n%s\n", filepath.Base(f), process.Tail(f, lines))
	}
	return out
}

// namespace makes a namespace for a test, and removes it in the end.
func (c *cluster) namespace(t *testing.T) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "case-"}}
	ns, err := c.admin.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		err := errors.Join(
			c.admin.CoreV1().Namespaces().Delete(ctx, ns.Name, metav1.DeleteOptions{}),
			// Some pods would take their time.
			c.admin.CoreV1().Pods(ns.Name).DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}, metav1.ListOptions{}),
		)
		if err != nil {
			t.Error(err)
		}
	})
	return ns.Name
}
