package scenario

import (
	"strconv"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// printer writes block YAML.
type printer struct {
	b      strings.Builder
	indent int
	dash   bool // the next line begins a list item
}

func (w *printer) key(key string) {
	pad := strings.Repeat("  ", w.indent)
	if w.dash {
		pad = pad[:len(pad)-2] + "- "
		w.dash = false
	}
	w.b.WriteString(pad + key + ":")
}

// line writes a text unless it is "".
func (w *printer) line(key, value string) {
	if value == "" {
		return
	}
	w.key(key)
	w.b.WriteString(" " + scalar(value) + "\n")
}

func (w *printer) number(key string, n int) { w.raw(key, strconv.Itoa(n)) }

func (w *printer) raw(key, value string) {
	w.key(key)
	w.b.WriteString(" " + value + "\n")
}

// flag and time leave out false and 0.
func (w *printer) flag(key string, b bool) {
	if b {
		w.raw(key, "true")
	}
}

func (w *printer) time(key string, t engine.Time) {
	if t != 0 {
		w.raw(key, t.Duration().String())
	}
}

func (w *printer) texts(key string, values []string) {
	if len(values) == 0 {
		return
	}
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = scalar(v)
	}
	w.raw(key, "["+strings.Join(quoted, ", ")+"]")
}

func (w *printer) nested(key string, inside func()) {
	w.key(key)
	w.b.WriteString("\n")
	w.indent++
	inside()
	w.indent--
}

func (w *printer) list(key string, n int, each func(i int)) {
	if n == 0 {
		return
	}
	w.nested(key, func() {
		for i := range n {
			w.dash = true
			each(i)
			w.dash = false
		}
	})
}

// scalar quotes what YAML would read as something else.
func scalar(s string) string {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '/':
		case i > 0 && (c >= '0' && c <= '9' || strings.IndexByte(" -_.%()+=;<>", c) >= 0):
		default:
			return strconv.Quote(s)
		}
	}
	switch strings.ToLower(s) {
	case "true", "false", "yes", "no", "on", "off", "null", "y", "n":
		return strconv.Quote(s)
	}
	return s
}

func (w *printer) dist(key string, d engine.Dist) { w.raw(key, d.String()) }

// partText writes a part as it is read: 0.05, 1.
func partText(thousandths int) string {
	if thousandths%wholePart == 0 {
		return strconv.Itoa(thousandths / wholePart)
	}
	return "0." + strings.TrimRight(strconv.Itoa(wholePart + thousandths)[1:], "0")
}
