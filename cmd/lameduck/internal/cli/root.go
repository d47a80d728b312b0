// Package cli is lameduck's command line: one file per verb, which parses flags, calls a
// package and prints. stdout is the answer, stderr everything else.
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/lameduck-proxy/lameduck/proxier/explain"
	"github.com/lameduck-proxy/lameduck/proxier/page"
	"github.com/lameduck-proxy/lameduck/sim/record"
)

// Exit codes, the same for every verb and every output format.
const (
	ExitOK       = 0
	ExitFindings = 1 // something was found: drops, findings, an expectation that failed
	ExitUsage    = 2 // wrong flags or input
	ExitInternal = 3 // a fault of lameduck
	// ExitInterrupted is that of a simulation that was told to stop (Ctrl-C): what there was of it was printed.
	ExitInterrupted = 130
	// ExitTerminated is the same after SIGTERM.
	ExitTerminated = 143
)

// Streams are the program's standard streams.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// Held are files that -f finds by these names instead of on the disk: those of a lesson.
	Held map[string]string
	// Simulated hears of what sim has simulated, with its timelines, before it is printed: for the page of a lesson. It may be nil.
	Simulated func(*record.Simulation)
	// Explained hears of what explain, or trace of its packet's node, has found before that is printed: for the same. It may be nil.
	Explained func(*explain.Explanation)
}

// inputError says that the input cannot be used; its problems are already on stderr.
type inputError struct{ count int }

func (e inputError) Error() string {
	if e.count == 1 {
		return "the input has an error"
	}
	return fmt.Sprintf("the input has %d errors", e.count)
}

// leftOutError says that so many objects of the input are no part of the answer on stdout.
type leftOutError struct{ count int }

func (e leftOutError) Error() string {
	if e.count == 1 {
		return "the API server refuses 1 object of the input; the others were answered"
	}
	return fmt.Sprintf("the API server refuses %d objects of the input; the others were answered", e.count)
}

// Main runs lameduck with the given arguments, the program's name first, and returns its
// exit code.
func Main(args []string, std Streams) (code int) {
	std = std.shown()
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(std.Err, "lameduck: internal error: %v\n%s\nThis is a fault of lameduck. Please report it with the input that caused it.\n", r, debug.Stack())
			code = ExitInternal
		}
	}()
	root, name := newRoot(args[0], std), displayName(args[0])
	root.SetArgs(arguments(args))
	cmd, err := root.ExecuteC()
	if lost := std.lost(); lost != nil && (err == nil || errors.Is(err, errFindings)) { // what prints a help text says nothing of it
		err = runError{lost}
	}
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, errFindings):
		return ExitFindings
	case errors.Is(err, errInterrupted):
		return ExitInterrupted
	case errors.Is(err, errTerminated):
		return ExitTerminated
	case errors.As(err, &internalError{}):
		fmt.Fprintf(std.Err, "%s: internal error: %v\nThis is a fault of lameduck. Please report it with the input that caused it.\n", name, err)
		return ExitInternal
	case errors.As(err, &inputError{}):
		std.say("%s: %v; nothing was answered", name, err)
	case errors.As(err, &leftOutError{}):
		std.say("%s: %v", name, err)
	case errors.As(err, &runError{}):
		fmt.Fprintf(std.Err, "%s: %s\n", name, strings.Join(lines(err), "\n"))
	default:
		fmt.Fprintf(std.Err, "%s: %s\nRun '%s --help' for usage.\n", name, strings.Join(lines(wrongVerb(root, err)), "\n"), cmd.CommandPath())
	}
	return ExitUsage
}

// errFindings says that something was found; the answer on stdout says what.
var errFindings = errors.New("findings")

// errInterrupted says that the answer on stdout is of what was done until then.
var errInterrupted = errors.New("interrupted")

// errTerminated is errInterrupted by SIGTERM.
var errTerminated = errors.New("terminated")

// internalError is a fault of lameduck that did not stop it from answering.
type internalError struct{ error }

