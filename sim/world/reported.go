package world

import (
	"fmt"
	"slices"

	"github.com/lameduck-proxy/lameduck/sim/engine"
)

// Report is the range that was reported of a field.
type Report struct {
	Field       string // registration, propagation or healthPropagation
	Least, Most engine.Time
	// Unmeasured says that nobody has reported anything: what is taken is a conclusion, and these are other values that it might be.
	Unmeasured bool
}

// Unmeasured is what is said of a value that nobody has measured.
const Unmeasured = "nobody has measured it"

// String is "reported 110-300 s", or that there are no reports.
func (r Report) String() string {
	if r.Unmeasured {
		return Unmeasured
	}
	return fmt.Sprintf("reported %s-%s s", r.Least.Seconds(), r.Most.Seconds())
}

// ReportOf is what was reported of a field, ok false where it is known or given.
func (l *LoadBalancer) ReportOf(field string) (r Report, ok bool) {
	if l == nil {
		return Report{}, false
	}
	i := slices.IndexFunc(l.Reported, func(r Report) bool { return r.Field == field })
	if i < 0 {
		return Report{}, false
	}
	return l.Reported[i], true
}

// Timing is the field of a report.
func (l *LoadBalancer) Timing(field string) *engine.Dist {
	switch field {
	case "registration":
		return &l.Registration
	case "propagation":
		return &l.Propagation
	default:
		return &l.HealthPropagation
	}
}
