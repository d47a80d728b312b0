package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/servers"
	"github.com/lameduck-proxy/lameduck/sim/units"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Alternative is a Scenario with one assumption at another value of its range.
type Alternative struct {
	ID       string // of the assumption
	Value    string
	Scenario *world.Scenario
}

// Alternatives returns a Scenario with each of its assumptions, in table order, at the other
// values of its range (docs/model/simulator.md 3 and 5.3). What the input says stays as it is, and
// so does the Scenario given.
func Alternatives(s *world.Scenario) []Alternative {
	var out []Alternative
	for _, a := range s.Assumptions {
		if a.Basis == "manifest" { // the input says it
			continue
		}
		for _, v := range variants(a.ID) {
			changed := s.Clone()
			if v.change(changed) {
				out = append(out, Alternative{a.ID, v.value, changed})
			}
		}
		if a.ID == "nodes" {
			out = append(out, otherNodes(s)...)
		}
		if a.ID == "lb" || a.ID == "ingress" {
			out = append(out, otherBalancers(s, a.ID)...)
		}
		if a.ID == "pool" && a.Basis != inferred { // who runs it is known, by the kind of cluster or by its load balancer
			out = append(out, otherPools(s)...)
		}
		if a.ID == "spot-handler" && a.Basis != inferred {
			out = append(out, otherHandlers(s)...)
		}
		if a.ID == Places {
			out = append(out, together(s)...)
		}
		if a.ID == "start" {
			out = append(out, started(s)...)
		}
		if field, ok := strings.CutPrefix(a.ID, "lb."); ok {
			out = append(out, otherSYNs(s, field)...)
			out = append(out, reportedEnds(s, field)...)
		}
		if a.ID == "sigterm" {
			out = append(out, otherProfiles(s)...)
		}
	}
	return out
}

// variant is another value of an assumption; change says whether it is one for this Scenario.
type variant struct {
	value  string
	change func(*world.Scenario) bool
}

func variants(id string) []variant {
	switch id {
	case "kubernetes":
		return []variant{{earlierRunner.String(), versioned(earlierRunner)}}
	case "proxy":
		return []variant{{"minSyncPeriod 0s", minSync(0)}, {"minSyncPeriod 10s", minSync(10 * engine.Second)}}
	case "kubelet":
		return []variant{{"shutdownGracePeriod 0s", shutting(0)}, {"shutdownGracePeriod 30s", shutting(gkeShutdown)}}
	case "serve":
		return []variant{{"1s", served(engine.Second)}, {"10s", served(10 * engine.Second)}}
	case "keeper":
		return otherKeepers()
	case "gate":
		return []variant{{"injected", gated}}
	case "init":
		return []variant{{"0s", initialized(0)}, {"60s", initialized(engine.Minute)}}
	case readinessAsks:
		return []variant{{"at once", unasked}}
	case "image":
		return []variant{{"pull 10s", pulled}}
	case "prestop":
		return []variant{{"0s", hooked(0)}, {"30s", hooked(30 * engine.Second)}}
	case "poststart":
		return []variant{{"0s", postStarted(0)}, {"30s", postStarted(30 * engine.Second)}}
	case "prestop-program":
		return []variant{{"missing: the hook fails at once", unhooked}}
	case "provision":
		return []variant{{"30s", provisioned(30 * engine.Second)}, {"5m", provisioned(5 * engine.Minute)}}
	case "machine-stop":
		return []variant{{"30s", stopping(30 * engine.Second)}, {"90s", stopping(90 * engine.Second)}}
	case "reboot":
		return []variant{{"30s", away(quickReboot)}, {"10m", away(slowReboot)}}
	case "churn":
		return []variant{{units.RateText(0), churned(0)}, {units.RateText(2 * units.RateUnit), churned(2 * units.RateUnit)}}
	case "latency.watch":
		return []variant{{"uniform 5ms to 500ms", func(s *world.Scenario) bool {
			s.Latency.Watch = engine.Must(engine.Uniform(5*engine.Millisecond, 500*engine.Millisecond))
			return true
		}}}
	case "latency.proxySync":
		return []variant{{"uniform 1s to 5s", func(s *world.Scenario) bool {
			s.Latency.ProxySync = engine.Must(engine.Uniform(engine.Second, 5*engine.Second))
			return true
		}}}
	default:
		return clientVariants(id)
	}
}

