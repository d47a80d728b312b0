package sweep

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/story"
	"github.com/lameduck-proxy/lameduck/sim/timeline"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// storied is a run with a recorder of what happens, of the proxies of nodes what some do, nil for all.
func storied(sc *world.Scenario, seed uint64, nodes []int) (*sim.Result, *story.Teller, error) {
	return storiedBy(&story.Recorder{}, sc, seed, nodes)
}

func storiedBy(recorder *story.Recorder, sc *world.Scenario, seed uint64, nodes []int) (*sim.Result, *story.Teller, error) {
	res, err := sim.RunWith(sc, seed, sim.Options{Events: recorder.Log(nodes)})
	if err != nil {
		return nil, nil, err
	}
	return res, story.NewTeller(sc, recorder, res.Pods), nil
}

// ordered is a run of a Scenario that expects events in an order.
func ordered(sc *world.Scenario, seed uint64) outcome {
	res, teller, err := storied(sc, seed, nil)
	if err != nil {
		return outcome{err: err}
	}
	run := summary(sc, res)
	run.Out = outOfOrder(wordsOf(teller.All()), sc.Expect.Order)
	return outcome{run: run}
}

func wordsOf(lines []story.Line) []string {
	out := make([]string, len(lines))
	for i := range lines {
		out[i] = lines[i].Words()
	}
	return out
}

// outOfOrder looks for each text in the lines after that of the text before it.
func outOfOrder(lines, texts []string) string {
	at := 0
	for i, text := range texts {
		for at < len(lines) && !strings.Contains(lines[at], text) {
			at++
		}
		switch {
		case at < len(lines):
			at++
		case i == 0:
			return fmt.Sprintf("%q did not happen", text)
		default:
			return fmt.Sprintf("%q did not happen after %q", text, texts[i-1])
		}
	}
	return ""
}

// tell adds the story of an example to each cause of a case, and the line behind it. It runs
// the examples' seeds again.
func (p *pool) tell(u *unit, c *record.Case) error {
	sc := u.sc
	tellers := map[uint64]*story.Teller{}
	for i := range c.Causes {
		x := &c.Causes[i]
		teller := tellers[x.Example.Seed]
		if teller == nil {
			nodes := met(c.Causes, x.Example.Seed)
			t, err := p.follow(u, &story.Recorder{}, nodes)
			if t == nil && err == nil {
				p.counts.add(ForStory, 1)
				_, t, err = storied(sc, x.Example.Seed, nodes)
			}
			if err != nil {
				return fmt.Errorf("%s, seed %d: %w", c.ID, x.Example.Seed, err)
			}
			teller, tellers[x.Example.Seed] = t, t
		}
		x.Story = teller.Tell(x.Example.Request)
		if w := teller.Met(x.Example.Request); w != nil && !sc.Unannounced() {
			x.Culprit = behind(sc, w, x.Blame)
			if c, ok := story.NotReadyPublished(sc, x.Example.Request.Stream, x.Blame); ok {
				x.Culprit = c
			}
			if c, ok := teller.RestartedBy(x.Example.Request); ok {
				x.Culprit = c
			}
		}
	}
	return nil
}

// behind is what stands behind failures that are alike: a line of the manifests, or of the Scenario that leaves no pod.
func behind(sc *world.Scenario, w *world.Workload, b ledger.Blame) story.Culprit {
	if b.Cause == ledger.NoEndpoint || b.Cause == ledger.NoLocalEndpoint || b.Cause == ledger.ListenerClosed && !b.Elsewhere {
		if c, ok := story.ScaledToNothing(sc, w); ok {
			return c
		}
	}
	c, _ := story.CulpritOf(w, b, sc.Updates())
	return c
}

// met are the nodes that the examples of one seed came to: the story of a request is about no other node's proxy. What a
// thousand of them do is more than all the rest that is written down.
func met(causes []record.Cause, seed uint64) []int {
	nodes := []int{}
	for i := range causes {
		if x := &causes[i].Example; x.Seed == seed && x.Request.Node >= 0 && !slices.Contains(nodes, x.Request.Node) {
			nodes = append(nodes, x.Request.Node)
		}
	}
	return nodes
}

// keep adds to a case that holds how its first run went, and what of it was due to the fallback to pods that terminate.
func (p *pool) keep(u *unit, c *record.Case) error {
	sc, seed := u.sc, c.Runs[0].Seed
	teller, err := p.follow(u, about(u.sight), nil)
	if teller == nil && err == nil {
		teller, err = p.replaced(sc, seed)
	}
	if err != nil {
		return fmt.Errorf("%s, seed %d: %w", c.ID, seed, err)
	}
	c.Kept = &record.Kept{Seed: seed, Story: teller.Kept(), Fallback: teller.Fallback()}
	if c.Kept.Fallback == 0 {
		return nil
	}
	p.counts.add(ForStory, 1)
	without := (&job{sc: scenario.WithoutFallback(sc), seed: seed}).do()
	if without.err != nil {
		return fmt.Errorf("%s without the fallback, seed %d: %w", c.ID, seed, without.err)
	}
	c.Kept.Without = without.run.LostSeconds()
	return nil
}

// about returns a Recorder about the first pod that was deleted in a run that a sight heard of.
func about(sight *timeline.Recorder) *story.Recorder {
	if sight != nil {
		if pod, ok := sight.FirstDeleted(); ok {
			return story.RecorderAbout(pod)
		}
	}
	return &story.Recorder{}
}

// replaced tells how the first pod that was deleted was replaced. Which one that is a run says first of which no rules are written
// down, so that of those of a large cluster only what they say of that pod is.
func (p *pool) replaced(sc *world.Scenario, seed uint64) (*story.Teller, error) {
	p.counts.add(ForStory, 1)
	_, teller, err := storied(sc, seed, []int{})
	if err != nil {
		return nil, err
	}
	recorder := &story.Recorder{}
	if pod, ok := teller.FirstDeleted(); ok {
		recorder = story.RecorderAbout(pod)
	}
	p.counts.add(ForStory, 1)
	_, teller, err = storiedBy(recorder, sc, seed, nil)
	return teller, err
}
