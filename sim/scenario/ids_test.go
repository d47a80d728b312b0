package scenario

import (
	"slices"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// --show, a fix and a page find a case by its ID: DNS has one number for two ports.
func TestNoTwoCasesHaveOneID(t *testing.T) {
	t.Parallel()
	const dns = `apiVersion: apps/v1
kind: Deployment
metadata: {name: dns}
spec:
  replicas: 2
  selector: {matchLabels: {app: dns}}
  template:
    metadata: {labels: {app: dns}}
    spec:
      containers:
      - name: dns
        image: example.com/dns
        ports: [{name: dns, containerPort: 53, protocol: UDP}, {name: dns-tcp, containerPort: 53}, {name: metrics, containerPort: 9153}]
---
apiVersion: v1
kind: Service
metadata: {name: dns}
spec:
  selector: {app: dns}
  ports: [{name: dns, port: 53, protocol: UDP}, {name: dns-tcp, port: 53}, {name: metrics, port: 9153}]
`
	objects, problems := manifest.Load([]manifest.File{{Name: "dns.yaml", Data: []byte(dns)}}, manifest.Options{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	cases, _ := inferKept(t, objects, Options{Actions: []string{"rollout"}})
	var ids []string
	for i := range cases {
		ids = append(ids, cases[i].ID)
	}
	slices.Sort(ids)
	want := []string{"default/dns/rollout/dns:53-tcp", "default/dns/rollout/dns:53-udp", "default/dns/rollout/dns:9153"}
	if !slices.Equal(ids, want) {
		t.Errorf("cases %q, want %q", ids, want)
	}
}
