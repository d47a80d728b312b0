package iptables

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

var errInjected = errors.New("injected")

// faultMode is how a call of a tool fails.
type faultMode int

const (
	undone     faultMode = iota // it does nothing
	done                        // it does its work, and what says so gets lost
	partly                      // the first table is written, the others are not: each is a transaction of its own
	fromThenOn                  // it does nothing, and neither does any after it
	numFaultModes
)

func (m faultMode) String() string {
	return [...]string{"undone", "done", "partly", "from then on"}[m]
}

// faultyKernel lets one call of several kernels fail, counting all of them.
type faultyKernel struct {
	*fakeKernel
	faults *faults
}

type faults struct {
	mode      faultMode
	countdown int // calls until it fails
	calls     int
}

func (f *faults) reached() bool { return f.calls > f.countdown }

func (f *faults) call(whole, part func() error) error {
	n := f.calls
	f.calls++
	switch {
	case n < f.countdown || n > f.countdown && f.mode != fromThenOn:
		return whole()
	case f.mode == done:
		return errors.Join(whole(), errInjected)
	case f.mode == partly:
		return errors.Join(part(), errInjected)
	default:
		return errInjected
	}
}

func nothing() error { return nil }

func (k *faultyKernel) save(some ...table) (text string, err error) {
	err = k.faults.call(func() (err error) { text, err = k.fakeKernel.save(some...); return err }, nothing)
	return text, err
}

func (k *faultyKernel) restore(text string) error {
	first, _, _ := strings.Cut(text, "COMMIT\n")
	return k.faults.call(
		func() error { return k.fakeKernel.restore(text) },
		func() error { return k.fakeKernel.restore(first + "COMMIT\n") },
	)
}

func (k *faultyKernel) exists(x fixture) (found bool, err error) {
	err = k.faults.call(func() (err error) { found, err = k.fakeKernel.exists(x); return err }, nothing)
	return found, err
}

func (k *faultyKernel) openLocalhost(note func() error) error {
	return k.faults.call(func() error { return k.fakeKernel.openLocalhost(note) }, nothing)
}

func (k *faultyKernel) closeLocalhost() error {
	return k.faults.call(k.fakeKernel.closeLocalhost, nothing)
}

// tablesOf lists a family's tables one by one.
func tablesOf(k *fakeKernel) [numTables]string {
	var out [numTables]string
	for _, t := range tables() {
		out[t], _ = k.save(t)
	}
	return out
}

// deed is something a Backend does, under different circumstances.
type deed struct {
	name    string
	meddle  func(*fakeKernel) // what somebody does first
	changes int               // of the cluster
	do      func(*Backend, *plan.Plan, plan.Delta) error
}

// Whichever call of a tool fails, and whether or how far it did its work: each table is afterwards that of before or the
// new one, if nobody else was at it, every rule leads to a chain that is there, and the next Apply puts right whatever there is to put right.
func TestEveryCallOfTheToolsFails(t *testing.T) {
	t.Parallel()
	flush := func(k *fakeKernel) {
		for _, x := range tables() {
			for c := range k.tables[x] { // order: each for itself
				if strings.HasPrefix(c, "KUBE-") {
					delete(k.tables[x], c)
				} else {
					k.tables[x][c] = nil
				}
			}
		}
	}
	whole := func(b *Backend, p *plan.Plan, _ plan.Delta) error { return b.Resync(p) }
	for _, c := range []deed{
		{"a change of one Service", nil, 1, (*Backend).Apply},
		{"a change of many", nil, 30, (*Backend).Apply},
		{"a Resync", nil, 3, whole},
		{"a look at what somebody flushed", flush, 0, (*Backend).Apply},
		{"a change after somebody flushed", flush, 3, (*Backend).Apply},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			failures := 0
			for mode := range numFaultModes {
				for n, reached := 0, true; reached; n++ {
					if reached = c.fail(t, &faults{mode: mode, countdown: n}); reached {
						failures++
					}
				}
			}
			if failures < int(numFaultModes) {
				t.Errorf("%d calls failed: fewer than one in each way", failures)
			}
		})
	}
}

// fail does a deed of which one call fails, if it makes as many.
func (c *deed) fail(t *testing.T, f *faults) (reached bool) {
	t.Helper()
	b, kernels, w := started(t)
	var before [][numTables]string
	for i, k := range kernels {
		if c.meddle != nil {
			c.meddle(k)
		}
		before = append(before, tablesOf(k))
		b.families[i].kernel = &faultyKernel{k, f}
	}
	for range c.changes {
		w.Disturb(t, 20)
	}
	p, d := w.Step(t)
	err := c.do(b, p, d)
	reached = f.reached()
	at := fmt.Sprintf("call %d %s", f.countdown, f.mode)
	if err != nil && (!reached || !errors.Is(err, errInjected)) {
		t.Errorf("%s: %v", at, err)
	}
	fresh := loaded(t, w.Node, p)
	for i, k := range kernels {
		err := connected(k)
		if c.meddle == nil {
			err = errors.Join(err, wholeTables(k, before[i], tablesOf(fresh[i])))
		}
		if err != nil {
			t.Errorf("%s: family %d: %v", at, i, err)
		}
	}
	f.countdown = f.calls + 1<<20
	if err := b.Apply(p, plan.Delta{}); err != nil {
		t.Fatalf("%s: the next Apply: %v", at, err)
	}
	for i, k := range kernels {
		if diff := cmp.Diff(fresh[i].text(), k.text()); diff != "" {
			t.Fatalf("%s: family %d after the next Apply (- want, + got):\n%s", at, i, diff)
		}
	}
	return reached
}

