package script

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"testing"
)

// What a document shows of a command on the examples is what the command prints: every line of
// it, in order. A line "..." stands for lines left out.
func TestDocumentsShowWhatIsPrinted(t *testing.T) {
	t.Parallel()
	lookAtSources(t)
	least := map[string]int{"README.md": 3, "docs/simulate.md": 2, "docs/explain-and-trace.md": 2, "docs/proxy.md": 1, "examples/kind/README.md": 4}
	for _, name := range documents(t) {
		shown := commands(read(t, "../../"+name))
		if len(shown) < least[name] {
			t.Fatalf("%s shows %d commands on examples", name, len(shown))
		}
		runAll(t, shown)
	}
}

func runAll(t *testing.T, shown []command) {
	t.Helper()
	for _, c := range shown {
		t.Run(c.line, func(t *testing.T) {
			t.Parallel()
			got := answerTo(strings.Fields(c.line)[1:]...)
			var exit *exec.ExitError
			if got.err != nil && !(errors.As(got.err, &exit) && exit.ExitCode() == 1) {
				t.Fatal(got.err)
			}
			inOrder(t, c.output, []byte(got.stdout))
		})
	}
}

// command is one that a document shows, with what it prints.
type command struct {
	line   string
	output []string
}

// commands finds the blocks that begin with a command on a file of examples.
func commands(text string) []command {
	var out []command
	var open *command
	for _, l := range strings.Split(text, "\n") {
		code, indented := strings.CutPrefix(l, "    ")
		switch {
		case indented && strings.HasPrefix(code, "$ bin/lameduck ") && strings.Contains(code, "-f examples/"):
			out = append(out, command{line: strings.TrimPrefix(code, "$ ")})
			open = &out[len(out)-1]
		case indented && strings.HasPrefix(code, "$ "), !indented && l != "":
			open = nil
		case open != nil && strings.TrimSpace(code) != "":
			open.output = append(open.output, code)
		}
	}
	return out
}

func inOrder(t *testing.T, want []string, printed []byte) {
	t.Helper()
	lines := bytes.Split(printed, []byte("\n"))
	at := 0
	for _, w := range want {
		if w == "..." {
			continue
		}
		found := at
		for found < len(lines) && string(lines[found]) != w {
			found++
		}
		if found == len(lines) {
			t.Fatalf("the document shows\n%s\nand it prints\n%s", w, bytes.Join(lines[at:], []byte("\n")))
		}
		at = found + 1
	}
}
