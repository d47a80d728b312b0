// Package story tells how one failed request came about: what happened to the pod it met and
// to the rules that led it there, in order, each with the line of the manifests that asks for
// it. It also names the line behind a cause as a whole (Culprit).
//
// It never runs anything and judges nothing: causes are the ledger's. A story is told after
// the run from the events that a Recorder kept.
//
// The one data path: cluster events -> Recorder -> Tell(request) -> Line, which words itself where it is read.
package story
