package scenario

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// What leads to a Service is said of those that clients outside ask, each kind of Service and of route.
func TestTheWordsOfTraffic(t *testing.T) {
	t.Parallel()
	types := []corev1.ServiceType{corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer}
	words := func(class, routed string, typ corev1.ServiceType, port corev1.ServicePort) string {
		svc := &corev1.Service{Spec: corev1.ServiceSpec{Type: typ, Ports: []corev1.ServicePort{port}}}
		e := entry{subject: subject{service: manifest.Typed[*corev1.Service]{Object: &manifest.Object{Name: "web"}, Value: svc}, port: &svc.Spec.Ports[0]}, class: class, routed: routed, ports: []string{":80", ":81"}}
		return trafficWords(&e)
	}
	for class, want := range map[string][6]string{ // of each type, without and with an Ingress
		ClassDNS:      {"headless web", "headless web", "headless web", "headless web", "headless web", "headless web"},
		ClassWebhook:  {"admission webhook", "admission webhook", "admission webhook", "admission webhook", "admission webhook", "admission webhook"},
		ClassScrape:   {"metrics", "metrics", "metrics", "metrics", "metrics", "metrics"},
		ClassPeer:     {"peers", "peers", "peers", "peers", "peers", "peers"},
		ClassSCTP:     {"SCTP", "SCTP", "SCTP", "SCTP", "SCTP", "SCTP"},
		ClassDatagram: {"UDP", "UDP, through an Ingress", "UDP from outside", "UDP, through an Ingress", "UDP from outside", "UDP from outside"},
		ClassSession:  {"sessions", "sessions, through an Ingress", "sessions from outside", "sessions, through an Ingress", "sessions from outside", "sessions from outside"},
		ClassH2:       {"gRPC", "gRPC, through an Ingress", "gRPC from outside", "gRPC, through an Ingress", "gRPC from outside", "gRPC from outside"},
		ClassOutside:  {"outside", "outside, through an Ingress", "outside", "outside, through an Ingress", "outside", "outside"},
		ClassInside:   {"inside", "inside", "inside", "inside", "inside", "inside"},
	} {
		for i, typ := range types {
			for j, routed := range []string{"", "Ingress"} {
				if got := words(class, routed, typ, corev1.ServicePort{Port: 80}); got != want[2*i+j]+" :80 :81" {
					t.Errorf("%s, %s, %q: %q, want %q", class, typ, routed, got, want[2*i+j])
				}
			}
		}
	}
	for kind, want := range map[string]string{"Ingress": "an", "HTTPRoute": "an", "GRPCRoute": "a", "TCPRoute": "a"} {
		if got := withArticle(kind); got != want+" "+kind {
			t.Error(got)
		}
	}
	for name, want := range map[string]string{"h2c": "HTTP/2", "HTTP2": "HTTP/2", "grpc": "gRPC", "": "gRPC"} {
		if got := words(ClassH2, "", "", corev1.ServicePort{Name: name}); got != want+" :80 :81" {
			t.Errorf("%s: %s", name, got)
		}
		if got := words(ClassH2, "", "", corev1.ServicePort{Name: "other", AppProtocol: &name}); got != want+" :80 :81" {
			t.Errorf("appProtocol %s: %s", name, got)
		}
	}
	kube := "kubernetes.io/h2c"
	if got := words(ClassH2, "", "", corev1.ServicePort{Name: "grpc", AppProtocol: &kube}); got != "HTTP/2 :80 :81" {
		t.Error(got)
	}
	for port, want := range map[int]string{
		6379: "Redis", 3306: "MySQL", 5432: "PostgreSQL", 27017: "MongoDB", 5672: "AMQP", 9042: "Cassandra", 11211: "Memcached", 9092: "Kafka", 4222: "NATS",
	} {
		asked := words(ClassSession, "", "", corev1.ServicePort{Port: int32(port)})
		target := words(ClassSession, "", "", corev1.ServicePort{Port: 1, TargetPort: intstr.FromInt(port)})
		if asked != want+" sessions :80 :81" || target != asked {
			t.Errorf("%d: %q, %q", port, asked, target)
		}
	}
}

