// Package lab is a small network of real network namespaces, with one node in its middle, and
// finds out what the kernel of that node does with packets.
//
// A Layout says which sites there are: pods behind the node's bridge, other machines behind its
// uplink, and one that has every address nobody else has. Each site is a namespace with a veth
// pair to the node and the node as its only way out, so that every packet between two sites, and
// every answer, passes the node as a packet to be routed.
//
//	Layout -> New -> Lab -> Open: socket in a site -> node's rules -> socket in another -> answer -> Result
//
// Nothing here waits for time to pass. A lab is one thread on one processor, which is client and
// server of every flow, and the kernel takes packets between namespaces in the order in which
// they were sent on that processor. So after a packet the lab sends an echo request of its own
// the same way: when the reply is back, the packet before it has become whatever it becomes
// (see beacon_linux.go).
//
// Namespaces have no names. They last as long as a Lab's file descriptors, so nothing is left
// behind by a test that is killed.
package lab
