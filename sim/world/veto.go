package world

import (
	"slices"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// Veto is a webhook without whose answer no Pod is made.
type Veto struct {
	Service string           // "ns/name", that answers
	Object  *manifest.Object // the configuration, nil for none
	Path    string           // of the webhook in it, such as "webhooks[0]"
}

// VetoedBy says whether no Pod is made while a Service, "ns/name", does not answer.
func (s *Scenario) VetoedBy(service string) bool {
	return slices.ContainsFunc(s.Vetoes, func(v Veto) bool { return v.Service == service })
}
