package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/grid"
	"github.com/lameduck-proxy/lameduck/sim/html"
	"github.com/lameduck-proxy/lameduck/sim/knob"
	"github.com/lameduck-proxy/lameduck/sim/record"
	simreport "github.com/lameduck-proxy/lameduck/sim/report"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/sweep"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

func knobNames() []string {
	var out []string
	for _, k := range knob.All() {
		out = append(out, k.Name)
	}
	return out
}

// sweepNames are what the shell offers for --sweep.
func sweepNames() []string {
	var out []string
	for _, name := range knobNames() {
		out = append(out, name+"=")
	}
	return append(out, setPaths()...)
}

// outputs are the formats that there are.
func (c *simCommand) outputs() []string {
	if len(c.sweeps) > 0 {
		return []string{"text", "json", "yaml", "svg", "html"}
	}
	return []string{"text", "json", "yaml", "junit", "html", "svg", "perfetto"}
}

// axes reads --sweep.
func (c *simCommand) axes() ([]knob.Axis, error) {
	var axes []knob.Axis
	var errs []error
	for _, text := range c.sweeps {
		a, err := knob.ParseAxis(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("--sweep %w", err))
			continue
		}
		if slices.ContainsFunc(c.opts.Set, func(s string) bool { return strings.HasPrefix(s, a.Name+"=") }) {
			errs = append(errs, fmt.Errorf("--sweep %s and --set %s=: a path has one value or many", text, a.Name))
		}
		axes = append(axes, a)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	if err := grid.Check(axes); err != nil {
		return nil, fmt.Errorf("--sweep: %w", err)
	}
	return axes, nil
}

// checkSweep says what is wrong with --sweep, and which other flags have no meaning beside it.
func (c *simCommand) checkSweep() error {
	if len(c.sweeps) == 0 {
		return nil
	}
	_, err := c.axes()
	for _, name := range []string{"max-drops", "max-lost", "fail-on", "show", "all", "fixes", "sensitivity", "timeline"} {
		if c.flags.Changed(name) {
			err = errors.Join(err, fmt.Errorf("--%s and --sweep: a sweep judges each point as it is, and shows no case in full", name))
		}
	}
	return err
}

// sweep prints what is lost over the values of settings.
func (c *simCommand) sweep() error {
	axes, err := c.axes()
	if err != nil {
		return err
	}
	if _, err := c.cases(); err != nil { // what is wrong with the input is said once
		return err
	}
	if err := c.firstPoints(axes); err != nil {
		return err
	}
	ctx, stopped, stop := untilSignalled()
	defer stop()
	collectLess()
	result, err := sweep.Grid(ctx, axes, func(at []*knob.Value) ([]scenario.Case, error) { return c.at(axes, at) },
		sweep.Options{Seed: c.seed, Runs: c.runs, Progress: c.progress(), Wording: commandLine()})
	if err != nil {
		return err
	}
	c.standing(axes, result)
	if err := c.printSweep(result); err != nil {
		return err
	}
	if result.Interrupted {
		return interruptedBy(stopped())
	}
	return nil
}

// firstPoints makes the cases of each value of each axis: a setting of which none can be, whatever the other one is, is an error before anything
// is simulated.
func (c *simCommand) firstPoints(axes []knob.Axis) error {
	for i := range axes {
		var first error
		refused := 0
		for k := range axes[i].Values {
			if err := c.anywhere(axes, i, k); err != nil {
				first, refused = cmp.Or(first, err), refused+1
			}
		}
		if refused == len(axes[i].Values) {
			return first
		}
	}
	return nil
}

// anywhere says why a value of an axis can be neither alone nor with any value of the other axis, nil where it can be somewhere.
func (c *simCommand) anywhere(axes []knob.Axis, axis, value int) error {
	at := make([]*knob.Value, len(axes))
	at[axis] = &axes[axis].Values[value]
	_, alone := c.at(axes, at)
	if alone == nil {
		return nil
	}
	for other := range axes {
		if other == axis {
			continue
		}
		for k := range axes[other].Values {
			at[other] = &axes[other].Values[k]
			if _, err := c.at(axes, at); err == nil {
				return nil
			}
		}
		at[other] = nil
	}
	return alone
}

