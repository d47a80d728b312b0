package backendtest

// difference is one thing in which kube-proxy's two modes treat packets differently.
type difference string

// The differences. A test holds that each has a row.
const (
	undefinedPort          difference = "a ClusterIP's undefined port"
	unallocatedClusterIP   difference = "an unallocated ClusterIP"
	clusterIPPing          difference = "ICMP to a ClusterIP"
	localClusterIP         difference = "a ClusterIP that the node has itself"
	remoteHairpin          difference = "a remote endpoint that comes back to itself"
	nodeToNothing          difference = "the node itself calls an external address without endpoints"
	rangesWithoutEndpoints difference = "source ranges of a Service without endpoints"
	healthCheckPort        difference = "health-check node ports"
	unacceptedNodePort     difference = "node ports without endpoints on an address that takes none"
	localhostNodePort      difference = "node ports on localhost"
	localnet               difference = "127.0.0.0/8 from elsewhere"
	fallThrough            difference = "an external IP without local endpoints and a node port of the same number"
)

func differences() []difference {
	return []difference{
		undefinedPort, unallocatedClusterIP, clusterIPPing, localClusterIP, remoteHairpin, nodeToNothing,
		rangesWithoutEndpoints, healthCheckPort, unacceptedNodePort, localhostNodePort, localnet, fallThrough,
	}
}
