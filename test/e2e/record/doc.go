// Package record plays scenarios on a real control plane and writes down what it did, for package test/controlplane to hold
// the simulator to.
//
//	Play: objects, pod times, actions -> control plane, hollow kubelets -> watches -> Recording
//
// There are no machines behind the nodes, and nothing runs in the pods: hollow kubelets write each status at the moment that
// the play says, so that what is left to differ is what controllers decide.
package record
