package golden

import (
	"flag"
	"fmt"
	"hash/fnv"
	"strings"
	"testing"
)

var texts = flag.Bool("texts", false, "print what the sums of kept rows are of")

// Sums are Rows of what comes of tests: some figures that people can read, and a sum of all the rest. A test may come to its parts in any order.
type Sums struct {
	*Rows
	figures []string
	of      map[string]*sum // by test, while it runs
}

// sum is what has come of a test.
type sum struct {
	parts   []func() (string, []int)
	figures []int
	hash    uint64
}

// NewSums reads a file as NewRows does. figures are the names of those that each part has.
func NewSums(file string, update *bool, figures ...string) *Sums {
	return &Sums{Rows: NewRows(file, update), figures: figures, of: map[string]*sum{}}
}

// Keep holds a part of what comes of a test to the row of that: its figures, and a text with all else. Both are asked for when the test is over.
func (s *Sums) Keep(t testing.TB, came func() (text string, figures []int)) {
	t.Helper()
	s.Lock()
	defer s.Unlock()
	own := s.of[t.Name()]
	if own == nil {
		own = &sum{figures: make([]int, len(s.figures))}
		s.of[t.Name()] = own
		t.Cleanup(func() { s.compare(t, own) })
	}
	own.parts = append(own.parts, came)
}

func (s *Sums) compare(t testing.TB, own *sum) {
	t.Helper()
	s.Lock()
	delete(s.of, t.Name())
	s.Unlock()
	if t.Failed() {
		return
	}
	for _, part := range own.parts {
		text, figures := part()
		if *texts {
			t.Log(text)
		}
		h := fnv.New64a()
		_, _ = h.Write([]byte(text))
		own.hash += h.Sum64()
		for i, n := range figures {
			own.figures[i] += n
		}
	}
	var row strings.Builder
	for i, name := range s.figures {
		fmt.Fprintf(&row, "%d %s, ", own.figures[i], name)
	}
	fmt.Fprintf(&row, "%016x", own.hash)
	s.Compare(t, t.Name(), row.String(), ": -v -texts prints what it is of, in this version and in the one before")
}
