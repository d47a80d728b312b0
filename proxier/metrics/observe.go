package metrics

import (
	"slices"
	"strconv"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// Observe takes note of a sync that is over. It costs no more than the Services that changed, after a full sync all.
func (m *Metrics) Observe(s proxier.Sync) {
	m.observeDuration(&s)
	m.observeRules(&s)
	if s.Err != nil {
		m.observeFailure(&s)
		return
	}
	for _, f := range m.families {
		m.last.WithLabelValues(f.String()).Set(seconds(s.End))
	}
	for _, t := range s.Triggers {
		if slices.Contains(m.families, t.Family) {
			m.programming.WithLabelValues(t.Family.String()).Observe(s.End.Sub(t.At).Seconds())
		}
	}
	m.drops.follow(&s)
	for _, f := range m.families {
		m.noLocal.WithLabelValues("internal", f.String()).Set(float64(m.drops.counts[f].internal))
		m.noLocal.WithLabelValues("external", f.String()).Set(float64(m.drops.counts[f].external))
	}
}

// observeDuration counts a sync that failed as well, as kube-proxy does.
func (m *Metrics) observeDuration(s *proxier.Sync) {
	took := s.End.Sub(s.Start).Seconds()
	if s.Check() {
		m.check.Observe(took)
		return
	}
	kind := m.partial
	if s.Full {
		kind = m.full
	}
	for _, f := range m.families {
		m.sync.WithLabelValues(f.String()).Observe(took)
		kind.WithLabelValues(f.String()).Observe(took)
	}
}

func (m *Metrics) observeFailure(s *proxier.Sync) {
	for _, f := range m.failedFamilies(s.Err) {
		m.failures.WithLabelValues(f.String()).Inc()
		if m.partialFailures != nil && m.rules == nil && !s.Full {
			m.partialFailures.WithLabelValues(f.String()).Inc()
		}
	}
}

// observeRules asks who counts rules. A look writes none, and is no sync.
func (m *Metrics) observeRules(s *proxier.Sync) {
	if m.rules == nil {
		return
	}
	for _, f := range m.families {
		n := m.rules.PartialFailures(f)
		m.partialFailures.WithLabelValues(f.String()).Add(float64(n - m.partialSeen[f]))
		m.partialSeen[f] = n
		if s.Err != nil || s.Check() {
			continue
		}
		for _, table := range []string{"filter", "nat"} {
			total, written := m.rules.Rules(f, table)
			m.rulesTotal.WithLabelValues(table, f.String()).Set(float64(total))
			m.rulesLast.WithLabelValues(table, f.String()).Set(float64(written))
		}
	}
}

// ofFamily is an error that concerns one family only.
type ofFamily interface {
	error
	Family() endpoints.IPFamily
}

// failedFamilies returns those that an error speaks of: all, if it names none.
func (m *Metrics) failedFamilies(err error) []endpoints.IPFamily {
	var named [2]bool
	visit(err, func(e ofFamily) { named[e.Family()] = true })
	var out []endpoints.IPFamily
	for _, f := range m.families {
		if named[f] || named == [2]bool{} {
			out = append(out, f)
		}
	}
	return out
}

// visit finds all errors of one family that an error is made of, where errors.As would find one.
func visit(err error, found func(ofFamily)) {
	if e, ok := err.(ofFamily); ok { //nolint:errorlint // this is the walk that errorlint asks for
		found(e)
		return
	}
	switch e := err.(type) { //nolint:errorlint // see above
	case interface{ Unwrap() error }:
		visit(e.Unwrap(), found)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			visit(one, found)
		}
	}
}

// ObserveCleaning takes note of one look through the flows.
func (m *Metrics) ObserveCleaning(c proxier.Cleaning) {
	for _, f := range m.families {
		m.flowsDuration.WithLabelValues(f.String()).Observe(c.End.Sub(c.Start).Seconds())
		m.flowsDeleted.WithLabelValues(f.String()).Add(float64(c.Forgotten[f]))
	}
}

// Interference is something that others do to the rules.
type Interference string

// What others do.
const (
	Repair  Interference = "repair"  // rules were written again since another program had changed them
	Rival   Interference = "rival"   // another service proxy was noticed
	Removal Interference = "removal" // a table of another program stood in the place of ours and was removed
)

// Interfered takes note of what others did, n times. It may be called from any goroutine.
func (m *Metrics) Interfered(what Interference, n int) {
	m.meddling.WithLabelValues(string(what)).Add(float64(n))
}

// Healthz takes note of an answer to /healthz, by its status.
func (m *Metrics) Healthz(status int) { m.healthz.WithLabelValues(strconv.Itoa(status)).Inc() }

// Livez takes note of an answer to /livez, by its status.
func (m *Metrics) Livez(status int) { m.livez.WithLabelValues(strconv.Itoa(status)).Inc() }

// tally counts, by family, the service ports in force whose Local policy drops traffic on this node.
type tally struct {
	inForce *plan.Plan
	counts  [2]dropping
}

type dropping struct{ internal, external int }

// follow goes on to the Plan that a sync has put in force. All other Services are as they were: what a failed sync
// has left out, the next one writes in full.
func (t *tally) follow(s *proxier.Sync) {
	if s.Full || t.inForce == nil {
		t.counts = [2]dropping{}
		for svc := range s.Plan.Services() {
			t.add(svc, 1)
		}
	} else {
		for _, name := range s.Services {
			t.add(t.inForce.Service(name), -1)
			t.add(s.Plan.Service(name), 1)
		}
	}
	t.inForce = s.Plan
}

// add counts the ports of a Service, which may be nil.
func (t *tally) add(svc *plan.Service, n int) {
	if svc == nil {
		return
	}
	for i := range svc.Ports {
		p := &svc.Ports[i]
		if p.NoLocalInternal {
			t.counts[p.Family].internal += n
		}
		if p.NoLocalExternal {
			t.counts[p.Family].external += n
		}
	}
}
