package record

import (
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

func TestAnAssumptionDecidesWhereOneValueLosesAndTheOtherDoesNot(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		own, other []uint64 // requests lost by each run, 10 ms each
		effect     Effect
		verdict    Verdict
	}{
		"the same loss":                                {[]uint64{50, 50}, []uint64{50, 50}, NoEffect, Drops},
		"a twentieth of a second more":                 {[]uint64{50, 50}, []uint64{55, 55}, NoEffect, Drops},
		"far more":                                     {[]uint64{50, 50}, []uint64{90, 90}, SizeEffect, Drops},
		"nothing lost instead of something":            {[]uint64{50, 50}, []uint64{0, 0}, VerdictEffect, Drops},
		"something lost instead of nothing":            {[]uint64{0, 0, 0}, []uint64{0, 1, 1}, VerdictEffect, Holds},
		"something lost in one run, perhaps by chance": {[]uint64{0, 0, 0}, []uint64{0, 1, 0}, NoEffect, Holds},
		"nothing lost in either on the same seeds":     {[]uint64{0, 0, 7}, []uint64{0, 0}, NoEffect, Drops},
		"an alternative with more runs than there is":  {[]uint64{50}, []uint64{0, 0}, "", Drops},
	} {
		own := runs(0, c.own...)
		own.Try("start", "20s", runs(0, c.other...).Runs)
		effect, tried := own.EffectOf("start")
		if !tried {
			effect = ""
		}
		if effect != c.effect || own.Verdict != c.verdict {
			t.Errorf("%s: effect %q and %s, want %q and %s", name, effect, own.Verdict, c.effect, c.verdict)
		}
	}
}

// Runs that do not come to their end lose nothing, perhaps because they had no time to: with that value there is no verdict, and no effect on it.
func TestAValueWithoutAVerdictHasNoEffect(t *testing.T) {
	t.Parallel()
	own, other := runs(0, 50, 50), runs(0, 0, 0)
	for i := range other.Runs {
		other.Runs[i].Settled = false
	}
	own.Try("start", "20s", other.Runs)
	if a := own.Alternatives[0]; a.Verdict != NotJudged || a.Effect != NoEffect {
		t.Errorf("%s, effect %q", a.Verdict, a.Effect)
	}
}

// An outage that never ends is as long as the run that it is seen in: another value with which it does not end either has no effect.
func TestHowLongWhatNeverEndsLastsIsNoEffect(t *testing.T) {
	t.Parallel()
	own, other := runs(2*engine.Second, 50, 50), runs(9*engine.Second, 500, 500)
	for _, list := range [][]Run{own.Runs, other.Runs} {
		for i := range list {
			list[i].Stuck = &Stuck{Why: "pod 0 stays Terminating"}
		}
	}
	own.Close()
	own.Try("nodes", "1", other.Runs)
	if a := own.Alternatives[0]; !own.ForGood() || !a.ForGood || a.Effect != NoEffect {
		t.Errorf("for good %v and %v, effect %q", own.ForGood(), a.ForGood, a.Effect)
	}
}

// What was tried before stays: the greatest effect counts, and none of them changes what is claimed.
func TestTheGreatestEffectCounts(t *testing.T) {
	t.Parallel()
	c := runs(0, 50, 50)
	c.Try("proxy", "0s", runs(0, 0, 0).Runs)
	c.Try("proxy", "10s", runs(engine.Second, 400, 400).Runs)
	c.Try("start", "20s", runs(0, 50, 50).Runs)
	if e, _ := c.EffectOf("proxy"); e != VerdictEffect {
		t.Errorf("proxy: %s", e)
	}
	if e, tried := c.EffectOf("start"); e != NoEffect || !tried {
		t.Errorf("start: %s", e)
	}
	if _, tried := c.EffectOf("nodes"); tried {
		t.Error("nodes was not varied")
	}
	if c.Verdict != Drops || !c.Fails(Limits{}) {
		t.Errorf("what is lost as assumed is lost, whatever else might be true: %s", c.Verdict)
	}
}

