package iptables

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// serviceRules are the rules of one Service in one family.
type serviceRules struct {
	chains []chain           // of nat, its own, by name
	lines  [numShared]string // in chains that it shares
}

// service renders a Service of a Plan; s may be nil.
func (l layout) service(p *plan.Plan, s *plan.Service) serviceRules {
	var out serviceRules
	if s == nil {
		return out
	}
	var port []*plan.Frontend
	for i := range s.Frontends {
		f := &s.Frontends[i]
		if f.Family() != l.family || p.Frontend(f.Key) != f {
			continue // another Service has the address
		}
		if len(port) > 0 && port[0].Service != f.Service {
			l.port(&out, port)
			port = port[:0]
		}
		port = append(port, f)
	}
	if len(port) > 0 {
		l.port(&out, port)
	}
	if n := s.HealthCheckNodePorts[l.family]; n != 0 {
		out.line(l, filterNodePorts, `-m comment --comment "%s health check node port" -p tcp -m tcp --dport %d -j ACCEPT`, label(s.Name.String()), n)
	}
	slices.SortFunc(out.chains, func(a, b chain) int { return cmp.Compare(a.name, b.name) })
	out.chains = slices.Compact(out.chains) // an endpoint may be in both lists
	return out
}

// line appends a rule to a shared chain.
func (r *serviceRules) line(l layout, in shared, format string, args ...any) {
	r.lines[in] += "-A " + l.sharedName(in) + " " + fmt.Sprintf(format, args...) + "\n"
}

// maxLabel leaves room for the rest of a comment, which ends at 255 characters (xt_comment.h).
const maxLabel = 170

// label is a name that a comment can hold, whatever is in it: the API server admits nothing else,
// but a file may, and one odd name must not have all rules refused.
func label(name string) string {
	plain := func(c rune) rune {
		if strings.ContainsRune("/:.-_", c) || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			return c
		}
		return '_'
	}
	name = strings.Map(plain, name)
	return name[:min(len(name), maxLabel)]
}

// portRules are the rules of a service port on their way.
type portRules struct {
	layout
	out      *serviceRules
	name     endpoints.ServicePortName
	label    string // the name, in comments
	lists    *plan.Lists
	affinity time.Duration

	used       [2]bool // lists that something leads to, by endpoints.ListKind
	masquerade [2]string
}

// port renders the frontends of a service port.
func (l layout) port(out *serviceRules, all []*plan.Frontend) {
	first := all[0]
	r := &portRules{layout: l, out: out, name: first.Service, label: label(first.Service.String()), lists: first.Lists, affinity: first.Affinity}
	var external, guarded *plan.Frontend
	for _, f := range all {
		if f.Kind == plan.ClusterIP {
			r.clusterIP(f)
			continue
		}
		r.external(f)
		if forwards(f) {
			external = f
			if f.Allowed != nil {
				guarded = f
			}
		}
	}
	if guarded != nil {
		r.firewall(guarded)
	}
	if external != nil {
		r.externalChain(external)
	}
	for _, kind := range []endpoints.ListKind{endpoints.ClusterList, endpoints.LocalList} {
		if r.used[kind] {
			r.list(kind)
		}
	}
}

// forwards says whether some traffic to the frontend gets an endpoint.
func forwards(f *plan.Frontend) bool {
	for _, r := range f.Routes {
		if r.Action == plan.Forward {
			return true
		}
	}
	return false
}

// refuses returns what becomes of the traffic that gets none; ok is false if all does. Filter
// rules ask for no source: what was translated does not meet them any more.
func refuses(f *plan.Frontend) (target string, ok bool) {
	for _, r := range f.Routes {
		switch r.Action {
		case plan.Reject:
			return "REJECT", true
		case plan.Drop:
			return "DROP", true
		default:
		}
	}
	return "", false
}

func (r *portRules) protocol() string { return strings.ToLower(r.name.Protocol.String()) }

// to matches packets to a frontend.
func (r *portRules) to(f *plan.Frontend) string {
	p := r.protocol()
	if f.Kind == plan.NodePort {
		return fmt.Sprintf("-p %s -m %s --dport %d", p, p, f.Key.Port)
	}
	return fmt.Sprintf("-d %s -p %s -m %s --dport %d", single(f.Key.Addr), p, p, f.Key.Port)
}

// kindText is what kube-proxy calls a kind in comments.
func kindText(k plan.Kind) string {
	return [...]string{" cluster IP", " loadbalancer IP", " external IP", ""}[k]
}

func (r *portRules) own(what string) string { return r.servicePort(what, r.name) }

// use returns the chain of a list, and sees to it that there is one.
func (r *portRules) use(kind endpoints.ListKind) string {
	r.used[kind] = true
	return r.listName(kind)
}

func (r *portRules) listName(kind endpoints.ListKind) string {
	if kind == endpoints.LocalList {
		return r.own(localChain)
	}
	return r.own(clusterChain)
}

func (r *portRules) clusterIP(f *plan.Frontend) {
	if target, ok := refuses(f); ok {
		r.refuse(filterServices, f, "", target)
		return
	}
	route := f.Routes[plan.FromOutside]
	r.out.line(r.layout, natServices, `-m comment --comment "%s%s" %s -j %s`, r.label, kindText(f.Kind), r.to(f), r.use(route.List))
	mark := chain{name: r.listName(route.List)}
	switch others, ok := r.fromPod(true); {
	case f.Routes[plan.FromPod].Masquerade:
		mark.rule("%s -j %s", r.to(f), r.chain(markMasq))
	case route.Masquerade && ok:
		mark.rule("%s %s -j %s", others, r.to(f), r.chain(markMasq))
	}
	r.masquerade[route.List] += mark.text
}

