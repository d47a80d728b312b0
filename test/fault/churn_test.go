//go:build linux

package fault

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/lameduck-proxy/lameduck/proxier/plan"
	"github.com/lameduck-proxy/lameduck/test/lab"
)

// Ports that calls come from: each has one that no call had for a long time.
const firstPort, lastPort = 10000, 39999

// flood goes through a list of calls again and again, each time from another port, until it is
// told to stop. It returns how many there were. All have to be answered.
type flood struct {
	*rig
	calls []call
	pace  time.Duration // between two calls; 0 is none, as long as the table of connections has room
}

// roomy is how many calls fit into a node's table of connections, which forgets some of them after 210 s only. kube-proxy
// sees to 131,072 at least (conntrack.min), and where the table is full the kernel drops first packets.
const roomy = 60_000

func (f flood) run(enough func(calls int) bool) (int, error) {
	ticker := time.NewTicker(max(f.pace, time.Millisecond))
	defer ticker.Stop()
	for i := 0; ; i++ {
		if enough(i) {
			return i, nil
		}
		if f.pace > 0 || i >= roomy {
			<-ticker.C
		}
		d := f.dial(f.calls[i%len(f.calls)], uint16(firstPort+i%(lastPort-firstPort+1))) // below 40,000
		if err := f.call(d); err != nil {
			return i, fmt.Errorf("call %d: %w", i, err)
		}
	}
}

// call opens a flow and closes it.
func (r *rig) call(d lab.Dial) error {
	flow, result, err := r.Open(d)
	if err != nil {
		return err
	}
	if result.Fate != lab.Answered {
		return fmt.Errorf("%s: %s %s, seen by %v; the node knows of it: %s; %s", d, result.Fate, result.Error, result.Arrivals, r.known(d), r.fill())
	}
	return flow.Close()
}

// known lists what the node's table of connections has from the address and port of a call.
func (r *rig) known(d lab.Dial) string {
	var out []string
	err := r.Do(lab.NodeName, func() error {
		family := netlink.InetFamily(unix.AF_INET)
		if d.Dst.Addr().Is6() {
			family = unix.AF_INET6
		}
		all, err := netlink.ConntrackTableList(netlink.ConntrackTable, family)
		for _, f := range all {
			if f.Forward.SrcPort == d.Src.Port() && f.Forward.SrcIP.Equal(d.Src.Addr().AsSlice()) {
				out = append(out, f.String())
			}
		}
		return err
	})
	return fmt.Sprint(out, err)
}

// fill is how full the node's table of connections is.
func (r *rig) fill() string {
	var figures [2]string
	err := r.Do(lab.NodeName, func() error {
		for i, name := range []string{"count", "max"} {
			text, err := os.ReadFile("/proc/sys/net/netfilter/nf_conntrack_" + name)
			if err != nil {
				return err
			}
			figures[i] = strings.TrimSpace(string(text))
		}
		return nil
	})
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("its table has %s connections of %s", figures[0], figures[1])
}

