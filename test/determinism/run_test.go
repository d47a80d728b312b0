package determinism

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/report"
	"github.com/lameduck-proxy/lameduck/sim/sweep"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// seeds is how many runs each case gets, beginning with seed 1.
const seeds = 3

// reports runs an input and returns its JSON and its text report, and the trace hash of each run,
// a line each: "run INPUT CASE SEED HASH".
func reports(in input) (asJSON, asText []byte, runs []string, err error) {
	result, err := sweep.Run(context.Background(), in.cases, sweep.Options{Runs: seeds})
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%s: %w", in.name, err)
	}
	for i := range result.Cases {
		for j := range result.Cases[i].Runs {
			r := &result.Cases[i].Runs[j]
			runs = append(runs, fmt.Sprintf("run %s %d %d %s", in.name, i, r.Seed, r.TraceHash))
		}
	}
	var text bytes.Buffer
	if err := report.WriteText(&text, result, report.TextOptions{All: true, Verbose: true}); err != nil {
		return nil, nil, nil, err
	}
	asJSON, err = json.MarshalIndent(report.Build(result), "", "  ")
	return asJSON, text.Bytes(), runs, err
}

// sums runs inputs and returns what is compared, a line each: the runs, then "report INPUT FORM
// DIGEST" for each form of the report.
func sums(list []input) ([]string, error) {
	var out []string
	for _, in := range list {
		asJSON, asText, runs, err := reports(in)
		if err != nil {
			return nil, err
		}
		out = append(append(out, runs...), "report "+in.name+" json "+digest(asJSON), "report "+in.name+" text "+digest(asText))
	}
	return out, nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// classes are the names of the engine's classes of events.
var classes = map[engine.Class]string{
	engine.ClassAction: "action", engine.ClassDelivery: "delivery", engine.ClassTimer: "timer", engine.ClassObserve: "observe",
}

// writeSteps runs one scenario and writes a line for each step of its trace: the hash after it,
// when it was, whose, and what; for a request its words.
func writeSteps(w io.Writer, sc *world.Scenario, seed uint64) error {
	buffered := bufio.NewWriter(w)
	_, err := sim.RunWith(sc, seed, sim.Options{Watch: func(s engine.Step, owner string) {
		if s.Words != nil {
			fmt.Fprintf(buffered, "%016x  request: %s %d\n", s.Hash, s.Name, s.Words)
			return
		}
		fmt.Fprintf(buffered, "%016x  %d.%09d s  %s of %s (%s)\n", s.Hash, s.At/engine.Second, s.At%engine.Second, s.Name, owner, classes[s.Class])
	}})
	if err != nil {
		return err
	}
	return buffered.Flush()
}

// firstDifference compares two texts line by line and says where they part: the number of the line
// from 1, the last common line, and both lines; "" when they are equal.
func firstDifference(one, other io.Reader, oneName, otherName string) string {
	a, b := bufio.NewScanner(one), bufio.NewScanner(other)
	common := "the beginning"
	for n := 1; ; n++ {
		left, right := "the end", "the end"
		moreLeft, moreRight := a.Scan(), b.Scan()
		if moreLeft {
			left = a.Text()
		}
		if moreRight {
			right = b.Text()
		}
		switch {
		case !moreLeft && !moreRight:
			return ""
		case moreLeft != moreRight || left != right:
			var out strings.Builder
			fmt.Fprintf(&out, "the first difference is line %d\n", n)
			fmt.Fprintf(&out, "  after %s\n  %-24s %s\n  %-24s %s", common, oneName+":", left, otherName+":", right)
			return out.String()
		}
		common = left
	}
}
