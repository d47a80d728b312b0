package facts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Rows of every form are found and numbered.
func TestReadFacts(t *testing.T) {
	t.Parallel()
	text := `# Title

| # | not in a section |
|---|---|
| 9.9 | x |

## 1. Numbered

| # | Fact |
|---|---|
| 1.1 | one |
| 1.2 | two |

## 2. Steps

| Step | What |
|---|---|
| a | first |

### 2.1 Words

Prose.

| Fact | Source |
|---|---|
| **Bold** and ` + "`code`" + ` | x |
| 20 of them | x |

1. item
   a. sub-item
2. item

### 2.2 Prose only

Nothing but prose.

## 3. Hops

| Hop | Delay |
|---|---|
| 3a worker | x |

## 4. Nothing
`
	path := filepath.Join(t.TempDir(), "f.md")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	facts, err := readFacts(path, "f")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range facts {
		got = append(got, strings.TrimSpace(f.id+" "+f.key))
	}
	want := "f 1.1, f 1.2, f 2a, f 2.1 Bold and code, f 2.1 20 of them, f 2.1.1, f 2.1.1a, f 2.1.2, f 2.2, f 3.3a"
	if strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
}

// An entry stands for what it names, and a section for its numbered rows only where that is asked
// for.
func TestCovers(t *testing.T) {
	t.Parallel()
	keyed := fact{id: "f 2.1", key: "Bold and code"}
	for _, tt := range []struct {
		id       string
		f        fact
		sections bool
		want     bool
	}{
		{"f 1.1", fact{id: "f 1.1"}, false, true},
		{"f 1.1", fact{id: "f 1.10"}, true, false},
		{"f 1", fact{id: "f 1.1"}, false, false},
		{"f 1", fact{id: "f 1.1"}, true, true},
		{"f 1", fact{id: "f 10.1"}, true, false},
		{"f 2", fact{id: "f 2a"}, true, true},
		{"f 2.1", keyed, false, true},
		{"f 2.1 bold", keyed, false, true},
		{"f 2.1 and", keyed, false, false},
		{"f 2", keyed, false, false},
		{"f 2", keyed, true, true},
		{"g 2.1", keyed, true, false},
	} {
		if got := covers(tt.id, tt.f, tt.sections); got != tt.want {
			t.Errorf("%q, %+v, sections %v: %v", tt.id, tt.f, tt.sections, got)
		}
	}
}

// The section of LIMITATIONS.md is cut out and put back wherever it is.
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
	if got := limitsSection(map[string][]string{}); strings.Count(got, "\n") < len(modelled()) {
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
