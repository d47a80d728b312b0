package cli

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

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
