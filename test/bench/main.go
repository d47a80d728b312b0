// Command bench runs lameduck and kube-proxy side by side, each in a fresh network of namespaces
// with the same objects, and prints what both took, and the ratio: make bench-peer.
//
//	objects -> apiserver -> proxy under test -> rules of the node's namespace
//	network: client -> node -> pods, and which packets arrive when -> table
//
// What it measures it sees from outside: packets that arrive, processor time and memory as the
// kernel counts them. The one exception is the first sync, which starts inside the proxy. It
// never judges: how fast lameduck has to be is not its business.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/lameduck-proxy/lameduck/test/bench/objects"
	"github.com/lameduck-proxy/lameduck/test/bench/table"
	"github.com/lameduck-proxy/lameduck/test/lab"
)

// settings are the command line's.
type settings struct {
	sizes   []objects.Size
	modes   []string
	proxies []*proxy
	runs    int
	most    int           // tries of a phase
	phase   time.Duration // of a phase
	idle    time.Duration // without a change; 0 leaves it out
	churn   time.Duration // of changes at a steady pace; 0 leaves them out
	press   time.Duration // of the phase in which connections may be lost
	limit   time.Duration // of a start, and of any single change
	bin     string
	output  string
	started time.Time
}

func main() {
	if code, ran := lab.InUserNamespace(); ran {
		os.Exit(code)
	}
	s, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	t, err := s.measure(ctx)
	stop()
	if s.output == "markdown" {
		fmt.Fprint(os.Stdout, t.Markdown()) //nolint:errcheck // nobody is left to tell
	} else {
		fmt.Fprint(os.Stdout, t.Text()) //nolint:errcheck // nobody is left to tell
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func parse(args []string) (*settings, error) {
	s := &settings{started: time.Now()}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	sizes := f.String("sizes", "1000x5,10000x5", "comma-separated, SERVICESxENDPOINTS")
	names := f.String("modes", modeNFTables, "comma-separated: "+strings.Join(modes(), ", "))
	who := f.String("proxies", "kube-proxy,lameduck", "comma-separated: kube-proxy, lameduck")
	f.IntVar(&s.runs, "runs", 1, "how often everything is measured; the table has medians")
	f.IntVar(&s.most, "tries", 200, "how often a change is made at most")
	f.DurationVar(&s.phase, "phase", 30*time.Second, "how long changes of one kind are made at most")
	f.DurationVar(&s.idle, "idle", 30*time.Second, "how long the proxy is left alone after its start; 0 leaves it out")
	f.DurationVar(&s.churn, "churn", 30*time.Second, "how long 50 slices a second change; 0 leaves it out")
	f.DurationVar(&s.press, "press", 5*time.Second, "how long connections are made while endpoints are replaced: three times at least")
	f.DurationVar(&s.limit, "limit", 240*time.Second, "how long a start may take, and one change")
	f.StringVar(&s.bin, "bin", beside(), "directory with kube-proxy, the lameduck under test, and nftables.test")
	f.StringVar(&s.output, "o", "text", "text or markdown")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	var errs []error
	for name := range strings.SplitSeq(*sizes, ",") {
		size, err := objects.ParseSize(name)
		s.sizes, errs = append(s.sizes, size), append(errs, err)
	}
	s.modes = strings.Split(*names, ",")
	for _, mode := range s.modes {
		if !slices.Contains(modes(), mode) {
			errs = append(errs, fmt.Errorf("mode %q: want %s", mode, strings.Join(modes(), ", ")))
		}
	}
	for name := range strings.SplitSeq(*who, ",") {
		i := slices.IndexFunc(proxies(), func(p *proxy) bool { return p.name == name })
		if i < 0 {
			errs = append(errs, fmt.Errorf("proxy %q: want kube-proxy or lameduck", name))
			continue
		}
		s.proxies = append(s.proxies, proxies()[i])
	}
	if s.output != "text" && s.output != "markdown" {
		errs = append(errs, fmt.Errorf("-o %q: want text or markdown", s.output))
	}
	if s.runs < 1 || s.most < 1 || f.NArg() > 0 {
		errs = append(errs, errors.New("want -runs and -tries of at least 1, and nothing but flags"))
	}
	return s, errors.Join(errs...)
}

// beside is the directory of this program.
func beside() string {
	own, err := os.Executable()
	if err != nil {
		return "."
	}
	return filepath.Dir(own)
}

// measure fills the table as far as it gets.
func (s *settings) measure(ctx context.Context) (*table.Table, error) {
	t := &table.Table{Rows: rows(), Compare: len(s.proxies) == 2}
	for _, p := range s.proxies {
		t.Names = append(t.Names, p.name)
	}
	if s.hasFloor() {
		t.Names = append(t.Names, floorName)
	}
	var errs []error
	for _, mode := range s.modes {
		for _, size := range s.sizes {
			section, err := s.section(ctx, mode, size)
			t.Sections = append(t.Sections, section)
			errs = append(errs, err)
			if ctx.Err() != nil {
				return t, errors.Join(errs...)
			}
		}
	}
	return t, errors.Join(errs...)
}

// section measures every proxy at a size, in turn, as often as there are runs.
func (s *settings) section(ctx context.Context, mode string, size objects.Size) (table.Section, error) {
	section := table.Section{Title: size.String() + ", " + mode, Columns: make([]table.Column, len(s.proxies))}
	var errs []error
	for run := range s.runs {
		for i, p := range s.proxies {
			column := &section.Columns[i]
			if column.Missing != "" || ctx.Err() != nil {
				continue // it will not be done the next time, either
			}
			if !p.knows(mode) {
				column.Missing = "-"
				continue
			}
			s.progress("%s, %s, %s, run %d of %d", size, mode, p.name, run+1, s.runs)
			c := &cell{settings: s, ctx: ctx, proxy: p, mode: mode, size: size}
			samples, err := c.run()
			column.Add(samples)
			switch {
			case errors.Is(err, errNotDone):
				column.Missing = fmt.Sprintf("not done after %.0f s", s.limit.Seconds())
				s.progress("%s: %v", p.name, err)
			case err != nil:
				column.Missing = "failed"
				errs = append(errs, fmt.Errorf("%s, %s, %s: %w", size, mode, p.name, err))
			}
		}
	}
	if s.hasFloor() {
		column, err := s.floor(ctx, mode, size)
		section.Columns = append(section.Columns, column)
		errs = append(errs, err)
	}
	return section, errors.Join(errs...)
}

func (s *settings) progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%4.0f s  %s\n", time.Since(s.started).Seconds(), fmt.Sprintf(format, args...))
}

func (s *settings) program(name string) string { return filepath.Join(s.bin, name) }
