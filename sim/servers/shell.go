package servers

import (
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/units"
)

// What a preStop hook says is read here: the words of a command line and how commands are
// chained, in the part of the POSIX shell language that hooks use, with the variables that the
// container's manifest writes out. What is beyond it (loops, substitutions, background jobs) is
// reported as such and not guessed at.

// command is one simple command of a script and how it is reached.
type command struct {
	words []string
	// after is the operator before it: "" for the first, "&&", "||", ";" or "|".
	after string
	// opaque says that a word is computed when the command runs ($X, `x`, $(x)).
	opaque bool
	// by are the variables whose values are in its words.
	by []string
}

// parseShell splits a script into its commands, with the values of variables that are known. It is
// not ok when the script is more than a chain of simple commands: those are then the ones before what is more,
// which the shell has run when it comes to that.
func parseShell(script string, env variables) ([]command, bool) {
	l := &shellLexer{rest: script, env: env}
	var out []command
	current := command{}
	for {
		token, kind := l.next()
		switch kind {
		case tokenBad:
			return head(out, current.after, token+l.rest), false
		case tokenWord:
			current.words = append(current.words, token)
			current.opaque = current.opaque || l.opaque
			current.by = append(current.by, l.by...)
			continue
		case tokenRedirect:
			if _, k := l.next(); k != tokenWord {
				return head(out, current.after, l.rest), false
			}
			continue
		case tokenOperator, tokenEnd:
		}
		if len(current.words) > 0 {
			if isKeyword(current.words[0]) {
				return head(out, current.after, token+l.rest), false
			}
			l.env.after(&current)
			out = append(out, current)
			current = command{}
		}
		if kind == tokenEnd {
			return out, true
		}
		current.after = token
	}
}

// head are the commands that a shell has waited for when it comes to the rest of a script, which comes after an operator: with an & behind it,
// a list that begins with some of them, a && b &, is not waited for.
func head(commands []command, after, rest string) []command {
	if after == ";" || !strings.Contains(strings.NewReplacer("&&", "", ">&", "", "&>", "").Replace(rest), "&") {
		return commands
	}
	n := len(commands)
	for n > 0 && commands[n-1].after != ";" {
		n--
	}
	return commands[:max(n-1, 0)]
}

func isKeyword(word string) bool {
	switch word {
	case "if", "then", "else", "elif", "fi", "while", "until", "for", "do", "done", "case", "esac", "function", "{", "}", "!":
		return true
	}
	return false
}

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenWord
	tokenOperator
	tokenRedirect // the word after it is where to
	tokenBad
)

// shellLexer reads tokens off the front of a script.
type shellLexer struct {
	rest string
	env  variables
	// Of the last word: it has a substitution in it whose value is not known, and what variables it has in it.
	opaque bool
	by     []string
}

func (l *shellLexer) next() (string, tokenKind) {
	l.rest = strings.TrimLeft(l.rest, " \t\r")
	if strings.HasPrefix(l.rest, "\\\n") {
		l.rest = l.rest[2:]
		return l.next()
	}
	if l.rest == "" {
		return "", tokenEnd
	}
	if l.rest[0] == '#' {
		end := strings.IndexByte(l.rest, '\n')
		if end < 0 {
			end = len(l.rest)
		}
		l.rest = l.rest[end:]
		return l.next()
	}
	for _, operator := range []string{"&&", "||", ";;", "&>", ";", "\n", "|", "&", "(", ")", ">>", ">&", "<<", ">", "<"} {
		if !strings.HasPrefix(l.rest, operator) {
			continue
		}
		l.rest = l.rest[len(operator):]
		switch operator {
		case "&&", "||", "|":
			return operator, tokenOperator
		case ";", "\n":
			return ";", tokenOperator
		case "&>", ">>", ">&", ">", "<":
			return operator, tokenRedirect
		default:
			return operator, tokenBad
		}
	}
	return l.word()
}

