// Package explain says in words, tables and data which endpoints a node uses for each
// service port and why, what therefore becomes of traffic from outside, from pods and from
// the node itself, and what would change it.
//
// It decides nothing: the Decisions are those of endpoints.Decide, the routes those of
// plan.ForPort, the health answer that of package healthcheck. It performs no I/O but
// writing to the io.Writer it is given.
//
//	Snapshot + Node -> Build -> Explanation -> JSON | WriteText
package explain