func (r *portRules) refuse(in shared, f *plan.Frontend, match, target string) {
	why := "has no local endpoints"
	if target == "REJECT" {
		why = "has no endpoints"
	}
	r.out.line(r.layout, in, `-m comment --comment "%s %s" %s%s -j %s`, r.label, why, match, r.to(f), target)
}

func (r *portRules) external(f *plan.Frontend) {
	if forwards(f) {
		in, next := natServices, r.own(externalChain)
		if f.Kind == plan.NodePort {
			in = natNodePorts
		}
		if f.Allowed != nil {
			next = r.own(firewallChain)
		}
		r.out.line(r.layout, in, `-m comment --comment "%s%s" %s -j %s`, r.label, kindText(f.Kind), r.to(f), next)
	}
	if target, ok := refuses(f); ok {
		match := ""
		if f.Kind == plan.NodePort {
			match = "-m addrtype --dst-type LOCAL "
		}
		r.refuse(filterExternal, f, match, target)
	}
	if f.Allowed != nil {
		r.out.line(r.layout, filterFirewall, `-m comment --comment "%s traffic not accepted by %s" %s -j DROP`, r.label, r.own(firewallChain), r.to(f))
	}
}

// firewall lets pass who may talk to the port's load-balancer IPs. What comes back from it is
// not translated, and dropped for that.
func (r *portRules) firewall(f *plan.Frontend) {
	c := chain{name: r.own(firewallChain)}
	for _, from := range f.Allowed {
		c.rule(`-m comment --comment "%s loadbalancer IP" -s %s -j %s`, r.label, from.Masked(), r.own(externalChain))
	}
	r.out.chains = append(r.out.chains, c)
}

// externalChain tells the sources apart, where the policy does.
func (r *portRules) externalChain(f *plan.Frontend) {
	c := chain{name: r.own(externalChain)}
	pod, node, outside := f.Routes[plan.FromPod], f.Routes[plan.FromNode], f.Routes[plan.FromOutside]
	same := func(a plan.Route) bool {
		return a.Action == outside.Action && a.List == outside.List && a.Masquerade == outside.Masquerade
	}
	if !same(pod) || !same(node) {
		if pods, ok := r.fromPod(false); ok {
			r.branch(&c, "pod traffic", pods+" ", pod)
		}
		r.branch(&c, "local traffic", "-m addrtype --src-type LOCAL ", node)
	}
	r.branch(&c, "traffic", "", outside)
	r.out.chains = append(r.out.chains, c)
}

// branch is the way of the traffic from one source.
func (r *portRules) branch(c *chain, who, match string, route plan.Route) {
	if route.Action != plan.Forward {
		if match != "" {
			c.rule("%s-j RETURN", match)
		}
		return
	}
	if route.Masquerade {
		c.rule(`-m comment --comment "masquerade %s for %s external destinations" %s-j %s`, who, r.label, match, r.chain(markMasq))
	}
	c.rule(`-m comment --comment "%s for %s external destinations" %s-j %s`, who, r.label, match, r.use(route.List))
}

// list renders the chain that picks one of a list's endpoints.
func (r *portRules) list(kind endpoints.ListKind) {
	c := chain{name: r.listName(kind), text: r.masquerade[kind]}
	targets := r.lists.Of(kind)
	own := r.affinity > 0 || !r.hairpin // endpoints have chains of their own
	if r.affinity > 0 {
		for _, t := range targets {
			sep := r.endpoint(r.name, t.Addr)
			c.rule("-m recent --name %s --rcheck --seconds %d --reap -j %s", sep, max(r.affinity/time.Second, 1), sep)
		}
	}
	var b strings.Builder
	b.WriteString(c.text)
	for i, t := range targets {
		b.WriteString("-A " + c.name + " ")
		if !own {
			b.WriteString("-p " + r.protocol() + " ")
		}
		if left := len(targets) - i; left > 1 {
			b.WriteString("-m statistic --mode random --probability " + probability(left) + " ")
		}
		if own {
			b.WriteString("-j " + r.endpoint(r.name, t.Addr) + "\n")
			r.out.chains = append(r.out.chains, r.endpointChain(t.Addr))
		} else {
			b.WriteString("-j DNAT --to-destination " + t.Addr.String() + "\n")
		}
	}
	r.out.chains = append(r.out.chains, chain{c.name, b.String()})
}

// probability is that of the first of n, as kube-proxy writes it.
func probability(n int) string { return strconv.FormatFloat(1/float64(n), 'f', 10, 64) }

func (r *portRules) endpointChain(at netip.AddrPort) chain {
	c := chain{name: r.endpoint(r.name, at)}
	if !r.hairpin {
		c.rule("-s %s -j %s", single(at.Addr()), r.chain(markMasq))
	}
	remember := ""
	if r.affinity > 0 {
		remember = "-m recent --name " + c.name + " --set "
	}
	c.rule("%s-p %s -j DNAT --to-destination %s", remember, r.protocol(), at)
	return c
}
