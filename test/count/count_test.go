package main

import (
	"fmt"
	"strings"
	"testing"
)

// told feeds events, one a line: package, test, action and, after a colon, what is said.
func told(t *testing.T, c *counter, events string) {
	t.Helper()
	var in strings.Builder
	for line := range strings.Lines(events) {
		line = strings.TrimSuffix(line, "\n")
		head, said, _ := strings.Cut(line, ": ")
		f := strings.Fields(head)
		if len(f) != 3 {
			in.WriteString(line + "\n")
			continue
		}
		if f[1] == "-" {
			f[1] = ""
		}
		said, cut := strings.CutSuffix(said, "~") // goes on in the next event
		if !cut {
			said += "\n"
		}
		fmt.Fprintf(&in, `{"Time":"2026-01-02T03:04:05Z","Action":%q,"Package":%q,"Test":%q,"Output":%q}`+"\n", f[2], f[0], f[1], said)
	}
	if err := c.read(strings.NewReader(in.String())); err != nil {
		t.Fatal(err)
	}
}

func TestWhatWasRunIsCounted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		events, of string
		verbose    bool
		each       []string
		want       string
		well       bool
	}{
		"what passes is silent": {
			events: "a TestOne run\na TestOne output: === RUN   TestOne\na TestOne output: hello\na TestOne/part pass\na TestOne pass\na - output: PASS\na - output: ok  \ta\t0.1s\na - pass\nb TestTwo pass\nb TestThree pass",
			want:   "ok  \ta\t0.1s\nran 3 tests in 2 packages\n", well: true,
		},
		"with -v it is not": {
			events: "a TestOne output: hello\na TestOne pass", verbose: true,
			want: "hello\nran 1 test in 1 package\n", well: true,
		},
		"what fails is told": {
			events: "a TestOne output:     one_test.go:3: no\na TestOne output: --- FAIL: TestOne (0.00s)\na TestOne fail\na - output: FAIL\na - fail",
			want:   "=== FAIL  a TestOne\n    one_test.go:3: no\n--- FAIL: TestOne (0.00s)\n=== END\nFAIL\nran 1 test in 1 package\n",
		},
		"what has not ended when its package fails is told, too": {
			events: "a TestOne pass\na TestTwo output: panic: test timed out after 15m0s\nb TestTwo output: hello\na - output: FAIL\na - fail\nb TestTwo pass",
			want:   "FAIL\n=== FAIL  a TestTwo, which has not ended\npanic: test timed out after 15m0s\n=== END\nran 2 tests in 2 packages\n",
		},
		"a package that does not build is a failure": {
			events: "a TestOne pass\nb - build-output: undefined: x\nb - build-fail",
			want:   "undefined: x\nran 1 test in 1 package\n",
		},
		"so is no test at all": {
			events: "a - output: ok  \ta\t0.1s [no tests to run]\na - pass",
			want:   "ok  \ta\t0.1s [no tests to run]\nran 0 tests in 0 packages: nothing was checked\n",
		},
		"so is a package that skipped all of its tests": {
			events: "a TestOne pass\nb TestTwo output:     two_test.go:7: no nft here\nb TestTwo skip\nb - pass", each: []string{"a", "b"},
			want: "no test of b was run\nran 1 test in 1 package; not run: no nft here\n",
		},
		"what was not run is told once": {
			events: "a TestOne pass\na TestTwo output:     two_test.go:7: no nft here\na TestTwo output: --- SKIP: TestTwo (0.00s)\na TestTwo skip\n" +
				"a TestThree/part output:     two_test.go:9: no nft here\na TestThree/part skip\na TestThree pass\na TestFour skip",
			want: "ran 2 tests in 1 package; not run: no nft here; TestFour\n", well: true,
		},
		"many reasons stand before the last line": {
			events: "a TestOne pass\na A skip\na B skip\na C skip\na D skip",
			want:   "not run: A\nnot run: B\nnot run: C\nnot run: D\nran 1 test in 1 package; not run: 4 tests, for the reasons above\n", well: true,
		},
		"a figure is repeated": {
			events: "a TestOne output:     one_test.go:3: 120 cases compared, and more\na TestOne pass", of: "cases compared",
			want: "ran 1 test in 1 package, 120 cases compared\n", well: true,
		},
		"a figure that is missing is a failure": {
			events: "a TestOne output:     one_test.go:3: 120 cases\na TestOne pass", of: "cases compared",
			want: "ran 1 test in 1 package: nothing was checked\n",
		},
		"and so is 0": {
			events: "a TestOne output: 0 cases compared\na TestOne pass", of: "cases compared",
			want: "ran 1 test in 1 package, 0 cases compared: nothing was checked\n",
		},
		"of coverage a profile says more": {
			events: "a TestOne pass\na - output: coverage: 8.3% of statements in a, b\na - output: ok  \ta\t0.1s\tcoverage: 8.3% of statements in a, b",
			want:   "ok  \ta\t0.1s\nran 1 test in 1 package\n", well: true,
		},
		"and of many packages in several events": {
			events: "a TestOne pass\na - output: coverage: 8.3% of statements in a, ~\na - output: b, c, ~\na - output: d\na - output: ok  \ta\t0.1s\tcoverage: 8.3% of ~\na - output: statements\na - output: FAIL",
			want:   "ok  \ta\t0.1s\nFAIL\nran 1 test in 1 package\n", well: true,
		},
		"what is no event is told": {
			events: "go: no such module\na TestOne pass",
			want:   "go: no such module\nran 1 test in 1 package\n", well: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			counter := newCounter(&out, c.verbose, c.of)
			told(t, counter, c.events)
			if well := counter.sum(c.each); well != c.well || out.String() != c.want {
				t.Errorf("well %v, want %v; it says\n%s\nwant\n%s", well, c.well, out.String(), c.want)
			}
		})
	}
}

func TestCoverageIsATableAndABound(t *testing.T) {
	t.Parallel()
	const profile = "mode: set\nx/a/one.go:3.5,4.6 9 0\nx/a/one.go:5.5,6.6 1 0\nx/b/two.go:1.1,2.2 4 1\nmode: set\nx/a/one.go:3.5,4.6 9 1\nx/b/two.go:3.1,4.2 1 0\n"
	packages, err := readProfile(strings.NewReader(profile))
	if err != nil {
		t.Fatal(err)
	}
	for percent, want := range map[float64]string{
		80: " 80.0 %      5 statements  x/b\n 90.0 %     10 statements  x/a\n",
		85: " 80.0 %      5 statements  x/b  below 85 %\n 90.0 %     10 statements  x/a\n",
	} {
		var out strings.Builder
		if well := printTable(&out, packages, percent); well != (percent == 80) || out.String() != want {
			t.Errorf("%g %%: %v\n%s\nwant\n%s", percent, well, out.String(), want)
		}
	}
	if printTable(&strings.Builder{}, nil, 85) {
		t.Error("nothing at all is enough")
	}
	if _, err := readProfile(strings.NewReader("mode: set\nno profile\n")); err == nil {
		t.Error("anything is a profile")
	}
}
