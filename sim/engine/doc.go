// Package engine is the simulator's clock, order and chance: a virtual time in nanoseconds,
// one queue of events in total order, draws that depend on who asks for what and on nothing
// else, and a hash over everything that happened.
//
//	Engine.At -> queue -> Run -> Event functions -> TraceHash
//
// It knows nothing of Kubernetes. It uses no floating point, no goroutines and no wall clock,
// so that the same seed gives the same bytes on every platform.
package engine
