// Package events has a cluster's users hear, as Kubernetes Events, of what a node's service proxy cannot do for their
// objects.
//
//	Recorder.Record -> queue -> events.k8s.io/v1 -> Writer
//
// A caller that records is never held up: what the queue has no room for is dropped and counted, what happens again is counted in the
// Event's series instead of written as another, and what is written is limited to what one proxy of a thousand may ask of an
// API server. That no Events can be written, since nobody allowed it, is logged once and changes nothing else.
package events
