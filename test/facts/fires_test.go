package facts

import (
	"strings"
	"testing"
)

// The section of docs/verification.md is cut out and put back wherever it is.
func TestSplitLimits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, before, section, after string }{
		{"# A\n\ntext\n", "# A\n\ntext\n", "", ""},
		{"# A\n\n" + limitsTitle + "\n\nx\n", "# A\n\n", limitsTitle + "\n\nx\n", ""},
		{"# A\n\n" + limitsTitle + "\n\nx\n\n## B\n", "# A\n\n", limitsTitle + "\n\nx\n\n", "## B\n"},
	} {
		if before, section, after := splitLimits(tt.text); before != tt.before || section != tt.section || after != tt.after {
			t.Errorf("%q: %q, %q, %q", tt.text, before, section, after)
		}
	}
	if got := limitsSection(t, map[string][]string{}); strings.Count(got, "\n") < len(modelled(t)) {
		t.Error("without mutants every row is uncovered")
	}
}

// Tables of mutants are read in the forms they have.
func TestMutantsIn(t *testing.T) {
	t.Parallel()
	got, err := mutantsIn("table.go", `package p

var some = []mutant{
	{"without facts", []edit{{"a.go", "x", "y"}}},
	{"with facts", []string{"f 1.1", "f 2a"}, "pkg", "TestX", []edit{{"a.go", "x", "y"}}},
	{name: "with names", edits: []edit{{file: "a.go"}}, facts: []string{"f 3"}},
}

var others = []mutant{{"in another list", []string{"f 4"}, nil}}

var noMutants = []string{"f 5"}
`)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, m := range got {
		lines = append(lines, m.name+": "+strings.Join(m.facts, ", "))
	}
	want := "without facts: ; with facts: f 1.1, f 2a; with names: f 3; in another list: f 4"
	if strings.Join(lines, "; ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(lines, "; "), want)
	}
}
