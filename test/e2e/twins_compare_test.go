package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/lameduck-proxy/lameduck/test/e2e/node"
	"github.com/lameduck-proxy/lameduck/test/lab"
)

// client10 is how long a single question of the API server may take.
const client10 = 10 * time.Second

// forward passes connections on until the listener is closed.
func forward(l net.Listener, dial func() (net.Conn, error)) {
	for {
		in, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { _ = in.Close() }() // either side may have
			out, err := dial()
			if err != nil {
				return
			}
			defer func() { _ = out.Close() }()
			go func() {
				_, _ = io.Copy(out, in)
				_ = out.Close()
			}()
			_, _ = io.Copy(in, out)
		}()
	}
}

func healthzAt(a netip.Addr, path string) string {
	return fmt.Sprintf("http://%s/%s", netip.AddrPortFrom(a, node.HealthzPort), path)
}

// times are what differs between two answers of healthz that say the same, and so does their length.
var times = regexp.MustCompile(`\d{4}-\d\d-\d\d[^"]*`)

// get is what a URL answers from the node: status, headers and body.
func (x *twin) get(ctx context.Context, url string) string {
	dial := func(ctx context.Context, network, address string) (c net.Conn, err error) {
		err = x.worker.Do(func() error {
			c, err = (&net.Dialer{}).DialContext(ctx, network, address)
			return err
		})
		return c, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err.Error()
	}
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: dial}}).Do(request)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return "closed"
	}
	if err != nil {
		return err.Error()
	}
	body, err := io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return err.Error()
	}
	response.Header.Del("Date")
	if text := times.ReplaceAll(body, []byte("TIME")); string(text) != string(body) {
		response.Header.Del("Content-Length") // the client has checked it
		body = text
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", response.Status)
	_ = response.Header.Write(&b) // a Builder takes all; headers are sorted
	return b.String() + string(body)
}

// compareHealth asks the health ports of both twins: those of the nodes, and those of Services,
// open, closed or gone.
func (p *pair) compareHealth(t *testing.T) {
	t.Helper()
	for _, a := range addrs(twinAddr4, twinAddr6) {
		for _, path := range []string{"healthz", "livez"} {
			got := p.both(t, healthzAt(a, path))
			p.seen[path+" "+got[:3]]++
		}
		for _, port := range p.world.healthPorts {
			got := p.both(t, fmt.Sprintf("http://%s/", netip.AddrPortFrom(a, port)))
			if got != "closed" {
				got = got[:3]
			}
			p.seen["health "+got]++
		}
	}
}

// both is what both twins answer to a URL.
func (p *pair) both(t *testing.T, url string) string {
	t.Helper()
	theirs, ours := p.twins[0].get(t.Context(), url), p.twins[1].get(t.Context(), url)
	if theirs != ours {
		t.Errorf("%s: kube-proxy answers %q, lameduck %q", url, theirs, ours)
	}
	return theirs
}

// comparePackets sends packets to everything a Service may be reached at, from everywhere.
func (p *pair) comparePackets(t *testing.T, s *corev1.Service) {
	t.Helper()
	for _, protocol := range []lab.Protocol{lab.TCP, lab.UDP} {
		for _, from := range []string{"client", "pod", "pod A", lab.NodeName} {
			for family := range 2 {
				for _, dst := range frontends(s, protocol, family) {
					p.compareFlows(t, s, lab.Dial{From: from, Protocol: protocol, Dst: dst}, family)
				}
			}
		}
	}
}

// frontends are the addresses and ports of a Service, in one family.
func frontends(s *corev1.Service, protocol lab.Protocol, family int) []netip.AddrPort {
	out := []netip.AddrPort{netip.AddrPortFrom(netip.MustParseAddr(s.Spec.ClusterIPs[family]), servicePort)}
	for _, ip := range slices.Concat(s.Spec.ExternalIPs, ingressIPs(s)) {
		if a := netip.MustParseAddr(ip); a.Is6() == (family == 1) {
			out = append(out, netip.AddrPortFrom(a, servicePort))
		}
	}
	for _, port := range s.Spec.Ports {
		if port.NodePort != 0 && strings.EqualFold(string(port.Protocol), protocol.String()) {
			out = append(out, netip.AddrPortFrom(addrs(twinAddr4, twinAddr6)[family], uint16(port.NodePort))) // a port
		}
	}
	return out
}

