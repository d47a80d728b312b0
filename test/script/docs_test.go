package script

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// figures are the blocks of documents that show neither commands nor what these print, by the file and the beginning of their first
// line, with what holds them.
var figures = map[string]string{
	"ARCHITECTURE.md: Service, EndpointSlice ->":      "a picture of the packages: test/arch holds their arrows",
	"CONTRIBUTING.md: endpoints: prefer serving":      "a commit message",
	"docs/testing.md: // order: a sum":                "a comment, of the kind that test/arch looks for",
	"docs/library.md: objects, problems := manifest":  "code: TestTheDocumentsShowCodeThatRuns",
	"docs/scenario.md: apiVersion: lameduck/v1alpha1": "generated: test/schema TestGeneratedDocuments",
	"docs/scenario.md: {constant: 40ms}":              "generated: test/schema TestGeneratedDocuments",
}

// Every block of every document is one of: output that the program prints, commands that work, or a figure that something else
// holds. What needs a cluster is not run, and counted; the files that it names are there.
func TestEveryBlockOfTheDocumentsIsHeldToTheProgram(t *testing.T) {
	t.Parallel()
	lookAtSources(t)
	used := map[string]bool{}
	ran, elsewhere := 0, 0
	for _, name := range documents(t) {
		if strings.HasPrefix(name, "examples/lessons/") && !strings.HasSuffix(name, "/README.md") {
			continue // their commands and solutions are run with them: TestTranscriptsOfTheLessons, TestExercises
		}
		text := read(t, "../../"+name)
		if strings.Contains(text, "\n```") {
			t.Errorf("%s: a fenced block: indent it, so that it is looked at", name)
		}
		for _, block := range blocksOf(text) {
			if key := figure(name, block[0]); key != "" {
				used[key] = true
				continue
			}
			if strings.HasPrefix(block[0], "$ ") {
				if !strings.HasPrefix(block[0], "$ bin/lameduck ") || !strings.Contains(block[0], "-f examples/") {
					t.Errorf("%s: what %q prints is compared with nothing", name, block[0])
				}
				continue
			}
			for _, line := range block {
				if needsCluster(line) {
					elsewhere++
					namesFiles(t, name, line)
					continue
				}
				ran++
				works(t, name, line)
			}
		}
	}
	for key := range figures {
		if !used[key] {
			t.Errorf("%s: there is no such block any more", key)
		}
	}
	t.Logf("%d lines of commands tried, %d need a cluster: only the files that they name were looked for", ran, elsewhere)
	if ran < 5 || elsewhere < 10 {
		t.Errorf("%d lines tried, %d not: are there no more?", ran, elsewhere)
	}
}

// module is the path that go install takes.
const module = "github.com/lameduck-proxy/lameduck"

// A person reads a document to its end if it is short. Nine kilobytes are three screens of text and one of output.
func TestTheFirstDocumentsAreReadToTheirEnd(t *testing.T) {
	t.Parallel()
	for name, most := range map[string]int{"README.md": 9 << 10, "ARCHITECTURE.md": 10 << 10, "CONTRIBUTING.md": 6 << 10} {
		text := read(t, "../../"+name)
		if len(text) > most {
			t.Errorf("%s has %d bytes, more than %d: a page of docs is the place for more", name, len(text), most)
		}
	}
}

// A line is read, and compared with the one before, if it fits on a screen. A row of a table is one line in Markdown.
func TestLinesOfDocumentsFitOnAScreen(t *testing.T) {
	t.Parallel()
	const widest = 160
	for _, name := range documents(t) {
		for i, line := range strings.Split(read(t, "../../"+name), "\n") {
			if len(line) > widest && !strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "    ") {
				t.Errorf("%s:%d has %d characters, more than %d", name, i+1, len(line), widest)
			}
		}
	}
}

// Each page is reached from the README or from a page that is, and each link leads to a file.
func TestEveryPageIsReached(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)#:\s]+)(#[^)]*)?\)`)
	reached, next := map[string]bool{}, []string{"README.md"}
	for len(next) > 0 {
		name := next[0]
		next = next[1:]
		if reached[name] {
			continue
		}
		reached[name] = true
		if filepath.Ext(name) != ".md" {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(read(t, "../../"+name), -1) {
			to := filepath.ToSlash(filepath.Join(filepath.Dir(name), m[1]))
			if _, err := os.Stat("../../" + to); err != nil {
				t.Errorf("%s: the link to %s leads nowhere", name, m[1])
				continue
			}
			next = append(next, to)
		}
	}
	for _, name := range documents(t) {
		if strings.HasPrefix(name, "docs/") && !reached[name] {
			t.Errorf("%s is reached from nowhere: no page that the README leads to has a link to it", name)
		}
	}
}

