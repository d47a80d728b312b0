package backendtest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// row is one sentence about packets. What it leaves out is the same for every dialect,
// family or node.
type row struct {
	name      string
	reference string
	dialects  []plan.Dialect       // nil is both
	families  []endpoints.IPFamily // nil is both
	protocols []packet.Protocol    // nil is TCP
	needs     []Need               // beside those that follow from protocols and steps
	node      func(*plan.Node, endpoints.IPFamily)
	options   func(*endpoints.Options)
	cluster   []service // in force at the start
	steps     []step
}

// Case is a row in one dialect, family and protocol.
type Case struct {
	row      *row
	Dialect  plan.Dialect
	Family   endpoints.IPFamily
	Protocol packet.Protocol
}

// Name returns the case's sentence and the circumstances: one path, as test names are.
func (c Case) Name() string {
	return fmt.Sprintf("%s/%s/%s/%s", c.row.name, c.Dialect, c.Family, c.Protocol)
}

// Reference says where the row's claim comes from.
func (c Case) Reference() string { return c.row.reference }

// Needs lists what the case asks of its Subject.
func (c Case) Needs() []Need {
	needs := slices.Clone(c.row.needs)
	if c.Protocol == packet.SCTP {
		needs = append(needs, NeedSCTP)
	}
	if slices.ContainsFunc(c.row.steps, step.takesTime) {
		needs = append(needs, NeedClock)
	}
	return needs
}

// Node returns the node the case runs on; Subjects are made for it.
func (c Case) Node() *plan.Node {
	n := defaultNode(c.Dialect)
	if c.row.node != nil {
		c.row.node(n, c.Family)
	}
	if c.row.options != nil {
		c.row.options(&n.Options)
	}
	return n
}

// Cases lists every row in every circumstance it applies to.
func Cases() []Case {
	var all []Case
	for _, table := range [][]row{clusterIPRows, externalRows, selectionRows, firewallRows, nodePortRows, nodeRows, flowRows, affinityRows} {
		for i := range table {
			all = append(all, table[i].cases()...)
		}
	}
	return all
}

func (r *row) cases() []Case {
	dialects := orAll(r.dialects, plan.NFTables, plan.IPTables)
	families := orAll(r.families, endpoints.IPv4, endpoints.IPv6)
	protocols := orAll(r.protocols, packet.TCP)
	var out []Case
	for _, d := range dialects {
		for _, f := range families {
			for _, p := range protocols {
				out = append(out, Case{r, d, f, p})
			}
		}
	}
	return out
}

func orAll[T any](some []T, all ...T) []T {
	if some == nil {
		return all
	}
	return some
}

// Run runs every case of the backend's dialects as a subtest.
func Run(t *testing.T, b Backend) {
	t.Helper()
	for _, c := range Cases() {
		if b.Dialects != nil && !slices.Contains(b.Dialects, c.Dialect) || b.Families != nil && !slices.Contains(b.Families, c.Family) {
			continue
		}
		t.Run(c.Name(), func(t *testing.T) {
			if !b.Serial {
				t.Parallel()
			}
			for _, need := range c.Needs() {
				if why, lacks := b.Lacks[need]; lacks {
					t.Skipf("needs %s: %s", need, why)
				}
			}
			if err := c.Check(b.New(t, c.Node())); err != nil {
				t.Errorf("%v\nreference: %s", err, c.Reference())
			}
		})
	}
}
