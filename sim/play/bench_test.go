package play

import (
	"os"
	"testing"
)

// BenchmarkQuick is what a page asks when somebody drags a knob of a small app.
func BenchmarkQuick(b *testing.B) {
	text, err := os.ReadFile("../../examples/web-app.yaml")
	if err != nil {
		b.Fatal(err)
	}
	question := []byte(encode(Ask{Do: "run", Manifest: string(text), Quick: true}))
	for b.Loop() {
		Answer(question, nil)
	}
}
