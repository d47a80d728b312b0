package explain

// APIVersion is the version of the JSON contracts; fields are only ever added to them.
const APIVersion = "lameduck/v1"

// Explanation is the answer for one node. Its JSON form is a contract with other programs.
type Explanation struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"` // "Explanation"
	Node       string `json:"node"`
	Zone       string `json:"zone"` // "" when unknown
	// KubernetesVersion and Mode say whose behaviour this is: kube-proxy of that version in
	// mode "nftables" or "iptables".
	KubernetesVersion string `json:"kubernetesVersion"`
	Mode              string `json:"mode"`
	// TerminatingFallback is "on", "off" or "external Local only" (KEP-1669's alpha).
	TerminatingFallback string `json:"terminatingFallback"`
	// WhatIf names the settings that no real cluster of the version could have.
	WhatIf []string `json:"whatIf"`
	// Notes say where the version's behaviour is recalled or extrapolated.
	Notes []string `json:"notes"`
	// Services holds one entry per service port and IP family, in order of namespace, name,
	// family and spec order.
	Services []Service `json:"services"`
	// NotProxied holds the Services that no service proxy handles.
	NotProxied []NotProxied `json:"notProxied"`
}

// Service is one service port in one IP family.
type Service struct {
	Service         string   `json:"service"` // "namespace/name"
	Port            string   `json:"port"`    // the port's name, "" if it has none
	PortNumber      int      `json:"portNumber"`
	Protocol        string   `json:"protocol"`
	IPFamily        string   `json:"ipFamily"`
	Type            string   `json:"type"`
	ClusterIP       string   `json:"clusterIP"`
	LoadBalancerIPs []string `json:"loadBalancerIPs"`
	ExternalIPs     []string `json:"externalIPs"`
	NodePort        int      `json:"nodePort"` // 0 for none
	// LoadBalancerSourceRanges are those that the node enforces at LoadBalancerIPs, and nowhere else; [] where it lets everybody in.
	LoadBalancerSourceRanges []string `json:"loadBalancerSourceRanges"`
	InternalTrafficPolicy    string   `json:"internalTrafficPolicy"`
	// ExternalTrafficPolicy is "" when nothing but the ClusterIP leads to the port.
	ExternalTrafficPolicy string `json:"externalTrafficPolicy"`

	// TopologyMode is "PreferSameZone", "PreferSameNode" or "" for none.
	TopologyMode string `json:"topologyMode"`
	// Cluster and Local list the endpoints each policy uses as "IP:port"; null when the port
	// sends no traffic by the policy, [] when there is nothing to use.
	Cluster   []string `json:"cluster"`
	Local     []string `json:"local"`
	Reachable []string `json:"reachable"` // the union of both
	// HasAnyEndpoints says whether anything anywhere could be used: it tells drop from reject.
	HasAnyEndpoints bool `json:"hasAnyEndpoints"`
	// UsesTerminating says for each list whether it fell back to terminating endpoints.
	UsesTerminating UsesTerminating `json:"usesTerminating"`
	// HealthCheckNodePort is null when the port's Service has none.
	HealthCheckNodePort *HealthPort `json:"healthCheckNodePort"`

	// Traffic says per source and destination what becomes of new connections, Decisions per
	// endpoint what the lists make of it, in address order.
	Traffic   []Traffic  `json:"traffic"`
	Decisions []Decision `json:"decisions"`
	// Remarks are sentences about what would change the answer.
	Remarks []string `json:"remarks"`
}

// UsesTerminating says which lists hold serving terminating endpoints (KEP-1669).
type UsesTerminating struct {
	Cluster bool `json:"cluster"`
	Local   bool `json:"local"`
}

// HealthPort is a health-check node port and what it answers.
type HealthPort struct {
	Port           int `json:"port"`
	LocalEndpoints int `json:"localEndpoints"`
	Status         int `json:"status"` // HTTP status code, 200 or 503
}

// Traffic is what becomes of new connections from one source to one kind of address.
type Traffic struct {
	From string `json:"from"` // "outside", "pod" or "node"
	To   string `json:"to"`   // "clusterIP" or "external"
	// Action is "forward", "reject" or "drop".
	Action     string   `json:"action"`
	List       string   `json:"list"` // "Cluster" or "Local"; "" unless forwarded
	Endpoints  []string `json:"endpoints"`
	Masquerade bool     `json:"masquerade"`
	Why        string   `json:"why"`
}

// Conditions are an endpoint's conditions with nil read as kube-proxy reads it.
type Conditions struct {
	Ready       bool `json:"ready"`
	Serving     bool `json:"serving"`
	Terminating bool `json:"terminating"`
}

// Decision is what both lists make of one endpoint.
type Decision struct {
	Endpoint   string     `json:"endpoint"` // "IP:port" or "[v6]:port"
	Node       string     `json:"node"`
	IsLocal    bool       `json:"isLocal"`
	Zone       string     `json:"zone"`
	Pod        string     `json:"pod"`
	Slice      string     `json:"slice"`
	Conditions Conditions `json:"conditions"`
	Cluster    Reasoned   `json:"cluster"`
	Local      Reasoned   `json:"local"`
	// Why is one sentence about both lists.
	Why string `json:"why"`
}

// Reasoned is one list's decision with its reason as a code and as a sentence.
type Reasoned struct {
	Used     bool   `json:"used"`
	Reason   string `json:"reason"`
	Sentence string `json:"sentence"`
}

// NotProxied is a Service that no service proxy handles.
type NotProxied struct {
	Service string `json:"service"`
	Why     string `json:"why"`
}
