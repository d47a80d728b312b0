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

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/test/golden"
)

// keptDrawn has what is said of drawn records, a file for each sample and a row for some records: how many could be said, in how many lines, and a sum.
const keptDrawn = "testdata/drawn/"

// How many rows there are of records that begin with the cases of a sample, and how many records are drawn for each.
const (
	drawnRows = 15
	drawnEach = 6
)

var drawnRow = flag.String("drawn", "", "print what is said of the records of this row of "+keptDrawn+", such as made-drops 3")

// shuffled are the records that are drawn from: made ones, and some that were played, quick ones.
var shuffled = append(slices.Clone(figured), "grace-0", "grpc", "host-ports", "volume", "drain-nodes", "left-out", "canary", "node")

// drawer draws records: cases of several samples together, some of whose fields are others, by their words or figures or as another case has them,
// said in a room of its own.
type drawer struct {
	*rand.Rand
	words map[string]func(c *record.Case)
	names []string // of the words
}

func drawnFrom[T any](d *drawer, list []T) T { return list[d.IntN(len(list))] }

// record draws one. It begins with the cases of a sample.
func (d *drawer) record(t *testing.T, sample string) *record.Simulation {
	t.Helper()
	s := goldens[sample].of(t)
	for range d.IntN(3) {
		more := goldens[drawnFrom(d, shuffled)].of(t)
		if len(more.Cases) > 0 {
			s.Cases = append(s.Cases, more.Cases[:1+d.IntN(len(more.Cases))]...)
		}
		if d.IntN(2) == 0 {
			s.Fixes, s.NoHelp = append(s.Fixes, more.Fixes...), append(s.NoHelp, more.NoHelp...)
		}
	}
	d.Shuffle(len(s.Cases), func(i, j int) { s.Cases[i], s.Cases[j] = s.Cases[j], s.Cases[i] })
	for range d.IntN(4) {
		d.words[drawnFrom(d, d.names)](&s.Cases[d.IntN(len(s.Cases))])
	}
	for range d.IntN(3) {
		d.graft(t, &s.Cases[d.IntN(len(s.Cases))])
	}
	d.change(s)
	return s
}

// graft gives a case some fields of another one.
func (d *drawer) graft(t *testing.T, c *record.Case) {
	t.Helper()
	other := goldens[drawnFrom(d, shuffled)].of(t)
	if len(other.Cases) == 0 {
		return
	}
	to, from := reflect.ValueOf(c).Elem(), reflect.ValueOf(drawnFrom(d, other.Cases))
	for range 1 + d.IntN(4) {
		if i := d.IntN(to.NumField()); to.Field(i).CanSet() {
			to.Field(i).Set(from.Field(i))
		}
	}
}

// change gives some fields other figures, of its cases above all: those that they have a little or ten times larger or smaller, those of another
// field, and those at which pages say something else.
func (d *drawer) change(s *record.Simulation) {
	var fields, numbers []reflect.Value
	add := func(_ string, v reflect.Value) {
		if fields = append(fields, v); v.CanInt() {
			numbers = append(numbers, v)
		}
	}
	at := d.IntN(len(s.Cases))
	eachFigure("", reflect.ValueOf(&s.Cases[at]).Elem(), add)
	if d.IntN(3) == 0 {
		fields, numbers = nil, nil
		eachFigure("", reflect.ValueOf(s).Elem(), add)
	}
	for range d.IntN(30) {
		v, number := drawnFrom(d, fields), drawnFrom(d, numbers)
		switch was := number.Int(); d.IntN(6) {
		case 0, 1:
			drawnFrom(d, figureChanges).do(v)
		case 2:
			setFigure(number, drawnFrom(d, []int64{was + 1, was - 1, 10 * was, was / 10, 2 * was, was / 2}))
		case 3:
			setFigure(number, drawnFrom(d, []int64{1, 2, 3, 5, 10, 15, 30, 60, 600})*drawnFrom(d, []int64{1, int64(100 * engine.Millisecond), int64(engine.Second)})-int64(d.IntN(2)))
		default:
			setFigure(number, drawnFrom(d, numbers).Int())
		}
	}
}

// said says a record in a room that is drawn and in full, with options that are drawn, too, to terminals of several widths.
func (d *drawer) said(s *record.Simulation) (text string, ok bool) {
	opts := TextOptions{All: d.IntN(3) == 0, Verbose: d.IntN(3) == 0, Lanes: d.IntN(2) == 0, Width: drawnFrom(d, []int{0, 0, 60, 80})}
	if d.IntN(3) == 0 {
		opts.Show = drawnFrom(d, []string{"shop/web", "rollout", "a", s.Cases[0].ID})
	}
	small := drawnFrom(d, rooms())
	defer func() {
		if recover() != nil { // there is no such record
			text, ok = "", false
		}
	}()
	worst, nodes := drains(s.Worst())
	for _, r := range []room{small, everything} {
		text += newText(s, opts, r).write(worst, nodes, chosen(worst, opts.Show))
	}
	return text, true
}

// Records that nobody wrote are said as before, in each room that a page may have. With -v and -drawn a row is printed.
func TestDrawnRecordsAreKept(t *testing.T) {
	t.Parallel()
	words := eachWord()
	d := &drawer{words: words, names: slices.Sorted(maps.Keys(words))}
	for at, sample := range shuffled {
		t.Run(sample, func(t *testing.T) {
			t.Parallel()
			own := *d
			golden.Compare(t, keptDrawn+sample+".txt", own.rows(t, sample, uint64(at)), *update) //nolint:gosec // a few
		})
	}
}

// rows are those of the records that begin with a sample.
func (d *drawer) rows(t *testing.T, sample string, at uint64) string {
	t.Helper()
	var rows strings.Builder
	for row := range uint64(drawnRows) {
		d.Rand = rand.New(rand.NewPCG(row, at)) //nolint:gosec // the same each time
		h, said, lines := fnv.New64a(), 0, 0
		for range drawnEach {
			text, ok := d.said(d.record(t, sample))
			if ok {
				said, lines = said+1, lines+strings.Count(text, "\n")
			}
			_, _ = h.Write([]byte(text))
			if *drawnRow == fmt.Sprint(sample, " ", row) {
				t.Log(text)
			}
		}
		fmt.Fprintf(&rows, "%d: %d said in %d lines, %016x\n", row, said, lines, h.Sum64())
	}
	return rows.String()
}
