// Package arch holds the repository to its own rules. It answers one question: does the tree still have the shape it
// claims to have? Which package may import which, what a pure package may do, where map order could leak into output,
// how long a function may be, what has to be documented.
//
// Every rule is data plus a small function over parsed source. The same function runs twice: over the repository, where
// it must find nothing, and over a fixture (testdata, or source held in the test) that breaks the rule, where it must
// find exactly the lines marked `// want "..."`. So a rule that has stopped firing fails as loudly as a broken rule.
//
// The data path: go source -> parse (tree) -> rules that need syntax only; go list -export -> go/types -> rules that
// need types. It uses the standard library only, does not use the network by itself and never changes a file.
package arch
