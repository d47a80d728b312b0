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

// A table of many columns in which rows begin alike is a heading for each of these beginnings, with its rows below; one in which none
// do is a paragraph for each row.
func TestTablesOfManyColumns(t *testing.T) {
	t.Parallel()
	head := []string{"PRESET", "FIELD", "VALUE", "STATUS", "SIGTERM"}
	for name, c := range map[string]struct {
		rows [][]string
		want string
	}{
		"two of them": {[][]string{head, {"gke", "is", "GKE", "", ""}, {"gke", "interval", "3s", "verified", "a page"}, {"aws-nlb", "is", "a  load balancer", "", ""}, {"aws-nlb", "ttl", "60s", "", ""}},
			`gke  is GKE
  interval  3s  verified  a page

aws-nlb  is a load balancer
  ttl  60s
`},
		"with one that is alone": {[][]string{head, {"gke", "is", "GKE", "", ""}, {"gke", "interval", "3s", "assumed", ""}, {"none", "is", "nothing", "", ""}},
			`gke  is GKE
  interval  3s  assumed

none  is nothing
`},
		"none of them, the last two alike": {[][]string{head, {"nginx", "drains", "", "verified", "QUIT"}, {"go", "ends at once", "2s", "", ""}, {"go", "drains", "", "", ""}},
			`nginx  drains; status verified; SIGTERM QUIT
go     ends at once; value 2s
go     drains
`},
		"one row": {[][]string{head, {"nginx", "drains", "1s", "", ""}}, "nginx  drains; value 1s\n"},
	} {
		var b strings.Builder
		if err := writeTable(&b, c.rows); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
	var b strings.Builder
	if err := writeTable(&b, [][]string{{"CAUSE", "WHAT", "WHO", "FIX"}, {"stale-rules", "", "kube-proxy", "preStop"}}); err != nil || b.String() != "CAUSE        WHAT  WHO         FIX\nstale-rules        kube-proxy  preStop\n" {
		t.Errorf("four columns are a table: %v\n%s", err, b.String())
	}
}
