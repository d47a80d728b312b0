package world

import "github.com/lameduck-proxy/lameduck/endpoints"

// FromOutside says whether the requests come from outside of the cluster, on whatever way.
func (t *Traffic) FromOutside() bool { return t.External || t.Bypass != "" || t.Ingress != nil }

// Counted says whether it matters how many clients there are, beside those of a pool.
func (t *Traffic) Counted() bool { return t.Shared() || t.FixedPorts || t.Named }

// Connects says that clients open a connection to a pod for each request: one through a proxy is the proxy's.
func (t *Traffic) Connects() bool {
	proxied := t.Ingress != nil || t.LB != nil && t.LB.Layer7 != nil
	return t.Connection == ConnectionOwn && !t.KeepAlive && t.Protocol == endpoints.TCP && !proxied
}
