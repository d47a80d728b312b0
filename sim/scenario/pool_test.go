package scenario

import (
	"fmt"
	"slices"
	"testing"
)

// A pool has the connections for what it asks of an app that is as slow as it is said to be: the same world as where that is tried instead
// of what was assumed. What is said of the clients stays.
func TestPoolsOfASlowApp(t *testing.T) {
	t.Parallel()
	pool := func(set []string, rate, value string) string {
		cases, problems := inferKept(t, objectsIn(webAndService), Options{Set: set, Rate: rate})
		if len(cases) == 0 {
			t.Fatal(problems)
		}
		s := cases[0].Scenario
		if value != "" {
			all := Alternatives(s)
			s = all[slices.IndexFunc(all, func(a Alternative) bool { return a.ID == "serve" && a.Value == value })].Scenario
		}
		for i := range s.Traffic {
			if x := &s.Traffic[i]; x.KeepAlive {
				return fmt.Sprintf("%d connections, %d/s", x.Clients, x.Rate/1000)
			}
		}
		return ""
	}
	for _, c := range []struct {
		set         []string
		rate, other string
		want        string
	}{
		{nil, "", "", "20 connections, 100/s"},
		{nil, "", "1s", "100 connections, 50/s"},
		{[]string{"apps.web.serve=1s"}, "", "", "100 connections, 50/s"},
		{[]string{"apps.web.serve=1s"}, "100/s", "", "200 connections, 100/s"},
		{[]string{"apps.web.serve=20s"}, "100/s", "", "1024 connections, 100/s"},
		{[]string{"apps.web.serve=200ms"}, "", "", "40 connections, 100/s"},
	} {
		if got := pool(c.set, c.rate, c.other); got != c.want {
			t.Errorf("%v %s %s: %s, want %s", c.set, c.rate, c.other, got, c.want)
		}
	}
	for fields, want := range map[string]string{ // order: each for itself
		"{to: default/web:80, connection: keep-alive}":                        "100 connections, 50/s",
		"{to: default/web:80, connection: keep-alive, rate: 100/s}":           "200 connections, 100/s",
		"{to: default/web:80, connection: keep-alive, clients: 7}":            "7 connections, 100/s",
		"{to: default/web:80, connection: keep-alive, arrivals: closed-loop}": "20 connections, 0/s",
	} {
		s, wrong := parsed(t, "NodePort", "  apps: {web: {serve: 1s}}\n  traffic: ["+fields+"]\n", Options{})
		if wrong != "" {
			t.Fatal(wrong)
		}
		if got := fmt.Sprintf("%d connections, %d/s", s.Traffic[0].Clients, s.Traffic[0].Rate/1000); got != want {
			t.Errorf("%s: %s, want %s", fields, got, want)
		}
	}
}
