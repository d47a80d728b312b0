package agent

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/healthcheck/server"
	"github.com/lameduck-proxy/lameduck/proxier"
	"github.com/lameduck-proxy/lameduck/proxier/metrics"
	"github.com/lameduck-proxy/lameduck/proxier/observe"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// ServerOptions say on which addresses a proxy is asked about itself.
type ServerOptions struct {
	Healthz   string // where /healthz and /livez are served, "" for nowhere
	Metrics   string // where metrics are served, "" for nowhere
	Profiling bool   // serve pprof there as well
	// FailHard ends the proxy when one of the two addresses cannot be listened on (bindAddressHardFail); else it is tried again.
	FailHard bool
	// Build is the labels of lameduck_build_info.
	Build map[string]string
}

// proxy is a service proxy and its servers, whatever its rules are written to.
type proxy struct {
	*proxier.Proxier
	opts     Options
	metrics  *metrics.Metrics
	health   *server.Server
	reporter *reporter
	sim      *simulated // nil where the kernel is programmed
	others   *interference
	log      observer
	fail     func(error) // ends the proxy
}

func newProxy(o Options, node *plan.Node, backend proxier.Backend, flows proxier.Conntrack) (*proxy, error) {
	p := &proxy{opts: o, log: observer{log: o.Log}, reporter: newReporter(o, node.Name), fail: func(error) {}}
	if o.Sim != nil {
		p.sim = &simulated{log: observe.Log{Logger: o.Log}}
	}
	rules, _ := backend.(metrics.RuleCounter)
	p.metrics = metrics.New(metrics.Options{
		Mode: node.Dialect, Rules: rules, Build: o.Servers.Build, Status: func() proxier.Status { return p.Status() },
	})
	p.health = server.New(server.Options{
		Address: o.Servers.Healthz, State: p.state, Behaviour: node.Options, Answered: p.answered,
		Listening: func(at net.Addr) { p.listening("health", at) }, Trouble: p.trouble,
		FailHard: o.Servers.FailHard,
	})
	p.others = &interference{
		backend: backend, log: o.Log, count: p.metrics.Interfered,
		rivals: &rivals{log: o.Log, count: p.metrics.Interfered},
	}
	var err error
	p.Proxier, err = proxier.New(proxier.Options{
		Backend: backend, Behaviour: node.Options, Pace: o.Pace, Conntrack: flows,
		Observer: p.observe, Cleaned: p.metrics.ObserveCleaning, Problems: p.reporter.problem, Log: o.Log,
	})
	return p, err
}

// observe passes on that a sync is over. The log comes last: by then everybody else knows.
func (p *proxy) observe(s proxier.Sync) {
	p.metrics.Observe(s)
	p.reporter.observe(s)
	p.others.observe(s)
	if p.sim != nil {
		p.sim.observe(s)
		return
	}
	if s.Err == nil {
		p.health.Follow(s.Status.Table, healthAddresses(s.Plan.Node()))
	}
	p.log.observe(s)
}

// state is what health is told by.
func (p *proxy) state() server.State {
	s := p.Status()
	return server.State{Table: s.Table, Proxy: s.Proxy, Node: s.Node}
}

// answered counts who asks for the proxy's health.
func (p *proxy) answered(path string, status int) {
	if path == "/healthz" {
		p.metrics.Healthz(status)
	} else {
		p.metrics.Livez(status)
	}
}

// trouble says that a health port is not served.
func (p *proxy) trouble(t server.Trouble) {
	log := p.opts.Log.WithValues("address", t.Address, "again", server.RetryInterval)
	if t.Service != (endpoints.ServiceName{}) {
		log = log.WithValues("service", t.Service.String())
	}
	log.Error(t.Err, "Health is not served")
	p.reporter.notListening(t.Service, reasonHealth, t.Err)
}

// healthAddresses are where a node's health-check node ports are served: at all addresses of a family, or only at those of
// its own that nodePortAddresses names (docs/model/kube-proxy.md 5.1 Listen). Loopback addresses are among a node's own.
func healthAddresses(node *plan.Node) []netip.Addr {
	own := append(slices.Clone(node.Addresses), netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback())
	var out []netip.Addr
	for _, f := range endpoints.Families() {
		ranges := node.NodePortRanges(f)
		if ranges == nil {
			out = append(out, plan.NodePortKey(f, endpoints.TCP, 0).Addr) // 0.0.0.0 or ::
			continue
		}
		for _, a := range own {
			in := func(r netip.Prefix) bool { return r.Contains(a) }
			if endpoints.FamilyOf(a) == f && slices.ContainsFunc(ranges, in) {
				out = append(out, a)
			}
		}
	}
	return out
}

// listening says that a socket is open.
func (p *proxy) listening(what string, at net.Addr) {
	p.opts.Log.V(1).Info("Listening", "for", what, "address", at.String())
}

// scrapeTimeout is how long a scrape, or a profile beyond the seconds that it was asked to take, may take.
const scrapeTimeout = time.Minute

// serve starts the servers. They end with the context.
func (p *proxy) serve(ctx context.Context, running *sync.WaitGroup) {
	if p.reporter.recorder != nil {
		running.Go(func() { p.reporter.recorder.Run(ctx) })
	}
	p.reporter.starting()
	running.Go(func() { p.fail(p.health.Run(ctx)) })
	if o := p.opts.Servers; o.Metrics != "" {
		p.open(ctx, running, "metrics", o.Metrics, p.metrics.Handler(o.Profiling))
	}
	if p.sim != nil {
		p.open(ctx, running, "sim", p.opts.Sim.Address, p.answers())
	}
}

// open serves at an address until the context ends.
func (p *proxy) open(ctx context.Context, running *sync.WaitGroup, what, address string, handler http.Handler) {
	socket := server.Socket{
		Network: "tcp", Address: address, Handler: Guarded(handler), AnswerTimeout: scrapeTimeout, FailHard: p.opts.Servers.FailHard,
		Listening: func(at net.Addr) { p.listening(what, at) },
		Trouble: func(err error) {
			p.opts.Log.Error(err, "Not served", "for", what, "address", address, "again", server.RetryInterval)
			p.reporter.notListening(endpoints.ServiceName{}, reasonMetrics, err)
		},
	}
	running.Go(func() { p.fail(socket.Serve(ctx)) })
}
