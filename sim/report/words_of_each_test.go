package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
	"github.com/lameduck-proxy/lameduck/test/golden"
)

// eachWord are the words that a case's fields can have, and what has one of them in its place.
func eachWord() map[string]func(c *record.Case) {
	out := map[string]func(c *record.Case){}
	for _, action := range []string{
		scenario.ActionRollout, scenario.ActionDrain, scenario.ActionScaleDown, scenario.ActionShutdown, scenario.ActionSpot, scenario.ActionCrash, scenario.ActionReboot,
		scenario.ActionDelete, "node replacement", "drain of node-1",
	} {
		out["action "+action] = func(c *record.Case) { c.Action = action }
		out["action "+action+", sudden"] = func(c *record.Case) { c.Action, c.Sudden = action, true }
	}
	for _, verdict := range []record.Verdict{record.Outage, record.Stalled, record.Blocked, record.Drops, record.Depends, record.Rare, record.Holds, record.NotJudged} {
		out["verdict "+string(verdict)] = func(c *record.Case) { c.Verdict = verdict }
	}
	for _, class := range scenario.Classes() {
		out["class "+class.ID] = func(c *record.Case) { c.Class = class.ID }
	}
	for _, kind := range []string{world.Deployment, world.StatefulSet, world.DaemonSet, world.ReplicaSet, world.Pod} {
		out["kind "+kind] = func(c *record.Case) { c.Kind = kind }
	}
	for _, a := range scenario.Assumptions(flags()) {
		out["assumed "+a.ID] = func(c *record.Case) {
			c.Assumptions = append([]world.Assumption{a}, c.Assumptions...)
		}
		for _, effect := range []string{string(record.VerdictEffect), string(record.NoEffect)} {
			out["assumed "+a.ID+", of effect "+effect] = func(c *record.Case) {
				own := a
				own.Basis = "assumed"
				c.Assumptions = append([]world.Assumption{own}, c.Assumptions...)
				c.Alternatives = append([]record.Alternative{{
					ID: a.ID, Value: "other", Verdict: record.Holds, Effect: record.Effect(effect), Stuck: &record.Stuck{Workload: c.Workload, Why: "it waits", What: "go on", Line: 7},
				}}, c.Alternatives...)
			}
		}
	}
	return out
}

// Each word that a case can have is said as before, in records that differ in all else.
func TestEachWordOfACaseIsKept(t *testing.T) {
	t.Parallel()
	words := eachWord()
	for _, sample := range []string{"made-drops", "made-stuck", "made-families", "made-sessions"} {
		t.Run(sample, func(t *testing.T) {
			t.Parallel()
			var rows strings.Builder
			for _, name := range slices.Sorted(maps.Keys(words)) {
				s := goldens[sample].of(t)
				for i := range s.Cases {
					words[name](&s.Cases[i])
				}
				fmt.Fprintf(&rows, "%s: %s\n", name, said(s))
			}
			golden.Compare(t, "testdata/words/"+sample+".txt", rows.String(), *update)
		})
	}
}
