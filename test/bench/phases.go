package main

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/lameduck-proxy/lameduck/test/bench/apiserver"
	"github.com/lameduck-proxy/lameduck/test/bench/network"
	"github.com/lameduck-proxy/lameduck/test/bench/objects"
	"github.com/lameduck-proxy/lameduck/test/bench/table"
)

// What is measured.
const (
	rowFirstSync   = "first-sync"
	rowStart       = "start"
	rowStartCPU    = "start-cpu"
	rowReplaced    = "replaced"
	rowReplaced99  = "replaced-p99"
	rowReplacedCPU = "replaced-cpu"
	rowShrunk      = "shrunk"
	rowGrown       = "grown"
	rowAdded       = "added"
	rowIdleCPU     = "idle-cpu"
	rowIdleMemory  = "idle-memory"
	rowChurned     = "churned"
	rowChurned99   = "churned-p99"
	rowChurnCPU    = "churn-cpu"
	rowChurnMemory = "churn-memory"
	rowPeak        = "peak"
	rowLostOther   = "lost-other"
	rowLostSame    = "lost-same"
)

func rows() []table.Row {
	return []table.Row{
		{ID: rowFirstSync, Title: "first sync, as the proxy measures it", Unit: table.Seconds},
		{ID: rowStart, Title: "process start to last rule answering", Unit: table.Seconds},
		{ID: rowStartCPU, Title: "CPU for that", Unit: table.Seconds},
		{ID: rowReplaced, Title: "one endpoint replaced: event to first packet on it, p50", Unit: table.Seconds},
		{ID: rowReplaced99, Title: "the same, p99", Unit: table.Seconds},
		{ID: rowReplacedCPU, Title: "CPU for one such update", Unit: table.Seconds},
		{ID: rowShrunk, Title: "one endpoint less: event to last packet on it, p50", Unit: table.Seconds},
		{ID: rowGrown, Title: "one endpoint more: event to first packet on it, p50", Unit: table.Seconds},
		{ID: rowAdded, Title: "Service added: event to first packet, p50", Unit: table.Seconds},
		{ID: rowIdleCPU, Title: "nothing changes: CPU a minute", Unit: table.Seconds},
		{ID: rowIdleMemory, Title: "nothing changes: resident memory, with child processes", Unit: table.Bytes},
		{ID: rowChurned, Title: "50 slices a second change: event to first packet, p50", Unit: table.Seconds},
		{ID: rowChurned99, Title: "the same, p99", Unit: table.Seconds},
		{ID: rowChurnCPU, Title: "CPU for one of these changes", Unit: table.Seconds},
		{ID: rowChurnMemory, Title: "peak resident memory meanwhile, with child processes", Unit: table.Bytes},
		{ID: rowPeak, Title: "peak resident memory, with child processes", Unit: table.Bytes},
		{ID: rowLostOther, Title: "connections lost meanwhile, to another Service", Unit: table.Of},
		{ID: rowLostSame, Title: "connections lost meanwhile, to the Service itself", Unit: table.Of},
	}
}

// phases measures everything that can happen to a proxy whose rules stand.
func (c *cell) phases() error {
	for _, phase := range []func() error{c.idled, c.replaced, c.resized, c.added, c.churned, c.losses} {
		if err := phase(); err != nil {
			return err
		}
	}
	return nil
}

// try is one change and what it took; the time of several may be of interest.
type try func(n int) ([]time.Duration, error)

// tries does something over and over, each time from rest, until the number or the time is
// reached. It returns what each took, and the processor time of one.
func (c *cell) tries(do try) (took [][]time.Duration, cpu time.Duration, err error) {
	if err := c.process.Quiet(c.limit); err != nil {
		return nil, 0, err
	}
	before, err := c.process.CPU()
	if err != nil {
		return nil, 0, err
	}
	end := time.Now().Add(c.phase)
	for n := 0; n < c.most && (n == 0 || time.Now().Before(end)); n++ {
		one, err := do(n)
		if err == nil {
			err = errors.Join(c.process.Quiet(c.limit), c.ctx.Err())
		}
		if err != nil {
			return nil, 0, err
		}
		for len(took) < len(one) {
			took = append(took, nil)
		}
		for i, d := range one {
			took[i] = append(took[i], d)
		}
	}
	after, err := c.process.CPU()
	return took, (after - before) / time.Duration(max(1, len(took[0]))), err
}

// record stores a quantile.
func (c *cell) record(row string, took []time.Duration, q float64) {
	values := make([]float64, len(took))
	for i, d := range took {
		values[i] = d.Seconds()
	}
	c.samples[row] = table.Sample{Value: table.Quantile(values, q), N: len(took)}
}

// service returns which Service the n-th try changes: never the last one.
func (c *cell) service(n int) int { return (7 + n*97) % (c.size.Services - 1) }

// addresses returns the endpoints that a Service has now.
func (c *cell) addresses(service int) []netip.Addr {
	if a, ok := c.endpoints[service]; ok {
		return slices.Clone(a)
	}
	var out []netip.Addr
	for j := range c.size.Endpoints {
		out = append(out, c.size.Endpoint(service, j))
	}
	return out
}

// fresh returns an address that no endpoint has had.
func (c *cell) fresh() netip.Addr {
	c.later++
	return objects.Later(c.later)
}

// set prepares to give a Service other endpoints.
func (c *cell) set(service int, addresses []netip.Addr) (*apiserver.Change, error) {
	c.endpoints[service] = addresses
	return c.server.Prepare(watch.Modified, objects.SliceOf(service, addresses))
}

