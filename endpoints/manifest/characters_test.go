package manifest

import (
	"encoding/json"
	"fmt"
	"testing"

	"go.yaml.in/yaml/v3"
)

// Escapes of JSON are read as encoding/json reads them, whatever digit stands where.
func TestEscapesOfJSON(t *testing.T) {
	t.Parallel()
	for place := range 4 {
		for c := byte(' '); c < 0x7f; c++ {
			if c == '"' || c == '\\' {
				continue // they end the string, or begin another escape
			}
			digits := []byte("0a0A")
			digits[place] = c
			agreeOnJSON(t, `"\u`+string(digits)+`"`)
		}
	}
	for _, text := range []string{`"\ud83d\ude00"`, `"\ud83d"`, `"\ud83dx"`, `"\ud83d\u0041"`, `"\ude00\ud83d"`, `"\u00e"`, `"\u"`, `"\u004`, `"\n\t\/\b\f\r\"\\"`, `"\x41"`} {
		agreeOnJSON(t, text)
	}
}

func agreeOnJSON(t *testing.T, text string) {
	t.Helper()
	var want string
	refused := json.Unmarshal([]byte(text), &want) != nil
	nodes, err := parseJSON(text, 1)
	if refused != (err != nil) || !refused && (len(nodes) != 1 || nodes[0].text != want) {
		t.Errorf("%s: read as %v, %v; encoding/json reads %q and refuses it: %v", text, nodes, err, want, refused)
	}
}

// The characters that YAML may hold are those that the library takes.
func TestCharactersOfYAML(t *testing.T) {
	t.Parallel()
	for _, around := range []rune{0, '\t', '\n', '\r', ' ', '~', 0x7f, 0x85, 0xa0, 0xd7ff, 0xe000, 0xfeff, 0xfffd, 0x10000, 0x10ffff} {
		for r := max(0, around-2); r <= min(around+2, 0x10ffff); r++ {
			if r >= 0xd800 && r < 0xe000 || r == 0xfeff {
				continue // no characters of a text; a byte order mark, which the library takes for one wherever it is
			}
			var out string
			err := yaml.Unmarshal(fmt.Appendf(nil, "'a%cb'", r), &out)
			if got := yamlPrintable(r); got != (err == nil) {
				t.Errorf("%U: printable %v, the library says %v", r, got, err)
			}
		}
	}
}
