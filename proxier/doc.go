// Package proxier is the loop of a node's service proxy: it takes what changes in the cluster and
// has a Backend put the rules in force, again and again.
//
//	Set..., Delete..., Synced -> inbox -> endpoints.Cache -> Snapshot -> plan.Update -> Backend.Apply
//	                                           rules in force -> Status, Observer, Conntrack
//
// One goroutine, Run's, owns everything that changes, and never waits for the Backend: that works
// in a goroutine of its own, one sync at a time, while the owner goes on taking deliveries. When a
// sync starts is package pace's to say; what it programs, package plan's.
//
// A source that delivers is never held up: the inbox keeps the last word on each object and no more,
// so it is no longer than the cluster is large, whatever the Backend does. Nothing is programmed
// until all that existed at the start has been delivered (Synced) and the node is known. A failed
// sync leaves the rules of before, and the next one writes all of them. Probes hear of a change
// when the rules have followed it and not before. When Run returns, the rules stay.
package proxier
