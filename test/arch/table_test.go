package arch

// module is the import path of the root module.
const module = "github.com/lameduck-proxy/lameduck"

// permit names something a package may use, and why. The reason is printed when the permit turns out to be stale, and
// is what a reader gets to judge when a new one is asked for.
type permit struct {
	target string // own package (module-relative) or third-party import path prefix
	reason string
}

// exemption lets a pure package use a few names of a standard package that is otherwise banned for pure packages.
type exemption struct {
	target string // import path
	names  string // regular expression every used package-level name has to match
	reason string
}

// packageRule is one line of the architecture: what one package is, and everything it may import.
type packageRule struct {
	path        string      // module-relative
	pure        bool        // no I/O, no clock, no goroutines, no shared state: see purity_test.go
	own         []permit    // own packages; production and test files
	modules     []permit    // third-party modules; production and test files
	testOwn     []permit    // own packages; test files only
	testModules []permit    // third-party modules; test files only
	exempt      []exemption // purity exemptions
}

// treeRule gives a whole directory the right to import any own package. Nothing outside it may import from it, but for what is open to tests.
type treeRule struct {
	path    string
	modules []permit // third-party modules, production and test files
	open    []permit // packages of it that any _test.go file may import
}

// trees are the two roots of the import graph: everything is wired in cmd, everything is exercised in test.
var trees = []treeRule{
	{path: "cmd", modules: []permit{
		{"github.com/spf13/cobra", "the command line: verbs, flags, help, completion"},
		{"golang.org/x/term", "whether colours and progress help: is it a terminal"},
		{"github.com/spf13/pflag", "cobra's flag values, for sets of flags that verbs share"},
		{"go.yaml.in/yaml/v3", "-o yaml, and reading configuration files"},
		{"k8s.io/api", "the Node object a node's name stands for, as package manifest read it"},
		{"k8s.io/apimachinery", "durations as a KubeProxyConfiguration writes them"},
		{"github.com/go-logr/logr", "the proxy's log, handed to whoever has something to say"},
		{"k8s.io/klog/v2", "the format of that log: Kubernetes' own"},
		{"golang.org/x/sys", "tests: network namespaces, and a thread without rights"},
	}},
	{path: "test", open: []permit{
		{"test/golden", "whole texts are held to files, and shown where they differ, in one way"},
		{"test/graft", "inputs that nobody wrote, made of those of the repository: what comes of them is kept, by several packages"},
	}, modules: []permit{
		{"go.yaml.in/yaml/v3", "inputs are taken apart and put together again"},
		{"github.com/vishvananda/netlink", "the lab: links, addresses, routes and the table of connections of network namespaces"},
		{"github.com/google/nftables", "the lab: what a dataplane left behind is removed with all other rules of its namespace"},
		{"golang.org/x/sys", "the lab: namespaces, and sockets with all that the kernel says of a packet"},
		{"github.com/go-logr/logr", "the log of a source whose requests are looked at"},
	}},
}

// testModules may be imported by every _test.go file.
var testModules = []permit{
	{"github.com/google/go-cmp", "readable differences between values"},
	{"github.com/rogpeppe/go-internal", "txtar archives and testscript stories"},
	{"github.com/santhosh-tekuri/jsonschema/v6", "an independent reader of the JSON Schemas that lameduck prints"},
	{"k8s.io/api", "what goes in is written as the objects that go in"},
	{"k8s.io/apimachinery", "object metadata and int-or-string ports of those objects"},
}

const (
	apiTypes   = "Kubernetes API types, at the door only: they are turned into lameduck's own values and kept nowhere"
	apiMachine = "names, quantities, label selectors and int-or-string values inside the API types"
	sortedMaps = "persistent ordered maps: an immutable snapshot costs O(1), and iteration has one order"
)

