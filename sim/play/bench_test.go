package play

import (
	"os"
	"testing"
)

// BenchmarkDraw is what a page asks first when somebody drags a knob of a small app: to turn it, and to draw a run.
func BenchmarkDraw(b *testing.B) {
	text, err := os.ReadFile("../../examples/web-app.yaml")
	if err != nil {
		b.Fatal(err)
	}
	a := Ask{Do: "draw", Manifest: string(text), Case: "default/web/rollout/web:80", Seed: 1, Workload: "Deployment default/web", Knob: "prestop", Value: "4"}
	question := []byte(encode(a))
	for b.Loop() {
		Answer(question, nil)
	}
}

// BenchmarkQuick is what it asks then.
func BenchmarkQuick(b *testing.B) {
	text, err := os.ReadFile("../../examples/web-app.yaml")
	if err != nil {
		b.Fatal(err)
	}
	question := []byte(encode(Ask{Do: "run", Manifest: string(text), Quick: true, Undrawn: true}))
	for b.Loop() {
		Answer(question, nil)
	}
}
