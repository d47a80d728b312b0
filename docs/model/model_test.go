package model

import (
	"regexp"
	"strings"
	"testing"
)

func read(t *testing.T) []Page {
	t.Helper()
	pages, err := Read()
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// All pages are read whole, and each has facts of its own.
func TestPagesAreRead(t *testing.T) {
	t.Parallel()
	facts := 0
	for _, p := range read(t) {
		facts += len(p.Facts)
		if len(p.Facts) < 5 {
			t.Errorf("%s has %d facts", p.Name, len(p.Facts))
		}
		for _, f := range p.Facts {
			if !strings.HasPrefix(f.ID, p.Name+" ") || f.Page != "docs/model/"+p.Name+".md" || f.Line < 5 {
				t.Errorf("%+v", f)
			}
		}
	}
	if facts < 300 {
		t.Errorf("only %d facts", facts)
	}
}

// A fact can be found again: its lines are those of its page, no longer than a screen, and without anything that a terminal
// would take for more than text.
func TestPagesAreText(t *testing.T) {
	t.Parallel()
	for _, p := range read(t) {
		data, err := pages.ReadFile(p.Name + ".md")
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(data), "\n")
		for i, line := range lines {
			if len(line) > 160 || regexp.MustCompile(`[^ -~]`).MatchString(line) {
				t.Errorf("%s.md:%d: %d characters, or other ones than ASCII", p.Name, i+1, len(line))
			}
		}
		for _, f := range p.Facts {
			if lines[f.Line-1] != "### "+strings.TrimPrefix(f.ID, p.Name+" ") {
				t.Errorf("%s is not in line %d: %q", f.ID, f.Line, lines[f.Line-1])
			}
		}
	}
}

// A source can be opened: it is a file of a version, a page with an address, a manual page, or a page of the repository. What
// was read or documented has one that is not of the repository alone, except where it follows from facts of other pages.
func TestSourcesNameSomething(t *testing.T) {
	t.Parallel()
	known := regexp.MustCompile(`^(Kubernetes \d+\.\d+(\.\d+)? (pkg|cmd)/|k8s\.io/[a-z-]+ v0\.\d+\.\d+,? [a-z]|https://[a-z0-9.-]+/\S|docs/[a-z-]+(/[a-z-]+)?\.md|Linux, [a-z]|measured as described above$)`)
	for _, p := range read(t) {
		for _, f := range p.Facts {
			if !known.MatchString(f.Source) {
				t.Errorf("%s: source %q", f.ID, f.Source)
			}
			if f.Status == "documented" && !strings.HasPrefix(f.Source, "https://") {
				t.Errorf("%s is documented at %q", f.ID, f.Source)
			}
		}
	}
}

const onePage = `# A page

What it is about,
in two lines.

## 2 Section

### 2a

One sentence
in two lines.

1. First.
2. Second,
   longer.

- Status: verified
- Source: Kubernetes 1.36.3 pkg/a.go,
  pkg/b.go
- Model: it
- File: a.go
- Tests: a: TestA

### 2.1 Rows

Text.

- Status: assumed
- Source: docs/scenario.md
- Numbers: interval 3 s
- Model: it
- File: a.go
- Tests: a: TestA

## Not modelled

| Row | Why |
|---|---|
| 3 | no reason |
`

func TestWhatAPageSays(t *testing.T) {
	t.Parallel()
	p, err := Parse("page", onePage)
	if err != nil {
		t.Fatal(err)
	}
	if p.Title != "A page" || p.About != "What it is about, in two lines." || len(p.Facts) != 2 || len(p.Left) != 1 || p.Left[0] != (LeftOut{"page 3", "no reason"}) {
		t.Errorf("%+v", p)
	}
	first := Fact{ID: "page 2a", Text: "One sentence in two lines.\n1. First.\n2. Second, longer.", Status: "verified", Source: "Kubernetes 1.36.3 pkg/a.go, pkg/b.go",
		Model: "it", File: "a.go", Tests: "a: TestA", Page: "docs/model/page.md", Line: 8}
	if p.Facts[0] != first {
		t.Errorf("%+v", p.Facts[0])
	}
	if got := p.Facts[0].First() + (&Fact{Text: "One. Two."}).First(); got != "One sentence in two lines.One." {
		t.Errorf("first sentences %q", got)
	}
	if f := p.Facts[1]; f.ID != "page 2.1 Rows" || f.Numbers != "interval 3 s" {
		t.Errorf("%+v", f)
	}
}

// What is wrong with a page is said with its line.
func TestPagesThatAreNone(t *testing.T) {
	t.Parallel()
	for old, c := range map[string]struct{ new, want string }{ // order: each for itself
		"# A page\n":                         {"A page\n", "line 1: want the title of the page"},
		"What it is about,\nin two lines.\n": {"", "a page says what it is about"},
		"## 2 Section":                       {"## Section", "line 6: a section begins with its number"},
		"### 2a":                             {"### 3a", `line 8: "3a" is no heading of a fact in section "2"`},
		"### 2.1 Rows":                       {"### 2a", "page 2a is there twice"},
		"- Status: verified":                 {"- Status: sure", `page 2a: status "sure": want one of verified, measured`},
		"- Source: docs/scenario.md\n":       {"", `page 2.1 Rows: want "- Source: ..." here`},
		"- Model: it\n- File: a.go\n- Tests: a: TestA\n\n## ":                {"- Model: it\n- Tests: a: TestA\n\n## ", `page 2.1 Rows: want "- File: ..." here`},
		"- Tests: a: TestA\n\n## ":                                           {"- Tests: a: TestA\n- More: b\n\n## ", "want an empty line after the fields"},
		"One sentence\nin two lines.\n\n1. First.\n2. Second,\n   longer.\n": {"", "page 2a has no text"},
		"| 3 | no reason |":                                                  {"| 2a | no reason |", "page 2a is there twice"},
		"| 3 | no":                                                           {"| 3 ", "want a row"},
		"| Row | Why |":                                                      {"| Why | Row |", `want "| Row | Why |"`},
		"\n## Not modelled\n":                                                {"\nmore\n\n## Not modelled\n", `want a section or a fact, not "more"`},
		"### 2a\n\nOne sentence":                                             {"### 2a\n\n- One sentence", "page 2a has no text"},
	} {
		text := strings.Replace(onePage, old, c.new, 1)
		if text == onePage {
			t.Errorf("%q is not in the page", old)
		}
		if _, err := Parse("page", text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q for %q: %v, want %q", c.new, old, err, c.want)
		}
	}
}

// An ID finds its fact, and a page, a section or the beginning of a heading what is in it.
func TestFind(t *testing.T) {
	t.Parallel()
	var facts []Fact
	for _, id := range []string{"a 1", "a 1.1", "a 1.10", "a 1a", "a 1 Rows", "a 1 Rows of it", "a 10", "b 1"} {
		facts = append(facts, Fact{ID: id})
	}
	for id, want := range map[string]string{ // order: each for itself
		"a 1": "a 1|a 1.1|a 1.10|a 1a|a 1 Rows|a 1 Rows of it", "a 1.1": "a 1.1", "a 1 Rows": "a 1 Rows|a 1 Rows of it", "a 10": "a 10", "a": "a 1|a 1.1|a 1.10|a 1a|a 1 Rows|a 1 Rows of it|a 10", "b": "b 1", "c": "", "a 1 Ro": "", "": "",
	} {
		var got []string
		for _, f := range Find(facts, id) {
			got = append(got, f.ID)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q finds %q, want %q", id, got, want)
		}
	}
}
