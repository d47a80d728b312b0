package oracle

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// feature is something a world may be allowed to contain. Each seed switches every
// feature on or off (swarm testing): what all worlds contain hides what needs its absence.
type feature int

const (
	featNilConditions feature = iota
	featTerminating
	featZoneHints
	featNodeHints
	featManyZones // more than fit into a machine word
	featPartialHints
	featDuplicates // addresses come from a pool that is too small
	featOddSpelling
	featOddPorts
	featMixedTargets
	featUDP
	featIPv6
	featDualStack
	featExternal
	featLocal
	featServiceFields
	featBadAddresses
	featTwoServices
	featServiceEvents
	featLabels
	featNoNodeName
	features
)

// generator makes a world out of a seed. Nothing else enters: no clock, no map order.
type generator struct {
	r     *rand.Rand
	on    [features]bool
	nodes []endpoints.NodeInfo
	zones []string
	ports []portTemplate
	// profile weighs the eight cells of ready, serving and terminating in this world.
	profile []int
	family  corev1.IPFamily // of single-stack Services

	serviceNames, sliceNames []types.NamespacedName
	services, oldServices    map[types.NamespacedName]*corev1.Service
	slices, oldSlices        map[types.NamespacedName]*discoveryv1.EndpointSlice

	nextHost int
	syncRate int // syncs per 100 events
	events   []event
}

// portTemplate is what the Services and slices of a world agree on, mostly.
type portTemplate struct {
	name     string
	protocol corev1.Protocol
	port     int32
}

// profiles are the weights of the cells by Conditions value: bit 0 ready, 1 serving, 2
// terminating.
var profiles = [][]int{
	{1, 1, 1, 1, 1, 1, 1, 1},  // anything
	{1, 0, 0, 8, 1, 0, 2, 0},  // a rollout
	{1, 0, 0, 1, 1, 0, 6, 0},  // nearly all drain
	{2, 0, 1, 0, 2, 0, 6, 0},  // nothing ready
	{4, 0, 2, 0, 4, 0, 0, 0},  // nothing usable
	{0, 0, 0, 1, 0, 0, 0, 0},  // all ready
	{0, 1, 0, 6, 0, 1, 2, 2},  // publishNotReadyAddresses
	{0, 0, 0, 10, 0, 0, 3, 1}, // two outcomes only
}

func newWorld(seed uint64) world {
	g := &generator{
		r:        rand.New(rand.NewPCG(seed, 0x1a3e_d0c4)),
		services: map[types.NamespacedName]*corev1.Service{}, oldServices: map[types.NamespacedName]*corev1.Service{},
		slices: map[types.NamespacedName]*discoveryv1.EndpointSlice{}, oldSlices: map[types.NamespacedName]*discoveryv1.EndpointSlice{},
	}
	g.draw()
	g.populate()
	for range 10 + g.r.IntN(16) {
		g.step()
		if g.chance(g.syncRate) {
			g.sync()
		}
	}
	g.sync()
	return world{seed: seed, nodes: g.nodes, events: g.events}
}

// chance is true in percent of 100 cases.
func (g *generator) chance(percent int) bool { return g.r.IntN(100) < percent }

// has is true in percent of 100 cases if the world has the feature at all.
func (g *generator) has(f feature, percent int) bool { return g.on[f] && g.chance(percent) }

func pick[T any](g *generator, from []T) T { return from[g.r.IntN(len(from))] }

func ptr[T any](v T) *T { return &v }

// draw decides what kind of world this is.
func (g *generator) draw() {
	for f := range g.on {
		g.on[f] = g.chance(60)
	}
	g.on[featBadAddresses] = g.chance(20)
	g.on[featManyZones] = g.chance(8)
	g.zones = []string{"zone-a", "zone-b", "zone-c"}[:1+g.r.IntN(3)]
	for i := range 1 + g.r.IntN(3) {
		n := endpoints.NodeInfo{Name: fmt.Sprintf("node-%d", i+1)}
		if !g.chance(15) {
			n.Zone = pick(g, g.zones)
		}
		g.nodes = append(g.nodes, n)
	}
	if g.has(featNoNodeName, 30) {
		g.nodes = append(g.nodes, endpoints.NodeInfo{Zone: pick(g, append(g.zones, ""))})
	}
	g.profile = pick(g, profiles)
	g.syncRate = pick(g, []int{100, 70, 35})
	g.family = corev1.IPv4Protocol
	if g.has(featIPv6, 70) {
		g.family = corev1.IPv6Protocol
	}
	g.drawPorts()
	g.serviceNames = []types.NamespacedName{{Namespace: "ns", Name: "svc-a"}}
	if g.on[featTwoServices] {
		other := types.NamespacedName{Namespace: "ns", Name: "svc-b"}
		if g.chance(15) {
			other = types.NamespacedName{Namespace: "other", Name: "svc-a"}
		}
		g.serviceNames = append(g.serviceNames, other)
	}
	slices := []int{1, 2, 3, 3, 4, 4}
	if g.on[featDualStack] { // a Service needs one in each family
		slices = []int{2, 3, 4, 4, 5, 5}
	}
	for i := range pick(g, slices) {
		g.sliceNames = append(g.sliceNames, types.NamespacedName{Namespace: pick(g, g.serviceNames).Namespace, Name: fmt.Sprintf("slice-%d", i+1)})
	}
}

