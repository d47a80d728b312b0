package observe

import (
	"github.com/go-logr/logr"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// linesPerSync is how many decisions one sync logs; the rest of a larger change, such as another zone of the node, is
// counted, and written with -v=4. An operator reads a screenful or two of a change and searches files for more.
const linesPerSync = 100

// detailLevel is the level at which all decisions are logged, those of the first sync and of large changes included.
const detailLevel = 4

// Log writes what is decided, one decision a line.
type Log struct{ logr.Logger }

// Tell logs what is decided differently for the Services of some names; with before nil, what is decided at the start.
func (l Log) Tell(before, after *plan.Plan, names []endpoints.ServiceName) {
	if before != nil {
		l.write(Diff(before, after, names), linesPerSync)
		return
	}
	l.first(after)
	if l.V(detailLevel).Enabled() { // nobody would read 50,000 first decisions
		l.write(Diff(nil, after, names), 0)
	}
}

// first logs what is decided at the start.
func (l Log) first(p *plan.Plan) {
	s := Summarize(p)
	l.Info("Decided for the first time, nothing is programmed", "node", p.Node().Name, "dialect", p.Node().Dialect.String(),
		"terminatingFallback", p.Node().Options.TerminatingFallback.String(), "services", s.Services, "servicePorts", s.Ports,
		"endpoints", s.Endpoints, "portsInFallback", s.Fallbacks, "droppingFrontends", s.Dropping, "rejectingFrontends", s.Rejecting,
		"healthCheckNodePorts", s.HealthCheckNodePorts)
}

// write logs decisions: the first ones for everybody, the others for those who ask for details.
func (l Log) write(changes []Change, everybody int) {
	w := logLines{log: l.Logger, everybody: everybody}
	for i := range changes {
		w.change(&changes[i])
	}
	if everybody > 0 && w.written > everybody {
		l.Info("More was decided differently than is logged", "decisions", w.written, "logged", everybody, "services", len(changes), "allWith", "-v=4")
	}
}

// logLines writes decisions, one a line.
type logLines struct {
	log                logr.Logger
	everybody, written int
}

func (w *logLines) info(msg string, keysAndValues ...any) {
	level := detailLevel
	if w.written < w.everybody {
		level = 0
	}
	w.written++
	w.log.V(level).WithCallDepth(1).Info(msg, keysAndValues...)
}

func (w *logLines) change(c *Change) {
	for i := range c.Endpoints {
		e := &c.Endpoints[i]
		w.info("Endpoint decided", "servicePort", e.Port.String(), "ipFamily", e.Family.String(), "endpoint", e.Addr.String(),
			"list", e.List.String(), "used", e.Is.Used(), "fallback", e.Is == endpoints.ReasonFallback, "reason", Code(e.Is),
			"was", Code(e.Was), "sentence", e.Sentence(), "endpointSlice", e.Slice)
	}
	for _, r := range c.Routes {
		was, action, why := r.Was.String(), r.Is.String(), r.Why.String()
		if r.Fresh {
			was = "none"
		}
		if r.Gone {
			action, why = "none", "gone"
		}
		w.info("Frontend decided", "frontend", r.Key.String(), "kind", r.Kind.String(), "servicePort", r.Port.String(),
			"from", r.Source.String(), "action", action, "was", was, "reason", why)
	}
	for _, h := range c.Health {
		w.info("Health-check node port decided", "service", c.Service.String(), "ipFamily", h.Family.String(), "port", h.Is.Port,
			"localEndpoints", h.Is.LocalEndpoints, "passes", h.Is.LocalEndpoints > 0,
			"wasPort", h.Was.Port, "wasLocalEndpoints", h.Was.LocalEndpoints)
	}
}
