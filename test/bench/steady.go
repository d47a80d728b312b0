package main

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/lameduck-proxy/lameduck/test/bench/apiserver"
	"github.com/lameduck-proxy/lameduck/test/bench/table"
)

// idled leaves the proxy alone for a while.
func (c *cell) idled() error {
	if c.idle == 0 {
		return nil
	}
	if err := c.process.Quiet(c.limit); err != nil {
		return fmt.Errorf("before it is left alone: %w", err)
	}
	from, err := c.process.CPU()
	if err != nil {
		return err
	}
	begun := time.Now()
	select {
	case <-c.ctx.Done():
	case <-time.After(c.idle):
	}
	to, err := c.process.CPU()
	if err := errors.Join(err, c.inVain()); err != nil {
		return fmt.Errorf("left alone: %w", err)
	}
	c.samples[rowIdleCPU] = table.Sample{Value: (to - from).Seconds() / time.Since(begun).Minutes(), N: 1}
	c.samples[rowIdleMemory] = table.Sample{Value: float64(c.process.Resident()), N: 1}
	return nil
}

// churnInterval passes between two changes while slices change all the time: 50 a second.
const churnInterval = 20 * time.Millisecond

// churn is a slice that is to change.
type churn struct {
	service int
	added   netip.Addr
	change  *apiserver.Change
}

// churned changes slices at a steady pace, each by one endpoint, whether or not the proxy follows. As soon as one change has
// been seen in the kernel's rules, the next one is looked for: a proxy that takes longer than the pace is asked less often.
func (c *cell) churned() error {
	if c.churn == 0 {
		return nil
	}
	changes, err := c.churns(int(c.churn / churnInterval))
	if err == nil {
		err = c.process.Quiet(c.limit)
	}
	if err != nil {
		return fmt.Errorf("before slices change all the time: %w", err)
	}
	before, err := c.process.CPU()
	if err != nil {
		return err
	}
	c.process.ForgetPeak()
	took, err := c.pace(changes)
	if err == nil {
		err = c.process.Quiet(c.limit) // what is left to do is part of the price
	}
	after, cpuErr := c.process.CPU()
	if err := errors.Join(err, cpuErr); err != nil {
		return fmt.Errorf("slices that change all the time: %w", err)
	}
	c.samples[rowChurnCPU] = table.Sample{Value: (after - before).Seconds() / float64(len(changes)), N: len(changes)}
	c.samples[rowChurnMemory] = table.Sample{Value: float64(c.process.PeakSince()), N: 1}
	c.record(rowChurned, took, 0.5)
	c.record(rowChurned99, took, 0.99)
	return nil
}

// churns prepares changes, each of another Service than those before, as far as there are some.
func (c *cell) churns(n int) ([]churn, error) {
	out := make([]churn, max(n, 1))
	for i := range out {
		service, added := c.service(i), c.fresh()
		addresses := c.addresses(service)
		addresses[i%len(addresses)] = added
		change, err := c.set(service, addresses)
		if err != nil {
			return nil, err
		}
		out[i] = churn{service, added, change}
	}
	return out, nil
}

// sighting is when the first packet to an endpoint came, after its change was sent.
type sighting struct {
	after time.Duration
	err   error
}

// pace sends changes, and returns how long those took that were looked for, among them the first.
func (c *cell) pace(changes []churn) (took []time.Duration, err error) {
	seen := make(chan sighting, 1)
	looking := false
	gather := func(s sighting) {
		took, err, looking = append(took, s.after), errors.Join(err, s.err), false
	}
	begun := time.Now()
	for i, change := range changes {
		time.Sleep(time.Until(begun.Add(time.Duration(i) * churnInterval)))
		if looking {
			select {
			case s := <-seen:
				gather(s)
			default:
			}
		}
		if err = errors.Join(err, c.send(change, !looking, seen), c.inVain()); err != nil {
			break
		}
		looking = true
	}
	if looking {
		gather(<-seen)
	}
	if over := time.Since(begun) - time.Duration(len(changes))*churnInterval; over > c.churn/10 {
		c.progress("%s: %d changes took %s longer than they were to", c.proxy.name, len(changes), over.Round(time.Millisecond))
	}
	return took, err
}

// send sends a change, and looks for it: seen says when it came.
func (c *cell) send(change churn, look bool, seen chan<- sighting) error {
	if !look {
		_, err := c.server.Send(change.change)
		return err
	}
	ears, err := c.prober.Listen(change.added)
	if err != nil {
		return err
	}
	from, err := c.server.Send(change.change)
	if err != nil {
		return errors.Join(err, ears.Close())
	}
	go func() {
		when, err := c.first(change.service)(ears, from)
		if err != nil {
			err = fmt.Errorf("service %d, endpoint %s: %w", change.service, change.added, err)
		}
		seen <- sighting{when.Sub(from), errors.Join(err, ears.Close())}
	}()
	return nil
}
