package facts

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the list in LIMITATIONS.md, and the list of rows where the facts are")

// factsDir holds the files of facts; they are not part of the repository.
const factsDir = "../../../shared/facts"

// factsFiles are the files whose every row has to be accounted for.
var factsFiles = []string{"pod-lifecycle", "controllers", "kube-proxy", "propagation", "measured", "load-balancers"}

// rowsFile names every row of the facts, as "FILE SECTION", a tab, and for a row of a table its first cell: what has to be
// accounted for where the facts are not there.
const rowsFile = "testdata/rows.txt"

// The list of rows is that of the facts, where they are beside the repository.
func TestTheListOfRowsIsTheFacts(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(factsDir); err != nil {
		t.Skipf("%s is not there: the facts are kept outside the repository, which has the list of their rows", factsDir)
	}
	var want strings.Builder
	for _, file := range factsFiles {
		facts, err := readFacts(filepath.Join(factsDir, file+".md"), file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range facts {
			want.WriteString(strings.TrimSuffix(f.id+"\t"+f.key, "\t") + "\n")
		}
	}
	if *update {
		if err := os.WriteFile(rowsFile, []byte(want.String()), 0o644); err != nil { //nolint:gosec // as all files of the repository
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(rowsFile)
	if err != nil || string(have) != want.String() {
		t.Errorf("%s is not the facts' list of rows (%v): go test ./test/facts -update writes it", rowsFile, err)
	}
}

// Every row of the facts is modelled or left out for a reason, and no entry speaks of a row that
// is not there.
func TestEveryFactIsAccountedFor(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(rowsFile)
	if err != nil {
		t.Fatal(err)
	}
	used, rows := map[string]bool{}, map[string]int{}
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		id, key, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		f := fact{id: id, key: key, line: n}
		file, _, _ := strings.Cut(id, " ")
		rows[file]++
		found := false
		for _, r := range modelled() {
			if covers(r.id, f, false) {
				used[r.id], found = true, true
			}
		}
		for _, e := range elsewhere {
			if covers(e.id, f, true) {
				used[e.id], found = true, true
			}
		}
		if !found {
			t.Errorf("%s:%d: %s %.40q is neither modelled nor left out", rowsFile, f.line, f.id, f.key)
		}
	}
	for _, file := range factsFiles {
		if rows[file] < 20 {
			t.Errorf("%s: only %d rows", file, rows[file])
		}
	}
	for _, id := range ids() {
		if !used[id] {
			t.Errorf("%s is no row of the facts", id)
		}
	}
}

// ids lists the ids of both lists.
func ids() []string {
	var out []string
	for _, r := range modelled() {
		out = append(out, r.id)
	}
	for _, e := range elsewhere {
		out = append(out, e.id)
	}
	return out
}

// The lists are well formed, and what they name exists.
func TestTableNamesWhatExists(t *testing.T) {
	t.Parallel()
	all := ids()
	slices.Sort(all)
	for i := 1; i < len(all); i++ {
		if all[i] == all[i-1] {
			t.Errorf("%s is listed twice", all[i])
		}
	}
	for _, e := range elsewhere {
		if e.why == "" {
			t.Errorf("%s: no reason", e.id)
		}
	}
	tests := map[string]map[string]bool{} // by package
	for _, r := range modelled() {
		if _, err := os.Stat(filepath.Join(root, r.where)); err != nil || r.what == "" {
			t.Errorf("%s: %q, modelled in %s: %v", r.id, r.what, r.where, err)
		}
		for _, fault := range missingTests(t, tests, r.tests) {
			t.Errorf("%s: %s", r.id, fault)
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

// ofSimulator matches sections of the simulator's specification, of what is no fact of Kubernetes.
var ofSimulator = regexp.MustCompile(`^simulator \d+(\.\d+)*$`)

// Mutants name rows that are modelled, or sections of them, and the tables are read in full.
func TestMutantsNameFacts(t *testing.T) {
	t.Parallel()
	list, err := readMutants()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, r := range modelled() {
		known[r.id] = true
	}
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
			isSection := slices.ContainsFunc(modelled(), func(r row) bool { return strings.HasPrefix(r.id, id+" ") || within(id, r.id) })
			if !known[id] && !isSection && !ofSimulator.MatchString(id) {
				t.Errorf("test/%s: %q breaks %s, which is not modelled", m.table, m.name, id)
			}
		}
	}
	for _, m := range mutants() {
		if facts, ok := read[m.name]; !ok || !slices.Equal(facts, m.facts) {
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
	for _, r := range modelled() {
		mutants := "not covered"
		if len(broken[r.id]) > 0 {
			covered++
			mutants = strings.Join(broken[r.id], ", ")
		}
		fmt.Fprintf(&b, "%s | %s | %s | %s\n", r.id, r.what, r.tests, mutants)
	}
	if covered == 0 {
		t.Error("no mutant breaks anything")
	}
	if testing.Verbose() {
		fmt.Fprintf(os.Stdout, "%s\n%d rows modelled, %d broken by a mutant; %d rows or sections left out\n", &b, len(modelled()), covered, len(elsewhere))
	}
}

// The list of modelled rows that no mutant breaks, as LIMITATIONS.md has it.
const (
	limitations  = root + "/LIMITATIONS.md"
	limitsTitle  = "## Facts without a killing mutant"
	limitsHeader = limitsTitle + `

What is modelled and tested, but where no mutant shows that a test would notice a mistake (` + "`make facts`" + ` lists all rows, with tests and mutants;
` + "`go test ./test/facts -update`" + ` rewrites this list).

`
	limitsTable = `| Row | What | Tests |
|---|---|---|
`
)

func limitsSection(broken map[string][]string) string {
	var b strings.Builder
	b.WriteString(limitsHeader)
	table := limitsTable
	for _, r := range modelled() {
		if len(broken[r.id]) == 0 {
			fmt.Fprintf(&b, "%s| %s | %s | %s |\n", table, r.id, r.what, r.tests)
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
	want := limitsSection(breaking(t))
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
