package sweep

import (
	"cmp"
	"context"

	"github.com/lameduck-proxy/lameduck/sim/grid"
	"github.com/lameduck-proxy/lameduck/sim/knob"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

const (
	// gridRuns is how many runs each point of a grid has, where nobody says otherwise.
	gridRuns = 20
	// gridBatch is how many points are simulated together: their worlds are in memory at once.
	gridBatch = 16
)

// Build makes the cases of the input with a value of each axis, nil for one that is left as it is. An error says why the input
// cannot be so.
type Build func(at []*knob.Value) ([]scenario.Case, error)

// Grid simulates every point of a grid, each on the same seeds. Progress is told of points.
func Grid(ctx context.Context, axes []knob.Axis, build Build, opts Options) (*grid.Result, error) {
	if err := grid.Check(axes); err != nil {
		return nil, err
	}
	progress := opts.Progress
	opts.Sensitivity, opts.Fixes, opts.Untold, opts.Progress = false, 0, true, nil
	if opts.Runs == 0 {
		opts.Runs = gridRuns
	}
	g := &gathering{axes: axes, result: &grid.Result{Runs: opts.Runs, Seed: cmp.Or(opts.Seed, 1)}, at: map[string]int{}}
	points := append([][]*knob.Value{make([]*knob.Value, len(axes))}, grid.Points(axes)...) // as it stands, first
	for first := 0; first < len(points) && ctx.Err() == nil; first += gridBatch {
		if err := g.simulate(ctx, first, points[first:min(first+gridBatch, len(points))], build, opts); err != nil {
			return nil, err
		}
		if progress != nil {
			progress("sweeping", min(first+gridBatch, len(points)), len(points))
		}
	}
	g.refuse()
	g.result.Interrupted = ctx.Err() != nil
	return g.result, nil
}

// gathering puts the cases of points into Maps.
type gathering struct {
	axes    []knob.Axis
	result  *grid.Result
	at      map[string]int // by ID: of Maps
	refused []refusal
}

// refusal is a point at which the input cannot be.
type refusal struct {
	point int
	why   string
}

// refuse marks these points in every Map.
func (g *gathering) refuse() {
	for i := range g.result.Maps {
		for _, r := range g.refused {
			g.result.Maps[i].Cells[r.point-1].Refused = r.why
		}
	}
}

// simulate does some points, from the one with a number on.
func (g *gathering) simulate(ctx context.Context, first int, points [][]*knob.Value, build Build, opts Options) error {
	var cases []scenario.Case
	var of []int // by case: its point
	for i, p := range points {
		made, err := build(p)
		if err != nil {
			if first+i == 0 {
				return err
			}
			g.refused = append(g.refused, refusal{first + i, err.Error()})
			continue
		}
		for k := range made {
			cases, of = append(cases, made[k]), append(of, first+i)
		}
	}
	out, err := Run(ctx, cases, opts)
	if err != nil {
		return err
	}
	for i := range out.Cases {
		g.put(&out.Cases[i], of[i])
	}
	return nil
}

// put puts a case into the Map of its name; point 0 is the input as it stands.
func (g *gathering) put(c *record.Case, point int) {
	if c.Verdict == record.NotJudged && len(c.Runs) == 0 {
		return
	}
	i, known := g.at[c.ID]
	if !known {
		i = len(g.result.Maps)
		g.at[c.ID] = i
		m := grid.New(g.axes)
		m.ID, m.Action, m.Workload, m.Traffic, m.Unknown = c.ID, c.Action, c.Workload, c.Traffic, len(c.Families) > 0
		g.result.Maps = append(g.result.Maps, m)
	}
	cell := grid.Cell{Verdict: c.Verdict, Lost: c.LostSeconds, WithLoss: c.WithLoss, Runs: len(c.Runs)}
	if point == 0 {
		m := &g.result.Maps[i]
		m.Here, m.HereX = cell, assumedOf(c, m.X)
		if m.Y != nil {
			m.HereY = assumedOf(c, m.Y)
		}
		return
	}
	g.result.Maps[i].Cells[point-1] = cell
}

// assumedOf is what a case assumes of the setting of an axis, "" where it does not.
func assumedOf(c *record.Case, a *knob.Axis) string {
	for i := range c.Assumptions {
		if c.Assumptions[i].ID == a.Name {
			return c.Assumptions[i].Value
		}
	}
	return ""
}
