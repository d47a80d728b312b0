package scenario

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// lbField is one thing that load balancers differ in: its name in the grammar and in the list
// of presets, what it may be, how it is said and how it is read.
type lbField struct {
	layer7 bool // of proxies only
	layer4 bool // of all but proxies
	name   string
	what   string
	shape  shape
	say    func(*world.LoadBalancer) string
	read   func(cursor, *world.LoadBalancer)
}

// lbFields lists the fields in the order in which they are documented and printed. Each health
// check has a phase of its own, drawn at the beginning of a run: it is no field.
func lbFields() []lbField {
	return slices.Concat(lbTargets(), lbDetection(), lbChanges(), lbFlows(), lbGates(), lbProxies())
}

// fields are those that a load balancer has.
func balancerFields(l *world.LoadBalancer) []lbField {
	return slices.DeleteFunc(lbFields(), func(f lbField) bool { return !f.belongsTo(l) })
}

// fieldNames names them.
func fieldNames(l *world.LoadBalancer) []string {
	var names []string
	for _, f := range balancerFields(l) {
		names = append(names, f.name)
	}
	return names
}

// belongsTo says whether a load balancer has the field.
func (f *lbField) belongsTo(l *world.LoadBalancer) bool {
	if l.Layer7 != nil {
		return !f.layer4
	}
	return !f.layer7
}

func lbTargets() []lbField {
	return []lbField{
		lbWord("target", "what connections are sent to", []string{"nodes", "pods"}, func(l *world.LoadBalancer) *world.LBTarget { return &l.Target }),
		lbWord("members", "what makes a node or a pod a target", []string{"all-nodes", "local-nodes", "ready-pods", "live-pods", "serving-nodes", "serving-pods"},
			func(l *world.LoadBalancer) *world.LBMembers { return &l.Members }),
		lbWord("nodesLeave", "which nodes are no targets: deleted ones, tainted ones that Cluster Autoscaler is about to delete, too, not-ready ones, too, or silent ones",
			[]string{"deleted", "tainted", "not-ready", "silent"}, func(l *world.LoadBalancer) *world.NodesLeave { return &l.NodesLeave }),
		lbWord("announce", "routing that finds the targets, without health checks", []string{"none", "l2", "bgp"},
			func(l *world.LoadBalancer) *world.Announce { return &l.Announce }),
	}
}

func lbDetection() []lbField {
	return []lbField{
		lbWord("probe", "what a health check asks", []string{"none", "health-port", "proxy-health", "node-port", "pod"},
			func(l *world.LoadBalancer) *world.Probe { return &l.Check.Probe }),
		lbSpan("interval", "between health checks of a target", func(l *world.LoadBalancer) *engine.Time { return &l.Check.Interval }),
		lbSpan("timeout", "of a health check", func(l *world.LoadBalancer) *engine.Time { return &l.Check.Timeout }),
		lbCount("healthy", "answers in a row that make a target healthy", func(l *world.LoadBalancer) *int { return &l.Check.Healthy }),
		lbCount("unhealthy", "failures in a row that make it unhealthy", func(l *world.LoadBalancer) *int { return &l.Check.Unhealthy }),
		lbDist("healthPropagation", "from that until new connections follow", func(l *world.LoadBalancer) *engine.Dist { return &l.HealthPropagation }),
	}
}

func lbChanges() []lbField {
	return []lbField{
		lbDist("controller", "from a change in the API to the call that changes the targets", func(l *world.LoadBalancer) *engine.Dist { return &l.Controller }),
		lbSpan("controllerHold", "between two such calls, at least", func(l *world.LoadBalancer) *engine.Time { return &l.ControllerHold }),
		lbDist("registration", "from that call until a new target is checked", func(l *world.LoadBalancer) *engine.Dist { return &l.Registration }),
		lbDist("propagation", "from that call until a removed target gets no new connection", func(l *world.LoadBalancer) *engine.Dist { return &l.Propagation }),
		{
			name: "drain", what: "how long connections to a removed target live on before they are cut", shape: orWord(never),
			say: func(l *world.LoadBalancer) string { return spanWords(l.Drain) },
			read: func(c cursor, l *world.LoadBalancer) {
				if c.text("") == never {
					l.Drain = engine.Never
					return
				}
				l.Drain = c.span(l.Drain)
			},
		},
	}
}

