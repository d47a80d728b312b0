package grid

import (
	"fmt"

	"github.com/lameduck-proxy/lameduck/sim/knob"
	"github.com/lameduck-proxy/lameduck/sim/record"
)

// MostPoints bounds a grid: more than that nobody sees apart on a screen.
const MostPoints = 2500

// Map is what one case loses over one axis or two.
type Map struct {
	ID, Action, Workload, Traffic string
	// Unknown says that nothing names the load balancer in front: each cell is behind the one that loses most there.
	Unknown bool
	X, Y    *knob.Axis // Y is nil over one axis
	Cells   []Cell     // row by row of Y, in each by X
	// Here is the input as it stands, with the values that it has, or that are assumed of it: "" for one that is not known.
	Here         Cell
	HereX, HereY string
}

// Cell is what the case loses at one point.
type Cell struct {
	Verdict        record.Verdict // "" if the case is not there at this point, or was not done
	Lost           record.Range   // of traffic, per run
	WithLoss, Runs int
	// Refused is why the input cannot be with these values, "" where it can.
	Refused string
}

// Result is all that was found.
type Result struct {
	Maps        []Map
	Runs        int // of each point
	Seed        uint64
	Interrupted bool // the Maps are not complete
}

// Check says whether there are one or two axes of different settings, with few enough points.
func Check(axes []knob.Axis) error {
	switch {
	case len(axes) == 0 || len(axes) > 2:
		return fmt.Errorf("%d axes: want one or two", len(axes))
	case len(axes) == 2 && axes[0].Name == axes[1].Name:
		return fmt.Errorf("both axes are %s", axes[0].Name)
	}
	if points := Points(axes); len(points) > MostPoints {
		return fmt.Errorf("%d points: want at most %d; a larger step has fewer", len(points), MostPoints)
	}
	return nil
}

// Points are all combinations of values, row by row.
func Points(axes []knob.Axis) [][]*knob.Value {
	var out [][]*knob.Value
	if len(axes) == 1 {
		for i := range axes[0].Values {
			out = append(out, []*knob.Value{&axes[0].Values[i]})
		}
		return out
	}
	for y := range axes[1].Values {
		for x := range axes[0].Values {
			out = append(out, []*knob.Value{&axes[0].Values[x], &axes[1].Values[y]})
		}
	}
	return out
}

// New is an empty Map over one axis or two.
func New(axes []knob.Axis) Map {
	m := Map{X: &axes[0], Cells: make([]Cell, len(Points(axes)))}
	if len(axes) > 1 {
		m.Y = &axes[1]
	}
	return m
}
