package report

import (
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/test/golden"
)

// keptDrawn has what is said of drawn records, a row for some of them: how many could be said, in how many lines, and a sum.
const keptDrawn = "testdata/drawn/kept.txt"

// How many records are drawn for a row, and how many rows there are of those with the cases of each sample first.
const (
	drawnRows = 25
	drawnEach = 8
)

var drawnRow = flag.String("drawn", "", "print what is said of the records of this row of "+keptDrawn+", such as made-drops 3")

// drawer draws records: cases of several samples together, some of whose fields are others, by their words or figures, said in a room of its own.
type drawer struct {
	*rand.Rand
	samples map[string]func() *record.Simulation
	words   map[string]func(c *record.Case)
	names   []string // of the words
}

func drawnFrom[T any](d *drawer, list []T) T { return list[d.IntN(len(list))] }

// record draws one. It begins with the cases of a sample.
func (d *drawer) record(sample string) *record.Simulation {
	s := d.samples[sample]()
	for range d.IntN(3) {
		more := d.samples[drawnFrom(d, figured)]()
		s.Cases = append(s.Cases, more.Cases[:1+d.IntN(len(more.Cases))]...)
		if d.IntN(2) == 0 {
			s.Fixes, s.NoHelp = append(s.Fixes, more.Fixes...), append(s.NoHelp, more.NoHelp...)
		}
	}
	d.Shuffle(len(s.Cases), func(i, j int) { s.Cases[i], s.Cases[j] = s.Cases[j], s.Cases[i] })
	for range d.IntN(4) {
		d.words[drawnFrom(d, d.names)](&s.Cases[d.IntN(len(s.Cases))])
	}
	d.change(s)
	return s
}

// change gives some fields other figures, of its cases above all.
func (d *drawer) change(s *record.Simulation) {
	var fields []reflect.Value
	add := func(_ string, v reflect.Value) { fields = append(fields, v) }
	at := d.IntN(len(s.Cases))
	eachFigure("", reflect.ValueOf(&s.Cases[at]).Elem(), add)
	if d.IntN(3) == 0 {
		fields = nil
		eachFigure("", reflect.ValueOf(s).Elem(), add)
	}
	for range d.IntN(12) {
		drawnFrom(d, figureChanges).do(drawnFrom(d, fields))
	}
}

// said says a record in a room and with options that are drawn, to terminals of several widths.
func (d *drawer) said(s *record.Simulation) (text string, ok bool) {
	opts := TextOptions{All: d.IntN(3) == 0, Verbose: d.IntN(3) == 0, Lanes: d.IntN(2) == 0, Width: drawnFrom(d, []int{0, 0, 60, 80})}
	if d.IntN(3) == 0 {
		opts.Show = drawnFrom(d, []string{"shop/web", "rollout", "a", s.Cases[0].ID})
	}
	room := drawnFrom(d, rooms())
	defer func() {
		if recover() != nil { // there is no such record
			text, ok = "", false
		}
	}()
	worst, nodes := drains(s.Worst())
	return newText(s, opts, room).write(worst, nodes, chosen(worst, opts.Show)), true
}

// Records that nobody wrote are said as before, in each room that a page may have. With -v and -drawn a row is printed.
func TestDrawnRecordsAreKept(t *testing.T) {
	t.Parallel()
	d := &drawer{samples: map[string]func() *record.Simulation{}, words: eachWord()}
	d.names = slices.Sorted(maps.Keys(d.words))
	for _, sample := range figured {
		d.samples[sample] = func() *record.Simulation { return goldens[sample].of(t) }
	}
	var rows strings.Builder
	for at, sample := range figured {
		for row := range drawnRows {
			d.Rand = rand.New(rand.NewPCG(uint64(row), uint64(at))) //nolint:gosec // the same each time
			h, said, lines := fnv.New64a(), 0, 0
			for range drawnEach {
				text, ok := d.said(d.record(sample))
				if ok {
					said, lines = said+1, lines+strings.Count(text, "\n")
				}
				_, _ = h.Write([]byte(text))
				if *drawnRow == fmt.Sprint(sample, " ", row) {
					t.Log(text)
				}
			}
			fmt.Fprintf(&rows, "%s %d: %d said in %d lines, %016x\n", sample, row, said, lines, h.Sum64())
		}
	}
	golden.Compare(t, keptDrawn, rows.String(), *update)
}
