package oracle

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

const (
	defaultCases = 1_000_000
	// fullFloor is how often each class must occur in defaultCases cases; fewer cases ask
	// for proportionally less.
	fullFloor = 1000
	// floorFrom is the size from which the histogram is judged: below it, chance decides.
	floorFrom = 50_000
	// shards run in parallel. A shard's seeds and its share of the cases are fixed, so
	// neither results nor counts depend on scheduling.
	shards = 16
)

func TestMain(m *testing.M) {
	if role := strings.Fields(os.Getenv(floodRole)); len(role) > 0 {
		play(role)
	}
	klog.SetLogger(logr.Discard()) // kube-proxy logs what the generator makes on purpose
	os.Exit(m.Run())
}

// TestOracle compares lameduck with kube-proxy over generated event sequences.
func TestOracle(t *testing.T) {
	if seed := os.Getenv("LAMEDUCK_ORACLE_SEED"); seed != "" {
		replay(t, seed)
		return
	}
	total := envInt(t, "LAMEDUCK_ORACLE_CASES", defaultCases)
	start := time.Now()
	var mu sync.Mutex
	counts, cases, worlds := histogram{}, 0, 0
	t.Run("shards", func(t *testing.T) {
		for shard := range shards {
			t.Run(strconv.Itoa(shard), func(t *testing.T) {
				t.Parallel()
				c, n, k := runShard(t, shard, (total+shards-1)/shards)
				mu.Lock()
				defer mu.Unlock()
				counts.add(c)
				cases, worlds = cases+n, worlds+k
			})
		}
	})
	floor := 0
	if total >= floorFrom {
		floor = fullFloor * total / defaultCases
	}
	table, rare := counts.table(floor)
	show(t, fmt.Sprintf("\n%d cases compared, of %d worlds, in %v; a class must occur %d times\n\n%s",
		cases, worlds, time.Since(start).Round(time.Second), floor, table))
	for _, class := range rare {
		t.Errorf("histogram: %s", class)
	}
}

// runShard compares until its share is done; the first difference ends it.
func runShard(t *testing.T, shard, share int) (counts histogram, cases, worlds int) {
	counts = histogram{}
	for seed := uint64(shard + 1); cases < share; seed += shards {
		n, c, err := run(newWorld(seed))
		cases, worlds = cases+n, worlds+1
		counts.add(c)
		if err != nil {
			report(t, seed, err)
			return counts, cases, worlds
		}
	}
	return counts, cases, worlds
}

// report shrinks a failing world and prints it with both answers and the way back to it;
// with -short it only prints the answers.
func report(t *testing.T, seed uint64, err error) {
	t.Helper()
	if kindOf(err) == "" {
		t.Errorf("seed %d: the oracle itself failed: %v", seed, err)
		return
	}
	if testing.Short() {
		t.Errorf("%v", err)
		return
	}
	small, smallErr := shrink(newWorld(seed))
	t.Errorf("%v\n\nshrunk to %d events:\n%s\n%v\n\nreplay: LAMEDUCK_ORACLE_SEED=%d go test -count=1 -v -run 'TestOracle$' .",
		err, len(small.events), small, smallErr, seed)
}

func replay(t *testing.T, text string) {
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("LAMEDUCK_ORACLE_SEED: %v", err)
	}
	w := newWorld(seed)
	t.Logf("seed %d:\n%s", seed, w)
	cases, _, err := run(w)
	t.Logf("%d cases compared", cases)
	if err != nil {
		report(t, seed, err)
	}
}

// show prints a table as it is; go test passes it on with -v.
func show(t *testing.T, text string) {
	t.Helper()
	if _, err := os.Stdout.WriteString(text + "\n"); err != nil {
		t.Error(err)
	}
}

func envInt(t *testing.T, name string, otherwise int) int {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		t.Fatalf("%s=%q: want a number", name, text)
	}
	return n
}

// TestOracleWorldsRepeat checks that a seed alone decides a world and its result.
func TestOracleWorldsRepeat(t *testing.T) {
	for seed := uint64(1); seed <= 50; seed++ {
		a, b := newWorld(seed), newWorld(seed)
		if a.String() != b.String() {
			t.Fatalf("seed %d makes two worlds", seed)
		}
		n, _, errA := run(a)
		m, _, errB := run(b)
		if n != m || (errA == nil) != (errB == nil) {
			t.Fatalf("seed %d gives two results: %d cases, %v; %d cases, %v", seed, n, errA, m, errB)
		}
	}
	if endpoints.CurrentVersion() != (endpoints.Version{Major: 1, Minor: 36}) {
		t.Errorf("the oracle holds kube-proxy 1.36, lameduck says it is %s", endpoints.CurrentVersion())
	}
}