// A key is part of a path as it is where it has nothing but letters, digits, - and _.
func TestWhatIsAWordOfAPath(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		b := byte(c)
		want := strings.IndexByte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", b) >= 0
		for _, key := range []string{string([]byte{b}), string([]byte{'a', b}), string([]byte{b, 'a'})} {
			if isWord(key) != want {
				t.Errorf("%q: %v", key, !want)
			}
		}
	}
	for path, want := range map[[2]string]string{{"", "a"}: "a", {"b", "a"}: "b.a", {"b", "a.c"}: `b["a.c"]`, {"b", ""}: `b[""]`} {
		if got := child(path[0], path[1]); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
}

// Where the grammar wants words, what stands behind --set PATH= is taken as it is, and else it is YAML.
func TestWhatStandsBehindASetting(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kinds []kind
		value string
		want  any
		err   string
	}{
		{[]kind{text, duration, rate, changes, spanOr, dist}, "30", "30", ""},
		{[]kind{text, duration, rate, changes, spanOr}, "{a: b}", "{a: b}", ""},
		{[]kind{text, duration, rate, changes, spanOr, dist}, "a\nb", "a\nb", ""},
		{[]kind{dist}, " {constant: 1s}", map[string]any{"constant": "1s"}, ""},
		{[]kind{listOf}, "[a, b]", []any{"a", "b"}, ""},
		{[]kind{boolean}, "true", true, ""},
		{[]kind{whole, object, listOf, boolean}, "1\n2", nil, "the value has more than one line"},
		{[]kind{whole, object}, "1\r2", nil, "the value has more than one line"},
		{[]kind{dist}, "{a\n}", nil, "the value has more than one line"},
		{[]kind{whole, object, dist}, "{a", nil, `"{a" is no YAML value`},
	} {
		for _, k := range c.kinds {
			got, err := setValue(&shape{kind: k}, c.value)
			if fmt.Sprintf("%T %v", got, got) != fmt.Sprintf("%T %v", c.want, c.want) || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
				t.Errorf("%q of kind %d: %#v, %v, want %#v", c.value, k, got, err, c.want)
			}
		}
	}
}

// What listens on a port called prometheus may be Prometheus, which users ask.
func TestPrometheusItselfIsAsked(t *testing.T) {
	t.Parallel()
	for image, want := range map[string]bool{"quay.io/prometheus/prometheus:v3": false, "rabbitmq:4": true} {
		svc := &corev1.Service{}
		svc.Spec.Ports = []corev1.ServicePort{{Name: "prometheus", Port: 1, TargetPort: intstr.FromInt(9090)}, {Name: "other", Port: 2}}
		s := &subject{
			service: manifest.Typed[*corev1.Service]{Value: svc}, port: &svc.Spec.Ports[0], template: &corev1.PodTemplateSpec{},
			container: &corev1.Container{Image: image},
		}
		if got := isScrape(s); got != want {
			t.Errorf("%s: scraped %v", image, got)
		}
	}
}