// word reads one word with its quotes taken off.
func (l *shellLexer) word() (string, tokenKind) {
	var b strings.Builder
	l.opaque, l.by = false, nil
	for l.rest != "" {
		c := l.rest[0]
		switch c {
		case ' ', '\t', '\r', '\n', ';', '&', '|', '(', ')':
			return b.String(), tokenWord
		case '>', '<':
			if text := b.String(); units.Digits(text) { // 2>&1
				return l.next()
			}
			return b.String(), tokenWord
		case '\'', '"':
			if !l.quoted(&b, c) {
				return "", tokenBad
			}
			continue
		case '\\':
			l.rest = l.rest[1:]
			if l.rest != "" {
				b.WriteByte(l.rest[0])
				l.rest = l.rest[1:]
			}
			continue
		case '`', '$':
			if name, value, n := l.env.reference(l.rest); n > 0 {
				l.take(&b, name, value)
				l.opaque = l.opaque || strings.ContainsAny(value, " \t\n*?[") // the shell makes more words of it
				l.rest = l.rest[n:]
				continue
			}
			l.opaque = true
			if !l.substitution(&b) {
				return "", tokenBad
			}
			continue
		}
		b.WriteByte(c)
		l.rest = l.rest[1:]
	}
	return b.String(), tokenWord
}

// quoted reads up to the closing quote; inside double quotes substitutions count.
func (l *shellLexer) quoted(b *strings.Builder, quote byte) bool {
	end := strings.IndexByte(l.rest[1:], quote)
	if end < 0 {
		return false
	}
	inside := l.rest[1 : 1+end]
	if quote == '"' && strings.HasSuffix(inside, "\\") {
		return false // an escaped quote: not worth the trouble
	}
	l.rest = l.rest[end+2:]
	if quote == '\'' {
		b.WriteString(inside)
		return true
	}
	for {
		at := strings.IndexAny(inside, "$`")
		if at < 0 {
			b.WriteString(inside)
			return true
		}
		b.WriteString(inside[:at])
		name, value, n := l.env.reference(inside[at:])
		if n == 0 || at > 0 && inside[at-1] == '\\' {
			l.opaque = true
			b.WriteString(inside[at:])
			return true
		}
		l.take(b, name, value)
		inside = inside[at+n:]
	}
}

// take puts the value of a variable into a word.
func (l *shellLexer) take(b *strings.Builder, name, value string) {
	b.WriteString(value)
	if !slices.Contains(l.by, name) {
		l.by = append(l.by, name)
	}
}

// substitution reads `...`, $(...), ${...} or $name as it stands.
func (l *shellLexer) substitution(b *strings.Builder) bool {
	end := 1
	switch {
	case l.rest[0] == '`':
		n := strings.IndexByte(l.rest[1:], '`')
		if n < 0 {
			return false
		}
		end = n + 2
	case strings.HasPrefix(l.rest, "$("), strings.HasPrefix(l.rest, "${"):
		n := closing(l.rest[1:])
		if n < 0 {
			return false
		}
		end = n + 2
	}
	b.WriteString(l.rest[:end])
	l.rest = l.rest[end:]
	return true
}

// closing finds the bracket that closes the one at the front.
func closing(s string) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(', '{':
			depth++
		case ')', '}':
			depth--
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}

// lastCommand is what a script runs last, nothing for one that is more than a chain of simple commands.
func lastCommand(script string) command {
	commands, ok := parseShell(script, literals(nil))
	if !ok || len(commands) == 0 {
		return command{}
	}
	return commands[len(commands)-1]
}

// program is the command line without the variables set for it and exec.
func (c command) program() []string {
	words := c.words
	for len(words) > 0 {
		if _, _, ok := assignment(words[0]); !ok && words[0] != "exec" {
			break
		}
		words = words[1:]
	}
	return words
}

// leaves says whether a shell stays PID 1 when it runs this command, the last one of its script, and whether that is known: where exec is, it
// does not. By themselves bash 5.2 replaces itself but for commands with redirections, busybox 1.35 does, and dash 0.5.12 never does
// (docs/model/pod-lifecycle.md 2.3).
func (c command) leaves(script, shell string) (stays, known bool) {
	switch {
	case slices.Contains(c.words, "exec") && c.after != "|":
		return false, true
	case len(c.program()) == 0, c.after == "|", c.after == "||", shell == "dash":
		return true, true
	case shell == "bash":
		return strings.ContainsAny(script, "<>"), true
	default:
		return shell != "busybox", shell == "busybox"
	}
}
