package learn

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// lesson is a whole NAME.md, in which tests change one thing.
const lesson = `# A title

- course: drains 1
- hook: What?
- command: ` + "`lameduck sim -f one.yaml`" + `
- show: WHY
- says: DROPS
- change: Deployment/web spec.replicas
- goal: expect.verdict=holds

## Question

What
is it?

## What happened

This.

## Answer

That.

More of it.

## Now you

Do it.

` + "```diff" + `
 spec:
-  replicas: 1
+  replicas: 2
` + "```" + `
`

const world = `kind: Scenario
metadata: {name: one}
spec:
  expect: {verdict: holds}
---
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
`

func parse(t *testing.T, md, yaml string) (*Lesson, error) {
	t.Helper()
	courses, err := Parse(Files{"one.md": md, "one.yaml": yaml, "README.md": "not a lesson"})
	return Find(courses, "one"), err
}

func TestALessonIsRead(t *testing.T) {
	t.Parallel()
	l, err := parse(t, lesson, world)
	if err != nil {
		t.Fatal(err)
	}
	for got, want := range map[string]string{
		l.Title:                                      "A title",
		l.Line():                                     "lameduck sim -f one.yaml",
		l.Place():                                    "Drains and budgets, 1 of 1",
		strings.Join(l.Question, "|"):                "What is it?",
		strings.Join(l.Answer, "|"):                  "That.|More of it.",
		l.Exercise.Goals[0].String():                 "verdict holds",
		strings.Join(l.Show, "|"):                    "WHY",
		Goal{Says: "a"}.String():                     `it prints "a"`,
		Goal{Never: "a"}.String():                    `it does not print "a"`,
		Goal{Where: &Condition{Words: "a"}}.String(): "a",
		strings.Join(l.CommandOn("x"), " "):          "sim -f x",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	solved, err := l.Solved()
	if want := strings.Replace(world, "replicas: 1", "replicas: 2", 1); err != nil || solved != want {
		t.Errorf("%v\n%s", err, solved)
	}
}

func TestWhatIsWrongWithALessonIsSaidWithItsLine(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, old, new, want string }{
		{"an unknown course", "drains 1", "trains 1", `one.md:3: course "trains": want kep-1669, drains,`},
		{"no step", "drains 1", "drains", `one.md:3: course "drains": want the name of a course and a step`},
		{"a step before the first", "drains 1", "drains 0", `one.md:3: course "drains 0": want the name of a course and a step`},
		{"a step that no course has", "drains 1", "drains 99999999999999999999", `one.md:3: course "drains 99999999999999999999": want the name of a course and a step`},
		{"a step left out", "drains 1", "drains 2", "one.md: step 2 of course drains: want 1"},
		{"another program", "lameduck sim", "kubectl sim", "one.md:5: command `kubectl sim -f one.yaml`: want `lameduck VERB ...`"},
		{"an unknown field", "- show:", "- shows:", `one.md:6: field "shows": want course, hook,`},
		{"no value", "- says: DROPS", "- says", `one.md:7: "says": want FIELD: VALUE`},
		{"an unknown goal", "expect.verdict=holds", "verdict", `one.md:9: goal "verdict": want expect.FIELD=VALUE, says WORDS, never WORDS or where CONDITION: WORDS`},
		{"a condition without words", "expect.verdict=holds", "where hook <= 5", `one.md:9: goal "where hook <= 5": want where PATH = VALUE: WORDS, or`},
		{"a goal that the file does not know", "verdict=holds", "verdict=rare", "one.md:1: goal expect.verdict=rare: one.yaml does not say so at Scenario/one spec.expect.verdict"},
		{"sections in another order", "## Answer", "## Now you", `one.md:20: section "Now you": want Question, What happened, Answer, Now you, in this order`},
		{"words in the head", "- hook: What?", "hook", `one.md:4: "hook": want "- FIELD: VALUE" or "## Question"`},
		{"a solution of another kind", "```diff", "```yaml", "one.md:30: \"```yaml\": want ```diff, below \"## Now you\""},
		{"a line of no kind in it", "+  replicas: 2", "replicas: 2", `one.md:33: "replicas: 2": want a line that begins with +, - or a blank, or @@`},
		{"a place that is not there", "-  replicas: 1", "-  replicas: 3", "one.md:1: change 1 of the solution: its lines are 0 times in one.yaml, want once:\nspec:\n  replicas: 3"},
		{"no claim", "- says: DROPS\n", "", "one.md:1: the lesson has not got a field says"},
		{"another file", "-f one.yaml", "-f two.yaml", "one.md:1: the lesson has not got -f one.yaml in its command"},
		{"no exercise", "Do it.\n", "", "one.md:1: the lesson has not got section Now you"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			changed := strings.Replace(lesson, tc.old, tc.new, 1)
			_, err := parse(t, changed, world)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v\nwant %s", err, tc.want)
			}
		})
	}
	if _, err := Parse(Files{"two.yaml": world}); err == nil || err.Error() != "two.yaml: there is no two.md that speaks of it" {
		t.Error(err)
	}
	if _, err := parse(t, lesson, "a: ["); err == nil || !strings.Contains(err.Error(), "one.yaml: line 1") {
		t.Error(err)
	}
}

