package page

import (
	"strings"
	"testing"
)

func TestWhatATerminalObeysIsShownAsAnEscape(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"web":                         "web",
		"häfen ✓ 港":                   "häfen ✓ 港",
		"a\x1b[31mred":                `a\x1b[31mred`,
		"one\ntwo\r\tthree":           `one\ntwo\r\tthree`,
		"\x00\x07\x7f":                `\x00\x07\x7f`,
		"csi \u009b2J nel \u0085":     `csi \u009b2J nel \u0085`,
		"rlo \u202egpj.exe\u2069":     `rlo \u202egpj.exe\u2069`,
		"marks \u200e\u200f\u061c":    `marks \u200e\u200f\u061c`,
		"line \u2028 paragraph\u2029": `line \u2028 paragraph\u2029`,
		"none \u200b\ufeff":           `none \u200b\ufeff`,
		"tag \U000e0041":              `tag \U000e0041`,
		"bytes \xff\xc2 \ufffd":       `bytes \xff\xc2 ` + "\ufffd",
	} {
		if got := Shown(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got, want := ShownLines("a\tb\x1b\nc\u202e\n"), "a\tb\\x1b\nc\\u202e\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// hostile has what Shown is for; nothing of it may come out of a page.
const hostile = "x\x1b[2J\x1b]0;t\x07\u009b31m\u202e\u2066\nwarning: \rfaked\u2028\x7f\xff31\xfe\xfd"

func TestNoWayIntoAPageLetsControlsThrough(t *testing.T) {
	t.Parallel()
	for _, width := range []int{40, 60, 100} {
		p := New(width)
		p.Text(hostile, "words")
		p.Text("prefix", hostile)
		p.Hanging(hostile, 2, hostile+" "+hostile)
		p.Verbatim(hostile)
		p.Table(2, [][]string{{hostile, "b"}, {"c", strings.Repeat(hostile, 5)}})
		for _, line := range p.Lines() {
			rest := strings.NewReplacer("\x1b[31m", "", "\x1b[0m", "").Replace(line) // forged with bytes that are not UTF-8: a colour, no more
			if strings.ContainsFunc(rest, Hides) {
				t.Errorf("width %d: %q", width, line)
			}
		}
		if !strings.Contains(p.String(), `\x1b[2J`) {
			t.Errorf("nothing is shown of it: %q", p)
		}
	}
}

func TestAPaintedWordIsPaintedAndNoOther(t *testing.T) {
	t.Parallel()
	p := New(60)
	p.Text(Painted("1;31", "BAD\x1b[0m")+"  ", "and \x1b[32mgood\x1b[0m")
	if got, want := p.String(), "\x1b[1;31mBAD\\x1b[0m\x1b[0m  and \\x1b[32mgood\\x1b[0m\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	long := New(40)
	long.Text("", Painted("1", strings.Repeat("abc/", 20)))
	plain := strings.NewReplacer("\x1b[1m", "", "\x1b[0m", "", "\n", "").Replace(long.String())
	if plain != strings.Repeat("abc/", 20) {
		t.Errorf("a painted word that was broken: %q", long.String())
	}
}

func TestWhatIsNoColourIsNotObeyed(t *testing.T) {
	t.Parallel()
	p := New(60)
	p.Verbatim("\xff2J\x1b[\xfeword")
	p.Verbatim("\xffno end")
	if got, want := p.String(), `\xff2J\x1b[\xfeword`+"\n"+`\xffno end`+"\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
