// Package facts answers: of what Kubernetes does, what does lameduck model, where, which tests
// check it, and would they notice a mistake?
//
// The facts are the pages of docs/model, read by package model; each says where it is modelled and
// which tests check it. The checks here hold the pages to the source (files and tests exist) and to
// the tables of mutants in test/: a fact that no mutant breaks stands in docs/verification.md, and nothing
// else does.
//
//	docs/model -> tests (go/parser) and mutants (go/parser) -> docs/verification.md
//
// promises does the same for what a simulation says by default: sentence -> tests, texts, stories.
//
// mutants are mistakes that the tests of one package have to notice; TestMutants makes them, one
// at a time. `make facts` prints the list, `make mutants` tries the mutants.
package facts