func (e internalError) Unwrap() error { return e.error }

// runError is an error of a verb at work, not of how it was called: no help text helps.
type runError struct{ error }

func (e runError) Unwrap() error { return e.error }

// verb adapts a verb's work to cobra.
func verb(run func() error) func(*cobra.Command, []string) error {
	return func(*cobra.Command, []string) error {
		if err := run(); err != nil {
			return runError{err}
		}
		return nil
	}
}

func newRoot(program string, std Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "lameduck",
		Short: "What a Kubernetes rollout or node drain does to traffic",
		Long: `lameduck says what a Kubernetes rollout or node drain does to traffic.

It simulates both with clients that ask all the time, and says what of the traffic is
lost, why, and what helps. It selects endpoints exactly as kube-proxy does,
with the reason for each, and follows packets through the service rules a node would have.
What it asks about are files or, read only, the cluster that a kubeconfig names. The same
core runs as a node's service proxy: proxy is the one verb that changes anything.`,
		Example: `  lameduck sim -f app.yaml
  lameduck sim -n shop
  lameduck explain --service shop/web --node node-1
  lameduck explain -f objects.yaml --node node-1
  lameduck trace -f objects.yaml --node node-1 --from 192.0.2.7 --to 203.0.113.10:80/tcp
  lameduck explain --truth-table
  lameduck proxy --dry-run -f objects.yaml --node node-1
  lameduck learn
  lameduck play`,
		SilenceErrors:              true,
		SilenceUsage:               true,
		DisableSuggestions:         true, // wrongVerb has them
		SuggestionsMinimumDistance: 2,
		Annotations:                map[string]string{cobra.CommandDisplayNameAnnotation: displayName(program)},
	}
	root.Version = versionWords()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", page.Widest)))
	root.SetFlagErrorFunc(wrongFlag)
	root.SetIn(std.In)
	root.SetOut(std.Out)
	root.SetErr(std.Err)
	root.AddCommand(newSim(program, std), newExplain(std), newTrace(std), newProxy(std), newLearn(std), newPlay(std), newVersion(std))
	for _, cmd := range root.Commands() {
		if cmd.Name() != "proxy" { // which has done it: many of its flags are kube-proxy's
			eachOnce(cmd)
		}
	}
	for _, cmd := range append(root.Commands(), root) {
		cmd.Example = called.ReplaceAllString(cmd.Example, "${1}"+displayName(program)+" ")
	}
	return root
}

// called finds the program in a line of a shell.
var called = regexp.MustCompile(`(?m)(^ *|\| )lameduck `)

// completer is what kubectl calls, where it is in the PATH, for what its users may write after "kubectl lameduck"
// (verified with kubectl 1.32).
const completer = "kubectl_complete-lameduck"

// arguments are those of the root command.
func arguments(args []string) []string {
	if filepath.Base(args[0]) == completer {
		return append([]string{cobra.ShellCompRequestCmd}, args[1:]...)
	}
	return args[1:]
}

// displayName is how the user calls the program: as itself or as a kubectl plugin.
func displayName(program string) string {
	if base := filepath.Base(program); strings.HasPrefix(base, "kubectl-") || base == completer {
		return "kubectl lameduck"
	}
	return "lameduck"
}

// terminal says whether colours help: on a terminal, unless NO_COLOR is set (no-color.org)
// or the terminal is dumb.
func terminal(w io.Writer) bool {
	f := file(w)
	return f != nil && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// columns is how wide a terminal is, or lines have to be, 0 for anything else: COLUMNS says it where output goes through a pager.
func columns(w io.Writer) int {
	if s, ok := w.(sized); ok {
		return s.columns
	}
	if f := file(w); f != nil && term.IsTerminal(int(f.Fd())) {
		if wide, _, err := term.GetSize(int(f.Fd())); err == nil {
			return wide
		}
	}
	wide, err := strconv.Atoi(os.Getenv("COLUMNS"))
	if err != nil {
		return 0
	}
	return wide
}