// Ports that are scraped are told by their names, by the numbers that Istio has for them, and by the annotations of Prometheus.
func TestWhichPortsAreScraped(t *testing.T) {
	t.Parallel()
	const annotation = "prometheus.io/port"
	for _, c := range []struct {
		name           string
		target         int
		ofPod, ofSvc   string
		alone, scraped bool
	}{
		{"metrics", 80, "", "", true, true}, {"http-metrics", 80, "", "", true, true}, {"monitoring", 80, "", "", false, true}, {"telemetry", 80, "", "", false, true},
		{"node-exporter", 80, "", "", true, true}, {"http", 80, "", "", true, false}, {"", 80, "", "", true, false},
		{"", 15014, "", "", true, true}, {"", 15020, "", "", true, true}, {"", 15090, "", "", true, true}, {"", 15021, "", "", true, false},
		{"", 9102, "9102", "", false, true}, {"", 9102, "", "9102", false, true}, {"", 9102, "9102", "", true, false}, {"", 9102, "9103", "", false, false},
		{"prometheus", 15692, "", "", false, true}, {"http-prometheus", 9464, "", "", false, true}, {"prometheus", 80, "", "", true, false},
		{"tcp-prometheus-servicemonitor", 9402, "", "", true, true}, {"podmonitor", 80, "", "", true, true}, {"monitored", 80, "", "", true, false},
		{"", 15692, "", "", false, true}, {"stats", 9121, "", "", false, true}, {"", 9187, "", "", true, false}, {"", 9090, "", "", false, false},
	} {
		svc := &corev1.Service{}
		svc.Spec.Ports = []corev1.ServicePort{{Name: c.name, Port: 1, TargetPort: intstr.FromInt(c.target)}}
		if !c.alone {
			svc.Spec.Ports = append(svc.Spec.Ports, corev1.ServicePort{Name: "other", Port: 2})
		}
		template := &corev1.PodTemplateSpec{}
		if c.ofPod != "" {
			template.Annotations = map[string]string{annotation: c.ofPod}
		}
		if c.ofSvc != "" {
			svc.Annotations = map[string]string{annotation: c.ofSvc}
		}
		s := &subject{service: manifest.Typed[*corev1.Service]{Value: svc}, port: &svc.Spec.Ports[0], template: template}
		if got := isScrape(s); got != c.scraped {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// A program that serves nothing but metrics, and a port that the container calls metrics, are asked by a scraper whatever the Service calls its port.
func TestAControllersOnlyPortIsForItsMetrics(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		image, portName string
		scraped         bool
	}{
		{"registry.k8s.io/external-dns/external-dns:v0.14.2", "http", true}, {"registry.k8s.io/kube-state-metrics/kube-state-metrics:v2.12.0", "http", true},
		{"quay.io/prometheus/node-exporter:v1.8.1", "", true}, {"acme/pdf-exporter:3", "http", false}, {"acme/web", "http-metrics", true}, {"acme/web", "http", false},
	} {
		svc := &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromInt(7979)}}}}
		container := &corev1.Container{Image: c.image, Ports: []corev1.ContainerPort{{Name: "other", ContainerPort: 1}, {Name: c.portName, ContainerPort: 7979}}}
		s := &subject{service: manifest.Typed[*corev1.Service]{Value: svc}, port: &svc.Spec.Ports[0], template: &corev1.PodTemplateSpec{}, container: container}
		if got := isScrape(s); got != c.scraped {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// A port for operators is told by a number that belongs to one program alone, where another port beside it is for users.
func TestWhichPortsAreForOperators(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		target int
		alone  bool
		admin  bool
	}{
		{"http", 15672, false, true}, {"https", 15671, false, true}, {"http", 15672, true, false}, {"amqp", 5672, false, false}, {"", 9901, false, true},
		{"http-admin", 80, false, true}, {"http-admin", 80, true, false}, {"debug", 80, true, true},
	} {
		svc := &corev1.Service{}
		svc.Spec.Ports = []corev1.ServicePort{{Name: c.name, Port: 1, TargetPort: intstr.FromInt(c.target)}}
		if !c.alone {
			svc.Spec.Ports = append(svc.Spec.Ports, corev1.ServicePort{Name: "other", Port: 2})
		}
		s := &subject{service: manifest.Typed[*corev1.Service]{Value: svc}, port: &svc.Spec.Ports[0], template: &corev1.PodTemplateSpec{}}
		if got := isAdmin(s); got != c.admin {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// The way to a Service may be none, a load balancer, a node port or an ingress controller; anything else is no way.
func TestWaysToAService(t *testing.T) {
	t.Parallel()
	for via, want := range map[string]string{
		"": "", "clusterIP": "", "'', clusterIP": "", "nodePort": "",
		"somewhere":          `"somewhere" is no way: want lb, nodePort, clusterIP, or the Service of an ingress controller as NAMESPACE/SERVICE:PORT`,
		"default/web:80, lb": "behind the ingress controller default/web:80 there is nothing more than the Service itself",
	} {
		text := "apiVersion: lameduck/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec:\n  traffic: [{to: default/web:80, via: [" + via + "]}]\n"
		objects, _ := manifest.Load([]manifest.File{{Name: "s.yaml", Data: []byte(text)}, {Name: "web.yaml", Data: []byte(altWeb)}}, manifest.Options{})
		_, problems := parseKept(t, objects, Options{})
		said := ""
		for _, p := range problems {
			if strings.Contains(p.Message, "no way") || strings.Contains(p.Message, "nothing more than") {
				said += p.Message
			}
		}
		if said != want {
			t.Errorf("via [%s]: %q, want %q", via, said, want)
		}
	}
}

// A drain that lameduck makes up is one with --force where there are pods that nobody owns: they do not refuse it.
func TestADrainThatIsMadeUpIsForced(t *testing.T) {
	t.Parallel()
	for pod, want := range map[string]bool{"": false, livePod("bare", "", "n1", ""): true, livePod("bare", "", "n2", ""): false} {
		cases, problems := casesIn(t, placedWeb+threeNodes+livePod("web-1", "ReplicaSet web-7c9d", "n1", "")+pod, Options{Actions: []string{"drain=n1"}})
		for _, c := range cases {
			if o, ok := c.Scenario.Actions[0].Operation.(world.Drain); !ok || o.Force != want {
				t.Errorf("%q: %s is forced: %v: %v", pod, c.ID, o.Force, problems)
			}
		}
	}
	drain := &nodeDrain{nodes: []string{"node-1", "node-2"}, force: true}
	op, ok := drain.operation().(world.Drain)
	if !ok || !op.Force || op.GracePeriod != world.OwnGrace || strings.Join(op.Nodes, " ") != "node-1 node-2" || drain.word() != drainOf+"node-1,node-2" {
		t.Errorf("%+v", drain.operation())
	}
}

// What has no name is not like what has one.
func TestNoNameIsNotLikeAName(t *testing.T) {
	t.Parallel()
	first, second := &alike{numbers: map[string]int{}}, &alike{numbers: map[string]int{}}
	if first.name("") == second.name("web") || second.full("shop/web") == first.full("shop/") || first.name("") != second.name("") {
		t.Error("an empty name stands for one")
	}
}

// What is spoken over a port of sessions is told by the numbers that databases and queues have, whichever side of the Service has them.
func TestWhatSessionsAreCalled(t *testing.T) {
	t.Parallel()
	want := map[int]string{
		6379: "Redis sessions", 3306: "MySQL sessions", 5432: "PostgreSQL sessions", 27017: "MongoDB sessions", 5672: "AMQP sessions", 9042: "Cassandra sessions",
		11211: "Memcached sessions", 9092: "Kafka sessions", 4222: "NATS sessions", 7000: "sessions",
	}
	for number, words := range want { // order: each by itself
		for _, p := range []corev1.ServicePort{{Port: int32(number), TargetPort: intstr.FromInt(1)}, {Port: 1, TargetPort: intstr.FromInt(number)}} {
			if got := sessionsOf(&subject{port: &p, template: &corev1.PodTemplateSpec{}}); got != words {
				t.Errorf("port %d to %v: %q, want %q", p.Port, p.TargetPort, got, words)
			}
		}
	}
	for image, c := range map[string]struct { // order: each by itself
		number int
		want   string
	}{
		"quay.io/strimzi/kafka:0.40.0": {9093, "Kafka sessions"}, "confluentinc/cp-kafka:7": {9094, "Kafka sessions"}, "apache/kafka:3.7": {9100, "sessions"}, "acme/app:9": {9093, "sessions"},
	} {
		s := &subject{port: &corev1.ServicePort{Port: 1, TargetPort: intstr.FromInt(c.number)}, template: &corev1.PodTemplateSpec{}, container: &corev1.Container{Image: image}}
		if got := sessionsOf(s); got != c.want || isSession(s) != (c.want != "sessions") {
			t.Errorf("%s, port %d: %q, want %q", image, c.number, got, c.want)
		}
	}
}

// A Service that leads to pods before they are ready has a port for clients where something leads there from outside, or where the port's name
// or number is that of a protocol for clients.
func TestWhichPortsAreForClients(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind   corev1.ServiceType
		name   string
		target int
		want   bool
	}{
		{"", "peer", 7000, false}, {corev1.ServiceTypeClusterIP, "", 7000, false},
		{corev1.ServiceTypeLoadBalancer, "peer", 7000, true}, {corev1.ServiceTypeNodePort, "peer", 7000, true},
		{"", "", 80, true}, {"", "", 443, true}, {"", "", 8080, true}, {"", "", 8443, true}, {"", "", 9200, true}, {"", "", 9201, false},
		{"", "http-peer", 7000, true}, {"", "HTTPS", 7000, true}, {"", "http2-x", 7000, true}, {"", "grpc", 7000, true}, {"", "web-1", 7000, true},
		{"", "api", 7000, true}, {"", "client", 7000, true}, {"", "rest", 7000, true}, {"", "clients", 7000, false},
	} {
		svc := &corev1.Service{}
		svc.Spec.Type, svc.Spec.Ports = c.kind, []corev1.ServicePort{{Name: c.name, Port: 1, TargetPort: intstr.FromInt(c.target)}}
		s := &subject{service: manifest.Typed[*corev1.Service]{Value: svc}, port: &svc.Spec.Ports[0], template: &corev1.PodTemplateSpec{}, container: &corev1.Container{}}
		if got := (&inventory{}).forClients(s); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// A budget of nodes is a number or a part of 100, of as many nodes as there can be.
func TestABudgetOfNodesIsANumberOrAPart(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]world.NodeBudget{
		"0": {}, "5": {Number: 5}, fmt.Sprint(maxNodes): {Number: maxNodes}, "0%": {PerCent: true}, "100%": {Number: 100, PerCent: true},
	} { // order: each by itself
		if got, ok := budgetOf(words); !ok || got != want {
			t.Errorf("%q: %+v, %v", words, got, ok)
		}
	}
	for _, words := range []string{"", "%", "-1", "-1%", "101%", "many", fmt.Sprint(maxNodes + 1)} {
		if got, ok := budgetOf(words); ok {
			t.Errorf("%q: %+v", words, got)
		}
	}
}

// A ScaledObject raises a workload to its least number of pods, and may take it to none; what is no number of pods counts as if it were not there.
func TestWhatAScaledObjectSays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec        string
		least, most int32
		zero        string
	}{
		{"", 0, 0, "without minReplicaCount, which is 0 then"},
		{"minReplicaCount: 0", 0, 0, "minReplicaCount 0"},
		{"minReplicaCount: 2, maxReplicaCount: 9", 2, 9, ""},
		{"minReplicaCount: 2, maxReplicaCount: 0", 2, 0, ""},
		{"minReplicaCount: 2, maxReplicaCount: -3", 2, 0, ""},
		{"minReplicaCount: 2, maxReplicaCount: nine", 2, 0, ""},
		{"minReplicaCount: 2, maxReplicaCount: 99999999999", 2, 0, ""},
		{"minReplicaCount: -2", 0, 0, "minReplicaCount 0"},
		{"minReplicaCount: 99999999999", 0, 0, "minReplicaCount 0"},
		{"minReplicaCount: 2, idleReplicaCount: 0", 2, 0, "idleReplicaCount 0"},
		{"minReplicaCount: 2, idleReplicaCount: 1", 2, 0, ""},
	} {
		spec := map[string]any{}
		for field := range strings.SplitSeq(c.spec, ", ") {
			name, value, _ := strings.Cut(field, ": ")
			spec[name] = value // a text is no number
			if n, err := strconv.ParseInt(value, 10, 64); err == nil {
				spec[name] = n
			}
		}
		if s := scaledObject(&manifest.Object{Value: map[string]any{"spec": spec}}); s.least != c.least || s.most != c.most || s.toZero != c.zero {
			t.Errorf("{%s}: at least %d, at most %d, %q", c.spec, s.least, s.most, s.toZero)
		}
	}
}

// What requests share is said with a word, and each word is read as what it says.
func TestWhatRequestsShareIsAWord(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{"per-request": "per-request", "keep-alive": "keep-alive", "http2": "http2", "grpc": "http2", "session": "session"} { // order: each by itself
		s, wrong := parsed(t, "LoadBalancer", "  traffic: [{to: default/web:80, rate: 10/s, connection: "+word+"}]\n", Options{})
		if s == nil || wrong != "" || connectionWord(&s.Traffic[0]) != want {
			t.Errorf("%s: %+v, %s", word, s, wrong)
		}
	}
}

// A load balancer keeps an idle connection for a while, or for ever; not for no time at all.
func TestHowLongALoadBalancerKeepsWhatIsIdle(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]engine.Time{"90s": 90 * engine.Second, never: 0} { // order: each by itself
		s, wrong := parsed(t, "LoadBalancer", "  loadBalancer: {preset: aws-nlb-ip, idle: "+value+"}\n", Options{})
		if s == nil || wrong != "" || s.Traffic[0].LB.Idle != want {
			t.Errorf("%s: %+v, %s", value, s, wrong)
		}
	}
	if _, wrong := parsed(t, "LoadBalancer", "  loadBalancer: {preset: aws-nlb-ip, idle: 0s}\n", Options{}); !strings.Contains(wrong, "keeps no idle connection at all is none") {
		t.Error(wrong)
	}
}

