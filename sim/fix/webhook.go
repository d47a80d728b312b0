package fix

import (
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// unasked lets the pods of a webhook be made while nobody answers it: whatever ends the last of them, none would ever be made again. nil where
// it is not asked of its own Pods.
func (t *target) unasked() *Change {
	remedies := scenario.WithOwnPodsUnasked(t.sc, t.w.Name())
	if len(remedies) == 0 {
		return nil
	}
	c := &Change{
		ID: "namespaceSelector", Title: remedies[0].Title, Around: Around{Unasked: true},
		Cost: "the webhook no longer checks the Pods of " + t.w.Namespace(),
	}
	for i := range remedies {
		c.Edits = append(c.Edits, remedies[i].Edit)
	}
	return c
}
