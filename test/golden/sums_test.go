package golden

import (
	"os"
	"path/filepath"
	"testing"
)

// ending is a test that ends when it is told to.
type ending struct {
	told
	name string
	ends []func()
}

func (e *ending) Name() string     { return e.name }
func (e *ending) Failed() bool     { return e.failed }
func (e *ending) Cleanup(f func()) { e.ends = append(e.ends, f) }
func (e *ending) end() (failed bool) {
	for _, f := range e.ends {
		f()
	}
	return e.failed
}

// The row of a test is of all its parts, in whatever order they come, as they are at its end. One that has failed has no row.
func TestSums(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "sums.txt")
	update := true
	run := func(s *Sums, name string, failed bool, parts ...string) bool {
		e := &ending{told: told{TB: t, failed: failed}, name: name}
		at := ""
		for _, part := range parts {
			s.Keep(e, func() (string, []int) { return part + at, []int{1, len(part)} })
		}
		at = "end"
		return e.end()
	}
	s := NewSums(file, &update, "parts", "letters")
	run(s, "A", false, "x", "yz")
	run(s, "B", false)
	run(s, "C", true, "x")
	if err := s.end(); err != nil {
		t.Fatal(err)
	}
	const want = "A: 2 parts, 3 letters, 816a8512342bd28b\n"
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Fatalf("%q, %v, want %q", got, err, want)
	}
	update = false
	for _, c := range []struct {
		parts []string
		fails bool
	}{
		{[]string{"x", "yz"}, false}, {[]string{"yz", "x"}, false}, {[]string{"x", "zy"}, true}, {[]string{"x", "yz", ""}, true}, {[]string{"yz"}, true}, {[]string{"xyz"}, true},
	} {
		if got := run(NewSums(file, &update, "parts", "letters"), "A", false, c.parts...); got != c.fails {
			t.Errorf("%q: fails %v", c.parts, got)
		}
	}
}
