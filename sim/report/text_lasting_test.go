package report

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/story"
)

// lasting is a node drain after which some of the requests of 40 s fail until the end of the run.
func lasting(failed uint64, cause ledger.Cause) *record.Case {
	const sec = engine.Second
	lost := engine.Time(failed) * sec / 100
	longest := lost
	if failed < 4000 {
		longest = 0 // others are answered between them
	}
	r := record.Run{
		End: 60 * sec, Settled: true,
		Streams: []record.Stream{{Totals: ledger.Totals{Total: 6000, Failed: failed}, LostSeconds: lost, LongestOutage: longest}},
		Groups:  []ledger.Group{{Blame: ledger.Blame{Cause: cause}, Outcome: ledger.Refused, First: 20 * sec, Last: 60 * sec, Count: failed}},
	}
	r.Streams[0].Outcomes[ledger.Refused] = failed
	c := &record.Case{
		Workload: "shop/web", Action: "node drain", Kind: "Deployment", Class: "http",
		Clients: []record.Client{{Name: "new-connections", Rate: 100_000}}, Runs: []record.Run{r, r},
	}
	c.Close()
	return c
}

// What does not end has no length: it is told as a part of the requests, by the head, of a client and of another value of an assumption.
func TestALossThatDoesNotEndHasNoLength(t *testing.T) {
	t.Parallel()
	half := lasting(2000, ledger.NoLocalEndpoint)
	if got := sentence(half, scenario.Wording{}); !strings.Contains(got, " goes on losing 50 % of its traffic in every node drain: that does not end by itself.") {
		t.Errorf("%q", got)
	}
	if got := clientWords(half, 0, false); !strings.HasPrefix(got, "50 % lost, without an end (refused)") {
		t.Errorf("%q", got)
	}
	if got := resultWords(half, &record.Alternative{Verdict: record.Drops, LostSeconds: half.LostSeconds, Lasting: half.Lasting()}); got != "50 % lost, without an end" {
		t.Errorf("%q", got)
	}
	all := lasting(4000, ledger.NoEndpoint)
	some := &text{sim: &record.Simulation{}}
	if got := some.whys(all)[0]; !all.ForGood() || !strings.HasPrefix(got, "no pod is ready any more") {
		t.Errorf("%q", got)
	}
	if got := clientWords(all, 0, false); strings.Contains(got, "no answer at all") {
		t.Errorf("%q", got)
	}
}

// Where the Service itself is gone, or leads nowhere, no number of pods helps.
func TestNoPodHelpsAServiceThatIsGone(t *testing.T) {
	t.Parallel()
	c := lasting(4000, ledger.ServiceChanged)
	if got := elsewhereWords(c.Causes, 8000, false, false); got != "No pod could have answered: nothing leads to one." {
		t.Errorf("%q", got)
	}
	for action, want := range map[string]string{
		"deleteService":              "the Service was deleted",
		"scale, setSelector":         "the Service selects no pod",
		"setPort":                    "the Service leads to ports that nobody asks or listens on",
		"setSelector, deleteService": phrases[ledger.ServiceChanged].story,
		"deletePod":                  phrases[ledger.ServiceChanged].story,
	} {
		c.Action = action
		if got := inFront(c, causeStory(c.Causes[0].Blame)); got != want {
			t.Errorf("%s: %q", action, got)
		}
	}
	none := lasting(4000, ledger.NoEndpoint)
	none.Causes[0].Culprit = story.Culprit{What: story.ToNothing, File: "s.yaml", Line: 8}
	some := &text{sim: &record.Simulation{}}
	if got := elsewhereWords(none.Causes, 8000, false, false) + some.culprit(none.Causes[0].Culprit); !strings.HasPrefix(got, "No pod could have answered: there is none any more.. The Scenario scales it to 0") {
		t.Errorf("%q", got)
	}
}
