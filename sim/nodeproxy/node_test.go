package nodeproxy

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
	"github.com/lameduck-proxy/lameduck/sim/api"
)

// A Node that a scale-down has tainted stays out of load balancers when its object is deleted, too: the proxy goes on with what it saw last.
// Reference: docs/model/kube-proxy.md 5.2.
func TestADeletedNodeIsWhatItWasLast(t *testing.T) {
	t.Parallel()
	p := &Proxy{planNode: &plan.Node{Options: endpoints.Options{NodeEligibility: true}}}
	for _, c := range []struct {
		name     string
		node     api.Node
		eligible bool
	}{
		{"it is there", api.Node{}, true},
		{"and deleted", api.Node{Gone: true}, true},
		{"tainted", api.Node{Tainted: true}, false},
		{"and deleted", api.Node{Gone: true}, false},
		{"made anew", api.Node{}, true},
	} {
		if p.Sees(&c.node); p.Eligible() != c.eligible {
			t.Errorf("%s: eligible %v", c.name, p.Eligible())
		}
	}
}
