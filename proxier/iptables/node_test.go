package iptables

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// An interface that tells local traffic has a name as the kernel takes it: 1 to 15 characters, none of which means
// something to iptables-restore. Other detectors have no interface, whatever stands there.
func TestNamesOfInterfaces(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode plan.DetectLocalMode
		name string
		ok   bool
	}{
		{plan.DetectBridgeInterface, "cni0", true},
		{plan.DetectInterfaceNamePrefix, "veth", true},
		{plan.DetectBridgeInterface, strings.Repeat("a", 15), true},
		{plan.DetectBridgeInterface, strings.Repeat("a", 16), false},
		{plan.DetectBridgeInterface, "", false},
		{plan.DetectInterfaceNamePrefix, "", false},
		{plan.DetectBridgeInterface, "a b", false},
		{plan.DetectBridgeInterface, "a\n", false},
		{plan.DetectBridgeInterface, "a+", false},
		{plan.DetectBridgeInterface, "a/b", false},
		{plan.DetectBridgeInterface, `a"`, false},
		{plan.DetectBridgeInterface, "!a", false},
		{plan.DetectBridgeInterface, "-a", false},
		{plan.DetectBridgeInterface, "a-", true},
		{plan.DetectClusterCIDR, "a b", true},
	} {
		node := &plan.Node{Dialect: plan.IPTables, Detector: plan.LocalDetector{Mode: c.mode, Interface: c.name}}
		if err := checkNode(node); (err == nil) != c.ok {
			t.Errorf("%s %q: %v", c.mode, c.name, err)
		}
		if node.Dialect = plan.NFTables; checkNode(node) == nil {
			t.Error("a node of another dialect is taken")
		}
	}
}
