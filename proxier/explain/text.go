package explain

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/lameduck-proxy/lameduck/endpoints"
)

// Style turns a word into what a terminal shows for it; a nil Style leaves it as it is.
// Colour never carries the meaning alone: the words are the same.
type Style func(role Role, word string) string

// Role is what a word stands for.
type Role uint8

// The roles that Styles know.
const (
	Heading Role = iota
	Good         // traffic flows
	Warn         // traffic flows by the fallback
	Bad          // traffic is rejected or dropped
)

// WriteText writes the explanation for people, service port by service port.
func (x *Explanation) WriteText(w io.Writer, style Style) error {
	t := text{w: bufio.NewWriter(w), style: style}
	for i := range x.Services {
		if i > 0 {
			t.line("")
		}
		t.service(x, &x.Services[i])
	}
	if len(x.NotProxied) > 0 && len(x.Services) > 0 {
		t.line("")
	}
	for _, n := range x.NotProxied {
		t.line("%s  not proxied: %s", n.Service, n.Why)
	}
	return t.w.Flush()
}

// text is the writer of one explanation.
type text struct {
	w     *bufio.Writer
	style Style
}

func (t *text) line(format string, args ...any) {
	fmt.Fprintf(t.w, format+"\n", args...)
}

func (t *text) styled(role Role, word string) string {
	if t.style == nil {
		return word
	}
	return t.style(role, word)
}

func (t *text) service(x *Explanation, s *Service) {
	t.line("%s", t.styled(Heading, headline(s)))
	t.line("%s", subtitle(x))
	for _, gate := range x.WhatIf {
		t.line("WHAT IF: no real cluster of version %s can set %s this way", x.KubernetesVersion, gate)
	}
	for _, n := range x.Notes {
		t.line("note: %s", n)
	}
	t.line("")
	t.columns(t.flows(s))
	t.line("")
	t.table(s)
	if len(s.Remarks) > 0 {
		t.line("")
		for _, r := range s.Remarks {
			t.line("%s", r)
		}
	}
}

func headline(s *Service) string {
	words := []string{s.Service}
	port := fmt.Sprintf("%d/%s", s.PortNumber, s.Protocol)
	if s.Port != "" {
		port = s.Port + " " + port
	}
	words = append(words, port, s.IPFamily)
	kind := s.Type + " " + s.ClusterIP
	if ips := append(append([]string{}, s.LoadBalancerIPs...), s.ExternalIPs...); len(ips) > 0 {
		kind = s.Type + " " + strings.Join(ips, " ")
	}
	if s.NodePort != 0 {
		kind += fmt.Sprintf(" nodePort %d", s.NodePort)
	}
	return strings.Join(append(words, kind), "  ")
}

func subtitle(x *Explanation) string {
	zone := "zone unknown"
	if x.Zone != "" {
		zone = "zone " + x.Zone
	}
	node := x.Node
	if node == "" {
		node = "a node without a name"
	}
	return fmt.Sprintf("as kube-proxy %s does it on %s (%s), terminating fallback %s", x.KubernetesVersion, node, zone, x.TerminatingFallback)
}

// flows makes one row per kind of traffic: where it comes from, by which policy, to whom;
// and one for the health-check node port.
func (t *text) flows(s *Service) [][]string {
	var rows [][]string
	if outside := s.find("outside", "external"); outside != nil {
		rows = append(rows, t.flow(s, "FROM OUTSIDE", s.ExternalTrafficPolicy, outside))
	}
	rows = append(rows, t.flow(s, "FROM THE CLUSTER", s.InternalTrafficPolicy, s.find("node", "clusterIP")))
	if s.HealthCheckNodePort != nil {
		rows = append(rows, t.health(s))
	}
	return rows
}

func (s *Service) find(from, to string) *Traffic {
	for i := range s.Traffic {
		if s.Traffic[i].From == from && s.Traffic[i].To == to {
			return &s.Traffic[i]
		}
	}
	return nil
}

const maxListed = 6 // endpoints in a flow line; the table has them all

func (t *text) flow(s *Service, title, policy string, f *Traffic) []string {
	var what, why string
	switch f.Action {
	case "reject":
		what, why = t.styled(Bad, "REJECT"), "no usable endpoint anywhere: clients are refused at once"
	case "drop":
		what, why = t.styled(Bad, "DROP"), "no usable endpoint on this node, though there are some elsewhere: clients wait"
		if f.Why == "no-cluster-endpoints" {
			why = "nothing ready, and this list does not fall back: clients wait"
		}
	default:
		listed := f.Endpoints
		if len(listed) > maxListed {
			listed = append(append([]string{}, listed[:maxListed]...), fmt.Sprintf("and %d more", len(f.Endpoints)-maxListed))
		}
		what = t.styled(t.roleOf(s, f), strings.Join(listed, "  "))
		why = s.flowWhy(f)
	}
	return []string{title, policy, what, why}
}

