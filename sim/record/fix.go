package record

import (
	"github.com/lameduck-proxy/lameduck/sim/edit"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/timeline"
)

// Fix is a change to one workload's manifest, and what it did to the cases of that workload
// that lose something.
type Fix struct {
	Workload, Title string
	// Others are further workloads of the input that the same change was confirmed for: "ns/name".
	Others []string
	// Least is the least value that helps as assumed, "3 s", where Title names a larger one that holds over all other values
	// of what was assumed; "" when there is no such value.
	Least string
	// Sleep is how long its preStop hook sleeps, 0 where it has none. SleepFor is the other value of what was assumed that asks for so long a one,
	// none where that is as assumed.
	Sleep    engine.Time
	SleepFor OtherValue
	// Action says that the least value, too, is of the kubelet's sleep action, in place of a program that sleeps.
	Action bool
	// Alone is the one of its changes that does as much by itself as assumed, "" where none does.
	Alone string
	// AloneNot are the other values of what was assumed with which that one does not: what the others are for.
	AloneNot []OtherValue
	// Pods says that it has pods that are not there now: another one does without.
	Pods bool
	// NotWith are the other values of what was assumed with which it does not do as much: those that matter to the case, in the order of
	// Case.Alternatives, then those that matter to it alone. It helps as assumed only. Nil where it holds over all that matter, and where none were tried.
	NotWith []OtherValue
	// Families are the presets it was confirmed with, where the load balancer is unknown.
	Families    []string
	Edits       []edit.Edit
	OtherEdits  []OtherEdits // of Others, in their order
	Destructive string       // why it may break something, "" when it does not
	Cost        string       // in words, "" for nothing worth saying
	Longer      engine.Time  // a rollout, in the median run; negative when it is shorter
	// Margin is what a preStop hook that was solved for leaves to the latest removal seen; 0
	// when the fix has none. Hops is what such a removal has to reach, as people call it: "nodes", "the load balancer", "the proxy".
	Margin engine.Time
	Hops   []string
	Cases  []FixedCase
}

// OtherEdits are those of a fix in the manifest of a further workload.
type OtherEdits struct {
	Workload string
	Edits    []edit.Edit
}

// OtherValue is one that an assumption does not have, and might.
type OtherValue struct {
	ID, Value string // of the assumption, as in an Alternative
}

// FixedCase is one case without and with a fix.
type FixedCase struct {
	ID, Action    string
	Before, After Range // seconds lost, on the case's own seeds
	WithLoss      int   // of these runs with the fix
	// StuckBefore and Stuck are how many of the runs do not come to their end without the fix, and with it.
	StuckBefore, Stuck int
	Runs               int
	Confirm            Confirm
	Timeline           *timeline.Timeline // of the run of Case.Timeline with the fix; nil where it was not asked for
}

// Confirm is a fix on seeds that the search has not seen.
type Confirm struct {
	Runs, WithLoss int
	Stuck          int // runs that do not come to their end
	LostSeconds    Range
	Left           []string // causes of what is lost yet, most requests first
}

// NoHelp names a change that does not help a workload.
type NoHelp struct {
	Workload, Title string
	// Why is why it was not tried, "" for one that was.
	Why string
	// Sudden says that it was tried where pods end with their machine; else for all other cases.
	Sudden bool
	// Gap and Shorter are for how long no pod could answer in the median of the runs that it was tried on, without it and with it, where that is
	// shorter with it in all of them, although more than half as much is lost. 0 for others. AsMuch says that as much is: clients wait for longer
	// than that.
	Gap, Shorter engine.Time
	AsMuch       bool
}
