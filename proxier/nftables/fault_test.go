//go:build linux

package nftables

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/nftables"
	"golang.org/x/sys/unix"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// faultMode is what goes wrong with a call of the kernel.
type faultMode uint8

const (
	beforehand faultMode = iota // nothing is done
	afterwards                  // it is done, and the answer gets lost
	fromThenOn                  // nothing is done any more
	numFaultModes
)

func (m faultMode) String() string { return [...]string{"before", "after", "from then on"}[m] }

var errInjected = errors.New("injected")

// faultyKernel is the real one, except for the call when countdown comes to its end.
type faultyKernel struct {
	kernel
	countdown int
	mode      faultMode
}

// disarm lets all calls through.
const disarm = -1

// arm has a fault happen after so many calls that go well.
func (k *faultyKernel) arm(calls int, mode faultMode) { k.countdown, k.mode = calls+1, mode }

func (k *faultyKernel) reached() bool { return k.countdown == 0 }

func (k *faultyKernel) call(do func() error) error {
	switch {
	case k.countdown == disarm:
		return do()
	case k.countdown > 1:
		k.countdown--
		return do()
	case k.countdown == 1:
		k.countdown = 0
		if k.mode == afterwards {
			return errors.Join(do(), errInjected)
		}
		return errInjected
	case k.mode == fromThenOn:
		return errInjected
	default:
		return do()
	}
}

func (k *faultyKernel) generation() (g uint32, err error) {
	err = k.call(func() (err error) { g, err = k.kernel.generation(); return err })
	return g, err
}

func (k *faultyKernel) commit(table string, changes []*tableChange, generation uint32, check bool) error {
	return k.call(func() error { return k.kernel.commit(table, changes, generation, check) })
}

func (k *faultyKernel) inspect(table string, family endpoints.IPFamily) (s structure, ok bool, err error) {
	err = k.call(func() (err error) { s, ok, err = k.kernel.inspect(table, family); return err })
	return s, ok, err
}

func (k *faultyKernel) stock(table string, family endpoints.IPFamily) (s *stock, ok bool, err error) {
	err = k.call(func() (err error) { s, ok, err = k.kernel.stock(table, family); return err })
	return s, ok, err
}

func (k *faultyKernel) remove(table string, families []endpoints.IPFamily) error {
	return k.call(func() error { return k.kernel.remove(table, families) })
}

// kernelTable reads a table back, as far as it differs between Plans.
func kernelTable(t testing.TB, f endpoints.IPFamily) *table {
	t.Helper()
	out := newTable(f)
	out.rows = kernelRows(t, f)
	c, err := nftables.New()
	if err != nil {
		t.Fatal(err)
	}
	of := &nftables.Table{Name: defaultTable, Family: nftables.TableFamily(nfFamily(f))}
	sets, err := c.GetSets(of)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sets {
		in := slices.IndexFunc(setTable[:], func(x set) bool { return x.name == s.Name && x.kind == verdictMap })
		walled := strings.HasPrefix(s.Name, "source-ranges-")
		if !walled && in < 0 {
			continue
		}
		elements, err := c.GetSetElements(s)
		if err != nil {
			t.Fatal(err)
		}
		if walled {
			out.ranges[s.Name] = spansIn(elements)
			continue
		}
		for _, e := range elements {
			for kind, v := range attributes(e.Val) { // google/nftables leaves a verdict as it came
				if kind == unix.NFTA_VERDICT_CHAIN {
					out.verdicts[verdictKey{setID(in), number(string(e.Key))}] = strings.TrimRight(string(v), "\x00") // an index
				}
			}
		}
	}
	return out
}

// spansIn reads an interval set: where each span begins, and the address behind its end.
func spansIn(elements []nftables.SetElement) []span {
	slices.SortFunc(elements, func(a, b nftables.SetElement) int { return slices.Compare(a.Key, b.Key) })
	var out []span
	for _, e := range elements {
		a, _ := netip.AddrFromSlice(e.Key) // an address of the family
		switch {
		case !e.IntervalEnd:
			out = append(out, span{a, lastOf(netip.PrefixFrom(a, 0))})
		case len(out) > 0:
			out[len(out)-1].last = a.Prev()
		}
	}
	return out
}

// meanings are what the tables of a Plan mean, by family.
func meanings(t testing.TB, p *plan.Plan) []meaning {
	t.Helper()
	var out []meaning
	for _, f := range endpoints.Families() {
		k := newTable(f)
		k.commit(t, newState(p.Node(), f).create(p))
		out = append(out, k.meaning(t))
	}
	return out
}

