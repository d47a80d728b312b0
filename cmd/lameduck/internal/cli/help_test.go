package cli

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/proxier/page"
)

// Help is read in a terminal: no line of it is wider than any other page.
func TestHelpIsNoWiderThanAPage(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"", "sim", "explain", "trace", "proxy", "learn", "play", "version"} {
		text := says(t, ExitOK, strings.TrimSpace(verb+" --help"))
		for i, line := range strings.Split(text, "\n") {
			if w := page.Width(line); w > page.Widest {
				t.Errorf("%s --help, line %d: %d columns: %s", verb, i+1, w, line)
			}
		}
	}
}
