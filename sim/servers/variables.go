package servers

import (
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// variables are those of which the value is known: written out in a container's env, or set by a script itself. What an image, a ConfigMap or
// a Secret may set is not among them.
type variables map[string]string

// literals are the variables that a container's manifest writes out. The kubelet replaces $(NAME) in a value by a variable declared before it
// (docs/model/pod-lifecycle.md 2.2).
func literals(c *corev1.Container) variables {
	out := variables{}
	if c == nil {
		return out
	}
	for _, v := range c.Env {
		delete(out, v.Name) // the last one counts
		if value, ok := out.composed(v.Value); ok && v.ValueFrom == nil {
			out[v.Name] = value
		}
	}
	return out
}

// composed is a value with $(NAME) replaced and $$ as $; ok is false where one of them is not known.
func (v variables) composed(s string) (value string, ok bool) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "$")
		b.WriteString(before)
		switch {
		case !found:
			return b.String(), true
		case strings.HasPrefix(rest, "$"):
			b.WriteByte('$')
			s = rest[1:]
		case strings.HasPrefix(rest, "(") && strings.Contains(rest, ")"):
			name, after, _ := strings.Cut(rest[1:], ")")
			value, known := v[name]
			if !known {
				return "", false
			}
			b.WriteString(value)
			s = after
		default:
			b.WriteByte('$')
			s = rest
		}
	}
}

// reference reads the variable at the front of a shell's text, $NAME or ${NAME}, with what stands there for one without a value: ${NAME:-5}.
// n is how long that is, and 0 where it is no variable of which the value is known.
func (v variables) reference(s string) (name, value string, n int) {
	braces := strings.HasPrefix(s, "${")
	rest := strings.TrimPrefix(strings.TrimPrefix(s, "$"), "{")
	name = rest[:nameLength(rest)]
	value, known := v[name]
	switch rest = rest[len(name):]; {
	case name == "", !known:
		return "", "", 0
	case !braces:
		return name, value, 1 + len(name)
	}
	end := closing(s[1:])
	if end < 0 || value == "" || !strings.HasPrefix(rest, "}") && strings.IndexAny(strings.TrimPrefix(rest, ":"), "-=?") != 0 {
		return "", "", 0
	}
	return name, value, end + 2
}

// nameLength is that of the name of a variable at the front.
func nameLength(s string) int {
	n := 0
	for n < len(s) && (s[n] == '_' || s[n]|' ' >= 'a' && s[n]|' ' <= 'z' || n > 0 && s[n] >= '0' && s[n] <= '9') {
		n++
	}
	return n
}

// assignment splits NAME=VALUE.
func assignment(word string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(word, "=")
	return name, value, ok && name != "" && nameLength(name) == len(name)
}

// assigns says that a command does nothing but set variables.
func (c *command) assigns() bool {
	for _, word := range c.words {
		if _, _, ok := assignment(word); !ok {
			return false
		}
	}
	return true
}

// after is what is known after a command that may set variables. One that runs only if another one failed, or did not, leaves them unknown.
func (v variables) after(c *command) {
	words := c.words
	switch words[0] {
	case "eval", ".", "source":
		maps.DeleteFunc(v, func(string, string) bool { return true })
		return
	case "unset", "read":
		for _, name := range words[1:] {
			delete(v, name)
		}
		return
	case "export", "readonly":
		words = words[1:]
	default:
		if !c.assigns() {
			return
		}
	}
	for _, word := range words {
		name, value, ok := assignment(word)
		switch {
		case ok && !c.opaque && (c.after == "" || c.after == ";"):
			v[name] = value
		case ok:
			delete(v, name)
		}
	}
}
