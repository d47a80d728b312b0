package sim

import (
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
	"github.com/lameduck-proxy/lameduck/sim/world"
)

// FuzzParse: whatever Scenario comes of a document, it can be run: with a result, or because something of it is not simulated, and
// never with a fault of the simulator.
func FuzzParse(f *testing.F) {
	web, err := os.ReadFile("scenario/testdata/web.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range []string{"scenario", "balancer", "proxies", "infer"} {
		data, err := os.ReadFile("scenario/testdata/" + name + ".txt")
		if err != nil {
			f.Fatal(err)
		}
		for i, c := range strings.Split(string(data), "\n=== ") {
			if !fuzzing() && i%seedsApart != 0 {
				continue
			}
			input, _, _ := strings.Cut(c, "----\n")
			f.Add(input, uint64(i))
		}
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		_, text, _ = strings.Cut(text, "apiVersion")
		objects, _ := manifest.Load([]manifest.File{{Name: "in.yaml", Data: []byte("apiVersion" + text)}, {Name: "web.yaml", Data: web}}, manifest.Options{})
		scenarios, _ := scenario.Parse(objects, scenario.Options{})
		for _, sc := range scenarios {
			runs(t, sc, seed)
		}
		cases, _ := scenario.Infer(objects, scenario.Options{})
		for i := range cases {
			if i < casesRun && cases[i].Scenario != nil {
				runs(t, cases[i].Scenario, seed)
			}
		}
	})
}

const (
	seedsApart = 10 // of the seeds, outside of fuzzing
	casesRun   = 3  // of what is inferred of one document
)

// fuzzing says whether inputs are made up: then there is all the time for seeds.
func fuzzing() bool {
	f := flag.Lookup("test.fuzz")
	return f != nil && f.Value.String() != ""
}

// runs runs a Scenario, made small: a few requests, for a short time. One that stays large is left out.
func runs(t *testing.T, sc *world.Scenario, seed uint64) {
	t.Helper()
	small := *sc
	last := small.Warmup
	for i := range small.Actions {
		last = max(last, small.Actions[i].At)
	}
	small.Until = min(small.Until, last+shortTime)
	small.Churn = min(small.Churn, fewRequests)
	small.Traffic = nil
	for _, t := range sc.Traffic {
		t.Rate, t.Clients = min(t.Rate, fewRequests), min(t.Clients, fewClients)
		small.Traffic = append(small.Traffic, t)
	}
	pods := 0
	for i := range small.Workloads {
		if n := small.Workloads[i].Deployment().Spec.Replicas; n != nil {
			pods += int(*n)
		}
	}
	for i := range small.Actions {
		if w := workloadOf(&small, small.Actions[i].Target()); w != nil {
			pods += podsOf(w, small.Actions[i].Operation)
		}
	}
	if last > longWait || pods > fewPods || len(small.Nodes) > fewPods || len(small.Traffic) > fewPods {
		return
	}
	var not NotSimulated
	if _, err := Run(&small, seed); err != nil && !errors.As(err, &not) {
		t.Fatalf("%v\n%s", err, scenario.Normal(sc))
	}
}

const (
	shortTime   = 20 * engine.Second
	longWait    = 5 * engine.Minute
	fewRequests = 5_000 // thousandths a second
	fewClients  = 10
	fewPods     = 40
)