// at makes the cases of the input with a value of each axis, nil for one that is left as it is. Warnings have been said of
// the input as it is; an error names the point.
func (c *simCommand) at(axes []knob.Axis, values []*knob.Value) ([]scenario.Case, error) {
	var said strings.Builder
	point := *c
	point.std = Streams{In: c.std.In, Out: io.Discard, Err: &said}
	point.opts.Set = slices.Clone(c.opts.Set)
	var where []string
	for i, v := range values {
		if v == nil {
			continue
		}
		where = append(where, axes[i].Name+"="+v.Text)
		if axes[i].Knob == nil {
			point.opts.Set = append(point.opts.Set, axes[i].Name+"="+v.Text)
		}
	}
	point.turn = func(objects *manifest.Objects) error { return c.turnTo(objects, axes, values) }
	cases, err := point.casesOf()
	if err == nil {
		err = impossible(axes, cases, c.leftOut, point.leftOut)
	}
	if err != nil {
		why, _, _ := strings.Cut(strings.ReplaceAll(said.String(), "\n  ", " "), "\n") // what was reported of the input, the first of it, in one line
		if !errors.As(err, &inputError{}) || why == "" {
			why = err.Error()
		}
		return nil, fmt.Errorf("--sweep %s: %s", strings.Join(where, ", "), strings.TrimPrefix(why, "lameduck: "))
	}
	return cases, nil
}

// impossible says that a point of a sweep is one that no cluster has: the API server refuses a workload that it does not refuse as the input is, or
// drops the hook that is swept.
func impossible(axes []knob.Axis, cases []scenario.Case, before, now []record.LeftOut) error {
	for _, o := range now {
		if !slices.ContainsFunc(before, func(x record.LeftOut) bool { return x.Kind == o.Kind && x.Name == o.Name }) {
			return fmt.Errorf("%s:%d: %s %s: %s", o.File, o.Line, o.Kind, o.Name, o.Why)
		}
	}
	if !slices.ContainsFunc(axes, func(a knob.Axis) bool { return a.Knob != nil && a.Name == "prestop" }) {
		return nil
	}
	for i := range cases {
		if cases[i].Scenario == nil {
			continue
		}
		for _, n := range cases[i].Scenario.NotModelled {
			if n.ID == world.Dropped {
				return errors.New(n.What)
			}
		}
	}
	return nil
}

// turnTo changes the workloads of an input as a point of a sweep has it.
func (c *simCommand) turnTo(objects *manifest.Objects, axes []knob.Axis, values []*knob.Value) error {
	for i, v := range values {
		k := axes[i].Knob
		if v == nil || k == nil {
			continue
		}
		turned, err := k.Turn(objects, c.wanted, *v)
		if err != nil {
			return err
		}
		if turned == 0 {
			return fmt.Errorf("%s: the input has no Deployment, StatefulSet or DaemonSet%s", k.Name, c.whose())
		}
	}
	if slices.ContainsFunc(axes, func(a knob.Axis) bool { return a.Knob != nil && (a.Name == "maxSurge" || a.Name == "maxUnavailable") }) {
		return knob.Refused(objects, c.wanted)
	}
	return nil
}

// wanted says whether a workload is one that --target names.
func (c *simCommand) wanted(id string) bool { return strings.Contains(id, c.opts.Target) }

func (c *simCommand) whose() string {
	if c.opts.Target == "" {
		return ""
	}
	return " whose NS/NAME contains " + c.opts.Target
}

// standing puts into the maps which values the input has.
func (c *simCommand) standing(axes []knob.Axis, result *grid.Result) {
	objects, _ := c.in.parse(c.in.files)
	for i := range result.Maps {
		m := &result.Maps[i]
		for k, here := range []*string{&m.HereX, &m.HereY} {
			if k >= len(axes) || axes[k].Knob == nil {
				continue
			}
			if value, ok := axes[k].Knob.Of(objects, func(id string) bool { return c.wanted(id) && (m.Workload == "" || id == m.Workload) }); ok {
				*here = value
			}
		}
	}
}

func (c *simCommand) printSweep(r *grid.Result) error {
	if c.report != "" {
		var out bytes.Buffer
		if err := c.sweepPage(&out, r); err != nil {
			return err
		}
		if err := c.saveReport(out.Bytes()); err != nil {
			return err
		}
	}
	switch c.output {
	case "json":
		return writeJSON(c.std.Out, simreport.BuildSweep(r, currentVersion().Version))
	case "yaml":
		return writeYAML(c.std.Out, simreport.BuildSweep(r, currentVersion().Version))
	case "svg":
		return simreport.WriteSweepSVG(c.std.Out, r)
	case "html":
		return c.sweepPage(c.std.Out, r)
	default:
		return simreport.WriteSweep(c.std.Out, r, columns(c.std.Out))
	}
}

// sweepPage writes the maps as a page.
func (c *simCommand) sweepPage(w io.Writer, r *grid.Result) error {
	p, err := simreport.PageOfSweep(r)
	if err != nil {
		return err
	}
	again := c.replay()
	if c.flags.Changed("runs") {
		again += fmt.Sprintf(" --runs %d", c.runs)
	}
	return html.WriteSweep(w, p, currentVersion().Version, again)
}
