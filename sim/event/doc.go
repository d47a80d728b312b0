// Package event is the log of a run: what happened, when and to whom, as values.
// Who wants to know subscribes to kinds of events. A kind that nobody subscribes to costs
// one look at a list.
//
//	cluster, balancers, clients -> Log -> stories, rules of a swarm, tests
//
// Hearing of an event changes nothing. What has an effect is no event: see cluster.Observer.
package event
