// Package world holds the nouns of a simulation: what a cluster, its workloads, its clients and
// load balancers are, and what is done to them. A Scenario is all of them together, with every
// default filled in. What makes one (sim/scenario, from documents) and what plays it
// (sim/cluster, sim/traffic, sim/balancer) meet here; the package reads no document and runs
// nothing.
package world
