package facts

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/docs/model"
)

var update = flag.Bool("update", false, "rewrite the list in docs/verification.md")

// modelled returns the facts, all of which are modelled, in the order of the pages.
func modelled(t *testing.T) []model.Fact {
	t.Helper()
	facts, err := model.Facts()
	if err != nil {
		t.Fatal(err)
	}
	return facts
}

// The files and the tests that facts name exist.
func TestFactsNameWhatExists(t *testing.T) {
	t.Parallel()
	tests := map[string]map[string]bool{} // by package
	for _, f := range modelled(t) {
		if info, err := os.Stat(filepath.Join(root, f.File)); err != nil || info.IsDir() {
			t.Errorf("%s:%d: %s: modelled in %s: %v", f.Page, f.Line, f.ID, f.File, err)
		}
		for _, fault := range missingTests(t, tests, f.Tests) {
			t.Errorf("%s:%d: %s: %s", f.Page, f.Line, f.ID, fault)
		}
	}
}

// missingTests says what is wrong with a list of tests, "PACKAGE: TEST TEST; PACKAGE: ...". tests remembers those of packages.
func missingTests(t *testing.T, tests map[string]map[string]bool, list string) (faults []string) {
	t.Helper()
	for _, part := range strings.Split(list, ";") {
		pkg, names, ok := strings.Cut(strings.TrimSpace(part), ": ")
		if !ok {
			faults = append(faults, fmt.Sprintf("tests %q: want PACKAGE: TEST TEST; PACKAGE: ...", list))
			continue
		}
		if tests[pkg] == nil {
			found, err := packageTests(filepath.Join(root, pkg))
			if err != nil {
				t.Fatal(err)
			}
			tests[pkg] = found
		}
		for _, name := range strings.Fields(names) {
			if !tests[pkg][name] {
				faults = append(faults, fmt.Sprintf("there is no %s in %s", name, pkg))
			}
		}
	}
	return faults
}

// breaking returns, by id, the mutants that break a row, each with its table.
func breaking(t *testing.T) map[string][]string {
	t.Helper()
	list, err := readMutants()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, m := range list {
		if m.table == "oracle" {
			m.facts = oracleFacts[m.name]
		}
		for _, id := range m.facts {
			out[id] = append(out[id], m.table+": "+m.name)
		}
	}
	return out
}

// Mutants name rows that are modelled, or sections of them, and the tables are read in full.
func TestMutantsNameFacts(t *testing.T) {
	t.Parallel()
	list, err := readMutants()
	if err != nil {
		t.Fatal(err)
	}
	facts := modelled(t)
	read, oracle := map[string][]string{}, map[string]bool{}
	for _, m := range list {
		if m.table == "facts" {
			read[m.name] = m.facts
		}
		if m.table == "oracle" {
			oracle[m.name] = true
			m.facts = oracleFacts[m.name]
		}
		for _, id := range m.facts {
			if len(model.Find(facts, id)) == 0 {
				t.Errorf("test/%s: %q breaks %s, which is not modelled", m.table, m.name, id)
			}
		}
	}
	for _, m := range mutants() {
		if names, ok := read[m.name]; !ok || !slices.Equal(names, m.facts) {
			t.Errorf("%q is not read from its source, or not its facts: they have to be written out", m.name)
		}
	}
	for name := range oracleFacts { // order: each for itself
		if !oracle[name] {
			t.Errorf("test/oracle has no mutant %q", name)
		}
	}
}

// TestFacts prints the list, id | what | tests | mutants, with -v.
func TestFacts(t *testing.T) {
	t.Parallel()
	broken := breaking(t)
	covered := 0
	var b strings.Builder
	fmt.Fprintln(&b, "id | what | tests | mutants")
	facts := modelled(t)
	for _, f := range facts {
		mutants := "not covered"
		if len(broken[f.ID]) > 0 {
			covered++
			mutants = strings.Join(broken[f.ID], ", ")
		}
		fmt.Fprintf(&b, "%s | %s | %s | %s\n", f.ID, f.Model, f.Tests, mutants)
	}
	if covered == 0 {
		t.Error("no mutant breaks anything")
	}
	if testing.Verbose() {
		fmt.Fprintf(os.Stdout, "%s\n%d rows modelled, %d broken by a mutant\n", &b, len(facts), covered)
	}
}

// The list of modelled rows that no mutant breaks, as docs/verification.md has it.
const (
	limitations  = root + "/docs/verification.md"
	limitsTitle  = "## Facts without a killing mutant"
	limitsHeader = limitsTitle + `

What is modelled and tested, but where no mutant shows that a test would notice a mistake (` + "`make facts`" + ` lists all rows, with tests and mutants;
` + "`go test ./test/facts -update`" + ` rewrites this list).

`
	limitsTable = `| Row | What | Tests |
|---|---|---|
`
)

func limitsSection(t *testing.T, broken map[string][]string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(limitsHeader)
	table := limitsTable
	for _, f := range modelled(t) {
		if len(broken[f.ID]) == 0 {
			fmt.Fprintf(&b, "%s| %s | %s | %s |\n", table, f.ID, f.Model, f.Tests)
			table = ""
		}
	}
	if table != "" {
		b.WriteString("None at present.\n")
	}
	return b.String()
}

// splitLimits cuts the section out of a text.
func splitLimits(text string) (before, section, after string) {
	begin := strings.Index(text, limitsTitle)
	if begin < 0 {
		return text, "", ""
	}
	end := len(text)
	if next := strings.Index(text[begin+1:], "\n## "); next >= 0 {
		end = begin + 1 + next + 1
	}
	return text[:begin], text[begin:end], text[end:]
}

// What is not covered is said.
func TestUncoveredFactsStandInLimitations(t *testing.T) {
	t.Parallel()
	want := limitsSection(t, breaking(t))
	data, err := os.ReadFile(limitations)
	if err != nil {
		t.Fatal(err)
	}
	before, section, after := splitLimits(string(data))
	if strings.TrimSpace(section) == strings.TrimSpace(want) {
		return
	}
	if !*update {
		t.Fatalf("%s has another list (go test ./test/facts -update writes it); want:\n%s", limitations, want)
	}
	text := strings.TrimRight(before, "\n") + "\n\n" + want
	if after != "" {
		text += "\n" + after
	}
	if err := os.WriteFile(limitations, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
