package report

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// A headline says what is answered late where that is much more than what is lost.
func TestTheHeadlineSaysWhatIsAnsweredLate(t *testing.T) {
	t.Parallel()
	const late = ", and answers 5 s of traffic more than 1 s late."
	for _, x := range []struct {
		verdict record.Verdict
		lost    engine.Time
		slow    uint64 // requests in each run, of 100 a second
		want    string
	}{
		{record.Drops, engine.Second, 500, " loses 1 s of traffic in every rolling restart" + late},
		{record.Drops, 2 * engine.Second, 500, " loses 2 s of traffic in every rolling restart."},
		{record.Drops, engine.Second / 5, 99, " loses 0.2 s of traffic in every rolling restart."},
		{record.Holds, 0, 500, " lost nothing in 20 of 20 rolling restarts" + late},
		{record.Holds, 0, 0, " lost nothing in 20 of 20 rolling restarts."},
	} {
		c := record.Case{Verdict: x.verdict, Action: "rolling restart", Clients: []record.Client{{Rate: 100 * 1000}}}
		c.LostSeconds = record.Range{Min: int64(x.lost), Median: int64(x.lost), Max: int64(x.lost)}
		for range 20 {
			s := record.Stream{}
			s.Slow = x.slow
			c.Runs = append(c.Runs, record.Run{Streams: []record.Stream{s}})
		}
		if x.lost > 0 {
			c.WithLoss = 20
		}
		if got := sentence(&c, scenario.Wording{}); got != x.want {
			t.Errorf("%s, %s s lost, %d late: %q, want %q", x.verdict, x.lost.Seconds(), x.slow, got, x.want)
		}
	}
}

// A case that holds and answers seconds of traffic late says why, and what to do: nothing is to be done only where nothing is late either.
func TestWhatIsLateIsNotNothing(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		slow, rescued uint64 // requests in each run, of 100 a second
		ingress, spec bool
		why, todo     string
	}{
		{99, 99, true, false, "", "nothing"},
		{500, 400, true, false, "5 s of traffic is late: the proxy asks a pod that does not answer any more, and another one only when it has waited for that",
			"nothing against a loss; so that less is late, a preStop sleep, or a longer one: a pod then answers until nobody sends to it any more (not tried; --timeout 1s counts what is late as lost, and tries what helps)"},
		{500, 400, false, false, "5 s of traffic is late: a pod is asked that does not answer any more, and another one only at a second try",
			"nothing against a loss; so that less is late, a preStop sleep, or a longer one: a pod then answers until nobody sends to it any more (not tried; --timeout 1s counts what is late as lost, and tries what helps)"},
		{500, 0, true, false, "5 s of traffic is late: it waits until a pod takes it", "nothing against a loss; --timeout 1s counts what is late as lost, and tries what helps against that"},
		{500, 0, true, true, "5 s of traffic is late: it waits until a pod takes it", "nothing against a loss; with a timeout of 1s what is late is lost"},
	} {
		c := record.Case{Verdict: record.Holds, Clients: []record.Client{{Rate: 100 * 1000}}}
		if x.ingress {
			c.Assumptions = []world.Assumption{{ID: "ingress", Value: "nginx"}}
		}
		if x.spec {
			c.Kind = "Scenario"
		}
		for range 20 {
			s := record.Stream{}
			s.Slow, s.Rescued = x.slow, x.rescued
			c.Runs = append(c.Runs, record.Run{Streams: []record.Stream{s}})
		}
		page := newText(&record.Simulation{Wording: flags()}, TextOptions{}, everything)
		if got := whyLate(&c); got != x.why {
			t.Errorf("%+v: %q", x, got)
		}
		if got := page.todo(&c); len(got) != 1 || got[0] != x.todo {
			t.Errorf("%+v: %q", x, got)
		}
		if got := page.whyItHolds(&c); (x.why != "") != (len(got) > 0 && got[0] == x.why) {
			t.Errorf("%+v: %q", x, got)
		}
	}
}

