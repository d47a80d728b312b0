// Package fault keeps a dataplane in trouble while packets flow: its endpoints change a thousand
// times a second, its process is killed in the midst of a sync, others meddle with its rules. It
// holds tests only.
//
//	seed -> cluster -> plan.Update -> dataplane.Apply (worker thread, or a child that is killed)
//	client, each millisecond -> lab.Open -> answered, or the test fails
//
// A lab (package lab) knows without waiting when a packet has been lost, so a first packet that
// only a retransmission would have saved is a failure here; that the kernel repeated none is
// asked of its counters as well. What becomes of rules is held against those that the same
// dataplane writes in a namespace where nothing ever went wrong.
//
// The tests are about any dataplane with Apply, Resync and Close: see planes. A plain run of all
// tests does little of each; with LAMEDUCK_KERNEL=1, as `make kernel` sets it, they are as long as
// their numbers say, and where they cannot run that is a failure.
package fault
