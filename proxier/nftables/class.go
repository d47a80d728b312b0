package nftables

import (
	"fmt"
	"math/bits"
	"slices"
	"time"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// treatment is what kind of traffic rules a class has.
type treatment uint8

const (
	refused       treatment = iota + 1 // nothing usable anywhere
	clusterIP                          // the internal policy's list
	external                           // all endpoints, masqueraded
	externalLocal                      // this node's endpoints for the outside, all for pods and the node
)

// power is a list's length as classes see it: 0 for none, else the exponent of the smallest
// power of two that is not below it, plus one.
type power uint8

func powerOf(n int) power {
	if n == 0 {
		return 0
	}
	return power(bits.Len(uint(n-1)) + 1) // n is a length
}

// draws is the number of indices a list of the power is drawn from.
func (p power) draws() uint32 { return 1 << (p - 1) }

func (p power) String() string {
	if p == 0 {
		return "none"
	}
	return fmt.Sprint(p.draws())
}

// class is all that a frontend's chain depends on. There are few, whatever the number of
// Services: lengths of lists count in powers of two.
type class struct {
	treatment treatment
	main      power  // of the list that pods, or everybody, pick from
	local     power  // of the Local list, with externalLocal
	sticky    uint32 // affinity in seconds, 0 for none
}

// maxSticky is the longest affinity, in seconds, that fits a class number. The API allows a
// day at most (core/v1, ClientIPConfig), 86,400.
const maxSticky = 1<<17 - 1

// number is the class's number. It says what the class is, so that the same frontend has the
// same number after a restart.
func (c class) number() uint32 {
	return c.sticky<<15 | uint32(c.local)<<9 | uint32(c.main)<<3 | uint32(c.treatment)
}

// timeout names the affinity in chains and rules.
func (c class) timeout() string { return fmt.Sprintf("%ds", c.sticky) }

// name is the class's chain. Node ports have chains of their own.
func (c class) name(nodePort bool) string {
	name := ""
	switch c.treatment {
	case refused:
		name = "reject-it"
	case clusterIP:
		name = "cluster-ip-" + c.main.String()
	case external:
		name = "external-" + c.main.String()
	default:
		name = "external-local-" + c.main.String() + "-" + c.local.String()
	}
	if c.sticky > 0 {
		name += "-" + c.timeout()
	}
	return prefix(nodePort) + name
}

func prefix(nodePort bool) string {
	if nodePort {
		return "node-port-"
	}
	return ""
}

// lists are the endpoints of a frontend as its class uses them.
type lists struct{ main, local []plan.Target }

// classify says how a frontend is treated, and with which lists.
func classify(f *plan.Frontend) (class, lists) {
	pod, outside := &f.Routes[plan.FromPod], &f.Routes[plan.FromOutside]
	if outside.Action == plan.Reject {
		return class{treatment: refused}, lists{}
	}
	var c class
	var l lists
	if pod.Action == plan.Forward {
		l.main = f.Lists.Of(pod.List)
	}
	switch {
	case f.Kind == plan.ClusterIP:
		c.treatment = clusterIP
	case pod.Why == plan.ShortCircuit || pod.List != outside.List || pod.Action != outside.Action:
		c.treatment = externalLocal
		if outside.Action == plan.Forward {
			l.local = f.Lists.Of(outside.List)
		}
	default:
		c.treatment = external
	}
	c.main, c.local = powerOf(len(l.main)), powerOf(len(l.local))
	if c.main+c.local > 0 {
		c.sticky = stickySeconds(f)
	}
	return c, l
}

// stickySeconds is a frontend's affinity in whole seconds, as the API has it.
func stickySeconds(f *plan.Frontend) uint32 {
	if f.Affinity <= 0 {
		return 0
	}
	return uint32(min(max(f.Affinity/time.Second, 1), maxSticky)) // bounded on this line
}

// isNodePort says whether a key is a node port's: those stand under the unspecified address.
func isNodePort(k plan.Key) bool { return k.Addr.IsUnspecified() }

// localBase is added to the index of an entry of a Local list that is stored beside the main
// list of the same frontend. No list comes near it.
const localBase = 1 << 20

// madeAtStart are the classes whose chains exist from the first transaction on: making a chain
// that looks a map up costs the kernel a walk over that map, so it is done while they are
// empty (README.md, hazard 3). Others follow on demand; external-local pairs hold no
// lookups, and more than 1,024 endpoints are rare.
func madeAtStart() []class {
	all := []class{{treatment: refused}, {treatment: clusterIP}, {treatment: external}}
	for p := power(1); p <= powerOf(1024); p++ {
		all = append(all, class{treatment: clusterIP, main: p}, class{treatment: external, main: p})
	}
	return all
}

// sortedFamilies lists the families of a backend without repetition, in one order; none are all.
func sortedFamilies(some []endpoints.IPFamily) []endpoints.IPFamily {
	var out []endpoints.IPFamily
	for _, f := range endpoints.Families() {
		if len(some) == 0 || slices.Contains(some, f) {
			out = append(out, f)
		}
	}
	return out
}
