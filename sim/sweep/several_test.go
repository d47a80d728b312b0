package sweep

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// track is one of the Deployments behind the Service of TestACanaryIsATenthOfItsService.
func track(name string, replicas int) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, namespace: shop}
spec:
  replicas: %[2]d
  selector: {matchLabels: {app: web, track: %[1]s}}
  template:
    metadata: {labels: {app: web, track: %[1]s}}
    spec:
      containers:
      - name: web
        image: example.com/web
        ports: [{containerPort: 8080}]
        readinessProbe: {httpGet: {path: /, port: 8080}, periodSeconds: 1}
---`, name, replicas)
}

// Nine stable pods and one canary behind one Service. When the canary is replaced, what is sent to
// its old pod is lost until the rules of the nodes are written again: one request in ten or eleven,
// for the wait of a second (minSyncPeriod), a sync of 0.2 s at most and the way there. Alone behind
// its Service it is one in two.
func TestACanaryIsATenthOfItsService(t *testing.T) {
	t.Parallel()
	const service = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec:
  selector: {app: web}
  ports: [{port: 80, targetPort: 8080}]
`
	lost := func(manifests string) (most engine.Time, stories string) {
		objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(manifests)}}, manifest.Options{})
		cases, problems := scenario.Infer(objects, scenario.Options{Actions: []string{"rollout"}})
		if len(cases) == 0 {
			t.Fatal(problems)
		}
		result, err := runKept(context.Background(), t, cases[:1], Options{Runs: 10})
		if err != nil {
			t.Fatal(err)
		}
		c := result.Cases[0]
		if c.Workload != "shop/canary" || c.LongestOutage.Max > int64(engine.Second) {
			t.Errorf("%s: no new request answered for %d ns", c.Workload, c.LongestOutage.Max)
		}
		for _, cause := range c.Causes {
			for _, line := range cause.Story {
				stories += line.Words() + "\n"
			}
		}
		return engine.Time(c.LostSeconds.Max), stories
	}
	together, story := lost(track("canary", 1) + track("stable", 9) + service)
	if hold := 1300 * engine.Millisecond; together == 0 || together > hold/10+60*engine.Millisecond {
		t.Errorf("with nine stable pods the canary loses %s of traffic", together.Duration())
	}
	alone, _ := lost(track("canary", 1) + service)
	if alone < 3*together {
		t.Errorf("alone the canary loses %s, with nine others %s", alone.Duration(), together.Duration())
	}
	if !strings.Contains(story, "old pod 0 of canary deleted") {
		t.Errorf("the story does not say whose pod was deleted:\n%s", story)
	}
}
