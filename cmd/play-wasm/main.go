//go:build js && wasm

// Command play-wasm is the simulator as a WebAssembly module for the page of lameduck play: see sim/play. make play builds it.
package main

import (
	"runtime/debug"
	"syscall/js"

	"github.com/lameduck-proxy/lameduck/sim/play"
)

func main() {
	const percent = 400 // a question's garbage is of no use after it, and the processor is one
	debug.SetGCPercent(percent)
	js.Global().Set("lameduckAnswer", js.FuncOf(func(_ js.Value, args []js.Value) any {
		if len(args) != 1 || args[0].Type() != js.TypeString {
			return string(play.Answer(nil, nil))
		}
		return string(play.Answer([]byte(args[0].String()), told()))
	}))
	select {} // the page asks
}

// told is the page's function lameduckProgress, where it has one.
func told() play.Told {
	hears := js.Global().Get("lameduckProgress")
	if hears.Type() != js.TypeFunction {
		return nil
	}
	return func(stage string, done, of int) { hears.Invoke(stage, done, of) }
}
