package sim_test

import (
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

const istioGateway = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: gateway}
spec:
  replicas: 2
  selector: {matchLabels: {app: gateway}}
  strategy: {rollingUpdate: {maxSurge: 100%, maxUnavailable: 25%}}
  template:
    metadata: {labels: {app: gateway}, annotations: {proxy.istio.io/config: "terminationDrainDuration: 30s"}}
    spec:
      terminationGracePeriodSeconds: 60
      containers:
      - name: istio-proxy
        image: docker.io/istio/proxyv2:1.24.2
        ports: [{containerPort: 8080}, {containerPort: 8443}]
        readinessProbe: {httpGet: {path: /healthz/ready, port: 15021}, periodSeconds: 2}
---
apiVersion: v1
kind: Service
metadata: {name: gateway}
spec:
  type: LoadBalancer
  selector: {app: gateway}
  ports: [{name: http2, port: 80, targetPort: 8080}, {name: https, port: 443, targetPort: 8443}]
`

// Whoever is connected to an Envoy that drains leaves it with his next answer, and so does who comes meanwhile: at the end of the drain
// there is nobody left, whether requests are counted or followed.
func TestConnectionsLeaveAnEnvoyThatDrains(t *testing.T) {
	t.Parallel()
	objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(istioGateway)}}, manifest.Options{})
	cases, _ := scenario.Infer(objects, scenario.Options{Actions: []string{"rollout"}, LB: "gke-l4"})
	ran := 0
	for i := range cases {
		sc := cases[i].Scenario
		if sc == nil {
			continue
		}
		for seed := range uint64(3) {
			ran++
			sameDrawn(t, cases[i].ID, sc, seed+1)
			r, err := sim.Run(sc, seed+1)
			if err != nil {
				t.Fatal(err)
			}
			if all := r.Ledger.All(); all.Failed > 0 || all.OK == 0 {
				t.Errorf("%s, seed %d: %d of %d requests failed", cases[i].ID, seed+1, all.Failed, all.Total)
			}
		}
	}
	if ran != 6 {
		t.Errorf("%d runs", ran)
	}
}