// loaded returns kernels in which nothing but a Plan was ever put in force.
func loaded(t *testing.T, node *plan.Node, p *plan.Plan) []*fakeKernel {
	t.Helper()
	b, kernels := onFakes(node, Options{})
	if err := b.Resync(p); err != nil {
		t.Fatal(err)
	}
	return kernels
}

// wholeTables says what is half done: a table that is neither the one nor the other.
func wholeTables(k *fakeKernel, before, after [numTables]string) error {
	got := tablesOf(k)
	for _, t := range tables() {
		if got[t] != before[t] && got[t] != after[t] && !between(t, before[t], after[t], got[t]) {
			return fmt.Errorf("table %s is neither that of before nor the new one:\n%s", t, cmp.Diff(after[t], got[t]))
		}
	}
	return nil
}

// connected says which rule leads nowhere.
func connected(k *fakeKernel) error {
	for _, t := range tables() {
		if err := complete(k.tables[t]); err != nil {
			return fmt.Errorf("table %s: %w", t, err)
		}
	}
	return nil
}

// between says whether the filter table has the refusals of both, which a change writes before and takes back after it
// writes translations.
func between(t table, before, after, got string) bool {
	if t != filter {
		return false
	}
	lines := func(s string) []string { return strings.Split(s, "\n") }
	both := slices.Concat(lines(before), lines(after))
	for _, l := range lines(got) {
		if !slices.Contains(both, l) {
			return false
		}
	}
	for _, l := range lines(after) {
		if !slices.Contains(lines(got), l) {
			return false
		}
	}
	return true
}

// opened is a Backend that has put rules in force, and had 127.0.0.0/8 routed for them.
func opened(t *testing.T) (*Backend, []*fakeKernel) {
	t.Helper()
	node := testNode()
	node.LocalhostNodePorts = true
	w := backendtest.NewWorld(3, node)
	b, kernels := onFakes(node, Options{})
	for range 40 {
		w.Disturb(t, 20)
	}
	if err := b.Apply(w.Step(t)); err != nil {
		t.Fatal(err)
	}
	if !kernels[0].opened {
		t.Fatal("127.0.0.0/8 is not routed")
	}
	return b, kernels
}

// A clean-up of which one call fails says so. As long as our chains are there 127.0.0.0/8 may be routed, not any longer, and another
// clean-up removes what is left.
func TestEveryCallOfACleanupFails(t *testing.T) {
	t.Parallel()
	for _, how := range []struct {
		name string
		do   func(*Backend) error
	}{
		{"by the Backend", (*Backend).Cleanup},
		{"by somebody else", func(b *Backend) (err error) {
			for _, f := range b.families {
				found, one := removeAll(f.kernel, &b.opts, f.layout)
				if !found && one == nil {
					one = errors.New("nothing was found")
				}
				err = errors.Join(err, one)
			}
			return err
		}},
	} {
		t.Run(how.name, func(t *testing.T) {
			t.Parallel()
			empty := newFakeKernel().text()
			for mode := range numFaultModes {
				calls := 0
				for n, reached := 0, true; reached; n++ {
					b, kernels := opened(t)
					f := &faults{mode: mode, countdown: n}
					for i, k := range kernels {
						b.families[i].kernel = &faultyKernel{k, f}
					}
					err := how.do(b)
					if reached = f.reached(); reached {
						calls++
					}
					at := fmt.Sprintf("call %d %s", n, mode)
					if reached != errors.Is(err, errInjected) || !reached && err != nil {
						t.Errorf("%s: %v", at, err)
					}
					if left := kernels[0].text(); kernels[0].opened && left == empty {
						t.Errorf("%s: 127.0.0.0/8 is routed without our rules", at)
					}
					f.countdown = f.calls + 1<<20
					if err := b.Cleanup(); err != nil {
						t.Errorf("%s: the next clean-up: %v", at, err)
					}
					for i, k := range kernels {
						if diff := cmp.Diff(empty, k.text()); diff != "" || k.opened {
							t.Errorf("%s: family %d after the next clean-up: 127.0.0.0/8 routed %v, (- want, + got):\n%s", at, i, k.opened, diff)
						}
					}
				}
				if calls < 5 {
					t.Errorf("%s: only %d calls were made", mode, calls)
				}
			}
		})
	}
}

// What has become a kube-proxy's is left to it, but for the mark that tells our chains: also by a clean-up of which a call fails.
func TestACleanupAfterAKubeProxyHasCome(t *testing.T) {
	t.Parallel()
	for fails := range 3 { // calls of the first family; the last time none
		b, kernels := opened(t)
		k := kernels[0]
		k.tables[mangle]["KUBE-PROXY-CANARY"] = nil
		before := k.text()
		f := &faults{countdown: fails}
		b.families[0].kernel = &faultyKernel{k, f}
		err := b.Cleanup()
		if f.reached() != errors.Is(err, errInjected) {
			t.Errorf("call %d: %v", fails, err)
		}
		canary := ":KUBE-LAMEDUCK-CANARY - [0:0]\n"
		want := strings.ReplaceAll(before, canary, "")
		if f.reached() {
			want = before
		}
		if diff := cmp.Diff(want, k.text()); diff != "" || !k.opened || !strings.Contains(before, canary) {
			t.Errorf("call %d: 127.0.0.0/8 routed %v, (- want, + got):\n%s", fails, k.opened, diff)
		}
	}
}
