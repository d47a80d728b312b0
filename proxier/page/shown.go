package page

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Shown returns a text from outside as a terminal may have it: in one line, every character that does something else than
// being seen written as an escape, as Go and shells write it. Those are the controls C0 and C1 (of which ESC and U+009B begin
// what terminals obey), the format characters (of which those for the direction of text show other words than there are), the
// separators of lines and of paragraphs, and bytes that are not UTF-8.
//
// It is the one way from outside into text: pages show all that they are given by it.
func Shown(text string) string { return escaped(text, "") }

// ShownLines is Shown for text of several lines: newlines and tabs are kept.
func ShownLines(text string) string { return escaped(text, "\n\t") }

// Hides says whether a character does something else than being seen, as Shown has it.
func Hides(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7f
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// escaped writes as escapes all that Hides but what is kept.
func escaped(text, kept string) string {
	hidden := func(r rune) bool { return (Hides(r) || r == utf8.RuneError) && !strings.ContainsRune(kept, r) }
	first := strings.IndexFunc(text, hidden)
	if first < 0 {
		return text
	}
	var b strings.Builder
	b.WriteString(text[:first])
	for i := first; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r != utf8.RuneError && hidden(r):
			b.WriteString(escape(r))
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// escape is how a character is written that is not to be obeyed.
func escape(r rune) string {
	const lastASCII, lastOfFour = 0x7f, 0xffff
	switch {
	case r == '\n':
		return `\n`
	case r == '\t':
		return `\t`
	case r == '\r':
		return `\r`
	case r <= lastASCII:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= lastOfFour:
		return fmt.Sprintf(`\u%04x`, r)
	default:
		return fmt.Sprintf(`\U%08x`, r)
	}
}

// The marks of a painted word: bytes that are in no UTF-8, so that no text from outside has them once it is Shown.
const (
	markCode  = '\xff' // what follows is a code
	markWord  = '\xfe' // what follows is the word
	markPlain = '\xfd' // the word has ended
)

// Painted is a word for a page to show in a colour: with the parameters of ECMA-48's "select graphic rendition", such as
// "1;31". Only a page may be given it.
func Painted(code, word string) string {
	return string([]byte{markCode}) + code + string([]byte{markWord}) + Shown(word) + string([]byte{markPlain})
}

// shown is Shown for text in which there may be painted words.
func shown(text string) string {
	if strings.IndexByte(text, markCode) < 0 {
		return Shown(text)
	}
	var b strings.Builder
	from := 0
	for i := range len(text) {
		if text[i] >= markPlain {
			b.WriteString(Shown(text[from:i]))
			b.WriteByte(text[i])
			from = i + 1
		}
	}
	b.WriteString(Shown(text[from:]))
	return b.String()
}

// colour turns the marks of a line into what terminals obey.
func colour(line string) string {
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case markCode:
			code, _, whole := strings.Cut(line[i+1:], string([]byte{markWord}))
			if whole && strings.Trim(code, "0123456789;") == "" {
				b.WriteString("\x1b[" + code + "m")
				i += len(code) + 1
				continue
			}
			b.WriteString(Shown(line[i : i+1]))
		case markPlain:
			b.WriteString("\x1b[0m")
		case markWord:
			b.WriteString(Shown(line[i : i+1]))
		default:
			b.WriteByte(line[i])
		}
	}
	return b.String()
}

// step is the size in bytes of the next character of a text, and whether it takes a column: marks and colours take none.
func step(text string) (size, columns int) {
	var end int
	switch text[0] {
	case markPlain:
		return 1, 0
	case markCode:
		end = strings.IndexByte(text, markWord)
	case '\x1b':
		end = strings.IndexByte(text, 'm')
	default:
		_, size = utf8.DecodeRuneInString(text)
		return size, 1
	}
	if end < 0 {
		return len(text), 0
	}
	return end + 1, 0
}