func lbFlows() []lbField {
	return []lbField{
		lbFlag("cutUnhealthy", "connections to a target that fails its checks are reset", func(l *world.LoadBalancer) *bool { return &l.CutUnhealthy }),
		{
			name: "allUnhealthy", what: "without a healthy target: open sends to all of them, open-checked to those whose first checks are finished, closed to none",
			shape: word("open", "open-checked", "closed"),
			say: func(l *world.LoadBalancer) string {
				switch {
				case !l.FailOpen:
					return "closed"
				case l.InitialWaits:
					return "open-checked"
				default:
					return "open"
				}
			},
			read: func(c cursor, l *world.LoadBalancer) {
				if c.present() {
					l.FailOpen, l.InitialWaits = c.text("") != "closed", c.text("") == "open-checked"
				}
			},
		},
		lbWord("noTarget", "what a client sees of a load balancer without targets; elsewhere: a proxy has another Service answer", []string{"timeout", "refused", "503", "elsewhere"},
			func(l *world.LoadBalancer) *world.NoTarget { return &l.NoTarget }),
		lbWord("hash", "how a new connection's target is chosen", []string{"flow", "round-robin", "random"}, func(l *world.LoadBalancer) *world.FlowHash { return &l.Hash }),
		lbLayer4(lbWord("repeatedSYN", "where a SYN goes that had no answer: where new connections go by now, or where the first one went", []string{"afresh", "stays"},
			func(l *world.LoadBalancer) *world.RepeatedSYN { return &l.RepeatedSYN })),
		lbFlag("icmpFiltered", "a node's reject does not reach the client", func(l *world.LoadBalancer) *bool { return &l.ICMPFiltered }),
		{
			name: "idle", what: "how long a connection is kept that nothing is sent over", shape: orWord(never), layer4: true,
			say: func(l *world.LoadBalancer) string {
				if l.Idle == 0 {
					return never
				}
				return spanWords(l.Idle)
			},
			read: func(c cursor, l *world.LoadBalancer) {
				if c.text("") == never {
					l.Idle = 0
					return
				}
				if l.Idle = c.span(l.Idle); c.present() && l.Idle == 0 {
					c.fail("a load balancer that keeps no idle connection at all is none: want a duration, or never")
				}
			},
		},
		{
			name: "idleEnds", what: "then: closed to both sides, or forgotten, so that the side that writes next is answered with a reset",
			shape: word("closed", "forgotten"), layer4: true,
			say: func(l *world.LoadBalancer) string {
				return map[bool]string{true: "forgotten", false: "closed"}[l.IdleForgets]
			},
			read: func(c cursor, l *world.LoadBalancer) {
				if c.present() {
					l.IdleForgets = c.text("") == "forgotten"
				}
			},
		},
	}
}

// lbProxies are the fields of an L7 proxy; nobody asks for them of another load balancer.
func lbProxies() []lbField {
	out := []lbField{
		lbCount("retries", "how many other targets are tried for a request that fails", func(l *world.LoadBalancer) *int { return &l.Layer7.Retries }),
		lbWord("retryOn", "for which failures: connections that do not come about, or resets, too", []string{"connect", "reset"},
			func(l *world.LoadBalancer) *world.RetryOn { return &l.Layer7.RetryOn }),
		lbSpan("connectTimeout", "for a connection to a target; 0 is as long as the client waits", func(l *world.LoadBalancer) *engine.Time { return &l.Layer7.ConnectTimeout }),
		lbSpan("upstreamIdle", "how long an idle connection to a target is kept; 0 is for ever", func(l *world.LoadBalancer) *engine.Time { return &l.Layer7.UpstreamIdle }),
		lbFlag("ingress", "a controller inside of the cluster, which is to blame where it is late", func(l *world.LoadBalancer) *bool { return &l.Layer7.Ingress }),
		lbFlag("wholeLists", "it is told of all targets at once: no removal is in force before an addition that came earlier", func(l *world.LoadBalancer) *bool { return &l.Layer7.WholeLists }),
	}
	for i := range out {
		out[i].layer7 = true
	}
	return out
}

