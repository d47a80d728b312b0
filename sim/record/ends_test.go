package record

import "testing"

// someStuck are runs of which these many of each ten cannot end; none loses anything.
func someStuck(n, ofTen int) []Run {
	list := make([]Run, n)
	for i := range list {
		list[i] = Run{Seed: uint64(i + 1), Settled: true, Streams: []Stream{{}}}
		if (i+3)%10 < ofTen {
			list[i].Stuck, list[i].Settled = &Stuck{Why: "the new pod is not ready"}, false
		}
	}
	return list
}

// The run that is shown, and done again, is one of what the verdict says.
func TestTheRunThatIsShownIsOneOfTheVerdict(t *testing.T) {
	t.Parallel()
	c := &Case{Clients: []Client{{Rate: 100_000}}, Runs: someStuck(100, 6)}
	c.Runs[0].Streams[0].Failed = 1 // it ends, and is the only one that loses anything
	c.Runs[0].Stuck = nil
	if c.Close(); c.Verdict != Stalled || c.Runs[c.WorstSeed-1].Stuck == nil {
		t.Errorf("%s, seed %d", c.Verdict, c.WorstSeed)
	}
	few := &Case{Clients: []Client{{Rate: 100_000}}, Runs: someStuck(40, 0)}
	few.Runs[7].Stuck = &Stuck{Why: "the new pod is not ready"}
	if few.Close(); few.Verdict != Rare || few.WorstSeed != 8 || few.Stuck != nil {
		t.Errorf("%s, seed %d, %+v", few.Verdict, few.WorstSeed, few.Stuck)
	}
	if n, what := few.RarelyStuck(); n != 1 || what == nil || what.Why != "the new pod is not ready" {
		t.Errorf("rarely stuck in %d: %+v", n, what)
	}
	if n, _ := c.RarelyStuck(); n != 0 {
		t.Errorf("rarely stuck in %d, where that is the verdict", n)
	}
}

// What does not end in half of the runs is compared with that, also where the first of them mostly end: another value with which all of many end
// changes the verdict, one with which as many do not has no effect, nor has one of a few runs.
func TestAnotherValueEndsWhatCannotEndInHalfOfTheRuns(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		runs, ofTen int
		want        Effect
	}{
		"all end":           {20, 0, VerdictEffect},
		"as many do not":    {20, 3, NoEffect},
		"none ends":         {20, 10, NoEffect},
		"all end, of three": {3, 0, NoEffect},
	} {
		c := &Case{Clients: []Client{{Rate: 100_000}}, Runs: append(someStuck(20, 4), someStuck(30, 9)...)}
		c.Close()
		if c.Verdict != Stalled {
			t.Fatal(c.Verdict)
		}
		other := someStuck(x.runs, x.ofTen)
		if got := c.Try("start", "500ms", other); got != x.want {
			t.Errorf("%s: %s, want %s", name, got, x.want)
		}
		if c.Same(other[:1]) {
			t.Errorf("%s: one run is taken to be enough", name)
		}
	}
}

// Of what ends in most runs as assumed, and not in others, a value is told with which it ends in hardly any; one with which it ends in all
// of few runs may be chance.
func TestAnotherValueWithWhichItHardlyEverEnds(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		ofTen, other int
		want         Effect
	}{
		"never, where it mostly ends":          {2, 10, VerdictEffect},
		"in some runs, where it mostly ends":   {2, 3, NoEffect},
		"in some runs, where it ends as asked": {0, 2, VerdictEffect},
	} {
		c := &Case{Clients: []Client{{Rate: 100_000}}, Runs: someStuck(100, x.ofTen)}
		c.Close()
		if got := c.Try("start", "40s", someStuck(20, x.other)); got != x.want || (c.Alternatives[0].Stuck != nil) != (x.want != NoEffect) {
			t.Errorf("%s: %s, want %s, %+v", name, got, x.want, c.Alternatives[0].Stuck)
		}
	}
}
