package scenario

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Preset is one row of the table of load balancers (docs/model/load-balancers.md 1), which the files
// of sim/presets hold.
type Preset struct {
	// ID is the row's name. Family is its name without the traffic policy: given a family, the
	// row that fits the Service is taken. It is the ID where the policy does not matter.
	ID, Family string
	// Short is what people call the family, What a line that tells it from all others.
	Short, What string
	// Policy is the externalTrafficPolicy that the row is for, "" for both.
	Policy corev1.ServiceExternalTrafficPolicy
	// Fields says each field in words, in the order of the grammar.
	Fields []PresetField
	// LoadBalancer is the value of all fields; Service is "".
	LoadBalancer world.LoadBalancer
}

// PresetField is one field of a Preset: what it is, where that stands and how far it is known.
type PresetField struct {
	Name, Value string
	Source      string // a page of docs/model and the fact there, a page of the maker, or what it is concluded from
	Status      string // "verified", "doc", "recalled", "inferred" or "reported"
}

// How far a value is known, as the list of presets says it: read in the source code; read in a
// vendor's documentation; from memory; concluded from others; or measured by people who wrote so in
// issues, which is no promise of the maker's: such a value has a range, and is varied over it.
const (
	verified   = "verified"
	documented = "doc"
	recalled   = "recalled"
	inferred   = "inferred"
	reported   = "reported"
)

// Presets lists the table, by provider. It is the caller's.
func Presets() []Preset {
	var out []Preset
	for _, p := range presetTable() {
		out = append(out, p.clone())
	}
	return out
}

// clone shares nothing that can be changed.
func (p *Preset) clone() Preset {
	c := *p
	c.Fields = slices.Clone(p.Fields)
	c.LoadBalancer.Reported = slices.Clone(p.LoadBalancer.Reported)
	if l := p.LoadBalancer.Layer7; l != nil {
		proxy := *l
		c.LoadBalancer.Layer7 = &proxy
	}
	return c
}

// LoadBalancerNames lists what --lb and loadBalancer.preset take: auto, none, the families of
// presets, and their rows.
func LoadBalancerNames() []string {
	names := append([]string{lbAuto, lbNone}, familyNames()...)
	for _, p := range presetTable() {
		names = append(names, p.ID)
	}
	return distinct(names)
}

// Layer7 says that it is a proxy of HTTP requests.
func (p *Preset) Layer7() bool { return p.LoadBalancer.Layer7 != nil }

// familyNames lists the names that fit Services of either policy.
func familyNames() []string {
	var families []string
	for _, p := range presetTable() {
		families = append(families, p.Family)
	}
	return distinct(families)
}

// presetHint ends a message about a name that is none.
func presetHint(name string) string {
	if near := nearest(name, LoadBalancerNames()); near != "" {
		return didYouMean(name, []string{near})
	}
	return didYouMean(name, append([]string{lbAuto, lbNone}, familyNames()...))
}

// presetFor returns the row of a name, of a family the one for a policy; ok is false when there
// is no such name.
func presetFor(name string, policy corev1.ServiceExternalTrafficPolicy) (p Preset, ok bool) {
	for _, p := range presetTable() {
		if p.ID == name || p.Family == name && p.fits(policy) {
			return p.clone(), true
		}
	}
	return Preset{}, false
}

func (p *Preset) fits(policy corev1.ServiceExternalTrafficPolicy) bool {
	return p.Policy == "" || p.Policy == policy
}

const (
	policyLocal   = corev1.ServiceExternalTrafficPolicyLocal
	policyCluster = corev1.ServiceExternalTrafficPolicyCluster
)
