// Package dist holds the files of the page of lameduck play as they are served: the simulator as WebAssembly (lameduck.wasm.gz) and Go's
// wasm_exec.js, which make play writes, and the page itself, which make report builds.
package dist

import "embed"

// Files are all of them, and this one. Without lameduck.wasm.gz the module was not built.
//
//go:embed *
var Files embed.FS
