//go:build linux

package cli

import (
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lameduck-proxy/lameduck/proxier/explain"
	"github.com/lameduck-proxy/lameduck/proxier/page"
	"github.com/lameduck-proxy/lameduck/sim/record"
)

// onTerminal opens a terminal of so many columns: what a user types into and reads from, and what a program has.
func onTerminal(t *testing.T, wide uint16) (user, program *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { _ = user.Close() })
	fd := int(user.Fd())
	var number int
	if err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err == nil {
		number, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
	}
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile("/dev/pts/"+decimal(number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { _ = program.Close() })
	if err := unix.IoctlSetWinsize(int(program.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: wide}); err != nil {
		t.Fatal(err)
	}
	return user, program
}

func decimal(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return decimal(n/10) + string(rune('0'+n%10))
}

// shownTo is what a user has been shown until some words come.
func shownTo(t *testing.T, user *os.File, until string) string {
	t.Helper()
	var text strings.Builder
	timer := time.AfterFunc(20*time.Second, func() { _ = user.Close() })
	defer timer.Stop()
	for b := make([]byte, 1000); !strings.Contains(text.String(), until); {
		n, err := user.Read(b)
		if err != nil {
			t.Fatalf("%v after %q", err, text.String())
		}
		text.Write(b[:n])
	}
	return strings.ReplaceAll(text.String(), "\r\n", "\n")
}

// On a terminal headings and verdicts have their colours, unless its user wants none. The test changes the environment, so it runs alone.
func TestColoursOnATerminal(t *testing.T) {
	_, program := onTerminal(t, 123)
	for _, c := range []struct {
		noColour, kind string
		want           bool
	}{{"", "xterm", true}, {"1", "xterm", false}, {"", "dumb", false}} {
		t.Setenv("NO_COLOR", c.noColour)
		t.Setenv("TERM", c.kind)
		if got := terminal(program); got != c.want {
			t.Errorf("NO_COLOR=%s TERM=%s: %v", c.noColour, c.kind, got)
		}
		lessons := &learnCommand{std: Streams{Out: program}}
		words, verdicts, headings := colours(program), verdictColours(program), lessons.style()
		if (words != nil) != c.want || (verdicts != nil) != c.want || (headings != nil) != c.want {
			t.Errorf("NO_COLOR=%s TERM=%s: %v, %v, %v", c.noColour, c.kind, words != nil, verdicts != nil, headings != nil)
		}
		if !c.want {
			continue
		}
		for role, code := range map[explain.Role]string{explain.Heading: "1", explain.Good: "32", explain.Warn: "33", explain.Bad: "1;31"} {
			if got := words(role, "word"); got != page.Painted(code, "word") {
				t.Errorf("role %d: %q", role, got)
			}
		}
		for verdict, code := range map[record.Verdict]string{
			record.Outage: "1;31", record.Stalled: "1;31", record.Blocked: "1;31", record.Drops: "33", record.Depends: "36", record.Holds: "32", record.NotJudged: "",
		} {
			want := "word"
			if code != "" {
				want = page.Painted(code, "word")
			}
			if got := verdicts(verdict, "word"); got != want {
				t.Errorf("%v: %q", verdict, got)
			}
		}
		if got := headings("word"); got != page.Painted("1", "word") {
			t.Errorf("a heading: %q", got)
		}
	}
	t.Setenv("COLUMNS", "77")
	if got := columns(program); got != 123 {
		t.Errorf("the terminal has %d columns", got)
	}
}

// On a terminal it is shown how far the runs are, each percent once, and nothing of it is left in the end.
func TestProgressOnATerminal(t *testing.T) {
	t.Parallel()
	if (&simCommand{std: Streams{Err: full{}}}).progress() != nil {
		t.Error("progress is shown to nobody")
	}
	user, program := onTerminal(t, 100)
	show := (&simCommand{std: Streams{Err: program}}).progress()
	for _, done := range []int{1, 3, 4, 5, 399, 400} {
		show("running", done, 400)
	}
	if _, err := program.WriteString("END"); err != nil {
		t.Fatal(err)
	}
	const line = "\r\x1b[K"
	want := line + "running: 1 of 400" + line + "running: 4 of 400" + line + "running: 399 of 400" + line + "END"
	if got := shownTo(t, user, "END"); got != want {
		t.Errorf("shown %q, want %q", got, want)
	}
}

// A lesson waits for its reader where both sides are a terminal, and for nobody else.
func TestALessonWaitsForItsReader(t *testing.T) {
	t.Parallel()
	user, program := onTerminal(t, 100)
	for _, c := range []*learnCommand{
		{std: Streams{In: program, Out: program}}, {std: Streams{In: strings.NewReader(""), Out: program}, pause: true}, {std: Streams{In: program, Out: full{}}, pause: true},
	} {
		c.wait() // which nothing would end
	}
	if _, err := user.WriteString("\n"); err != nil {
		t.Fatal(err)
	}
	(&learnCommand{std: Streams{In: program, Out: program}, pause: true}).wait()
	if got := shownTo(t, user, "Enter. "); strings.Count(got, "Think, then press Enter. ") != 1 {
		t.Errorf("shown %q", got)
	}
}
