// Package edit has the Edit: one field of an object, what it is and what it becomes. It is one value with three uses: it is
// printed, as a field or as YAML to paste; it changes an object in memory (Apply); and it changes the text of a manifest, where
// nothing else is touched (Text). All three come from the same path and the same value, so what is tried is what is written.
//
// The one data path: a path and a value -> Edit -> words, another object, another text.
package edit
