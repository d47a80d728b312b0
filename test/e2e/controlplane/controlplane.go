package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/lameduck-proxy/lameduck/test/e2e/component"
	"github.com/lameduck-proxy/lameduck/test/e2e/network"
	"github.com/lameduck-proxy/lameduck/test/e2e/process"
)

// The components' ports, on a machine that has nothing else.
const (
	securePort = 6443
	etcdURL    = "http://127.0.0.1:2379"
	peerURL    = "http://127.0.0.1:2380"
)

// ControlPlane is the four components, running.
type ControlPlane struct {
	machine   *network.Machine
	dir       string
	authority *authority
	running   map[string]*process.Process
	admin     *kubernetes.Clientset
}

// Start starts a control plane on a machine, with its files in a directory, and returns when it
// is ready. Close it in any case but an error.
func Start(ctx context.Context, m *network.Machine, dir string) (*ControlPlane, error) {
	a, err := newAuthority()
	if err != nil {
		return nil, fmt.Errorf("control plane: %w", err)
	}
	c := &ControlPlane{machine: m, dir: dir, authority: a, running: map[string]*process.Process{}}
	if c.admin, err = c.Client(Admin(), m.Place); err != nil {
		return nil, err
	}
	if err := c.start(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (c *ControlPlane) start(ctx context.Context) error {
	if err := c.identities(); err != nil {
		return fmt.Errorf("control plane: %w", err)
	}
	if err := c.run(component.Etcd, "--data-dir="+filepath.Join(c.dir, "etcd"), "--listen-client-url="+etcdURL, "--listen-peer-url="+peerURL); err != nil {
		return err
	}
	if err := c.StartAPIServer(ctx); err != nil {
		return err
	}
	for name, flags := range map[string][]string{component.KubeControllerManager: c.controllerManager(), component.KubeScheduler: c.scheduler()} {
		if err := c.run(name, flags...); err != nil {
			return err
		}
	}
	return nil
}

// identities makes what components read from files.
func (c *ControlPlane) identities() error {
	serving, err := c.authority.server(append([]netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("10.96.0.1")}, c.machine.Addrs...))
	if err != nil {
		return err
	}
	accounts, err := c.authority.client("service accounts")
	if err != nil {
		return err
	}
	_, errManager := c.Kubeconfig(User{Name: "system:kube-controller-manager"}, component.KubeControllerManager)
	_, errScheduler := c.Kubeconfig(User{Name: "system:kube-scheduler"}, component.KubeScheduler)
	return errors.Join(errManager, errScheduler, serving.write(c.dir, "serving"), accounts.write(c.dir, "accounts"),
		pair{certificate: c.authority.pem}.write(c.dir, "ca"))
}

// run starts a component.
func (c *ControlPlane) run(name string, flags ...string) error {
	argv, env, err := component.Command(name, flags...)
	if err != nil {
		return fmt.Errorf("control plane: %s: %w", name, err)
	}
	var p *process.Process
	err = c.machine.Do(func() (err error) {
		p, err = process.Start(process.Spec{Name: name, Argv: argv, Env: env, Log: c.log(name)})
		return err
	})
	if err != nil {
		return fmt.Errorf("control plane: %w", err)
	}
	c.running[name] = p
	return nil
}

func (c *ControlPlane) log(name string) string  { return filepath.Join(c.dir, name+".log") }
func (c *ControlPlane) file(name string) string { return filepath.Join(c.dir, name) }

// url is where the API server is asked, from any machine on the wire.
func (c *ControlPlane) url() string {
	return "https://" + netip.AddrPortFrom(c.machine.Addrs[0], securePort).String()
}

// Admin is a client that may do everything.
func (c *ControlPlane) Admin() *kubernetes.Clientset { return c.admin }

// Logs are the files that components write to.
func (c *ControlPlane) Logs() []string {
	var out []string
	for _, name := range []string{component.Etcd, component.KubeAPIServer, component.KubeControllerManager, component.KubeScheduler} {
		out = append(out, c.log(name))
	}
	return out
}

// Err says which component has ended by itself.
func (c *ControlPlane) Err() error {
	var errs []error
	for _, p := range c.running { // order: errors of different components
		errs = append(errs, p.Err())
	}
	return errors.Join(errs...)
}

// StartAPIServer starts the API server, and returns when it is ready.
func (c *ControlPlane) StartAPIServer(ctx context.Context) error {
	if err := c.run(component.KubeAPIServer, c.apiServer()...); err != nil {
		return err
	}
	p := c.running[component.KubeAPIServer]
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		_, err := c.admin.CoreV1().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.Ended():
			return fmt.Errorf("control plane: %w\n%s", p.Err(), process.Tail(c.log(component.KubeAPIServer), 20))
		case <-ctx.Done():
			return fmt.Errorf("control plane: kube-apiserver is not ready: %w\n%s", errors.Join(err, ctx.Err()), process.Tail(c.log(component.KubeAPIServer), 20))
		case <-tick.C:
		}
	}
}

// KillAPIServer ends the API server at once. Everything else goes on.
func (c *ControlPlane) KillAPIServer() {
	c.running[component.KubeAPIServer].Kill()
	delete(c.running, component.KubeAPIServer)
}

// Close ends all components.
func (c *ControlPlane) Close() {
	for _, name := range []string{component.KubeScheduler, component.KubeControllerManager, component.KubeAPIServer, component.Etcd} {
		if p := c.running[name]; p != nil {
			p.Kill()
		}
	}
	clear(c.running)
}
