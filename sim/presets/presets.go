// Package presets holds what is known of the load balancers of each provider: what they send to, how they notice a change, and
// what they do with connections, each value with its source and how far it is known.
//
// A file is one provider's. It is read, checked and fuzzed by sim/scenario, with the grammar of a Scenario's loadBalancer:
//
//	presets:
//	- name: acme              # of the family; with a traffic policy: acme-local and acme-cluster
//	  short: ACME             # what people call it
//	  what: ACME, layer 4     # one line for a list
//	  layer7: true            # a proxy of HTTP requests; false when it is left out
//	  values:                 # those that do not depend on the Service
//	  - status: verified      # verified, documented, reported, recalled or inferred, as in docs/model
//	    source: "https://acme.example/lb: the targets" # a fact of docs/model or a page of the maker, and what it says
//	    loadBalancer: {target: nodes, members: all-nodes}
//	  - status: reported
//	    source: "https://acme.example/issues/7: 5-40 s"
//	    reported: {propagation: [5s, 40s]} # the least and the most; a run takes what is below, a fix has to hold over all
//	    loadBalancer: {propagation: {uniform: [10s, 20s]}}
//	  - status: inferred
//	    source: "not in docs/model: at once"
//	    unmeasured: {healthPropagation: [1s, 3s]} # two values that it might be as well: a fix has to hold with them, too
//	    loadBalancer: {healthPropagation: 0s}
//	  externalTrafficPolicy:  # those that depend on the Service's; left out when none does
//	    Local:
//	    - ...
//	    Cluster:
//	    - ...
//
// Every field that such a load balancer has is given exactly once. A source that is no page says so: "not in docs/model: ...".
package presets

import _ "embed" // the files are part of the program

// File is one provider's.
type File struct {
	Path string // from the root of the repository
	Text string
}

//go:embed gke.yaml
var gke string

//go:embed aws.yaml
var aws string

//go:embed azure.yaml
var azure string

//go:embed metallb.yaml
var metallb string

//go:embed kind.yaml
var kind string

//go:embed ingress.yaml
var ingress string

//go:embed cloud.yaml
var cloud string

// Files lists the files in the order in which presets are listed.
func Files() []File {
	return []File{
		{"sim/presets/gke.yaml", gke},
		{"sim/presets/aws.yaml", aws},
		{"sim/presets/azure.yaml", azure},
		{"sim/presets/metallb.yaml", metallb},
		{"sim/presets/kind.yaml", kind},
		{"sim/presets/ingress.yaml", ingress},
		{"sim/presets/cloud.yaml", cloud},
	}
}