func kernelMeanings(t testing.TB) []meaning {
	t.Helper()
	var out []meaning
	for _, f := range endpoints.Families() {
		out = append(out, kernelTable(t, f).meaning(t))
	}
	return out
}

// deed is something a Backend does, under different circumstances.
type deed struct {
	name    string
	meddle  []string // what somebody does first, with the nft tool
	changes int      // of the cluster
	do      func(b *Backend, p *plan.Plan, d plan.Delta) error
}

func deeds() []deed {
	whole := func(b *Backend, p *plan.Plan, _ plan.Delta) error { return b.Resync(p) }
	foreign := []string{"add table ip other", "delete table ip other"}
	return []deed{
		{"a change of endpoints", nil, 1, (*Backend).Apply},
		{"a change of many Services", nil, 30, (*Backend).Apply},
		{"a Resync", nil, 1, whole},
		{"a change after somebody else's", foreign, 1, (*Backend).Apply},
		{"a look without a difference, after somebody else's", foreign, 0, (*Backend).Apply},
		{"a change after somebody flushed our chains", []string{"flush table ip lameduck"}, 5, (*Backend).Apply},
		{"a look without a difference, after somebody removed our table", []string{"delete table ip6 lameduck"}, 0, (*Backend).Apply},
		{"a Resync after somebody made our table something else", []string{
			"delete table ip lameduck; add table ip lameduck; add set ip lameduck frontends { type ipv4_addr; }",
		}, 1, whole},
	}
}

// TestEveryCallOfTheKernelFails: whichever fails, and whether it did its work or not, the rules
// are afterwards those of before or the new ones, in either family the same, and the next Apply
// puts right whatever there is to put right.
func TestEveryCallOfTheKernelFails(t *testing.T) {
	for _, c := range deeds() {
		t.Run(c.name, func(t *testing.T) {
			if c.meddle != nil && os.Getenv("LAMEDUCK_KERNEL") == "" {
				t.Skip("takes seconds: make kernel")
			}
			alone(t)
			w := backendtest.NewWorld(8, testNode())
			b := backend(t, w.Node)
			k := &faultyKernel{kernel: b.kernel, countdown: disarm}
			b.kernel = k
			for range 20 {
				w.Disturb(t, 20)
			}
			next := func(changes int) (*plan.Plan, plan.Delta) {
				for range changes {
					w.Disturb(t, 20)
				}
				return w.Step(t)
			}
			p, d := next(0)
			apply(t, b, p, d)
			failures := 0
			for mode := range numFaultModes {
				for calls, reached := 0, true; reached; calls++ {
					before := p
					for _, line := range c.meddle {
						run(t, "nft", line)
					}
					p, d = next(c.changes)
					k.arm(calls, mode)
					err := c.do(b, p, d)
					reached = k.reached()
					k.countdown = disarm
					at := fmt.Sprintf("call %d, %s", calls, mode)
					if err == nil || len(c.meddle) == 0 {
						checkWhole(t, at, before, p, err)
					}
					if err != nil && (!reached || !errors.Is(err, errInjected)) {
						t.Errorf("%s: %v", at, err)
					}
					if reached {
						failures++
					}
					p, d = next(1)
					apply(t, b, p, d)
					if diff := cmp.Diff(meanings(t, p), kernelMeanings(t)); diff != "" {
						t.Fatalf("%s: after the next Apply (- want, + got):\n%s", at, diff)
					}
				}
			}
			if failures < int(numFaultModes) {
				t.Errorf("%d calls failed: fewer than one in each way", failures)
			}
		})
	}
}

// checkWhole holds what the kernel has against two Plans, of which it has to be one: the second one
// if the dataplane said nothing of a failure.
func checkWhole(t *testing.T, at string, before, after *plan.Plan, err error) {
	t.Helper()
	got := kernelMeanings(t)
	diff := cmp.Diff(meanings(t, after), got)
	if diff == "" || err != nil && cmp.Equal(meanings(t, before), got) {
		return
	}
	t.Errorf("%s, error %v: neither the rules of before nor those of after (- after, + got):\n%s", at, err, diff)
}

