package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/grid"
	"github.com/lameduck-proxy/lameduck/sim/knob"
	"github.com/lameduck-proxy/lameduck/sim/record"
)

// Sweep is what `lameduck sim --sweep -o json` prints: a stable format, documented in docs/sweeps.md.
type Sweep struct {
	Schema      string     `json:"schema"`
	Version     string     `json:"version"`
	Seed        uint64     `json:"seed"`
	Runs        int        `json:"runs"` // of each point
	Interrupted bool       `json:"interrupted"`
	Maps        []SweepMap `json:"maps"`
}

// SweepMap is one case over one axis or two.
type SweepMap struct {
	ID       string `json:"id"`
	Workload string `json:"workload"`
	Action   string `json:"action"`
	Traffic  string `json:"traffic"`
	// LoadBalancerUnknown says that nothing names the load balancer in front: each cell is behind the one that loses most there.
	LoadBalancerUnknown bool        `json:"loadBalancerUnknown"`
	X                   SweepAxis   `json:"x"`
	Y                   *SweepAxis  `json:"y,omitempty"`
	Here                SweepCell   `json:"here"`
	Cells               []SweepCell `json:"cells"` // row by row of Y, in each by X
}

// SweepAxis is a setting and its values; Here is the one that the input has, "" where that is not known.
type SweepAxis struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
	Here   string   `json:"here"`
}

// SweepCell is what is lost at one point: seconds of traffic, per run. Verdict is "" where the case is not there.
type SweepCell struct {
	Verdict     string  `json:"verdict"`
	LostSeconds Seconds `json:"lostSeconds"`
	WithLoss    int     `json:"withLoss"`
	Runs        int     `json:"runs"`
	Refused     string  `json:"refused,omitempty"` // why the input cannot be so
}

// BuildSweep makes the document of a sweep.
func BuildSweep(r *grid.Result, version string) Sweep {
	out := Sweep{Schema: "lameduck/sweep/v1", Version: version, Seed: r.Seed, Runs: r.Runs, Interrupted: r.Interrupted, Maps: []SweepMap{}}
	for i := range r.Maps {
		m := &r.Maps[i]
		x := SweepMap{ID: m.ID, Workload: m.Workload, Action: m.Action, Traffic: m.Traffic, LoadBalancerUnknown: m.Unknown, X: *sweepAxis(m.X, m.HereX), Here: sweepCell(&m.Here)}
		if m.Y != nil {
			x.Y = sweepAxis(m.Y, m.HereY)
		}
		for k := range m.Cells {
			x.Cells = append(x.Cells, sweepCell(&m.Cells[k]))
		}
		out.Maps = append(out.Maps, x)
	}
	return out
}

func sweepAxis(a *knob.Axis, here string) *SweepAxis {
	out := &SweepAxis{Name: a.Name, Here: here}
	for i := range a.Values {
		out.Values = append(out.Values, a.Values[i].Text)
	}
	return out
}

func sweepCell(c *grid.Cell) SweepCell {
	return SweepCell{Verdict: string(c.Verdict), LostSeconds: secondsOf(c.Lost), WithLoss: c.WithLoss, Runs: c.Runs, Refused: c.Refused}
}

// sweepTitle names a Map's case.
func sweepTitle(m *grid.Map) string {
	words := m.Workload + ", " + m.Action
	if m.Workload == "" || strings.Contains(m.Action, m.Workload) {
		words = strings.TrimSpace(m.ID + ": " + m.Action)
	}
	if m.Traffic != "" {
		words += ", " + m.Traffic
	}
	if m.Unknown {
		words += ", behind the load balancer that loses most"
	}
	return words
}

// cellLost is the loss at a point in words.
func cellLost(c *grid.Cell) string {
	switch {
	case c.Refused != "":
		return "refused"
	case c.Runs == 0:
		return "not judged"
	case c.Verdict.Endless():
		return "never finishes"
	case c.WithLoss == 0:
		return "nothing"
	default:
		return spread(c.Lost)
	}
}

