package golden

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDifference(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ is, was, want string }{
		"the same":         {"a\nb\n", "a\nb\n", ""},
		"a line":           {"a\n  b\n", "a\n  c\n", "a\nline 2 is    b\nand was   c\n1 of 3 lines differ; 3 there were"},
		"the first one":    {"a", "b", "line 1 is  a\nand was b\n1 of 1 lines differ; 1 there were"},
		"one more":         {"a\nb", "a", "a\nline 2 is  b\nand was (no such line)\n1 of 2 lines differ; 1 there were"},
		"one less":         {"a", "a\n", "a\nline 2 is  (no such line)\nand was \n1 of 1 lines differ; 2 there were"},
		"more than a few":  {"1\n2\n3\n4", "5\n6\n7\n8", "line 1 is  1\nand was 5\n1\nline 2 is  2\nand was 6\n2\nline 3 is  3\nand was 7\n4 of 4 lines differ; 4 there were"},
		"an end of a line": {"a\r\n", "a\n", "line 1 is  a\r\nand was a\n1 of 2 lines differ; 2 there were"},
	} {
		if got := Difference(c.is, c.was); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// told hears what a test would.
type told struct {
	testing.TB
	failed, ended bool
}

func (s *told) Helper()               {}
func (s *told) Errorf(string, ...any) { s.failed = true }
func (s *told) Fatalf(string, ...any) { s.failed, s.ended = true, true }

func TestCompare(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "testdata", "kept.txt")
	Compare(t, file, "a\n", true)
	if data, err := os.ReadFile(file); err != nil || string(data) != "a\n" {
		t.Fatalf("%q, %v", data, err)
	}
	Compare(t, file, "a\n", false)
	s := &told{TB: t}
	if Compare(s, file, "b\n", false); !s.failed {
		t.Error("another text is not noticed")
	}
	s = &told{TB: t}
	if Compare(s, file+"x", "a\n", false); !s.ended {
		t.Error("a file that there is not is not noticed")
	}
}
