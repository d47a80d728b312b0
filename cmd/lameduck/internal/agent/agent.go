// Package agent puts a node's service proxy together: objects of an API server, or of files, and the addresses of the
// machine go in, a kernel's rules come out.
//
//	source/apiserver, host -> feed -> proxier -> nftables | iptables, conntrack
package agent

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"github.com/lameduck-proxy/lameduck/proxier"
	"github.com/lameduck-proxy/lameduck/proxier/conntrack"
	"github.com/lameduck-proxy/lameduck/proxier/host"
	"github.com/lameduck-proxy/lameduck/proxier/pace"
	"github.com/lameduck-proxy/lameduck/proxier/source/apiserver"
)

// Options of a proxy that runs.
type Options struct {
	// Node builds the node from what is known of it.
	Node   NodeBuilder
	Kernel KernelOptions
	Pace   pace.Policy
	Client *apiserver.Client
	Log    logr.Logger
}

// Run is a service proxy until the context ends. It leaves its rules in force.
func Run(ctx context.Context, o Options) (err error) {
	addrs, err := host.Addresses()
	if err != nil {
		return err
	}
	node, err := o.Node(Known{Host: addrs})
	if err != nil {
		return err
	}
	backend, err := OpenBackend(node, o.Kernel)
	if err != nil {
		return err
	}
	flows, err := conntrack.New(conntrack.Options{})
	if err != nil {
		return errors.Join(err, backend.Close())
	}
	defer func() { err = errors.Join(err, flows.Close(), backend.Close()) }()
	var running sync.WaitGroup
	defer running.Wait()
	first := func() {
		running.Go(func() {
			if err := removeOthers(backend, o.Kernel); err != nil {
				o.Log.Error(err, "Rules of another mode may be left")
			}
		})
	}
	p, err := proxier.New(proxier.Options{
		Backend: backend, Behaviour: node.Options, Pace: o.Pace, Conntrack: flows,
		Observer: (&observer{log: o.Log, first: first}).observe, Log: o.Log,
	})
	if err != nil {
		return err
	}
	f := &feed{Proxier: p, build: o.Node, log: o.Log, known: Known{Host: addrs}}
	running.Go(func() { apiserver.New(o.Client, f, o.Log).Run(ctx) })
	running.Go(func() { watchHost(ctx, f, o.Log) })
	return p.Run(ctx)
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
	first func() // called when rules are in force for the first time
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
		o.first()
	}
	o.log.V(level).Info("Rules are in force", "services", s.Plan.Len(), "changed", len(s.Services), "full", s.Full, "elapsed", s.End.Sub(s.Start))
}