// A value that clearly changes nothing is not tried on more seeds. What is close to a border is: few runs may say either.
func TestWhatClearlyChangesNothingIsToldFromWhatMay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		own, other []uint64 // requests lost by each run, 10 ms each
		same       bool
	}{
		"the same loss":                            {[]uint64{50, 50, 50}, []uint64{50, 50, 50}, true},
		"nothing lost in either":                   {[]uint64{0, 0, 0}, []uint64{0, 0, 0}, true},
		"a little more":                            {[]uint64{50, 50, 50}, []uint64{52, 52, 52}, true},
		"more, and with twice that it would show":  {[]uint64{50, 50, 50}, []uint64{54, 54, 54}, false},
		"less, and with twice that it would show":  {[]uint64{50, 50, 50}, []uint64{46, 46, 46}, false},
		"far more":                                 {[]uint64{50, 50, 50}, []uint64{90, 90, 90}, false},
		"lost in some runs only, in both":          {[]uint64{0, 1, 0}, []uint64{0, 1, 0}, false},
		"lost in one run with the other value":     {[]uint64{0, 0, 0}, []uint64{0, 1, 0}, false},
		"more runs than there are to compare with": {[]uint64{50}, []uint64{50, 50}, false},
	} {
		own := runs(0, c.own...)
		if same := own.Same(runs(0, c.other...).Runs); same != c.same {
			t.Errorf("%s: %v", name, same)
		}
	}
}

// Where nobody answers any more, the seconds say how long a run is, and not what is lost: with such a value the outage has no end, and
// whatever the figures are, it changes the verdict.
func TestAValueWithWhichTheOutageDoesNotEnd(t *testing.T) {
	t.Parallel()
	own, other := runs(20*engine.Second, 2000, 2000), runs(20*engine.Second, 2000, 2000)
	for i := range other.Runs {
		other.Runs[i].Stuck = &Stuck{Workload: "shop/web"}
	}
	over := runs(20*engine.Second, 2000, 2000)
	for i := range over.Runs {
		over.Runs[i].Settled, over.Runs[i].Usable = true, Usable{Of: 1}
	}
	own.Try("nodes", "2", runs(20*engine.Second, 2000, 2000).Runs)
	own.Try("nodes", "1", other.Runs)
	own.Try("nodes", "0", over.Runs)
	for i, want := range []bool{false, true, true} {
		if a := own.Alternatives[i]; a.ForGood != want || (a.Effect == VerdictEffect) != want {
			t.Errorf("%s nodes: for good %v, effect %q, verdict %s", a.Value, a.ForGood, a.Effect, a.Verdict)
		}
	}
}

