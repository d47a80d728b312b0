package agent

import (
	"sync/atomic"

	"github.com/go-logr/logr"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
	"github.com/lameduck-proxy/lameduck/proxier/shadow"
)

// SimOptions are those of a proxy that decides and programs nothing, beside a kube-proxy that does.
type SimOptions struct {
	// Address is where it is asked about its decisions.
	Address string
}

// nowhere is a Backend without a dataplane: what is decided comes in force at once, for nobody.
type nowhere struct{}

// Apply does nothing.
func (nowhere) Apply(*plan.Plan, plan.Delta) error { return nil }

// Resync does nothing.
func (nowhere) Resync(*plan.Plan) error { return nil }

// Close does nothing.
func (nowhere) Close() error { return nil }

// linesPerSync is how many decisions one sync logs; the rest of a larger change, such as another zone of the node, is
// counted, and written with -v=4. An operator reads a screenful or two of a change and searches files for more.
const linesPerSync = 100

// detailLevel is the level at which all decisions are logged, those of the first sync and of large changes included.
const detailLevel = 4

// simulated remembers what was decided last and logs what is decided differently.
type simulated struct {
	log  logr.Logger
	plan atomic.Pointer[plan.Plan] // nil before the first sync
}

// observe takes a sync that is over.
func (d *simulated) observe(s proxier.Sync) {
	if s.Err != nil || s.Check() {
		return
	}
	before := d.plan.Swap(s.Plan)
	names := s.Services
	if s.Full || before == nil {
		names = shadow.Names(before, s.Plan)
	}
	if before == nil {
		d.summary(s.Plan)
		if !d.log.V(detailLevel).Enabled() {
			return // nobody would read 50,000 first decisions
		}
		d.write(shadow.Diff(nil, s.Plan, names), 0)
		return
	}
	d.write(shadow.Diff(before, s.Plan, names), linesPerSync)
}

// summary logs what is decided at the start.
func (d *simulated) summary(p *plan.Plan) {
	s := shadow.Summarize(p)
	d.log.Info("Decided for the first time, nothing is programmed", "node", p.Node().Name, "dialect", p.Node().Dialect.String(),
		"terminatingFallback", p.Node().Options.TerminatingFallback.String(), "services", s.Services, "servicePorts", s.Ports,
		"endpoints", s.Endpoints, "portsInFallback", s.Fallbacks, "droppingFrontends", s.Dropping, "rejectingFrontends", s.Rejecting,
		"healthCheckNodePorts", s.HealthCheckNodePorts)
}

// write logs decisions: the first ones for everybody, the others for those who ask for details.
func (d *simulated) write(changes []shadow.Change, everybody int) {
	w := lines{log: d.log, everybody: everybody}
	for i := range changes {
		w.change(&changes[i])
	}
	if everybody > 0 && w.written > everybody {
		d.log.Info("More was decided differently than is logged", "decisions", w.written, "logged", everybody, "services", len(changes), "allWith", "-v=4")
	}
}

// lines writes decisions, one a line.
type lines struct {
	log                logr.Logger
	everybody, written int
}

func (w *lines) info(msg string, keysAndValues ...any) {
	level := detailLevel
	if w.written < w.everybody {
		level = 0
	}
	w.written++
	w.log.V(level).WithCallDepth(1).Info(msg, keysAndValues...)
}

func (w *lines) change(c *shadow.Change) {
	for i := range c.Endpoints {
		e := &c.Endpoints[i]
		w.info("Endpoint decided", "servicePort", e.Port.String(), "ipFamily", e.Family.String(), "endpoint", e.Addr.String(),
			"list", e.List.String(), "used", e.Is.Used(), "fallback", e.Is == endpoints.ReasonFallback, "reason", shadow.Code(e.Is),
			"was", shadow.Code(e.Was), "sentence", e.Sentence(), "endpointSlice", e.Slice)
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
