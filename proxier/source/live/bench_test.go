package live

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
)

// BenchmarkRead reads 5,000 objects of usual size, server and all in this process, and makes objects of them.
func BenchmarkRead(b *testing.B) {
	var text strings.Builder
	for i := range 2500 {
		fmt.Fprintf(&text, `---
apiVersion: v1
kind: Service
metadata: {name: s%05[1]d, namespace: shop, uid: 0b7a5f3e-0000-4000-8000-0000000%05[1]d, labels: {app: s%05[1]d, tier: web}}
spec: {type: ClusterIP, clusterIP: 10.%[2]d.%[3]d.1, selector: {app: s%05[1]d}, ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: s%05[1]d-abcde, namespace: shop, labels: {kubernetes.io/service-name: s%05[1]d}}
addressType: IPv4
ports: [{name: http, port: 8080, protocol: TCP}]
endpoints:
`, i, i/256, i%256)
		for e := range 5 {
			fmt.Fprintf(&text, "- {addresses: [10.200.%d.%d], nodeName: node-%d, conditions: {ready: true, serving: true, terminating: false}, targetRef: {kind: Pod, namespace: shop, name: s%05d-%d}}\n", i%256, e, e, i, e)
		}
	}
	s, c := serve(b, nil, text.String())
	b.ReportAllocs()
	for b.Loop() {
		r, err := c.Read(b.Context(), Trace, nil)
		if err != nil || len(r.Objects) != 5000 {
			b.Fatal(err, s.Requests())
		}
		var files []manifest.File
		for _, o := range r.Objects {
			files = append(files, o.File)
		}
		if _, problems := manifest.Load(files, manifest.Options{}); len(problems) > 0 {
			b.Fatal(problems)
		}
	}
}
