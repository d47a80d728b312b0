package mutate

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sums is a module in which one package builds on another. The test of the upper one notices what the lower one's own
// test does not look at.
var sums = map[string]string{
	"low/low.go": `package low

func Sum(a, b int) int { return a + b }

func Positive(a int) bool { return a > 0 }

func Forever(n int) (sum int) {
	for n > 0 {
		sum += n
		n--
	}
	return sum
}

func Unused(a bool) bool { return a == true }
`,
	"low/low_test.go": `package low

import "testing"

func TestSum(t *testing.T) {
	if Sum(2, 2) != 4 {
		t.Error("wrong")
	}
}

func TestForever(t *testing.T) {
	if Forever(2) != 3 {
		t.Error("wrong")
	}
}

func TestBroken(t *testing.T) { t.Error("fails anyway", Unused(true)) }
`,
	"high/high.go": "package high\n\nimport \"example.org/m/low\"\n\n" +
		"func init() {\n\tif low.Sum(1, 1) != 2 {\n\t\tpanic(1)\n\t}\n}\n\nfunc Sign(a int) string {\n\tif low.Positive(a) {\n\t\treturn \"+\"\n\t}\n\treturn \"-\"\n}\n",
	"high/high_test.go": `package high

import (
	"os"
	"os/exec"
	"testing"
)

// The child has an environment of its own.
func TestSign(t *testing.T) {
	if len(os.Args) > 1 && os.Args[len(os.Args)-1] == "child" {
		if Sign(1) != "+" || Sign(0) != "-" {
			os.Exit(7)
		}
		return
	}
	child := exec.Command(os.Args[0], "-test.run=TestSign", "child")
	child.Env = []string{}
	if child.Run() != nil {
		t.Error("wrong")
	}
}
`,
}

// A mistake counts as noticed if a test that comes by it fails or does not end, in its own package or above, even in a
// program that a test starts; not if a test fails anyway.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	dir := module(t, sums)
	sources, err := Load(dir, "./...")
	if err != nil {
		t.Fatal(err)
	}
	var all []*Mistake
	for _, s := range sources {
		all = append(all, s.Mistakes()...)
	}
	var log strings.Builder
	bench := &Bench{Root: dir, Dir: t.TempDir(), Quick: time.Minute, Log: func(format string, _ ...any) { log.WriteString(format) }}
	verdicts, err := bench.Try(t.Context(), Draw(all, "a seed", 1000, regexp.MustCompile(`- for \+|Positive|Unused|Sign: condition`)))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		`low/low.go: Sum: - for +: "a + b" -> "a - b"`:                                     "example.org/m/low TestSum",
		`low/low.go: Positive: comparison widened: "a > 0" -> "a >= 0"`:                    "example.org/m/high TestSign",
		`low/low.go: Positive: bound shifted: "0" -> "1"`:                                  "example.org/m/high TestSign",
		`low/low.go: Unused: comparison widened: "a == true" -> "true"`:                    "",
		`high/high.go: Sign: condition negated: "low.Positive(a)" -> "!(low.Positive(a))"`: "example.org/m/high TestSign",
	}
	for _, v := range verdicts {
		by, known := want[v.Mistake.Name()]
		if !known || by != v.By || v.Open {
			t.Errorf("%s: noticed by %q, want %q", v.Mistake.Name(), v.By, by)
		}
		delete(want, v.Mistake.Name())
	}
	if len(want) > 0 {
		t.Errorf("not tried: %v", want)
	}
	if !strings.Contains(log.String(), "fails without any mistake") {
		t.Error("a test that fails anyway is not named")
	}
}