func (g *generator) drawPorts() {
	protocols := []corev1.Protocol{corev1.ProtocolTCP}
	if g.on[featUDP] {
		protocols = append(protocols, corev1.ProtocolUDP, corev1.ProtocolSCTP)
	}
	names := []string{""}
	if g.chance(60) {
		names = []string{"http", "dns", "admin"}[:1+g.r.IntN(3)]
	}
	for i, name := range names {
		g.ports = append(g.ports, portTemplate{name: name, protocol: pick(g, protocols), port: int32(80 + i)})
	}
}

func (g *generator) sync() { g.events = append(g.events, event{kind: syncNow}) }

// populate adds most of the objects, in any order.
func (g *generator) populate() {
	var todo []func()
	for _, name := range g.serviceNames {
		todo = append(todo, func() { g.putService(name, g.newService(name)) })
	}
	for _, name := range g.sliceNames {
		if g.chance(90) {
			todo = append(todo, func() { g.putSlice(name, g.newSlice(name)) })
		}
	}
	g.r.Shuffle(len(todo), func(i, j int) { todo[i], todo[j] = todo[j], todo[i] })
	for _, put := range todo {
		put()
		if g.chance(25) {
			g.sync()
		}
	}
	g.sync()
}

func (g *generator) putService(name types.NamespacedName, svc *corev1.Service) {
	if old := g.services[name]; old != nil {
		g.oldServices[name] = old
	}
	g.services[name] = svc
	g.events = append(g.events, event{kind: setService, service: svc})
}

func (g *generator) putSlice(name types.NamespacedName, s *discoveryv1.EndpointSlice) {
	if old := g.slices[name]; old != nil {
		g.oldSlices[name] = old
	}
	g.slices[name] = s
	g.events = append(g.events, event{kind: setSlice, slice: s})
}

func (g *generator) dropService(name types.NamespacedName) {
	delete(g.services, name)
	g.events = append(g.events, event{kind: deleteService, name: name})
}

func (g *generator) dropSlice(name types.NamespacedName) {
	delete(g.slices, name)
	g.events = append(g.events, event{kind: deleteSlice, name: name})
}

// step makes one thing happen, now and then a few in a row.
func (g *generator) step() {
	if g.has(featServiceEvents, 35) {
		g.stepService(pick(g, g.serviceNames))
		return
	}
	g.stepSlice(pick(g, g.sliceNames))
}

func (g *generator) stepService(name types.NamespacedName) {
	svc := g.services[name]
	if svc == nil {
		if g.chance(15) {
			g.dropService(name) // there is none to delete
			return
		}
		g.putService(name, g.newService(name))
		return
	}
	switch n := g.r.IntN(100); {
	case n < 18:
		g.dropService(name)
		if g.chance(60) {
			if g.chance(50) {
				g.sync()
			}
			g.putService(name, g.newService(name))
		}
	case n < 28:
		g.putService(name, svc.DeepCopy())
	case n < 40 && g.oldServices[name] != nil:
		g.putService(name, g.oldServices[name])
	case n < 52:
		g.putService(name, g.newService(name))
	default:
		g.putService(name, g.changedService(svc))
		if g.chance(15) {
			g.putService(name, svc)
		}
	}
}

func (g *generator) stepSlice(name types.NamespacedName) {
	s := g.slices[name]
	if s == nil {
		if g.chance(15) {
			g.dropSlice(name) // there is none to delete
			return
		}
		g.putSlice(name, g.newSlice(name))
		return
	}
	switch n := g.r.IntN(100); {
	case n < 10:
		g.dropSlice(name)
		if g.chance(50) {
			g.putSlice(name, g.newSlice(name))
		}
	case n < 14:
		g.putSlice(name, s.DeepCopy())
	case n < 20 && g.oldSlices[name] != nil:
		g.putSlice(name, g.oldSlices[name])
	case n < 26:
		g.putSlice(name, g.newSlice(name))
	case n < 36 && g.on[featLabels]:
		g.putSlice(name, g.relabelled(s))
	case n < 44:
		g.moveEndpoint(name, s)
	default:
		g.putSlice(name, g.changedSlice(s))
		if g.chance(8) {
			g.putSlice(name, s)
		}
	}
}
