package page

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Every digit and every unit stays with the number before it, with the marks behind it, and nothing else does.
func TestWhatStaysTogether(t *testing.T) {
	t.Parallel()
	for digit := '0'; digit <= '9'; digit++ {
		for _, unit := range units {
			for _, end := range []string{"", ".", ",", ";", ":", ")", ").", "?", "s"} {
				want := []string{"a", fmt.Sprintf("x%c %s%s", digit, unit, end), "b"}
				if end == "?" || end == "s" {
					want = []string{"a", fmt.Sprintf("x%c", digit), unit + end, "b"}
				}
				if got := words(fmt.Sprintf("a x%c %s%s b", digit, unit, end)); !slices.Equal(got, want) {
					t.Errorf("%q, want %q", got, want)
				}
			}
		}
	}
	for _, word := range []string{"x/", "x:", "x", "-", "9a"} { // '/' and ':' are beside the digits
		if got := words(word + " s"); len(got) != 2 {
			t.Errorf("%q, want two words", got)
		}
	}
	for text, want := range map[string][]string{"s 1": {"s", "1"}, "  1 s": {"  1 s"}, "   ": nil, "": nil, "a  b": {"a", "b"}, "1 s s": {"1 s", "s"}, "1 ms 2 %": {"1 ms", "2 %"}} {
		if got := words(text); !slices.Equal(got, want) {
			t.Errorf("words of %q: %q, want %q", text, got, want)
		}
	}
}

// A word that is too wide is cut behind the last mark of the second half of a line, or where the line ends.
func TestWhereAWordIsBroken(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		word       string
		width      int
		head, rest string
	}{
		{"abcdefghij", 4, "abcd", "efghij"},
		{"ab/defghij", 4, "ab/", "defghij"},
		{"a/cdefghij", 4, "a/cd", "efghij"}, // in the first half of the line
		{"abc/efghij", 4, "abc/", "efghij"},
		{"abcd/fghij", 4, "abcd", "/fghij"},
		{"ab/d/fghij", 5, "ab/d/", "fghij"},
		{"ab,d", 3, "ab,", "d"}, {"ab;d", 3, "ab;", "d"}, {"ab|d", 3, "ab|", "d"}, {"ab&d", 3, "ab&", "d"}, {"ab=d", 3, "ab=", "d"}, {"ab:d", 3, "ab:", "d"},
		{"ab.de", 4, "ab.d", "e"},
		{"äöü/ß", 4, "äöü/", "ß"}, {"äöüß", 3, "äöü", "ß"},
		{"abc", 5, "abc", ""},
	} {
		if head, rest := broken(c.word, c.width); head != c.head || rest != c.rest {
			t.Errorf("%q in %d: %q and %q, want %q and %q", c.word, c.width, head, rest, c.head, c.rest)
		}
	}
}

// A colour has no width, and what is in its code is no place to break a word at.
func TestAPaintedWordIsBrokenInItsLetters(t *testing.T) {
	t.Parallel()
	head, rest := broken("abc"+Painted("1;31", "defgh"), 4)
	if want := "abc" + string([]byte{markCode}) + "1;31" + string([]byte{markWord}) + "d"; head != want || rest != "efgh"+string([]byte{markPlain}) {
		t.Errorf("%q and %q", head, rest)
	}
}

// Lines are as full as can be, of any width.
func TestLinesAreFull(t *testing.T) {
	t.Parallel()
	text := "of all the nodes 12 s pass before 3 % of what is lost comes back to a pod ä"
	for width := range 90 {
		lines := Wrap(text, width)
		if got := strings.Join(lines, " "); width >= 6 && got != text {
			t.Errorf("%d: %q", width, got)
		}
		for i, line := range lines {
			if Width(line) > max(width, 1) {
				t.Errorf("%d: %q is wider", width, line)
			}
			if width >= 6 && i+1 < len(lines) && Width(line)+1+Width(words(lines[i+1])[0]) <= width {
				t.Errorf("%d: %q has room for a word of %q", width, line, lines[i+1])
			}
		}
	}
}

// Columns are as wide as their cells need; what is too much is taken from the widest, first down to its longest word, and then down to eight.
func TestTheWidthsOfColumns(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"a", "some words in a cell", "abcdefghijklmnop"}, {"bcd", "x"}}
	for room, want := range map[int][]int{
		60: {3, 20, 16}, 43: {3, 20, 16}, 42: {3, 19, 16}, 39: {3, 16, 16}, 30: {3, 7, 16}, 28: {3, 5, 16}, 27: {3, 5, 15}, 20: {3, 5, 8}, 19: {3, 5, 8}, 0: {3, 5, 8},
	} {
		if got := fit(rows, room); !slices.Equal(got, want) {
			t.Errorf("in %d: %d, want %d", room, got, want)
		}
	}
	// Of columns that are as wide as each other the first is made narrower first.
	if got := fit([][]string{{"a b c d e", "a b c d e"}}, 19); !slices.Equal(got, []int{8, 9}) {
		t.Errorf("of two that are as wide: %d", got)
	}
}
