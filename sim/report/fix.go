package report

import (
	"github.com/lameduck-proxy/lameduck/sim/edit"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/timeline"
)

// Fix is a change to the manifests that was tried.
type Fix struct {
	Workload    string      `json:"workload"`
	Title       string      `json:"title"`
	Edits       []Edit      `json:"edits"`
	Size        int         `json:"size"` // fields
	Destructive Destructive `json:"destructive"`
	Cost        Cost        `json:"cost"`
	Cases       []FixedCase `json:"cases"`
	// Margin is in seconds: what the preStop hook leaves to the latest removal seen; null when
	// the fix has none.
	Margin *engine.Time `json:"margin"`
	// Others are further workloads that the same change was confirmed for, Least is the least value that helps as assumed, ""
	// where there is no such value, NotWith are the other values of what was assumed with which the change does not help as much,
	// and Families are the load balancers it was confirmed with, where it might be several.
	Others   []string     `json:"others"`
	Least    string       `json:"least"`
	NotWith  []OtherValue `json:"notWith"`
	Families []string     `json:"families"`
	// OtherEdits are the edits of Others, in their order.
	OtherEdits []OtherEdits `json:"otherEdits"`
}

// OtherEdits are those of a fix in the manifest of a further workload.
type OtherEdits struct {
	Workload string `json:"workload"`
	Edits    []Edit `json:"edits"`
}

// OtherValue is one that an assumption does not have, and might.
type OtherValue struct {
	Assumption string `json:"assumption"` // its id
	Value      string `json:"value"`
}

// Edit is one field that a fix changes. File is what the input is called; an object read from a cluster is called by its
// context, kind and name, "kind-kind: deployment shop/web", and Line is one of kubectl get -o yaml.
type Edit struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Path string `json:"path"`
	From string `json:"from"`
	To   string `json:"to"`
	// YAML is what to paste there, line by line; empty where from is simply replaced by to.
	YAML []string `json:"yaml"`
}

// Destructive says whether a fix may break something.
type Destructive struct {
	Is  bool   `json:"is"`
	Why string `json:"why"`
}

// Cost is what a fix costs.
type Cost struct {
	RolloutSeconds engine.Time `json:"rolloutSeconds"` // that a rollout takes longer
	Other          string      `json:"other"`
}

// FixedCase is one case without and with a fix: Before and After on as many of the case's own seeds as Runs says, which may be
// fewer than the case has.
type FixedCase struct {
	ID       string    `json:"id"`
	Before   Seconds   `json:"before"` // seconds lost
	After    Seconds   `json:"after"`
	Runs     int       `json:"runs"`
	WithLoss int       `json:"withLoss"`
	Confirm  Confirmed `json:"confirm"`
	// StuckBefore and Stuck are how many of the runs do not come to their end without the fix, and with it.
	StuckBefore int `json:"stuckBefore"`
	Stuck       int `json:"stuck"`
	// Timeline is the run of the case's timeline with the fix: the same seed; only where it was asked for.
	Timeline *timeline.Timeline `json:"timeline,omitempty"`
}

// Confirmed is a fix on seeds that the search has not seen.
type Confirmed struct {
	Runs     int      `json:"runs"`
	WithLoss int      `json:"withLoss"`
	Left     []string `json:"left"`  // causes of what is lost yet
	Stuck    int      `json:"stuck"` // runs that do not come to their end
}

// NoHelp names a change that does not help a workload.
type NoHelp struct {
	Workload string `json:"workload"`
	Title    string `json:"title"`
	Why      string `json:"why"`              // it was not tried, "" where it was
	Sudden   bool   `json:"sudden,omitempty"` // tried where pods end with their machine; else for all other cases
	// Gap and Shorter are for how long no pod could answer, without it and with it, where that is shorter though more than half as much is lost: AsMuch
	// says that as much is, because clients wait.
	Gap     engine.Time `json:"gapSeconds,omitempty"`
	Shorter engine.Time `json:"shorterSeconds,omitempty"`
	AsMuch  bool        `json:"asMuch,omitempty"`
}

func fixesOf(s *record.Simulation) []Fix {
	out := []Fix{}
	for i := range s.Fixes {
		out = append(out, fixOf(&s.Fixes[i]))
	}
	return out
}

func fixOf(f *record.Fix) Fix {
	x := Fix{
		Workload: f.Workload, Title: f.Title, Edits: editsOf(f.Edits), OtherEdits: []OtherEdits{}, Size: len(f.Edits), Cases: []FixedCase{},
		Destructive: Destructive{f.Destructive != "", f.Destructive}, Cost: Cost{f.Longer, f.Cost},
		Others: append([]string{}, f.Others...), Least: f.Least, NotWith: []OtherValue{}, Families: append([]string{}, f.Families...),
	}
	for _, o := range f.NotWith {
		x.NotWith = append(x.NotWith, OtherValue{o.ID, o.Value})
	}
	for _, o := range f.OtherEdits {
		x.OtherEdits = append(x.OtherEdits, OtherEdits{o.Workload, editsOf(o.Edits)})
	}
	for _, c := range f.Cases {
		x.Cases = append(x.Cases, FixedCase{
			ID: c.ID, Before: secondsOf(c.Before), After: secondsOf(c.After), Runs: c.Runs, WithLoss: c.WithLoss,
			Confirm:     Confirmed{c.Confirm.Runs, c.Confirm.WithLoss, append([]string{}, c.Confirm.Left...), c.Confirm.Stuck},
			StuckBefore: c.StuckBefore, Stuck: c.Stuck, Timeline: c.Timeline,
		})
	}
	if f.Margin > 0 {
		x.Margin = &f.Margin
	}
	return x
}

func editsOf(edits []edit.Edit) []Edit {
	out := []Edit{}
	for i := range edits {
		e := &edits[i]
		out = append(out, Edit{e.File, e.Line, e.Path, e.From.String(), e.To.String(), append([]string{}, e.YAML()...)})
	}
	return out
}
