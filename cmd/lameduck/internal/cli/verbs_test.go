package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/lameduck-proxy/lameduck/endpoints"
	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/proxier/plan"
	"github.com/lameduck-proxy/lameduck/proxier/source/live"
	"github.com/lameduck-proxy/lameduck/proxier/source/live/livetest"
	"github.com/lameduck-proxy/lameduck/sim/record"
)

const examples = "../../../../examples/"

// says runs a command line in this process and wants an exit code, and words on stdout and stderr: parts of them, the latter after "err:".
func says(t *testing.T, code int, line string, want ...string) (out string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	got := Main(append([]string{"lameduck"}, strings.Fields(line)...), Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr})
	if got != code {
		t.Errorf("%s: exit code %d, want %d\n%s%s", line, got, code, stdout.String(), stderr.String())
	}
	for _, part := range want {
		text, where := stdout.String(), "stdout"
		if words, ok := strings.CutPrefix(part, "err:"); ok {
			part, text, where = words, stderr.String(), "stderr"
		}
		// Lines are wrapped, and the name of a test's directory is not always of the same length.
		if !strings.Contains(text, part) && !strings.Contains(strings.Join(strings.Fields(text), " ")+" ", part) {
			t.Errorf("%s: no %q on %s:\n%s", line, part, where, text)
		}
	}
	return stdout.String()
}

