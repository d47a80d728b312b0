package manifest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/test/golden"
)

// anyLine is what is tried in place of every value. A comment behind a line names further ones.
var anyLine = []string{"~", `""`, "x", "-1", "[]"}

// A file of testdata/odd is a list of cases: a line "=== what the case shows", an object, a line "----", and for each line of
// the object what Load makes of it when that line is gone or has another value: values with equal ends stand together.
func TestOddValues(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/odd/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			for _, c := range strings.Split("\n"+string(data), "\n=== ")[1:] {
				title, rest, _ := strings.Cut(c, "\n")
				object, want, _ := strings.Cut(rest+"\n", "----\n")
				got := oddValues(object)
				if strings.TrimRight(got, "\n") != strings.TrimRight(want, "\n") && !*update {
					t.Errorf("%s: %s", title, golden.Difference(got, want))
				}
				fmt.Fprintf(&out, "=== %s\n%s----\n%s", title, object, got)
			}
			if *update {
				if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// oddValues puts each of the odd values in place of each line's.
func oddValues(object string) string {
	lines := strings.Split(strings.TrimRight(object, "\n"), "\n")
	plain := make([]string, len(lines))
	for i, line := range lines {
		plain[i], _, _ = strings.Cut(line, " # ")
	}
	dec := newDecoder()
	base := outcome(dec, plain)
	var b strings.Builder
	b.WriteString("as it is\n")
	b.WriteString(base.text(loaded{}))
	for i, line := range lines {
		values := append([]string{"gone"}, anyLine...)
		if _, more, ok := strings.Cut(line, " # "); ok {
			values = append(values, strings.Split(more, " | ")...)
		}
		var ends []string
		byEnd := map[string][]string{}
		for _, value := range values {
			end := outcome(dec, replaceLine(plain, i, value)).text(base)
			if byEnd[end] == nil {
				ends = append(ends, end)
			}
			byEnd[end] = append(byEnd[end], value)
		}
		fmt.Fprintf(&b, "%s\n", plain[i])
		for _, end := range ends {
			fmt.Fprintf(&b, "  %s\n%s", strings.Join(byEnd[end], " | "), end)
		}
	}
	return b.String()
}

// replaceLine returns the lines with another value in one of them, for what is indented below it, too, or without both.
func replaceLine(lines []string, i int, value string) []string {
	head := lines[i]
	content := strings.TrimLeft(head, " -")
	indent := len(head) - len(content)
	end := i + 1
	for strings.HasSuffix(head, ":") && end < len(lines) {
		next := lines[end]
		in := len(next) - len(strings.TrimLeft(next, " "))
		if in < indent || in == indent && !strings.HasPrefix(next[in:], "- ") {
			break
		}
		end++
	}
	key, _, isMapping := strings.Cut(content+" ", ": ")
	before := head[:indent]
	var with []string
	switch {
	case value != "gone" && isMapping:
		with = []string{before + key + ": " + value}
	case value != "gone":
		with = []string{before + value}
	case isMapping && strings.Contains(before, "-"):
		with = []string{strings.TrimRight(before, " ")} // the item is still there
	}
	return slices.Concat(lines[:i], with, lines[end:])
}

// loaded is what Load made of a text.
type loaded struct {
	problems []Problem
	fields   map[string]string // of the objects, by path
	above    map[string]bool   // these paths and their beginnings
}

// outcome loads lines. What the decoder knows of types stays for the next ones.
func outcome(dec *decoder, lines []string) loaded {
	loader := newLoader(Options{})
	loader.dec = dec
	loader.file(File{"in", []byte(strings.Join(lines, "\n") + "\n")})
	objects := loader.finish()
	l := loaded{loader.problems, map[string]string{}, map[string]bool{}}
	for i, o := range objects.All {
		data, err := json.Marshal(o.Value)
		var value any
		if err == nil {
			err = json.Unmarshal(data, &value)
		}
		if err != nil {
			value = err.Error()
		}
		l.flatten(strings.Repeat("'", i), value)
	}
	return l
}

// flatten notes the leaves of a value by their paths.
func (l loaded) flatten(path string, value any) {
	l.above[path] = true
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 0 {
			l.fields[path] = "{}"
		}
		for key, item := range v {
			l.flatten(path+"."+key, item)
		}
	case []any:
		if len(v) == 0 {
			l.fields[path] = "[]"
		}
		for i, item := range v {
			l.flatten(path+"["+strconv.Itoa(i)+"]", item)
		}
	default:
		data, _ := json.Marshal(v) // a number, a text, true, false or null
		l.fields[path] = string(data)
	}
}

// text lists the problems and the fields that are not as in base.
func (l loaded) text(base loaded) string {
	var b strings.Builder
	said := map[string]int{}
	unplaced := func(p Problem) string {
		p.Position, p.Name = Position{}, ""
		return fmt.Sprint(p.Severity, p)
	}
	for _, p := range base.problems {
		said[unplaced(p)]++
	}
	for _, p := range l.problems {
		if said[unplaced(p)]--; said[unplaced(p)] < 0 {
			fmt.Fprintf(&b, "    %s: %v\n", p.Severity, p)
		}
	}
	if len(l.fields) == 0 {
		return b.String() + "    no object\n"
	}
	var silent []string
	for _, p := range base.problems {
		if said[unplaced(p)]--; said[unplaced(p)] >= 0 {
			silent = append(silent, p.Field)
		}
	}
	if len(silent) > 0 {
		fmt.Fprintf(&b, "    nothing of %s\n", strings.Join(silent, ", "))
	}
	for _, path := range sortedKeys(l.fields) {
		if was, ok := base.fields[path]; !ok || was != l.fields[path] {
			fmt.Fprintf(&b, "    %s = %s\n", path, l.fields[path])
		}
	}
	for _, path := range sortedKeys(base.fields) {
		if top := l.missing(path); top != "" && !strings.HasSuffix(b.String(), "    without "+top+"\n") {
			fmt.Fprintf(&b, "    without %s\n", top)
		}
	}
	if b.Len() == 0 {
		return "    the same\n"
	}
	return b.String()
}

// missing is the shortest beginning of a path of which there is nothing, empty if there is something of all.
func (l loaded) missing(path string) string {
	for i := 1; i <= len(path); i++ {
		if (i == len(path) || path[i] == '.' || path[i] == '[') && !l.above[path[:i]] {
			return path[:i]
		}
	}
	return ""
}
