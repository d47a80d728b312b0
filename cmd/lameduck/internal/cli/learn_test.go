package cli

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lameduck-proxy/lameduck/cmd/lameduck/internal/learn"
	"github.com/lameduck-proxy/lameduck/proxier/page"
	"github.com/lameduck-proxy/lameduck/test/golden"
)

var update = flag.Bool("update", false, "rewrite the transcripts of the lessons and docs/lessons.md")

const lessonFiles = examples + "lessons/"

// courses are those that are built in.
func courses(t *testing.T) []*learn.Course {
	t.Helper()
	c := &learnCommand{}
	if err := c.load(); err != nil {
		t.Fatal(err)
	}
	return c.courses
}

func eachLesson(t *testing.T, do func(*testing.T, *learn.Lesson)) {
	t.Helper()
	all := courses(t)
	for _, name := range learn.Names(all) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			do(t, learn.Find(all, name))
		})
	}
}

// kept compares a text with a file, or writes it with -update.
func kept(t *testing.T, path, text string) {
	t.Helper()
	golden.Compare(t, path, text, *update)
}

// What a lesson prints is kept beside it.
func TestTranscriptsOfTheLessons(t *testing.T) {
	t.Parallel()
	eachLesson(t, func(t *testing.T, l *learn.Lesson) {
		text := says(t, ExitOK, "learn "+l.Name)
		for i, line := range strings.Split(text, "\n") {
			if page.Width(line) > page.Widest {
				t.Errorf("line %d has %d columns, more than %d: %s", i+1, page.Width(line), page.Widest, line)
			}
		}
		kept(t, lessonFiles+l.Name+".txt", text)
	})
}

// What a lesson claims is what its command prints: in all of it, not only in what the lesson shows.
func TestALessonDoesNotLie(t *testing.T) {
	t.Parallel()
	eachLesson(t, func(t *testing.T, l *learn.Lesson) {
		var out, stderr bytes.Buffer
		c := &learnCommand{std: Streams{Out: &out}}
		output, err := c.execute(l.Command, c.streams(map[string]string{l.File(): l.World}, &stderr))
		if err != nil && !errors.Is(err, errFindings) || stderr.Len() > 0 {
			t.Fatalf("%v\n%s", err, stderr.String())
		}
		for _, words := range l.Says {
			if !learn.Contains(output, words) {
				t.Errorf("no %q in\n%s", words, output)
			}
		}
		for _, words := range l.Lacks {
			if learn.Contains(output, words) {
				t.Errorf("%q in\n%s", words, output)
			}
		}
	})
}

// The file as it is does not solve the exercise, and the solution does.
func TestExercises(t *testing.T) {
	t.Parallel()
	eachLesson(t, func(t *testing.T, l *learn.Lesson) {
		mine := inFile(t, "mine.yaml", l.World)
		says(t, ExitFindings, "learn "+l.Name+" --check "+mine, "NOT SOLVED  The goal is not reached: ", "--solution")
		solved, err := l.Solved()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(mine, []byte(solved), 0o600); err != nil {
			t.Fatal(err)
		}
		says(t, ExitOK, "learn "+l.Name+" --check "+mine, "\nSOLVED  The goal is reached: ")
		says(t, ExitOK, "learn "+l.Name+" --solution", "\nSOLUTION\n")
		if text := says(t, ExitOK, "learn "+l.Name+" -o yaml"); text != l.World {
			t.Errorf("-o yaml prints\n%s\nwant\n%s", text, l.World)
		}
	})
}

func TestTheFilesOfLessonsAreShort(t *testing.T) {
	t.Parallel()
	eachLesson(t, func(t *testing.T, l *learn.Lesson) {
		if n := strings.Count(l.World, "\n"); n >= 40 {
			t.Errorf("%s has %d lines, not under 40", l.File(), n)
		}
		text, err := os.ReadFile(lessonFiles + l.Name + ".md")
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if page.Width(line) > page.Widest && !strings.HasPrefix(line, "-") && !strings.HasPrefix(line, "+") {
				t.Errorf("%s, line %d of its words, has more than %d columns", l.Name, i+1, page.Widest)
			}
		}
		const sentences = 5 // of each answer and of what happened: a lesson is one idea
		for _, part := range [][]string{l.Question, l.Happened, l.Answer, l.Exercise.Words} {
			if n := strings.Count(strings.Join(part, " ")+" ", ". "); n > sentences {
				t.Errorf("%d sentences in one part: %s", n, part)
			}
		}
	})
}