func lbGates() []lbField {
	return []lbField{
		{
			name: "readinessGate", what: "pod condition that the controller sets for healthy targets, with * at its end all that begin alike, or none", shape: of(text),
			say: func(l *world.LoadBalancer) string { return cmp.Or(l.ReadinessGate, noGate) },
			read: func(c cursor, l *world.LoadBalancer) {
				if l.ReadinessGate = c.text(cmp.Or(l.ReadinessGate, noGate)); l.ReadinessGate == noGate {
					l.ReadinessGate = ""
				}
			},
		},
		lbSpan("gateRecheck", "how often it looks again at pods that wait for it", func(l *world.LoadBalancer) *engine.Time { return &l.GateRecheck }),
		lbSpan("gateTimeout", "age of a pod at which it waits no longer, 0s for never", func(l *world.LoadBalancer) *engine.Time { return &l.GateTimeout }),
		lbWord("gateInjection", "which pods get the gate without asking: none, those of labelled namespaces, all",
			[]string{"never", "labelled", "always"}, func(l *world.LoadBalancer) *world.GateInjection { return &l.GateInjection }),
	}
}

// noGate is readinessGate of a controller that sets none.
const noGate = "none"

// never is a drain that does not end.
const never = "never"

// spanWords is a span, or never.
func spanWords(t engine.Time) string {
	if t == engine.Never {
		return never
	}
	return t.Duration().String()
}

// lbWord is a field with one word for each value of an enumeration, in its order.
func lbWord[T ~uint8](name, what string, words []string, in func(*world.LoadBalancer) *T) lbField {
	return lbField{
		name: name, what: what, shape: word(words...),
		say: func(l *world.LoadBalancer) string { return words[*in(l)] },
		read: func(c cursor, l *world.LoadBalancer) {
			for i, w := range words {
				if c.text("") == w {
					*in(l) = T(i) // an index of a handful of words
				}
			}
		},
	}
}

func lbSpan(name, what string, in func(*world.LoadBalancer) *engine.Time) lbField {
	return lbField{
		name: name, what: what, shape: of(duration),
		say:  func(l *world.LoadBalancer) string { return in(l).Duration().String() },
		read: func(c cursor, l *world.LoadBalancer) { *in(l) = c.span(*in(l)) },
	}
}

func lbDist(name, what string, in func(*world.LoadBalancer) *engine.Dist) lbField {
	return lbField{
		name: name, what: what, shape: of(dist),
		say: func(l *world.LoadBalancer) string { return in(l).String() },
		read: func(c cursor, l *world.LoadBalancer) {
			if isHistogram(c) {
				c.fail("no metric of kube-proxy measures a load balancer")
				return
			}
			*in(l) = c.dist(*in(l), "")
		},
	}
}

func lbCount(name, what string, in func(*world.LoadBalancer) *int) lbField {
	return lbField{
		name: name, what: what, shape: of(whole),
		say:  func(l *world.LoadBalancer) string { return strconv.Itoa(*in(l)) },
		read: func(c cursor, l *world.LoadBalancer) { *in(l) = c.whole(*in(l)) },
	}
}

func lbFlag(name, what string, in func(*world.LoadBalancer) *bool) lbField {
	return lbField{
		name: name, what: what, shape: of(boolean),
		say:  func(l *world.LoadBalancer) string { return strconv.FormatBool(*in(l)) },
		read: func(c cursor, l *world.LoadBalancer) { *in(l) = c.flag(*in(l)) },
	}
}

// lbLayer4 is a field of all but proxies.
func lbLayer4(f lbField) lbField {
	f.layer4 = true
	return f
}

func (w *printer) balancer(lb *world.LoadBalancer) {
	w.line("preset", lb.Preset)
	for _, f := range balancerFields(lb) {
		if lb.ReadinessGate == "" && strings.Contains(gateFields, f.name) {
			continue // most have none
		}
		w.raw(f.name, f.say(lb))
	}
}