// A slow test that has tests of its own is not run as a whole where one of these comes by a mistake. What it does around them counts, too.
func TestASlowTestIsRunPartByPart(t *testing.T) {
	t.Parallel()
	dir := module(t, map[string]string{
		"low/low.go": "package low\n\nfunc One(a, b int) int { return a + b }\n\nfunc Two(a, b int) int { return a - b }\n\nfunc All(a, b int) bool { return a == b }\n",
		"low/low_test.go": `package low

import "testing"

func TestLow(t *testing.T) {
	n := 0
	for name, wrong := range map[string]func() bool{"one (|)": func() bool { return One(1, 1) != 2 }, "two/parts": func() bool { return Two(1, 1) != 0 }} {
		t.Run(name, func(t *testing.T) {
			if n++; wrong() {
				t.Error("wrong")
			}
		})
	}
	if n == 2 && All(1, 2) {
		t.Error("wrong")
	}
}
`,
	})
	sources, err := Load(dir, "./...")
	if err != nil {
		t.Fatal(err)
	}
	bench := &Bench{Root: dir, Dir: t.TempDir(), Log: t.Logf} // all tests are slow
	verdicts, err := bench.Try(t.Context(), Draw(sources[0].Mistakes(), "a seed", 3, regexp.MustCompile("")))
	if err != nil {
		t.Fatal(err)
	}
	var tests []string
	for _, r := range bench.suites[0].slow {
		tests = append(tests, fmt.Sprintf("%s %x", r.name, r.reached))
	}
	slices.Sort(tests)
	if diff := cmp.Diff([]string{"TestLow 000001", "TestLow/one_(|) 010000", "TestLow/two 000100"}, tests); diff != "" {
		t.Error(diff)
	}
	got := map[string]string{}
	for _, v := range verdicts {
		got[v.Mistake.Func] = fmt.Sprint(v.By, " of ", v.Tried)
	}
	if diff := cmp.Diff(map[string]string{
		"One": "example.org/m/low TestLow of 1", "Two": "example.org/m/low TestLow of 1", "All": "example.org/m/low TestLow of 1",
	}, got); diff != "" {
		t.Error(diff)
	}
}

// A test that sees that it has too little time, and fails at once, is a slow one: it counts.
func TestATestThatGivesUpForWantOfTimeCounts(t *testing.T) {
	t.Parallel()
	dir := module(t, map[string]string{
		"low/low.go": "package low\n\nfunc Sum(a, b int) int { return a + b }\n",
		"low/low_test.go": `package low

import (
	"testing"
	"time"
)

func TestSum(t *testing.T) {
	if end, _ := t.Deadline(); time.Until(end) < 3*time.Second {
		t.Fatal("not enough time")
	}
	if Sum(1, 1) != 2 {
		t.Error("wrong")
	}
}
`,
	})
	sources, err := Load(dir, "./...")
	if err != nil {
		t.Fatal(err)
	}
	bench := &Bench{Root: dir, Dir: t.TempDir(), Log: t.Logf, Quick: 2 * time.Second}
	verdicts, err := bench.Try(t.Context(), Draw(sources[0].Mistakes(), "a seed", 1, regexp.MustCompile("")))
	if err != nil || verdicts[0].By != "example.org/m/low TestSum" || len(bench.suites[0].pending) > 0 {
		t.Error(verdicts, err)
	}
}

// What counts is how long processors work for a test, not how long it waits for them on a crowded machine.
func TestWhatATestCosts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ took, worked, want time.Duration }{
		"alone on the machine":        {2 * time.Second, 2 * time.Second, 2 * time.Second},
		"on a crowded one":            {6 * time.Second, 2 * time.Second, 2 * time.Second},
		"on several processors":       {2 * time.Second, 3 * time.Second, 3 * time.Second},
		"one that only waits":         {8 * time.Second, 0, 2 * time.Second},
		"one that waits, and crowded": {40 * time.Second, time.Second, 10 * time.Second},
	} {
		if got := costOf(c.took, c.worked); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// Nobody waits for tests that run beside one that has failed.
func TestTheFirstFailureEndsAProgram(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"=== RUN   TestA\n--- PASS: TestA (0.00s)\n": false,
		"--- PASS: TestA (0.00s)\n--- FAIL: TestB":   false, // the line may not be complete
		"    --- FAIL: TestB/part (0.00s)\n":         true,
		"panic: test timed out after 2s\n":           true,
	} {
		whole, bytewise := false, false
		_, _ = (&firstFailure{end: func() { whole = true }}).Write([]byte(text))
		f := &firstFailure{end: func() { bytewise = true }}
		for i := range text {
			_, _ = f.Write([]byte{text[i]})
		}
		if whole != want || bytewise != want || f.String() != text {
			t.Errorf("%q: ended %v, byte by byte %v, want %v", text, whole, bytewise, want)
		}
	}
}

