package explain

import (
	"io"
	"net/netip"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// TruthTable is KEP-1669 in two tables, both computed by the selection core: what becomes
// of one endpoint by its conditions, and what a policy does by what is in its scope.
type TruthTable struct {
	APIVersion          string         `json:"apiVersion"`
	Kind                string         `json:"kind"` // "TruthTable"
	KubernetesVersion   string         `json:"kubernetesVersion"`
	TerminatingFallback string         `json:"terminatingFallback"`
	WhatIf              []string       `json:"whatIf"`
	Endpoint            []EndpointCase `json:"endpoint"`
	Scope               []ScopeCase    `json:"scope"`
}

// EndpointCase is one endpoint's fate by its conditions.
type EndpointCase struct {
	Conditions
	// Normal says whether the endpoint is used beside a ready one; Fallback whether it is
	// used when nothing ready is in scope. A ready endpoint leaves no room for a fallback.
	Normal   bool   `json:"normal"`
	Fallback bool   `json:"fallback"`
	Reason   string `json:"reason"` // why it is (not) used when it is alone
}

// ScopeCase is what both policies do with new connections, by what endpoints there are. The
// scope is the cluster for policy Cluster and the node for policy Local.
type ScopeCase struct {
	ReadyInScope    bool `json:"readyInScope"`
	DrainingInScope bool `json:"drainingInScope"` // serving and terminating
	// Elsewhere is what other nodes have: "none", "draining" or "ready". It exists for
	// policy Local only.
	Elsewhere string `json:"elsewhere"`
	// Cluster and Local are "ready", "draining" (the endpoints used), "reject", "drop", or ""
	// where the case cannot occur.
	Cluster string `json:"cluster"`
	Local   string `json:"local"`
}

// BuildTruthTable computes both tables under the profile's options.
func BuildTruthTable(profile endpoints.Profile) *TruthTable {
	t := &TruthTable{
		APIVersion: APIVersion, Kind: "TruthTable",
		KubernetesVersion:   profile.Version.String(),
		TerminatingFallback: profile.Options.TerminatingFallback.String(),
		WhatIf:              orEmpty(profile.WhatIf),
	}
	all := endpoints.Ready | endpoints.Serving | endpoints.Terminating
	for i := int(all); i >= 0; i-- {
		t.Endpoint = append(t.Endpoint, endpointCase(conditionsAt(i), profile.Options))
	}
	for _, ready := range []bool{true, false} {
		for _, draining := range []bool{true, false} {
			for _, elsewhere := range []string{"ready", "draining", "none"} {
				t.Scope = append(t.Scope, scopeCase(ready, draining, elsewhere, profile.Options))
			}
		}
	}
	return t
}

// conditionsAt counts r/s/t as a binary number, so that 7 is T/T/T and 0 is F/F/F.
func conditionsAt(i int) endpoints.Conditions {
	var c endpoints.Conditions
	for bit, one := range []endpoints.Conditions{endpoints.Terminating, endpoints.Serving, endpoints.Ready} {
		if i>>bit&1 == 1 {
			c |= one
		}
	}
	return c
}

const (
	here      = "here"
	there     = "there"
	drainingC = endpoints.Serving | endpoints.Terminating
)

// sample makes a LoadBalancer port with both policies Local or both Cluster.
func sample(policy endpoints.TrafficPolicy, eps ...endpoints.Endpoint) *endpoints.Service {
	name := endpoints.ServicePortName{ServiceName: endpoints.ServiceName{Namespace: "default", Name: "web"}}
	for i := range eps {
		eps[i].Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)}), 8080)
	}
	return endpoints.NewService(name.ServiceName, endpoints.ServicePort{
		Name: name, Port: 80, NodePort: 30080, ClusterIP: netip.AddrFrom4([4]byte{10, 96, 0, 1}),
		InternalPolicy: policy, ExternalPolicy: policy, Endpoints: eps,
	})
}

func endpointCase(c endpoints.Conditions, o endpoints.Options) EndpointCase {
	alone := sample(endpoints.PolicyCluster, endpoints.Endpoint{NodeName: here, Conditions: c})
	beside := sample(endpoints.PolicyCluster, endpoints.Endpoint{NodeName: here, Conditions: c},
		endpoints.Endpoint{NodeName: here, Conditions: endpoints.Ready | endpoints.Serving})
	node := endpoints.NodeInfo{Name: here}
	_, da := endpoints.Decide(&alone.Ports[0], node, o, nil)
	_, db := endpoints.Decide(&beside.Ports[0], node, o, nil)
	return EndpointCase{
		Conditions: Conditions{c.Ready(), c.Serving(), c.Terminating()},
		Normal:     db[0].Cluster.Used(),
		Fallback:   da[0].Cluster == endpoints.ReasonFallback,
		Reason:     da[0].Cluster.Sentence(endpoints.ClusterList),
	}
}