// asItIs says what the input has on the axes, and loses.
func asItIs(m *grid.Map) string {
	values := []string{hereWords(m.X, m.HereX)}
	if m.Y != nil {
		values = append(values, hereWords(m.Y, m.HereY))
	}
	return fmt.Sprintf("As it is (%s): %s", strings.Join(values, ", "), cellLost(&m.Here))
}

func hereWords(a *knob.Axis, here string) string {
	switch {
	case here == "":
		return a.Name + " not changed: not on the map"
	case a.Index(here) < 0:
		return a.Name + " " + here + ": not on the map"
	default:
		return a.Name + " " + here
	}
}

// cliffWords say from where on nothing is lost: rows that are alike together.
func cliffWords(m *grid.Map) []string {
	if m.Y == nil {
		words := stretchWords(m, 0)
		return []string{strings.ToUpper(words[:1]) + words[1:] + "."}
	}
	var out []string
	for y := 0; y < m.Rows(); {
		words, to := stretchWords(m, y), y
		for to+1 < m.Rows() && stretchWords(m, to+1) == words {
			to++
		}
		where := m.Y.Values[y].Text
		if to > y {
			where += " to " + m.Y.Values[to].Text
		}
		out = append(out, fmt.Sprintf("With %s %s %s.", m.Y.Name, where, words))
		y = to + 1
	}
	return out
}

// stretchWords say for which values of X nothing is lost.
func stretchWords(m *grid.Map, y int) string {
	stretches := m.Stretches(y)
	if len(stretches) == 0 {
		return noneClean(m, y)
	}
	var parts []string
	last := len(m.X.Values) - 1
	for _, s := range stretches {
		from, to := m.X.Name+" "+m.X.Values[s.From].Text, m.X.Values[s.To].Text
		switch {
		case s.From == 0 && s.To == last:
			return "nothing is lost, whatever " + m.X.Name + " is"
		case s.From == s.To:
			parts = append(parts, "with "+from)
		case s.To == last:
			parts = append(parts, "from "+from+" on")
		case s.From == 0:
			parts = append(parts, "up to "+m.X.Name+" "+to)
		default:
			parts = append(parts, "from "+from+" to "+to)
		}
	}
	return "nothing is lost " + strings.Join(parts, ", and ")
}

// noneClean says what becomes of a row in which every point loses something, or never finishes.
func noneClean(m *grid.Map, y int) string {
	loses, endless := false, false
	for x := range m.X.Values {
		if c := m.At(x, y); c.Verdict.Endless() {
			endless = true
		} else if c.Refused == "" {
			loses = true
		}
	}
	every := "every value of " + m.X.Name
	if len(refusals(m)) > 0 {
		every += " that can be"
	}
	switch {
	case endless && loses:
		return every + " loses something, or never finishes"
	case endless:
		return every + " never finishes"
	default:
		return every + " loses something"
	}
}

// seen is what the runs of a point say of others.
func seen(runs int) string {
	return fmt.Sprintf("Where nothing is lost in %s, with 95 %% confidence at most %s of such runs lose anything.", count(runs, "run", "runs"), percent(record.LossBound(runs)))
}

// refusals say why points of a map cannot be, each reason once, a few of them.
func refusals(m *grid.Map) []string {
	const shown = 3
	var out []string
	for i := range m.Cells {
		if why := m.Cells[i].Refused; why != "" && !slices.ContainsFunc(out, func(x string) bool { return reasonOf(x) == reasonOf(why) }) {
			out = append(out, why)
		}
	}
	return out[:min(len(out), shown)]
}

// reasonOf is a refusal without the point that it is of, and without figures: those of neighbours are one.
func reasonOf(why string) string {
	if i := strings.Index(why, ": "); i >= 0 {
		why = why[i:]
	}
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, why)
}

// inSeconds is a loss for a cell of a table: "0.9", "12".
func inSeconds(t engine.Time) string {
	const tenth = engine.Second / 10
	tenths := (t + tenth/2) / tenth
	if tenths >= 100 {
		return fmt.Sprint((tenths + 5) / 10)
	}
	return fmt.Sprintf("%d.%d", tenths/10, tenths%10)
}