// What a test starts and does not wait for ends with it. The child has a lock for as long as it lives, and would say that it ended by itself.
func TestNothingIsLeftOfATestThatEnds(t *testing.T) {
	t.Parallel()
	files := t.TempDir()
	lock, ended := filepath.Join(files, "lock"), filepath.Join(files, "ended")
	dir := module(t, map[string]string{
		"low/low.go": "package low\n\nfunc Sum(a, b int) int { return a + b }\n",
		"low/low_test.go": fmt.Sprintf(`package low

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

func TestSum(t *testing.T) {
	if os.Args[len(os.Args)-1] == "child" {
		f, _ := os.Create(%q)
		_ = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		_, _ = os.Stdout.WriteString("ready")
		time.Sleep(time.Minute)
		_ = os.WriteFile(%q, nil, 0o600)
		return
	}
	child := exec.Command(os.Args[0], "-test.run=TestSum", "child")
	out, _ := child.StdoutPipe()
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil || Sum(1, 1) != 2 {
		t.Fatal("wrong")
	}
}
`, lock, ended),
	})
	sources, err := Load(dir, "./...")
	if err != nil {
		t.Fatal(err)
	}
	bench := &Bench{Root: dir, Dir: t.TempDir(), Log: t.Logf, Quick: time.Minute}
	verdicts, err := bench.Try(t.Context(), Draw(sources[0].Mistakes(), "a seed", 1, regexp.MustCompile("")))
	if err != nil || verdicts[0].By != "example.org/m/low TestSum" {
		t.Fatal(verdicts, err)
	}
	f, err := os.Open(lock)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(ended); err == nil {
		t.Error("what a test had started lived on after it")
	}
}

// What could not be tried in time is left open, and is no survivor.
func TestNoTimeIsNoVerdict(t *testing.T) {
	t.Parallel()
	dir := module(t, map[string]string{"low/low.go": sums["low/low.go"], "low/low_test.go": sums["low/low_test.go"]})
	sources, err := Load(dir, "./...")
	if err != nil {
		t.Fatal(err)
	}
	bench := &Bench{Root: dir, Dir: t.TempDir(), Log: t.Logf, Till: time.Now().Add(-time.Second)}
	verdicts, err := bench.Try(t.Context(), Draw(sources[0].Mistakes(), "a seed", 3, regexp.MustCompile("")))
	if err != nil || len(verdicts) != 3 {
		t.Fatal(verdicts, err)
	}
	for _, v := range verdicts {
		if !v.Open || v.By != "" || v.Tried > 0 {
			t.Errorf("%+v", v)
		}
	}
}

// The same seed draws the same mistakes, another one others; and one that is gone does not change the rest.
func TestDraw(t *testing.T) {
	t.Parallel()
	_, all := mistakes(t, sums["low/low.go"][len("package low"):])
	names := func(drawn []*Mistake) string {
		var s []string
		for _, m := range drawn {
			s = append(s, m.Name())
		}
		return strings.Join(s, "\n")
	}
	every := regexp.MustCompile("")
	first := Draw(all, "1", 4, every)
	if names(first) != names(Draw(all, "1", 4, every)) || names(first) == names(Draw(all, "2", 4, every)) {
		t.Error("a draw does not follow from its seed")
	}
	for i, m := range all {
		if m == first[0] {
			rest := Draw(append(append([]*Mistake{}, all[:i]...), all[i+1:]...), "1", 4, every)
			if !strings.Contains(names(rest), names(first[1:])) {
				t.Errorf("without\n%s\nof\n%s\n\nthe draw is\n%s", m.Name(), names(first), names(rest))
			}
		}
	}
	if got := Draw(all, "1", len(all)+1, every); len(got) != len(all) {
		t.Errorf("%d of %d drawn", len(got), len(all))
	}
}

// Programs without rights can read the control file.
func TestControlIsForEveryUser(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "control")
	c, err := newControl(path, 3)
	if err != nil {
		t.Fatal(err)
	}
	c.choose(2)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o666 || info.Size() != 7 || c[0] != 2 {
		t.Errorf("%v, %v, %v", info, c, err)
	}
}
