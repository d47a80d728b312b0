package control

import (
	"github.com/lameduck-proxy/lameduck/sim/api"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// BudgetOf is a budget with the spec that a version of it has.
func (d *Desk) BudgetOf(b *api.Budget) *world.Budget {
	if b.Spec == 0 {
		return &d.Budgets[b.Number]
	}
	return &d.Revised[b.Number][b.Spec-1]
}

// SetBudget is kubectl patch of a budget's spec. A spec that is as it was is no change: the generation stays (Kubernetes 1.36.3
// pkg/registry/policy/poddisruptionbudget/strategy.go PrepareForUpdate; verified).
func (d *Desk) SetBudget(owner engine.Owner, n int, o *world.SetBudget) {
	d.API.Write(owner, "edit budget", api.BudgetKey(n), func(obj api.Object) api.Object {
		b, ok := obj.(*api.Budget)
		if !ok {
			return nil
		}
		to, changed := o.On(d.BudgetOf(b))
		if !changed {
			return nil
		}
		if d.Revised == nil {
			d.Revised = map[int][]world.Budget{}
		}
		d.Revised[n] = append(d.Revised[n], to)
		next := *b
		next.Spec = len(d.Revised[n])
		return &next
	}, nil)
}
