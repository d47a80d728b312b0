package learn

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/test/golden"
)

var update = flag.Bool("update", false, "rewrite testdata/lines.txt")

// whole writes all that is read of a lesson, one field a line.
func whole(l *Lesson) string {
	var b strings.Builder
	course := ""
	if l.Course != nil {
		course = l.Course.ID
	}
	fmt.Fprintf(&b, "title %q course %s %d hook %q myth %q\n", l.Title, course, l.Step, l.Hook, l.Myth)
	fmt.Fprintf(&b, "command %q show %q says %q lacks %q\n", l.Command, l.Show, l.Says, l.Lacks)
	fmt.Fprintf(&b, "question %q happened %q answer %q now %q\n", l.Question, l.Happened, l.Answer, l.Exercise.Words)
	fmt.Fprintf(&b, "change %q goals %+v hunks %q\n", l.Exercise.Change, l.Exercise.Goals, l.Exercise.Hunks)
	return b.String()
}

// others are the lines of a text that another has not got.
func others(text, base string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.Contains(base, line) {
			b.WriteString(line)
		}
	}
	if b.Len() == 0 {
		return "the same\n"
	}
	return b.String()
}

// Each line of a lesson is left out, there twice, longer, and in front of others: what comes of it is kept whole.
func TestEveryLineOfALesson(t *testing.T) {
	t.Parallel()
	full := strings.Replace(lesson, "- change:", "- lacks: HOLDS\n- myth: refuted\n- change:", 1)
	full = strings.Replace(full, "drains 1", "myths 1", 1)
	full = strings.Replace(full, "- goal: expect.verdict=holds\n", "- goal: expect.verdict=holds\n- goal: says OK\n- goal: never DROPS\n", 1)
	lines := strings.Split(full, "\n")
	base := ""
	var out strings.Builder
	say := func(title string, text []string) {
		l, err := parse(t, strings.Join(text, "\n"), world)
		end := ""
		switch {
		case err != nil:
			end = strings.ReplaceAll(err.Error(), "one"+words, "words") + "\n" // the names of documents are of those that there are
		case l == nil:
			end = "no lesson\n"
		default:
			end = whole(l)
		}
		if base == "" {
			base = end
		} else if err == nil {
			end = others(end, base)
		}
		fmt.Fprintf(&out, "%s\n  %s\n", title, strings.ReplaceAll(strings.TrimSuffix(end, "\n"), "\n", "\n  "))
	}
	say("as it is", lines)
	without := func(i int, with ...string) []string {
		return append(append(append([]string{}, lines[:i]...), with...), lines[i+1:]...)
	}
	for i, line := range lines {
		say(fmt.Sprintf("without %q", line), without(i))
		say(fmt.Sprintf("twice %q", line), without(i, line, line))
		say(fmt.Sprintf("longer %q", line), without(i, line+" x"))
		say(fmt.Sprintf("shorter %q", line), without(i, line[:max(len(line)-1, 0)]))
		say(fmt.Sprintf("behind the next %q", line), append(append(append([]string{}, lines[:i]...), lines[min(i+1, len(lines)-1)], line), lines[min(i+2, len(lines)):]...))
	}
	for _, value := range []string{"course: kep-1669 0", "course: kep-1669 x", "course: drains 1", "command: lameduck", "command: `lameduck sim`", "myth: maybe", "myth: confirmed",
		"goal: expect.a", "goal: says", "goal: says ", "goal: never", "goal: never x", "goal: expects.a=b", "lacks: a", "hook: ", "hook:", "title: x"} {
		say(fmt.Sprintf("also %q", value), without(2, lines[2], "- "+value))
	}
	golden.Compare(t, "testdata/lines.txt", out.String(), *update)
}
