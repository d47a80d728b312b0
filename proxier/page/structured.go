package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON writes what Hides in the strings of a JSON document as JSON's escapes: programs read the same, and nobody who looks at
// the document sees anything else than what it holds. JSON itself asks for that with C0 only (RFC 8259, section 7).
func JSON(document string) string {
	return replaced(document, func(r rune) string {
		if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			return fmt.Sprintf(`\u%04x\u%04x`, high, low)
		}
		return fmt.Sprintf(`\u%04x`, r)
	})
}

// YAML is JSON for a YAML document, all of whose strings with something that Hides are in double quotes (YAML 1.2.2, 5.7).
func YAML(document string) string { return replaced(document, escape) }

// replaced replaces what Hides, but C0, which encoders themselves take care of.
func replaced(document string, by func(rune) string) string {
	hidden := func(r rune) bool { return r >= 0x7f && Hides(r) }
	if strings.IndexFunc(document, hidden) < 0 {
		return document
	}
	var b strings.Builder
	for _, r := range document {
		if hidden(r) {
			b.WriteString(by(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Document is a value as the JSON that every answer is: indented by two, as it may stand in a file. JSON makes it fit for a terminal.
func Document(v any) (string, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return buf.String(), err
}
