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
	"CONTRIBUTING.md: // order: a sum":                "a comment, of the kind that test/arch looks for",
	"README.md: objects, problems := manifest.Load":   "code: TestTheReadmeShowsCodeThatRuns",
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

// documents lists the repository's Markdown files.
func documents(t *testing.T) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "../.." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
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
	case "bash":
		if _, err := os.Stat("../../" + words[1]); err != nil {
			t.Errorf("%s: %s: %v", name, line, err)
		}
	case "lameduck", "bin/lameduck":
		cmd := exec.Command(filepath.Join(binaries, "lameduck"), words[1:]...) //nolint:gosec // the documents' own commands
		cmd.Dir = "../.."
		var exit *exec.ExitError
		if out, err := cmd.CombinedOutput(); err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) { // 1 is a finding
			t.Errorf("%s: %s: %v\n%s", name, line, err, out)
		}
	default:
		t.Errorf("%s: nothing is known of %q: a command that is held to nothing, or a figure that is not in the table", name, line)
	}
}
