// Package api is the simulated API server with its storage: objects in immutable versions, writes that
// take their time, watches that bring each version to each component in order, rate limits of clients,
// an outage, and components that are paused. It knows what a Pod, a ReplicaSet, a Deployment and a Node
// are, and nothing of who reads and writes them.
package api
