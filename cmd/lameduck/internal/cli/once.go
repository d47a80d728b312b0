package cli

import (
	"fmt"
	"slices"
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
	single(cmd, func(f *pflag.Flag) { f.Value = &once{Value: f.Value} })
}

// single wraps the values of the flags that are for one.
func single(cmd *cobra.Command, wrap func(*pflag.Flag)) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		_, list := f.Value.(pflag.SliceValue)
		if !list && f.Value.Type() != "count" && f.Value.Type() != "stringToString" {
			wrap(f)
			if f.DefValue == "0s" {
				f.DefValue = "0" // or the help shows it, which knows nothing of the value behind
			}
		}
	})
}

// last is a flag of which the last of several values counts.
type last struct {
	pflag.Value
	given  bool
	before []string
}

// Set takes the value, and keeps the one before it.
func (l *last) Set(value string) error {
	if l.given {
		l.before = append(l.before, l.String())
	}
	l.given = true
	return l.Value.Set(value)
}

// ofLameduckAlone are the flags of proxy that kube-proxy does not have.
func ofLameduckAlone() []string {
	return []string{
		"mode", "once", "dry-run", "cleanup", "namespace", "node", "node-ip", "terminating-fallback", "kubernetes-version", "iptables-variant",
		"iptables-chain-prefix", "take-over", "sim-bind-address",
	}
}

// eachOnceOrLast refuses flags of lameduck's own that are given twice. Of kube-proxy's the last one counts, as there: what starts a
// kube-proxy starts a lameduck. repeated names those.
func eachOnceOrLast(cmd *cobra.Command) (repeated func() []string) {
	var kept []*pflag.Flag
	single(cmd, func(f *pflag.Flag) {
		if slices.Contains(ofLameduckAlone(), f.Name) {
			f.Value = &once{Value: f.Value}
			return
		}
		f.Value = &last{Value: f.Value}
		kept = append(kept, f)
	})
	return func() []string {
		var out []string
		for _, f := range kept {
			if l, ok := f.Value.(*last); ok && len(l.before) > 0 {
				out = append(out, fmt.Sprintf("--%s is given %d times: %q counts, the last one, as with kube-proxy; before it was %q", f.Name, len(l.before)+1, l.String(), l.before[0]))
			}
		}
		return out
	}
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