// packages is the table of ARCHITECTURE.md as data. Packages that do not exist yet may be listed; a package that exists
// and is not listed fails.
var packages = []packageRule{
	{
		path: "endpoints", pure: true,
		modules: []permit{
			{"k8s.io/api", apiTypes},
			{"github.com/tidwall/btree", sortedMaps},
		},
	},
	{
		path: "endpoints/manifest", pure: true,
		own: []permit{{"endpoints", "which addresses no Service or endpoint can have"}},
		modules: []permit{
			{"k8s.io/api", apiTypes},
			{"k8s.io/apimachinery", apiMachine},
			{"go.yaml.in/yaml/v3", "YAML nodes with line and column"},
		},
	},
	{
		path: "healthcheck", pure: true,
		own: []permit{{"endpoints", "an answer is a function of the Selection"}},
	},
	{
		path: "healthcheck/server",
		own: []permit{
			{"healthcheck", "serves the answers computed there"},
			{"endpoints", "families of sockets, names of Services, the behaviour of a version"},
		},
	},
	{
		path: "proxier",
		own: []permit{
			{"endpoints", "the loop feeds the cache and takes snapshots"},
			{"proxier/plan", "what a Backend applies"},
			{"proxier/pace", "when to sync next"},
			{"healthcheck", "answers are published with each sync"},
		},
		modules: []permit{
			{"k8s.io/api", apiTypes},
			{"github.com/go-logr/logr", "who runs the loop chooses where its words go"},
		},
	},
	{
		path: "proxier/metrics",
		own: []permit{
			{"proxier", "counts its syncs"},
			{"proxier/plan", "the Services in force, of which some drop traffic; the mode"},
			{"endpoints", "the names of families"},
		},
		modules: []permit{{"github.com/prometheus/client_golang", "registry, metrics and the text they are read as"}},
	},
	{
		path: "proxier/events",
		modules: []permit{
			{"github.com/go-logr/logr", "that no Events can be written is logged"},
			{"k8s.io/api", "Events and what they are about, as the API server takes them"},
			{"k8s.io/apimachinery", "which refusals of an API server are its last word"},
			{"k8s.io/client-go", "the token bucket; its recorder of Events brings the clientset of all APIs"},
		},
	},
	{
		path: "proxier/host",
		modules: []permit{
			{"github.com/vishvananda/netlink", "addresses of interfaces, and word of their changes"},
		},
		testOwn: []permit{{"proxier/backendtest", "what a test says that lacks a right"}},
		testModules: []permit{
			{"golang.org/x/sys", "a network namespace of its own"},
		},
	},
	{
		path: "proxier/conntrack",
		own: []permit{
			{"proxier/plan", "what leads where, now and before"},
			{"endpoints", "which endpoints serve, whatever the node may use of them"},
		},
		modules: []permit{
			{"github.com/vishvananda/netlink", "the kernel's table of connections, read and deleted from"},
			{"github.com/vishvananda/netns", "the type of the namespace whose table it is, which netlink asks for"},
			{"golang.org/x/sys", "protocol and family numbers of netlink"},
		},
		testOwn: []permit{
			{"proxier", "the loop that asks for the clean-up"},
			{"proxier/nftables", "rules that make real flows"},
			{"proxier/backendtest", "what a test says that lacks a right"},
		},
	},
	{path: "proxier/pace", pure: true},
	{path: "proxier/packet", pure: true},
	{
		path: "proxier/plan", pure: true,
		own:     []permit{{"endpoints", "a Plan is built from a Snapshot and its Selections"}},
		modules: []permit{{"github.com/tidwall/btree", sortedMaps}},
	},
	{
		path: "proxier/kubeproxy", pure: true,
		own: []permit{
			{"endpoints/manifest", "the object that is read, with positions"},
			{"endpoints", "the feature gates and the behaviour of a version"},
			{"proxier/plan", "the node that a configuration makes"},
			{"proxier/pace", "when such a proxy syncs"},
		},
		modules: []permit{
			{"k8s.io/api", "the Node object that a configuration is for"},
			{"k8s.io/apimachinery", "durations as a KubeProxyConfiguration writes them"},
			{"k8s.io/utils", "addresses as kube-proxy reads them, which are more than Go's"},
		},
		testModules: []permit{{"k8s.io/kube-proxy", "the type KubeProxyConfiguration that lameduck's is compared with"}},
		exempt: []exemption{{
			"net", `^(JoinHostPort|SplitHostPort)$`, "text to value and back: addresses with ports",
		}},
	},
	{
		path: "proxier/memory", pure: true,
		own: []permit{
			{"proxier/plan", "the rules a packet meets"},
			{"proxier/packet", "the packets, hops and verdicts"},
			{"endpoints", "address, protocol and service port names, which plan and packet hand through unchanged"},
		},
		testOwn: []permit{
			{"proxier/backendtest", "the conformance suite it has to pass"},
			{"endpoints/manifest", "the manifest that the README's example of the library reads"},
		},
	},
	{
		path: "proxier/explain", pure: true,
		own: []permit{
			{"endpoints", "the Decisions it puts into words"},
			{"proxier/plan", "the routes that follow from them"},
			{"proxier/memory", "where a plan sends a packet"},
			{"proxier/packet", "the packets that are asked about"},
			{"healthcheck", "what the health check node port answers meanwhile"},
			{"proxier/page", "lines that are no wider than a terminal"},
		},
		testOwn: []permit{{"proxier/backendtest", "random worlds to explain"}},
	},
	{
		path: "proxier/observe", pure: true,
		own: []permit{
			{"endpoints", "the Decisions it compares"},
			{"proxier/plan", "what becomes of packets at two moments"},
			{"healthcheck", "what health-check node ports would answer"},
		},
		modules: []permit{{"github.com/go-logr/logr", "the log that decisions are written to, handed in"}},
	},
	{
		path: "proxier/nftables",
		own: []permit{
			{"proxier/plan", "what is rendered"},
			{"endpoints", "families, protocols and service port names, which plan hands through unchanged"},
		},
		modules: []permit{
			{"github.com/google/nftables", "expressions of rules as the kernel reads them; and tests read sets back with it"},
			{"golang.org/x/sys", "the netlink socket and the constants of its messages"},
		},
		testOwn: []permit{{"proxier/backendtest", "a cluster that changes at random"}},
	},
	{
		path: "proxier/iptables",
		own: []permit{
			{"proxier/plan", "what is rendered"},
			{"endpoints", "families, protocols and service port names, which plan hands through unchanged"},
		},
		modules: []permit{
			{"golang.org/x/sys", "network namespaces"},
		},
		testOwn: []permit{{"proxier/backendtest", "a cluster that changes at random"}},
	},
	{
		path: "proxier/backendtest",
		own: []permit{
			{"endpoints", "the cases are written as Services and endpoints"},
			{"proxier/plan", "what a backend under test is given"},
			{"proxier/packet", "what it is asked"},
		},
		modules: []permit{{"k8s.io/api", "its Services and EndpointSlices go through the same door as everyone's"}},
	},
	{
		path: "proxier/source",
		own: []permit{
			{"endpoints", "the names of what a Sink is told of"},
			{"endpoints/manifest", "files are decoded there"},
		},
		modules: []permit{{"k8s.io/api", apiTypes}},
	},
	{
		path: "proxier/source/apiserver",
		own: []permit{
			{"endpoints", "the names of what is delivered, the label of what is another proxy's"},
			{"proxier/source", "delivers to its Sink, from watches"},
		},
		modules: []permit{
			{"github.com/go-logr/logr", "what a source cannot tell its Sink, it logs"},
			{"k8s.io/client-go", "reflectors; the only package that knows a cluster"},
			{"k8s.io/api", apiTypes},
			{"k8s.io/apimachinery", apiMachine},
		},
	},
	{
		path: "proxier/source/files",
		own: []permit{
			{"endpoints", "the names of what is delivered, the label of what is another proxy's"},
			{"endpoints/manifest", "files are decoded there"},
			{"proxier/source", "reads as -f does, delivers to its Sink"},
			{"proxier/source/filewatch", "when to read again"},
		},
		modules: []permit{
			{"github.com/go-logr/logr", "what is wrong with files is logged: nobody waits for an error"},
			{"k8s.io/api", apiTypes},
		},
	},
	{
		path: "proxier/source/filewatch",
		modules: []permit{
			{"github.com/fsnotify/fsnotify", "word of changes in directories"},
			{"github.com/go-logr/logr", "that changes are not noticed at once is logged: nobody waits for an error"},
		},
	},
	{
		path: "proxier/source/live",
		own:  []permit{{"endpoints/manifest", "what a cluster's objects are handed on as"}},
		modules: []permit{
			{"k8s.io/client-go", "which cluster a kubeconfig names, who asks it, and lists in pages"},
			{"k8s.io/api", "names of what is well known"},
			{"k8s.io/apimachinery", "objects that are only passed on, and the errors of an API server"},
			{"go.yaml.in/yaml/v2", "what kubectl prints YAML with: lines break alike"},
		},
		testOwn: []permit{{"proxier/source/live/livetest", "a server to read"}},
	},
	{
		path:    "proxier/source/live/livetest",
		modules: []permit{{"go.yaml.in/yaml/v3", "the objects it serves are written as YAML"}},
	},
	{path: "docs/model"},
	{path: "examples/lessons"},
	{
		path: "sim", pure: true,
		own: []permit{
			{"sim/control", "the controllers and the scheduler"},
			{"sim/kubelet", "the nodes' kubelets, and the servers in their pods"},
			{"sim/event", "what happened, for who wants to know"},
			{"sim/nodeproxy", "the nodes' service proxies, and the views they have in force"},
			{"sim/api", "the objects of the API, and who they are told to"},
			{"sim/world", "the nouns: what the world is and what is done to it"},
			{"sim/engine", "the clock everything runs on"},
			{"sim/scenario", "what is run"},
			{"sim/cluster", "the world"},
			{"sim/traffic", "the clients"},
			{"sim/ledger", "the result"},
			{"sim/balancer", "the load balancers in front of it"},
			{"proxier/packet", "what a node's rules do with a probe"},
			{"sim/check", "the books that notice what cannot be true"},
			{"endpoints", "the entries of the slices in force, for the second look at where connections go"},
		},
		modules: []permit{{"k8s.io/api", apiTypes}},
		testOwn: []permit{
			{"sim/servers", "what the programs in containers do"},
			{"endpoints", "the behaviour of a version in worlds made by hand"}, {"endpoints/manifest", "worlds from manifests"},
			{"sim/sweep", "the stories of examples, over several seeds"}, {"sim/record", "whether they come out as they say"},
			{"sim/story", "what is said of an address where nothing is"},
		},
	},
	{path: "proxier/page", pure: true},
	{path: "sim/engine", pure: true},
	{path: "sim/sorted", pure: true},
	{path: "sim/ledger", pure: true, own: []permit{{"sim/sorted", "lists in order, in few bytes"}, {"sim/engine", "virtual time"}}},
	{
		path: "sim/edit", pure: true, own: []permit{{"sim/sorted", "lists in order, in few bytes"}, {"endpoints/manifest", "where a field stands"}},
		modules:     []permit{{"go.yaml.in/yaml/v3", "a value is read as YAML, and written as lines to paste"}},
		testModules: []permit{{"k8s.io/api", apiTypes}},
	},
	{
		path: "sim/perfetto", pure: true,
		own: []permit{{"sim/sorted", "lists in order, in few bytes"}, {"sim/timeline", "the lanes"}, {"sim/engine", "virtual time"}},
		testOwn: []permit{
			{"sim", "runs of examples"}, {"sim/scenario", "the examples"}, {"endpoints/manifest", "the examples"},
		},
	},
	{
		path: "sim/knob", pure: true,
		own: []permit{
			{"endpoints/manifest", "the objects whose settings are turned"},
			{"sim/world", "the workloads of the API, by one name"},
			{"sim/units", "values with their units"},
			{"sim/engine", "virtual time"},
		},
		modules: []permit{{"k8s.io/api", apiTypes}, {"k8s.io/apimachinery", apiMachine}},
	},
	{
		path: "sim/grid", pure: true,
		own: []permit{{"sim/knob", "the axes"}, {"sim/record", "the verdict and the loss of each point"}},
	},
	{path: "sim/units", pure: true, own: []permit{{"sim/engine", "virtual time"}}},
	{
		path: "sim/world", pure: true,
		own: []permit{
			{"sim/sorted", "lists in order, in few bytes"},
			{"sim/engine", "virtual time and distributions"},
			{"endpoints", "the behaviour of a Kubernetes version"},
			{"endpoints/manifest", "where an object stands in its file"},
		},
		modules: []permit{{"k8s.io/api", "the objects that the nouns stand for"}, {"k8s.io/apimachinery", apiMachine}},
	},
	{path: "sim/presets", pure: true},
	{
		path: "sim/servers", pure: true,
		own: []permit{
			{"sim/world", "an App and a Hook are what comes out"},
			{"sim/engine", "virtual time and distributions"},
			{"sim/units", "times among arguments"},
		},
		modules: []permit{{"k8s.io/api", "containers, probes and hooks"}},
	},
	{
		path: "sim/scenario", pure: true,
		own: []permit{
			{"sim/sorted", "lists in order, in few bytes"},
			{"sim/edit", "what a remedy changes in an object"},
			{"sim/servers", "what the programs in containers do"},
			{"sim/units", "durations, rates and numbers as people write them"},
			{"sim/presets", "what is known of load balancers"},
			{"sim/ledger", "the names of causes"},
			{"sim/placement", "how many pods find room on one node"},
			{"sim/world", "the nouns: what the world is and what is done to it"},
			{"sim/engine", "virtual time and seeds"},
			{"endpoints/manifest", "Kubernetes objects inside a scenario"},
			{"endpoints", "the behaviour of a Kubernetes version"},
			{"proxier/kubeproxy", "what the input's KubeProxyConfiguration asks for"},
		},
		modules: []permit{{"k8s.io/api", apiTypes}, {"k8s.io/apimachinery", apiMachine}},
		testOwn: []permit{{"docs/model", "the numbers of presets are those of the facts, and what they cite is there"}},
		exempt: []exemption{{
			"sync", `^OnceValue$`, "what the embedded presets say is a constant that costs milliseconds: it is read when it is asked for, once",
		}},
	},
	{
		path: "sim/balancer", pure: true,
		own: []permit{
			{"sim/world", "the nouns: what the world is and what is done to it"},
			{"sim/engine", "events and random streams"},
			{"sim/scenario", "what load balancers differ in"},
			{"sim/ledger", "whose lateness it is"},
		},
	},
	{
		path: "sim/traffic", pure: true,
		own: []permit{
			{"sim/sorted", "lists in order, in few bytes"},
			{"sim/engine", "events and random streams"},
			{"sim/ledger", "each request's outcome"},
			{"proxier/packet", "what a client sends"},
		},
	},
	{path: "sim/api", pure: true, own: []permit{{"sim/engine", "events and random streams"}}},
	{
		path: "sim/nodeproxy", pure: true,
		own: []permit{
			{"sim/engine", "events and random streams"},
			{"sim/api", "the watches it hears from"},
			{"sim/world", "the node's settings"},
			{"endpoints", "snapshots of what slices say"},
			{"proxier/plan", "the Plan that its rules are"},
			{"proxier/pace", "the production pacing"},
			{"healthcheck", "what it answers on its health port"},
		},
	},
	{
		path: "sim/event", pure: true,
		own: []permit{
			{"sim/engine", "when it happened"},
			{"sim/api", "to which pod, and the objects that were written"},
			{"sim/world", "actions and hooks"},
			{"sim/nodeproxy", "the View in force after a sync"},
			{"endpoints", "what a slice says of an endpoint"},
			{"proxier/packet", "what a node's rules do with a connection"},
		},
		modules: []permit{{"k8s.io/api", apiTypes}},
	},
	{
		path: "sim/kubelet", pure: true,
		own: []permit{
			{"sim/engine", "timers and random streams"},
			{"sim/api", "the pods it hears of, and their status"},
			{"sim/world", "how servers and hooks behave"},
			{"sim/event", "what it did, for who wants to know"},
		},
		modules: []permit{{"k8s.io/api", apiTypes}, {"k8s.io/apimachinery", apiMachine}},
	},
	{
		path: "sim/volume", pure: true,
		own: []permit{
			{"sim/engine", "timers and random streams"},
			{"sim/api", "the names of pods"},
			{"sim/world", "who may have a volume"},
		},
	},
	{
		path: "sim/placement", pure: true,
		own: []permit{
			{"sim/sorted", "lists in order, in few bytes"},
			{"sim/engine", "logarithms that have one value on all machines"},
			{"sim/world", "what nodes have and pods ask for"},
		},
		modules: []permit{{"k8s.io/api", apiTypes}, {"k8s.io/apimachinery", apiMachine}},
	},
	{
		path: "sim/control", pure: true,
		own: []permit{
			{"sim/sorted", "lists in order, in few bytes"},
			{"sim/placement", "where pods may run"},
			{"sim/engine", "timers and random streams"},
			{"sim/api", "the objects it hears of, and writes"},
			{"sim/world", "what workloads ask for, and nodes have"},
			{"sim/event", "what it did, for who wants to know"},
			{"healthcheck", "the taint of the cluster autoscaler, by its name"},
		},
		modules: []permit{{"k8s.io/api", apiTypes}, {"k8s.io/apimachinery", apiMachine}},
	},
	{
		path: "sim/endpointslice", pure: true,
		own: []permit{
			{"sim/sorted", "lists in order, in few bytes"},
			{"sim/control", "its desk and its queue of Services"},
			{"sim/nodeproxy", "what its own watch shows it of a write"},
			{"sim/api", "the pods it hears of, and the writes"},
			{"sim/engine", "timers"},
			{"sim/world", "how Services are hinted, zones and CPU of nodes"},
			{"endpoints", "conditions, and what a version of Kubernetes hints"},
		},
		modules: []permit{{"k8s.io/api", apiTypes}},
	},
	{
		path: "sim/cluster", pure: true,
		own: []permit{
			{"sim/sorted", "lists in order, in few bytes"},
			{"sim/control", "the controllers and the scheduler"},
			{"sim/endpointslice", "the controller of EndpointSlices, and what they say"},
			{"sim/kubelet", "the nodes' kubelets, and the servers in their pods"},
			{"sim/volume", "which node has each volume"},
			{"sim/event", "what happened, for who wants to know"},
			{"sim/nodeproxy", "the nodes' service proxies, and the views they have in force"},
			{"sim/api", "the objects of the API, and who they are told to"},
			{"sim/servers", "what the programs in containers do"},
			{"sim/world", "the nouns: what the world is and what is done to it"},
			{"sim/engine", "events and random streams"},
			{"sim/ledger", "whom a failed attempt is put down to"},
			{"endpoints", "the node proxies run the production selection"},
			{"proxier/plan", "the node proxies run the production planning"},
			{"proxier/pace", "and the production pacing"},
			{"proxier/memory", "each node's dataplane"},
			{"healthcheck", "the nodes' real answers to load balancers' probes"},
			{"proxier/packet", "packets between nodes"},
		},
		modules: []permit{{"k8s.io/api", apiTypes}, {"k8s.io/apimachinery", apiMachine}},
		testOwn: []permit{{"endpoints/manifest", "the place of an autoscaler in the input"}},
	},
	{
		path: "sim/check", pure: true,
		own: []permit{
			{"sim/sorted", "lists in order, in few bytes"},
			{"sim/engine", "virtual time"},
			{"sim/ledger", "what is checked"},
		},
	},
	{
		path: "sim/record", pure: true,
		own: []permit{
			{"sim/sorted", "lists in order, in few bytes"},
			{"sim/edit", "what a fix changes"},
			{"sim/world", "the nouns: what the world is and what is done to it"},
			{"sim/engine", "virtual time"},
			{"sim/ledger", "what is checked"},
			{"sim/story", "how the loss of a request came about, line by line"},
			{"sim/timeline", "the worst run of a case as lanes"},
			{"sim/scenario", "what a Scenario expects, and the assumptions a claim stands under"},
		},
	},
	{
		path: "sim/story", pure: true,
		own: []permit{
			{"sim/control", "the controllers and the scheduler"},
			{"sim/event", "what happened, for who wants to know"},
			{"sim/api", "the objects of the API, and who they are told to"},
			{"sim/world", "the nouns: what the world is and what is done to it"},
			{"sim/engine", "virtual time"},
			{"sim/cluster", "what happened"},
			{"sim/ledger", "whom a story is told of"},
			{"proxier/packet", "what a node's rules do with a connection"},
		},
		testOwn: []permit{
			{"endpoints", "the conditions of an endpoint that events tell of"},
			{"endpoints/manifest", "worlds from manifests"},
			{"sim/scenario", "the same"},
			{"sim", "runs of examples"},
		},
	},
	{
		path: "sim/timeline", pure: true,
		own: []permit{
			{"sim/sorted", "lists in order, in few bytes"},
			{"sim/event", "what happened"},
			{"sim/api", "the objects of the API, of which events are about"},
			{"sim/world", "the nouns: what the world is and what is done to it"},
			{"sim/engine", "virtual time"},
			{"sim/cluster", "what the pods of a run are called"},
			{"sim/ledger", "the requests that failed"},
			{"sim/story", "the events that a failure came from, and their words"},
			{"sim/traffic", "whether a load balancer or a pod of an ingress controller sends a request on"},
			{"endpoints", "the conditions of endpoints"},
			{"proxier/packet", "what a node's rules do with a connection"},
		},
		testOwn: []permit{
			{"sim", "runs of examples"},
			{"sim/scenario", "the examples"},
			{"endpoints/manifest", "the examples, as files"},
		},
	},
	{
		path: "sim/fix", pure: true,
		own: []permit{
			{"sim/kubelet", "the nodes' kubelets, and the servers in their pods"},
			{"sim/event", "what happened, for who wants to know"},
			{"sim/api", "the objects of the API, and who they are told to"},
			{"sim/servers", "what the programs in containers do"},
			{"sim/world", "the nouns: what the world is and what is done to it"},
			{"sim/engine", "virtual time"},
			{"sim/scenario", "what is changed"},
			{"sim/edit", "the edits that a fix is made of"},
			{"endpoints", "what a Kubernetes version has"},
		},
		modules: []permit{{"k8s.io/api", apiTypes}, {"k8s.io/apimachinery", apiMachine}},
		testOwn: []permit{{"endpoints/manifest", "worlds from manifests"}},
	},
	{
		path: "sim/sweep",
		own: []permit{
			{"sim/sorted", "lists in order, in few bytes"},
			{"sim/control", "the controllers and the scheduler"},
			{"sim/world", "the nouns: what the world is and what is done to it"},
			{"sim", "one run per seed"},
			{"sim/scenario", "the grid"},
			{"sim/record", "what counts as a failure"},
			{"sim/ledger", "the results"},
			{"sim/engine", "how late a removal was"},
			{"sim/story", "each cause is told by an example"},
			{"sim/fix", "what may help is tried"},
			{"sim/timeline", "the worst runs are made into lanes"},
			{"sim/knob", "the axes of a grid"},
			{"sim/grid", "its maps"},
		},
		testOwn: []permit{{"endpoints/manifest", "its cases are inferred from manifests, as users' are"}},
	},
	{
		path: "sim/audit", pure: true,
		own: []permit{
			{"endpoints/manifest", "what is audited"},
			{"sim/scenario", "a rule's proof"},
			{"sim", "running the proof"},
			{"sim/ledger", "the loss that proves it"},
		},
	},
	{
		path: "sim/report", pure: true,
		own: []permit{
			{"sim/sorted", "lists in order, in few bytes"},
			{"sim/edit", "how a change is shown"},
			{"sim/scenario", "how what can be set is written"},
			{"sim/engine", "virtual time"},
			{"sim/ledger", "what is reported"},
			{"sim/record", "the record that is shown"},
			{"sim/knob", "the axes of a sweep"},
			{"sim/grid", "the maps of a sweep"},
			{"sim/story", "the lines of a story, which are worded here"},
			{"sim/timeline", "the lanes that JSON has where they are asked for"},
			{"proxier/explain", "what a node does with new connections, which is drawn here"},
			{"proxier/page", "lines that are no wider than a terminal"},
		},
		testOwn: []permit{
			{"sim/event", "a story of the test's own"},
			{"sim/cluster", "the pods of that story"},
			{"sim/world", "the nouns: what the world is and what is done to it"},
			{"sim/sweep", "texts of real runs are goldens"},
			{"endpoints/manifest", "the manifests of these runs"},
		},
	},
	{
		path: "sim/html", pure: true,
		own: []permit{
			{"sim/record", "the record that is shown"},
			{"sim/report", "the JSON that the page is made of, and the words of its head"},
			{"sim/timeline", "the lanes in it, of which there may be too many"},
		},
		testOwn: []permit{
			{"sim/sweep", "pages of real runs"},
			{"sim/scenario", "the cases of these runs"},
			{"sim/engine", "virtual time"},
			{"endpoints/manifest", "the manifests of these runs"},
		},
	},
	{
		path: "sim/input",
		own: []permit{
			{"endpoints/manifest", "the files and their objects"},
			{"proxier/page", "what a terminal would obey, in a word for a shell"},
			{"sim/record", "what a record says of objects that are left out"},
			{"sim/scenario", "the cases that objects make"},
			{"sim/sorted", "those with ports of nodes first"},
			{"sim/sweep", "a case for each Scenario"},
			{"sim/world", "the Scenarios"},
		},
	},
	{
		path: "sim/play",
		own: []permit{
			{"endpoints", "the versions to choose from"},
			{"endpoints/manifest", "the text, read"},
			{"proxier/page", "the record as the command line prints it"},
			{"sim", "how large a world is"},
			{"sim/edit", "one field of the text is changed"},
			{"sim/engine", "virtual time"},
			{"sim/input", "the cases of the text"},
			{"sim/knob", "what can be turned"},
			{"sim/record", "what was found"},
			{"sim/report", "the record and the text of the answer"},
			{"sim/scenario", "the flags, and what there is to choose from"},
			{"sim/servers", "the profiles to choose from"},
			{"sim/sweep", "the engine in the browser"},
			{"sim/world", "how large a world is"},
		},
	},
	{path: "sim/play/dist"},
	{
		path: "sim/lab",
		own: []permit{
			{"sim/scenario", "the same scenario, on a real kernel"},
			{"sim/ledger", "the same ledger, measured"},
			{"endpoints", "the selection to program"},
			{"proxier/plan", "the plan to program"},
			{"proxier/packet", "the prediction to compare with"},
			{"proxier", "the loop that programs it"},
			{"proxier/nftables", "kernel backend"},
			{"proxier/iptables", "kernel backend"},
			{"healthcheck/server", "real health ports"},
		},
	},
}

// markExceptions are files that may contain the marker words of unfinished work, because they are somebody else's text.
var markExceptions []permit
