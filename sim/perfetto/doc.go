// Package perfetto writes timelines as a trace that ui.perfetto.dev and chrome://tracing open: the Trace Event Format, as JSON.
//
// A run is a group of processes: its events, its pods, nodes, load balancer targets, clients and lost requests; each lane is a
// thread of one. Requests that were lost at the same time have lanes of their own, and an arrow leads from what a loss comes
// from to the request. Times are microseconds from the run's start; a mark says which moment people count from.
//
// The one data path: timeline.Timeline -> Trace -> JSON.
package perfetto
