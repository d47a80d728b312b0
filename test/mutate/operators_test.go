package mutate

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// module writes files of a module and returns its directory.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.org/m\n\ngo 1.26\n")
	for name, text := range files {
		write(name, text)
	}
	return dir
}

// mistakes are those that can be made in a package of one file.
func mistakes(t *testing.T, text string) (*Source, []*Mistake) {
	t.Helper()
	sources, err := Load(module(t, map[string]string{"m.go": "package m\n\n" + text}), ".")
	if err != nil {
		t.Fatal(err)
	}
	return sources[0], sources[0].Mistakes()
}

func TestEachKindOfMistakeIsFound(t *testing.T) {
	t.Parallel()
	const declared = "type s struct{ n, m int; err error }\n\nfunc try() error { panic(0) }\n\nfunc use(...int) {}\n\nvar _ = []any{try, use, s{}}\n\n"
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"parts of a conjunction": {"func f(a, b, c bool) bool { return a && b && c }", []string{
			"conjunct deleted: a && b && c -> a && b", "conjunct deleted: a && b -> b", "conjunct deleted: a && b -> a",
		}},
		"parts of a disjunction": {"func f(a, b bool) bool { return a || b }", []string{
			"disjunct deleted: a || b -> b", "disjunct deleted: a || b -> a",
		}},
		"a condition": {"func f(a bool) { if a { use(1) } }", []string{
			"condition negated: a -> !(a)", "statement dropped: use(1) -> ",
		}},
		"ordered comparisons, and their constants the other way": {"func f(a int) (_, _ bool) { return a < 3, 4 <= a }", []string{
			"comparison widened: a < 3 -> a <= 3", "bound shifted: 3 -> 2",
			"comparison narrowed: 4 <= a -> 4 < a", "bound shifted: 4 -> 3",
		}},
		"equality": {"func f(a int) bool { return a == 3 }", []string{
			"comparison widened: a == 3 -> true", "bound shifted: 3 -> 4",
		}},
		"slices, indexes, loops": {"func f(a []int) { for i := 0; ; { use(a[1:][2], i) } }", []string{
			"bound shifted: 0 -> 1", "statement dropped: use(a[1:][2], i) -> ", "bound shifted: 1 -> 2", "bound shifted: 2 -> 3",
		}},
		"extremes": {"func f(a, b int) int { return min(a, b) }", []string{"max for min: min(a, b) -> max(a, b)"}},
		"signs": {"func f(a, b int) int { a -= b; a++; return a + b }", []string{
			"statement dropped: a -= b -> ", "+= for -=: a -= b -> a += b",
			"statement dropped: a++ -> ", "-- for ++: a++ -> a--",
			"- for +: a + b -> a - b",
		}},
		"resets and fields": {"func f(a *s, l []int, m map[int]int) { a.n = 0; a.m = len(l); a.err = nil; l = l[:0]; clear(m); delete(m, 1); m[2] = 3; use(l...) }", []string{
			"reset dropped: a.n = 0 -> ", "field ignored: a.m = len(l) -> ", "reset dropped: a.err = nil -> ", "reset dropped: l = l[:0] -> ",
			"bound shifted: 0 -> 1", "reset dropped: clear(m) -> ", "reset dropped: delete(m, 1) -> ", "statement dropped: m[2] = 3 -> ",
			"statement dropped: use(l...) -> ",
		}},
		"elements of structs": {"func f() s { return s{n: 1, m: 0} }", []string{"field ignored: n: 1 -> "}},
		"errors":              {"func f() (int, error) { err := try(); return 1, err }", []string{"error ignored: return 1, err -> return 1, nil"}},
		"early ends": {"func f(a bool) int { for { if a { continue }; if !a { break }; use() }; if a { return 1 }; return 2 }", []string{
			"condition negated: a -> !(a)", "continue dropped: continue -> ",
			"condition negated: !a -> !(!a)", "break dropped: break -> ", "statement dropped: use() -> ",
			"condition negated: a -> !(a)", "early return dropped: return 1 -> ",
		}},
		"cases": {"func f(a int) { switch a { case 1, 2: use(1); case 3: use(3) } }", []string{
			"case dropped: 1 -> ", "case dropped: 2 -> ", "statement dropped: use(1) -> ",
			"case dropped: case 3: -> ", "statement dropped: use(3) -> ",
		}},
		"cases with conditions": {"func f(a bool) { switch { case a: use(1) } }", []string{
			"condition negated: a -> !(a)", "case dropped: case a: -> ", "statement dropped: use(1) -> ",
		}},
		"no case without which nothing happens, either": {"func f(a int) { switch a { case 1: use(1); case 2: } }", []string{
			"case dropped: case 1: -> ", "statement dropped: use(1) -> ",
		}},
		"nothing in what only says how much memory is taken": {"func f(a int) []int { return make([]int, 0, a+1) }", nil},
		"nothing in what only lets go of memory":             {"func f(a []int) { clear(a[1:]) }", nil},
		"nothing in what people read":                        {"func (s) String() string { if true { return `a` }; return `b` }", nil},
		"nothing in what cannot happen":                      {"func f(a int) { if a > 0 { panic(a) } }", nil},
		"nothing that has to be constant":                    {"const a = 1 + 2\n\nfunc f() (_ [a - 1]int) { return }", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source, all := mistakes(t, declared+c.text+"\n")
			var got []string
			for _, m := range all {
				if strings.HasPrefix(m.Func, "f") || strings.HasPrefix(m.Func, "(") {
					got = append(got, fmt.Sprintf("%s: %s -> %s", m.Kind, m.Before, m.After))
				}
			}
			slices.Sort(got)
			slices.Sort(c.want)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if err := source.Check(switched("/nowhere", all)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAMistakeShowsItsLines(t *testing.T) {
	t.Parallel()
	_, all := mistakes(t, "func f(a, b bool) bool {\n\treturn a &&\n\t\tb\n}\n\nfunc g(a, b bool) (_, _ bool) { return a && b, a && b }\n")
	want := "m.go:4\n-\treturn a &&\n-\t\tb\n+\treturn b\n"
	if diff := cmp.Diff(want, all[0].Diff()); diff != "" {
		t.Error(diff)
	}
	if got := all[len(all)-1].Name(); got != `m.go: g: conjunct deleted: "a && b" -> "a" #2` {
		t.Errorf("the second of two that are alike is named %s", got)
	}
}
