package iptables

import (
	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// testNode is the node of most tests.
func testNode() *plan.Node { return backendtest.WorldNode(plan.IPTables) }
