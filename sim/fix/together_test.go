package fix

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/edit"
)

// Changes that are made at once set the grace period once, to the longest that one of them needs, in whatever order they come; what they do
// besides stays. Alone each is as it was.
func TestTogetherTheLongestGraceCounts(t *testing.T) {
	t.Parallel()
	sets := func(title, path, value string) Change {
		return Change{ID: title, Title: title, Edits: []edit.Edit{{Path: path, To: edit.Value{YAML: value}}}}
	}
	with := func(c Change, seconds string) Change {
		c.Title += ", terminationGracePeriodSeconds: " + seconds
		c.Edits = append(c.Edits, edit.Edit{Path: gracePath, To: edit.Value{YAML: seconds}})
		return c
	}
	hook, flag := sets("preStop: sleep 5", "hook", "{}"), sets("--wait=9", "args", "[]")
	grace, long := sets("terminationGracePeriodSeconds: 60", gracePath, "60"), with(hook, "90")
	for name, c := range map[string]struct {
		changes []Change
		titles  string
		graces  int
		value   string
	}{
		"one":                      {[]Change{with(hook, "15")}, "preStop: sleep 5, terminationGracePeriodSeconds: 15", 1, "15"},
		"none of them":             {[]Change{hook, flag}, "preStop: sleep 5|--wait=9", 0, ""},
		"only one of them":         {[]Change{flag, with(hook, "15")}, "--wait=9|preStop: sleep 5, terminationGracePeriodSeconds: 15", 1, "15"},
		"a longer one comes last":  {[]Change{with(hook, "15"), grace}, "preStop: sleep 5|terminationGracePeriodSeconds: 60", 1, "60"},
		"a longer one comes first": {[]Change{grace, with(hook, "15")}, "terminationGracePeriodSeconds: 60|preStop: sleep 5", 1, "60"},
		"one that is nothing else": {[]Change{grace, long}, "|preStop: sleep 5, terminationGracePeriodSeconds: 90", 1, "90"},
		"by number, not by digits": {[]Change{with(hook, "100"), with(flag, "20")}, "preStop: sleep 5, terminationGracePeriodSeconds: 100|--wait=9", 1, "100"},
	} {
		var titles []string
		graces, value, others := 0, "", 0
		for _, x := range Together(c.changes) {
			titles = append(titles, x.Title)
			for _, e := range x.Edits {
				if e.Path == gracePath {
					graces, value = graces+1, e.To.YAML
				} else {
					others++
				}
			}
		}
		wantOthers := strings.Count(c.titles, "sleep") + strings.Count(c.titles, "--wait")
		if got := strings.Join(titles, "|"); got != c.titles || graces != c.graces || value != c.value || others != wantOthers {
			t.Errorf("%s: %q, %d grace periods, %q, and %d other edits", name, got, graces, value, others)
		}
	}
	if with(hook, "15").Title != "preStop: sleep 5, terminationGracePeriodSeconds: 15" || len(long.Edits) != 2 {
		t.Error("the changes themselves were changed")
	}
}
