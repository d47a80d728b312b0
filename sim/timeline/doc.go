// Package timeline makes lanes of one run: what each pod, node, load balancer target and client did when, which requests
// were lost, and the events that a loss came from. It is what pictures of a run are drawn of.
//
// What the API says and what a node does are apart: a PodLane has both what its object and the EndpointSlices say and what its
// process does, a NodeLane what the rules in force use. A Band is what is between: from the moment at which a pod accepts no
// connections to that at which the last node's rules let go of it. Requests are lost there.
//
// Everything is bounded, whatever the world: see the constants. What is left out is counted in LeftOut.
//
// The one data path: events, requests -> Recorder -> Build -> Timeline.
package timeline
