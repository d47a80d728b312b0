package cli

import (
	"path/filepath"
	"strings"

	"github.com/go-logr/logr"

	"github.com/lameduck-proxy/lameduck/cmd/lameduck/internal/agent"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/proxier/kubeproxy"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// reloader makes of a configuration's file that changed what a running proxy can follow of it, and logs the rest. One
// goroutine uses it.
type reloader struct {
	node    string
	running settings
	log     *proxyLog
	// prepare sets what a configuration wants of the machine.
	prepare func(*proxyConfig, logr.Logger)

	flagged map[string]bool   // fields that flags decide beside the configuration
	waiting map[string]string // by field, the value that waits for the next start
	warned  map[string]bool   // of what has no effect
}

// reload returns what has a proxy follow the file of its configuration, nil if it has none.
func (c *proxyCommand) reload(s *settings, node string, log *proxyLog) *agent.Reload {
	if c.node.config == "" || c.node.config == "-" {
		return nil
	}
	r := newReloader(node, *s, log)
	if c.sim {
		r.prepare = func(*proxyConfig, logr.Logger) {} // the machine is kube-proxy's
	}
	r.flagged = map[string]bool{
		"hostnameOverride": c.node.node != "", "clientConnection.kubeconfig": c.kubeconfig != "", "enableProfiling": c.servers.set("profiling"),
		"healthzBindAddress": c.servers.set("healthz-bind-address"), "metricsBindAddress": c.servers.set("metrics-bind-address"),
	}
	return &agent.Reload{Path: filepath.Clean(c.node.config), Take: func(data []byte) (agent.Settings, bool) {
		return r.take(manifest.File{Name: c.node.config, Data: data})
	}}
}

func newReloader(node string, running settings, log *proxyLog) *reloader {
	r := &reloader{node: node, running: running, log: log, prepare: prepare, waiting: map[string]string{}, warned: map[string]bool{}}
	for _, p := range running.warnings {
		r.warned[p.Message] = true
	}
	return r
}

// take reads what is in the file now. What cannot be used changes nothing: the last configuration that could stays in use.
func (r *reloader) take(file manifest.File) (agent.Settings, bool) {
	object, problems := loadConfig(file)
	var next *proxyConfig
	var change kubeproxy.Change
	if object != nil {
		next, change, problems = kubeproxy.Reread(r.running.config, object, r.running.flags.overrides(true)...)
	}
	if next == nil {
		r.refuse(file.Name, problems)
		return agent.Settings{}, false
	}
	r.warn(problems)
	r.announce(object, change)
	if len(change.Now) == 0 {
		return agent.Settings{}, false
	}
	for _, path := range change.Now {
		r.log.Info("Setting changed", "name", path, "value", plain(next.Text(path)), "was", plain(r.running.config.Text(path)), "from", next.From(path))
	}
	r.running.config = next
	r.apply(change.Now)
	s := r.running // what is built later is built of these settings
	return agent.Settings{Node: s.builder(r.node), Pace: s.config.Pace(s.profile.Options)}, true
}

// loadConfig finds the configuration in a file; nil with the problems if there is none.
func loadConfig(file manifest.File) (*manifest.Object, []manifest.Problem) {
	objects, problems := manifest.Load([]manifest.File{file}, manifest.Options{})
	if found := objects.KubeProxyConfigurations; len(found) == 1 && len(problems) == 0 {
		return found[0], nil
	}
	refused(problems) // there is nothing else that the file could be used for
	if len(problems) == 0 {
		problems = []manifest.Problem{{Position: manifest.Position{File: file.Name}, Message: "no KubeProxyConfiguration (" + kubeproxy.APIVersion + ") in it"}}
	}
	return nil, problems
}

// refuse logs all that is wrong with a file.
func (r *reloader) refuse(name string, problems []manifest.Problem) {
	count := 0
	for _, p := range problems {
		if p.Severity == manifest.Error {
			count++
			r.log.Error(p, "The configuration is wrong")
		}
	}
	r.log.Error(nil, "The configuration cannot be used, the last one stays in use", "file", name, "errors", count)
}

// warn logs what has no effect, once for each value.
func (r *reloader) warn(problems []manifest.Problem) {
	for _, p := range problems {
		if !r.warned[p.Message] {
			r.warned[p.Message] = true
			noEffect(r.log.Logger, p)
		}
	}
}

// announce logs what waits for the next start, once for each value, and what does no longer.
func (r *reloader) announce(object *manifest.Object, change kubeproxy.Change) {
	wanted, _ := kubeproxy.Read(object, r.running.flags.overrides(true)...)
	waiting := map[string]string{}
	for _, path := range change.Later {
		if r.flagged[path] {
			continue
		}
		waiting[path] = wanted.Text(path)
		if before, ok := r.waiting[path]; !ok || before != waiting[path] {
			r.log.Info("Setting waits for the next start", "name", path, "value", plain(waiting[path]), "is", plain(r.running.config.Text(path)), "from", wanted.From(path))
		}
	}
	for _, path := range kubeproxy.Paths() {
		_, was := r.waiting[path]
		if _, is := waiting[path]; was && !is {
			r.log.Info("Setting is again what it is now", "name", path, "value", plain(r.running.config.Text(path)))
		}
	}
	r.waiting = waiting
}

// apply does what no node and no pace follows from.
func (r *reloader) apply(changed []string) {
	machine := false
	for _, path := range changed {
		machine = machine || path == "oomScoreAdj" || strings.HasPrefix(path, "conntrack.")
		if path == "logging.verbosity" {
			r.log.setVerbosity(int(r.running.config.Logging.Verbosity))
		}
	}
	if machine {
		r.prepare(r.running.config, r.log.Logger)
	}
}

// builder builds the node of a name from what is known of it.
func (s settings) builder(name string) agent.NodeBuilder {
	return func(k agent.Known) (*plan.Node, error) {
		return s.node(name, k.Object, k.ServiceCIDRs, k.Host)
	}
}
