package page

import (
	"slices"
	"strings"
	"testing"
)

func TestParagraphsAreWrappedUnderTheirFirstWord(t *testing.T) {
	t.Parallel()
	p := New(24)
	p.Text("  Why  ", "nodes send new connections for 1.2 s (median).")
	want := "  Why  nodes send new\n       connections for\n       1.2 s (median).\n"
	if p.String() != want {
		t.Errorf("got:\n%swant:\n%s", p.String(), want)
	}
}

func TestANumberStaysWithItsUnit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text  string
		width int
		want  []string
	}{
		{"lost 12 s", 7, []string{"lost", "12 s"}},
		{"in 3 % of", 4, []string{"in", "3 %", "of"}},
		{"lost 12 s.", 7, []string{"lost", "12 s."}},
		{"", 7, []string{""}},
		{"  indented words", 11, []string{"  indented", "words"}},
	} {
		if got := Wrap(tt.text, tt.width); !slices.Equal(got, tt.want) {
			t.Errorf("%q in %d: %q, want %q", tt.text, tt.width, got, tt.want)
		}
	}
}

func TestAWordThatIsTooWideIsBrokenAndNothingOfItIsLost(t *testing.T) {
	t.Parallel()
	word := "deploy/overlays/production/web-frontend-deployment.yaml:412"
	got := Wrap(word, 20)
	if strings.Join(got, "") != word {
		t.Errorf("%q", got)
	}
	for _, line := range got {
		if Width(line) > 20 {
			t.Errorf("%q is wider than 20", line)
		}
	}
	if got[0] != "deploy/overlays/" {
		t.Errorf("broken at %q, want the slash", got[0])
	}
}

func TestTablesTakeFromTheWidestColumn(t *testing.T) {
	t.Parallel()
	p := New(40)
	p.Table(2, [][]string{{"CASE", "VERDICT"}, {"rolling restart of the web frontend, inside :80", "drops"}})
	want := []string{"  CASE                           VERDICT", "  rolling restart of the web     drops", "  frontend, inside :80"}
	if !slices.Equal(p.Lines(), want) {
		t.Errorf("got:\n%swant:\n%s", p, strings.Join(want, "\n"))
	}
}

func TestNothingIsWiderThanThePage(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a-very-long-word/", 20)
	for width := narrowest; width <= Widest; width += 7 {
		p := New(width)
		p.Text("prefix: ", long+" and more words after it")
		p.Hanging("prefix: ", 2, long)
		p.Table(4, [][]string{{"A", long, "some words", long}, {"short", "cells", long, "2"}})
		for _, line := range p.Lines() {
			if Width(line) > width {
				t.Fatalf("%d columns in a page of %d: %q", Width(line), width, line)
			}
		}
	}
}

func TestColoursHaveNoWidth(t *testing.T) {
	t.Parallel()
	if got := Width("\x1b[1;31mDROPS\x1b[0m"); got != 5 {
		t.Errorf("%d columns, want 5", got)
	}
	p := New(100)
	p.Table(0, [][]string{{Painted("31", "drops"), "1"}, {"holds", "2"}})
	if got, want := p.Lines()[0], "\x1b[31mdrops\x1b[0m  1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestATerminalMakesThePageNarrowerNotWider(t *testing.T) {
	t.Parallel()
	for terminal, want := range map[int]int{0: 100, 80: 80, 60: 60, 10: 40, 250: 100} {
		if got := Columns(terminal); got != want {
			t.Errorf("a terminal of %d columns: %d, want %d", terminal, got, want)
		}
	}
}

func TestThereIsOneBlankLineAtMost(t *testing.T) {
	t.Parallel()
	p := New(10)
	p.Blank()
	p.Text("", "one")
	p.Blank()
	p.Blank()
	p.Text("", "two")
	if got, want := p.String(), "one\n\ntwo\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