// until sends changes, and returns how long it took until packets to a Service did what seen
// waits for at an address.
func (c *cell) until(service int, at netip.Addr, seen func(*network.Watch, time.Time) (time.Time, error), changes ...*apiserver.Change) (time.Duration, error) {
	ears, err := c.prober.Listen(at)
	if err != nil {
		return 0, err
	}
	defer func() { _ = ears.Close() }()
	from, err := c.server.Send(changes...)
	if err != nil {
		return 0, err
	}
	when, err := seen(ears, from)
	if err != nil {
		return 0, fmt.Errorf("service %d, endpoint %s: %w", service, at, err)
	}
	return when.Sub(from), nil
}

// first waits for the first packet to a Service.
func (c *cell) first(service int) func(*network.Watch, time.Time) (time.Time, error) {
	return func(ears *network.Watch, from time.Time) (time.Time, error) {
		return c.prober.First(objects.ClusterIP(service), ears, from, c.limit)
	}
}

// replace gives a Service one other endpoint.
func (c *cell) replace(service, n int) (time.Duration, error) {
	addresses, added := c.addresses(service), c.fresh()
	addresses[n%len(addresses)] = added
	change, err := c.set(service, addresses)
	if err != nil {
		return 0, err
	}
	return c.until(service, added, c.first(service), change)
}

func (c *cell) replaced() error {
	took, cpu, err := c.tries(func(n int) ([]time.Duration, error) {
		d, err := c.replace(c.service(n), n)
		return []time.Duration{d}, err
	})
	if err != nil {
		return fmt.Errorf("one endpoint replaced: %w", err)
	}
	c.record(rowReplaced, took[0], 0.5)
	c.record(rowReplaced99, took[0], 0.99)
	c.samples[rowReplacedCPU] = table.Sample{Value: cpu.Seconds(), N: len(took[0])}
	return nil
}

// resized takes one endpoint from a Service, and gives it another one.
func (c *cell) resized() error {
	took, _, err := c.tries(func(n int) ([]time.Duration, error) {
		service := c.service(n)
		addresses := c.addresses(service)
		last := len(addresses) - 1
		gone, left := addresses[last], addresses[:last]
		change, err := c.set(service, slices.Clone(left))
		if err != nil {
			return nil, err
		}
		shrunk, err := c.until(service, gone, func(ears *network.Watch, from time.Time) (time.Time, error) {
			return c.prober.Last(objects.ClusterIP(service), ears, len(addresses), from, c.limit)
		}, change)
		if err := errors.Join(err, c.process.Quiet(c.limit)); err != nil {
			return nil, err
		}
		added := c.fresh()
		if change, err = c.set(service, append(left, added)); err != nil {
			return nil, err
		}
		grown, err := c.until(service, added, c.first(service), change)
		return []time.Duration{shrunk, grown}, err
	})
	if err != nil {
		return fmt.Errorf("number of endpoints changed: %w", err)
	}
	c.record(rowShrunk, took[0], 0.5)
	c.record(rowGrown, took[1], 0.5)
	return nil
}

// added adds a Service with its endpoints, and removes it again.
func (c *cell) added() error {
	took, _, err := c.tries(func(n int) ([]time.Duration, error) {
		service := c.size.Services + n
		one := c.fresh()
		added, err := c.prepare(watch.Added, service, one)
		if err != nil {
			return nil, err
		}
		d, err := c.until(service, one, c.first(service), added...)
		if err := errors.Join(err, c.process.Quiet(c.limit)); err != nil {
			return nil, err
		}
		removed, err := c.prepare(watch.Deleted, service, one)
		if err != nil {
			return nil, err
		}
		_, err = c.server.Send(removed...)
		return []time.Duration{d}, err
	})
	if err != nil {
		return fmt.Errorf("service added: %w", err)
	}
	c.record(rowAdded, took[0], 0.5)
	return nil
}

// prepare makes events for a Service and a slice with one endpoint.
func (c *cell) prepare(kind watch.EventType, service int, endpoint netip.Addr) ([]*apiserver.Change, error) {
	svc, err := c.server.Prepare(kind, objects.Service(service))
	if err != nil {
		return nil, err
	}
	slice, err := c.server.Prepare(kind, objects.SliceOf(service, []netip.Addr{endpoint}))
	return []*apiserver.Change{svc, slice}, err
}

// losses replaces endpoints while a client connects to the Service and to another one. Every
// address that was ever an endpoint answers, so each connection that fails is the proxy's doing.
func (c *cell) losses() error {
	const least = 3 // updates
	changed, other := 3, c.size.Services-1
	to := []netip.AddrPort{netip.AddrPortFrom(objects.ClusterIP(other), objects.Port), netip.AddrPortFrom(objects.ClusterIP(changed), objects.Port)}
	stop, done := make(chan struct{}), make(chan error, 1)
	var loads []network.Load
	go func() (err error) {
		defer func() { done <- err }()
		loads, err = c.net.Press(to, stop)
		return err
	}() //nolint:errcheck // it goes to done
	end := time.Now().Add(c.press)
	var err error
	for n := 0; err == nil && (n < least || time.Now().Before(end)); n++ {
		_, err = c.replace(changed, n)
		err = errors.Join(err, c.ctx.Err())
	}
	close(stop)
	if err := errors.Join(err, <-done); err != nil {
		return fmt.Errorf("connections lost: %w", err)
	}
	for i, row := range []string{rowLostOther, rowLostSame} {
		c.samples[row] = table.Sample{Value: float64(loads[i].Lost), N: loads[i].Connections}
		if loads[i].Failure != nil {
			c.progress("%s lost a connection to %s: %v", c.proxy.name, to[i], loads[i].Failure)
		}
	}
	return nil
}
