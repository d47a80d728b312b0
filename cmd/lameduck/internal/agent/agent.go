// Package agent puts a node's service proxy together: objects of an API server, or of files, and the addresses of the
// machine go in, a kernel's rules come out.
//
//	source/apiserver, host -> feed -> proxier -> nftables | iptables, conntrack
//	                                     '-> metrics, health: over HTTP
package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier"
	"github.com/lameduck-proxy/lameduck/proxier/conntrack"
	"github.com/lameduck-proxy/lameduck/proxier/events"
	"github.com/lameduck-proxy/lameduck/proxier/host"
	"github.com/lameduck-proxy/lameduck/proxier/pace"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
	"github.com/lameduck-proxy/lameduck/proxier/source"
	"github.com/lameduck-proxy/lameduck/proxier/source/apiserver"
	"github.com/lameduck-proxy/lameduck/proxier/source/files"
)

// Options of a proxy that runs.
type Options struct {
	// Node builds the node from what is known of it.
	Node NodeBuilder
	// Profile is the behaviour that its nodes have; it is announced and named in explanations.
	Profile endpoints.Profile
	Kernel  KernelOptions
	Pace    pace.Policy
	// Servers say where it is asked about itself.
	Servers ServerOptions
	Client  *apiserver.Client
	// Events is where Events are written; nil is the Client's server, if it programs a kernel.
	Events events.Writer
	// Files are read instead of an API server's objects; nil for none.
	Files *files.Options
	// Sim has it decide, say why, and program nothing. Nil has it program the kernel.
	Sim *SimOptions
	// Prepare is called once, when the dataplane is open: by then the kernel has the modules that it needs. With Sim
	// it is not: the machine is not ours to change. It may be nil.
	Prepare func()
	// Reload has Node and Pace follow a file; nil for as they are.
	Reload *Reload
	Log    logr.Logger
}

// endGrace is for what is under way when a proxy is told to end: a sync, answers, a request to the API server. A kubelet kills after
// 30 s by default. A tool that hangs, such as an iptables that waits for its lock, must not take all of that.
const endGrace = 10 * time.Second

// Run is a service proxy until the context ends. It leaves its rules in force, those of a sync under way included, but does not
// wait for that any longer than endGrace: call it from a process that ends soon after.
func Run(ctx context.Context, o Options) error {
	return within(ctx, endGrace, func() error { return run(ctx, o) })
}

// within has work end no later than some time after a context.
func within(ctx context.Context, grace time.Duration, work func() error) error {
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(grace):
		return fmt.Errorf("ended in the midst of a sync or a request that was not over after %v; the next start writes all rules again", grace)
	}
}

// run is a proxy until the context ends.
func run(ctx context.Context, o Options) error {
	addrs, err := host.Addresses()
	if err != nil {
		return err
	}
	known := Known{Host: addrs}
	node, err := o.Node(known)
	if err != nil {
		return err
	}
	announce(o.Log, o.Profile)
	if o.Events == nil && o.Client != nil && o.Sim == nil {
		o.Events = o.Client
	}
	if o.Sim != nil {
		p, err := newProxy(o, node, nowhere{}, nil)
		if err != nil {
			return err
		}
		return p.run(ctx, known)
	}
	return program(ctx, o, node, known)
}

// announce says, as loudly as a log can, that traffic is handled as no kube-proxy of the version would. Its gate
// ProxyTerminatingEndpoints is GA and locked since 1.28 (KEP-1669 kep.yaml; docs/model/kube-proxy.md): a user
// who turns the fallback off here, to see what it is good for, loses connections that a kube-proxy would not.
func announce(log logr.Logger, p endpoints.Profile) {
	if p.Options.TerminatingFallback != endpoints.FallbackAll {
		log.Error(nil, "The fallback to serving terminating endpoints (KEP-1669) is not what it is in Kubernetes 1.26 and later: "+
			"connections are refused or dropped while the last endpoints in reach terminate",
			"terminatingFallback", p.Options.TerminatingFallback.String(), "kubernetesVersion", p.Version.String())
	}
	for _, setting := range p.WhatIf {
		log.Error(nil, "No kube-proxy of this version can be set this way", "setting", setting, "kubernetesVersion", p.Version.String())
	}
}

