package fix

import (
	"strings"
	"testing"

	"github.com/lameduck-proxy/lameduck/sim/engine"
	"github.com/lameduck-proxy/lameduck/sim/scenario"
)

// A longer hook takes nothing from the time after SIGTERM where the author has chosen the grace period: it is raised by as much as the hook grows.
// Of the API server's own 30 s less is left, and where that is less than half it is said, unless the app does not use it.
func TestALongerHookLeavesTheTimeAfterSIGTERM(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct { // order: each for itself
		hook, grace, image string
		late               engine.Time
		title, cost        string // what the title has of the grace period, and what the costs have of the time after SIGTERM
	}{
		"nobody has chosen it":               {"", "", "nginx", 13 * engine.Second, "", ""},
		"the API server writes it":           {"", "30", "nginx", 13 * engine.Second, "", ""},
		"the author has":                     {"", "300", "nginx", 301 * engine.Second, "610", ""},
		"there was room for the hook":        {"", "60", "nginx", 13 * engine.Second, "75", ""},
		"a short one":                        {"", "10", "nginx", 3 * engine.Second, "15", ""},
		"less than is needed":                {"", "5", "nginx", 13 * engine.Second, "25", ""},
		"the default has no room":            {"", "", "nginx", 29 * engine.Second, "40", "; it then has 10 s after SIGTERM, not 30 s"},
		"the hook grows":                     {"sleep: {seconds: 10}", "40", "nginx", 13 * engine.Second, "45", ""},
		"the hook of the default grows":      {"sleep: {seconds: 10}", "", "nginx", 13 * engine.Second, "", ""},
		"that is short":                      {"", "30", "nginx", 16 * engine.Second, "40", "; it then has 10 s after SIGTERM, not 30 s"},
		"it grows to half":                   {"sleep: {seconds: 2}", "", "nginx", 13 * engine.Second, "", ""},
		"it grows to more":                   {"sleep: {seconds: 2}", "", "nginx", 16 * engine.Second, "40", "; it then has 10 s after SIGTERM, not 28 s"},
		"most is left of the default":        {"", "", "nginx", 3 * engine.Second, "", ""},
		"a program's sleep grows":            {"exec: {command: [sleep, '10']}", "40", "nginx", 13 * engine.Second, "45", ""},
		"a sleep before what stays":          {"exec: {command: [sh, -c, nginx -s quit]}", "60", "nginx", 13 * engine.Second, "75", ""},
		"one that was there takes its place": {"exec: {command: [sh, -c, sleep 5; nginx -s quit]}", "60", "nginx", 13 * engine.Second, "70", ""},
		"a sleep behind what stays":          {"exec: {command: [sh, -c, 'date >> /tmp/ends; sync']}", "60", "nginx", 13 * engine.Second, "75", ""},
		"the hook was cut":                   {"exec: {command: [sleep, '10']}", "8", "nginx", 13 * engine.Second, "25", ""},
		"it is killed in the end":            {"", "60", "node:20", 13 * engine.Second, "", ""},
		"and has the default":                {"", "", "node:20", 13 * engine.Second, "", ""},
	} {
		lines := map[string]string{}
		if c.grace != "" {
			lines["GRACE"] = "      terminationGracePeriodSeconds: " + c.grace
		}
		if c.hook != "" {
			lines["CONTAINER"] = "        lifecycle: {preStop: {" + c.hook + "}}"
		}
		text := strings.Replace(fill(lines), "image: nginx", "image: "+c.image, 1)
		if strings.HasPrefix(c.image, "node") {
			text = strings.Replace(text, "image: "+c.image, "image: "+c.image+"\n        command: [node, app.js]", 1)
		}
		sc, w := worldOf(t, text, scenario.Options{})
		found := false
		for _, x := range Changes(sc, w, c.late) {
			if x.ID != "preStop" {
				continue
			}
			found = true
			_, title, _ := strings.Cut(x.Title, ", terminationGracePeriodSeconds: ")
			_, cost, _ := strings.Cut(x.Cost, "; it then")
			if cost != "" {
				cost = "; it then" + cost
			}
			if title != c.title || cost != c.cost {
				t.Errorf("%s: %s (%s), want %q and %q", name, x.Title, x.Cost, c.title, c.cost)
			}
		}
		if !found {
			t.Errorf("%s: no hook", name)
		}
	}
}
