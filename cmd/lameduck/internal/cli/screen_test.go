package cli

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/proxier/kubeproxy"
)

func TestTheProgramsEdgeObeysNothingButItsColours(t *testing.T) {
	t.Parallel()
	text := "\x1b[1;31mBAD\x1b[0m w\u00f6rds\t\u202e\x1b]0;title\x07\n\x1b[2J"
	for coloured, want := range map[bool]string{
		true:  "\x1b[1;31mBAD\x1b[0m w\u00f6rds\t\\u202e\\x1b]0;title\\x07\n\\x1b[2J",
		false: "\\x1b[1;31mBAD\\x1b[0m w\u00f6rds\t\\u202e\\x1b]0;title\\x07\n\\x1b[2J",
	} {
		var b bytes.Buffer
		s := &screen{to: &b, coloured: coloured}
		if n, err := s.Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		if b.String() != want {
			t.Errorf("coloured %t: %q, want %q", coloured, b.String(), want)
		}
	}
	var b bytes.Buffer
	s := &screen{to: &b}
	for _, c := range []byte("h\u00e4fen \u9b5a \u202e") { // bytes of one character in several writes
		if _, err := s.Write([]byte{c}); err != nil {
			t.Error(err)
		}
	}
	if got, want := b.String(), "h\u00e4fen \u9b5a \\u202e"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestJoinedErrorsHaveALineEachAndNoMore(t *testing.T) {
	t.Parallel()
	err := runError{errors.Join(errors.New("one\nfaked"), fmt.Errorf("two: %w", errors.Join(errors.New("a"), errors.New("b"))))}
	if got, want := strings.Join(lines(err), "|"), `one\nfaked|two: a\nb`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTheLogObeysNothing(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json"} {
		object, problems := loadConfig(configured("logging: {format: " + format + ", verbosity: 2}"))
		if object == nil {
			t.Fatal(problems)
		}
		c, _ := kubeproxy.Read(object)
		var b bytes.Buffer
		log, err := newProxyLog(c, &b)
		if err != nil {
			t.Fatal(err)
		}
		l := log.WithName("n"+hostile).WithValues("k"+hostile, hostile)
		l.Info("said "+hostile, "list", []string{hostile}, "any", struct{ Name string }{hostile}, "err", errors.New(hostile))
		l.V(1).Info("fine", "number", 7)
		l.Error(errors.New(hostile), hostile, "key", hostile)
		obeyed(t, format, b.String())
		if n := strings.Count(b.String(), "\n"); n != 3 {
			t.Errorf("%s: %d lines, want 3:\n%s", format, n, b.String())
		}
		if n := strings.Count(b.String(), "screen_test.go:"); n != 3 {
			t.Errorf("%s: the caller is named %d times, want 3:\n%s", format, n, b.String())
		}
	}
}
