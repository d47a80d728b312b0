package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/proxier/page"
)

// What is said keeps to the width of a page, and all of its words are there; that of a file begins with the place that editors go to.
// Whatever else is printed, such as a command, is a line as it stands.
func TestWarningsAndErrorsKeepToThePage(t *testing.T) {
	t.Parallel()
	long := strings.TrimSpace(strings.Repeat("Service shop/web selects no workload ", 12))
	for _, tt := range []struct {
		said string
		one  bool
	}{{"warning: web.yaml:3:1: " + long, false}, {"hint: " + long, false}, {"note: " + long, false}, {"web.yaml:3:1: " + long, false}, {"proxy: " + long, true}} {
		var out bytes.Buffer
		Streams{Err: &out}.say("%s", tt.said)
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if got := strings.Join(strings.Fields(out.String()), " "); got != tt.said {
			t.Errorf("%q, want %q", got, tt.said)
		}
		if (len(lines) == 1) != tt.one {
			t.Errorf("%q has %d lines", tt.said[:20], len(lines))
		}
		if place, _, _ := strings.Cut(tt.said, ": "); !strings.HasPrefix(lines[0], place+": ") {
			t.Errorf("%q does not begin with %q", lines[0], place)
		}
		for i, line := range lines {
			if !tt.one && (page.Width(line) > page.Widest || i > 0 && !strings.HasPrefix(line, "  ")) {
				t.Errorf("line %d: %q", i+1, line)
			}
		}
	}
}
