package manifest

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// shape is what a node is, before anything is known about the field it fills.
type shape uint8

const (
	scalar shape = iota
	sequence
	mapping
)

// node is one YAML or JSON value and where it stands. It is about a third of
// the size of a yaml.Node, which is what makes it cheap to keep the tree of
// each object for its positions.
type node struct {
	// text is a scalar's content, unquoted and unescaped.
	text string
	// kids are a sequence's items, or a mapping's keys and values in turn.
	// They may be shared with other nodes (YAML aliases): never write to them.
	kids []node
	// line and col are the position of the first character, from 1.
	line, col int32
	shape     shape
	// plain marks a scalar that was not quoted, so that it may be a null, a
	// boolean or a number.
	plain bool
	// braces marks a mapping that is written in braces, as all of JSON are.
	braces bool
}

// value returns the value of a mapping's last key of that name, and the key.
// Both are nil when n is no mapping or has no such key.
func (n *node) value(name string) (key, val *node) {
	if n == nil || n.shape != mapping {
		return nil, nil
	}
	for i := len(n.kids) - 2; i >= 0; i -= 2 {
		if n.kids[i].text == name {
			return &n.kids[i], &n.kids[i+1]
		}
	}
	return nil, nil
}

// str returns the text of a mapping's scalar value, "" when there is none.
func (n *node) str(name string) string {
	_, v := n.value(name)
	if v == nil || v.shape != scalar || v.isNull() {
		return ""
	}
	return v.text
}

func (n *node) isNull() bool {
	return n.shape == scalar && n.plain && isNullText(n.text)
}

func isNullText(s string) bool {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return true
	}
	return false
}

// scalarType is what an unquoted scalar means by itself.
type scalarType uint8

const (
	stringScalar scalarType = iota
	nullScalar
	boolScalar
	intScalar
	floatScalar
)

// resolve says what the scalar is, by the rules kubectl applies to manifests:
// YAML 1.1 with its yes and no, and dates as strings.
func (n *node) resolve() scalarType {
	if !n.plain {
		return stringScalar
	}
	s := n.text
	if s == "" {
		return nullScalar
	}
	switch c := s[0]; {
	case c >= '0' && c <= '9', c == '+', c == '-', c == '.':
		return resolveNumber(s)
	case c == '~' || c == 'n' || c == 'N' || c == 'y' || c == 'Y' || c == 't' || c == 'T' || c == 'f' || c == 'F' || c == 'o' || c == 'O':
		if isNullText(s) {
			return nullScalar
		}
		if _, ok := parseBool(s); ok {
			return boolScalar
		}
	}
	return stringScalar
}

func resolveNumber(s string) scalarType {
	if _, ok := parseInt(s); ok {
		return intScalar
	}
	if _, ok := parseFloat(s); ok {
		return floatScalar
	}
	return stringScalar
}

func parseBool(s string) (value, ok bool) {
	switch s {
	case "true", "True", "TRUE", "y", "Y", "yes", "Yes", "YES", "on", "On", "ON":
		return true, true
	case "false", "False", "FALSE", "n", "N", "no", "No", "NO", "off", "Off", "OFF":
		return false, true
	}
	return false, false
}

// parseInt reads decimal, 0x, 0b, 0o and the 0777 form that file modes still
// use, with the digit separator _ of YAML 1.1.
func parseInt(s string) (int64, bool) {
	if len(s) < 19 && isDigits(s) && (s[0] != '0' || len(s) == 1) {
		var v int64
		for i := range len(s) {
			v = v*10 + int64(s[i]-'0')
		}
		return v, true
	}
	if strings.Contains(s, "_") {
		s = strings.ReplaceAll(s, "_", "")
	}
	v, err := strconv.ParseInt(s, 0, 64)
	return v, err == nil
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

func parseFloat(s string) (float64, bool) {
	body := strings.TrimLeft(s, "+-")
	switch body {
	case ".inf", ".Inf", ".INF":
		if s[0] == '-' {
			return math.Inf(-1), true
		}
		return math.Inf(1), true
	case ".nan", ".NaN", ".NAN":
		return math.NaN(), body == s
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9', c == '.', c == '+', c == '-', c == 'e', c == 'E', c == '_':
		default:
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	return v, err == nil
}

// describe names a value in an error message: its type and, when it is short,
// its text.
func (n *node) describe() string {
	switch n.shape {
	case mapping:
		return "a mapping"
	case sequence:
		return "a list"
	default:
		return n.describeScalar()
	}
}

func (n *node) describeScalar() string {
	text := n.text
	if runes := []rune(text); len(runes) > 40 {
		text = string(runes[:40]) + "..."
	}
	switch n.resolve() {
	case nullScalar:
		return "nothing"
	case boolScalar:
		return "the boolean " + text
	case intScalar, floatScalar:
		return "the number " + text
	default:
		return "the string " + strconv.Quote(text)
	}
}

// generic returns the value as nil, bool, int64, float64, string, []any or
// map[string]any.
func (n *node) generic() any {
	switch n.shape {
	case sequence:
		out := make([]any, len(n.kids))
		for i := range n.kids {
			out[i] = n.kids[i].generic()
		}
		return out
	case mapping:
		out := make(map[string]any, len(n.kids)/2)
		for i := 0; i+1 < len(n.kids); i += 2 {
			out[n.kids[i].text] = n.kids[i+1].generic()
		}
		return out
	default:
		return n.genericScalar()
	}
}

func (n *node) genericScalar() any {
	switch n.resolve() {
	case nullScalar:
		return nil
	case boolScalar:
		v, _ := parseBool(n.text)
		return v
	case intScalar:
		v, _ := parseInt(n.text)
		return v
	case floatScalar:
		v, _ := parseFloat(n.text)
		return v
	default:
		return n.text
	}
}

// duplicates returns a finding for each key that a mapping below n has twice.
// The decoder does it by itself for typed objects.
func (n *node) duplicates(path []step) []finding {
	var found []finding
	switch n.shape {
	case sequence:
		for i := range n.kids {
			found = append(found, n.kids[i].duplicates(append(slices.Clip(path), step{index: i}))...)
		}
	case mapping:
		first := make(map[string]*node, len(n.kids)/2)
		for i := 0; i+1 < len(n.kids); i += 2 {
			key := &n.kids[i]
			here := append(slices.Clip(path), step{name: key.text, key: true})
			if f := first[key.text]; f != nil {
				found = append(found, duplicateKey(f, key, renderPath(here)))
			} else {
				first[key.text] = key
			}
			found = append(found, n.kids[i+1].duplicates(here)...)
		}
	default:
	}
	return found
}
