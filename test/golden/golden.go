// Package golden holds texts to files, line by line, for the tests of all packages.
package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shown is how many of the lines that differ are shown.
const shown = 3

// Compare holds a text to a file, or writes it there where update says so. It shows the first lines that differ, each with the title
// that it stands under: the last line before it without blanks at its beginning.
func Compare(t testing.TB, file, text string, update bool) {
	t.Helper()
	if update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // files that everybody may read
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil { //nolint:gosec // files that everybody may read
			t.Fatal(err)
		}
	}
	was, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (-update writes it)", err)
	}
	if d := Difference(text, string(was)); d != "" {
		t.Errorf("%s is not what it was. If that is meant: go test with -update, and read the difference\n%s", file, d)
	}
}

// Difference shows where two texts differ: "" where they do not.
func Difference(is, was string) string {
	if is == was {
		return ""
	}
	now, before := strings.Split(is, "\n"), strings.Split(was, "\n")
	var out strings.Builder
	title, other := "", 0
	for i := range max(len(now), len(before)) {
		a, b := line(now, i), line(before, i)
		if a != b {
			if other++; other <= shown {
				if title != "" {
					fmt.Fprintf(&out, "%s\n", title)
				}
				fmt.Fprintf(&out, "line %d is  %s\nand was %s\n", i+1, a, b)
			}
		}
		if a != "" && a[0] != ' ' {
			title = a
		}
	}
	fmt.Fprintf(&out, "%d of %d lines differ; %d there were", other, len(now), len(before))
	return out.String()
}

// line is one of a list, or that it has none.
func line(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "(no such line)"
}
