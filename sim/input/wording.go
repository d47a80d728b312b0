package input

import (
	"strings"

	"github.com/lameduck-proxy/lameduck/proxier/page"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// Wording words what a user can say as the flags of sim.
func Wording() scenario.Wording {
	return scenario.Wording{
		OptionText: func(name, value string) string {
			switch value {
			case "":
				return "--" + name
			case "true", "false": // a flag without a value is true: what follows a blank is no value
				return "--" + name + "=" + value
			default:
				return "--" + name + " " + value
			}
		},
		FieldText: func(path, value string) string { return "--set " + path + "=" + value },
	}
}

// Quoted protects a word from the shell.
func Quoted(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./=:,@+%", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	if word != page.Shown(word) { // bash, ksh and zsh read the escapes of Go
		return "$'" + page.Shown(strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(word)) + "'"
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
