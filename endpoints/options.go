package endpoints

// FallbackScope says how far KEP-1669's fallback to serving terminating endpoints reaches.
type FallbackScope uint8

// The scopes that Kubernetes has had.
const (
	FallbackNone          FallbackScope = iota // no fallback: up to 1.25, with the gate off
	FallbackExternalLocal                      // the alpha of 1.22 and 1.23, with the gate on: Local list of external traffic
	FallbackAll                                // both lists, every policy: 1.24 and 1.25 with the gate on, 1.26 and later
)

// String returns "off", "external Local only" or "on".
func (f FallbackScope) String() string {
	switch f {
	case FallbackExternalLocal:
		return "external Local only"
	case FallbackAll:
		return "on"
	default:
		return "off"
	}
}

// DuplicateRule says which of several entries with the same address counts.
type DuplicateRule uint8

// The rules that kube-proxy has had.
const (
	DuplicatesPreferLocal          DuplicateRule = iota // first one, unless a later one is local: before 1.36
	DuplicatesPreferNonTerminating                      // a non-terminating one over what came before: 1.36
)

// Options carries everything that changed between Kubernetes versions: in selection, in health
// answers, in when the rules are synced. ProfileFor fills it for a version; the zero value is the
// oldest behaviour of each.
type Options struct {
	TerminatingFallback FallbackScope
	Duplicates          DuplicateRule

	TerminatingInSlices   bool // EndpointSlices list terminating pods; else only those of Services with publishNotReadyAddresses
	ZoneHints             bool // hints.forZones are followed
	NodeHints             bool // hints.forNodes are followed
	InternalTrafficPolicy bool // spec.internalTrafficPolicy is read; else it is Cluster
	LoadBalancerIPMode    bool // status ipMode Proxy keeps a load-balancer IP out of the rules

	NodeEligibility   bool // /healthz fails on a node that is being deleted (KEP-3836)
	ServiceHealthInfo bool // the service health answer follows, and shows, the proxy's own health
	EndpointWeight    bool // the service health answer has the X-Load-Balancing-Endpoint-Weight header

	HoldAfterSync bool // minSyncPeriod passes after every sync; else two may follow each other at once
}
