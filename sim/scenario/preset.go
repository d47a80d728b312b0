package scenario

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// Preset is one row of the table of load balancers (docs/model/load-balancers.md 1).
type Preset struct {
	// ID is the row's name. Family is its name without the traffic policy: given a family, the
	// row that fits the Service is taken. It is the ID where the policy does not matter.
	ID, Family string
	What       string
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

// How far a fact is known, in the words of docs/model/load-balancers.md: read in the source code;
// read in a vendor's documentation; from memory; concluded from others; or measured by people who
// wrote so in issues, which is no promise of the maker's: such a value has a range, and is varied
// over it.
const (
	verified   = "verified"
	documented = "doc"
	recalled   = "recalled"
	inferred   = "inferred"
	reported   = "reported"
)

// claim is where several fields of a preset come from.
type claim struct{ status, source, fields string }

// where is the source with its page: a section alone is one of docs/model/load-balancers.md.
func (c claim) where() string {
	if c.source[0] >= '0' && c.source[0] <= '9' {
		return "docs/model/load-balancers.md " + c.source
	}
	return c.source
}

// presetRow is a Preset as it is written down: the claims name every field once.
type presetRow struct {
	id, family, what string
	policy           corev1.ServiceExternalTrafficPolicy
	lb               world.LoadBalancer
	claims           []claim
}

// Presets lists the table, by provider.
func Presets() []Preset {
	var out []Preset
	for _, r := range presetRows() {
		out = append(out, r.preset())
	}
	return out
}

func presetRows() []presetRow {
	rows := slices.Concat(gkePresets(), nlbPresets(), awsPresets(), azurePresets(), metallbPresets(), kindPresets(), ingressPresets())
	for i := range rows {
		if rows[i].lb.ReadinessGate == "" {
			rows[i].claims = append(slices.Clip(rows[i].claims), claim{inferred, "2: nothing there speaks of a readiness gate", gateFields})
		}
		if rows[i].lb.Layer7 == nil && rows[i].lb.Idle == 0 {
			rows[i].claims = append(slices.Clip(rows[i].claims), claim{inferred, "not in docs/model: a flow that is not known any more is hashed again, to the same target while targets stay", "idle idleEnds"})
		}
	}
	return rows
}

// named is the preset without the list of its fields, which costs the most to make.
func (r *presetRow) named() Preset {
	p := Preset{ID: r.id, Family: r.family, What: r.what, Policy: r.policy, LoadBalancer: r.lb}
	if p.Family == "" {
		p.Family = p.ID
	}
	p.LoadBalancer.Preset = p.ID
	return p
}

func (r *presetRow) preset() Preset {
	p := r.named()
	for _, f := range balancerFields(&p.LoadBalancer) {
		field := PresetField{Name: f.name, Value: f.say(&p.LoadBalancer)}
		for _, c := range r.claims {
			if slices.Contains(strings.Fields(c.fields), f.name) {
				field.Source, field.Status = c.where(), c.status
			}
		}
		p.Fields = append(p.Fields, field)
	}
	return p
}

// LoadBalancerNames lists what --lb and loadBalancer.preset take: auto, none, the families of
// presets, and their rows.
func LoadBalancerNames() []string {
	names := append([]string{lbAuto, lbNone}, familyNames()...)
	for _, p := range Presets() {
		names = append(names, p.ID)
	}
	return distinct(names)
}

// Layer7 says that it is a proxy of HTTP requests.
func (p *Preset) Layer7() bool { return p.LoadBalancer.Layer7 != nil }

// familyNames lists the names that fit Services of either policy.
func familyNames() []string {
	var families []string
	for _, p := range Presets() {
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
// is no such name. Where only the row of the other policy has the name, that is the result.
func presetFor(name string, policy corev1.ServiceExternalTrafficPolicy) (p Preset, ok bool) {
	for _, r := range presetRows() {
		if p = r.named(); p.ID == name || p.Family == name && p.fits(policy) {
			return r.preset(), true
		}
	}
	return Preset{}, false
}

func (p *Preset) fits(policy corev1.ServiceExternalTrafficPolicy) bool {
	return p.Policy == "" || p.Policy == policy
}

// span is a uniform distribution over whole milliseconds, for the tables.
func span(least, most engine.Time) engine.Dist { return engine.Must(engine.Uniform(least, most)) }

const (
	policyLocal   = corev1.ServiceExternalTrafficPolicyLocal
	policyCluster = corev1.ServiceExternalTrafficPolicyCluster
)

// both makes the rows of a family, one a policy.
func both(family, what string, of func(policy corev1.ServiceExternalTrafficPolicy) (world.LoadBalancer, []claim)) []presetRow {
	var rows []presetRow
	for _, policy := range []corev1.ServiceExternalTrafficPolicy{policyLocal, policyCluster} {
		lb, claims := of(policy)
		rows = append(rows, presetRow{
			id: family + "-" + strings.ToLower(string(policy)), family: family, what: what + ", externalTrafficPolicy " + string(policy),
			policy: policy, lb: lb, claims: claims,
		})
	}
	return rows
}

// Times that no row of docs/model/load-balancers.md says exactly.

// watching is a controller that acts on each change it sees, without the delay of its watch:
// "at once" in section 2 (inferred).
func watching() engine.Dist { return span(100*engine.Millisecond, engine.Second) }

// gceOperation is a call of Google's API that changes load balancing: "several to tens of
// seconds" in section 2 (recalled).
func gceOperation() engine.Dist { return span(5*engine.Second, 20*engine.Second) }

// otherOperation is a change of targets of which nothing is known: some seconds (inferred).
func otherOperation() engine.Dist { return span(engine.Second, 10*engine.Second) }

// l2Failover is "a few seconds", beyond 10 s counts as a bug (section 4).
func l2Failover() engine.Dist { return span(engine.Second, 5*engine.Second) }

// bgpUpdate is a route's way to the routers (inferred).
func bgpUpdate() engine.Dist { return span(100*engine.Millisecond, 2*engine.Second) }

// quickly is what takes a part of a second (inferred).
func quickly() engine.Dist { return span(10*engine.Millisecond, 100*engine.Millisecond) }

// nginxSync is a second divided by --sync-rate-limit, 0.3 by default, which fills a token bucket of
// one: syncIngress takes from it (kubernetes/ingress-nginx pkg/flags, internal/ingress/controller
// nginx.go and controller.go; read).
const nginxSync = 3333 * engine.Millisecond

// nginxWorkers is a worker's timer: each looks for new endpoints once a second
// (kubernetes/ingress-nginx rootfs/etc/nginx/lua/balancer.lua, BACKENDS_SYNC_INTERVAL; read).
func nginxWorkers() engine.Dist { return span(0, engine.Second) }

// envoyUpdate is cloud-provider-kind writing a new configuration for its Envoy (inferred).
func envoyUpdate() engine.Dist { return span(100*engine.Millisecond, engine.Second) }
