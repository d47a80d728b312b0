package sim

import (
	"os"
	"runtime/debug"
	"testing"
	"time"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// webApp is the first case of examples/web-app.yaml: its rolling restart.
func webApp(tb testing.TB) *world.Scenario {
	tb.Helper()
	data, err := os.ReadFile("../examples/web-app.yaml")
	if err != nil {
		tb.Fatal(err)
	}
	objects, _ := manifest.Load([]manifest.File{{Name: "web-app.yaml", Data: data}}, manifest.Options{})
	cases, _ := scenario.Infer(objects, scenario.Options{Actions: []string{"rollout"}})
	for i := range cases {
		if cases[i].Scenario != nil {
			return cases[i].Scenario
		}
	}
	tb.Fatal("examples/web-app.yaml has no case")
	return nil
}

// The budget of the design: 0.4 ms of processor time for one seed. Each run has a seed of its
// own. What the machine does besides does not count: cpu-ms/op is the process's own time. Garbage is
// collected as seldom as the lameduck command has it, unless GOGC says otherwise.
func BenchmarkWebApp(b *testing.B) {
	sc := webApp(b)
	if os.Getenv("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(400))
	}
	var requests, events, seed uint64
	var memory Memory // as a sweep has it
	begin := processorTime(b)
	for b.Loop() {
		seed++
		r, err := RunWith(sc, seed, Options{Memory: &memory, Unlisted: true})
		if err != nil {
			b.Fatal(err)
		}
		requests, events = requests+r.Ledger.All().Total, events+r.Events
	}
	b.ReportMetric(float64((processorTime(b)-begin)/time.Microsecond)/1000/float64(b.N), "cpu-ms/op")
	b.ReportMetric(float64(requests)/float64(b.N), "requests/op")
	b.ReportMetric(float64(events)/float64(b.N), "events/op")
}