// clientVariants are those of what clients do, and of what they are answered.
func clientVariants(id string) []variant {
	switch id {
	case "timeout":
		return []variant{{"5s", waiting(5 * engine.Second)}, {noTimeout, waiting(0)}}
	case "connect-timeout":
		return []variant{{"1s", connecting(false, engine.Second)}, {"3s", connecting(false, 3*engine.Second)}}
	case "dial-timeout":
		return []variant{{"1s", connecting(true, engine.Second)}, {"5s", connecting(true, 5*engine.Second)}}
	case "keepalive-repeat":
		return []variant{{"does not ask again", repeating(false)}}
	case "udp-repeat":
		return []variant{{asksOnce, asking(0)}, {asksTwice, asking(queryRetries)}, {onePort, fromOnePort}}
	case "methods":
		return []variant{{postsWords, otherMethods(postsWords)}, {getsWords, otherMethods(getsWords)}}
	case "syn-repeats":
		return []variant{{"each second up to 5 s, then after 7 and 11 s", repeatingSYNs(sinceLinux65)}}
	case "dead-address":
		return []variant{{"ICMP unreachable at once", answering(0)}, {"ICMP unreachable after 3s", answering(3 * engine.Second)}}
	default:
		return otherVolumes(id)
	}
}

// sinceLinux65 is the default of net.ipv4.tcp_syn_linear_timeouts since Linux 6.5 (docs/model/kube-proxy.md 3 Repeated SYN).
const sinceLinux65 = 4

// earlierRunner is the last version whose kube-proxy may sync twice at once
// (docs/model/kube-proxy.md 6).
var earlierRunner = endpoints.Version{Major: 1, Minor: 33}

// versioned is a cluster of another version, with the same feature gates.
func versioned(v endpoints.Version) func(*world.Scenario) bool {
	return func(s *world.Scenario) bool {
		p, err := endpoints.ProfileFor(v, s.Gates)
		s.Kubernetes = p
		return err == nil
	}
}

func churned(rate int) func(*world.Scenario) bool {
	return func(s *world.Scenario) bool {
		s.Churn = rate
		return true
	}
}

func minSync(period engine.Time) func(*world.Scenario) bool {
	return func(s *world.Scenario) bool {
		for i := range s.Nodes {
			s.Nodes[i].Proxy.MinSyncPeriod = period
		}
		return true
	}
}

// started changes the start-up of every app whose start was not said, to the least of its range and
// to the most.
func started(s *world.Scenario) []Alternative {
	var out []Alternative
	for _, most := range []bool{false, true} {
		changed := s.Clone()
		var values []string
		for i := range changed.Workloads {
			a := &changed.Workloads[i].App
			if a.StartSaid || changed.Workloads[i].Aside {
				continue
			}
			start, longest := servers.StartsBetween(a)
			if most {
				start = longest
			}
			a.Start, values = engine.Constant(start), append(values, servers.StartWords(a, start.Duration().String()))
		}
		if values != nil {
			out = append(out, Alternative{"start", strings.Join(distinct(values), ", "), changed})
		}
	}
	return out
}

// served makes every app whose time to answer was not said that slow, and pools have the connections
// for what they ask. Clients wait no longer for it: where some would give up before any answer, whatever
// is done to the pods, it is no alternative.
func served(median engine.Time) func(*world.Scenario) bool {
	return func(s *world.Scenario) bool {
		changed := false
		for i := range s.Traffic {
			if limit := s.Traffic[i].Timeout; limit > 0 && limit <= median {
				return false
			}
		}
		for i := range s.Workloads {
			if a := &s.Workloads[i].App; !a.ServeSaid {
				a.Serve, changed = engine.Constant(median), true
			}
		}
		for i := range s.Traffic {
			grow(&s.Traffic[i], median, false)
		}
		return changed
	}
}

// pulled has nodes pull the images of pods that are made.
func pulled(s *world.Scenario) bool {
	pull := engine.Constant(10 * engine.Second)
	s.Latency.ImagePull = &pull
	return true
}

// hooked has what is unknown of every preStop hook take so long: what is known of it stays, and comes on top. One that the grace period
// cuts before is not another one for that.
func hooked(span engine.Time) func(*world.Scenario) bool {
	return otherHooks(func(w *world.Workload, h *world.Hook) bool {
		open := h.Undetermined && h.Duration.Min() < w.EffectiveGrace()
		if open {
			h.Duration = engine.Constant(h.Duration.Min() + span)
		}
		return open
	})
}

// postStarted gives every postStart hook of which nothing is known a duration.
func postStarted(span engine.Time) func(*world.Scenario) bool {
	return otherHooks(func(_ *world.Workload, h *world.Hook) bool {
		if h.After.Undetermined {
			h.After.Duration = engine.Constant(span)
		}
		return h.After.Undetermined
	})
}

