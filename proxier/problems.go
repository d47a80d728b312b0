package proxier

import (
	"slices"

	"github.com/go-logr/logr"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// problems says each Problem of an object once, however often the object is delivered with it.
type problems struct {
	log    logr.Logger
	report func(endpoints.Problem)
	known  map[object][]endpoints.Problem
}

type object struct{ kind, namespace, name string }

func newProblems(o Options) problems {
	return problems{log: o.Log, report: o.Problems, known: map[object][]endpoints.Problem{}}
}

// heard takes note of all that is wrong with an object now.
func (p *problems) heard(kind, namespace, name string, list []endpoints.Problem) {
	key := object{kind, namespace, name}
	before := p.known[key]
	if len(list) == 0 {
		if len(before) > 0 {
			delete(p.known, key)
		}
		return
	}
	p.known[key] = list
	for _, one := range list {
		if slices.Contains(before, one) {
			continue
		}
		p.log.Info("part of an object is left out", "problem", one.Error())
		if p.report != nil {
			p.report(one)
		}
	}
}
