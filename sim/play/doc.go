// Package play answers the page of lameduck play: what is wrong with a manifest and what can be turned in it, the manifest with one field changed,
// and what a simulation says. It is what the page's WebAssembly module is made of (cmd/play-wasm), and Go as any other elsewhere.
//
// It opens no file, asks nobody, and answers everything: bounds are checked before anything is built, and what goes wrong inside is an answer, too.
// The record of a run is, byte for byte, that of the command line with the same flags.
//
// The page calls globalThis.lameduckAnswer(string): string in a worker, with the JSON of an Ask, and gets that of Looked, Turned or Ran.
//
// The one data path: Ask -> manifest.Load -> sim/input -> sim/sweep -> sim/report -> answer.
package play
