package scenario

import (
	"fmt"
	"strings"
	"testing"
)

// repeats says what the proxy before a case's first stream sends again, and what it would if requests were POSTs.
func repeats(t *testing.T, text string, opts Options) string {
	t.Helper()
	s := inferOne(t, text, opts).Scenario
	words := func(n int, on any) string { return fmt.Sprintf("%d on %d", n, on) }
	p := s.Traffic[0].ProxyAfter()
	out := []string{words(p.Retries, p.RetryOn)}
	for _, a := range Alternatives(s) {
		if a.ID == "methods" {
			q := a.Scenario.Traffic[0].ProxyAfter()
			out = append(out, a.Value+": "+words(q.Retries, q.RetryOn))
		}
	}
	if again := s.Traffic[0].ProxyAfter(); again.Retries != p.Retries || again.RetryOn != p.RetryOn {
		t.Error("the scenario itself was changed")
	}
	return strings.Join(out, "; ")
}

// A proxy may do again what a GET asks for, and not what a POST does: nginx sends a POST elsewhere while no target has got it,
// Google's never. Reference: docs/model/load-balancers.md 4 Methods.
func TestWhatAProxySendsAgainHangsOnTheMethod(t *testing.T) {
	t.Parallel()
	const (
		plain      = ""
		connect    = "0 on 0"
		idempotent = nginxPrefix + "proxy-next-upstream: "
	)
	class := func(name string) string { return "ingressClassName: " + name }
	for name, tt := range map[string]struct{ ingress, class, port, lb, want string }{ // order: each for itself
		"nginx":                       {plain, class("nginx"), "http", "", "2 on 1; " + postsWords + ": 2 on 0"},
		"nginx, also POSTs":           {idempotent + "error timeout non_idempotent", class("nginx"), "http", "", "2 on 1"},
		"nginx, which tries no other": {idempotent + "'off'", class("nginx"), "http", "", "0 on 1"},
		"nginx and gRPC":              {plain, class("nginx"), "grpc", "", "2 on 0"},
		"Google's":                    {plain, class("gce"), "http", "gke-l7-neg", connect + "; " + getsWords + ": 1 on 0"},
		"Google's and gRPC":           {plain, class("gce"), "grpc", "gke-l7-neg", connect},
		"an ALB, which sends nothing": {plain, class("alb"), "http", "aws-alb-ip", connect},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := routedWeb("", "", anIngress(tt.ingress, tt.class))
			if tt.port != "http" {
				text = strings.Replace(text, "targetPort:", "appProtocol: grpc, targetPort:", 1)
			}
			if got := repeats(t, text, Options{LB: tt.lb}); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// Who says what is sent again says it of whatever is asked.
func TestWhatIsSaidToBeSentAgainIs(t *testing.T) {
	t.Parallel()
	text := routedWeb("", "", anIngress("", "ingressClassName: nginx"))
	if got := repeats(t, text, Options{Set: []string{"loadBalancer.retries=1"}}); got != "1 on 1" {
		t.Error(got)
	}
}