// unscathed looks whether anything was lost that a client would not have noticed.
func (r *rig) unscathed(t *testing.T) {
	t.Helper()
	for _, site := range []string{client, caller, lab.NodeName} {
		if n, err := r.repetitions(site); err != nil || n != "0" {
			t.Errorf("%s sent %s first packets again, error %v", site, n, err)
		}
	}
	if r.kind.lost == nil {
		return
	}
	err := r.worker.Do(func() error {
		n, err := r.kind.lost()
		if n > 0 {
			err = fmt.Errorf("%d packets found no endpoint of a Service that had some", n)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// shapes are Services whose rules differ.
func shapes() []service {
	return []service{{number: 1}, {number: 2, local: true}, {number: 3, affinity: true}, {number: 4, local: true, affinity: true}}
}

// somePods draws endpoints, one on the node at least: without any, policy Local has nobody to
// answer. All of them listen all the time, whether they are listed or not.
func (c *cluster) somePods(n int) []pod {
	if n == 0 {
		return nil
	}
	out := []pod{{number: c.rng.IntN(podsPerSite), local: true}}
	for _, i := range c.rng.Perm(2 * podsPerSite) {
		if p := (pod{number: i / 2, local: i%2 == 0}); len(out) < n && p != out[0] {
			out = append(out, p)
		}
	}
	return out
}

// successor is what becomes of a list of endpoints: the steps that are hard on rules.
func (c *cluster) successor(old []pod) []pod {
	switch kind := c.rng.IntN(6); {
	case len(old) == podsPerSite && kind < 3:
		return old[:1] // from 16 to 1 in one step
	case kind == 0 && len(old) > 1:
		return slices.Concat(old[:1], old[2:])
	case kind == 1:
		return c.somePods(len(old)) // all are replaced
	case kind == 2: // all but one
		out := slices.Concat(old[:1], c.somePods(podsPerSite))
		for i, p := range out[1:] {
			if p == out[0] {
				out = append(out[:i+1], out[i+2:]...)
				break
			}
		}
		return out[:max(len(old), 1)]
	case kind == 3:
		return c.somePods(min(len(old)+1, podsPerSite))
	default:
		return c.somePods(podsPerSite)
	}
}

// churn has a dataplane sync and calls made, each at a pace, until there were as many calls as
// there should be, and as many syncs or a thousand.
func churn(t *testing.T, r *rig, calls []call, pace time.Duration, want int, change func(i int) error) {
	t.Helper()
	least := int64(min(want, 1000)) // of syncs: they take longer than calls
	var syncs atomic.Int64
	var over atomic.Bool
	synced := make(chan error, 1)
	go func() {
		ticker := time.NewTicker(max(pace, 1))
		defer ticker.Stop()
		for i := 0; !over.Load(); i++ {
			if pace > 0 {
				<-ticker.C
			}
			if err := change(i); err != nil {
				synced <- fmt.Errorf("sync %d: %w", i, err)
				syncs.Store(least) // so that nobody waits for it
				return
			}
			syncs.Add(1)
		}
		synced <- nil
	}()
	// The slower of the two has as many of the other's in between as it takes.
	n, err := flood{r, calls, pace}.run(func(calls int) bool { return calls >= want && syncs.Load() >= least })
	over.Store(true)
	if err := errors.Join(err, <-synced); err != nil {
		t.Error(err)
	}
	t.Logf("%d calls during %d syncs", n, syncs.Load())
	r.unscathed(t)
}

// Every hundredth sync replaces all rules, as a restart does.
const resyncEvery = 100

func (r *rig) syncOrResync(i int) error {
	if i%resyncEvery != resyncEvery/2 {
		return r.sync()
	}
	p, _ := r.step()
	return r.worker.Do(func() error { return r.Resync(p) })
}

func TestNoConnectionToAnUntouchedServiceIsLost(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p plane) {
		r := newRig(t, p, 1)
		var calls []call
		for _, s := range shapes() {
			if err := r.set(s, r.somePods(1+s.number*3)); err != nil {
				t.Fatal(err)
			}
			calls = append(calls, r.calls(s)...)
		}
		if err := r.sync(); err != nil {
			t.Fatal(err)
		}
		churn(t, r, calls, time.Millisecond, p.often(1000, 60), func(i int) error {
			other := service{number: 10 + r.rng.IntN(20), local: r.rng.IntN(2) == 0, affinity: r.rng.IntN(2) == 0}
			if r.rng.IntN(4) == 0 {
				r.remove(other)
			} else if err := r.set(other, r.somePods(r.rng.IntN(podsPerSite+1))); err != nil {
				return err
			}
			return r.syncOrResync(i)
		})
	})
}

func TestNoConnectionToTheServiceThatChangesIsLost(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p plane) {
		r := newRig(t, p, 2)
		var calls []call
		has := map[int][]pod{}
		for _, s := range shapes() {
			has[s.number] = r.somePods(podsPerSite)
			if err := r.set(s, has[s.number]); err != nil {
				t.Fatal(err)
			}
			calls = append(calls, r.calls(s)...)
		}
		if err := r.sync(); err != nil {
			t.Fatal(err)
		}
		change := func(int) error {
			for _, s := range shapes() {
				has[s.number] = r.successor(has[s.number])
				if err := r.report(r.setPods(s, has[s.number])); err != nil {
					return err
				}
			}
			return r.sync() // never a Resync: it would set the counters back
		}
		churn(t, r, calls, time.Millisecond, p.often(1000, 60), change)
		// A packet is in the rules for a few microseconds: for one to be there when they change, it takes
		// more of both.
		churn(t, r, calls, 0, p.often(20000, 200), change)
	})
}

// A process that starts finds the rules of the one before it: nobody notices, however often.
func TestNoConnectionIsLostToARestart(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p plane) {
		r := newRig(t, p, 3)
		var calls []call
		for _, s := range shapes() {
			if err := r.set(s, r.somePods(7)); err != nil {
				t.Fatal(err)
			}
			calls = append(calls, r.calls(s)...)
		}
		if err := r.sync(); err != nil {
			t.Fatal(err)
		}
		want := p.often(20000, 500)
		var over atomic.Bool
		restarted := make(chan error, 1)
		starts := 0
		go func() {
			var err error
			for ; err == nil && !over.Load(); starts++ {
				err = r.worker.Do(func() error {
					if starts%8 == 0 {
						return restart(p, r.cluster)
					}
					return r.Resync(r.plan) // the rest of a start takes longer, and changes nothing
				})
			}
			restarted <- err
		}()
		n, err := (flood{rig: r, calls: calls}).run(func(calls int) bool { return calls >= want })
		over.Store(true)
		if err := errors.Join(err, <-restarted); err != nil {
			t.Error(err)
		}
		t.Logf("%d calls while the rules were replaced %d times", n, starts)
		r.unscathed(t)
	})
}

// restart is what a process does that starts and ends.
func restart(p plane, c *cluster) error {
	d, err := p.start(c.node)
	if err != nil {
		return err
	}
	return errors.Join(d.Apply(c.plan, plan.Delta{}), d.Close())
}
