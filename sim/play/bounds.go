package play

import (
	"fmt"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// What a page simulates has to end while somebody looks at it, in the memory of a tab and on one processor, also where the manifest came with a
// link. The command line goes much further (sim/bounds.go).
const (
	mostBytes     = 1 << 20 // of the manifest
	mostDocuments = 500
	mostCases     = 60
	mostPods      = 500 // of all workloads of a case
	mostNodes     = 200
	mostPodsNodes = 20_000
	mostUntil     = 6 * engine.Hour
	mostRequests  = 20_000_000 // until the end of a run
)

var errTooLong = fmt.Errorf("the manifest is larger than %d KiB, which is as much as a page reads: run it with lameduck sim -f", mostBytes>>10)

// elsewhere ends each sentence about a bound.
const elsewhere = "run it with lameduck sim -f"

// smallText says what is too much about a text, before anything of it is read.
func smallText(text string) error {
	if len(text) > mostBytes {
		return errTooLong
	}
	if n := strings.Count(text, "\n---") + 1; n > mostDocuments {
		return fmt.Errorf("the manifest has %d documents, and a page reads at most %d: %s", n, mostDocuments, elsewhere)
	}
	return nil
}

// small says what is too much about cases, before anything of them is run.
func small(cases []scenario.Case) error {
	if len(cases) > mostCases {
		return fmt.Errorf("the manifest has %d cases, and a page simulates at most %d: name some with target or action, or %s", len(cases), mostCases, elsewhere)
	}
	for i := range cases {
		c := &cases[i]
		if c.Scenario == nil {
			continue
		}
		if err := smallWorld(c.Scenario); err != nil {
			return fmt.Errorf("%s: %w", c.ID, err)
		}
		for k := range c.Families {
			if err := smallWorld(c.Families[k].Scenario); err != nil {
				return fmt.Errorf("%s: %w", c.ID, err)
			}
		}
	}
	return nil
}

func smallWorld(sc *world.Scenario) error {
	pods := sim.Replaced(sc)
	standing := 0
	for i := range sc.Workloads {
		standing += sc.Workloads[i].Replicas()
	}
	pods = max(pods, standing)
	var rate engine.Time // in thousandths a second
	for i := range sc.Traffic {
		rate += engine.Time(sc.Traffic[i].Rate)
	}
	nodes := len(sc.Nodes)
	switch {
	case pods > mostPods:
		return fmt.Errorf("%d pods, and a page simulates at most %d: %s", pods, mostPods, elsewhere)
	case nodes > mostNodes:
		return fmt.Errorf("%d nodes, and a page simulates at most %d: %s", nodes, mostNodes, elsewhere)
	case pods*nodes > mostPodsNodes:
		return fmt.Errorf("%d pods on %d nodes, and a page simulates at most %d pods there: %s", pods, nodes, mostPodsNodes/nodes, elsewhere)
	case sc.Until > mostUntil:
		return fmt.Errorf("a run would go on until %s, and a page simulates at most %s: %s", sc.Until.Duration(), mostUntil.Duration(), elsewhere)
	case rate > 0 && sc.Until/engine.Second > mostRequests*1000/rate:
		return fmt.Errorf("the clients ask more than %d times until the end of a run at %s, and a page simulates no more: ask less often, end it sooner with until, or %s",
			mostRequests, sc.Until.Duration(), elsewhere)
	}
	return nil
}

// Fits says what is too much about a text for a page; nil where nothing is.
func Fits(text string) error { return smallText(text) }