// inFile writes a file of the test's and returns its name.
func inFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A cluster is an input as files are: its objects, its version, and files that go before them.
func TestAClusterIsReadByEveryVerb(t *testing.T) {
	t.Parallel()
	web, err := os.ReadFile(examples + "web-app.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const more = `
apiVersion: v1
kind: Service
metadata: {name: shown, namespace: default}
spec: {clusterIP: 10.96.0.77, selector: {app: shown}, ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: shown-1, namespace: default, labels: {kubernetes.io/service-name: shown}}
addressType: IPv4
ports: [{name: http, port: 8080, protocol: TCP}]
endpoints: [{addresses: [10.244.1.5], nodeName: node-1, conditions: {ready: true}}]
---
{apiVersion: v1, kind: Node, metadata: {name: node-1}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: default}}
`
	stored := strings.ReplaceAll(string(web), "\nmetadata:\n", "\nmetadata:\n  namespace: default\n") // as an API server has it
	s, err := livetest.New("v1.33.2", stored+"\n---\n"+more)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	config := filepath.Join(t.TempDir(), "config")
	if err := s.Kubeconfig(config, "kind-kind", "default"); err != nil {
		t.Fatal(err)
	}
	at := " --kubeconfig " + config
	const read, version = "err:reading context kind-kind (https://", "err:its API server is v1.33.2: --kubernetes-version 1.33"
	says(t, 0, "explain --service shown --node node-1"+at, "10.244.1.5", read, "err:namespace default", version)
	says(t, 0, "explain -A --node node-1"+at, "shown", "err:all namespaces")
	says(t, 0, "explain -n other --node node-1"+at, "err:namespace other")
	says(t, 0, "explain --service shown --node node-1 --kubernetes-version 1.30"+at, "10.244.1.5")
	says(t, 0, "trace --from 10.244.1.9 --to 10.96.0.77:80 --node node-1"+at, "10.244.1.5", "err:all namespaces")
	out := says(t, 1, "sim --runs 2 --fixes 1 --sensitivity=false"+at, "kubectl", read, version)
	if !strings.Contains(out, "--context kind-kind") {
		t.Errorf("the command that does it again does not name the cluster:\n%s", out)
	}
	own := inFile(t, "own.yaml", strings.ReplaceAll(more, "10.244.1.5", "10.244.1.6"))
	if out := says(t, 0, "explain --service shown --node node-1 --context kind-kind -f "+own+at, "10.244.1.6"); strings.Contains(out, "10.244.1.5") {
		t.Errorf("the cluster's objects count although a file has them:\n%s", out)
	}
	says(t, 2, "explain --context nobody"+at, "err:nobody")
	says(t, 2, "explain -A -n default"+at, "err:-n and --all-namespaces: want one of them")
	says(t, 2, "explain -A -f "+own, "err:--all-namespaces is of a cluster")
}

// A cluster whose version lameduck does not know is told so, and the current one is used.
func TestAVersionThatIsNotKnownIsSaid(t *testing.T) {
	t.Parallel()
	s, err := livetest.New("v7.1.0", "{apiVersion: v1, kind: Node, metadata: {name: node-1}}")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	config := filepath.Join(t.TempDir(), "config")
	if err := s.Kubeconfig(config, "far", "default"); err != nil {
		t.Fatal(err)
	}
	says(t, 0, "explain --node node-1 --kubeconfig "+config, "err:is used")
}

// What --write-config-to writes is what flags and file come to, and reads back the same.
func TestTheConfigurationThatResultsIsWritten(t *testing.T) {
	t.Parallel()
	config := inFile(t, "config.yaml", "apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nmode: nftables\nclusterCIDR: 10.8.0.0/16\nportRange: 1-2\n")
	first, second := filepath.Join(t.TempDir(), "one.yaml"), filepath.Join(t.TempDir(), "two.yaml")
	says(t, 0, "proxy --config "+config+" --hostname-override node-7 --kubeconfig /etc/k --iptables-sync-period 5s --healthz-bind-address 127.0.0.1:9 --v 3 --write-config-to "+first,
		"err:portRange", "err:has no effect")
	text, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"kind: KubeProxyConfiguration", "hostnameOverride: node-7", "kubeconfig: /etc/k", "syncPeriod: 5s", "healthzBindAddress: 127.0.0.1:9", "clusterCIDR: 10.8.0.0/16", "verbosity: 3", "mode: nftables"} {
		if !strings.Contains(string(text), part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	says(t, 0, "proxy --config "+first+" --write-config-to "+second)
	if again, err := os.ReadFile(second); err != nil || !bytes.Equal(again, text) {
		t.Errorf("read back (%v):\n%s\nwas\n%s", err, again, text)
	}
	says(t, 2, "proxy --write-config-to "+filepath.Join(t.TempDir(), "no", "such"), "err:no such file or directory")
}

// Objects of the input that nothing belongs to are named with -v, and only then.
func TestWhatBelongsToNothingIsSaidWhenAskedFor(t *testing.T) {
	t.Parallel()
	slice := inFile(t, "slice.yaml", "{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, addressType: IPv4, metadata: {name: web-1, labels: {kubernetes.io/service-name: web}}, endpoints: [{addresses: [10.0.0.1]}], ports: [{port: 80}]}\n"+
		"---\n{apiVersion: v1, kind: Service, metadata: {name: api}, spec: {clusterIP: 10.96.0.1, ports: [{port: 80}]}}\n")
	line := "explain --node node-1 -f " + slice
	says(t, 0, line+" -v", "err:note: ", "err:slice.yaml:1:", "err:EndpointSlice default/web-1: ")
	var out, errs bytes.Buffer
	Main(append([]string{"lameduck"}, strings.Fields(line)...), Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	if strings.Contains(errs.String(), "note: ") {
		t.Errorf("without -v: %s", errs.String())
	}
}

// What keeps a proxy from beginning is said before anything is touched.
func TestAProxyThatCannotBegin(t *testing.T) {
	t.Parallel()
	service := inFile(t, "service.yaml", "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {clusterIP: 10.96.0.1, ports: [{port: 80}]}}")
	inMap := inFile(t, "map.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: kube-proxy}, data: {config.conf: x}}")
	for line, want := range map[string]string{
		"proxy --kubeconfig /no/such/file":                                     "no API server to watch: give --kubeconfig or --master, or -f for files",
		"proxy -f -":                                                           "standard input cannot be watched",
		"proxy -f " + service + " --master https://x":                          "-f watches files, --kubeconfig and --master name an API server to watch",
		"proxy -f " + service + " --mode ipvs":                                 "ipvs",
		"proxy -f " + service + " --mode sim --once":                           "it goes without --once, --dry-run and --cleanup",
		"proxy -f " + service + " --mode sim --dry-run":                        "it goes without --once, --dry-run and --cleanup",
		"proxy --mode sim --cleanup":                                           "it goes without --once, --dry-run and --cleanup",
		"proxy --mode nftables --proxy-mode iptables":                          "they mean the same, give one",
		"proxy -f " + service + " --config /no/such":                           "no such file",
		"proxy -f " + service + " --config " + service:                         "no KubeProxyConfiguration (kubeproxy.config.k8s.io/v1alpha1) in it, but Service",
		"proxy -f " + service + " --config " + inMap:                           "but a ConfigMap; kubeadm's has it under data, as config.conf",
		"proxy --once --dry-run -f " + service:                                 "once",
		"proxy -v 4 -f " + service:                                             "write -v=4 or --v 4",
		"proxy --dry-run --mode iptables --iptables-variant new -f " + service: `--iptables-variant "new": want auto, nft or legacy`,
	} {
		says(t, 2, line, "err:"+want)
	}
}

// The rules that would be programmed are those of the node that is asked for, whatever tells pods from others.
func TestRulesAreSaidForEveryWayToTellPods(t *testing.T) {
	t.Parallel()
	world := inFile(t, "world.yaml", `
{apiVersion: v1, kind: Node, metadata: {name: node-1}, spec: {podCIDR: 10.8.1.0/24}, status: {addresses: [{type: InternalIP, address: 192.168.0.1}]}}
---
{apiVersion: networking.k8s.io/v1, kind: ServiceCIDR, metadata: {name: kubernetes}, spec: {cidrs: [10.96.0.0/12]}}
---
{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {clusterIP: 10.96.0.1, ports: [{port: 80}]}}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{port: 8080, protocol: TCP}]
endpoints: [{addresses: [10.8.1.5], nodeName: node-1}]
`)
	for flags, want := range map[string]string{
		"--detect-local-mode NodeCIDR": "10.8.1.0/24", "--detect-local-mode BridgeInterface --pod-bridge-interface cni0": "cni0",
		"--detect-local-mode InterfaceNamePrefix --pod-interface-name-prefix veth": "veth", "--cluster-cidr 10.9.0.0/16": "10.9.0.0/16",
	} {
		says(t, 0, "proxy --dry-run --mode iptables "+flags+" -f "+world, want, "10.96.0.1")
	}
	two := inFile(t, "two.yaml", "{apiVersion: v1, kind: Node, metadata: {name: node-1}}\n---\n{apiVersion: v1, kind: Node, metadata: {name: node-2}}")
	says(t, 2, "proxy --dry-run -f "+two, "err:which node? give --node node-1 or node-2")
	says(t, 0, "explain --node node-3 -f "+two+" -f "+world, `err:warning: no Node and no endpoint of the input is named "node-3"`)
}

// A node is known if a Node object or an endpoint of the input says so, and for a name that neither has there is a warning.
func TestANodeIsKnownByAnEndpointThatRunsThere(t *testing.T) {
	t.Parallel()
	for node, want := range map[string]string{"node-1": "", "node-2": "", "node-3": "warning: no Node and no endpoint of the input is named \"node-3\"; it knows node-1, node-2\n"} {
		_, _, errs := attempt(t, "a node", `{apiVersion: v1, kind: Node, metadata: {name: node-1}}