// Where for a time no connection came about, and who waited was answered late, it is that which is said, and for how long.
func TestTheHeadlineSaysForHowLongNoConnectionIsTaken(t *testing.T) {
	t.Parallel()
	const sec = engine.Second
	for _, x := range []struct {
		connects      bool
		outage        engine.Time
		wait, longest engine.Time // in the median run, and in one of them
		want, client  string
	}{
		{true, 0, 5 * sec, 5 * sec, ", and takes no new connection for 5 s: who waits that long is answered late", "no new connection for 5 s; 4 s answered more than 1 s late"},
		{true, 0, 5 * sec, 16 * sec, ", and takes no new connection for 5 s, up to 16 s: who waits that long is answered late", "no new connection for 5 s, up to 16 s; 4 s answered more than 1 s late"},
		{true, 0, sec / 2, 16 * sec, ", and answers 4 s of traffic more than 1 s late", "4 s answered more than 1 s late"},
		{true, 5 * sec, 5 * sec, 5 * sec, ", and answers 4 s of traffic more than 1 s late", "4 s answered more than 1 s late"},
		{true, 5 * sec, 6 * sec, 6 * sec, ", and answers 4 s of traffic more than 1 s late", "4 s answered more than 1 s late"},
		{false, 0, 5 * sec, 5 * sec, ", and answers 4 s of traffic more than 1 s late", "4 s answered more than 1 s late"},
	} {
		c := record.Case{Clients: []record.Client{{Rate: 100 * 1000, Connects: x.connects}}}
		for n := range 5 {
			s := record.Stream{LongestWait: x.wait, LongestOutage: x.outage}
			s.Slow = 400
			if n == 4 {
				s.LongestWait = x.longest
			}
			c.Runs = append(c.Runs, record.Run{Streams: []record.Stream{s}})
		}
		if got := lateWords(&c); got != x.want {
			t.Errorf("%+v: %q", x, got)
		}
		if got := clientWords(&c, 0, false); got != x.client {
			t.Errorf("%+v: %q", x, got)
		}
	}
}

// What a client loses whom the headline is not about is told with the most of a run, where that is far from the median, and with what is late of it;
// that another value makes no difference is said of the client of which it is so.
func TestTheOtherClientIsToldInFull(t *testing.T) {
	t.Parallel()
	const s = engine.Second
	c := &record.Case{Class: "inside", Clients: []record.Client{{Name: "new connections", Rate: 100_000}, {Name: "keep-alive", Rate: 100_000}}}
	for _, lost := range []engine.Time{s / 4, s / 4, 22 * s} {
		c.Runs = append(c.Runs, record.Run{Settled: true, Streams: []record.Stream{
			{Totals: ledger.Totals{Total: 5000, Failed: 2300}, LostSeconds: 23 * s},
			{Totals: ledger.Totals{Total: 5000, Failed: uint64(lost / s * 100), Slow: 3800}, LostSeconds: lost},
		}})
	}
	c.Close()
	want := "0.25 s lost, up to 22 s; 38 s answered more than 1 s late"
	if got := clientWords(c, 1, false); got != want {
		t.Errorf("%q", got)
	}
	for i := range c.Runs { // in brief, where something is seen
		c.Runs[i].Streams[1].Outcomes[ledger.Refused] = c.Runs[i].Streams[1].Failed
	}
	for short, want := range map[bool]string{false: "connections kept open: 0.25 s lost, up to 22 s; 38 s answered more than 1 s late", true: "connections kept open: 0.25 s lost, up to 22 s"} {
		x := text{sim: &record.Simulation{}, room: room{brief: true, bare: short}}
		if got := x.noticed(c); len(got) != 2 || got[1] != want {
			t.Errorf("in brief: %q", got)
		}
	}
	if got := clientWords(c, 0, true); got != "23 s lost" {
		t.Errorf("%q", got)
	}
	a := &record.Alternative{Effect: record.NoEffect, Client: "keep-alive", Was: int64(s / 4), Is: int64(8 * s)}
	if got := effectWords(c, a); got != "no difference to new connections, but connections kept open: 8 s lost in place of 0.25 s" {
		t.Errorf("%q", got)
	}
}
