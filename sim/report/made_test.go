package report

import (
	"fmt"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/ledger"
	"github.com/lameduck-proxy/lameduck/sim/record"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// blames are all pairs of a cause and an actor.
func blames() []ledger.Blame {
	var out []ledger.Blame
	for c := ledger.NoCause + 1; c < ledger.NumCauses; c++ {
		for a := ledger.Spec; a < ledger.NumActors; a++ {
			out = append(out, ledger.Blame{Cause: c, Actor: a})
		}
	}
	return out
}

// families makes the case that drops one of which nobody knows the load balancer.
func families(s *record.Simulation) {
	const sec = engine.Second
	c := &s.Cases[1]
	c.Traffic, c.Class = "outside :80", "outside"
	of := func(preset, name string, verdict record.Verdict, lost engine.Time, title string) record.Family {
		f := record.Family{Preset: preset, Name: name, Case: *c}
		f.Case.Verdict, f.Case.LostSeconds = verdict, record.Range{Min: int64(lost - sec/2), Median: int64(lost), Max: int64(lost + sec)}
		f.Case.LongestOutage = f.Case.LostSeconds
		if title != "" {
			f.Fix = &record.Fix{Title: title, Cases: []record.FixedCase{{ID: c.ID, Before: f.Case.LostSeconds, Runs: 2, Confirm: record.Confirm{Runs: 1000}}}}
		}
		return f
	}
	c.Verdict = record.Depends
	c.Families = []record.Family{
		of("aws-nlb-ip", "AWS NLB, ip targets", record.Outage, 145*sec, "readiness gate, preStop sleep 310"),
		of("azure-standard-local", "Azure", record.Outage, 15*sec, "maxUnavailable 0, preStop sleep 15"),
		of("gke-l4-local", "GKE, L4", record.Outage, 13900*engine.Millisecond, "maxUnavailable 0, preStop sleep 15"),
		of("metallb-l2", "MetalLB, layer 2", record.Drops, 2*sec, ""),
	}
	c.LongestOutage = c.Families[0].Case.LongestOutage
	s.Fixes, s.NoHelp = nil, nil
}

func stuck(s *record.Simulation) {
	c := &s.Cases[1]
	c.Verdict = record.Stalled
	c.Stuck = &record.Stuck{
		Workload: "shop/web", Why: "the new pod finds no node: port 8080 of every node is taken by an old pod (hostPort)",
		What: "maxUnavailable 1 and maxSurge 0, or one node more than pods", File: "web.yaml", Line: 9,
	}
	for i := range c.Runs {
		c.Runs[i].Settled, c.Runs[i].Unrest = false, "pod new-0 has no node"
	}
	s.Fixes, s.NoHelp = nil, nil
}

// barred is a drain that a budget keeps from its end.
func barred(s *record.Simulation) {
	stuck(s)
	c := &s.Cases[1]
	c.Verdict = record.Blocked
	c.Stuck = &record.Stuck{
		Workload: "shop/web", Drain: true, File: "web.yaml", Line: 40, What: "maxUnavailable 1 in place of minAvailable 3, or one replica more",
		Why: "kubectl drain of node-1 waits for ever: PodDisruptionBudget web (minAvailable 3) allows no eviction: 3 of 3 pods are ready, and 3 have to be",
	}
}

// keeping is a node that an annotation of a pod keeps.
func keeping(s *record.Simulation) {
	barred(s)
	s.Cases[1].Action = "node replacement"
	s.Cases[1].Stuck = &record.Stuck{
		Workload: "shop/web", Drain: true, File: "web.yaml", Line: 12, What: "no such annotation",
		Why: "Karpenter keeps node-1: shop/web r0 0: annotation karpenter.sh/do-not-disrupt is true",
	}
}

func rare(s *record.Simulation) {
	c := &s.Cases[1]
	c.Verdict, c.WithLoss, c.LostSeconds = record.Rare, 1, record.Range{Max: int64(20 * engine.Millisecond)}
	s.Fixes, s.NoHelp = nil, nil
}

func before(s *record.Simulation) {
	s.Cases[1].Before = []record.Before{{
		What: "node-3 never answers: no pod of web is there and externalTrafficPolicy is Local", Client: "new connections", Lost: 333_333,
	}}
}

// fallback leaves the case that holds, thanks to a pod that was terminating.
func fallback(s *record.Simulation) {
	const sec = engine.Second
	c := &s.Cases[0]
	c.Assumptions = append(c.Assumptions,
		world.Assumption{ID: "proxy", What: "service proxy", Value: "kube-proxy 1.36, iptables, minSyncPeriod 1s", Basis: "assumed", Settle: "--env, or a KubeProxyConfiguration in the input"},
		world.Assumption{ID: "replicas", What: "replicas", Value: "api: 2 (HorizontalPodAutoscaler shop/api)", Basis: "inferred", Settle: "spec.replicas"})
	c.Alternatives = []record.Alternative{
		{ID: "start", Value: "20s", Verdict: record.Drops, LostSeconds: record.Range{Min: 1, Median: int64(3 * sec), Max: int64(4 * sec)}, Effect: record.VerdictEffect},
		{ID: "proxy", Value: "minSyncPeriod 10s", Verdict: record.Holds, Effect: record.NoEffect},
	}
	c.Kept = &record.Kept{Seed: 1, Fallback: 14 * sec, Without: 13 * sec}
	s.Cases, s.Fixes, s.NoHelp = s.Cases[:1], nil, nil
}

func sessions(s *record.Simulation) {
	c := &s.Cases[1]
	c.Traffic, c.Class = "session :6379", "session"
	c.Clients = []record.Client{{Name: "sessions", Rate: 100_000}}
	for i := range c.Runs {
		st := &c.Runs[i].Streams[0]
		st.Cuts, st.Slow, st.Rescued = 10, 250, 40
	}
	c.Verdict, c.WithLoss = "", 0
	c.Close()
}

// forty has as many workloads, most of which lose something and are mended by the same change.
func forty(s *record.Simulation) {
	drops, fix := s.Cases[1], s.Fixes[0]
	for i := range 37 {
		c, f := drops, fix
		c.Workload = fmt.Sprintf("shop/worker-%02d", i)
		c.ID = c.Workload + "/rollout/worker:80"
		c.LostSeconds.Median -= int64(i) * int64(engine.Millisecond)
		f.Workload, f.Cases = c.Workload, []record.FixedCase{fix.Cases[0]}
		f.Cases[0].ID = c.ID
		if i%12 == 5 {
			f.Title = "maxUnavailable: 0"
		}
		s.Cases, s.Fixes = append(s.Cases, c), append(s.Fixes, f)
	}
}
