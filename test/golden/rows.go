package golden

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Rows are what a file keeps of the tests of a package, "name: what came of it" each: too much for a text of its own. Tests come to theirs in any
// order.
type Rows struct {
	sync.Mutex
	file     string
	update   *bool
	was, now map[string]string
}

// NewRows reads a file. Where it is not there each row is new. update says that the rows are to be written, once flags are read.
func NewRows(file string, update *bool) *Rows {
	r := &Rows{file: file, update: update, was: map[string]string{}, now: map[string]string{}}
	data, err := os.ReadFile(file)
	if err != nil {
		return r
	}
	for row := range strings.Lines(string(data)) {
		name, what, _ := strings.Cut(strings.TrimSuffix(row, "\n"), ": ")
		r.was[name] = what
	}
	return r
}

// Compare holds what comes of a name to its row. hint says how to see more of it, "" for nothing.
func (r *Rows) Compare(t testing.TB, name, what, hint string) {
	t.Helper()
	r.Lock()
	defer r.Unlock()
	r.now[name] = what
	if was := r.was[name]; was != what && !*r.update {
		t.Errorf("%s: %s: %q, was %q%s", r.file, name, what, was, hint)
	}
}

// Main runs the tests of a package. Where all of them have run and passed, each row has to be of one of them: with -update there are no others.
func (r *Rows) Main(m *testing.M) int {
	flag.Parse()
	code := m.Run()
	some := func(name string) bool { return flag.Lookup("test."+name).Value.String() != "" }
	if code != 0 || some("run") || some("skip") || some("list") || some("fuzz") {
		return code
	}
	if err := r.end(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func (r *Rows) end() error {
	if *r.update {
		var text strings.Builder
		for _, name := range slices.Sorted(maps.Keys(r.now)) {
			fmt.Fprintf(&text, "%s: %s\n", name, r.now[name])
		}
		return os.WriteFile(r.file, []byte(text.String()), 0o644) //nolint:gosec // a file that everybody may read
	}
	for _, name := range slices.Sorted(maps.Keys(r.was)) {
		if _, ok := r.now[name]; !ok {
			return fmt.Errorf("%s: no test comes to %s any more: go test with -update", r.file, name)
		}
	}
	return nil
}
