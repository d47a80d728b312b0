package page

import "strings"

// Wrap breaks words into lines of at most width columns; there is one line at least. A number
// stays with its unit. A word that is wider than a line is broken, after a slash where it has
// one. What is not to be obeyed is Shown.
func Wrap(text string, width int) []string {
	text, width = shown(text), max(width, 1)
	var out []string
	line := ""
	for _, word := range words(text) {
		switch {
		case line == "":
			line = word
		case Width(line)+1+Width(word) <= width:
			line += " " + word
		default:
			out, line = append(out, line), word
		}
		for Width(line) > width {
			var part string
			part, line = broken(line, width)
			out = append(out, part)
		}
	}
	return append(out, line)
}

// units are what belongs to the number before it.
var units = []string{"s", "ms", "%", "min", "h", "d", "MiB", "->"}

// words splits text at blanks, but for those between a number and its unit. Runs of blanks at
// the beginning are kept: they indent.
func words(text string) []string {
	trimmed := strings.TrimLeft(text, " ")
	indent := text[:len(text)-len(trimmed)]
	var out []string
	for i, word := range strings.Fields(trimmed) {
		if i > 0 && isUnit(word) && endsInDigit(out[len(out)-1]) {
			out[len(out)-1] += " " + word
			continue
		}
		out = append(out, word)
	}
	if indent != "" && len(out) > 0 {
		out[0] = indent + out[0]
	}
	return out
}

func isUnit(word string) bool {
	word = strings.TrimRight(word, ".,;:)")
	for _, u := range units {
		if word == u {
			return true
		}
	}
	return false
}

func endsInDigit(word string) bool {
	last := word[len(word)-1]
	return last >= '0' && last <= '9'
}

// broken cuts a word that is too wide.
func broken(word string, width int) (head, rest string) {
	cut, good, seen := 0, 0, 0
	for cut < len(word) {
		size, columns := step(word[cut:])
		if seen+columns > width {
			break
		}
		seen += columns
		cut += size
		if columns > 0 && seen > width/2 && strings.ContainsAny(word[cut-size:cut], "/,;|&=") {
			good = cut
		}
	}
	if good > 0 {
		cut = good
	}
	return word[:cut], word[cut:]
}

// Width counts what a terminal shows of a text: colours have no width.
func Width(text string) int {
	n := 0
	for text != "" {
		size, columns := step(text)
		text, n = text[size:], n+columns
	}
	return n
}
