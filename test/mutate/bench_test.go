package mutate

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
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
	"high/high.go": "package high\n\nimport \"example.org/m/low\"\n\nfunc Sign(a int) string {\n\tif low.Positive(a) {\n\t\treturn \"+\"\n\t}\n\treturn \"-\"\n}\n",
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
	bench := &Bench{Root: dir, Dir: t.TempDir(), Log: func(format string, _ ...any) { log.WriteString(format) }}
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
