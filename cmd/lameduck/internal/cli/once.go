package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// once is a flag that may be given once: of two values one would have no effect, and nobody would say which.
type once struct {
	pflag.Value
	given bool
}

// Set takes the value, the first time.
func (o *once) Set(value string) error {
	if o.given {
		return fmt.Errorf("it is given twice: before that it was %q; want one of them", o.String())
	}
	o.given = true
	return o.Value.Set(value)
}

// eachOnce refuses flags that are given twice, but for those that are for several values.
func eachOnce(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		_, list := f.Value.(pflag.SliceValue)
		if !list && f.Value.Type() != "count" && f.Value.Type() != "stringToString" {
			f.Value = &once{Value: f.Value}
			if f.DefValue == "0s" {
				f.DefValue = "0" // or the help shows it, which knows nothing of the value behind
			}
		}
	})
}

// besides names the flags that are given beside one and have no effect with it; those of with have one.
func besides(flags *pflag.FlagSet, with ...string) error {
	var idle []string
	flags.Visit(func(f *pflag.Flag) {
		for _, name := range with {
			if f.Name == name {
				return
			}
		}
		idle = append(idle, "--"+f.Name)
	})
	if len(idle) == 0 {
		return nil
	}
	return fmt.Errorf("--%s reads no input and runs nothing: %s has no effect beside it; leave one of them out", with[0], strings.Join(idle, ", "))
}

// setTwice names a path that two --set give a value.
func setTwice(set []string) error {
	seen := map[string]string{}
	for _, s := range set {
		path, value, _ := strings.Cut(s, "=")
		if before, again := seen[path]; again {
			return fmt.Errorf("--set %s is given twice, with %q and %q; want one of them", path, before, value)
		}
		seen[path] = value
	}
	return nil
}
