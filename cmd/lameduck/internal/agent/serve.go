package agent

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/lameduck-proxy/lameduck/healthcheck/server"
	"github.com/lameduck-proxy/lameduck/proxier"
	"github.com/lameduck-proxy/lameduck/proxier/metrics"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// ServerOptions say on which addresses a proxy is asked about itself.
type ServerOptions struct {
	Metrics   string // where metrics are served, "" for nowhere
	Profiling bool   // serve pprof there as well
	// Build is the labels of lameduck_build_info.
	Build map[string]string
}

// proxy is a service proxy and its servers, whatever its rules are written to.
type proxy struct {
	*proxier.Proxier
	opts    Options
	metrics *metrics.Metrics
	log     observer
}

func newProxy(o Options, node *plan.Node, backend proxier.Backend, flows proxier.Conntrack) (*proxy, error) {
	p := &proxy{opts: o, log: observer{log: o.Log}}
	p.metrics = metrics.New(metrics.Options{
		Mode: node.Dialect, Build: o.Servers.Build, Status: func() proxier.Status { return p.Status() },
	})
	var err error
	p.Proxier, err = proxier.New(proxier.Options{
		Backend: backend, Behaviour: node.Options, Pace: o.Pace, Conntrack: flows,
		Observer: p.observe, Cleaned: p.metrics.ObserveCleaning, Log: o.Log,
	})
	return p, err
}

// observe passes on that a sync is over. The log comes last: by then everybody else knows.
func (p *proxy) observe(s proxier.Sync) {
	p.metrics.Observe(s)
	p.log.observe(s)
}

// listening says that a socket is open.
func (p *proxy) listening(what string, at net.Addr) {
	p.opts.Log.V(1).Info("Listening", "for", what, "address", at.String())
}

// scrapeTimeout is how long a scrape, or a profile beyond the seconds that it was asked to take, may take.
const scrapeTimeout = time.Minute

// serve starts the servers. They end with the context.
func (p *proxy) serve(ctx context.Context, running *sync.WaitGroup) {
	if o := p.opts.Servers; o.Metrics != "" {
		socket := server.Socket{
			Network: "tcp", Address: o.Metrics, Handler: p.metrics.Handler(o.Profiling), AnswerTimeout: scrapeTimeout,
			Listening: func(at net.Addr) { p.listening("metrics", at) },
			Trouble:   func(err error) { p.opts.Log.Error(err, "Metrics are not served", "again", server.RetryInterval) },
		}
		running.Go(func() { socket.Serve(ctx) })
	}
}
