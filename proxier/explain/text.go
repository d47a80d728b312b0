package explain

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lameduck-proxy/lameduck/proxier/page"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// Style paints a word (page.Painted); a nil Style leaves it as it is.
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

// TextOptions say how text is shown.
type TextOptions struct {
	Style Style // nil for plain text
	Width int   // columns, 0 for page.Widest; lines are wrapped, never cut
}

// page is an empty one of the width asked for.
func (o *TextOptions) page() *page.Page { return page.New(page.Columns(o.Width)) }

// WriteText writes the explanation for people, service port by service port.
func (x *Explanation) WriteText(w io.Writer, opts TextOptions) error {
	t := text{page: opts.page(), style: opts.Style}
	for i := range x.Services {
		t.page.Blank()
		t.service(x, &x.Services[i])
	}
	if len(x.NotProxied) > 0 {
		t.page.Blank()
	}
	for _, n := range x.NotProxied {
		t.line("%s  not proxied: %s", n.Service, n.Why)
	}
	_, err := io.WriteString(w, t.page.String())
	return err
}

// text is the writer of one explanation.
type text struct {
	page  *page.Page
	style Style
}

// line adds a line; what does not fit goes on below, indented.
func (t *text) line(format string, args ...any) {
	words := fmt.Sprintf(format, args...)
	if page.Width(words) <= t.page.Width() {
		t.page.Verbatim(words)
		return
	}
	t.page.Hanging("", hanging, words)
}

// hanging is how far the further lines of a sentence are indented.
const hanging = 2

func (t *text) styled(role Role, word string) string {
	if t.style == nil {
		return word
	}
	return t.style(role, word)
}

func (t *text) service(x *Explanation, s *Service) {
	t.line("%s", t.styled(Heading, headline(s)))
	t.line("%s", x.Whose())
	for _, gate := range x.WhatIf {
		t.line("WHAT IF: no real cluster of version %s can set %s this way", x.KubernetesVersion, gate)
	}
	for _, n := range x.Notes {
		t.line("note: %s", n)
	}
	t.page.Blank()
	t.page.Table(0, t.flows(s))
	t.page.Blank()
	t.table(s)
	if len(s.Remarks) > 0 {
		t.page.Blank()
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

// flows makes one row per kind of traffic: where it comes from, by which policy, to whom;
// and one for the health-check node port.
func (t *text) flows(s *Service) [][]string {
	var rows [][]string
	for _, f := range s.Flows() {
		rows = append(rows, []string{"FROM " + strings.ToUpper(f.From), f.Policy, t.what(&f), f.Why})
	}
	if h := s.HealthCheckNodePort; h != nil {
		role := Good
		if h.LocalEndpoints == 0 {
			role = Warn
		}
		rows = append(rows, []string{fmt.Sprintf("HEALTH PORT %d", h.Port), "", t.styled(role, fmt.Sprint(h.Status)), s.HealthWords()})
	}
	return rows
}

const maxListed = 6 // endpoints in a flow line; the table has them all

// what becomes of connections, in a word or by the endpoints.
func (t *text) what(f *Flow) string {
	if f.Action != plan.Forward.String() {
		return t.styled(Bad, strings.ToUpper(f.Action))
	}
	listed, role := f.Endpoints, Good
	if len(listed) > maxListed {
		listed = append(append([]string{}, listed[:maxListed]...), fmt.Sprintf("and %d more", len(f.Endpoints)-maxListed))
	}
	if f.Fallback {
		role = Warn
	}
	return t.styled(role, strings.Join(listed, "  "))
}

// table writes a line for each endpoint, and below them the reasons, each once.
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
	rows := [][]string{append(header, "CLUSTER")}
	for i := range s.Decisions {
		d := &s.Decisions[i]
		row := []string{d.Endpoint, nodeCell(d), orDash(d.Pod), yes(d.Conditions.Ready), yes(d.Conditions.Serving), yes(d.Conditions.Terminating)}
		if outside {
			row = append(row, d.Of(s.ExternalTrafficPolicy).Use())
		}
		rows = append(rows, append(row, d.Of(s.InternalTrafficPolicy).Use()))
	}
	t.page.Table(0, rows)
	t.reasons(s.Decisions)
}

// reasons writes why each endpoint is used or not, in the order of the first endpoint of each reason.
func (t *text) reasons(decisions []Decision) {
	var whys []string
	for i := range decisions {
		if why := decisions[i].Why; !slices.Contains(whys, why) {
			whys = append(whys, why)
		}
	}
	t.page.Blank()
	for _, why := range whys {
		var of []string
		for i := range decisions {
			if decisions[i].Why == why {
				of = append(of, decisions[i].Endpoint)
			}
		}
		t.line("%s: %s", whose(of, len(decisions)), why)
	}
}

// whose names the endpoints that a reason is about, of all of them.
func whose(endpoints []string, all int) string {
	switch n := len(endpoints); {
	case n == 1:
		return endpoints[0]
	case n == all:
		return fmt.Sprintf("all %d", n)
	case n > maxListed:
		return fmt.Sprintf("%s and %d more", strings.Join(endpoints[:maxListed], ", "), n-maxListed)
	default:
		return strings.Join(endpoints, ", ")
	}
}

func portPhrase(s *Service) string {
	if s.Port == "" {
		return "an unnamed " + s.Protocol + " port in " + s.IPFamily
	}
	return fmt.Sprintf("a %s port named %q in %s", s.Protocol, s.Port, s.IPFamily)
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
