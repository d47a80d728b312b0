package memory_test

import (
	"fmt"
	"net/netip"
	"os"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/proxier/memory"
	"github.com/lameduck-proxy/lameduck/proxier/packet"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// Which endpoints node-1 uses for outside traffic to shop/web of examples/web.yaml, and where a packet from outside goes there: to
// the pod that was told to stop and still serves.
func Example() {
	data, err := os.ReadFile("../../examples/web.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	objects, problems := manifest.Load([]manifest.File{{Name: "web.yaml", Data: data}}, manifest.Options{})
	cache := endpoints.NewCache(endpoints.CurrentOptions())
	for _, s := range objects.Services {
		cache.SetService(s.Value)
	}
	for _, s := range objects.EndpointSlices {
		cache.SetSlice(s.Value)
	}
	snap, name := cache.Snapshot(), endpoints.ServiceName{Namespace: "shop", Name: "web"}
	port := &snap.Service(name).Ports[0]
	selection, reasons := endpoints.Decide(port, endpoints.NodeInfo{Name: "node-1"}, endpoints.CurrentOptions(), nil)
	node := &plan.Node{Name: "node-1", Options: endpoints.CurrentOptions()}
	trace := memory.New(plan.Build(snap, node)).Trace(packet.Packet{
		Src: netip.MustParseAddrPort("192.0.2.7:40000"), Dst: netip.MustParseAddrPort("203.0.113.10:80"), Protocol: packet.TCP,
	})
	fmt.Println(len(problems), "problems;", len(selection.Local.Index), "local endpoint of", len(reasons))
	fmt.Println(trace.Verdict, trace.Targets[0].Addr)
	// Output:
	// 0 problems; 1 local endpoint of 4
	// endpoints 10.244.1.7:8080
}