// TestCleanupFailsOrCleansUp: our tables are there, or none of them is, and another attempt helps.
func TestCleanupFailsOrCleansUp(t *testing.T) {
	for mode := range numFaultModes {
		t.Run(mode.String(), func(t *testing.T) {
			alone(t)
			b := backend(t, testNode())
			k := &faultyKernel{kernel: b.kernel, countdown: disarm}
			b.kernel = k
			apply(t, b, plan.Empty(b.node), plan.Delta{})
			k.arm(0, mode)
			if err := b.Cleanup(); !errors.Is(err, errInjected) {
				t.Errorf("got %v, want %v", err, errInjected)
			}
			want := "table ip lameduck\ntable ip6 lameduck\n"
			if mode == afterwards {
				want = ""
			}
			if got := run(t, "nft", "list", "tables"); got != want {
				t.Errorf("tables after a failure: %q, want %q", got, want)
			}
			k.countdown = disarm
			if err := b.Cleanup(); err != nil {
				t.Error(err)
			}
			if got := run(t, "nft", "list", "tables"); got != "" {
				t.Errorf("tables left: %q", got)
			}
		})
	}
}

// chainsIn splits the tool's listing into chains, by table and name.
func chainsIn(listing string) map[string]string {
	out := map[string]string{}
	table, name := "", ""
	for line := range strings.Lines(listing) {
		switch {
		case strings.HasPrefix(line, "table "):
			table = line
		case strings.HasPrefix(line, "\tchain "):
			name = table + line
		case strings.HasPrefix(line, "\t}"):
			name = ""
		case name != "":
			out[name] += line
		}
	}
	return out
}

// TestAThousandChangesComeToTheSameAsTheWhole, as somebody else's tools read the kernel: what
// became of tables that were changed and changed again means what a new load means elsewhere, and
// each of its chains is listed with the same words.
func TestAThousandChangesComeToTheSameAsTheWhole(t *testing.T) {
	alone(t)
	w := backendtest.NewWorld(9, testNode())
	b := backend(t, w.Node)
	apply(t, b, w.Plan, plan.Delta{})
	for i := range 1000 {
		w.Disturb(t, 40)
		p, d := w.Step(t)
		apply(t, b, p, d)
		if i%100 != 99 {
			continue
		}
		if diff := cmp.Diff(meanings(t, p), kernelMeanings(t)); diff != "" {
			t.Fatalf("after %d changes (- want, + got):\n%s", i+1, diff)
		}
	}
	changed, listed := kernelMeanings(t), chainsIn(run(t, "nft", "-s", "list", "ruleset"))
	alone(t) // elsewhere
	apply(t, backend(t, w.Node), w.Plan, plan.Delta{})
	if diff := cmp.Diff(kernelMeanings(t), changed); diff != "" {
		t.Errorf("elements (- a new load, + after changes):\n%s", diff)
	}
	for name, rules := range chainsIn(run(t, "nft", "-s", "list", "ruleset")) {
		if diff := cmp.Diff(rules, listed[name]); diff != "" {
			t.Errorf("%s (- a new load, + after changes):\n%s", name, diff)
		}
	}
	if len(listed) < 100 {
		t.Errorf("only %d chains were listed", len(listed))
	}
}

// TestAReplacementLeavesHooksAndChainsInPlace: a packet that is on its way through them would find
// nothing any more (test/fault sends packets meanwhile, and may or may not have one there).
func TestAReplacementLeavesHooksAndChainsInPlace(t *testing.T) {
	alone(t)
	w := backendtest.NewWorld(10, testNode())
	first := backend(t, w.Node)
	for range 60 {
		w.Disturb(t, 20)
	}
	p, d := w.Step(t)
	apply(t, first, p, d)
	before := handles(t)
	for range 60 {
		w.Disturb(t, 20)
	}
	p, _ = w.Step(t)
	apply(t, backend(t, w.Node), p, plan.Delta{}) // another process, so to speak
	after := handles(t)
	for name, handle := range after {
		if had, ok := before[name]; ok && had != handle {
			t.Errorf("%s was removed and made again", name)
		}
	}
	for _, name := range []string{"prerouting", "output", "postrouting", "services", "pick-8", "node-port-try-4"} {
		for _, f := range []string{"ip ", "ip6 "} {
			if before[f+name] == 0 || after[f+name] == 0 {
				t.Errorf("no chain %s%s", f, name)
			}
		}
	}
	if diff := cmp.Diff(meanings(t, p), kernelMeanings(t)); diff != "" {
		t.Errorf("(- want, + got):\n%s", diff)
	}
}

// handles are what the kernel knows chains by: it never gives one twice.
func handles(t *testing.T) map[string]int {
	t.Helper()
	out := map[string]int{}
	family := ""
	for line := range strings.Lines(run(t, "nft", "-a", "-t", "list", "ruleset")) {
		var name string
		var handle int
		if n, _ := fmt.Sscanf(line, "table %s lameduck", &name); n == 1 {
			family = name + " "
		}
		if n, _ := fmt.Sscanf(line, "\tchain %s { # handle %d", &name, &handle); n == 2 {
			out[family+name] = handle
		}
	}
	return out
}
