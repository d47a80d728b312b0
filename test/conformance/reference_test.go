//go:build linux

package conformance

import (
	"fmt"
	"net/netip"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/proxier/backendtest"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// reference is a dataplane to try the lab on: a Plan written down as plain nft text, with chains
// for each frontend and each endpoint as kube-proxy's nftables mode has them, loaded as a whole at
// every change by the nft tool. It shares no code with any dataplane of lameduck.
type reference struct {
	fault string          // a mistake on purpose, see TestLabNoticesFaults
	had   map[string]bool // chains and sets in the kernel, as "delete" names them
}

func (r *reference) start(*plan.Node) (dataplane, error) {
	return &reference{fault: r.fault, had: map[string]bool{}}, nil
}

// startReference skips a test where the tool is missing.
func startReference(t *testing.T, fault string) func(*plan.Node) (dataplane, error) {
	t.Helper()
	if _, err := exec.LookPath("nft"); err != nil {
		backendtest.Lacking(t, "needs the nft tool: %v", err)
	}
	return (&reference{fault: fault}).start
}

// Apply loads the whole Plan, in one transaction.
func (r *reference) Apply(p *plan.Plan, _ plan.Delta) error {
	if r.fault == "the second change is lost" && len(r.had) > 0 {
		return nil
	}
	var text strings.Builder
	has := map[string]bool{}
	for _, f := range endpoints.Families() {
		w := &writer{plan: p, family: f, fault: r.fault, has: has}
		w.write()
		fmt.Fprintf(&text, "add table %s reference\nflush table %s reference\n", w.ip(), w.ip())
		for _, kind := range []string{"chain", "set"} { // chains refer to sets
			for _, name := range w.gone(r.had, kind) {
				fmt.Fprintf(&text, "delete %s\n", name)
			}
		}
		text.WriteString(w.text.String())
	}
	r.had = has
	nft := exec.Command("nft", "-f", "-")
	nft.Stdin = strings.NewReader(text.String())
	if out, err := nft.CombinedOutput(); err != nil {
		return fmt.Errorf("nft: %w: %s\n%s", err, out, text.String())
	}
	return nil
}

// writer writes the rules of one family.
type writer struct {
	plan   *plan.Plan
	family endpoints.IPFamily
	fault  string
	text   strings.Builder
	has    map[string]bool
	// rules to be collected from all frontends
	addresses, nodePorts, firewall, clusterIPs []string
	refusals                                   map[plan.Hooks][]string
}

func (w *writer) ip() string {
	if w.family == endpoints.IPv6 {
		return "ip6"
	}
	return "ip"
}

// gone lists what the kernel has of a kind and the new text has not.
func (w *writer) gone(had map[string]bool, kind string) []string {
	var names []string
	for name := range had {
		if strings.HasPrefix(name, kind+" "+w.ip()+" ") && !w.has[name] && !(kind == "set" && w.fault == "affinity is never forgotten") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (w *writer) chain(name string, rules ...string) {
	w.has[fmt.Sprintf("chain %s reference %s", w.ip(), name)] = true
	fmt.Fprintf(&w.text, "table %s reference {\n\tchain %s {\n\t\t%s\n\t}\n}\n", w.ip(), name, strings.Join(rules, "\n\t\t"))
}

func (w *writer) write() {
	w.refusals = map[plan.Hooks][]string{}
	i := 0
	for f := range w.plan.Frontends() {
		if f.Family() == w.family {
			w.frontend(fmt.Sprintf("frontend%d", i), f)
			i++
		}
	}
	isNew := "ct state new "
	if w.fault == "rules meet established flows" {
		isNew = ""
	}
	w.chain("firewall", w.firewall...)
	w.chain("services", slices.Concat(w.addresses, w.nodePorts)...)
	for _, hook := range []string{"prerouting", "output"} {
		w.chain("firewall_"+hook, "type filter hook "+hook+" priority -110;", isNew+"jump firewall")
		w.chain("nat_"+hook, "type nat hook "+hook+" priority -100;", "jump services")
	}
	mistaken := ""
	if w.fault == "a rule rewrites what is none of its matter" {
		mistaken = "oifname \"eth0\" ct status & dnat == 0 meta l4proto tcp masquerade"
	}
	w.chain("nat_postrouting", "type nat hook postrouting priority 100;", mistaken,
		"meta mark & 0x4000 == 0x4000 meta mark set meta mark ^ 0x4000 masquerade fully-random")
	for hook, name := range map[plan.Hooks]string{plan.Input: "input", plan.Forwarding: "forward", plan.Output: "output"} {
		w.chain("refuse_"+name, slices.Concat(w.refusals[hook], w.guard(hook))...)
		w.chain("filter_"+name, "type filter hook "+name+" priority 0;", isNew+"jump refuse_"+name, w.lostAnswers(name))
	}
}

func (w *writer) lostAnswers(hook string) string {
	if w.fault == "answers do not come back" && hook == "forward" {
		return "meta l4proto { tcp, udp } ct direction reply drop"
	}
	return ""
}

// guard is what nftables mode makes of ClusterIPs that no frontend met.
func (w *writer) guard(hook plan.Hooks) []string {
	var rules []string
	if hook == plan.Input {
		return nil
	}
	if len(w.clusterIPs) > 0 {
		rules = append(rules, fmt.Sprintf("%s daddr { %s } %s", w.ip(), strings.Join(w.clusterIPs, ", "), w.refusal(plan.Reject)))
	}
	if list := w.prefixes(w.plan.Node().ServiceCIDRs); list != "" {
		rules = append(rules, fmt.Sprintf("%s daddr { %s } %s", w.ip(), list, w.refusal(plan.Drop)))
	}
	return rules
}

// prefixes lists those of the family.
func (w *writer) prefixes(list []netip.Prefix) string {
	var words []string
	for _, p := range list {
		if endpoints.FamilyOf(p.Addr()) == w.family && !slices.Contains(words, p.String()) {
			words = append(words, p.String())
		}
	}
	return strings.Join(words, ", ")
}

// frontend writes what is particular to one address and port.
func (w *writer) frontend(name string, f *plan.Frontend) {
	match := w.match(f)
	if f.Allowed != nil && w.fault != "source ranges are ignored" {
		w.firewall = append(w.firewall, fmt.Sprintf("%s %s saddr != { %s } drop", match, w.ip(), w.prefixes(f.Allowed)))
	}
	if f.Kind == plan.ClusterIP && !slices.Contains(w.clusterIPs, f.Key.Addr.String()) {
		w.clusterIPs = append(w.clusterIPs, f.Key.Addr.String())
	}
	var forward, refuse []string
	var hooks plan.Hooks
	for source, who := range w.sources() {
		r := &f.Routes[source]
		if r.Action == plan.Forward {
			chain := fmt.Sprintf("%s_%s", name, plan.Source(source))
			w.chain(chain, w.choice(f, r)...)
			forward, refuse = append(forward, who+" goto "+chain), append(refuse, who+" return")
			continue
		}
		kept := "return"
		if r.Action == plan.Drop && f.Kind.External() {
			kept = "accept" // as by kube-proxy's goto: no node port of the same number gets it
		}
		forward, refuse = append(forward, who+" "+kept), append(refuse, who+" "+w.refusal(r.Action))
		hooks = r.Hooks
	}
	w.chain(name, forward...)
	w.chain(name+"_refused", refuse...)
	w.dispatch(f, hooks, match, name)
}

// dispatch leads packets to a frontend's chains. On the way in, node ports are asked first.
func (w *writer) dispatch(f *plan.Frontend, hooks plan.Hooks, match, name string) {
	if f.Kind == plan.NodePort {
		w.nodePorts = append(w.nodePorts, match+" jump "+name)
	} else {
		w.addresses = append(w.addresses, match+" jump "+name)
	}
	for _, hook := range []plan.Hooks{plan.Input, plan.Forwarding, plan.Output} {
		if hooks&hook == 0 {
			continue
		}
		rule := []string{match + " jump " + name + "_refused"}
		if f.Kind == plan.NodePort {
			w.refusals[hook] = append(rule, w.refusals[hook]...)
		} else {
			w.refusals[hook] = append(w.refusals[hook], rule...)
		}
	}
}

func (w *writer) refusal(a plan.Action) string {
	reject := a == plan.Reject
	if w.fault == "rejects are drops" && reject || w.fault == "drops are rejects" && !reject {
		reject = !reject
	}
	if reject {
		return "reject"
	}
	return "drop"
}

// match recognises packets for a frontend.
func (w *writer) match(f *plan.Frontend) string {
	port := fmt.Sprintf("%s dport %d", strings.ToLower(f.Key.Protocol.String()), f.Key.Port)
	if f.Kind != plan.NodePort {
		return fmt.Sprintf("%s daddr %s %s", w.ip(), f.Key.Addr, port)
	}
	local := "fib daddr type local ip daddr != 127.0.0.0/8"
	if w.family == endpoints.IPv6 {
		local = "fib daddr type local ip6 daddr != ::1"
	}
	if ranges := w.plan.Node().NodePortRanges(w.family); ranges != nil {
		local += fmt.Sprintf(" %s daddr { %s }", w.ip(), w.prefixes(ranges))
	}
	return local + " " + port
}

// sources recognises where packets come from, in the order in which that is asked.
func (w *writer) sources() []string {
	d := w.plan.Node().Detector
	pod := "meta l4proto 255" // what no packet has
	cidr, known := d.CIDR(w.family)
	switch {
	case d.Mode == plan.DetectBridgeInterface:
		pod = fmt.Sprintf("iifname %q", d.Interface)
	case d.Mode == plan.DetectInterfaceNamePrefix:
		pod = fmt.Sprintf("iifname %q", d.Interface+"*")
	case known:
		pod = fmt.Sprintf("%s saddr %s", w.ip(), cidr)
	}
	node := "fib saddr type local"
	if w.fault == "nodes are outside" {
		node = "meta l4proto 255"
	}
	return []string{pod, node, ""}
}

const mark = "meta mark set meta mark | 0x4000"

// choice picks an endpoint: the client's own one if that is remembered, else any.
func (w *writer) choice(f *plan.Frontend, r *plan.Route) []string {
	var rules []string
	if r.Masquerade && w.fault != "nobody is masqueraded" || w.fault == "everybody is masqueraded" {
		rules = append(rules, mark)
	}
	if w.fault == "some flows are dropped" {
		rules = append(rules, "numgen random mod 5 0 drop")
	}
	list := f.Lists.Of(r.List)
	switch {
	case w.fault == "the last of several endpoints is missing" && len(list) > 1:
		list = list[:len(list)-1]
	case w.fault == "an endpoint of another list is too many" && r.List == endpoints.LocalList && len(f.Lists.Cluster) > 0:
		list = f.Lists.Cluster
	}
	var picks, remembered []string
	for i, t := range list {
		chain := w.endpoint(f, t)
		picks = append(picks, fmt.Sprintf("%d : goto %s", i, chain))
		if f.Affinity > 0 {
			remembered = append(remembered, fmt.Sprintf("%s saddr @%s_clients goto %s", w.ip(), chain, chain))
		}
	}
	rules = append(rules, remembered...)
	return append(rules, fmt.Sprintf("numgen random mod %d vmap { %s }", len(list), strings.Join(picks, ", ")))
}

// endpoint writes the chain that leads to an endpoint of a service port, and returns its name.
func (w *writer) endpoint(f *plan.Frontend, t plan.Target) string {
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789", r) {
			return r
		}
		return '_'
	}, strings.ToLower(fmt.Sprintf("endpoint_%s_%s", f.Service, t.Addr)))
	if w.has[fmt.Sprintf("chain %s reference %s", w.ip(), name)] {
		return name
	}
	var rules []string
	if w.plan.Hairpin(t.Addr.Addr(), t) && w.fault != "hairpins are not masqueraded" && w.fault != "nobody is masqueraded" {
		rules = append(rules, fmt.Sprintf("%s saddr %s %s", w.ip(), t.Addr.Addr(), mark))
	}
	if f.Affinity > 0 {
		set := name + "_clients"
		w.has[fmt.Sprintf("set %s reference %s", w.ip(), set)] = true
		kind := map[endpoints.IPFamily]string{endpoints.IPv4: "ipv4_addr", endpoints.IPv6: "ipv6_addr"}[w.family]
		fmt.Fprintf(&w.text, "table %s reference {\n\tset %s {\n\t\ttype %s; flags dynamic,timeout; timeout %ds;\n\t}\n}\n",
			w.ip(), set, kind, int(f.Affinity.Seconds()))
		rules = append(rules, fmt.Sprintf("update @%s { %s saddr }", set, w.ip()))
	}
	w.chain(name, append(rules, fmt.Sprintf("meta l4proto %s dnat to %s", strings.ToLower(f.Key.Protocol.String()), t.Addr))...)
	return name
}
