package cli

import (
	"encoding/json"
	"io"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
)

// proxyWith is `lameduck proxy` with the given arguments, as far as it gets before it watches anything.
func proxyWith(t *testing.T, args ...string) (*proxyCommand, *settings) {
	t.Helper()
	std := Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}
	c := &proxyCommand{std: std}
	flags := pflag.NewFlagSet("proxy", pflag.ContinueOnError)
	c.input.register(flags)
	c.node.register(flags)
	c.servers.register(flags)
	flags.StringVar(&c.simAddress, "sim-bind-address", "", "")
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	if err := c.takeSim(); err != nil {
		t.Fatal(err)
	}
	profile, err := c.node.profile()
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.node.settings(&manifest.Objects{}, profile, std)
	if err != nil {
		t.Fatal(err)
	}
	return c, s
}

func TestAProxyThatProgramsNothingListensWhereNobodyElseDoes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, args           string
		sim, health, metrics string
		dialect              plan.Dialect
	}{
		{"not in that mode", "--mode iptables", "", "0.0.0.0:10256", "127.0.0.1:10249", plan.IPTables},
		{"by default", "--mode sim", "127.0.0.1:10270", "", "", plan.NFTables},
		{"an address", "--mode sim --sim-bind-address 0.0.0.0", "0.0.0.0:10270", "", "", plan.NFTables},
		{"an address and port", "--mode sim --sim-bind-address [::1]:80", "[::1]:80", "", "", plan.NFTables},
		{"where flags say so", "--mode sim --healthz-bind-address 127.0.0.1:1 --metrics-bind-address 127.0.0.1", "127.0.0.1:10270", "127.0.0.1:1", "127.0.0.1:10249", plan.NFTables},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cmd, s := proxyWith(t, strings.Fields(c.args)...)
			sim, err := cmd.simOptions(s)
			if err != nil {
				t.Fatal(err)
			}
			servers, err := cmd.servers.options(s.config)
			if err != nil {
				t.Fatal(err)
			}
			servers = cmd.simServers(servers)
			at := ""
			if sim != nil {
				at = sim.Address
			}
			want := []string{c.sim, c.health, c.metrics, c.dialect.String()}
			if diff := cmp.Diff(want, []string{at, servers.Healthz, servers.Metrics, s.config.Dialect().String()}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAProxyThatProgramsNothingTracesAsTraceDoes(t *testing.T) {
	t.Parallel()
	cmd, s := proxyWith(t, "--mode", "sim")
	sim, err := cmd.simOptions(s)
	if err != nil {
		t.Fatal(err)
	}
	p := plan.Empty(&plan.Node{Name: "node-1", Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.1")}, Options: endpoints.CurrentOptions()})
	answer, err := sim.Trace(p, "198.51.100.7", "192.0.2.1:30080", "")
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(answer)
	if err != nil || !strings.Contains(string(text), `"kind":"Trace","node":"node-1"`) || !strings.Contains(string(text), `"verdict":"none"`) {
		t.Errorf("%v: %s", err, text)
	}
	for _, q := range [][2]string{{"", ""}, {"here", "192.0.2.1:80"}, {"198.51.100.7", "192.0.2.1"}, {"198.51.100.7", "192.0.2.1:80/icmp"}} {
		if _, err := sim.Trace(p, q[0], q[1], ""); err == nil || !strings.Contains(err.Error(), "/trace?from=IP&to=IP:PORT/PROTOCOL") {
			t.Errorf("%q: %v", q, err)
		}
	}
}
