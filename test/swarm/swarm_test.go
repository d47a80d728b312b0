package swarm

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
)

// plainSeeds is how many worlds an ordinary test run draws.
const plainSeeds = 200

// TestSwarm runs random worlds. LAMEDUCK_SWARM_SEEDS=n runs n of them, LAMEDUCK_SWARM_SEED=s
// only that of seed s.
func TestSwarm(t *testing.T) {
	t.Parallel()
	first, n := uint64(1), envInt(t, "LAMEDUCK_SWARM_SEEDS", plainSeeds)
	if one := envInt(t, "LAMEDUCK_SWARM_SEED", 0); one > 0 {
		first, n = uint64(one), 1
	}
	var results []result
	if first == 1 && n == plainSeeds {
		results = plainWorlds()
	} else {
		results = runAll(first, n)
	}
	table := newTable()
	for i := range results {
		if results[i].err != nil {
			seed := first + uint64(i)
			t.Fatalf("seed %d of %d: broken: %v\nto see it again: LAMEDUCK_SWARM_SEED=%d go test -count=1 -run TestSwarm ./test/swarm", seed, n, results[i].err, seed)
		}
		table.add(&results[i])
	}
	t.Log(table.text(n))
	if n >= enoughSeeds {
		table.check(t, n)
	}
}

// plainWorlds are those of an ordinary test run, and what became of them.
var plainWorlds = sync.OnceValue(func() []result { return runAll(1, plainSeeds) })

func envInt(t *testing.T, name string, otherwise int) int {
	t.Helper()
	s := os.Getenv(name)
	if s == "" {
		return otherwise
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		t.Fatalf("%s=%q: want a number from 1 on", name, s)
	}
	return n
}

// result is what became of one seed.
type result struct {
	err     error
	groups  []ledger.Group
	totals  ledger.Totals
	settled bool
	kept    string
}

// runAll runs seeds on all cores. After a failure only earlier seeds are still run, so the
// failure that is reported does not depend on the number of cores.
func runAll(first uint64, n int) []result {
	results := make([]result, n)
	var mu sync.Mutex
	next, end := 0, n
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		next++
		return next - 1, next <= end
	}
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				results[i] = runSeed(first + uint64(i))
				if results[i].err != nil {
					mu.Lock()
					end = min(end, i)
					mu.Unlock()
				}
			}
		})
	}
	group.Wait()
	return results
}

// each does n things on all cores.
func each(n int, do func(i int)) {
	var group sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		group.Go(func() {
			for i := w; i < n; i += workers {
				do(i)
			}
		})
	}
	group.Wait()
}

// runSeed runs the world of a seed; a panic is a failure of the simulator.
func runSeed(seed uint64) (r result) {
	defer func() {
		if p := recover(); p != nil {
			r.err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	w := draw(seed)
	j := newJudge(w)
	options := j.options()
	told := newTelling(options.Events)
	res, err := sim.RunWith(w.Scenario, seed, options)
	if err != nil {
		return result{err: fmt.Errorf("books: %w", err)}
	}
	j.close(res.End)
	j.closeBudgets(res)
	j.closeDrains(res)
	j.closeMachines(res)
	if j.closePending(res); j.broken != nil {
		return result{err: j.broken}
	}
	if !res.Settled && !w.endless && res.Stuck == nil {
		return result{err: fmt.Errorf("rest: %s at %s s, the last action was at %s s", res.Unrest, res.End.Seconds(), w.Actions[len(w.Actions)-1].At.Seconds())}
	}
	// The rules hear of each request, so that all were drawn. A run that nobody listens to counts most
	// of them, and comes to the same.
	again, err := sim.Run(draw(seed).Scenario, seed)
	if err != nil {
		return result{err: err}
	}
	if again.TraceHash != res.TraceHash {
		return result{err: fmt.Errorf("hash: the same seed gives another trace where requests are counted: %+v drawn, %+v counted", res.Ledger.All(), again.Ledger.All())}
	}
	for _, g := range res.Ledger.Groups() {
		r.groups = append(r.groups, *g)
	}
	r.totals, r.settled, r.kept = res.Ledger.All(), res.Settled, kept(res, told)
	return r
}

// table counts what kinds of failure the worlds came to.
type table struct {
	rows     map[row]*tally
	requests ledger.Totals
	settled  int
}

type row struct {
	cause ledger.Cause
	actor ledger.Actor
}

type tally struct {
	seeds, requests    int
	elsewhere, nowhere int
}

func newTable() *table { return &table{rows: map[row]*tally{}} }

func (c *table) add(r *result) {
	c.requests.Add(r.totals)
	if r.settled {
		c.settled++
	}
	seen := map[row]bool{}
	for _, g := range r.groups {
		k := row{g.Blame.Cause, g.Blame.Actor}
		if c.rows[k] == nil {
			c.rows[k] = &tally{}
		}
		have := c.rows[k]
		if !seen[k] {
			have.seeds++
			seen[k] = true
		}
		have.requests += int(g.Count)
		if g.Blame.Elsewhere {
			have.elsewhere += int(g.Count)
		} else {
			have.nowhere += int(g.Count)
		}
	}
}

func (c *table) text(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d worlds, %d came to rest; %d requests, %d failed, %d rescued, %d slow\n\n", n, c.settled, c.requests.Total, c.requests.Failed, c.requests.Rescued, c.requests.Slow)
	fmt.Fprintf(&b, "%-20s %-17s %8s %10s %14s %14s\n", "cause", "actor", "seeds", "requests", "elsewhere yes", "no")
	keys := make([]row, 0, len(c.rows))
	for k := range c.rows {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.cause, b.cause), cmp.Compare(a.actor, b.actor))
	})
	for _, k := range keys {
		v := c.rows[k]
		fmt.Fprintf(&b, "%-20s %-17s %8d %10d %14d %14d\n", k.cause, k.actor, v.seeds, v.requests, v.elsewhere, v.nowhere)
	}
	return b.String()
}
