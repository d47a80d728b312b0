// Command count says how many tests were run, and which were not:
//
//	go test -json ./... | go run ./test/count
//
// It prints what go test would, and a last line such as "ran 12 tests in 3 packages; not run: no nft here". No test at
// all is a failure, so that nothing passes that was not run, and none of a package that it is given the path of. With -v it
// prints what every test says. -of "cases compared" has it look for a line such as "100000 cases compared" and repeat that
// figure in its last line: none, or 0, is a failure as well. With -cover 85 it reads a coverage profile
// instead, prints what of each package some test reaches, and asks for so much of every one.
package main