func scopeCase(ready, draining bool, elsewhere string, o endpoints.Options) ScopeCase {
	c := ScopeCase{ReadyInScope: ready, DrainingInScope: draining, Elsewhere: elsewhere}
	var inScope []endpoints.Endpoint
	if ready {
		inScope = append(inScope, endpoints.Endpoint{NodeName: here, Conditions: endpoints.Ready | endpoints.Serving})
	}
	if draining {
		inScope = append(inScope, endpoints.Endpoint{NodeName: here, Conditions: drainingC})
	}
	if elsewhere == "none" { // the cluster's scope has no elsewhere
		c.Cluster = fate(sample(endpoints.PolicyCluster, inScope...), o)
	}
	local := append([]endpoints.Endpoint{}, inScope...)
	switch elsewhere {
	case "ready":
		local = append(local, endpoints.Endpoint{NodeName: there, Conditions: endpoints.Ready | endpoints.Serving})
	case "draining":
		local = append(local, endpoints.Endpoint{NodeName: there, Conditions: drainingC})
	}
	c.Local = fate(sample(endpoints.PolicyLocal, local...), o)
	return c
}

// fate plans the sample and says what becomes of a connection from outside.
func fate(svc *endpoints.Service, o endpoints.Options) string {
	node := &plan.Node{Name: here, Options: o}
	f := frontendOf(plan.ForPort(&svc.Ports[0], node), true)
	r := f.Routes[plan.FromOutside]
	if r.Action != plan.Forward {
		return r.Action.String()
	}
	target := f.Lists.Of(r.List)[0].Addr
	for i := range svc.Ports[0].Endpoints {
		if e := &svc.Ports[0].Endpoints[i]; e.Addr == target && e.Conditions.Ready() {
			return "ready"
		}
	}
	return "draining"
}

// WriteText writes both tables for people.
func (t *TruthTable) WriteText(w io.Writer, opts TextOptions) error {
	out := text{page: opts.page()}
	out.line("kube-proxy %s, terminating fallback %s", t.KubernetesVersion, t.TerminatingFallback)
	for _, gate := range t.WhatIf {
		out.line("WHAT IF: no real cluster of version %s can set %s this way", t.KubernetesVersion, gate)
	}
	out.page.Blank()
	out.line("One endpoint, by its conditions:")
	out.page.Blank()
	rows := [][]string{{"READY", "SERVING", "TERMINATING", "NORMAL USE", "FALLBACK USE", "ALONE IN ITS SCOPE"}}
	for _, e := range t.Endpoint {
		rows = append(rows, []string{yes(e.Ready), yes(e.Serving), yes(e.Terminating), yes(e.Normal), yes(e.Fallback), e.Reason})
	}
	out.page.Table(0, rows)
	out.page.Blank()
	out.line("New connections, by what is in scope (Cluster: anywhere; Local: this node):")
	out.page.Blank()
	rows = [][]string{{"READY IN SCOPE", "SERVING TERMINATING IN SCOPE", "ELSEWHERE", "POLICY CLUSTER", "POLICY LOCAL"}}
	for _, s := range t.Scope {
		rows = append(rows, []string{yes(s.ReadyInScope), yes(s.DrainingInScope), elsewhereText(s.Elsewhere), fateText(s.Cluster), fateText(s.Local)})
	}
	out.page.Table(0, rows)
	out.page.Blank()
	out.line("REJECT refuses the client at once; DROP leaves it waiting. \"-\": for policy Cluster there is no elsewhere.")
	_, err := io.WriteString(w, out.page.String())
	return err
}

func elsewhereText(s string) string {
	if s == "draining" {
		return "serving terminating"
	}
	return s
}

func fateText(s string) string {
	switch s {
	case "ready":
		return "the ready ones"
	case "draining":
		return "the serving terminating ones"
	case "reject":
		return "REJECT"
	case "drop":
		return "DROP"
	default:
		return "-"
	}
}
