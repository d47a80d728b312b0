// Package node runs a service proxy on a node: lameduck or kube-proxy, as a process in the node's
// namespace with a kubeconfig of its own, started as a DaemonSet starts kube-proxy.
package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/lameduck-proxy/lameduck/test/e2e/component"
	"github.com/lameduck-proxy/lameduck/test/e2e/network"
	"github.com/lameduck-proxy/lameduck/test/e2e/process"
)

// Modes of a proxy.
const (
	NFTables = "nftables"
	IPTables = "iptables"
)

// Ports of a service proxy, on its node (docs/model/kube-proxy.md 6).
const (
	HealthzPort = 10256
	MetricsPort = 10249
)

// Options say which proxy it is.
type Options struct {
	Node       *network.Node
	Mode       string
	Program    string // lameduck; "" for kube-proxy
	Kubeconfig string
	Dir        string // for its files
	// MinSyncPeriod is the least time between two syncs; 0 is the proxy's default.
	MinSyncPeriod time.Duration
}

// Proxy is the service proxy of a node, running or not.
type Proxy struct {
	Options
	config  string
	running *process.Process
}

// New writes a proxy's configuration. Nothing runs yet.
func New(o Options) (*Proxy, error) {
	config, err := WriteConfig(filepath.Join(o.Dir, o.Node.Name+".yaml"), o.Mode, o.Kubeconfig, o.MinSyncPeriod)
	if err != nil {
		return nil, fmt.Errorf("proxy of %s: %w", o.Node.Name, err)
	}
	return &Proxy{Options: o, config: config}, nil
}

// WriteConfig writes a configuration that either proxy reads, and returns its path.
func WriteConfig(path, mode, kubeconfig string, minSyncPeriod time.Duration) (string, error) {
	// The limits of connection tracking are the machine's, which is not the node's to change.
	text := fmt.Sprintf(`apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: %s
clusterCIDR: %s
clientConnection:
  kubeconfig: %s
conntrack:
  maxPerCore: 0
%s:
  minSyncPeriod: %s
`, mode, network.ClusterCIDRs, kubeconfig, mode, minSyncPeriod)
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// Log is the file that it writes to.
func (p *Proxy) Log() string { return filepath.Join(p.Dir, p.Node.Name+".log") }

// Start starts the proxy, and returns when its rules are in force.
func (p *Proxy) Start(ctx context.Context) error {
	flags := []string{"--config=" + p.config, "--hostname-override=" + p.Node.Name}
	argv, env := append([]string{p.Program, "proxy"}, flags...), []string(nil)
	if p.Program == "" {
		var err error
		if argv, env, err = component.Command(component.KubeProxy, flags...); err != nil {
			return err
		}
	}
	env = append(env, "XTABLES_LOCKFILE="+filepath.Join(p.Dir, p.Node.Name+".xtables.lock")) // namespaces share /run
	err := p.Node.Do(func() (err error) {
		p.running, err = process.Start(process.Spec{Name: "proxy of " + p.Node.Name, Argv: argv, Env: env, Log: p.Log()})
		return err
	})
	if err != nil {
		return err
	}
	return p.healthy(ctx)
}

// healthy returns when the proxy says that its rules are in force.
func (p *Proxy) healthy(ctx context.Context) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		code, _, err := p.Get(ctx, fmt.Sprintf("http://127.0.0.1:%d/healthz", HealthzPort))
		if err == nil && code == http.StatusOK {
			return nil
		}
		select {
		case <-p.running.Ended():
			return fmt.Errorf("%w\n%s", p.running.Err(), process.Tail(p.Log(), 20))
		case <-ctx.Done():
			return fmt.Errorf("proxy of %s: not healthy, status %d: %w\n%s", p.Node.Name, code, errors.Join(err, ctx.Err()), process.Tail(p.Log(), 20))
		case <-tick.C:
		}
	}
}

// Kill ends the proxy at once (SIGKILL).
func (p *Proxy) Kill() { p.running.Kill() }

// Stop asks the proxy to end, and returns when it has.
func (p *Proxy) Stop(ctx context.Context) error {
	if err := p.running.Terminate(); err != nil {
		return err
	}
	select {
	case <-p.running.Ended():
		return nil
	case <-ctx.Done():
		return fmt.Errorf("proxy of %s: it goes on after SIGTERM: %w\n%s", p.Node.Name, ctx.Err(), process.Tail(p.Log(), 20))
	}
}

// Running says whether the proxy runs.
func (p *Proxy) Running() bool { return p.running != nil && p.running.Err() == nil }

// Err says how the proxy ended, if it has.
func (p *Proxy) Err() error { return p.running.Err() }

// Get asks a URL from the node.
func (p *Proxy) Get(ctx context.Context, url string) (code int, body string, err error) {
	return Get(ctx, p.Node.Place, url)
}

// Metrics is what the proxy tells Prometheus.
func (p *Proxy) Metrics(ctx context.Context) (string, error) {
	code, body, err := p.Get(ctx, fmt.Sprintf("http://127.0.0.1:%d/metrics", MetricsPort))
	if err == nil && code != http.StatusOK {
		err = fmt.Errorf("metrics of %s: status %d", p.Node.Name, code)
	}
	return body, err
}

// Get asks a URL from a place, on a connection of its own.
func Get(ctx context.Context, from *network.Place, url string) (code int, body string, err error) {
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext:       from.Dial,
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, "", err
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return 0, "", err
	}
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), errors.Join(err, response.Body.Close())
}
