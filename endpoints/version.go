package endpoints

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Version is a Kubernetes minor version, such as 1.36.
type Version struct {
	Major, Minor int
}

// CurrentVersion is the Kubernetes version whose kube-proxy was read line by line.
func CurrentVersion() Version { return Version{1, 36} }

// oldestMinor is the first version whose kube-proxy reads EndpointSlices by default
// (recalled); before it there is nothing here to compare with.
const oldestMinor = 19

// newestMinor is the last version that is accepted: some releases after the one that was read are
// taken to behave as that, and what is further ahead is more likely a slip.
const newestMinor = 40

// String returns "1.36".
func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// Before says whether v is older than o.
func (v Version) Before(o Version) bool {
	return v.Major < o.Major || v.Major == o.Major && v.Minor < o.Minor
}

// AheadWords says what a version newer than CurrentVersion is given, "" for others.
func (v Version) AheadWords() string {
	if !CurrentVersion().Before(v) {
		return ""
	}
	return fmt.Sprintf("Kubernetes %s is newer than what was read: it is given the rules of %s", v, CurrentVersion())
}

// ParseVersion reads "1.36", "v1.36", "1.36.3" or "v1.36.3+k3s1" and keeps the minor version. Versions
// that nothing is known of are errors.
func ParseVersion(s string) (Version, error) {
	bad := fmt.Errorf("kubernetes version %q: want a version such as 1.36 or v1.36.3, from 1.%d to 1.%d", s, oldestMinor, newestMinor)
	parts := strings.SplitN(strings.TrimPrefix(s, "v"), ".", 3)
	if len(parts) < 2 {
		return Version{}, bad
	}
	major, err := strconv.Atoi(parts[0])
	if err != nil || major != 1 {
		return Version{}, bad
	}
	minor, err := strconv.ParseUint(strings.TrimSuffix(parts[1], "+"), 10, 8) // some vendors write "1.28+"
	if err != nil || minor < oldestMinor || minor > newestMinor {
		return Version{}, bad
	}
	return Version{major, int(minor)}, nil
}

// Change is one change of behaviour between Kubernetes versions, and what is known of it.
// A minor version of 0 means never.
type Change struct {
	ID    string // stable, such as "terminating-fallback"
	What  string // one clause: what the newer behaviour does
	Gate  string // the feature gate, "" when there was none
	Alpha int    // minor version from which the gate can be turned on
	On    int    // minor version from which the behaviour is the default
	GA    int    // minor version from which the gate is locked on, 0 while it is not
	// Source names the KEP or file. Recalled says that the version was not read there.
	Source   string
	Recalled bool

	apply func(o *Options, minor int)
}

