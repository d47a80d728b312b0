// Package host tells which addresses the interfaces of this machine have: those that are the node's own, on which node
// ports answer and from which the node itself calls.
package host