// What waits for ever with another value alone is in its record with what it waits for; where it waits as assumed, too, that says nothing new.
func TestAnotherValueWithWhichItNeverEndsSaysWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	for name, own := range map[string]*Case{ // order: each for itself
		"ends": {Clients: []Client{{Rate: 100_000}}, Runs: someStuck(10, 0)}, "does not": {Clients: []Client{{Rate: 100_000}}, Runs: someStuck(10, 10)},
	} {
		own.Close()
		own.Try("start", "20s", someStuck(10, 10))
		if a := own.Alternatives[0]; (a.Stuck != nil && a.Stuck.Why == "the new pod is not ready") != (name == "ends") {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// That the median of a few runs differs is no effect where the case's own runs come to one of two values, and so do they: only where they are
// hardly of the same distribution.
func TestTheTossOfACoinIsNoEffect(t *testing.T) {
	t.Parallel()
	coin := make([]uint64, 100) // 5 s or 20 s, one as often as the other
	for i := range coin {
		coin[i] = []uint64{500, 2000}[i%2]
	}
	coin[0], coin[1] = 2000, 500
	same := func(n int, lost uint64) []uint64 {
		out := make([]uint64, n)
		for i := range out {
			out[i] = lost
		}
		return out
	}
	for name, c := range map[string]struct {
		other []uint64
		want  Effect
	}{
		"five of five are the lower": {same(5, 500), NoEffect},
		"three of three are":         {same(3, 500), NoEffect},
		"all twenty are the higher":  {same(20, 2000), SizeEffect},
		"five are more than any":     {same(5, 3000), SizeEffect},
		"three are more than any":    {same(3, 3000), SizeEffect},
		"one is more than any":       {same(1, 3000), SizeEffect},
		"five are less than any":     {same(5, 100), SizeEffect},
		"most of twenty are":         {append(same(13, 500), same(7, 2000)...), NoEffect},
	} {
		own := runs(0, coin...)
		if own.Try("start", "20s", runs(0, c.other...).Runs); own.Alternatives[0].Effect != c.want {
			t.Errorf("%s: effect %q, want %q", name, own.Alternatives[0].Effect, c.want)
		}
	}
}

// Where few runs lose anything every median is 0, and how many lose something says what another value comes to.
func TestAnAssumptionDecidesInHowManyRunsSomethingIsLost(t *testing.T) {
	t.Parallel()
	of := func(n, with int, lost uint64) []uint64 { // the first of each part lose
		out := make([]uint64, n)
		for i := range with {
			out[i*n/with] = lost
		}
		return out
	}
	for name, c := range map[string]struct {
		own, other []uint64 // requests lost by each run, 10 ms each
		effect     Effect
		unsure     bool
	}{
		"nothing in place of a third":          {of(100, 34, 50), of(100, 0, 0), VerdictEffect, false},
		"hardly anything in place of a third":  {of(100, 34, 50), of(100, 1, 1), VerdictEffect, false},
		"nothing, on few seeds":                {of(100, 34, 50), of(20, 0, 0), VerdictEffect, true},
		"a third as often":                     {of(100, 34, 50), of(100, 11, 50), SizeEffect, false},
		"perhaps more seldom, on few seeds":    {of(100, 34, 50), of(20, 2, 50), NoEffect, true},
		"about as often":                       {of(100, 34, 50), of(100, 25, 50), NoEffect, false},
		"as often, on few seeds":               {of(100, 34, 50), of(20, 7, 50), NoEffect, false},
		"something in some in place of none":   {of(100, 0, 0), of(100, 20, 50), VerdictEffect, false},
		"something in one in place of none":    {of(100, 0, 0), of(100, 1, 50), NoEffect, false},
		"something in all in place of a third": {of(100, 34, 50), of(20, 20, 1), SizeEffect, false},
	} {
		own, other := runs(0, c.own...), runs(0, c.other...)
		unsure := own.Unsure(other.Runs)
		if effect := own.Try("proxy", "0s", other.Runs); effect != c.effect || unsure != c.unsure {
			t.Errorf("%s: effect %q, unsure %v, want %q, %v", name, effect, unsure, c.effect, c.unsure)
		}
		if a := own.Alternatives[0]; a.Runs != len(c.other) || a.WithLoss != other.WithLoss {
			t.Errorf("%s: %d of %d runs", name, a.WithLoss, a.Runs)
		}
	}
}

// Medians may be alike where the runs that lose most lose far less.
func TestWhatAllRunsLoseTogetherIsKept(t *testing.T) {
	t.Parallel()
	own := runs(0, 10, 10, 80)
	own.Try("proxy", "0s", runs(0, 10, 10, 20).Runs)
	own.Try("proxy", "10s", runs(0, 10, 10, 130).Runs)
	if a, b := own.Alternatives[0], own.Alternatives[1]; a.Shift != -60 || b.Shift != 50 {
		t.Errorf("%d %% and %d %% more", a.Shift, b.Shift)
	}
}

// What a few runs of a case lose is typical of all only where few others do not lose most of it.
func TestAFewRunsAreTypicalWhereTheOthersLoseAsMuch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		own  []uint64
		runs int
		want bool
	}{
		"as much":     {[]uint64{50, 50, 50, 50}, 2, true},
		"more":        {[]uint64{60, 50, 40, 40}, 2, true},
		"few do most": {[]uint64{5, 5, 5, 50}, 3, false},
		"all of them": {[]uint64{5, 5, 5, 50}, 4, true},
	} {
		if got := runs(0, c.own...).Typical(c.runs); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A value that changes nothing of what the worst client loses may change what another one does: the record says which.
func TestAValueThatConcernsOneClient(t *testing.T) {
	t.Parallel()
	two := func(second uint64) *Case {
		c := runs(0, slices.Repeat([]uint64{700}, 20)...)
		c.Clients = append(slices.Clone(c.Clients), Client{Name: "keep-alive", Rate: 100_000})
		for i := range c.Runs {
			c.Runs[i].Streams = append(slices.Clone(c.Runs[i].Streams), Stream{LostSeconds: engine.Time(second) * 10 * engine.Millisecond})
		}
		c.Verdict = ""
		c.Close()
		return c
	}
	for name, x := range map[string]struct {
		lost uint64
		want string
	}{"far more": {600, "keep-alive"}, "about as much": {32, ""}, "as much": {29, ""}} {
		c := two(29)
		c.Try("dead-address", "0s", two(x.lost).Runs)
		a := c.Alternatives[0]
		if a.Effect != NoEffect || a.Client != x.want || x.want != "" && (a.Was != int64(290*engine.Millisecond) || a.Is != int64(6*engine.Second)) {
			t.Errorf("%s: %+v", name, a)
		}
	}
}
