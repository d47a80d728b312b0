package check

import (
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
