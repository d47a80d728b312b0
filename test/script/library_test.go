package script

import (
	"os"
	"strings"
	"testing"
)

// The lines that docs/library.md shows are lines of examples that are compiled and run.
func TestTheDocumentsShowCodeThatRuns(t *testing.T) {
	t.Parallel()
	section := read(t, "../../docs/library.md")
	source := map[string]bool{}
	for _, file := range []string{"../../proxier/memory/example_test.go", "../../sim/example_test.go"} {
		for line := range strings.Lines(read(t, file)) {
			source[strings.TrimSpace(line)] = true
		}
	}
	shown := 0
	for line := range strings.Lines(section) {
		code, indented := strings.CutPrefix(strings.TrimRight(line, "\n"), "    ")
		if !indented || code == "..." {
			continue
		}
		if shown++; !source[code] {
			t.Errorf("no example has the line %s", code)
		}
	}
	if shown < 5 {
		t.Errorf("docs/library.md shows %d lines", shown)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
