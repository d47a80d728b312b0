package servers

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// variables are those that a container's env or a script sets: with the value that is written out there, nil for one that is not known. What
// an image sets is not among them; others says that more are set from a ConfigMap or a Secret, or by what a script runs.
type variables struct {
	values map[string]*string
	others bool
}

// literals are the variables that a container's manifest sets. The kubelet replaces $(NAME) in a value by a variable declared before it
// (docs/model/pod-lifecycle.md 2.2).
func literals(c *corev1.Container) variables {
	out := variables{values: map[string]*string{}}
	if c == nil {
		return out
	}
	out.others = len(c.EnvFrom) > 0
	for _, v := range c.Env {
		value, ok := out.composed(v.Value)
		out.set(v.Name, value, ok && v.ValueFrom == nil)
	}
	return out
}

// set gives a variable a value, or leaves open which one.
func (v *variables) set(name, value string, known bool) {
	if v.values[name] = nil; known {
		v.values[name] = &value
	}
}

// value is that of a variable; ok is false where it is not known.
func (v *variables) value(name string) (value string, ok bool) {
	if p := v.values[name]; p != nil {
		return *p, true
	}
	return "", false
}

// composed is a value with $(NAME) replaced and $$ as $; ok is false where one of them is not known.
func (v *variables) composed(s string) (value string, ok bool) {
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
			value, known := v.value(name)
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
// n is how long that is, and 0 where it is no variable of which the value is known. Who writes what is to be taken without a value does not
// set one in the image: for a variable that nothing here sets it is taken.
func (v *variables) reference(s string) (name, value string, n int) {
	braces := strings.HasPrefix(s, "${")
	rest := strings.TrimPrefix(strings.TrimPrefix(s, "$"), "{")
	name = rest[:nameLength(rest)]
	value, known := v.value(name)
	rest = rest[len(name):]
	if name == "" || !braces && !known {
		return "", "", 0
	}
	if !braces {
		return name, value, 1 + len(name)
	}
	end := closing(s[1:])
	if end < 0 {
		return "", "", 0
	}
	length := end + 2
	without, ok := otherwise(s[2+len(name) : length-1])
	_, declared := v.values[name]
	switch {
	case !ok:
		return "", "", 0
	case known && (value != "" || rest[0] == '}'):
		return name, value, length
	case !known && (declared || v.others), without == "", strings.ContainsAny(without, "$`\"'\\"):
		return "", "", 0
	default:
		return name, without, length
	}
}

// otherwise is what stands in ${NAME:-...} or ${NAME-...} for a variable without a value, "" where nothing does. ok is false for what does
// something else with the value.
func otherwise(after string) (value string, ok bool) {
	switch rest := strings.TrimPrefix(after, ":"); {
	case after == "", strings.HasPrefix(rest, "?"):
		return "", true
	case strings.HasPrefix(rest, "-"), strings.HasPrefix(rest, "="):
		return rest[1:], true
	default:
		return "", false
	}
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
func (v *variables) after(c *command) {
	words := c.words
	switch words[0] {
	case "eval", ".", "source":
		*v = variables{values: map[string]*string{}, others: true}
		return
	case "unset", "read":
		for _, name := range words[1:] {
			v.set(name, "", false)
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
		if name, value, ok := assignment(word); ok {
			v.set(name, value, !c.opaque && (c.after == "" || c.after == ";"))
		}
	}
}