// Each file of the directory belongs to a lesson.
func TestNoFileOfLessonsIsLeftOver(t *testing.T) {
	t.Parallel()
	names := learn.Names(courses(t))
	files, err := filepath.Glob(lessonFiles + "*")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		base := filepath.Base(f)
		if base != "lessons.go" && base != "README.md" && !slices.Contains(names, strings.TrimSuffix(base, filepath.Ext(base))) {
			t.Errorf("%s belongs to no lesson", base)
		}
	}
}

func TestLearnLists(t *testing.T) {
	t.Parallel()
	text := says(t, ExitOK, "learn")
	for i, line := range strings.Split(text, "\n") {
		if page.Width(line) > page.Widest {
			t.Errorf("line %d is too long: %s", i+1, line)
		}
	}
	for _, name := range learn.Names(courses(t)) {
		if strings.Count(text, "\n  "+name+" ") != 1 {
			t.Errorf("%s is not listed in one line of its own:\n%s", name, text)
		}
	}
}

// docs/lessons.md is made of the lessons.
func TestThePageOfLessons(t *testing.T) {
	t.Parallel()
	kept(t, "../../../../docs/lessons.md", learn.Markdown(courses(t)))
}

func TestLearnRefusesWhatItCannotDo(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"learn blackhol":                           `err:there is no lesson "blackhol"; there are conditions, policy-cluster,`,
		"learn blackhole --all":                    "err:--all shows all lessons: leave out the name blackhole, or --all",
		"learn --check x.yaml":                     "err:--check, --solution and --output are about one lesson",
		"learn --solution":                         "err:--check, --solution and --output are about one lesson",
		"learn blackhole -o json":                  `err:--output "json": want text or yaml`,
		"learn blackhole --check /nowhere/at.yaml": "err:/nowhere/at.yaml",
		"learn blackhole fallback":                 "err:accepts at most 1 arg(s)",
		"learn blackhole --solution --all":         "err:none of the others can be",
	} {
		says(t, ExitUsage, line, want)
	}
	for world, want := range map[string]string{
		"a: [":                   "err:--check ",
		"apiVersion: v1\nkind: ": "err:mine.yaml:",
	} {
		says(t, ExitUsage, "learn blackhole --check "+inFile(t, "mine.yaml", world), want)
	}
}

// Somebody who changes what the exercise is not about is told so.
func TestAnExerciseCannotBeSolvedByChangingItsWorld(t *testing.T) {
	t.Parallel()
	l := learn.Find(courses(t), "prestop")
	calm := strings.Replace(l.World, "rate: 100/s", "rate: 1/s", 1)
	text := says(t, ExitFindings, "learn prestop --check "+inFile(t, "mine.yaml", calm), "NOT SOLVED  ")
	if words := strings.Join(strings.Fields(text), " "); !strings.Contains(words, "Scenario/prestop spec.traffic[0].rate. Change only") { // lines end where the file's name says
		t.Errorf("what is changed is not named:\n%s", text)
	}
	if calm == l.World {
		t.Fatal("the lesson has changed: nothing was replaced")
	}
}

func TestTheShellCompletesLessons(t *testing.T) {
	t.Parallel()
	text := says(t, ExitOK, "__complete learn black")
	if !strings.Contains(text, "blackhole\tThe blackhole before 1.26\n") {
		t.Error(text)
	}
}

