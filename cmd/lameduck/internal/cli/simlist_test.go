package cli

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/proxier/page"
)

// Tables keep to a line's width, whatever is in them, and lose no word of it.
func TestTablesKeepToTheWidthOfALine(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("words of a cell ", 12)
	for name, rows := range map[string][][]string{
		"few columns":  {{"CAUSE", "WHAT"}, {"stale-rules", long}},
		"many columns": {{"A", "B", "C", "D", "SETTLE IT WITH"}, {"start", long, "2s", "", "--set start="}, {"serve", "short", "", "", ""}},
		"repeated":     {{"PRESET", "FIELD", "VALUE", "STATUS", "SOURCE"}, {"gke", "is", "GKE", "", ""}, {"gke", "interval", "3s", "verified", long}},
	} {
		var b strings.Builder
		if err := writeTable(&b, rows); err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(b.String(), "\n") {
			if w := page.Width(line); w > page.Widest {
				t.Errorf("%s: a line of %d columns: %q", name, w, line)
			}
		}
		got := strings.Fields(b.String())
		for _, row := range rows[1:] {
			for _, word := range strings.Fields(strings.Join(row, " ")) {
				if !strings.Contains(strings.Join(got, " "), word) {
					t.Errorf("%s: %q is lost in\n%s", name, word, b.String())
				}
			}
		}
	}
}
