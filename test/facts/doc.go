// Package facts answers: of what Kubernetes does, what does lameduck model, where, which tests
// check it, and would they notice a mistake?
//
// The facts themselves are written down outside the repository, in files with numbered rows; rows
// here name them by id, "pod-lifecycle 3.2.9". modelled lists every row that the simulator or the
// core models, elsewhere what is left out, with the reason. The checks hold both lists to the
// files of facts (where they are there), to the source (files and tests exist), and to the tables
// of mutants in test/: a modelled row that no mutant breaks stands in LIMITATIONS.md, and nothing
// else does.
//
//	facts rows -> modelled, elsewhere -> tests (go/parser) and mutants (go/parser) -> LIMITATIONS.md
//
// promises does the same for what a simulation says by default: sentence -> tests, texts, stories.
//
// mutants are mistakes that the tests of one package have to notice; TestMutants makes them, one
// at a time. `make facts` prints the list, `make mutants` tries the mutants.
package facts