// Changes lists every change of behaviour that Options knows, oldest first. Gates and
// versions were read in the named sources unless Recalled says otherwise.
func Changes() []Change {
	return []Change{
		{ID: "terminating-in-slices", What: "EndpointSlices list terminating pods with serving and terminating conditions",
			Gate: "EndpointSliceTerminatingCondition", Alpha: 20, On: 22, GA: 26, Source: "KEP-1672 kep.yaml",
			apply: func(o *Options, _ int) { o.TerminatingInSlices = true }},
		{ID: "internal-traffic-policy", What: "spec.internalTrafficPolicy is followed",
			Gate: "ServiceInternalTrafficPolicy", Alpha: 21, On: 22, GA: 26, Source: "KEP-2086 kep.yaml",
			apply: func(o *Options, _ int) { o.InternalTrafficPolicy = true }},
		{ID: "zone-hints", What: "hints.forZones narrow the Cluster list to the node's zone",
			Gate: "TopologyAwareHints", Alpha: 21, On: 24, GA: 33, Source: "KEP-2433 kep.yaml; on by default in 1.24", Recalled: true,
			apply: func(o *Options, _ int) { o.ZoneHints = true }},
		{ID: "terminating-fallback", What: "lists with nothing ready fall back to serving terminating endpoints",
			Gate: "ProxyTerminatingEndpoints", Alpha: 22, On: 26, GA: 28, Source: "KEP-1669 kep.yaml; pkg/proxy/iptables/proxier.go of 1.23.0, pkg/proxy/topology.go of 1.24.0",
			apply: func(o *Options, minor int) {
				o.TerminatingFallback = FallbackAll
				if minor == 22 || minor == 23 { // from 1.24 on the alpha, too, is for both lists
					o.TerminatingFallback = FallbackExternalLocal
				}
			}},
		{ID: "service-health-info", What: "the service health answer fails with the proxy and says serviceProxyHealthy",
			On: 27, Source: "kube-proxy service_health.go", Recalled: true,
			apply: func(o *Options, _ int) { o.ServiceHealthInfo = true }},
		{ID: "node-eligibility", What: "/healthz fails on a node that is being deleted",
			Gate: "KubeProxyDrainingTerminatingNodes", Alpha: 28, On: 30, GA: 31, Source: "KEP-3836",
			apply: func(o *Options, _ int) { o.NodeEligibility = true }},
		{ID: "load-balancer-ip-mode", What: "load-balancer IPs with ipMode Proxy are left alone",
			Gate: "LoadBalancerIPMode", Alpha: 29, On: 30, GA: 32, Source: "KEP-1860 kep.yaml",
			apply: func(o *Options, _ int) { o.LoadBalancerIPMode = true }},
		{ID: "endpoint-weight", What: "the service health answer has the X-Load-Balancing-Endpoint-Weight header",
			On: 31, Source: "kube-proxy service_health.go", Recalled: true,
			apply: func(o *Options, _ int) { o.EndpointWeight = true }},
		{ID: "node-hints", What: "hints.forNodes narrow the Cluster list to the node",
			Gate: "PreferSameTrafficDistribution", Alpha: 33, On: 34, GA: 35, Source: "kube_features.go",
			apply: func(o *Options, _ int) { o.NodeHints = true }},
		{ID: "hold-after-sync", What: "minSyncPeriod passes after every sync; before, two syncs may follow each other at once",
			On: 34, Source: "pkg/proxy/runner of 1.34.0, pkg/util/async/bounded_frequency_runner.go of 1.33.0",
			apply: func(o *Options, _ int) { o.HoldAfterSync = true }},
		{ID: "duplicate-rule", What: "of entries with the same address a non-terminating one counts",
			On: 36, Source: "kubernetes pull request 135593; read in 1.36, its first release recalled", Recalled: true,
			apply: func(o *Options, _ int) { o.Duplicates = DuplicatesPreferNonTerminating }},
	}
}

// CurrentOptions is the behaviour of kube-proxy 1.36 with its default feature gates.
func CurrentOptions() Options {
	p, _ := ProfileFor(CurrentVersion(), nil) // cannot fail: no gates are set
	return p.Options
}

// Profile is the behaviour of one Kubernetes version.
type Profile struct {
	Version Version
	Options Options
	// WhatIf names the gates that no real cluster of this version could set that way.
	WhatIf []string
	// Notes say where the mapping is recalled or extrapolated instead of verified.
	Notes []string
}

// ProfileFor returns the behaviour of a version with the given feature gates changed from
// their defaults. A gate may be set where no real cluster of that version could: then the
// profile says so in WhatIf. A gate that selection does not know is an error.
func ProfileFor(v Version, gates map[string]bool) (Profile, error) {
	p := Profile{Version: v}
	if CurrentVersion().Before(v) {
		p.Notes = append(p.Notes, fmt.Sprintf("behaviour of %s is extrapolated from %s", v, CurrentVersion()))
	}
	known := map[string]bool{}
	for _, c := range Changes() {
		on := c.On != 0 && v.Minor >= c.On
		want, set := gates[c.Gate]
		if c.Gate == "" || !set {
			want = on
		}
		known[c.Gate] = c.Gate != ""
		if c.Gate != "" && set && want != on && !c.settable(v) {
			p.WhatIf = append(p.WhatIf, c.Gate)
		}
		if want {
			c.apply(&p.Options, v.Minor)
		}
		if c.Recalled && v != CurrentVersion() && nearby(v.Minor, c.On) {
			p.Notes = append(p.Notes, fmt.Sprintf("recalled, not verified, for %s: from 1.%d on %s", v, c.On, c.What))
		}
	}
	for _, g := range slices.Sorted(maps.Keys(gates)) {
		if !known[g] {
			return Profile{}, fmt.Errorf("feature gate %q: endpoint selection knows only %s", g, strings.Join(gateNames(), ", "))
		}
	}
	return p, nil
}

func gateNames() []string {
	var names []string
	for _, c := range Changes() {
		if c.Gate != "" {
			names = append(names, c.Gate)
		}
	}
	return names
}

// settable says whether a real cluster of version v could change the gate.
func (c *Change) settable(v Version) bool {
	return c.Alpha != 0 && v.Minor >= c.Alpha && (c.GA == 0 || v.Minor < c.GA)
}

// nearby keeps notes to the versions on which a recalled boundary could be wrong.
func nearby(minor, boundary int) bool { return minor >= boundary-1 && minor <= boundary }