func TestStraysAreWhatTheExerciseIsNotAbout(t *testing.T) {
	t.Parallel()
	l, err := parse(t, lesson, world)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, old, new, want string }{
		{"nothing is changed", "", "", ""},
		{"what may be changed", "replicas: 1", "replicas: 7", ""},
		{"below what may be changed", "replicas: 1", "replicas: {a: 1}", ""},
		{"what may be changed is gone", "  replicas: 1\n", "", "Deployment/web spec"},
		{"a comment and the order of documents' lines", "replicas: 1", "replicas: 1 # one", ""},
		{"the expectation", "verdict: holds", "verdict: drops", "Scenario/one spec.expect.verdict"},
		{"a field that begins like one that may", "replicas: 1", "replicas: 1\n  replicasToo: 1", "Deployment/web spec.replicasToo"},
		{"a field that is gone", "expect: {verdict: holds}", "expect: {}", "Scenario/one spec.expect.verdict"},
		{"another document", "replicas: 1\n", "replicas: 1\n---\nkind: Service\nmetadata: {name: web}\n", "Service/web kind, Service/web metadata.name"},
		{"an item of a list", "replicas: 1", "replicas: 1\n  args: [a, b]", "Deployment/web spec.args[0], Deployment/web spec.args[1]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := l.Strays(strings.Replace(world, tc.old, tc.new, 1))
			if words := strings.Join(got, ", "); err != nil || words != tc.want {
				t.Errorf("%v, %q, want %q", err, words, tc.want)
			}
		})
	}
}

func TestGoalsAreMissedByWhatIsPrintedAndByTheScenario(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, output string
		goal         Goal
		fine, missed bool
	}{
		{"as the Scenario expects", "HOLDS", Goal{Expect: "expect.verdict=holds"}, true, false},
		{"not as it expects", "DROPS", Goal{Expect: "expect.verdict=holds"}, false, true},
		{"words that are there, in two lines", "it is\n   refused", Goal{Says: "is refused"}, false, false},
		{"words that are not there", "dropped", Goal{Says: "refused"}, true, true},
		{"words that must not be there", "dropped", Goal{Never: "dropped"}, true, true},
		{"words that are not there, as wanted", "refused", Goal{Never: "dropped"}, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			l := &Lesson{Exercise: Exercise{Goals: []Goal{tc.goal}}}
			if missed, err := l.Missed(tc.output, tc.fine, world); err != nil || len(missed) > 0 != tc.missed {
				t.Errorf("missed %v, want %t: %v", missed, tc.missed, err)
			}
		})
	}
}

func TestCutLeavesTheFirstPartAndThoseThatAreNamed(t *testing.T) {
	t.Parallel()
	const output = "DROPS  a\n\n  Why  b\n\nWHY   c\n 1 %  d\n\nONE LOST REQUEST   e\n  f\n\nAgain: g\n"
	for _, tc := range []struct {
		show []string
		want string
	}{
		{nil, "DROPS  a\n\n  Why  b\n..."},
		{[]string{"ONE LOST REQUEST"}, "DROPS  a\n\n  Why  b\n\nONE LOST REQUEST   e\n  f\n..."},
		{[]string{"WHY", "ONE LOST REQUEST", "Again"}, strings.TrimSuffix(output, "\n")},
	} {
		if got := Cut(output, tc.show); got != tc.want {
			t.Errorf("%q:\n%s\nwant\n%s", tc.show, got, tc.want)
		}
	}
}

func TestTheNextLessonMayBeInTheNextCourse(t *testing.T) {
	t.Parallel()
	a, b := &Lesson{Name: "a"}, &Lesson{Name: "b"}
	courses := []*Course{{Lessons: []*Lesson{a}}, {}, {Lessons: []*Lesson{b}}}
	if next := a.Next(courses); next != b {
		t.Errorf("after a comes %v", next)
	}
	if next := b.Next(courses); next != nil {
		t.Errorf("after b comes %v", next)
	}
}

// A directory that cannot be read, or has something in it that cannot, has no courses.
func TestLessonsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	dir := fstest.MapFS{"one.md": {Data: []byte(lesson)}, "one.yaml": {Data: []byte(world)}}
	if courses, err := Read(dir); err != nil || Find(courses, "one") == nil {
		t.Errorf("%d courses, %v", len(courses), err)
	}
	dir["two.md"] = &fstest.MapFile{Mode: fs.ModeDir}
	if courses, err := Read(dir); err == nil || courses != nil {
		t.Errorf("with a directory in it: %d courses", len(courses))
	}
	nowhere := os.DirFS(filepath.Join(t.TempDir(), "nowhere"))
	if courses, err := Read(nowhere); err == nil || courses != nil {
		t.Errorf("of no directory: %d courses", len(courses))
	}
}

// The file stands by itself: with an empty line before and behind its name, without the lines that every such file has.
func TestTheTextOfAFile(t *testing.T) {
	t.Parallel()
	l, err := parse(t, lesson, world)
	if err != nil {
		t.Fatal(err)
	}
	text := NewText(l, 100, nil)
	text.Question()
	text.World()
	_, got, _ := strings.Cut(text.String(), "What is it?\n")
	lines := strings.Split(got, "\n")
	if len(lines) < 4 || lines[0] != "" || !strings.HasPrefix(lines[1], "one.yaml, shortened") || lines[2] != "" || lines[3] == "" || strings.Contains(got, "apiVersion") {
		t.Errorf("%q", got)
	}
}
