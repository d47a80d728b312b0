package cli

import (
	"os"
	"strings"
	"testing"
)

// words are command lines of which no run is asked for: what is refused, and what is printed at once. "web" reads one Service of a
// cluster of three nodes from stdin, "app" a whole application; the verbs that follow read it.
var words = map[string][]string{
	"web": {
		"explain -f - --node node-1", "explain -f - --node node-2 -o yaml", "explain -f -", "explain -f - --node x", "explain -f - --node node-1 --service shop/web",
		"explain -f - --node node-1 --service web", "explain -f - --node node-1 --service shop/wob", "explain -f - --node node-1 --service /web", "explain -f - --node node-1 -n shop --service web",
		"explain -f - --node node-1 -l app=web", "explain -f - --node node-1 -l app==", "explain -f - --node node-1 -l app=x", "explain -f - --node node-1 --node-ip 10.0.0.1",
		"explain -f - --node node-1 --node-ip 10.0.0", "explain -f - --node node-1 --node-ip 10.0.0.1 --node-ip fd00::1", "explain -f - --node node-1 --node-label topology.kubernetes.io/zone=b",
		"explain -f - --node node-1 --node-label zone", "explain -f - --node node-1 --node-label =a", "explain -f - --node node-1 --cluster-cidr 10.244.0.0/16", "explain -f - --node node-1 --cluster-cidr 10.244.0.0",
		"explain -f - --node node-1 --cluster-cidr 10.244.0.0/16,10.245.0.0/16", "explain -f - --node node-1 --cluster-cidr 10.244.0.0/16,fd00::/64", "explain -f - --node node-1 --mode iptables",
		"explain -f - --node node-1 --mode ipvs", "explain -f - --node node-1 --mode sim", "explain -f - --node node-1 --kubernetes-version 1.25", "explain -f - --node node-1 --kubernetes-version 1.18",
		"explain -f - --node node-1 --kubernetes-version 1.99", "explain -f - --node node-1 --kubernetes-version v1.30.2", "explain -f - --node node-1 --kubernetes-version x",
		"explain -f - --node node-1 --terminating-fallback=false", "explain -f - --node node-1 --terminating-fallback=maybe", "explain -f - --node node-1 --feature-gates ProxyTerminatingEndpoints=false",
		"explain -f - --node node-1 --feature-gates NoSuchGate=true", "explain -f - --node node-1 --feature-gates ProxyTerminatingEndpoints=false --terminating-fallback",
		"explain -f - --node node-1 --feature-gates ProxyTerminatingEndpoints", "explain -f - --node node-1 -o xml", "explain -f - --node node-1 -o", "explain -f - --node node-1 --config /nowhere.yaml",
		"explain -f - --node node-1 more", "explain -f /nowhere.yaml", "explain -f - -f - --node node-1", "explain -f - --node node-1 --node node-2", "explain --truth-table", "explain --truth-table --kubernetes-version 1.25",
		"explain --truth-table -o json", "explain --truth-table -f -", "explain -f - --node node-1 --request-timeout 5s", "explain -f - --node node-1 -A", "explain -f - --node node-1 --cluster a", "explain -f - --node node-1 --user a",
		"explain --kubeconfig /nowhere --node node-1", "explain -f - --node node-1 -R=false", "explain -f - --node node-1 -v", "explain -f - --nod node-1", "explian -f -", "explain --from 1",
		"trace -f - --node node-1 --from 192.0.2.7 --to 203.0.113.10:80", "trace -f - --node node-2 --from 10.244.1.7 --to 10.96.0.80:80/tcp -o json", "trace -f - --node node-3 --from 192.0.2.7 --to 203.0.113.10:80 -o yaml",
		"trace -f - --node node-1 --from 192.0.2.7 --to 203.0.113.10", "trace -f - --node node-1 --from 192.0.2.7 --to 203.0.113.10:80/icmp", "trace -f - --node node-1 --from 192.0.2.7 --to 203.0.113.10:70000",
		"trace -f - --node node-1 --from x --to 203.0.113.10:80", "trace -f - --node node-1 --to 203.0.113.10:80", "trace -f - --node node-1 --from 192.0.2.7", "trace -f - --node node-1 --from fd00::1 --to 203.0.113.10:80",
		"trace -f - --node node-1 --from 192.0.2.7 --to 203.0.113.10:80/udp", "trace -f - --node node-1 --from 192.0.2.7 --to 10.96.0.81:80", "trace -f - --node node-1 --from 10.244.1.7 --to 10.96.0.80:80 --cluster-cidr 10.244.0.0/16",
		"trace -f - --node node-1 --from 192.0.2.7 --to 203.0.113.10:80 --mode iptables", "trace -f - --node node-1 --from 192.0.2.7 --to 192.0.2.7:30080 --node-ip 192.0.2.7", "trace -f - --from 192.0.2.7 --to 203.0.113.10:80",
		"trace -f - --node node-1 --from 192.0.2.7 --to 203.0.113.10:80 --in-interface eth0", "trace -f - --node node-1 --from 192.0.2.7 --to 203.0.113.10:80 more", "trace -f - --node node-1 --from 192.0.2.7 --to 192.0.2.8:31234 --node-ip 192.0.2.8",
		"learn --check a", "learn blackhole --check /nowhere.yaml", "learn no-such-lesson", "learn blackhol", "learn blackhole -o json", "learn blackhole -o yaml", "learn blackhole --solution -o yaml", "learn blackhole --solution --check a",
		"learn blackhole extra", "learn blackhole --all", "learn blackhole --html /nowhere/x", "learn -o yaml", "learn --solution", "learn",
		"version -o x", "help nothing", "nothing", "-x",
	},
	"app": {
		"sim --list causes", "sim --list profiles", "sim --list environments", "sim --list actions", "sim --list x", "sim --list cause", "sim --list actions -o svg",
		"sim --list causes -f -", "sim -f - --runs -1", "sim -f - --runs 0", "sim -f - --runs 1000001", "sim -f - --runs x", "sim -f - --seed 0", "sim -f - --seed -1", "sim -f - --seed 18446744073709551615 --runs 2", "sim -f - --nodes 0", "sim -f - --nodes -1", "sim -f - --nodes 1000000",
		"sim -f - --rate 0", "sim -f - --rate x", "sim -f - --rate -1/s", "sim -f - --rate 1/s/s", "sim -f - --rate 1e9/s", "sim -f - --until x", "sim -f - --until 10000h", "sim -f - --timeout 0s", "sim -f - --timeout x", "sim -f - --connect-timeout -1s",
		"sim -f - --fixes x", "sim -f - --fail-on x", "sim -f - --fail-on drop", "sim -f - --max-drops -1", "sim -f - --max-lost -1s", "sim -f - --max-lost x", "sim -f - --env x", "sim -f - --lb x", "sim -f - --profile x", "sim -f - --profile ngin", "sim -f - --env gk",
		"sim -f - --action x", "sim -f - --action rollout,x", "sim -f - --action drain=", "sim -f - --action drain=nowhere", "sim -f - --action rollout=1", "sim -f - --target x", "sim -f - --target web,x", "sim -f - -l app=x", "sim -f - -l a==", "sim -f - --show x",
		"sim -f - --set x", "sim -f - --set x=1", "sim -f - --set start=x", "sim -f - --set latency.watch=-1s", "sim -f - --set start=1s --set start=2s", "sim -f - --set =1", "sim -f - --sweep x", "sim -f - --sweep prestop", "sim -f - --sweep prestop=", "sim -f - --sweep prestop=5..0:1",
		"sim -f - --sweep prestop=0..5:0", "sim -f - --sweep prestop=0..5:x", "sim -f - --sweep x=0..5:1", "sim -f - --sweep prestop=0..1000000:1", "sim -f - --sweep prestop=1 --sweep prestop=2", "sim -f - --sweep prestop=1 --sweep grace=2 --sweep replicas=3", "sim -f - --sweep prestop=1 -o junit",
		"sim -f - -o x", "sim -f - -o htm", "sim -f - --timeline", "sim -f - --timeline -o text", "sim -f - --kubernetes-version 1.99", "sim -f - --kubernetes-version 1.25 --feature-gates X=true", "sim -f - more", "sim -f /nowhere", "sim -f - -f -",
		"sim -f - --runs 1 --runs 2", "sim -f - --request-timeout x", "sim -f - --request-timeout -1s", "sim -f - --context x --kubeconfig /nowhere", "sim -f - --rat 1/s", "sim -f - --sensitivity=x", "sim -f - --profile list", "sim -f - --lb aws",
	},
}

// What these command lines print and exit with is kept whole.
func TestWordsAreKept(t *testing.T) {
	t.Parallel()
	for name, input := range map[string]string{"web": "web.yaml", "app": "web-app.yaml"} {
		text, err := os.ReadFile(examples + input)
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, line := range words[name] {
			all.WriteString("$ lameduck " + line + "\n" + answer(t, line, text) + "\n")
		}
		kept(t, "testdata/words-"+name+".txt", all.String())
	}
}