// The glossary has every verdict and every cause that a report can print.
func TestTheGlossaryHasTheWordsOfAReport(t *testing.T) {
	t.Parallel()
	lookAtSources(t)
	glossary := read(t, "../../docs/glossary.md")
	out, err := exec.Command(filepath.Join(binaries, "lameduck"), "sim", "--list", "causes", "-o", "json").Output()
	if err != nil {
		t.Fatal(err)
	}
	words := []string{"outage", "stuck", "blocked", "drops", "depends", "rare", "holds", "not-judged"}
	for _, m := range regexp.MustCompile(`"cause": "([a-z-]+)"`).FindAllStringSubmatch(string(out), -1) {
		words = append(words, m[1])
	}
	if len(words) < 20 {
		t.Fatalf("only %v", words)
	}
	for _, word := range words {
		if !strings.Contains(glossary, "| `"+word+"` |") {
			t.Errorf("docs/glossary.md has no %s", word)
		}
	}
}

// documents lists the repository's Markdown files.
func documents(t *testing.T) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "../.." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) == ".md" {
			out = append(out, filepath.ToSlash(strings.TrimPrefix(path, "../../")))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// blocksOf are the indented blocks of a document, without empty lines and without their indentation. What continues an item of a
// list is none.
func blocksOf(text string) [][]string {
	var out [][]string
	open, before := false, ""
	for _, line := range strings.Split(text, "\n") {
		code, indented := strings.CutPrefix(line, "    ")
		switch {
		case line == "":
		case !indented:
			open = false
		case open:
			out[len(out)-1] = append(out[len(out)-1], code)
		case before == "" && !strings.HasPrefix(code, " "):
			open = true
			out = append(out, []string{code})
		}
		before = line
	}
	return out
}

func figure(name, first string) string {
	for key := range figures {
		if strings.HasPrefix(name+": "+first, key) {
			return key
		}
	}
	return ""
}

// needsCluster says of a line of commands that only a cluster, or a machine of one's own, can run it.
func needsCluster(line string) bool {
	first, rest, _ := strings.Cut(line, " ")
	if strings.Contains(first, "=$(") || strings.HasSuffix(first, "lameduck") && strings.Contains(rest, "--context ") {
		return true
	}
	return slices.Contains([]string{"kubectl", "kind", "docker", "sleep", "wait"}, first) || first == "make" && strings.Contains(rest, "image")
}

// namesFiles looks for the files of the repository that a line names.
func namesFiles(t *testing.T, name, line string) {
	t.Helper()
	for _, path := range regexp.MustCompile(`\b(examples|manifests|test|\.ci)/[\w./-]+`).FindAllString(line, -1) {
		if _, err := os.Stat("../../" + path); err != nil {
			t.Errorf("%s: %s: %v", name, line, err)
		}
	}
}

// works tries a line: the program is run, and what make and bash are to do has to be there.
func works(t *testing.T, name, line string) {
	t.Helper()
	line, _, _ = strings.Cut(line, " #")
	words := strings.Fields(line)
	switch words[0] {
	case "make":
		makefile := read(t, "../../Makefile")
		for _, target := range words[1:] {
			if !strings.Contains(target, "=") && !strings.Contains(makefile, "\n"+target+":") {
				t.Errorf("%s: %s: there is no target %s", name, line, target)
			}
		}
	case "go":
		if want := "go install " + module + "/cmd/lameduck@latest"; line != want {
			t.Errorf("%s: %s: want %s", name, line, want)
		}
	case "bash":
		if _, err := os.Stat("../../" + words[1]); err != nil {
			t.Errorf("%s: %s: %v", name, line, err)
		}
	case "lameduck", "bin/lameduck":
		if at := slices.Index(words, "--html"); at >= 0 {
			words[at+1] = t.TempDir() // the pages are no part of the repository
		}
		got := answerTo(words[1:]...)
		var exit *exec.ExitError
		if got.err != nil && !(errors.As(got.err, &exit) && exit.ExitCode() == 1) { // 1 is a finding
			t.Errorf("%s: %s: %v\n%s%s", name, line, got.err, got.stdout, got.stderr)
		}
	default:
		t.Errorf("%s: nothing is known of %q: a command that is held to nothing, or a figure that is not in the table", name, line)
	}
}