// wrote has the site written into a directory, and returns its pages by name.
func wrote(t *testing.T, dir string) map[string]string {
	t.Helper()
	says(t, ExitOK, "learn --html "+dir+" --play play/", "lessons are in "+dir+": open "+filepath.Join(dir, "index.html"))
	out := map[string]string{}
	for _, name := range append(learn.Names(courses(t)), "index") {
		text, err := os.ReadFile(filepath.Join(dir, name+".html"))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(text)
	}
	return out
}

// The same lameduck writes the same pages again over its own, and leaves alone what else is there.
func TestTheSiteOfTheLessons(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "site")
	first := wrote(t, dir)
	notes := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(notes, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !testing.Short() {
		if diff := cmp.Diff(first, wrote(t, dir)); diff != "" {
			t.Error(diff)
		}
	}
	if text, err := os.ReadFile(notes); string(text) != "mine" {
		t.Errorf("notes.txt is %q, %v", text, err)
	}
	eachLesson(t, func(t *testing.T, l *learn.Lesson) {
		page := first[l.Name]
		drawn := strings.Contains(page, `data-view="picture"`)
		if simulates := l.Command[0] == "sim"; drawn != simulates || strings.Contains(page, "<script>") != drawn {
			t.Errorf("has a picture: %v", drawn)
		}
		if (strings.Contains(page, "<figure ") && strings.Contains(page, "</svg>") && strings.Contains(page, "<caption>Endpoints of ")) == drawn {
			t.Error("has no picture of its own kind alone")
		}
		if strings.Contains(page, `<a href="play/#1.`) != drawn || strings.Contains(page, "| lameduck play -f -</code>") != drawn {
			t.Error("only what is simulated can be dragged")
		}
		if !strings.Contains(page, `<details class="solution"><summary>`) || strings.Contains(page, `<details class="answer" open`) {
			t.Error("its answer or its solution is not folded away")
		}
		if refuted := strings.Contains(page, "MYTH, REFUTED"); refuted != strings.HasPrefix(l.Name, "myth-") {
			t.Errorf("refuted: %v", refuted)
		}
		if !strings.Contains(first["index"], `<a href="`+l.Name+`.html">`) {
			t.Error("the index does not lead to it")
		}
	})
}

// What lameduck has not written is not overwritten, and then nothing is written at all.
func TestTheSiteOverwritesNothingOfOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	theirs := filepath.Join(dir, "fallback.html")
	if err := os.WriteFile(theirs, []byte("<title>ours</title>"), 0o600); err != nil {
		t.Fatal(err)
	}
	says(t, ExitUsage, "learn --html "+dir, "err:--html: "+theirs+" is there, and no page of lameduck: it is not overwritten")
	if list, err := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	says(t, ExitUsage, "learn --html "+theirs, "err:--html: mkdir "+theirs)
	says(t, ExitUsage, "learn blackhole --html "+dir, "err:--html writes all lessons: leave out the name blackhole")
	says(t, ExitUsage, "learn blackhole --play play/", "err:--play is for the pages of --html: add --html DIRECTORY")
	says(t, ExitUsage, "learn --all --html "+dir, "err:none of the others can be")
}

// Only what says that lameduck made it, near its beginning, is replaced by a page.
func TestWhatAPageMayReplace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	theirs := inFile(t, "index.html", strings.Repeat(" ", 1000-len(generated)+1)+generated)
	if err := os.Symlink(theirs, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "nobody"): "",
		inFile(t, "index.html", strings.Repeat(" ", 1000-len(generated))+generated): "",
		theirs:                         "is there, and no page of lameduck: it is not overwritten; name another directory",
		inFile(t, "short.html", "<p>"): "is there, and no page of lameduck",
		dir:                            "is no file: name another directory",
		filepath.Join(dir, "link"):     "is no file: name another directory",
		theirs + "/below":              "not a directory",
	} {
		err := replaceable(path)
		if (err == nil) != (want == "") || err != nil && (!strings.HasPrefix(err.Error(), "--html: ") || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	says(t, ExitUsage, "learn --html=", "err:--html: want a directory")
	says(t, ExitUsage, "learn fallback --check "+examples+"kind", "err:want one file, the lesson's as you changed it")
}
