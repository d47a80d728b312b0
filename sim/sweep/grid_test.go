package sweep

import (
	"context"
	"errors"
	"testing"

	"github.com/lameduck-proxy/lameduck/endpoints/manifest"
	"github.com/lameduck-proxy/lameduck/sim/knob"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

const gridWeb = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx, ports: [{containerPort: 80}], readinessProbe: {httpGet: {path: /, port: 80}}}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
`

// gridAt makes the cases of a point; one with 7 s is refused.
func gridAt(axes []knob.Axis) Build {
	return func(at []*knob.Value) ([]scenario.Case, error) {
		objects, _ := manifest.Load([]manifest.File{{Name: "web.yaml", Data: []byte(gridWeb)}}, manifest.Options{})
		for i, v := range at {
			if v == nil {
				continue
			}
			if v.Text == "7s" {
				return nil, errors.New("no seven")
			}
			if _, err := axes[i].Knob.Turn(objects, func(string) bool { return true }, *v); err != nil {
				return nil, err
			}
		}
		cases, _ := scenario.Infer(objects, scenario.Options{Actions: []string{"rollout"}})
		return cases, nil
	}
}

func axesOf(t *testing.T, texts ...string) []knob.Axis {
	t.Helper()
	var out []knob.Axis
	for _, text := range texts {
		a, err := knob.ParseAxis(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, a)
	}
	return out
}

func TestAGridHasTheCaseOfEachPointOnTheSameSeeds(t *testing.T) {
	t.Parallel()
	axes := axesOf(t, "prestop=0s,7s,15s", "replicas=3,4")
	told := 0
	r, err := Grid(context.Background(), axes, gridAt(axes), Options{Runs: 4, Seed: 5, Progress: func(string, int, int) { told++ }})
	if err != nil || len(r.Maps) != 1 || r.Seed != 5 || r.Runs != 4 || r.Interrupted || told == 0 {
		t.Fatalf("%+v, %v; progress was told %d times", r, err, told)
	}
	m := &r.Maps[0]
	if m.Here.Lost != m.At(0, 0).Lost || m.Here.WithLoss != 4 {
		t.Errorf("as it is %+v, the same values on the axes %+v", m.Here, *m.At(0, 0))
	}
	for y := range 2 {
		if c := m.At(1, y); c.Refused != "no seven" || c.Runs != 0 || c.Clean() {
			t.Errorf("what cannot be: %+v", c)
		}
		if c := m.At(2, y); !c.Clean() || c.Runs != 4 {
			t.Errorf("with a preStop of 15 s: %+v", c)
		}
	}
	want, err := runKept(context.Background(), t, must(gridAt(axes)([]*knob.Value{&axes[0].Values[0], &axes[1].Values[1]})), Options{Runs: 4, Seed: 5})
	if err != nil || want.Cases[0].LostSeconds != m.At(0, 1).Lost {
		t.Errorf("a point loses %v, by itself %v, %v", m.At(0, 1).Lost, want.Cases[0].LostSeconds, err)
	}
}

func must(cases []scenario.Case, err error) []scenario.Case {
	if err != nil {
		panic(err)
	}
	return cases
}

func TestAGridOfAnInputThatCannotBeIsAnError(t *testing.T) {
	t.Parallel()
	axes := axesOf(t, "prestop=1s,2s")
	fault := errors.New("no input")
	if _, err := Grid(context.Background(), axes, func([]*knob.Value) ([]scenario.Case, error) { return nil, fault }, Options{Runs: 1}); !errors.Is(err, fault) {
		t.Errorf("%v", err)
	}
}

func TestAGridThatIsInterruptedSaysSo(t *testing.T) {
	t.Parallel()
	axes := axesOf(t, "prestop=0s..20s:1s")
	ctx, stop := context.WithCancel(context.Background())
	r, err := Grid(ctx, axes, gridAt(axes), Options{Runs: 1, Progress: func(string, int, int) { stop() }})
	if err != nil || !r.Interrupted {
		t.Fatalf("%+v, %v", r, err)
	}
	if done := r.Maps[0].At(0, 0).Runs; done != 1 {
		t.Errorf("the first point has %d runs", done)
	}
	if left := r.Maps[0].At(20, 0).Runs; left != 0 {
		t.Errorf("the last point has %d runs", left)
	}
}
