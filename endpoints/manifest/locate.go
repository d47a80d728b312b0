package manifest

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// locate finds the line that a YAML parser's error is about. The parser's
// message has a line, but for errors in the structure it is the line where the
// surrounding collection started, or the line before, or none.
func locate(text string, line int, err error) *syntaxError {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	at := 0
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		if number, tail, ok := strings.Cut(rest, ": "); ok {
			if n, err := strconv.Atoi(number); err == nil {
				at, message = n, tail
			}
		}
	}
	if at == 0 || strings.HasPrefix(message, "did not find expected") {
		at = 1 + strings.Count(text[:consumed(text)], "\n")
	}
	return &syntaxError{int32(line + at - 1), 0, "malformed YAML: " + plainWords(message)}
}

// plainWords puts the parser's most frequent messages in the words of a person
// who wrote the manifest.
func plainWords(message string) string {
	switch message {
	case "did not find expected key":
		return "expected a key here; check the indentation of this line and those above"
	case "did not find expected '-' indicator":
		return "expected a list item here; check the indentation of this line and those above"
	case "mapping values are not allowed in this context":
		return "there cannot be a key here; check the indentation, or put a value that holds ': ' in quotes"
	case "could not find expected ':'":
		return "expected a colon and a space behind a key"
	case "found character that cannot start any token":
		return "a value cannot start with this character; put it in quotes"
	case "found unexpected end of stream":
		return "the quoted string that starts here is not closed"
	case "did not find expected <document start>":
		return "expected the end of the document; put a line with only --- between documents"
	case "did not find expected ',' or ']'":
		return "expected ',' or ']'; a list in brackets is not closed"
	case "did not find expected ',' or '}'":
		return "expected ',' or '}'; a mapping in braces is not closed"
	}
	return message
}

// consumed returns where the parser was when it noticed the error: it is fed
// one byte at a time, and reads at most a few ahead. The offset is that of the
// last visible character it has seen.
func consumed(text string) int {
	r := &byteReader{text: text}
	dec := yaml.NewDecoder(r)
	for {
		var n yaml.Node
		if err := dec.Decode(&n); err != nil {
			if errors.Is(err, io.EOF) {
				return 0
			}
			break
		}
	}
	return max(0, len(strings.TrimRight(text[:r.at], " \t\r\n"))-1)
}

type byteReader struct {
	text string
	at   int
}

func (r *byteReader) Read(p []byte) (int, error) {
	if r.at == len(r.text) {
		return 0, io.EOF
	}
	p[0] = r.text[r.at]
	r.at++
	return 1, nil
}

// firstColumn returns the column of the first visible character of a line of
// the text, counted from 0.
func firstColumn(text string, line int) int32 {
	for ; line > 0; line-- {
		text = text[lineEnd(text, 0):]
	}
	return int32(1 + len(text) - len(strings.TrimLeft(text, " ")))
}

const controlCharacters = "malformed YAML: control characters are not allowed"

// unprintable finds the first character that YAML does not allow.
func unprintable(text string, line int) *syntaxError {
	col := 1
	for _, r := range text {
		if !yamlPrintable(r) {
			return &syntaxError{int32(line), int32(col), fmt.Sprintf("control character %U; write it as an escape in a double-quoted string", r)}
		}
		col++
		if r == '\n' {
			line++
			col = 1
		}
	}
	return &syntaxError{int32(line), int32(col), controlCharacters}
}

func yamlPrintable(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r >= ' ' && r <= '~' || r == 0x85 || r >= 0xa0 && r <= 0xd7ff || r >= 0xe000 && r <= 0xfffd || r >= 0x10000
}