---
{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {clusterIP: 10.96.0.1, ports: [{port: 80}]}}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{port: 8080, protocol: TCP}]
endpoints: [{addresses: [10.8.1.5], nodeName: node-2}]
`, "explain", "-f", "-", "--node", node)
		if errs != want {
			t.Errorf("--node %s: %q on stderr, want %q", node, errs, want)
		}
	}
}

// The help shows what a flag is where it is not given, but nothing where that is no time at all, as for kube-proxy's flags.
func TestTheHelpShowsDefaults(t *testing.T) {
	t.Parallel()
	out := says(t, 0, "proxy --help", "--conntrack-udp-timeout duration")
	flowing := strings.Join(strings.Fields(out), " ")
	for _, want := range []string{"the longest wait after a failure (default 30s) --", "deprecated: PORT of a --metrics-bind-address without one; 0 for nowhere (default 10249) --"} {
		if !strings.Contains(flowing, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	if strings.Contains(out, "(default 0") {
		t.Errorf("a default of nothing is shown:\n%s", out)
	}
}

// What a shell is offered of a flag is what the flag takes.
func TestWhatAShellIsOfferedForFlags(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"sim --lb ": "gke-l4", "sim --env ": "gke", "sim --profile ": "exits-at-once", "sim --list ": "presets", "sim --fail-on ": "outage", "sim -o ": "junit", "sim --set ": "start=",
		"explain -f " + examples + "web.yaml --service ": "web", "explain -f " + examples + "web.yaml --node ": "node-",
		"sim -f " + examples + "web-app.yaml --target ": "web", "sim --sweep ": "prestop=", "sim --action ": "drain=", "sim --action rollout,": "rollout,evict",
		"sim -f " + examples + "web.yaml --action drain=": "drain=node-1", "sim -f " + examples + "web.yaml --action rollout,drain=": "rollout,drain=node-1",
	} {
		var out, errs bytes.Buffer
		words := strings.Fields(line)
		if strings.HasSuffix(line, " ") {
			words = append(words, "")
		}
		Main(append([]string{"lameduck", "__complete"}, words...), Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s: no %s in\n%s%s", line, want, out.String(), errs.String())
		}
	}
}

// The command line that shows a run again has what the runs depend on, and not how many there are and how they are shown.
func TestTheCommandLineThatShowsARunAgain(t *testing.T) {
	t.Parallel()
	cmd := newSim("lameduck", Streams{})
	flags := cmd.Flags()
	c := &simCommand{program: "lameduck", flags: flags, in: &input{}}
	c.input = inputFlags{files: []string{"a b.yaml", "c.yaml"}, kustomize: []string{"dir"}, cluster: &clusterFlags{}}
	c.opts.Set = []string{"start=5s", "serve=1s"}
	line := strings.Fields("-f x -k x --recursive=false --seed 7 --runs 3 --show web --all -o json -v --max-drops 1 --max-lost 1s --fail-on drops --sensitivity=false --fixes 0 " +
		"--context x -n x -A --request-timeout 1s --set x=1 --feature-gates A=true --rate 7/s --lb gke-l4")
	if err := flags.Parse(line); err != nil {
		t.Fatal(err)
	}
	const want = "lameduck sim -f 'a b.yaml' -f c.yaml -k dir -R=false --feature-gates A=true --lb gke-l4 --rate 7/s --set start=5s --set serve=1s"
	if got := c.replay(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// The words under a result are those of whoever runs the program, as itself or as a plugin.
func TestTheCommandLineIsCalledAsTheProgramIs(t *testing.T) {
	t.Parallel()
	file := inFile(t, "web.yaml", small)
	for program, want := range map[string]string{"/usr/bin/lameduck": "lameduck sim ", "kubectl-lameduck": "kubectl lameduck sim "} {
		var out, errs bytes.Buffer
		Main([]string{program, "sim", "-f", file, "--action", "rollout", "--runs", "1", "--sensitivity=false", "--fixes", "0", "-o", "html"}, Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
		if !strings.Contains(out.String(), want+"-f ") {
			t.Errorf("%s: no %q in %d bytes\n%s", program, want, out.Len(), errs.String())
		}
	}
}

// A timeline is made of as many cases as are drawn with what is asked for.
func TestHowManyTimelinesAreMade(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		lanes          bool
		output, report string
		want           int
	}{
		{false, "json", "", 0}, {false, "yaml", "", 0}, {false, "junit", "", 0}, {false, "text", "", 0}, {true, "json", "", record.DrawnCases}, {true, "yaml", "", record.DrawnCases},
		{false, "html", "", record.DrawnCases}, {false, "svg", "", record.DrawnCases}, {false, "perfetto", "", record.DrawnCases}, {false, "text", "file.html", record.DrawnCases},
	} {
		c := &simCommand{lanes: tt.lanes, output: tt.output, report: tt.report, std: Streams{Out: io.Discard}}
		if got := c.timelines(); got != tt.want {
			t.Errorf("%+v: %d", tt, got)
		}
	}
	if c := (&simCommand{output: "json", std: Streams{Out: io.Discard, Simulated: func(*record.Simulation) {}}}); c.timelines() != record.DrawnCases {
		t.Error("none for whoever takes the result")
	}
}

// What a proxy says of the rules that it has put in force.
func TestWhatIsSaidOfRulesInForce(t *testing.T) {
	t.Parallel()
	objects, problems := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte("{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {clusterIP: 10.96.0.1, " +
		"type: NodePort, ports: [{name: a, port: 80, nodePort: 30080}, {name: b, port: 81, nodePort: 30081}]}}")}}, manifest.Options{})
	if manifest.HasErrors(problems) {
		t.Fatal(problems)
	}
	node := &plan.Node{Name: "node-1"}
	const want = "nftables: the rules of node node-1 are in force: Services: %d, addresses and ports that lead to them: %d"
	if got := inForce(plan.Empty(node)); got != fmt.Sprintf(want, 0, 0) {
		t.Errorf("%q", got)
	}
	if got := inForce(plan.Build(snapshot(objects, endpoints.Options{}, Streams{Err: io.Discard}), node)); got != fmt.Sprintf(want, 1, 4) {
		t.Errorf("%q", got)
	}
}

// A list is the same in every format, with a heading in the text only.
func TestAListHasTheSameRowsInEveryFormat(t *testing.T) {
	t.Parallel()
	text := strings.Split(strings.TrimSpace(says(t, 0, "sim --list causes")), "\n")
	var list struct {
		Kind  string
		Items []map[string]string
	}
	if err := json.Unmarshal([]byte(says(t, 0, "sim --list causes -o json")), &list); err != nil {
		t.Fatal(err)
	}
	heads := 0
	for _, item := range list.Items {
		if cause := item["cause"]; cause == "" || !slices.ContainsFunc(text, func(line string) bool { return strings.HasPrefix(line, cause+" ") }) {
			t.Errorf("%v is not in the text", item)
		}
	}
	for _, line := range text {
		if line != "" && line[0] != ' ' {
			heads++
		}
	}
	if heads != len(list.Items)+1 || list.Kind != "List" {
		t.Errorf("%d rows of text, %d items of a %s", heads, len(list.Items), list.Kind)
	}
	says(t, 2, "sim --list causes -o junit", "err:no JUnit form")
}

func TestAShellIsOfferedEveryTableAndEveryPageOfFacts(t *testing.T) {
	t.Parallel()
	want := slices.Clone(lists)
	for _, page := range factPages() {
		want = append(want, "facts="+page)
	}
	if got := listWords(); !slices.Equal(got, want) || len(got) == len(lists) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A shell that completes a word waits for a cluster for seconds, and for files as long as it takes. What cannot be read is no word.
func TestAShellIsOfferedNamesOfFilesOrOfAClusterThatAnswersSoon(t *testing.T) {
	t.Parallel()
	nowhere := filepath.Join(t.TempDir(), "kubeconfig")
	for _, c := range []struct {
		name    string
		input   inputFlags
		timeout string
		want    []string
	}{
		{"files", inputFlags{files: []string{examples + "web.yaml"}, cluster: &clusterFlags{timeout: defaultTimeout}}, defaultTimeout, []string{"shop/web"}},
		{"a verb that reads no cluster", inputFlags{files: []string{examples + "web.yaml"}}, "", []string{"shop/web"}},
		{"a file that is not there", inputFlags{files: []string{nowhere}}, "", nil},
		{"a cluster that is not there", inputFlags{cluster: &clusterFlags{timeout: defaultTimeout, options: live.Options{Kubeconfig: nowhere}}}, completionTimeout, nil},
	} {
		cmd := &cobra.Command{}
		cmd.Flags().String("service", "", "")
		c.input.completes(cmd, "service", serviceNames)
		complete, _ := cmd.GetFlagCompletionFunc("service")
		if got, directive := complete(cmd, nil, ""); !slices.Equal(got, c.want) || directive != cobra.ShellCompDirectiveNoFileComp {
			t.Errorf("%s: %q, %v, want %q", c.name, got, directive, c.want)
		}
		if c.input.cluster != nil && c.input.cluster.timeout != c.timeout {
			t.Errorf("%s: waits for %s, want %s", c.name, c.input.cluster.timeout, c.timeout)
		}
	}
}

// Each format is of the same run, and so is each table.
func TestSimInEveryFormat(t *testing.T) {
	t.Parallel()
	const few = " --runs 2 --fixes 0 --sensitivity=false"
	one, other := examples+"scenarios/grace-too-short.yaml", examples+"scenarios/apiserver-outage.yaml"
	for format, want := range map[string]string{"text": "seed", "json": `"runs"`, "yaml": "runs:", "junit": "<testsuite"} {
		says(t, 0, "sim -f "+one+few+" -o "+format, want)
	}
	says(t, 0, "sim -f "+one+" -f "+other+few+" --all", "grace-too-short", "apiserver-outage")
	says(t, 2, "sim -f "+one+few+" -o xml", "err:xml")
	says(t, 2, "sim -f "+one+few+" --set no.such.path=1", "err:no.such")
	for _, table := range lists {
		if out := says(t, 0, "sim --list "+table); len(out) < 200 {
			t.Errorf("%s: %s", table, out)
		}
	}
	whole := says(t, 0, "sim --list facts=kube-proxy", "kube-proxy 1 local  verified", "    source  ", "    tests  ")
	if facts, blank := strings.Count("\n"+whole, "\nkube-proxy "), strings.Count(whole, "\n\n"); strings.HasPrefix(whole, "\n") || facts < 2 || blank != facts-1 {
		t.Errorf("%d facts with %d blank lines between them", facts, blank)
	}
	says(t, 0, "sim --list facts=docs/model/kube-proxy.md -o json", `"fact": "kube-proxy 1 local"`)
	says(t, 2, "sim --list facts=no-such-page", "err:there is no such fact")
	says(t, 0, "explain -f "+examples+"web.yaml --node node-1 -o json", `"services"`)
	says(t, 0, "version", "lameduck")
}

// A file without EndpointSlices, or without a Service, gets a hint from both verbs: their answer is one of a cluster that has none.
func TestAFileThatLacksWhatAnswersHangOnGetsAHint(t *testing.T) {
	t.Parallel()
	const (
		service = "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {clusterIP: 10.96.0.80, selector: {app: web}, ports: [{port: 80}]}}\n"
		slice   = "---\n{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: web-1, labels: {kubernetes.io/service-name: web}}, addressType: IPv4, ports: [{port: 80}], endpoints: [{addresses: [10.244.1.5]}]}\n"
		try     = "; try kubectl get services,endpointslices,nodes -A -o yaml"
	)
	for text, want := range map[string]string{
		service:         "hint: the input has no EndpointSlice, so no Service has endpoints" + try,
		slice:           "hint: the input has no Service" + try,
		service + slice: "",
	} {
		for _, line := range []string{"trace --from 10.244.1.9 --to 10.96.0.80:80", "explain"} {
			var out, err bytes.Buffer
			if code := Main(append([]string{"lameduck"}, strings.Fields(line+" -f "+inFile(t, "in.yaml", text))...), Streams{In: strings.NewReader(""), Out: &out, Err: &err}); code != 0 {
				t.Errorf("%s: exit code %d: %s", line, code, err.String())
			}
			if said := strings.Join(strings.Fields(err.String()), " "); strings.Contains(said, "hint: ") != (want != "") || !strings.Contains(said, want) {
				t.Errorf("%s of %q: %q, want %q", line, text, said, want)
			}
		}
	}
}