// program is a proxy that has the kernel do it.
func program(ctx context.Context, o Options, node *plan.Node, known Known) (err error) {
	backend, err := OpenBackend(node, o.Kernel)
	if err != nil {
		return err
	}
	if o.Prepare != nil {
		o.Prepare()
	}
	flows, err := conntrack.New(conntrack.Options{})
	if err != nil {
		return errors.Join(err, backend.Close())
	}
	defer func() { err = errors.Join(err, flows.Close(), backend.Close()) }()
	p, err := newProxy(o, node, backend, flows)
	if err != nil {
		return err
	}
	own := newClaim(o.Kernel)
	p.others.rivals.look = func() ([]string, error) { return look(o.Kernel, own) }
	ctx, end := context.WithCancel(ctx)
	var beside sync.WaitGroup
	defer func() { end(); beside.Wait(); err = errors.Join(err, own.release()) }()
	// Not before rules are in force: until then a kube-proxy's may be there that are taken over.
	p.log.first = func() {
		beside.Go(func() {
			clearAway(backend, o)
			p.others.rivals.run(ctx)
		})
	}
	return p.run(ctx, known)
}

// run has the proxy follow the cluster and the machine until the context ends.
func (p *proxy) run(ctx context.Context, known Known) error {
	o := p.opts
	f := &feed{Proxier: p.Proxier, build: o.Node, log: o.Log, known: known}
	ctx, end := context.WithCancel(ctx)
	defer end()
	failed := make(chan error, 1)
	p.fail = func(err error) {
		if err == nil {
			return
		}
		select {
		case failed <- err:
		default: // one is enough to end
		}
		end()
	}
	var running sync.WaitGroup
	defer running.Wait()
	p.serve(ctx, &running)
	running.Go(func() { o.source(f).Run(ctx) })
	running.Go(func() { watchHost(ctx, f, o.Log) })
	if o.Reload != nil {
		running.Go(func() { reloads(ctx, o.Reload, f, o.Log) })
	}
	if err := p.Run(ctx); err != nil {
		return err
	}
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// source is where objects come from.
func (o *Options) source(sink source.Sink) interface{ Run(ctx context.Context) } {
	if o.Files != nil {
		return files.New(*o.Files, sink)
	}
	return apiserver.New(o.Client, sink, o.Log)
}

// clearAway removes what lameduck left in other modes.
func clearAway(b Backend, o Options) {
	if err := removeOthers(b, o.Kernel); err != nil {
		o.Log.Error(err, "Rules of another mode may be left")
	}
}

// hostRetry passes before the machine's addresses are watched again after that failed.
const hostRetry = time.Second

// watchHost tells a feed of the machine's addresses until the context ends.
func watchHost(ctx context.Context, f *feed, log logr.Logger) {
	for ctx.Err() == nil {
		if err := host.Watch(ctx, f.setHost); err != nil {
			log.Error(err, "Watching the machine's addresses failed", "again", hostRetry)
		}
		select {
		case <-ctx.Done():
		case <-time.After(hostRetry):
		}
	}
}

// observer logs syncs as kube-proxy does: the first for everybody, others for those who ask.
type observer struct {
	log   logr.Logger
	first func() // called when rules are in force for the first time; nil for nobody
	begun bool
}

func (o *observer) observe(s proxier.Sync) {
	level := 2
	switch {
	case s.Err != nil: // the Proxier has said so
		return
	case s.Check():
		level = 4
	case !o.begun:
		o.begun, level = true, 0
		if o.first != nil {
			o.first()
		}
	}
	o.log.V(level).Info("Rules are in force", "services", s.Plan.Len(), "changed", len(s.Services), "full", s.Full, "elapsed", s.End.Sub(s.Start))
}