// unhooked has every preStop hook fail whose program may be missing in the image.
func unhooked(s *world.Scenario) bool {
	return otherHooks(func(_ *world.Workload, h *world.Hook) bool {
		missing := h.Assumes
		if missing != "" {
			*h = world.Hook{Kind: servers.HookMissing, Why: "the image has no " + missing + ": the hook fails at once, without any delay", After: h.After}
		}
		return missing != ""
	})(s)
}

// otherHooks changes hooks of the workloads that something is done to; change says of one whether it did.
func otherHooks(change func(*world.Workload, *world.Hook) bool) func(*world.Scenario) bool {
	return func(s *world.Scenario) bool {
		changed := false
		for i := range s.Workloads {
			w := &s.Workloads[i]
			if w.Aside {
				continue
			}
			hooks := maps.Clone(w.Hooks) // that of the Scenario given stays
			for name, h := range hooks { // order: each for itself
				changed = change(w, &h) || changed
				hooks[name] = h
			}
			w.Hooks = hooks
		}
		return changed
	}
}

// otherProfiles are what the apps whose SIGTERM behaviour was not said might do instead: one
// alternative for each other profile of any of them.
func otherProfiles(s *world.Scenario) []Alternative {
	var ids []string
	for i := range s.Workloads {
		for _, id := range s.Workloads[i].App.Alternatives {
			if s.Workloads[i].App.Basis != "manifest" && !s.Workloads[i].Aside && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	var out []Alternative
	for _, id := range ids {
		changed := s.Clone()
		for i := range changed.Workloads {
			if w := &changed.Workloads[i]; !w.Aside && slices.Contains(w.App.Alternatives, id) {
				w.App = asProfile(w.App, id, w)
			}
		}
		p, _ := servers.Named(id)
		out = append(out, Alternative{"sigterm", fmt.Sprintf("%s: listener %s, requests %s", id, p.Listener, p.InFlight), changed})
	}
	return out
}

// as is the app with what another profile does at SIGTERM.
func asProfile(a world.App, id string, w *world.Workload) world.App {
	var e servers.Evidence
	template := w.Template()
	for _, c := range world.Serving(&template.Spec) {
		if c.Name == w.Server {
			e = *servers.EvidenceOf(c, template.Labels)
		}
	}
	other := servers.AppFor(&e, id)
	out := a
	out.Profile, out.Alternatives = other.Profile, nil
	out.IgnoresSIGTERM, out.Listener, out.DrainFor = other.IgnoresSIGTERM, other.Listener, other.DrainFor
	out.InFlight, out.FinishWithin = other.InFlight, other.FinishWithin
	out.ReadinessFails, out.Linger, out.GoAway = other.ReadinessFails, other.Linger, other.GoAway
	out.ClosesAnswered = other.ClosesAnswered
	return out
}

// WithoutFallback returns the Scenario with service proxies that never use a terminating endpoint, as before Kubernetes 1.26
// (KEP-1669): for comparison.
func WithoutFallback(s *world.Scenario) *world.Scenario {
	out := s.Clone()
	out.Kubernetes.Options.TerminatingFallback = endpoints.FallbackNone
	out.Expect = nil
	return out
}

// fallbackSince is the first version in which nodes send to endpoints that terminate and serve where they have no others, with every traffic
// policy, unless somebody turned that off (KEP-1669; docs/model/kube-proxy.md 6).
var fallbackSince = endpoints.Version{Major: 1, Minor: 26}

// WithFallback returns the Scenario in a cluster of that version; ok is false where its version is as late.
func WithFallback(s *world.Scenario) (out *world.Scenario, ok bool) {
	if !s.Kubernetes.Version.Before(fallbackSince) || s.Kubernetes.Options.TerminatingFallback == endpoints.FallbackAll {
		return nil, false
	}
	out = s.Clone()
	return out, versioned(fallbackSince)(out) && out.Kubernetes.Options.TerminatingFallback == endpoints.FallbackAll
}

// Edited returns the Scenario with the object of one workload changed, as if its manifest said
// so: defaults are applied, hooks are read again. name is "ns/name".
func Edited(s *world.Scenario, name string, edit func(world.Resource)) *world.Scenario {
	out := s.Clone()
	for i := range out.Workloads {
		w := &out.Workloads[i]
		if w.Name() != name {
			continue
		}
		w.Resource = world.CopyOf(w.Resource)
		edit(w.Resource)
		world.Default(w.Resource)
		w.Hooks = hooksOf(&w.Template().Spec, s.Set.For(w.ObjectName()))
	}
	return out
}
