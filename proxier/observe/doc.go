// Package observe tells what a service proxy that programs nothing would do differently from one moment to the next:
// which endpoints its lists use, and the reason code of each; which frontends it would swallow or refuse; what health-check
// node ports would answer.
//
//	Plan before, Plan after, names of Services -> Diff -> Changes -> Log
//
// It decides nothing: the decisions are those of endpoints.Decide, the routes those of the Plans. It runs beside a
// kube-proxy that has the rules, so that an operator can read what lameduck would have made of the same cluster.
package observe
