// Package controlplane holds the simulator to what real control planes did.
//
//	recording: objects, pod times, actions, events -> Scenario -> sim -> events, as the recording has them
//	recorded events, simulated events -> differences
//
// A Recording is a file that anybody with a cluster can make (docs/recordings.md). Those in testdata were made on the
// control plane of test/e2e; go test compares them without any cluster. Package test/e2e/record makes new ones.
package controlplane