// The label that a webhook gives readiness gates by is that of the controller: its class says whose, or the controller of what leads to the Service.
func TestTheLabelThatAsksForReadinessGates(t *testing.T) {
	t.Parallel()
	nlb, other := autoModeNLB, "service.k8s.aws/nlb"
	for _, tt := range []struct {
		class *string
		route *world.Route
		want  string
	}{
		{nil, nil, gateLabel}, {&other, nil, gateLabel}, {&nlb, nil, autoModeGateLabel}, {&nlb, &world.Route{}, gateLabel},
		{nil, &world.Route{Controller: autoModeALB}, autoModeGateLabel}, {nil, &world.Route{Controller: "ingress.k8s.aws/alb"}, gateLabel},
	} {
		svc := &corev1.Service{Spec: corev1.ServiceSpec{LoadBalancerClass: tt.class}}
		if got := gateLabelFor(svc, tt.route); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

// A pool of clients grows where three quarters of it would be busy, and asks less often where nobody says how often.
func TestAPoolGrowsWithTheAnswers(t *testing.T) {
	t.Parallel()
	const sec = engine.Second
	for _, tt := range []struct {
		rate, clients int // a second
		answer        engine.Time
		said          bool
		want          string // rate and clients
	}{
		{100, 10, 0, false, "100 10"}, {100, 10, 75 * engine.Millisecond, false, "100 10"}, {100, 10, 80 * engine.Millisecond, false, "100 16"},
		{100, 10, 80 * engine.Millisecond, true, "100 16"}, {100, 10, 2 * sec, false, "25 100"}, {100, 10, 2 * sec, true, "100 400"}, {1000, 10, 2 * sec, true, "1000 1024"},
		{100, 500, 2 * sec, true, "100 500"}, {100, 0, 0, false, "100 0"}, {100, -1, 0, false, "100 -1"},
	} {
		c := &world.Traffic{KeepAlive: true, Rate: tt.rate * 1000, Clients: tt.clients}
		grow(c, tt.answer, tt.said)
		if got := fmt.Sprint(c.Rate/1000, c.Clients); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
	for _, c := range []world.Traffic{{Rate: 1000, Clients: 1}, {KeepAlive: true, Arrivals: world.ArrivalsClosedLoop, Rate: 1000, Clients: 1}} {
		if grow(&c, engine.Minute, true); c.Clients != 1 || c.Rate != 1000 {
			t.Errorf("%+v", c)
		}
	}
}

// The file of a container is the one of the first ConfigMap that has it, under the name that it has there.
func TestTheConfigMapThatAFileIsOf(t *testing.T) {
	t.Parallel()
	const text = `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {Corefile: one}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {Corefile: two, other: three}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: empty}, data: {}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: dns}, spec: {selector: {matchLabels: {app: dns}}, template: {metadata: {labels: {app: dns}}, spec: {
  containers: [{name: c, image: x, volumeMounts: [MOUNTS]}],
  volumes: [{name: a, configMap: {name: a}}, {name: b, configMap: {name: b}}, {name: e, configMap: {name: empty}}, {name: none, configMap: {name: none}}, {name: d, emptyDir: {}},
    {name: i, configMap: {name: b, items: [{key: other, path: Corefile}]}}]}}}}
`
	for _, tt := range []struct{ mounts, file, want string }{
		{"{name: a, mountPath: /etc}", "Corefile", "a Corefile"}, {"{name: a, mountPath: /etc}", "/etc/Corefile", "a Corefile"}, {"{name: a, mountPath: /etc/}", "/etc/Corefile", "a Corefile"},
		{"{name: a, mountPath: /etc}", "/usr/Corefile", ""}, {"{name: a, mountPath: /etc}", "other", ""}, {"{name: b, mountPath: /etc}", "other", "b other"},
		{"{name: e, mountPath: /etc}, {name: b, mountPath: /etc}", "Corefile", "b Corefile"}, {"{name: none, mountPath: /etc}, {name: b, mountPath: /etc}", "Corefile", "b Corefile"},
		{"{name: d, mountPath: /etc}", "Corefile", ""}, {"{name: i, mountPath: /etc}", "Corefile", "b other"}, {"{name: i, mountPath: /etc}", "other", ""}, {"", "Corefile", ""},
	} {
		objects, problems := manifest.Load([]manifest.File{{Name: "in.yaml", Data: []byte(strings.Replace(text, "MOUNTS", tt.mounts, 1))}}, manifest.Options{})
		if manifest.HasErrors(problems) {
			t.Fatal(problems)
		}
		w := newInventory(objects.All)
		of := &world.Workload{Resource: w.workloads[0].Value}
		o, key := w.mounted(of, &of.Template().Spec.Containers[0], tt.file)
		got := ""
		if o != nil {
			got = o.Name + " " + key
		}
		if got != tt.want {
			t.Errorf("%s of %s: %q, want %q", tt.file, tt.mounts, got, tt.want)
		}
	}
}

// What a Service may be behind by the address in its status.
func TestLoadBalancersByTheAddressOfAService(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		ips, host string
		why       string
		aws       bool // it may be one of AWS
	}{
		{"", "", "nothing says which one it is", true}, {"203.0.113.7", "", "status address 203.0.113.7, and AWS gives names", false},
		{"10.0.0.7", "", "status address 10.0.0.7 is private", false}, {"fe80::1", "", "status address fe80::1 is private", false},
		{"", "lb.example.com", "status hostname lb.example.com is none of AWS", false}, {"nonsense", "", "nothing says which one it is", true},
		{"nonsense,203.0.113.7", "", "status address 203.0.113.7, and AWS gives names", false},
	} {
		svc := &corev1.Service{}
		for _, ip := range strings.Split(tt.ips, ",") {
			svc.Status.LoadBalancer.Ingress = append(svc.Status.LoadBalancer.Ingress, corev1.LoadBalancerIngress{IP: ip, Hostname: tt.host})
		}
		f := unknownBalancer(svc)
		if aws := strings.Contains(strings.Join(f.families, " "), "aws-"); f.why != tt.why || aws != tt.aws || len(f.families) == 0 {
			t.Errorf("%+v: %+v", tt, f)
		}
	}
}