// sight is what became of many connections.
type sight struct {
	kinds map[string]bool // answers without a draw: fates, and who saw whom
	first []string        // answers to the first client address, in order
}

// compareFlows opens connections on both twins until both have seen the same, or enough.
func (p *pair) compareFlows(t *testing.T, s *corev1.Service, d lab.Dial, family int) {
	t.Helper()
	const atLeast, repeated = 5, 4
	var sights [2]sight
	sticky := s.Spec.SessionAffinity == corev1.ServiceAffinityClientIP
	for i := range enoughDraws {
		for n, x := range p.twins {
			if sights[n].kinds == nil {
				sights[n].kinds = map[string]bool{}
			}
			r, err := x.open(d, family, max(0, i-repeated))
			if err != nil {
				t.Fatal(err)
			}
			kind := kindOf(r, d.From)
			if i <= repeated {
				sights[n].first = append(sights[n].first, r.Arrival.At.String())
			}
			sights[n].kinds[kind] = true
		}
		if i >= atLeast && equal(sights[0].kinds, sights[1].kinds) {
			break
		}
		if sticky && len(twinAddrsOf(d.From)) < clientAddrs && i > repeated {
			break // one client only: it sticks to any of the endpoints
		}
	}
	p.judge(t, s, d, sights, sticky)
}

// judge compares what both have seen.
func (p *pair) judge(t *testing.T, s *corev1.Service, d lab.Dial, sights [2]sight, sticky bool) {
	t.Helper()
	few := sticky && len(twinAddrsOf(d.From)) < clientAddrs
	if !equal(sights[0].kinds, sights[1].kinds) && (!few || !answered(sights[0]) || !answered(sights[1])) {
		t.Errorf("%s from %s to %s of %s (%s): kube-proxy %v, lameduck %v", d.Protocol, d.From, d.Dst, s.Name, s.Spec.Type, sights[0], sights[1])
	}
	if sticky && answered(sights[0]) {
		for n, x := range p.twins {
			if len(slices.Compact(slices.Sorted(slices.Values(sights[n].first)))) > 1 {
				t.Errorf("%s from %s to %s of %s: %s leads one client to %v, in spite of session affinity", d.Protocol, d.From, d.Dst, s.Name, x.name, sights[n].first)
			}
		}
		p.seen["answered, sticky"]++
	}
	for kind := range sights[0].kinds { // order: only counted
		fate, who, _ := strings.Cut(kind, " ")
		if p.seen[fate]++; strings.Contains(who, "masqueraded") {
			p.seen[fate+", masqueraded"]++
		}
	}
	if len(sights[0].kinds) > 1 {
		p.seen["answered by several"]++
	}
}

func (s sight) String() string { return fmt.Sprint(sorted(s.kinds)) }

func sorted(m map[string]bool) []string {
	var out []string
	for k := range m { // order: sorted below
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func equal(a, b map[string]bool) bool { return slices.Equal(sorted(a), sorted(b)) }

func answered(s sight) bool {
	for kind := range s.kinds { // order: all have to be
		if !strings.HasPrefix(kind, lab.Answered.String()) {
			return false
		}
	}
	return true
}

func twinAddrsOf(site string) []netip.Addr {
	for _, s := range twinLayout().Sites {
		if s.Name == site {
			return s.Addrs
		}
	}
	return nil
}

// kindOf is a result but for what is drawn: the client's port, and the one it is given instead.
func kindOf(r lab.Result, from string) string {
	who := func(a lab.Arrival) string {
		saw := "seeing the client"
		switch {
		case from == lab.NodeName:
			saw = "seeing " + a.Saw.Addr().String()
		case !slices.Contains(twinAddrsOf(from), a.Saw.Addr()):
			saw = "masqueraded as " + a.Saw.Addr().String()
		}
		return fmt.Sprintf(" by %s at %s, %s", a.By, a.At, saw)
	}
	switch {
	case r.Fate == lab.Answered:
		return r.Fate.String() + who(r.Arrival)
	case r.Fate == lab.Refused:
		return fmt.Sprintf("%s by ICMP %d/%d", r.Fate, r.Error.Type, r.Error.Code)
	case len(r.Arrivals) > 0:
		return r.Fate.String() + who(r.Arrivals[0])
	default:
		return r.Fate.String()
	}
}