func (t *text) roleOf(s *Service, f *Traffic) Role {
	if s.fellBack(f) {
		return Warn
	}
	return Good
}

func (s *Service) fellBack(f *Traffic) bool {
	if f.List == endpoints.LocalList.String() {
		return s.UsesTerminating.Local
	}
	return s.UsesTerminating.Cluster
}

func (s *Service) flowWhy(f *Traffic) string {
	share := ""
	if n := len(f.Endpoints); n > 1 {
		share = fmt.Sprintf(", each 1 in %d", n)
	}
	local := f.List == endpoints.LocalList.String()
	switch {
	case s.fellBack(f) && local:
		return "still serving though terminating: no ready endpoint on this node (KEP-1669)" + share
	case s.fellBack(f):
		return "still serving though terminating: no ready endpoint anywhere (KEP-1669)" + share
	case local:
		return "ready on this node" + share
	case s.TopologyMode != "":
		return "ready, by topology hints (" + s.TopologyMode + ")" + share
	default:
		return "ready" + share
	}
}

func (t *text) health(s *Service) []string {
	h := s.HealthCheckNodePort
	role, verb := Good, "load balancers may send to this node"
	if h.LocalEndpoints == 0 {
		role, verb = Warn, "load balancers are told to leave"
		if outside := s.find("outside", "external"); outside != nil && outside.Action == "forward" && s.UsesTerminating.Local {
			verb += " while " + strings.Join(outside.Endpoints, ", ") + " still serves"
		}
	}
	noun := "endpoints"
	if h.LocalEndpoints == 1 {
		noun = "endpoint"
	}
	return []string{
		fmt.Sprintf("HEALTH PORT %d", h.Port), "", t.styled(role, fmt.Sprint(h.Status)),
		fmt.Sprintf("%d ready %s here: %s", h.LocalEndpoints, noun, verb),
	}
}

// table writes one line per endpoint.
func (t *text) table(s *Service) {
	if len(s.Decisions) == 0 {
		t.line("no endpoints: no EndpointSlice offers %s for this Service", portPhrase(s))
		return
	}
	outside := s.ExternalTrafficPolicy != ""
	header := []string{"ENDPOINT", "NODE", "POD", "READY", "SERVING", "TERMINATING"}
	if outside {
		header = append(header, "OUTSIDE")
	}
	rows := [][]string{append(header, "CLUSTER", "WHY")}
	for i := range s.Decisions {
		d := &s.Decisions[i]
		row := []string{d.Endpoint, nodeCell(d), orDash(d.Pod), yes(d.Conditions.Ready), yes(d.Conditions.Serving), yes(d.Conditions.Terminating)}
		if outside {
			row = append(row, useCell(d.of(s.ExternalTrafficPolicy)))
		}
		rows = append(rows, append(row, useCell(d.of(s.InternalTrafficPolicy)), d.Why))
	}
	t.columns(rows)
}

func portPhrase(s *Service) string {
	if s.Port == "" {
		return "an unnamed " + s.Protocol + " port in " + s.IPFamily
	}
	return fmt.Sprintf("a %s port named %q in %s", s.Protocol, s.Port, s.IPFamily)
}

func (d *Decision) of(policy string) Reasoned {
	if policy == endpoints.PolicyLocal.String() {
		return d.Local
	}
	return d.Cluster
}

func useCell(r Reasoned) string {
	switch {
	case r.Reason == endpoints.ReasonFallback.String():
		return "fallback"
	case r.Used:
		return "used"
	default:
		return "-"
	}
}

func nodeCell(d *Decision) string {
	if d.IsLocal {
		return d.Node + " *"
	}
	return orDash(d.Node)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// columns aligns rows with two blanks between cells; the last cell is not padded.
func (t *text) columns(rows [][]string) {
	var width []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], visible(cell))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			if i == len(row)-1 {
				b.WriteString(cell)
				break
			}
			b.WriteString(pad(cell, width[i]) + "  ")
		}
		t.line("%s", strings.TrimRight(b.String(), " "))
	}
}

// pad fills a cell with blanks; escape sequences of a Style take no room.
func pad(s string, width int) string {
	if n := width - visible(s); n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}

func visible(s string) int {
	n, escape := 0, false
	for _, r := range s {
		switch {
		case r == '\x1b':
			escape = true
		case escape:
			escape = r != 'm'
		default:
			n++
		}
	}
	return n
}
