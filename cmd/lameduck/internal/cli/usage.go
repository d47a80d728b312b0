package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// wrongFlag says what may have been meant by a flag that there is not: one of the command with a name like it or, before a verb, one of verbs. Of a
// value that a flag cannot have it says what would be valid.
func wrongFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var value *pflag.InvalidValueError
	if errors.As(err, &value) {
		return wrongValue(value)
	}
	if !errors.As(err, &unknown) {
		return err
	}
	name := unknown.GetSpecifiedName()
	if verbs := having(cmd, name); len(verbs) > 0 {
		return fmt.Errorf("%w; a verb comes before it: %s", err, oneOf(verbs))
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if near := manifest.Nearest(name, names); near != "" {
		return fmt.Errorf("%w; did you mean --%s?", err, near)
	}
	return err
}

// wrongValue has what package strconv says in other words: those of a flag's own say it already.
func wrongValue(err *pflag.InvalidValueError) error {
	var number *strconv.NumError
	valid := valids[err.GetFlag().Value.Type()]
	if !errors.As(err, &number) || valid == "" {
		return err
	}
	if errors.Is(number, strconv.ErrRange) {
		valid = "it is out of range"
	}
	return fmt.Errorf("--%s %q: %s", err.GetFlag().Name, err.GetValue(), valid)
}

// valids say what a flag of a type takes.
var valids = map[string]string{
	"bool": "want true or false", "int": "want a whole number", "int32": "want a whole number", "int64": "want a whole number",
	"uint64": "want a whole number, 0 or more", "float32": "want a number", "float64": "want a number",
}

// having are the verbs of a command that have a flag, long or short.
func having(cmd *cobra.Command, flag string) (verbs []string) {
	for _, verb := range cmd.Commands() {
		f := verb.Flags().Lookup(flag)
		if f == nil && len(flag) == 1 {
			f = verb.Flags().ShorthandLookup(flag)
		}
		if f != nil && !f.Hidden {
			verbs = append(verbs, verb.Name())
		}
	}
	return verbs
}

// wrongVerb says what may have been meant by a verb that there is not. cobra would say it over several lines.
func wrongVerb(root *cobra.Command, err error) error {
	var word string
	if _, scanned := fmt.Sscanf(err.Error(), "unknown command %q for", &word); scanned != nil {
		return err
	}
	if near := root.SuggestionsFor(word); len(near) > 0 {
		return fmt.Errorf("%w; did you mean %s?", err, oneOf(near))
	}
	return err
}

// noWords is for a verb that takes flags alone: who leaves out -f is told of it.
func noWords(cmd *cobra.Command, args []string) error {
	err := cobra.NoArgs(cmd, args)
	if err == nil || cmd.Flags().Lookup("filename") == nil || !slices.ContainsFunc(args[:1], isFile) {
		return err
	}
	return fmt.Errorf("%s: a file is given with -f: %s -f %[1]s", args[0], cmd.CommandPath())
}

// isFile says that a word looks like the name of a manifest, or of a directory with some. NAMESPACE/NAME does not.
func isFile(word string) bool {
	for _, end := range []string{".yaml", ".yml", ".json", "/"} {
		if strings.HasSuffix(word, end) {
			return true
		}
	}
	return word == "-" || strings.HasPrefix(word, "/") || strings.HasPrefix(word, "./") || strings.HasPrefix(word, "../")
}
