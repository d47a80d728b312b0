package scenario

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/world"
)

// broker is a StatefulSet with a Service for all of its pods, and further Services.
func broker(services ...string) string {
	text := "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: kafka, namespace: shop}\nspec:\n  replicas: 3\n  selector: {matchLabels: {app: kafka}}\n" +
		"  template:\n    metadata: {labels: {app: kafka}}\n    spec: {containers: [{name: c, image: 'apache/kafka:3.7', ports: [{containerPort: 9092}, {containerPort: 9094}]}]}\n" +
		"---\napiVersion: v1\nkind: Service\nmetadata: {name: all, namespace: shop}\nspec: {selector: {app: kafka}, ports: [{port: 9092}]}\n"
	for _, s := range services {
		name, spec, _ := strings.Cut(s, ": ")
		text += "---\napiVersion: v1\nkind: Service\nmetadata: {name: " + name + ", namespace: shop}\nspec: {" + spec + ", ports: [{port: 9094}]}\n"
	}
	return text
}

// A Service that leads from outside to one pod of a StatefulSet is the way of users who are not judged, and is named where a reader begins. One
// without a way from outside is for peers, and one that names no pod of the StatefulSet is none of it.
func TestAServiceFromOutsideToOnePodIsNamed(t *testing.T) {
	t.Parallel()
	const (
		byName  = "selector: {statefulset.kubernetes.io/pod-name: kafka-"
		alone   = " leads from outside to one pod alone, kafka-0: nobody answers there while that pod is gone, and its clients are not judged"
		ingress = "---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: i, namespace: shop}\nspec: {defaultBackend: {service: {name: zero, port: {number: 9094}}}}\n"
	)
	for name, tt := range map[string]struct { // order: each for itself
		text, want, traffic string
	}{
		"none":                  {broker(), "", ""},
		"a load balancer":       {broker("zero: type: LoadBalancer, " + byName + "0}"), "Service zero (web.yaml:19)" + alone, "Kafka sessions from outside :9094"},
		"a port of the nodes":   {broker("zero: type: NodePort, " + byName + "0}"), "Service zero (web.yaml:19)" + alone, "Kafka sessions from outside :9094"},
		"by its index":          {broker("zero: type: LoadBalancer, selector: {app: kafka, apps.kubernetes.io/pod-index: '0'}"), "Service zero (web.yaml:19)" + alone, "Kafka sessions from outside :9094"},
		"an Ingress":            {broker("zero: "+byName+"0}") + ingress, "Service zero (web.yaml:19)" + alone, "Kafka sessions, through an Ingress :9094"},
		"two":                   {broker("zero: type: LoadBalancer, "+byName+"0}", "one: type: LoadBalancer, "+byName+"1}"), "Services one (web.yaml:24) and zero (web.yaml:19) lead from outside to one pod each: nobody answers there while that pod is gone, and their clients are not judged", "Kafka sessions from outside :9094"},
		"for peers":             {broker("zero: " + byName + "0}"), "", "peers :9094"},
		"of another one":        {broker("zero: type: LoadBalancer, selector: {statefulset.kubernetes.io/pod-name: zookeeper-0}"), "", ""},
		"of a longer name":      {broker("zero: type: LoadBalancer, selector: {statefulset.kubernetes.io/pod-name: kafka-zk-0}"), "", ""},
		"a name and its number": {broker("zero: type: LoadBalancer, selector: {statefulset.kubernetes.io/pod-name: kafka-0, apps.kubernetes.io/pod-index: '0'}"), "Service zero (web.yaml:19)" + alone, "Kafka sessions from outside :9094"},
		"and another number":    {broker("zero: type: LoadBalancer, selector: {statefulset.kubernetes.io/pod-name: kafka-0, apps.kubernetes.io/pod-index: '1'}"), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cases, _ := inferText(t, tt.text, Options{Actions: []string{"rollout"}})
			traffic, said := "", ""
			for i := range cases {
				c := &cases[i]
				if c.Service != "shop/all" && traffic == "" {
					traffic = c.Traffic
					if c.Verdict != NotJudged || c.Headline || !strings.Contains(c.Reason, "selects single pods of the StatefulSet kafka") {
						t.Errorf("%s: %+v", c.ID, c)
					}
				}
				if c.Service != "shop/all" {
					continue
				}
				for _, n := range c.Scenario.NotModelled {
					if n.ID == world.OnePod {
						said += n.What
					}
				}
			}
			if said != tt.want || traffic != tt.traffic {
				t.Errorf("%q is left out, %q is not judged", said, traffic)
			}
		})
	}
}
