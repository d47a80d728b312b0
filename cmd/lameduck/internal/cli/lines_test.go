package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// commandLines are asked with examples/web.yaml or web-app.yaml on stdin, as their first word says: nothing, or little, is simulated for any of them.
var commandLines = []string{
	"web --help", "web sim --help", "web explain --help", "web trace --help", "web proxy --help", "web learn --help", "web play --help", "web version --help",
	"web", "web nothing", "web sim nothing", "web sim -f - nothing", "web sim --nothing", "web sim -f", "web sim -f - -o", "web sim -f - -o nothing", "web help sim nothing",
	"app sim -f - --runs 0", "app sim -f - --runs -1", "app sim -f - --runs many", "app sim -f - --seed 0", "app sim -f - --seed -1", "app sim -f - --rate 5", "app sim -f - --rate 0/s",
	"app sim -f - --timeout 0s", "app sim -f - --timeout soon", "app sim -f - --connect-timeout none --timeout 1", "app sim -f - --until 0s", "app sim -f - --until 1000h",
	"app sim -f - --nodes 0", "app sim -f - --nodes -1", "app sim -f - --nodes 1000000", "app sim -f - --profile nothing", "app sim -f - --profile web=nothing",
	"app sim -f - --lb nothing", "app sim -f - --env nothing", "app sim -f - --action nothing", "app sim -f - --action rollout,nothing", "app sim -f - --action drain=", "app sim -f - --action drain=nothing",
	"app sim -f - --target nothing", "app sim -f - --target nothing/web", "app sim -f - --kubernetes-version 1", "app sim -f - --kubernetes-version 1.99", "app sim -f - --kubernetes-version 1.2",
	"app sim -f - --feature-gates A=true", "app sim -f - --feature-gates A", "app sim -f - --feature-gates ProxyTerminatingEndpoints=maybe",
	"app sim -f - --set nothing", "app sim -f - --set nothing=1", "app sim -f - --set start=1s --set start=2s", "app sim -f - --set start=-1s", "app sim -f - --set latency.watch=1s,2s",
	"app sim -f - --fail-on nothing", "app sim -f - --max-drops -1", "app sim -f - --max-lost soon", "app sim -f - --show nothing --runs 1 --sensitivity=false --fixes 0",
	"app sim -f - --fixes -2", "app sim -f - --fixes some", "app sim -f - --sensitivity=some", "app sim -f - --sweep nothing", "app sim -f - --sweep nothing=1", "app sim -f - --sweep prestop=", "app sim -f - --sweep prestop=0..9:0",
	"app sim -f - --sweep prestop=0,5 --sweep grace=10,20 --sweep replicas=1", "app sim -f - --sweep prestop=0,5 --report x.html --timeline", "app sim -f - --timeline", "app sim -f - -o nothing",
	"app sim -f - --list nothing", "app sim --list causes --runs 3", "app sim -f - --list causes", "app sim -f - -f -", "app sim -f - -A -n shop", "app sim -f - --context nothing --kubeconfig /nothing",
	"app sim -f /nothing", "app sim -f - --target default/web --action rollout --runs 1 --sensitivity=false --fixes 0", "app sim -f - --action nothing --target nothing --rate nothing --set nothing",
	"web explain -f -", "web explain -f - nothing", "web explain -f - web", "web explain -f - default/web:80", "web explain -f - default/web:81", "web explain -f - --node nothing", "web explain -f - --node node-1",
	"web explain -f - --mode nothing", "web explain -f - -o nothing", "web explain -f - --terminating-fallback nothing", "web explain -f - --kubernetes-version 1.20", "web explain -f - -n other",
	"web explain -f - --node-label zone", "web explain -f - --node-label zone=a", "web explain -f - --cluster-cidr nothing", "web explain -f - --config /nothing",
	"web trace -f -", "web trace -f - --from nothing --to web", "web trace -f - --to 10.96.0.10:80", "web trace -f - --from pod --to nothing", "web trace -f - --from 1.2.3.4 --to 10.96.0.10", "web trace -f - --from 10.244.1.9 --to default/web:80",
	"web trace -f - --to default/web:80 --protocol nothing", "web trace -f - --to default/web:80 --backend nothing", "web trace -f - --node node-1 --from outside --to default/web:80",
	"web proxy nothing", "web proxy --mode nothing", "web proxy --proxy-mode nothing", "web proxy --mode nftables --proxy-mode iptables", "web proxy --config /nothing", "web proxy --cluster-cidr nothing --dry-run -f -",
	"web proxy --conntrack-min -1 --dry-run -f -",
	"web proxy --write-config-to", "web proxy --healthz-bind-address nothing --dry-run -f -", "web proxy --feature-gates A --dry-run -f -", "web proxy --dry-run",
	"web learn", "web learn nothing", "web learn prestop nothing", "web learn prestop --check /nothing", "web learn prestop -o nothing", "web learn prestop -o yaml", "web learn --site", "web learn prestop --solution", "web learn prestop --plain",
	"web play nothing", "web play --address nothing", "web play -f /nothing", "web version nothing", "web version -o nothing",
}

// What a command line says that is at fault, or that asks for help, is kept whole, with the exit code: the words on stdout and stderr.
func TestCommandLinesAreKept(t *testing.T) {
	t.Parallel()
	inputs := map[string]string{}
	for name, file := range map[string]string{"web": "web.yaml", "app": "web-app.yaml"} { // order: each by itself
		data, err := os.ReadFile(examples + file)
		if err != nil {
			t.Fatal(err)
		}
		inputs[name] = string(data)
	}
	var all strings.Builder
	for _, line := range commandLines {
		of, args, _ := strings.Cut(line, " ")
		fmt.Fprintf(&all, "$ lameduck %s\n%s\n", args, answer(t, args, []byte(inputs[of])))
	}
	kept(t, "testdata/lines.txt", all.String())
}
