package golden

import (
	"os"
	"path/filepath"
	"testing"
)

// A row that is another, or new, fails its test; one that no test comes to fails the package; with -update the rows are those of the tests.
func TestRows(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "rows.txt")
	if err := os.WriteFile(file, []byte("a: 1\nb: 2: 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		rows         map[string]string
		update       bool
		fails, stale bool
		written      string
	}{
		{map[string]string{"a": "1", "b": "2: 3"}, false, false, false, "a: 1\nb: 2: 3\n"},
		{map[string]string{"a": "1", "b": "2: 4"}, false, true, false, "a: 1\nb: 2: 3\n"},
		{map[string]string{"a": "1", "b": "2: 3", "c": ""}, false, false, false, "a: 1\nb: 2: 3\n"},
		{map[string]string{"a": "1", "b": "2: 3", "c": "4"}, false, true, false, "a: 1\nb: 2: 3\n"},
		{map[string]string{"a": "1"}, false, false, true, "a: 1\nb: 2: 3\n"},
		{map[string]string{"c": "4", "a": "5"}, true, false, false, "a: 5\nc: 4\n"},
	} {
		r, s := NewRows(file, &c.update), &told{}
		for name, what := range c.rows {
			r.Compare(s, name, what, "")
		}
		if err := r.end(); s.failed != c.fails || (err != nil) != c.stale {
			t.Errorf("%v: %v, %v", c.rows, s.failed, err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != c.written {
			t.Errorf("%v: %v %q", c.rows, err, got)
		}
	}
}
